// SPDX-License-Identifier: GPL-2.0-or-later
// Sleeps in a system call at the end of a stack of Go code, which has frame pointers and no tables
// of the usual sort. As shapes.c. Without package fmt, which takes seconds to compile.
package main

import (
	"runtime"
	"strconv"
	"syscall"
)

func say(line string) {
	syscall.Write(1, []byte(line+"\n"))
}

//go:noinline
func nap(depth int) int {
	if depth > 0 {
		return nap(depth-1) + 1
	}
	say("ready " + strconv.Itoa(syscall.Getpid()))
	for {
		t := syscall.Timespec{Nsec: 100000000}
		syscall.Nanosleep(&t, nil)
	}
}

func main() {
	runtime.LockOSThread()
	say(strconv.Itoa(nap(5)))
}
