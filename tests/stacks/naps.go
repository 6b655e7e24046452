// SPDX-License-Identifier: GPL-2.0-or-later
// Sleeps in a system call at the end of a stack of Go code, which has frame pointers and no tables
// of the usual sort. As shapes.c.
package main

import (
	"fmt"
	"os"
	"runtime"
	"syscall"
)

//go:noinline
func nap(depth int) int {
	if depth > 0 {
		return nap(depth-1) + 1
	}
	fmt.Println("ready", os.Getpid())
	for {
		t := syscall.Timespec{Nsec: 100000000}
		syscall.Nanosleep(&t, nil)
	}
}

func main() {
	runtime.LockOSThread()
	fmt.Println(nap(5))
}
