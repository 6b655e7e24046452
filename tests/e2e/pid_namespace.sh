#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# In a PID namespace of its own chaincap records the whole machine, by the ids that processes have in the initial one:
# with the names of functions if the host's /proc is mounted anywhere, else without. A process that has another one's id
# in the recorder's namespace never lends it its names.
# Beside another: it judges its own programs' chains.
. "$(dirname "$0")/lib.sh"
needs_bpf
[ "$(stat -Lc %i /proc/self/ns/pid)" = 4026531836 ] || skip "this is not the initial PID namespace"
unshare -mpf --mount-proc true 2>"$tmp/err" ||
	skip "no PID namespace can be made here: $(head -n 1 "$tmp/err")"
! is_sanitized || skip "AddressSanitizer reads /proc, too"
command -v cc >/dev/null || skip "no C compiler"

# Two programs with other names for the same addresses.
for name in truth falsehood; do
	cat >"$tmp/$name.c" <<END
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>
__attribute__((noinline)) void ${name}_waits(int n)
{
	for (; n; n--)
		usleep(2000);
}
int main(int argc, char **argv)
{
	prctl(PR_SET_NAME, "$name");
	${name}_waits(argc > 1 ? atoi(argv[1]) : 300000);
	if (argc > 2)
		execl(argv[2], argv[2], argv[1], (char *)0);
	return 0;
}
END
	cc -O1 -no-pie -fno-pie -o "$tmp/$name" "$tmp/$name.c" 2>"$tmp/err" || fail "cc: $(cat "$tmp/err")"
	nm "$tmp/$name" | sed -n 's/ T .*_waits//p' >"$tmp/$name.at"
done
expect "address of falsehood_waits" "$(cat "$tmp/truth.at")" "$(cat "$tmp/falsehood.at")"
"$tmp/truth" &
truth=$!
started="$started $truth"

mkdir "$tmp/host"
# inside WHAT SETUP COMMAND...: in a new namespace, after SETUP; what is said is in $tmp/err
inside() {
	what=$1 setup=$2
	shift 2
	timeout 300 unshare -mpf sh -c "$setup"'
exec "$@"' sh "$@" >"$tmp/out" 2>"$tmp/err"
	expect_exit "$what" "${status:-0}" $?
	cp "$tmp/err" "$tmp/said"
}
# Another one of the host's may be mounted elsewhere, as below a chroot; here that ends with the namespace.
own="awk '/ - proc / && \$5 != \"/proc\" { print \$5 }' /proc/self/mountinfo >'$tmp/mounted'; xargs -r umount -l <'$tmp/mounted'; mount -t proc proc /proc"
both="mount --bind /proc '$tmp/host' && mount -t proc proc /proc"
# In the recorder's namespace a process with the id that the other one has on the machine.
decoy="&& { echo $((truth - 1)) >/proc/sys/kernel/ns_last_pid; '$tmp/falsehood' & echo \$! >'$tmp/inner'; }"

# waits_of NAME TRACE: the stacks in which threads of that name waited, in $tmp/folded
waits_of() {
	walk_to "$tmp/folded" -c "^$1\$" "$2"
	grep -q "^$1;.*schedule" "$tmp/folded" || fail "$1 is not in the trace, though it began before: $(cat "$tmp/folded")"
}

# named NAME OTHER: whether a thread of that name waited in its function; never in the other's.
named() {
	waits_of "$1" "$tmp/trace"
	! grep "^$1;.*$2_" "$tmp/folded" || fail "names of another program"
	grep -q "^$1;.*main;$1_waits;usleep" "$tmp/folded"
}
both_named() {
	named truth falsehood && named falsehood truth
}

# as_long "TIME..." RECORD NAMED...: RECORD records for the first time, or the next one, until NAMED succeeds. The rules of
# code and, in a namespace, the mappings of processes are read while these run: on an idle machine in the first time.
as_long() {
	times=$1 record=$2
	shift 2
	for time in $times; do
		$record "$time"
		! "$@" || return 0
		echo "note: $record: not named within $time"
	done
	fail "$record: names are missing: $(cat "$tmp/folded" "$tmp/said")"
}

