# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh disable=SC2034 # what a test does not use another one does
# What the end-to-end tests share. Each is run as NAME.sh BUILD_DIR, is one behaviour, and exits
# 0: holds, 1: does not (expected and got are printed), 77: cannot run here (why is printed).
#
# Sourced first thing; leaves the test in possession of
#   $cap $walk $flame $load   the programs
#   $tmp                      a folder of its own, removed however the test ends
#   $started                  process ids to end with it: started="$started $!"
#   $mounted                  what to unmount with it
#   $group                    a control group to remove with it: see make_quota
#   $groups                   likewise others, the inner ones first

build=${1:?usage: $0 BUILD_DIR}
build=$(cd "$build" && pwd) || exit 1
cap=$build/chaincap walk=$build/chainwalk flame=$build/flamegraph load=$build/${LOAD:-chainload}
started='' mounted='' flying='' group='' groups=''
LC_ALL=C
NO_COLOR=1
export LC_ALL NO_COLOR

tmp=$(mktemp -d "${TMPDIR:-/tmp}/chain-e2e.XXXXXX") || exit 1
is_running() {
	case $(sed 's/.*) //' "/proc/$1/stat" 2>/dev/null) in
	'' | Z*) return 1 ;;
	esac
}
clean_up() {
	trap '' HUP INT TERM # timeout sends its signal twice
	for pid in $started; do
		kill -CONT "$pid" 2>/dev/null
		kill "$pid" 2>/dev/null
	done
	# unshare --fork, and what is the first process of its namespace, do not hear SIGTERM.
	for pid in $started; do
		for _ in 1 2 3 4 5 6 7 8 9 10; do
			is_running "$pid" || continue 2
			sleep 0.1
		done
		kill -KILL "$pid" 2>/dev/null
	done
	# A flight recorder writes a last trace when it is told to end.
	for pid in $flying; do
		wait "$pid" 2>/dev/null
	done
	# What has just ended may not have left its group yet.
	for dir in $groups; do
		for _ in 1 2 3 4 5 6 7 8 9 10; do
			[ -d "$dir" ] && ! rmdir "$dir" 2>/dev/null || break
			sleep 0.2
		done
	done
	[ -z "$mounted" ] || umount "$mounted"
	[ -z "$group" ] || quota_end
	rm -rf "$tmp"
}
trap clean_up EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

fail() {
	printf 'FAIL %s: %s\n' "${0##*/}" "$*"
	exit 1
}

skip() {
	printf '%s\n' "$*"
	exit 77
}

# With AddressSanitizer programs take several times the time and the memory.
is_sanitized() {
	grep -q __asan_init "$cap"
}

# only_plain WHAT: ends a test that has run with the sanitizers, but before this is judged.
only_plain() {
	! is_sanitized || skip "no fault so far; judged without sanitizers only: $1"
}

# only_all WHY: leaves a test to "make test-all", which sets ALL.
only_all() {
	[ "${ALL:-}" ] || skip "make test-all has it: $1"
}

# For tests that record. Nothing else is a reason to skip one.
needs_bpf() {
	[ "$(id -u)" = 0 ] || skip "recording needs root"
	[ -r /sys/kernel/btf/vmlinux ] || skip "this kernel has no BTF (/sys/kernel/btf/vmlinux)"
	refused=$("$build/may_record") || skip "$refused"
}

# is_older: whether this kernel refuses the usual programs; then $older is how the recorder says it.
is_older() {
	"$cap" -q -o "$tmp/older.bin" 0.1 2>"$tmp/older"
	older=$(sed -n 's/^chaincap: \(this kernel refuses the usual BPF programs\)/\1/p' "$tmp/older")
	[ "$older" ]
}

# is_plain: whether it takes only the plain programs; then $plain says so.
is_plain() {
	is_older || return
	plain=$older
	case $plain in *': user stacks are found by frame pointers only'*) ;; *) return 1 ;; esac
}

# needs_usual WHAT: skips a test of what only the usual programs do.
needs_usual() {
	needs_bpf
	! is_older || skip "$1: $older"
}

# needs_more WHAT: skips a test of what plain programs do not record.
needs_more() {
	needs_bpf
	! is_plain || skip "$1: $plain"
}

