// SPDX-License-Identifier: GPL-2.0-or-later
// server PORT: as server.py
package main

import (
	"fmt"
	"io"
	"math/rand"
	"net/http"
	"os"
	"os/signal"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"time"
)

func main() {
	count := map[string]int{}
	var lock sync.Mutex
	digits := regexp.MustCompile("[0-9]+")
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		path := digits.ReplaceAllString(r.URL.Path, "*")
		io.Copy(io.Discard, r.Body)
		lock.Lock()
		count[r.Method+" "+path]++
		lock.Unlock()
		if strings.HasPrefix(path, "/report") {
			time.Sleep(time.Duration(30+30*rand.Float64()) * time.Millisecond)
		}
		fmt.Fprint(w, "ok")
	})
	go http.ListenAndServe("127.0.0.1:"+os.Args[1], nil)
	end := make(chan os.Signal, 1)
	signal.Notify(end, syscall.SIGTERM)
	<-end
	lock.Lock()
	for what, n := range count {
		fmt.Println(n, what)
	}
}
