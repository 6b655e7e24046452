#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Requests that probes mark in programs as distributions have them are as many as their clients count: PostgreSQL's
# USDT probes, a function of C++ in MariaDB, a Go program; and a file of another root directory.
# Beside another: it counts requests of programs of its own.
. "$(dirname "$0")/lib.sh"
needs_bpf
chmod 755 "$tmp"
dir=$tmp/servers
mkdir "$dir"
chmod 755 "$dir"
services=$(dirname "$0")/../services
# shellcheck source=tests/services/lib.sh
. "$services/lib.sh"
end_servers() {
	server_stop
	clean_up
}
trap end_servers EXIT

# began NAME: 0: the service runs; else it is not installed.
began() {
	service "$1"
	service_start
	case $? in
	0) ran="$ran $1" ;;
	77) echo "note: $1: no $server_lacks" && return 1 ;;
	*) fail "$1 does not start: $(tail -n 5 "$dir"/*log "$dir"/*/log 2>/dev/null)" ;;
	esac
}

# record NAME SPEC LABEL COMMAND...: the requests called NAME are in $tmp/requests.
record() {
	name=$1 spec=$2 label=$3
	shift 3
	timeout 300 "$cap" -q -F 0 -o "$tmp/trace" --no-requests --request "$name=$spec" --request-label "$label" -- "$@" \
		>"$tmp/told" 2>"$tmp/err"
	expect_exit "chaincap --request $name=$spec -- $*: $(cat "$tmp/err")" 0 $?
	requests_at "$tmp/trace" "request $name"
}

ran=
if began pgbench; then
	postgres=$(echo /usr/lib/postgresql/*/bin/postgres)
	# All processes of the file are probed, also of a server that somebody else may have: nobody asks it this.
	echo 'SELECT 7' >"$dir/query"
	record query "usdt:$postgres:postgresql:query__start,usdt:$postgres:postgresql:query__done" arg1:string \
		pgbench -h "$dir/postgresql" -U postgres -n -c 4 -j 2 -t 300 -f "$dir/query" -l --log-prefix="$dir/latencies" postgres
	expect "pgbench: transactions" 1200 "$(cat "$dir"/latencies.* | wc -l | tr -d ' ')"
	expect_requests "PostgreSQL: queries" 1200 request ', label SELECT 7'
	# The server's part of a query cannot take longer than what its client measured.
	expect_at_most "PostgreSQL: us in all queries" "$(awk '{ n += $3 } END { printf "%.0f", n }' "$dir"/latencies.*)" \
		"$(awk '$3 == "request" && / label SELECT 7$/ {
			for (i = 1; i < NF; i++) { if ($i == "arrived") from = $(i + 1); if ($i == "answered") to = $(i + 1) }
			n += from - to } END { printf "%.0f", n / 1000 }' "$tmp/requests")" "$dir/query"
	server_stop
fi
# The server's program is a file of its own.
mkdir "$dir/bin"
cp "$(command -v mariadbd)" "$dir/bin" 2>"$tmp/err" && PATH=$dir/bin:$PATH
if began mariadb; then
	# The first argument is the command: 3 is a query.
	record query "$(command -v mariadbd):dispatch_command" arg1:u32 sysbench oltp_point_select \
		--mysql-socket="$dir/socket" --mysql-user=root --tables=2 --table-size=20000 --threads=4 --time=0 --events=1000 \
		--db-ps-mode=disable run
	expect "sysbench: queries" 1000 "$(awk '$1 == "queries:" { print $2 }' "$tmp/told")"
	expect_requests "MariaDB: queries" 1000 request ', label 3$'
	expect_requests "MariaDB: commands that are not over" 0 open
	# The recording ends with sysbench, which does not wait for the server to see the ends.
	expect_at_most "MariaDB: commands but queries and the ends of four connections" 4 $(($(requests_of request) - 1000)) "$tmp/told"
	server_stop
fi
if command -v go >/dev/null; then
	ran="$ran go"
	mkdir "$tmp/go"
	cat >"$tmp/go/main.go" <<-'EOF'
		package main

		import (
			"sync"
			"time"
		)

		//go:noinline
		func begin(id int) int { return id + 1 }

		//go:noinline
		func end(what string, id int) int { return id + len(what) }

		func main() {
			var all sync.WaitGroup
			for i := 0; i < 100; i++ {
				all.Add(1)
				go func(id int) {
					defer all.Done()
					begin(id)
					time.Sleep(2 * time.Millisecond)
					end("job", id)
				}(1000 + i)
			}
			all.Wait()
		}
	EOF
	(cd "$tmp/go" && GOCACHE=$tmp/go/cache GOFLAGS=-mod=mod GO111MODULE=off go build -o job main.go) 2>"$tmp/err" ||
		fail "go build: $(cat "$tmp/err")"
	# A string takes two registers, so the number is the third argument.
	record job "$tmp/go/job:main.begin@arg1,$tmp/go/job:main.end@arg3" arg1 "$tmp/go/job"
	expect_requests "Go: jobs" 100 request ', label 1[0-9][0-9][0-9]$'
	expect "Go: numbers of jobs" 100 "$(awk '$3 == "request" { print $NF }' "$tmp/requests" | sort -u | wc -l | tr -d ' ')"
	timeout 300 "$cap" -q -o "$tmp/none" --request "job=$tmp/go/job:main.begin" 0.1 2>"$tmp/err"
	expect "a call of a Go function: exit status" 1 $?
	expect "a call of a Go function: is refused" 1 "$(grep -c 'built by Go, whose calls cannot be probed' "$tmp/err")"
fi
# The program of a process with a root directory of its own, where a link leads to it.
if cc -static -O2 -pthread -o "$tmp/probed" "$(dirname "$0")/../workload/requests/probed.c" 2>"$tmp/err"; then
	ran="$ran chroot"
	mkdir -p "$tmp/root/bin"
	cp "$tmp/probed" "$tmp/root/bin/served"
	ln -s /bin/served "$tmp/root/app"
	chroot "$tmp/root" /bin/served open 1 >"$tmp/open" 2>"$tmp/err" &
	inside=$!
	started="$started $inside"
	wait_for "the program runs in its root directory" 20 grep -q ready "$tmp/open"
	record own "/proc/$inside/root/app:handle" arg1 chroot "$tmp/root" /bin/served calls 10
	kill "$inside"
	expect_requests "another root directory: calls" 20 request
fi
[ "$ran" ] || skip "nothing of that is installed"
