// SPDX-License-Identifier: GPL-2.0-or-later
// A catalogue that is built anew now and then, under the lock that every request takes.
package main

import (
	"fmt"
	"net"
	"net/http"
	"path"
	"strconv"
	"sync"
	"time"
)

var (
	lock   sync.Mutex
	prices map[int]int
)

func buildIndex() map[int]int {
	built, x := map[int]int{}, 1
	for i := 0; i < 4000000; i++ {
		x = (x*1103515245 + 12345) & 0x7fffffff
		built[x%1000] = x
	}
	return built
}

func reloadCatalogue() {
	lock.Lock()
	prices = buildIndex()
	lock.Unlock()
}

func reloadAgainAndAgain() {
	for {
		reloadCatalogue()
		time.Sleep(400 * time.Millisecond)
	}
}

func findPrice(article int) int {
	lock.Lock()
	defer lock.Unlock()
	return prices[article]
}

func answer(w http.ResponseWriter, r *http.Request) {
	article, _ := strconv.Atoi(path.Base(r.URL.Path))
	fmt.Fprintln(w, findPrice(article))
}

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	go reloadAgainAndAgain()
	fmt.Println("port", listener.Addr().(*net.TCPAddr).Port)
	panic(http.Serve(listener, http.HandlerFunc(answer)))
}