# can_compare TOOL: whether another recorder, perf or bpftrace, can start here; else $why_not says why it cannot.
# Both find tracepoints in tracefs, which nothing mounts on some machines.
can_compare() {
	command -v "$1" >/dev/null || { why_not="nothing to compare with: no $1"; return 1; }
	[ -d /sys/kernel/tracing/events ] || mount -t tracefs tracefs /sys/kernel/tracing 2>"$tmp/tool" ||
		[ -d /sys/kernel/tracing/events ] || { # mounted by the test beside this one
		why_not="$1 finds no tracepoints: tracefs cannot be mounted: $(tail -n 1 "$tmp/tool")"
		return 1
	}
	case $1 in
	perf) set -- perf record -q -a -o "$tmp/tool.data" -e sched:sched_switch -- sleep 0.2 ;;
	bpftrace) set -- bpftrace -e 'tracepoint:sched:sched_switch { exit(); }' ;;
	esac
	# perf goes on where it cannot enter other processes' mount namespaces, as below a chroot, but its file is broken.
	if timeout 300 "$@" >"$tmp/tool" 2>&1 && ! grep -q 'assertion failed' "$tmp/tool"; then
		# Some versions cannot read what they have recorded on a newer kernel.
		[ "$1" = perf ] && ! timeout 300 perf script -i "$tmp/tool.data" >/dev/null 2>"$tmp/tool" || return 0
		why_not="perf script cannot read what perf records here: $(tail -n 1 "$tmp/tool")"
		return 1
	fi
	why_not="$1 cannot record sched:sched_switch here: $(tr '\n' ' ' <"$tmp/tool" | cut -c 1-200)"
	return 1
}

# expect WHAT EXPECTED GOT
expect() {
	[ "$2" = "$3" ] || fail "$1
expected: $2
got:      $3"
}

# expect_exit WHAT "CODES ALLOWED" GOT: shows the error output in $tmp/err as well.
expect_exit() {
	case " $2 " in
	*" $3 "*) ;;
	*) fail "$1
expected: exit status $2
got:      exit status $3
$(cat "$tmp/err" 2>/dev/null)" ;;
	esac
}

# needs_disk: $dir is a folder in a file system on a disk, or the test is skipped.
needs_disk() {
	for dir in "$tmp" "$build" /var/tmp /root; do
		case $(stat -f -c %T "$dir") in
		tmpfs | ramfs | overlayfs) dir='' ;;
		*) return ;;
		esac
	done
	skip "no file system on a disk found (looked at $tmp, $build, /var/tmp, /root)"
}

# serve_deaf NAME: a file system at $tmp/dead that answers everyone but the program NAME; $server.
serve_deaf() {
	[ -c /dev/fuse ] || skip "this kernel has no /dev/fuse"
	mkdir "$tmp/dead"
	"$build/deaf_files" "$tmp/dead" "$load" "$1" >"$tmp/server" 2>"$tmp/err" &
	server=$!
	started="$started $server"
	wait_for "the file system is mounted" 10 grep -q ready "$tmp/server"
	mounted=$tmp/dead
}

# unmounts: whether $mounted can be unmounted now.
unmounts() {
	umount "$mounted" 2>/dev/null
}

# make_quota US: quota_group, or skips.
make_quota() {
	# shellcheck source=tests/quota.sh
	. "$(dirname "$0")/../quota.sh"
	quota_group "$1" || skip "$why_not"
}

# record TRACE SCENARIO [OPTION...]: the recorded chainload's own lines are in $tmp/told then. Without samples:
# what a thread ran is in samples.sh. User stacks are cut as long as the rules of their code have not been read,
# which takes a while on a busy machine: the first of two runs, of one round, and SETTLE_MS are for that.
record() {
	trace=$1
	shift
	# shellcheck disable=SC2016 # for the inner shell
	timeout 300 "$cap" -F 0 -o "$trace" -- sh -c '"$0" "$@" --rounds 1 >/dev/null && SETTLE_MS='"${settle_ms:-200}"' exec "$0" "$@"' \
		"$load" "$@" \
		>"$tmp/told" 2>"$tmp/err"
	expect_exit "chaincap -- chainload $*" 0 $?
}

