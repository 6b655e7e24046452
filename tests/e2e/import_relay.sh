#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# perf and chaincap record the same run at the same time: from perf's text come the same chains, as
# wide, as from chaincap's trace.
#
# The two recorders stamp one and the same call of a tracepoint, one after the other: a stamp is off
# by as long as the other recorder takes, some 10 us, and by what may interrupt it. expect_near
# (lib.sh) allows 10 %, or 200 us for each time a link was gone through.
#
# perf goes by frame pointers here (-g) and so misses the functions that call the C library. What is
# compared are the threads of a chain, their kernel stacks, and the user functions above. (By
# --call-graph dwarf perf 6.1 finds alpha_waits in one recording of this program and not in the next.)
. "$(dirname "$0")/lib.sh"
needs_bpf
can_compare perf || skip "$why_not"
# perf loses events of the idle loop on some kernels: no CPU is ever idle, but nobody is kept waiting.
for cpu in $(seq 0 $(($(nproc --all) - 1))); do
	taskset -c "$cpu" chrt -i 0 sh -c 'while :; do :; done' 2>/dev/null &
	started="$started $!"
done
rounds=10
events=sched:sched_switch,sched:sched_waking,sched:sched_wakeup_new,sched:sched_process_fork

# both SCENARIO...: leaves $tmp/trace, $tmp/text, $tmp/told
both() {
	timeout 300 perf record -q -r 1 -a -g -m 4096 -e $events -o "$tmp/perf.data" -- \
		"$cap" -F 0 -q -o "$tmp/trace" -- "$load" "$@" >"$tmp/told" 2>"$tmp/err" ||
		fail "recording: $(cat "$tmp/err")"
	timeout 300 perf script --ns --no-inline --header --show-lost-events -i "$tmp/perf.data" >"$tmp/text" 2>"$tmp/err"
	[ -s "$tmp/text" ] || fail "perf script: $(cat "$tmp/err")"
}

# chains THREAD: of both, only its own function and the names of the threads.
chains() {
	walk_to "$tmp/a" -q -t "$(tid "$1")" "$tmp/trace"
	walk_to "$tmp/b" -q -t "$(tid "$1")" "$tmp/text"
	keep='^alpha_runs$'
	grep "alpha_runs;.*;--;" "$tmp/a" | skeleton "$keep" >"$tmp/chaincap"
	grep "alpha_runs;.*;--;" "$tmp/b" | skeleton "$keep" >"$tmp/perf"
}

# How often chainload's threads left a CPU or were woken, by chaincap and by perf, before anything of ours reads it.
# perf does not tell of what it lost last.
events_recorded() {
	pattern=$(for name in alpha bravo charlie delta; do printf '%s\\|' "$(tid $name)"; done)0000000
	"$walk" -q --format=events "$tmp/trace" |
		grep -c "switch .*/\($pattern\) [A-Za-z] -> \|waking .* -> .*/\($pattern\)\( \|\$\)"
	grep -c "prev_pid=\($pattern\) \|sched_waking: .* pid=\($pattern\) " "$tmp/text"
}

for try in 1 2 3 4 5 6; do
	both relay --hops futex,pipe,tcp --work 1500,2500,3500 --rounds $rounds
	chains alpha
	# shellcheck disable=SC2046 # two numbers
	set -- $(events_recorded)
	if [ "$1" = "$2" ] && ! grep -q PERF_RECORD_LOST "$tmp/text" &&
		! grep -q '\[unknown\]' "$tmp/chaincap" "$tmp/perf"; then
		break
	fi
	echo "note: try $try: switches and wakings of chainload, by chaincap: $1, by perf: $2;" \
		"perf lost events $(grep -c PERF_RECORD_LOST "$tmp/text") times; untraced switches: $(holes "$tmp/trace")"
	[ $try != 6 ] || skip "in each of 6 tries perf lost events, or some were not traced at all"
done
[ "$(wc -l <"$tmp/chaincap")" -ge 7 ] || fail "too few chains
$(cat "$tmp/chaincap")"
while read -r line; do
	chain=${line% *}
	expect_near "$chain" "${line##* }" "$(weight "$chain" "$tmp/perf")" $rounds "$tmp/perf"
done <"$tmp/chaincap"
# The other way round: nothing of any width that chaincap does not have.
while read -r line; do
	chain=${line% *}
	expect_near "of perf only: $chain" "$(weight "$chain" "$tmp/chaincap")" "${line##* }" $rounds "$tmp/chaincap"
done <"$tmp/perf"
# Not only by name: the very same stacks, from the sleep to the first waker's root; of the user's part what perf
# can find, less the C library, whose functions have several names each.
stacks() {
	grep -o '^alpha;.*alpha_runs;[^-]*;-;.*;--;.*bravo_runs;[^-]*;bravo;' "$1" | awk -F ';' '{
		user = 1 # or kernel: "-" stands between the two, and "--" before a waker, kernel first
		line = ""
		for (i = 1; i <= NF; i++) {
			if (!user || $i ~ /^-|^thread_main$|^[a-d][a-z]*_runs$|^(alpha|bravo)$/)
				line = line ";" $i
			if ($i == "-")
				user = !user
		}
		print line
	}' | sort -u
}
expect "stacks of alpha's waits, and of who woke it" "$(stacks "$tmp/a")" "$(stacks "$tmp/b")"
[ -n "$(stacks "$tmp/a")" ] || fail "no such stacks"
expect "the host" "$("$walk" -q --format=info "$tmp/trace" | grep '^host:')" \
	"$("$walk" -q --format=info "$tmp/text" | grep '^host:')"
