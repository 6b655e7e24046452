#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# SIGKILL of the recorder at any step of its start and its end: all of its processes end, no BPF program stays in the
# kernel, no breakpoint in a program that was probed, nothing in the folder for temporary files; and what was written can
# be read. A step is the first system call of a kind: some of them here, each one with ALL=1.
# Beside another: it is about its own recorders.
. "$(dirname "$0")/lib.sh"
only_all "some sixty recorders one after the other"
needs_bpf
for tool in bpftool nm; do
	command -v $tool >/dev/null || skip "needs $tool"
done
mkdir "$tmp/temporary" "$tmp/run"
TMPDIR=$tmp/temporary
export TMPDIR
calm 900
relay=$!

# code FILE FROM: the first bytes of alpha_runs() there
code() {
	dd if="$1" bs=1 skip="$2" count=8 2>/dev/null | od -A n -t x1
}
symbol=$((0x$(nm "$load" | awk '$3 == "alpha_runs" { print $1 }')))
base=$(awk -F - -v path="$load" '$0 ~ path { print $1; exit }' /proc/$relay/maps)
intact=$(code "$load" $symbol) # the first segments of a program are in the file where they are in memory
expect "code of the program before" "$intact" "$(code /proc/$relay/mem $((0x$base + symbol)))"
is_intact() { [ "$(code /proc/$relay/mem $((0x$base + symbol)))" = "$intact" ]; }

# hangs PID: in a file system that does not answer, which is another's here: it was killed, and ends with that
hangs() {
	awk '$1 == "State:" { hangs = $2 == "D" }
		$1 == "ShdPnd:" { killed = substr($2, 14, 1) ~ /[13579bdf]/ }
		END { exit !(hangs && killed) }' "/proc/$1/status" 2>/dev/null
}

# is_gone: no process and no program that $tmp/killed lists; but what the recorder was to run may run on
is_gone() {
	bpftool prog show | sed -n 's/^\([0-9]*\): .*/\1/p' >"$tmp/programs"
	while read -r kind id _; do
		case $kind in
		child)
			is_running "$id" || continue
			! hangs "$id" || continue
			name=$(cat "/proc/$id/comm" 2>/dev/null)
			[ "$name" != sleep ] || { kill "$id"; continue; }
			left="$kind $id $name"
			return 1
			;;
		program)
			! grep -qx "$id" "$tmp/programs" || { left="$kind $id"; return 1; }
			;;
		esac
	done <"$tmp/killed"
}

# kill_at STEP TEXT OPTION...: false: there is no such step
kill_at() {
	step=$1 text=$2
	shift 2
	rm -rf "$tmp/run"
	mkdir "$tmp/run"
	timeout 300 "$build/kill_at" "$step" "$text" "$cap" -v --names=1s -o "$tmp/run/trace" "$@" >"$tmp/killed" 2>"$tmp/err.cap"
	expect_exit "kill_at" 0 $?
	grep -q '^at ' "$tmp/killed" || return 1
	kills=$((kills + 1))
	tries=200
	until is_gone || [ $((tries -= 1)) = 0 ]; do
		sleep 0.1
	done
	[ $tries -gt 0 ] || fail "chaincap $*, killed at step $step ($(head -n 1 "$tmp/killed")), leaves behind: $left"
	wait_for "no breakpoint is left" 10 is_intact
	for trace in "$tmp"/run/*; do
		[ -s "$trace" ] || continue
		timeout 300 "$walk" "$trace" >"$tmp/folded" 2>"$tmp/err"
		expect_exit "chainwalk, chaincap $* killed at step $step" "0 3" $?
		[ -s "$tmp/err" ] || fail "chainwalk says nothing about a trace that was cut off"
		read=$((read + 1))
	done
	expect "temporary files, chaincap $* killed at step $step" "" "$(ls "$TMPDIR")"
}

# kill_each WHAT TEXT LEAST EACH OPTION...: at each so manieth step, of which there are as many at least
kill_each() {
	what=$1 text=$2 least=$3 each=$4 step=0 kills=0 read=0
	shift 4
	while kill_at "$step" "$text" "$@"; do
		step=$((step + ${ALL:-$each}))
	done
	expect_at_least "steps of $what" "$least" "$step" "$tmp/killed"
	echo "note: $what: killed at $kills of $step steps, $read traces were there"
}

# An end comes soon: without one, the start has no last step.
kill_each "the start" "" 40 17 --request "alpha=$load:alpha_runs" 0.1
kill_each "the end" "$tmp/run/trace" 20 13 -- sleep 300
expect "traces after the end had begun" $kills $read
kill_each "a flight recorder's end" "kept in memory" 15 15 --flight=5s 600
