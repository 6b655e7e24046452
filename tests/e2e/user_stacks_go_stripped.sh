#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A stripped Go program has all its functions' names, which its own table of functions gives: the stacks of its waits
# are those of its unstripped twin, and all names are those of Go's own tool.
# Beside another: it judges stacks of its own programs.
. "$(dirname "$0")/lib.sh"
needs_bpf
command -v go >/dev/null || skip "no go (Debian: golang-go)"
stacks=$(cd "$(dirname "$0")/../stacks" && pwd)
GOCACHE=$tmp/cache GOFLAGS=-mod=mod GO111MODULE=off go build -o "$tmp/whole" "$stacks/naps.go" 2>"$tmp/err" ||
	fail "go build: $(cat "$tmp/err")"
cp "$tmp/whole" "$tmp/stripped"
strip "$tmp/stripped" || fail "strip fails"

# Go's linker adds .abi0 to some names of its symbol table, and puts a dot for what is no ASCII; runtime.text and
# runtime.etext are not functions. Type arguments are [...] in the program's own table.
go tool nm "$tmp/whole" | awk '$2 ~ /^[Tt]$/ && $3 !~ /^runtime\.e?text$/ {
	at = $1; $1 = $2 = ""; sub(/^ */, ""); sub(/\.abi0$/, ""); sub(/\[.*\]/, "[...]"); print at, $0 }' | sort >"$tmp/expected"
"$(dirname "$walk")/elf_functions" "$tmp/stripped" >"$tmp/out" 2>"$tmp/err" ||
	fail "functions of the stripped program: $(head -5 "$tmp/err")"
LC_ALL=C sed 's/\xc2\xb7/./g' "$tmp/out" | sort >"$tmp/got"
expect_at_least "functions in Go's list" 1000 "$(wc -l <"$tmp/expected")"
cmp -s "$tmp/expected" "$tmp/got" || fail "functions of the stripped program, and what differs from go tool nm:
$(diff "$tmp/expected" "$tmp/got" | head -20)"

# stacks PROGRAM: those of its waits in its own code, without the process's name.
stacks() {
	: >"$tmp/ready"
	"$tmp/$1" >"$tmp/ready" &
	pid=$!
	started="$started $pid"
	wait_for "$1 is asleep" 20 grep -q ready "$tmp/ready"
	"$cap" -q -F 0 -o "$tmp/trace" 1 2>"$tmp/err"
	expect_exit "chaincap: $(cat "$tmp/err")" 0 $?
	kill "$pid"
	walk_to "$tmp/folded" -q -p "$pid" "$tmp/trace"
	sed "s/^$1;//; s/;\[sleep\];-;.*//; s/\.abi0;/;/g" "$tmp/folded" | grep ';main\.nap;' | sort -u
}
stacks whole >"$tmp/expected"
stacks stripped >"$tmp/got"
nap='main.nap;main.nap;main.nap;main.nap;main.nap;main.nap'
expect "the program's stack" \
	"runtime.goexit;runtime.main;main.main;$nap;syscall.Nanosleep;syscall.Syscall;syscall.RawSyscall6;runtime/internal/syscall.Syscall6" \
	"$(cat "$tmp/expected")"
expect "the stripped program's stack" "$(cat "$tmp/expected")" "$(cat "$tmp/got")"
