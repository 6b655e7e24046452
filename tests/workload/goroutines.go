// SPDX-License-Identifier: GPL-2.0-or-later
// goroutines TRACE - goroutines that wait for each other in known ways, traced by Go itself into TRACE.
// Each prints what it measured by the clock: "told NAME waited_ns N times N".
package main

import (
	"net"
	"os"
	"runtime/trace"
	"strconv"
	"sync"
	"syscall"
	"time"
)

const rounds = 10

var (
	out     sync.Mutex
	account sync.Mutex // held by auditor in holdAccount, wanted by clerk
	orders  = make(chan int)
	done    = make(chan int)

	finished = make(chan int)
)

func say(line string) {
	out.Lock()
	defer out.Unlock()
	os.Stdout.WriteString(line + "\n")
}

func told(name string, waited time.Duration) {
	say("told " + name + " waited_ns " + strconv.FormatInt(int64(waited), 10) + " times " + strconv.Itoa(rounds))
	finished <- 0
}

// Burns the CPU for that long, by the clock.
//
//go:noinline
func work(d time.Duration) {
	for begin := time.Now(); time.Since(begin) < d; {
	}
}

//go:noinline
func holdAccount(locked chan int) {
	account.Lock()
	locked <- 0
	work(30 * time.Millisecond)
	account.Unlock()
}

func auditor(locked chan int) {
	for i := 0; i < rounds; i++ {
		holdAccount(locked)
		<-done
	}
}

//go:noinline
func useAccount() {
	account.Lock()
	account.Unlock()
}

// Waits for the mutex while the auditor works in holdAccount.
func clerk() {
	locked := make(chan int)
	var waited time.Duration
	go auditor(locked)
	for i := 0; i < rounds; i++ {
		<-locked
		begin := time.Now()
		useAccount()
		waited += time.Since(begin)
		done <- 0
	}
	told("clerk", waited)
}

//go:noinline
func bake() {
	work(10 * time.Millisecond)
}

func baker() {
	for i := 0; i < rounds; i++ {
		bake()
		orders <- i
	}
}

// Waits at an unbuffered channel for what the baker makes.
func waiter() {
	var waited time.Duration
	go baker()
	for i := 0; i < rounds; i++ {
		begin := time.Now()
		<-orders
		waited += time.Since(begin)
	}
	told("waiter", waited)
}

func sleeper() {
	var waited time.Duration
	for i := 0; i < rounds; i++ {
		begin := time.Now()
		time.Sleep(20 * time.Millisecond)
		waited += time.Since(begin)
	}
	told("sleeper", waited)
}

// A blocking system call, which keeps a thread.
func caller() {
	var waited time.Duration
	for i := 0; i < rounds; i++ {
		t := syscall.Timespec{Nsec: 20000000}
		begin := time.Now()
		syscall.Nanosleep(&t, nil)
		waited += time.Since(begin)
	}
	told("caller", waited)
}

// Waits for bytes from a peer that writes after a sleep: the network's poller wakes it.
func reader() {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	go func() {
		c, _ := l.Accept()
		for i := 0; i < rounds; i++ {
			time.Sleep(20 * time.Millisecond)
			c.Write([]byte{1})
		}
	}()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		panic(err)
	}
	var waited time.Duration
	for i := 0; i < rounds; i++ {
		begin := time.Now()
		c.Read(make([]byte, 1))
		waited += time.Since(begin)
	}
	told("reader", waited)
}

func main() {
	f, err := os.Create(os.Args[1])
	if err != nil {
		panic(err)
	}
	trace.Start(f)
	// One after the other, so that a part does not wait for another one's CPU.
	for _, part := range []func(){clerk, waiter, sleeper, caller, reader} {
		go part()
		<-finished
	}
	trace.Stop()
	f.Close()
}