# record_thread TRACE FOLDED NAME SCENARIO [OPTION...]: record, and walk that thread's waits in nanoseconds.
# Recorded again where there are holes: on some virtual machines the switches away from certain threads of
# the host's agent are traced by no tool at all, and a wait that this touches is rightly [unknown]: a test that judges
# sums takes ${few_unknown:-0} thousandths of it as they are. Likewise, with more time to settle, where all stacks of the
# thread in its own functions ($own) are cut.
record_thread() {
	trace=$1 folded=$2 name=$3
	shift 3
	for try in 1 2 3 4 5 6; do
		record "$trace" "$@"
		walk_to "$folded" --state=all -t "$(tid "$name")" "$trace"
		settle_ms=$((300 * try))
		if ! grep -q ";[a-z]*_\\(${own:-waits\|reads\|works}\\);" "$folded"; then
			echo "note: try $try: all stacks of $name are cut"
			continue
		fi
		unknown=$(weight_of ';\[unknown\] ' "$folded")
		[ $((unknown * 1000)) -gt $((${few_unknown:-0} * $(weight_of '' "$folded"))) ] && [ "$(holes "$trace")" -gt 0 ] || { settle_ms=''; return 0; }
		echo "note: try $try: [unknown] beside $(holes "$trace") untraced switches"
	done
	fail "chainload $*: disturbed in each of $try tries"
}

# holes TRACE: how often the thread that leaves a CPU is not the one that came to it last.
holes() {
	"$walk" -q --format=events "$1" 2>/dev/null | awk '
		!match($0, /\/[0-9]+ [A-Za-z] -> /) { next }
		{
			prev = substr($0, RSTART + 1) + 0
			next_tid = $0
			sub(/.*\//, "", next_tid)
			if ($2 in on_cpu && on_cpu[$2] != prev)
				count++
			on_cpu[$2] = next_tid + 0
		}
		END { printf "%.0f\n", count }'
}

# tid NAME: of chainload's thread.
tid() {
	awk -v name="$1" '$1 == "thread" && $2 == name { print $3 }' "$tmp/told"
}

# told NAME FIELD: a number that a thread of chainload measured; told NAME alone: a figure of the whole.
told() {
	awk -v name="$1" -v field="${2:-}" '
		$1 != "told" || $2 != name { next }
		field == "" { print $3 }
		{ for (i = 3; i < NF; i++) if ($i == field) print $(i + 1) }' "$tmp/told"
}

# walk_to FILE [OPTION...]: chainwalk in nanoseconds, which must succeed without a complaint. What it notes of
# processes, which may be others' on this machine, is left out.
walk_to() {
	out=$1
	shift
	timeout 300 "$walk" --unit=ns "$@" >"$out" 2>"$tmp/err"
	expect_exit "chainwalk --unit=ns $*" 0 $?
	sed -i '/^\[note\] /d' "$out"
}

# skeleton REGEX <FOLDED: of each line only the waiting thread, the functions that match REGEX, "--",
# the wakers' names and the end, above which may stand where it ran; equal ones are added up.
skeleton() {
	awk -v keep="$1" '
	{
		weight = $NF
		sub(/ [^ ]*$/, "")
		count = split($0, frame, ";")
		line = frame[1]
		link = 0
		for (end = 2; end < count && frame[end] !~ /^\[(running|on-CPU|network)\]$/; end++)
			;
		for (i = 2; i <= count; i++) {
			waker = link && frame[end] !~ /^\[(interrupt|timer|network)\]$/ && i == end - 1
			waker = waker || (link && frame[i + 1] == "--")
			if (i == end || frame[i] == "--" || waker || frame[i] ~ keep)
				line = line ";" frame[i]
			if (frame[i] == "--")
				link++
		}
		sum[line] += weight
	}
	END { for (line in sum) printf "%s %.0f\n", line, sum[line] }' | sort
}

# by_threads <FOLDED: of each line only the names of the threads, and the end: what does not depend on how much of the
# first stacks is there, see record. Nobody is woken by the main thread but to begin.
by_threads() {
	grep ';--;' | skeleton '^$' | grep -v ';chainload;'
}

# weight LINE FILE: of the line that is exactly LINE before its weight, 0 if there is none.
weight() {
	awk -v line="$1" '
		{ value = $NF; sub(/ [^ ]*$/, "") }
		$0 == line { sum += value }
		END { printf "%.0f\n", sum }' "$2"
}

# weight_of REGEX FILE: sum of all lines that match.
weight_of() {
	# By the environment: -v would take the backslashes of an expression for escapes.
	REGEX=$1 awk '$0 ~ ENVIRON["REGEX"] { sum += $NF } END { printf "%.0f\n", sum }' "$2"
}

# expect_near WHAT EXPECTED_NS GOT_NS TIMES FILE: within 10 %, or 200 us each of the times it happened.
expect_near() {
	awk -v expected="$2" -v got="$3" -v times="$4" 'BEGIN {
		slack = expected / 10
		if (slack < times * 200000) slack = times * 200000
		off = got - expected
		exit !(off <= slack && -off <= slack)
	}' || fail "$1
expected: $2 ns within 10 % or $4 x 200 us
got:      $3 ns
$(cat "${5:-/dev/null}")"
}