# whole TRACE: all events are accounted for.
whole() {
	read_info "$1"
	expect "events in the log and lost" "$counted" $((events + lost))
}

inside "with its own /proc" "$own $decoy" "$cap" -v -o "$tmp/trace" 1
expect "id of the decoy in the namespace" "$truth" "$(cat "$tmp/inner")"
grep -q 'chaincap: user functions will have no names: this is a PID namespace of its own.*--pid=host.*/host/proc' "$tmp/err" ||
	fail "it is not said that names will be missing, and what helps: $(cat "$tmp/err")"
grep -q 'names: kernel [1-9].*, user 0 of ' "$tmp/err" || fail "names without the host's /proc: $(cat "$tmp/err")"
whole "$tmp/trace"
waits_of truth "$tmp/trace"
grep -qE 'truth_|falsehood_' "$tmp/folded" && fail "names that were not to be had: $(cat "$tmp/folded")"
with_the_hosts() {
	inside "with the host's /proc" "$both $decoy" "$cap" -v -o "$tmp/trace" "$1"
	expect "id of the decoy in the namespace" "$truth" "$(cat "$tmp/inner")"
	grep -q "chaincap: in a PID namespace of its own: user functions are named by the host's /proc (/" "$tmp/said" ||
		fail "it is not said where names come from: $(cat "$tmp/said")"
	whole "$tmp/trace"
}
as_long "1 5 20" with_the_hosts both_named

# A process that begins while it is recorded, and runs another program at the same addresses.
with_a_command() {
	inside "with a command" "$both" "$cap" -v -o "$tmp/trace" -- sh -c \
		"timeout $1 '$tmp/truth' & (sleep 0.3; exec timeout $1 '$tmp/falsehood') & wait; exit 0"
}
as_long "1 5 20" with_a_command both_named
# One and the same process that runs another program at the same addresses, after so many waits of 2 ms.
one_after_the_other() {
	inside "with a command" "$both" "$cap" -v -o "$tmp/trace" -- sh -c "for i in \$(seq 60); do
		'$tmp/truth' $1 '$tmp/falsehood' &
		sleep 0.02
	done; wait"
}
as_long "20 200 1000" one_after_the_other named falsehood truth

status=3 inside "the status of the command" "$own" "$cap" -q -o "$tmp/trace" -- sh -c 'exit 3'

status=1 inside "--verify" "$own" "$cap" --verify -o "$tmp/none" 1
expect_one_line "--verify"
grep -q "needs the host's PID namespace" "$tmp/err" || fail "--verify: $(cat "$tmp/err")"
[ ! -e "$tmp/none" ] || fail "a trace was left behind"

# Its own ids, but the host's /proc, where they are others'.
as_proc() {
	timeout 300 unshare -pf "$cap" -v -o "$tmp/trace" "$1" >"$tmp/out" 2>"$tmp/err"
	expect_exit "with the host's /proc as /proc" 0 $?
	cp "$tmp/err" "$tmp/said"
	whole "$tmp/trace"
}
as_long "1 5 20" as_proc named truth falsehood

# The other way round: the host's ids, but a container's /proc.
unshare -mpf sh -c "$own; exec sleep 60" &
started="$started $!"
inner=
for try in 1 2 3 4 5 6 7 8 9 10; do
	inner=$(pgrep -P $! -x sleep) && break
	sleep 0.1
done
[ "$inner" ] || fail "no sleep in the namespace"
started="$started $inner"
timeout 300 nsenter -t "$inner" -m -r "$cap" -v -o "$tmp/trace" 1 >"$tmp/out" 2>"$tmp/err"
expect_exit "with a container's /proc" 0 $?
grep -q 'names: kernel [1-9].*, user 0 of ' "$tmp/err" || fail "names without the host's /proc: $(cat "$tmp/err")"
whole "$tmp/trace"
waits_of truth "$tmp/trace"
