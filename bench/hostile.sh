#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Records as the packaged service does (docs/systemd/chaincap-every.service: --every, its limits and capabilities) beside
# all attackers that the tests have, at once: programs with sparse symbol tables of 400 MiB, file systems that do not
# answer, processes with 65 thousand mappings and two that remap for ever, programs that lie about a Python interpreter,
# thousands of files that are called as Python's, and of processes that seem to publish contexts, perf maps and jitdumps
# that take long to read, call frame information that leads anywhere, stacks in odd places, and such that are moved
# while their threads sleep, processes that are stopped, or share memory or an id with others, tables of thousands of
# files, shared and not, tens of thousands of sockets, empty datagrams at others' ports, somebody who wants to stop the
# recorder's processes, and programs that end at once.
# Judged is what innocents are told, by their own clocks and counters (bench/hostile/judge.py): waits of a C, a Python
# and a PHP program, with the function's name; requests of a UDP and a TCP service and of redis. 99 % of all, or the
# recorder says what is missing. And the most memory, how long the end took, how many rows a trace has.
#   bench/hostile.sh BUILD_DIR [SECONDS [OPTION...]]
#   SECONDS   3600 by default
#   OPTION    for chaincap, instead of the service's --every=60s --for=1s (--every=5s --for=2s below 600 seconds)
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
if [ $# = 0 ]; then
	set -- --every=60s --for=1s --keep=2G --java-maps
	[ "$seconds" -ge 600 ] || set -- --every=5s --for=2s --keep=2G --java-maps
fi
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
trap 'end_started; [ -z "${groups:-}" ] || rmdir $groups 2>/dev/null || true; rm -rf "$dir"' EXIT
trap 'exit 130' INT TERM
# shellcheck source=tests/processes.sh
. "$here/tests/processes.sh"

# as_stranger COMMAND...: in the background, in a session of its own, as a user of no rights. Linux shares CPUs among
# sessions first: the priority is the session's, too.
as_stranger() {
	setsid sh -c 'echo "$1" >/proc/self/autogroup; exec nice -n "$@"' sh "$nice" setpriv --reuid=65432 --regid=65432 --clear-groups \
		"$@" >/dev/null 2>&1 &
	started="$started $!"
}

cc -O2 -o "$dir/mapping_attack" "$here/tests/attacks/mapping_attack.c"
for forged in forged forged_ruby; do
	cc -O2 -pthread -rdynamic -o "$dir/$forged" "$here/tests/attacks/$forged.c"
done
mkdir -m 777 "$dir/theirs"
for _ in 1 2 3 4; do as_stranger "$dir/mapping_attack" 65000; done
for _ in 1 2; do as_stranger "$dir/mapping_attack" 60000 again; done
# One after the other: together they would make most of the events.
cat >"$dir/lies.sh" <<'END'
while :; do
	for lie in loop wild long control key line many race; do
		for forged in forged forged_ruby; do
			"$1/$forged" $lie &
			sleep 5
			kill $!
		done
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

cp "$O/map_bomb" "$O/odd_stacks" "$O/odd_processes" "$O/moving_stacks" "$dir"
chown 65432 "$dir"/*
for what in lines covers hole endless records empty jithole; do
	as_stranger "$dir/map_bomb" $what "$dir/theirs"
	echo $! >>"$dir/maps"
done
for kind in none ones zeros random flips long long64 self before advance stack unstack cfa expression loop covers; do
	cp "$O/chainload-nofp" "$dir/frames_$kind"
	"$O/evil_frames" "$dir/frames_$kind" $kind
	chown 65432 "$dir/frames_$kind"
	as_stranger "$dir/frames_$kind" relay --hops pipe --rounds 100000000 --seconds 80000 --sleep 50000
done
for what in plain file memfd writable low high grows handler coroutine odd wild circle compat int80; do
	as_stranger "$dir/odd_stacks" $what "$dir/theirs/$what"
done
for what in stopped moved vfork uring; do
	as_stranger "$dir/odd_processes" $what
done
for what in moves hides huge ends execs; do
	as_stranger "$dir/moving_stacks" $what
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

cc -O2 -o "$dir/many_files" "$here/tests/attacks/many_files.c"
cc -O2 -o "$dir/python_files" "$here/tests/attacks/python_files.c"
cc -O2 -rdynamic -o "$dir/publishers" "$here/tests/attacks/publishers.c"
mkdir -m 777 "$dir/pythons"
chown 65432 "$dir/many_files" "$dir/python_files" "$dir/publishers"
as_stranger "$dir/python_files" "$dir/pythons" 3000
as_stranger "$dir/publishers" 2000
as_stranger "$dir/many_files" 4000 2000
as_stranger "$dir/many_files" 4000 200 own
cat >"$dir/sockets.py" <<'END'
import resource
import socket
import sys
import time
hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
mine = []
for port in range(20000, 20000 + min(15000, hard - 100)):
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.bind(("127.98.0." + sys.argv[1], port))
    mine.append(s)
while True:
    for s in mine:
        s.sendto(b"x", s.getsockname())
        s.recv(1)
    time.sleep(5)
END
for n in 1 2; do as_stranger python3 "$dir/sockets.py" $n; done

# The innocent, in sessions of their own, as the recorder's has a higher priority.
cc -O2 -rdynamic -o "$dir/innocent" "$here/bench/hostile/innocent.c"
# innocent NAME COMMAND...: NAME:PID is added to what is judged
innocents=
innocent() {
	name=$1
	shift
	setsid "$@" "$dir/$name.log" >/dev/null 2>&1 &
	started="$started $!"
	innocents="$innocents $name:$!"
}
# service NAME [PORT]
service() {
	setsid python3 "$here/bench/hostile/services.py" "$1" "$dir/$1.log" ${2:+"$2"} >"$dir/$1.port" 2>/dev/null &
	started="$started $!"
	while [ ! -s "$dir/$1.port" ]; do sleep 0.1; done
	innocents="$innocents $1::$(cat "$dir/$1.port")"
}
innocent c "$dir/innocent"
innocent python python3 "$here/bench/hostile/innocent.py"
if command -v php >/dev/null; then innocent php php "$here/bench/hostile/innocent.php"; else echo "no php"; fi
service udp
service tcp
# Two that the attackers do not know.
if command -v redis-server >/dev/null; then
	port=$((10000 + $$ % 10000))
	setsid redis-server --port $port --save '' --dir "$dir" >/dev/null 2>&1 &
	started="$started $!"
	sleep 2
	service redis $port
else
	echo "no redis-server"
fi
if command -v perl >/dev/null; then
	port=$((30000 + $$ % 10000))
	setsid perl "$here/bench/hostile/service.pl" $port >/dev/null 2>&1 &
	started="$started $!"
	sleep 1
	service perl $port
else
	echo "no perl"
fi
# Datagrams that ask nothing, at the UDP service.
cat >"$dir/empty.py" <<'END'
import socket
import sys
import time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
while True:
    s.sendto(b"", ("127.0.0.1", int(sys.argv[1])))
    time.sleep(0.05)
END
as_stranger python3 "$dir/empty.py" "$(cat "$dir/udp.port")"

# Locks that say that the innocent have them.
cc -O2 -pthread -o "$dir/forged_locks" "$here/tests/attacks/forged_locks.c"
chown 65432 "$dir/forged_locks"
# shellcheck disable=SC2046 # a list
as_stranger "$dir/forged_locks" $(echo "$innocents" | tr ' ' '\n' | sed -n 's/^[a-z]*:\([0-9][0-9]*\)$/\1/p')
# Programs that look like JVMs, for --java-maps.
cc -O2 -pthread -rdynamic -o "$dir/libjvm.so" "$here/tests/attacks/java_bait.c"
chown 65432 "$dir/libjvm.so"
for what in silent hangs floods stops; do
	as_stranger "$dir/libjvm.so" $what
	echo $! >>"$dir/baits"
done

# Of what a fork shares with its parent each counts half, as there is one: in RssAnon it is counted twice.
watch_memory() {
	touch "$dir/most"
	while [ -e /proc/$recorder ]; do
		below $recorder | while read -r pid _ _ kib name; do
			echo "$(sed -n 's/^Pss_\(Anon\|Shmem\): *\([0-9]*\) kB/\2/p' "/proc/$pid/smaps_rollup" 2>/dev/null |
				awk '{ kib += $1 } END { printf "%.0f\n", kib }') $kib $name"
		done >"$dir/now"
		awk '{ kib += $1; twice += $2 } END { printf "%.0f %.0f\n", kib, twice }' "$dir/now"
		[ "$(awk '{ kib += $1 } END { printf "%.0f\n", kib }' "$dir/now")" -le \
			"$(awk '{ kib += $1 } END { printf "%.0f\n", kib }' "$dir/most")" ] || cp "$dir/now" "$dir/most"
		sleep 0.3
	done >"$dir/kib"
}

# As the service is: in a session of its own, in control groups with its limits, with no more capabilities (but those
# that --java-maps needs), with a file system that it cannot change but for its traces, and no devices. What it
# refuses is refused here, by arguments of system calls as well (tests/tools/forbid.c), but chroot(2) with --java-maps.
unit=$here/docs/systemd/chaincap-every.service
set_of() { sed -n "s/^$1=//p" "$unit" | tr '\n' ' '; }
number_of() { set_of "$1" | tr -d ' '; }
caps=$(set_of CapabilityBoundingSet | tr 'A-Z ' 'a-z,' | sed 's/cap_/+/g; s/,*$//')
case " $* " in *" --java-maps "*) caps="$caps,+sys_chroot,+kill" ;; esac
# Its sets of system calls by systemd's own list, by their numbers on this machine.
forbid=''
if command -v systemd-analyze >/dev/null && [ -x "$O/forbid" ]; then
	# shellcheck disable=SC2046 # a list
	calls=$(systemd-analyze --no-pager syscall-filter $(set_of SystemCallFilter | tr -d '~') | sed -n 's/^ \{1,\}\([a-z_0-9]*\)$/\1/p' | sort -u)
	case " $* " in *" --java-maps "*) calls=$(echo "$calls" | grep -vx chroot) ;; esac
	numbers=$({ echo '#include <sys/syscall.h>' && echo "$calls" | sed 's/^/NUMBER SYS_/'; } | cc -E -P - |
		sed -n 's/^NUMBER \([0-9][0-9]*\)$/\1/p' | sort -un | paste -s -d, -)
	families=$({ echo '#include <sys/socket.h>' && set_of RestrictAddressFamilies | tr ' ' '\n' | sed 's/^/NUMBER /'; } | cc -E -P - |
		sed -n 's/^NUMBER \([0-9][0-9]*\)$/\1/p' | paste -s -d, -)
	forbid="$O/forbid -u $families 1 $numbers"
fi
cat >"$dir/unit.sh" <<'END'
limit=$1 groups=$2 caps=$3 traces=$4 forbid=$5
shift 5
[ "$(ulimit -Hn)" = unlimited ] || [ "$(ulimit -Hn)" -ge "$limit" ] || limit=$(ulimit -Hn)
ulimit -n "$limit" -c 0 -l unlimited
for group in $groups; do echo $$ >"$group/cgroup.procs"; done
mount --bind "$traces" "$traces" && mount -o remount,bind,ro / && mount -t tmpfs -o mode=755 none /dev || exit
for device in null zero urandom; do mknod -m 666 /dev/$device c 1 $(case $device in null) echo 3 ;; zero) echo 5 ;; *) echo 9 ;; esac); done
mount -o remount,ro /dev
exec $forbid setpriv --no-new-privs --bounding-set "-all,$caps" "$@"
END
group='' groups='' peak=''
if [ -e /sys/fs/cgroup/memory/memory.limit_in_bytes ]; then
	group=/sys/fs/cgroup/memory/chain-hostile.$$ peak=memory.max_usage_in_bytes
	groups="$group /sys/fs/cgroup/pids/chain-hostile.$$"
	# shellcheck disable=SC2086 # a list
	mkdir $groups
	number_of MemoryMax >"$group/memory.limit_in_bytes"
	number_of TasksMax >"/sys/fs/cgroup/pids/chain-hostile.$$/pids.max"
elif grep -qsw memory /sys/fs/cgroup/cgroup.subtree_control; then
	group=/sys/fs/cgroup/chain-hostile.$$ peak=memory.peak
	groups=$group
	mkdir "$group"
	number_of MemoryMax >"$group/memory.max"
	number_of TasksMax >"$group/pids.max"
fi
mkdir "$dir/traces"
setsid unshare -m --propagation slave bash "$dir/unit.sh" "$(number_of LimitNOFILE)" "$groups" "$caps" "$dir/traces" "$forbid" "$O/chaincap" -v "$@" -o "$dir/traces" 2>"$dir/said" &
recorder=$!
started="$started $recorder"
watch_memory &
started="$started $!"
cat >"$dir/attack.sh" <<'END'
while :; do
	for child in $(cat /proc/$1/task/$1/children); do
		for pid in $child $(cat /proc/$child/task/$child/children); do
			name=$(cat /proc/$pid/comm)
			kill -STOP $pid && echo "$pid $name was stopped" >>"$2"
			kill -KILL $pid && echo "$pid $name was killed" >>"$2"
			renice -n 19 $pid >/dev/null && echo "$pid $name is slow" >>"$2"
		done
	done 2>/dev/null
	sleep 0.5
done
END
: >"$dir/attacked"
chmod 666 "$dir/attacked"
as_stranger sh "$dir/attack.sh" $recorder "$dir/attacked"

sleep "$seconds"
filter=$(sed -n 's/^Seccomp:[[:space:]]*//p' /proc/$recorder/status 2>/dev/null || true)
# The file is not complete yet: the end writes it.
end_before=$(date +%s)
status=0
kill -TERM $recorder
wait $recorder || status=$?
started=$(echo " $started " | sed "s/ $recorder / /") # its id may be another's now
attached=$([ ! -e "$dir/baits" ] || sed 's|.*|/tmp/.attach_pid&|' "$dir/baits" | xargs ls 2>/dev/null | tr '\n' ' ')
took=$(($(date +%s) - end_before))
peak_bytes=$([ -z "$group" ] || cat "$group/$peak" 2>/dev/null || true)
end_started

failed=no
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
traces=$(find "$dir/traces" -name '*.bin' | sort | tr '\n' ' ')
number=$(echo $traces | wc -w)
grep -E "^chaincap: ([0-9]+ (events|records)|readers|recorder)" "$dir/said" | tail -n 4
grep -E "were not|are not known|lack |were cut|given up" "$dir/said" | sed 's/^chaincap: [0-9]* //' | sort | uniq -c | sort -rn | head -n 12
holds "exit" $status test $status = 0
if [ "$forbid" ]; then
	holds "system calls that are refused as the unit does" "$(echo "$numbers" | tr ',' '\n' | wc -l)" test "$filter" = 2
else
	echo "no systemd-analyze, or no $O/forbid: system calls are not refused as the unit does"
fi
holds "traces" "$number" test "$number" -ge 1
most=$(($(sort -n "$dir/kib" | tail -n 1 | cut -d' ' -f1) / 1024))
holds "MiB of the recorder and its processes, of $memory" $most test $most -le $memory
echo "$((($(cut -d' ' -f2 "$dir/kib" | sort -n | tail -n 1) + 0) / 1024)) with what forks share counted twice; then:"
awk '{ kib[$3] += $1; n[$3]++ } END { for (name in kib) if (kib[name] > 1024) printf "  %s (%.0f): %.0f MiB\n", name, n[name], kib[name] / 1024 }' "$dir/most"
[ -z "$peak_bytes" ] || echo "MiB of the control group, page cache and all: $((peak_bytes / 1048576))"
holds "seconds to end" "$took" test "$took" -le 30
# Who asks a JVM has its user's rights, who may make it slow.
did=$(grep -vc ' chaincap-jvm is slow' "$dir/attacked" || true)
holds "what strangers did to the recorder's processes" "$did times" test "$did" = 0
holds "files left in /tmp" "${attached:-none}" test -z "$attached"
for trace in $traces; do "$O/chainwalk" -f info "$trace" 2>/dev/null; done | awk -F': ' '
	/^(events|lost|mappings_lost): / || /_left_out: / { sum[$1] += $2 }
	END { for (what in sum) printf "%s: %.0f\n", what, sum[what] }' | sort
largest=$(ls -S $traces | head -n 1)
# A bucket and a group of each has so many, as docs/fleet.md says; the trace is within one of both.
rows=$("$O/chainwalk" -q -f rows "$largest" 2>/dev/null | grep -c '^waits	')
holds "rows of waits of the largest trace" "$rows" test "$rows" -le 200000
python3 "$here/bench/hostile/judge.py" "$O/chainwalk" "$dir" "$traces" $innocents >"$dir/judged"
while read -r name all recorded named unseen noted; do
	if [ "$name" = locks ]; then
		holds "locks of strangers that an innocent is said to have, of $recorded waits for such" "$all" test "$all" = 0 -a "$recorded" -gt 0
		continue
	fi
	[ "$unseen" = 0 ] || echo "$name: $unseen more ended while a thread had the CPU that the kernel shows to no tracer"
	# 99 %; of names, or their trace says that this program lacks some.
	holds "$name: $all by its own clock, recorded, with the name, without in traces that say so" "$recorded, $named, $noted" \
		test "$all" -gt 0 -a $((recorded * 100)) -ge $((all * 99)) -a $(((named + noted) * 100)) -ge $((all * 99))
done <"$dir/judged"
[ $failed = no ]