# expect_waits WHAT THREAD CHAINS_NS TIMES TRACE: what a thread measured of its waits by the clock is what their chains
# have, but for as long as the thread ran or had no CPU in between, each time from before it fell asleep until it had
# woken. It ran in its work, too.
expect_waits() {
	took=$("$walk" -q --format=threads --unit=ns -t "$(tid "$2")" "$5" 2>/dev/null | awk -v tid="$(tid "$2")" '
		$1 == "TID" { for (i = 1; i <= NF; i++) column[$i] = i }
		$1 == tid { ns += $column["RUNNING"] + $column["RUNNABLE"] + column["PREEMPTED"] }
		END { printf "%.0f\n", ns }')
	expect_at_least "$1: told, less $took ns in which it ran or had no CPU, of which $(told "$2" cpu_ns) in its work" \
		$(($(told "$2" waited_ns) - took + $(told "$2" cpu_ns) - $4 * 200000)) "$3"
	expect_at_most "$1: told" $(($(told "$2" waited_ns) + $4 * 20000)) "$3"
}

# expect_work WHAT THREAD RUNNING_NS FILE: how long a chain says that the thread ran while the waiter slept
# all the time. Both bounds hold however busy the machine is: the thread ran for the CPU time of its work, and
# not longer than from when it was let go on until it was about to wait again, by the clock. The kernel's
# account of CPU time changes hands a little before the switch is traced, more if the host takes the CPU
# just then, and each preemption adds to that: a tenth.
expect_work() {
	expect_at_least "$1: running, and nine tenths of its CPU time" $(($(told "$2" cpu_ns) * 9 / 10)) "$3" "$4"
	expect_at_most "$1: running, and held" "$(told "$2" held_ns)" "$3" "$4"
}

# expect_at_least WHAT LEAST GOT FILE
expect_at_least() {
	awk -v least="$2" -v got="$3" 'BEGIN { exit !(got + 0 >= least + 0) }' || fail "$1
expected: at least $2
got:      $3
$(cat "${4:-/dev/null}")"
}

# expect_at_most WHAT MOST GOT FILE
expect_at_most() {
	awk -v most="$2" -v got="$3" 'BEGIN { exit !(got != "" && got + 0 <= most + 0) }' || fail "$1
expected: at most $2
got:      $3
$(cat "${4:-/dev/null}")"
}

# expect_about WHAT ASKED_NS GOT_NS FILE: at least nine tenths, and no more than a busy machine can add.
expect_about() {
	expect_at_least "$1" $(($2 * 9 / 10)) "$3" "$4"
	expect_at_most "$1" $(($2 * 3)) "$3" "$4"
}

# One clear line on standard error ($tmp/err), and nothing on standard output ($tmp/out).
expect_one_line() {
	expect "$1: lines on standard error, see below
$(cat "$tmp/err")
number" 1 "$(wc -l <"$tmp/err" | tr -d ' ')"
	[ ! -s "$tmp/out" ] || fail "$1: nothing expected on standard output, got
$(head -3 "$tmp/out")"
}

# A busy pair of threads on one CPU for about that many seconds, in the background: $! is its id.
busy() {
	taskset -c 0 "$load" pingpong --hops pipe --work 0 --rounds 1000000000 --seconds "$1" \
		>/dev/null 2>&1 &
	for _ in $(seq 100); do
		! grep -q '^p[io]ng$' /proc/$!/task/*/comm 2>/dev/null || return 0
		sleep 0.05
	done
	kill $!
	fail "the busy threads do not start"
}

# A relay that sleeps most of the time, and so leaves the CPUs to other tests; else as busy(). It ends with the test.
calm() {
	"$load" relay --hops pipe --work 50 --rounds 1000000000 --seconds "$1" >/dev/null 2>&1 &
	started="$started $!"
	wait_for "the relay" 10 has_thread $! alpha
}

# has_thread PID NAME
has_thread() { grep -qsx "$2" /proc/"$1"/task/*/comm; }

# read_info TRACE: sets events (in the log), lost, and counted (by the kernel); the text is in $tmp/info.
read_info() {
	timeout 300 "$walk" --format=info "$1" >"$tmp/info" 2>"$tmp/err"
	expect_exit "chainwalk --format=info" 0 $?
	events=$(info_figure events)
	lost=$(info_figure lost)
	counted=$(info_figure kernel_counted)
}

# info_figure NAME: the first number after the name at the start of a line.
info_figure() {
	awk -v name="$1" '$1 == name || $1 == name ":" {
		for (i = 2; i <= NF; i++) if ($i ~ /^[0-9]+$/) { print $i; exit } }' "$tmp/info"
}

