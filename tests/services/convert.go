// SPDX-License-Identifier: GPL-2.0-or-later
// Converts amounts. The rates are a few milliseconds old at most: who finds them older asks the
// peer (rates.c) for new ones, and keeps the lock meanwhile.
package main

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"os"
	"sync"
	"time"
)

type rateTable struct {
	sync.Mutex
	peer  *bufio.ReadWriter
	rate  float64
	asked time.Time
}

//go:noinline
func (t *rateTable) refresh() {
	t.peer.WriteString("rate?\n")
	t.peer.Flush()
	line, err := t.peer.ReadString('\n')
	if err != nil {
		panic(err)
	}
	fmt.Sscan(line, &t.rate)
	t.asked = time.Now()
}

//go:noinline
func (t *rateTable) current() float64 {
	t.Lock()
	defer t.Unlock()
	if time.Since(t.asked) > 10*time.Millisecond {
		t.refresh()
	}
	return t.rate
}

func main() {
	connection, err := net.Dial("unix", os.Args[1])
	if err != nil {
		panic(err)
	}
	table := &rateTable{peer: bufio.NewReadWriter(bufio.NewReader(connection), bufio.NewWriter(connection))}
	http.HandleFunc("/convert/", func(w http.ResponseWriter, r *http.Request) {
		var amount float64
		fmt.Sscanf(r.URL.Path, "/convert/%g", &amount)
		fmt.Fprintf(w, "%.2f\n", amount*table.current())
	})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Println("port", listener.Addr().(*net.TCPAddr).Port)
	panic(http.Serve(listener, nil))
}
