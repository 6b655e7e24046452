#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Who runs as nobody can neither stop nor end the processes that read programs' files for the recorder, nor change
# their priority: nobody else is their user. So functions have their names, and the recording ends in time. If root
# stops them, names are missing and the end takes 3 s longer at most. Where they are held up otherwise it takes as
# long as names may take; a second Ctrl-C ends even that at once, with a trace that can be read, and the process that
# writes a trace for --flight with it.
# Beside another: it compares names of its own program.
. "$(dirname "$0")/lib.sh"
needs_bpf
# shellcheck source=tests/processes.sh
. "$(dirname "$0")/../processes.sh"
command -v setpriv >/dev/null || skip "needs setpriv"

# helpers NAME: processes of that name below the recorder
helpers() { below "$recorder" | awk -v name="$1" '$5 == name { print $1 }'; }

# shellcheck disable=SC2016 # for the inner shell
attack='while :; do
	for child in $(cat /proc/$1/task/$1/children); do
		for pid in $child $(cat /proc/$child/task/$child/children); do
			kill -STOP $pid && echo "$pid was stopped"
			kill -KILL $pid && echo "$pid was killed"
			renice -n 19 $pid >/dev/null && echo "$pid is slow"
			echo $pid >&3
		done
	done
	sleep 0.05
done'
"$load" relay --rounds 1000000 --seconds 600 >/dev/null &
started="$started $!"
begin_recording "$tmp/trace"
setpriv --reuid=65534 --regid=65534 --clear-groups sh -c "$attack" sh "$recorder" \
	>"$tmp/attacked" 2>/dev/null 3>"$tmp/tried" &
attacker=$!
started="$started $attacker"
sleep 1.5
before=$(date +%s)
end_recording
expect_at_most "seconds to end" 20 $(($(date +%s) - before)) "$tmp/err"
kill $attacker
expect_at_least "processes that nobody tried to end" 4 "$(sort -u "$tmp/tried" | wc -l)"
expect "what nobody did to the recorder's processes" "" "$(sort -u "$tmp/attacked")"
walk_to "$tmp/folded" -c alpha "$tmp/trace"
grep -q '^alpha;.*;bravo_wakes_alpha;.*;bravo;' "$tmp/folded" || fail "names of the relay are missing:
$(head -n 5 "$tmp/folded")"

# Root stops all of them, and what forks them: they are given up, and none is left.
begin_recording "$tmp/stopped"
sleep 1.5
below "$recorder" | awk '$5 ~ /^chaincap-/ { print $1 }' >"$tmp/helpers"
expect_at_least "processes below the recorder" 3 "$(wc -l <"$tmp/helpers")"
while read -r pid; do
	kill -STOP "$pid" 2>/dev/null
done <"$tmp/helpers"
# 3 s, and what the end takes without that; else 15, which is what names may take and for how long a helper is waited for.
end_within 10 "$tmp/stopped" 1000
no_helper_is_left() {
	while read -r pid; do
		! is_running "$pid" || return 1
	done <"$tmp/helpers"
}
wait_for "the stopped processes end" 5 no_helper_is_left

# A control group whose processes can be held up without a signal, of either version.
freezer=/sys/fs/cgroup/freezer/chain-$$ state=freezer.state frozen=FROZEN thawed=THAWED
[ -d /sys/fs/cgroup/freezer ] || freezer=/sys/fs/cgroup/chain-$$ state=cgroup.freeze frozen=1 thawed=0
if ! mkdir "$freezer" 2>/dev/null || [ ! -e "$freezer/$state" ]; then
	rmdir "$freezer" 2>/dev/null
	echo "note: no freezer of control groups: not tried how a second Ctrl-C ends it"
	exit 0
fi
groups=$freezer
trap 'echo $thawed >"$freezer/$state"; clean_up' EXIT

# stop_helpers: what forks them, so that no name is found
stop_helpers() {
	forking=$(helpers chaincap-reader)
	[ "$forking" ] || fail "the recorder has no process that forks readers"
	for pid in $forking; do
		echo "$pid" >"$freezer/cgroup.procs"
	done
	echo $frozen >"$freezer/$state"
}

a_writer() { writer=$(helpers chaincap-writer) && [ "$writer" ]; }

# end_twice WHAT [writer]: SIGINT, and another one while names are looked for in vain; with writer: by the process
# that writes the trace, which is in $writer then
end_twice() {
	kill -INT "$recorder"
	[ $# -lt 2 ] || wait_for "a process writes the trace" 20 a_writer
	sleep 1
	is_running "$recorder" || fail "$1 has ended before: no test"
	before=$(date +%s%N)
	kill -INT "$recorder"
	wait "$recorder"
	expect_exit "$1, ended by a second SIGINT" 1 $?
	expect_at_most "$1: ms to end at once" 5000 $((($(date +%s%N) - before) / 1000000))
	echo $thawed >"$freezer/$state"
}

begin_recording "$tmp/trace"
sleep 1.5
stop_helpers
end_twice "chaincap"
timeout 300 "$walk" "$tmp/trace" >"$tmp/folded" 2>"$tmp/err"
expect_exit "chainwalk, of a trace without its end" 3 $?
[ -s "$tmp/folded" ] || fail "the trace explains nothing"
fly "$tmp/flight" --flight=20s
sleep 1.5
stop_helpers
end_twice "chaincap --flight" writer
wait_for "the writer ends" 20 sh -c "! grep -qsx chaincap-writer /proc/$writer/comm"