bytes_per_event() {
	awk -v bytes="$(wc -c <"$1")" -v events="$events" 'BEGIN { printf "%.2f\n", bytes / events }'
}

# wait_for WHAT SECONDS COMMAND...: until the command succeeds, which takes so long at most on an idle machine, and
# ten times as long on a busy one. What it prints is shown if it never does.
awaited_pid='' awaited_log=''
wait_for() {
	awaited=$1 tenths=$(($2 * 100))
	shift 2
	until "$@" >"$tmp/awaited" 2>&1; do
		[ ! "$awaited_pid" ] || kill -0 "$awaited_pid" 2>/dev/null || fail "$awaited: it ended
$(tail -n 30 "$awaited_log")"
		tenths=$((tenths - 1))
		[ $tenths -gt 0 ] || fail "$awaited: not in time
$(cat "$tmp/awaited" "$tmp/err.cap" 2>/dev/null)"
		sleep 0.1
	done
}

# wait_for_server NAME SECONDS LOG COMMAND...: as wait_for, until the server that was started last listens. Its LOG says
# why if it ends instead.
wait_for_server() {
	awaited_pid=$! awaited_log=$3
	awaited="$1 listens" limit_s=$2
	shift 3
	wait_for "$awaited" "$limit_s" "$@"
	awaited_pid=''
}

# appear NAME OF: a copy of the file OF in the folder $tmp/traces, as the recorder does it: it gets its name when it is
# complete.
appear() {
	cp "$2" "$tmp/traces/.$1.part"
	mv "$tmp/traces/.$1.part" "$tmp/traces/$1"
}

