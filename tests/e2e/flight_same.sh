#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What a flight recorder writes is what a plain recording of the same time holds, event by event, stack
# by stack.
. "$(dirname "$0")/lib.sh"
needs_bpf
fly "$tmp/flight" -F 0 --flight 60s
"$cap" -F 0 -o "$tmp/plain" 2>"$tmp/err.plain" &
plain=$!
started="$started $plain"
wait_for "the plain recording begins" 10 test -e "$tmp/plain"
wait_for "the plain recording is at work" 10 has_bytes "$tmp/plain" 2000
# The first run of each is for the rules of its code: see record in lib.sh.
SETTLE_MS=200
export SETTLE_MS
for told in /dev/null "$tmp/told"; do
	timeout 300 "$load" relay --rounds 40 --sleep 5000 --work 500,500,500 >"$told" || fail "relay"
	timeout 300 "$load" pingpong --hops unix --rounds 2000 --work 0 >>"$told" || fail "pingpong"
	timeout 300 "$load" exec --work 3000,5000 >>"$told" || fail "exec"
done
kill -INT $plain
wait $plain
expect_exit "chaincap" 0 $?
end_recording

# story NAME: what happened to a thread, in its order, from chainwalk's events on standard input. Each
# recorder is a thread like any other to the other one, which stands where it has an idle CPU.
story() {
	awk -v me="$1/$(tid "$1")" '
		$2 == "switch" && $3 == me { print "goes out", $4 }
		$2 == "switch" && $6 == me { print "comes in" }
		$2 == "waking" && $3 == me && $5 !~ /^chaincap/ { print "wakes", $5 }
		$2 == "waking" && $5 == me { print "is woken", ($3 ~ /^(chaincap|swapper|\[unknown\])/ ? "" : "by " $3) }
		$2 != "switch" && $2 != "waking" && $3 == me { $1 = ""; print }'
}

# without_cut <STACKS: without those of which there is a longer one that is the same as far as they go: of the thread
# that waits, and of its waker, whose outermost function stands before its name. A recorder on a busy machine may not have
# read the rules of the code yet at one of several equal sleeps or wakings, and cuts that stack.
without_cut() {
	awk '
	# Whether the longer one ends as the shorter one does, but for the name that that one begins with.
	function ends_so(longer, shorter) {
		shorter = substr(shorter, index(shorter, ";"))
		return substr(longer, length(longer) - length(shorter) + 1) == shorter
	}
	{
		line[NR] = waiter[NR] = $0
		if ((at = index($0, ";--;"))) {
			waiter[NR] = substr($0, 1, at - 1)
			frames[NR] = name[NR] = substr($0, at + 4)
			sub(/.*;/, "", name[NR])
			frames[NR] = substr(frames[NR], 1, length(frames[NR]) - length(name[NR]))
		}
	}
	END {
		for (i = 1; i <= NR; i++) {
			for (j = 1; j <= NR; j++)
				if (length(line[j]) > length(line[i]) && name[j] == name[i] &&
				    ends_so(waiter[j], waiter[i]) && index(frames[j], frames[i]) == 1)
					break
			if (j > NR)
				print line[i]
		}
	}'
}

for trace in flight plain; do
	expect_whole "$tmp/$trace"
	expect "events lost by $trace" 0 "$lost"
	# Without time and CPU, of which the latter may have a space in it; without what locks are called:
	# the kernel answers only one of two recorders that ask for a mapping at the same time; and without
	# the lengths of sleeps and of disk requests, which begin at each recorder's own time.
	"$walk" -q --format=events "$tmp/$trace" 2>"$tmp/err" |
		sed 's/^ *[0-9.]* *\[ *[0-9]*\]/-/; s/\( waits for futex\) .*/\1/; s/\( waits for sleep\) .*/\1/; s/, asked .*//' >"$tmp/$trace.events"
done
for name in alpha bravo charlie delta ping pong patient; do
	for trace in flight plain; do
		# Each recorder has its own time of an event: a waking out of another CPU may come on
		# either side of what the thread does itself in the same microsecond.
		story $name <"$tmp/$trace.events" >"$tmp/$trace.told"
		{
			grep -v '^is woken' "$tmp/$trace.told"
			grep '^is woken' "$tmp/$trace.told"
		} >"$tmp/$trace.story"
		walk_to "$tmp/folded" --depth 1 --no-ends -t "$(tid $name)" "$tmp/$trace"
		sed 's/ [0-9]*$//' "$tmp/folded" | grep -v '\[unknown stack\]' | sort -u | without_cut >"$tmp/$trace.stacks"
	done
	expect_at_least "events of $name" 10 "$(wc -l <"$tmp/plain.story")"
	cmp -s "$tmp/flight.story" "$tmp/plain.story" || fail "$name: events differ:
$(diff "$tmp/plain.story" "$tmp/flight.story" | head -10)"
	cmp -s "$tmp/plain.stacks" "$tmp/flight.stacks" || fail "$name: stacks differ:
$(diff "$tmp/plain.stacks" "$tmp/flight.stacks" | head -10)"
done
