#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A long recording beside all attackers that the tests have, at once: programs with sparse symbol tables of 400 MiB, file
# systems that do not answer, processes with 65 thousand mappings and two that remap for ever, programs that lie about
# a Python interpreter, perf maps and jitdumps that take long to read, call frame information that leads anywhere,
# stacks in odd places, processes that are stopped, or share memory or an id with others, somebody who wants to stop the
# recorder's processes, and programs that end at once. Judged is what an innocent program is told: its chains, its
# functions' names; the most memory that the recorder and its processes took, how long the end took, and that what was
# given up is said.
#   bench/hostile.sh BUILD_DIR [SECONDS [OPTION...]]
#   SECONDS   3600 by default
#   OPTION    for chaincap
#   KEEP=FILE keeps the trace
#   NICE=10   the attackers' priority (default 0)
# Exits 1 if something does not hold.
set -eu
export LC_ALL=C
O=$(cd "$1" && pwd)
seconds=${2:-3600}
shift $(($# < 2 ? $# : 2))
here=$(cd "$(dirname "$0")/.." && pwd)
nice=${NICE:-0}
memory=512 # MiB, chaincap's default
dir=$(mktemp -d)
chmod 755 "$dir"
started=
end_started() {
	# A stranger's children are in its process group.
	for pid in $started; do kill -- "-$pid" 2>/dev/null || kill "$pid" 2>/dev/null || true; done
	# What hangs in a file system ends with its server.
	[ ! -e "$dir/dead/pids" ] || xargs kill -KILL <"$dir/dead/pids" 2>/dev/null || true
	started=
	[ ! -e "$dir/maps" ] || sed 's|.*|/tmp/perf-&.map|' "$dir/maps" | xargs rm -f
	wait 2>/dev/null || true
}
trap 'end_started; rm -rf "$dir"' EXIT
trap 'exit 130' INT TERM
# shellcheck source=tests/processes.sh
. "$here/tests/processes.sh"

# as_stranger COMMAND...: in the background, in a process group of its own, as a user of no rights
as_stranger() {
	setsid nice -n "$nice" setpriv --reuid=65432 --regid=65432 --clear-groups "$@" >/dev/null 2>&1 &
	started="$started $!"
}

cc -O2 -o "$dir/mapping_attack" "$here/tests/attacks/mapping_attack.c"
cc -O2 -pthread -rdynamic -o "$dir/forged" "$here/tests/attacks/forged.c"
mkdir -m 777 "$dir/theirs"
for _ in 1 2 3 4; do as_stranger "$dir/mapping_attack" 65000; done
for _ in 1 2; do as_stranger "$dir/mapping_attack" 60000 again; done
# One after the other: together they would make most of the events.
cat >"$dir/lies.sh" <<'END'
while :; do
	for lie in loop wild long control key many race; do
		"$1/forged" $lie &
		sleep 10
		kill $!
	done
done
END
as_stranger sh "$dir/lies.sh" "$dir"

cp "$O/chainload" "$O/sparse_symbols" "$dir"
cat >"$dir/bombs.sh" <<'END'
cd "$1/theirs" || exit
while :; do
	cp ../chainload bomb && ../sparse_symbols bomb 400 && ./bomb relay --rounds 20 --hops pipe
	rm -f bomb
	sleep 1
done
END
as_stranger sh "$dir/bombs.sh" "$dir"

cp "$O/map_bomb" "$O/odd_stacks" "$O/odd_processes" "$dir"
for what in lines covers hole endless records empty jithole; do
	as_stranger "$dir/map_bomb" $what "$dir/theirs"
	echo $! >>"$dir/maps"
done
for kind in none ones zeros random flips long long64 self before advance stack unstack cfa expression loop covers; do
	cp "$O/chainload-nofp" "$dir/frames_$kind"
	"$O/evil_frames" "$dir/frames_$kind" $kind
	as_stranger "$dir/frames_$kind" relay --hops pipe --rounds 100000000 --seconds 80000 --sleep 50000
done
for what in plain file memfd writable low high grows handler coroutine odd wild circle compat int80; do
	as_stranger "$dir/odd_stacks" $what "$dir/theirs/$what"
done
for what in stopped moved vfork uring; do
	as_stranger "$dir/odd_processes" $what
done
for name in first second; do
	cc -O2 -fPIC -shared -nostdlib -DNAME=odd_$name -Wl,-z,noseparate-code -o "$dir/$name.so" "$here/tests/attacks/one_function.c"
done
# To choose an id takes root.
setsid nice -n "$nice" "$dir/odd_processes" reuse "$dir/odd_stacks" plain -- "$O/chainload" relay --hops pipe --rounds 1000000 \
	--seconds 600 >/dev/null 2>&1 &
started="$started $!"
as_stranger "$dir/odd_processes" shared "$dir/first.so" "$dir/second.so" "0x$(nm "$dir/first.so" | sed -n 's/ T odd_first//p')"

cat >"$dir/brief.sh" <<'END'
cd "$1/theirs" || exit
while :; do
	/bin/true
	cp /bin/true brief && ./brief
	rm -f brief
	sleep 0.02
done
END
as_stranger sh "$dir/brief.sh" "$dir"

# A minute each time, as who else records on this machine has processes that hang there, too.
cat >"$dir/dead.sh" <<'END'
trap 'xargs kill -KILL <"$1/pids" 2>/dev/null; exit' TERM
while :; do
	: >"$1/pids"
	rm -f "$1"/server*
	for i in 1 2 3 4 5; do
		mkdir -p "$1/dead$i"
		"$2/deaf_files" "$1/dead$i" "$2/chainload" chaincap-r >"$1/server$i" 2>&1 &
		echo $! >>"$1/pids"
	done
	while ! [ "$(cat "$1"/server* | grep -c ready)" = 5 ]; do sleep 0.1; done
	for i in 1 2 3 4 5; do
		"$1/dead$i/program" relay --rounds 100000000 --seconds 80000 --hops pipe --work 500,500,500 >/dev/null 2>&1 &
		echo $! >>"$1/pids"
	done
	sleep 60 &
	wait $!
	xargs kill -KILL <"$1/pids" 2>/dev/null
	for i in 1 2 3 4 5; do umount -l "$1/dead$i"; done
done
END
if [ -c /dev/fuse ]; then
	mkdir "$dir/dead"
	setsid nice -n "$nice" unshare -m sh "$dir/dead.sh" "$dir/dead" "$O" >/dev/null 2>&1 &
	started="$started $!"
fi

watch_memory() {
	while [ -e /proc/$recorder ]; do
		kib_below $recorder
		sleep 0.2
	done >"$dir/kib"
}

# As a service is: in a session of its own.
setsid "$O/chaincap" -v "$@" -o "$dir/trace" "$seconds" 2>"$dir/said" &
recorder=$!
started="$started $recorder"
watch_memory &
started="$started $!"
cat >"$dir/attack.sh" <<'END'
while :; do
	for child in $(cat /proc/$1/task/$1/children); do
		for pid in $child $(cat /proc/$child/task/$child/children); do
			kill -STOP $pid && echo "$pid was stopped" >>"$2"
			kill -KILL $pid && echo "$pid was killed" >>"$2"
			renice -n 19 $pid >/dev/null && echo "$pid is slow" >>"$2"
		done
	done 2>/dev/null
	sleep 0.5
done
END
: >"$dir/attacked"
chmod 666 "$dir/attacked"
as_stranger sh "$dir/attack.sh" $recorder "$dir/attacked"

# In sessions of their own, as the recorder's has a higher priority. The innocent: one that runs all the time, at a usual pace, and one that begins in the last seconds.
setsid "$O/chainload" relay --rounds 100000000 --seconds 80000 --hops pipe --work 500,500,500 >/dev/null 2>&1 &
innocent=$!
started="$started $innocent"
sleep $((seconds > 20 ? seconds - 15 : seconds / 2))
cp "$O/chainload" "$dir/later"
setsid timeout 300 "$dir/later" relay --rounds 20 --hops pipe >/dev/null || echo "the late program does not run"
end_before=$(date +%s)
status=0
wait $recorder || status=$?
started=$(echo " $started " | sed "s/ $recorder / /") # its id may be another's now
took=$(($(date +%s) - end_before))
end_started

failed=no
[ -z "${KEEP:-}" ] || cp "$dir/trace" "$KEEP"
# holds WHAT GOT CONDITION...
holds() {
	what=$1 got=$2
	shift 2
	if "$@"; then
		echo "$what: $got"
	else
		failed=yes
		echo "$what: $got: NOT WHAT IS PROMISED"
	fi
}
echo "$seconds s beside attackers at nice $nice, kernel $(uname -r), $(nproc) CPUs, $(date +%F), load $(cut -d' ' -f1 /proc/loadavg)"
grep -E '^chaincap: ([0-9]+ events|[0-9]+ records|readers|names|recorder|unwinding: readers)|given up|kept' "$dir/said" || true
holds "exit" $status test $status = 0
most=$(($(sort -n "$dir/kib" | tail -n 1) / 1024))
holds "MiB of the recorder and its processes, of $memory" $most test $most -le $memory
finished=$(sed -n 's/^chaincap: recorder: .* finished \([0-9]*\)\..*/\1/p' "$dir/said")
holds "seconds to end after the recording" "${finished:-?}" test "${finished:-99}" -le 15
echo "seconds from the late program's end to the recorder's: $took"
holds "what strangers did to the recorder's processes" "$(wc -l <"$dir/attacked") times" test ! -s "$dir/attacked"
"$O/chainwalk" -f info "$dir/trace" 2>/dev/null | grep -E '^(events|lost|mappings_lost):' | tr '\n' ' '
echo
# share OPTION...: percent of alpha's time asleep, of processes that the options choose, whose chains have bravo's function
share() {
	"$O/chainwalk" -q --state=blocked -c '^alpha$' "$@" "$dir/trace" 2>/dev/null |
		awk '{ n = $NF; all += n } /;bravo_wakes_alpha;.*;bravo;/ { good += n } END { printf "%.0f\n", int(all ? 100 * good / all : 0) }'
}
# Of the last minute, as memory for all may not be there.
from=$((seconds > 60 ? seconds - 60 : 0))
always=$(share --from $from -p $innocent)
holds "percent of the innocent's waits that name who woke it" "$always" test "$always" -ge 90
late=$(share --from $from -p later)
holds "percent of the late program's" "$late" test "$late" -ge 90
"$O/chainwalk" --from $from "$dir/trace" 2>&1 >/dev/null | grep -E 'given up|mapped more|not looked up|lost' || true
[ $failed = no ]