# watches PID: it has an inotify instance with something to watch.
watches() {
	grep -qs '^inotify ' "/proc/$1/fdinfo"/*
}

# begin_recording TRACE [OPTION...]: in the background: $recorder; what it says is in $tmp/err.cap.
begin_recording() {
	trace=$1
	shift
	: >"$tmp/err.cap" # what the last one said is not to be taken for its own
	"$cap" -v -o "$trace" "$@" >"$tmp/out" 2>"$tmp/err.cap" &
	recorder=$!
	started="$started $recorder"
	awaited_pid=$recorder awaited_log=$tmp/err.cap
	wait_for "the recorder begins" 20 grep -q "${recorder_says:-ring buffers}" "$tmp/err.cap"
	awaited_pid=''
}

# end_bpftrace PID: by SIGINT. A signal that comes just before bpftrace (0.17) waits for events is not heard until
# there are some, so it is sent again; not at once, as a second one while it prints ends it.
end_bpftrace() {
	tenths=0
	while is_running "$1"; do
		[ $((tenths % 100)) -gt 0 ] || kill -INT "$1"
		tenths=$((tenths + 1))
		sleep 0.1
	done
	wait "$1"
}

# fly TRACE [OPTION...]: a flight recorder, in the same way.
fly() {
	recorder_says='kept in memory'
	begin_recording "$@"
	recorder_says=''
	flying="$flying $recorder"
}

# end_recording [STATUS]: by SIGINT
# shellcheck disable=SC2120 # tests pass it
end_recording() {
	kill -INT "$recorder"
	wait "$recorder"
	got=$?
	cp "$tmp/err.cap" "$tmp/err"
	expect_exit "chaincap, ended by SIGINT" "${1:-0}" $got
}

# end_within SECONDS [TRACE MIB]: ends the recording within that time, which it $took; the trace is whole, and the recorder
# had at most so much memory, $mib.
end_within() {
	before=$(date +%s)
	end_recording
	took=$(($(date +%s) - before))
	expect_at_most "seconds to end" "$1" $took "$tmp/err.cap"
	[ $# -gt 1 ] || return 0
	expect_whole "$2"
	mib=$(sed -n 's/^chaincap: recorder: .* CPU, \([0-9]*\) MiB.*/\1/p' "$tmp/err.cap")
	is_sanitized || expect_at_most "MiB of the recorder" "$3" "$mib"
}

# has_bytes FILE BYTES: or more
has_bytes() {
	[ "$(stat -c %s "$1" 2>/dev/null || echo 0)" -ge "$2" ]
}

# written TRACE: whether the recorder has said so.
written() {
	grep -q -- "-> $1\$" "$tmp/err.cap"
}

# expect_whole TRACE: kernel = log + lost, and nothing is damaged.
expect_whole() {
	read_info "$1"
	expect "$1: events in the log and lost" "$counted" $((events + lost))
	grep -q '^accounted: yes' "$tmp/info" && grep -q '^complete: yes' "$tmp/info" &&
		grep -q '^damage: none' "$tmp/info" || fail "$1 is not whole:
$(cat "$tmp/info")"
}

# packages_needed PROGRAM...: Debian's packages of the libraries that they name themselves, one a line
packages_needed() {
	for program; do
		objdump -p "$program" | awk '$1 == "NEEDED" { print $2 }'
	done | sort -u | while read -r library; do
		path=$(ldconfig -p | awk -v lib="$library" '$1 == lib { print $NF; exit }')
		dpkg -S "$(realpath "$path")" 2>/dev/null || dpkg -S "$path" 2>/dev/null ||
			dpkg -S "*/$(basename "$(realpath "$path")")"
	done | sed 's/:.*//' | sort -u
}

# packages_in DEPENDS: the names in such a field, in the same form
packages_in() {
	echo "$1" | tr ',' '\n' | sed 's/^ *//; s/ .*//; s/:any$//' | sort -u
}

# make_static: the programs that need no library, in $build/static; one test after the other, as it is one folder.
make_static() {
	is_sanitized && skip "sanitizers need libraries"
	for lib in c bpf uring elf dw iberty z lzma zstd; do
		[ -e "$(cc -print-file-name=lib$lib.a)" ] || skip "no lib$lib.a"
	done
	(cd "$(dirname "$0")/../.." && unset O SAN MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES &&
		exec flock "$build/static.lock" make -s O="$build" static) >"$tmp/out" 2>"$tmp/err" || fail "make static: $(cat "$tmp/err")"
}

# build_slow NAME: a program of tests/workload/slow, built as distributions build theirs: $tmp/NAME
build_slow() {
	command -v cc >/dev/null || skip "no C compiler"
	cc -O2 -pthread -o "$tmp/$1" "$(dirname "$0")/../workload/slow/$1.c" 2>"$tmp/err"
	expect_exit "cc $1.c" 0 $?
}

