#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Go's execution trace of a program whose goroutines wait in known ways: the first cause is the goroutine that holds the
# mutex, each chain ends in what the program did, and all waits have the lengths that Go's own tool finds.
. "$(dirname "$0")/lib.sh"
command -v go >/dev/null || skip "no go (Debian: golang-go)"
workload=$(cd "$(dirname "$0")/../workload" && pwd)
GOCACHE=$tmp/cache GOFLAGS=-mod=mod GO111MODULE=off go build -o "$tmp/goroutines" "$workload/goroutines.go" 2>"$tmp/err" ||
	fail "go build: $(cat "$tmp/err")"
timeout 60 "$tmp/goroutines" "$tmp/go.trace" >"$tmp/told" 2>"$tmp/err"
expect_exit "goroutines: $(cat "$tmp/err")" 0 $?

# sum REGEX: ns of the lines that match.
walk_to "$tmp/places" -q "$tmp/go.trace"
sed 's/ ([a-z_0-9]*\.go:[0-9]*)//g' "$tmp/places" >"$tmp/folded"
sum() {
	weight_of "$1" "$tmp/folded"
}

# The clerk alone: what the others wait for takes longer on a machine without CPUs to spare.
"$walk" -q -f causes --json -c main.clerk "$tmp/go.trace" >"$tmp/causes" 2>"$tmp/err"
expect_exit "chainwalk -f causes: $(cat "$tmp/err")" 0 $?
head -1 "$tmp/causes" | grep -q '"cause":"main\.auditor/[0-9]* ran, then woke the waiter in sync\.(\*Mutex)\.Unlock (mutex\.go:[0-9]*) < main\.holdAccount (goroutines\.go:[0-9]*)' ||
	fail "the first cause is not the goroutine that holds the mutex: $(head -1 "$tmp/causes")"

unlock=$(grep -n 'account\.Unlock()$' "$workload/goroutines.go" | head -1 | cut -d : -f 1)
expect_at_least "main.holdAccount unlocks at line $unlock" 1 "$(grep -c "main\.holdAccount (goroutines\.go:$unlock)" "$tmp/places")"

# ran GOROUTINE: ns in which it ran, or had no P although it had not waited.
"$walk" -q -f threads --json "$tmp/go.trace" >"$tmp/threads" 2>"$tmp/err"
expect_exit "chainwalk -f threads: $(cat "$tmp/err")" 0 $?
ran() {
	sed -n "s/.*\"name\":\"main\.$1\",\"running_ns\":\([0-9]*\),.*\"preempted_ns\":\([0-9]*\),.*/\1 \2/p" "$tmp/threads" |
		awk '{ printf "%.0f\n", $1 + $2 }'
}

# A goroutine measures its wait from before it blocks until it runs again. Go scales its ticks by their average, and both
# clocks may differ by a thousandth in between.
while read -r name chain; do
	ns=$(sum "^main\.$name;.*${chain%%;--;*};")
	measured=$(told "$name" waited_ns)
	expect_at_most "$name: of what it measured" $((measured + measured / 1000)) "$ns" "$tmp/folded"
	# The rest of that it ran, or had its P taken away.
	expect_at_least "$name: with what it ran" $((measured - measured / 1000)) $((ns + $(ran "$name"))) "$tmp/folded"
	# Otherwise somebody had no P.
	expect_at_least "$name: chains that end as they have to" $((ns / 2)) "$(sum "^main\.$name;.*$chain ")" "$tmp/folded"
done <<'EOF'
clerk ;sync\.\(\*Mutex\)\.Lock;\[sync\];--;sync\.\(\*Mutex\)\.Unlock;main\.holdAccount;main\.auditor;main\.auditor;\[running\]
waiter ;runtime\.chanrecv1;\[chan receive\];--;runtime\.chansend1;main\.baker;main\.baker;\[running\]
sleeper ;time\.Sleep;\[sleep\];--;runtime\.runtimer;\[timer\]
caller ;syscall\.Nanosleep;\[syscall\];--;runtime\.exitsyscall;\[interrupt\]
reader ;internal/poll\.\(\*FD\)\.Read;\[IO wait\];--;runtime\.netpoll;\[network\]
EOF

# The main goroutine waits for all of them, and its chains go through them.
expect_at_least "runtime.main: behind the mutex, through the clerk" $(($(told clerk waited_ns) / 2)) \
	"$(sum '^runtime\.main;.*;main\.clerk;--;.*;main\.auditor;\[running\] ')" "$tmp/folded"

# The same waits as Go's tool has, to the nanosecond: its profiles have times in samples "N TIME: locations".
"$walk" -q -f csv --all "$tmp/go.trace" >"$tmp/csv" 2>"$tmp/err"
expect_exit "chainwalk -f csv: $(cat "$tmp/err")" 0 $?
while read -r profile objects; do
	go tool trace -pprof="$profile" "$tmp/go.trace" >"$tmp/profile" 2>"$tmp/err" || fail "go tool trace: $(cat "$tmp/err")"
	go tool pprof -raw "$tmp/profile" >"$tmp/raw" 2>"$tmp/err" || fail "go tool pprof: $(cat "$tmp/err")"
	expected=$(awk '/^Locations/ { exit } $1 ~ /^[0-9]+$/ && $2 ~ /^[0-9]+:$/ { n += $1; ns += $2 } END { printf "%.0f %.0f\n", n, ns }' "$tmp/raw")
	got=$(awk -F, -v objects="$objects" '
		BEGIN { count = split(objects, name, "|"); for (i = 1; i <= count; i++) wanted[name[i]] = 1 }
		NR > 1 && $NF in wanted { n++; ns += $12 } END { printf "%.0f %.0f\n", n, ns }' "$tmp/csv")
	expect "waits and nanoseconds of go tool trace -pprof=$profile" "$expected" "$got"
	echo "note: $profile: $got, as Go's tool"
done <<'EOF'
sync chan receive|chan send|chan select|sync|sync.Cond
net IO wait
syscall syscall
EOF

# Through a pipe, and cut off.
"$walk" -q --unit=ns - <"$tmp/go.trace" >"$tmp/piped" 2>"$tmp/err"
cmp -s "$tmp/places" "$tmp/piped" || fail "from standard input: $(diff "$tmp/places" "$tmp/piped" | head -5; cat "$tmp/err")"
# What follows the events has the times, and after that the names: Go writes them when tracing is stopped.
head -c 1000 "$tmp/go.trace" >"$tmp/cut"
"$walk" -q "$tmp/cut" >"$tmp/out" 2>"$tmp/err"
expect "a trace without its end: exit status" 1 $?
expect "a trace without its end: is said" 1 "$(grep -c 'without its end' "$tmp/err")"
head -c $(($(wc -c <"$tmp/go.trace") - 100)) "$tmp/go.trace" >"$tmp/cut"
"$walk" -q "$tmp/cut" >"$tmp/out" 2>"$tmp/err"
expect "a trace that is cut off in its names: exit status" 3 $?