# first_screen COMMAND...: records it, and leaves the first screen of its causes in $tmp/screen, each row on one line
first_screen() {
	timeout 300 "$cap" -q -o "$tmp/trace" -- "$@" >"$tmp/told" 2>"$tmp/err"
	expect_exit "chaincap -- $*" 0 $?
	timeout 300 "$walk" -q -f causes "$tmp/trace" 2>"$tmp/err" >"$tmp/all"
	expect_exit "chainwalk -f causes" 0 $?
	head -n 24 "$tmp/all" | awk '
		line && /^         [^ ]/ { sub(/^ +/, " "); line = line $0; next }
		{ if (line) print line; line = $0 }
		END { if (line) print line }' >"$tmp/screen"
}

# slow NAME ARGUMENT...: both; recorded again where holes, as in record_thread, leave a tenth of the time unknown.
slow() {
	name=$1
	shift
	build_slow "$name"
	for try in 1 2 3; do
		first_screen "$tmp/$name" "$@"
		awk '/no waking was recorded|events are missing/ { unknown += $1 } END { exit unknown < 10 }' "$tmp/screen" || return 0
		untraced=$(holes "$tmp/trace")
		[ "$untraced" -gt 0 ] || return 0
		echo "note: $name: try $try: unknown beside $untraced untraced switches"
	done
}

# shows REGEX LEAST: causes like this on that screen have at least LEAST percent of the time that is neither
# waiting for a CPU that others have, nor has a stack that is cut ("< ?"). On a busy machine there is any
# amount of both: a stack is cut as long as the rules of its code have not been read.
shows() {
	has "$1"
	share=$(ROW=$1 awk '$2 != "%" || /[0-9] (and [0-9]+ others? )?had no CPU/ || / < \?/ || / all of them$/ { next } { sum += $1 }
		$0 ~ ENVIRON["ROW"] { like += $1 } END { printf "%.0f\n", 100 * like / sum }' "$tmp/screen")
	expect_at_least "share of '$1'" "$2" "$share" "$tmp/screen"
}

# has REGEX: a line like this is on that screen.
has() {
	grep -qE "$1" "$tmp/screen" || fail "no line like: $1
$(cat "$tmp/screen")"
}

# requests_at TRACE ENDPOINT: its events of requests at "tcp :80" or "unix /a/path", in $tmp/requests; the figures of all
# of the trace's are in $tmp/info.
requests_at() {
	read_info "$1"
	expect "$1: auxiliary events in the log and lost" yes "$(awk '$1 == "more_accounted:" { print $2 }' "$tmp/info")"
	timeout 300 "$walk" -q --all -f events "$1" >"$tmp/events" 2>"$tmp/err"
	expect_exit "chainwalk -f events" 0 $?
	AT=" $2," awk '($3 == "request" || $3 == "open") && index($0, ENVIRON["AT"]) {
		print
		for (i = 1; i <= NF; i++) if ($i == "connection") ours[$(i + 1) + 0]
	}
	$3 == "more" { for (i = 1; i <= NF; i++) if ($i == "connection" && $(i + 1) + 0 in ours) print }' \
		"$tmp/events" >"$tmp/requests"
}

# requests_of KIND [REGEX]: how many of these are of a kind (request, more, open) and match.
requests_of() {
	KIND=$1 LIKE=${2:-.} awk '$3 == ENVIRON["KIND"] && $0 ~ ENVIRON["LIKE"] { n++ } END { printf "%.0f\n", n }' "$tmp/requests"
}

# expect_requests WHAT EXPECTED KIND [REGEX]
expect_requests() {
	expect "$1, of these events:
$(tail -n 5 "$tmp/requests")
number" "$2" "$(requests_of "$3" "${4:-}")"
}

# judge_routes WHAT ENDPOINT: of $tmp/trace against $tmp/counted and $tmp/asked. Fails; 1: only percentiles differ, or the client
# waited for a CPU: its p99 is the server's only as long as it gets one at once.
judge_routes() {
	sources_of_routes=$(cd "$(dirname "$0")/../workload/routes" && pwd)
	timeout 300 "$walk" -q -f csv --requests "$tmp/trace" >"$tmp/csv" 2>"$tmp/err"
	expect_exit "chainwalk -f csv --requests" 0 $?
	python3 "$sources_of_routes/judge.py" "$tmp/csv" "$2" "$tmp/counted" "$tmp/asked" >"$tmp/judged" 2>"$tmp/table" ||
		fail "judge.py: $(cat "$tmp/judged" "$tmp/table")"
	sed "s,^,note: $1\, ," "$tmp/table"
	expect "$1: routes with other numbers of requests" "" "$(grep '^requests' "$tmp/judged")"
	if grep -aq zzsecret "$tmp/trace"; then
		fail "$1: the trace has $(grep -ao '[a-z]*zzsecret' "$tmp/trace" | head -n 1)"
	fi
	busy=$(sed -n 's/^busy //p' "$tmp/asked")
	[ -s "$tmp/judged" ] || return 0
	[ "$busy" != 0 ] || [ "$try" != 3 ] || fail "$1: $(cat "$tmp/judged")"
	echo "note: $1, try $try: the client waited for a CPU for $busy % of its time"
	return 1
}

# request_ns FIELD: of each request how many ns before its event it "arrived", was "taken", was "answered".
request_ns() {
	awk -v field="$1" '$3 == "request" { for (i = 1; i < NF; i++) if ($i == field) print $(i + 1) }' "$tmp/requests"
}

# duration TRACE: in ns
duration() {
	"$walk" --format=info "$1" 2>/dev/null | awk '$1 == "duration_s:" { sub(/[.]/, "", $2); printf "%.0f\n", $2 }'
}

# begin_counting NAME OPTION...: a recording in $tmp/NAME.trace, whose recorder is $recorder, beside programs that
# do nothing but count (tests/tools/count_events.c). A line to descriptor 3 makes marks; what was counted is in
# $tmp/NAME.counted.
begin_counting() {
	[ -x "$build/count_events" ] || fail "no $build/count_events: make unit builds it"
	name=$1
	shift
	mkfifo "$tmp/$name.marks"
	timeout 300 "$build/count_events" "$cap" -F 0 -o "$tmp/$name.trace" "$@" \
		<"$tmp/$name.marks" >"$tmp/$name.counted" 2>"$tmp/err" &
	counter=$!
	started="$started $counter"
	exec 3>"$tmp/$name.marks"
	wait_for "$name: the recorder is at work" 15 has_bytes "$tmp/$name.trace" 2000
	recorder=$(awk '$1 == "recorder" { print $2 }' "$tmp/$name.counted")
	started="$started $recorder"
}
# end_counting: ends what begin_counting began last.
end_counting() {
	kill -INT "$recorder"
	exec 3>&-
	wait $counter
	expect_exit "$name: chaincap beside count_events" 0 $?
}

# has_pprof: whether go tool pprof runs here, as pprof does from then on.
has_pprof() {
	HOME=$tmp PPROF_TMPDIR=$tmp GOTOOLCHAIN=local GOTELEMETRY=off
	export HOME PPROF_TMPDIR GOTOOLCHAIN GOTELEMETRY
	command -v go >/dev/null && timeout 300 go tool -n pprof >/dev/null 2>&1
}

# pprof ARGUMENT...
pprof() {
	timeout 300 go tool pprof "$@" 2>"$tmp/err" || fail "go tool pprof $*: $(cat "$tmp/err")"
}

# serve_debug_files FOLDER: a debuginfod server for it on this machine, in DEBUGINFOD_URLS.
serve_debug_files() {
	port=$((20000 + $$ % 20000))
	: >"$tmp/debuginfod.log" # the loop below may read it before the program's shell has made it
	debuginfod -v -d "$tmp/debuginfod.sqlite" -p "$port" -t 1 -F "$1" >"$tmp/debuginfod.log" 2>&1 &
	started="$started $!"
	DEBUGINFOD_URLS=http://127.0.0.1:$port
	export DEBUGINFOD_URLS
	# It looks again when all that it found before is in its database.
	for try in $(seq 300); do
		[ "$(grep -c 'fts traversed' "$tmp/debuginfod.log")" -lt 2 ] || return 0
		sleep 0.1
	done
	fail "debuginfod does not serve:
$(tail -5 "$tmp/debuginfod.log")"
}
