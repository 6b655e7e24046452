#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The image of docs/container/Dockerfile, in containers with the rights that the manifests there ask for and no others:
# in the host's PID namespace, and in one of its own with and without the host's /proc. What a container runtime may
# forbid is said with the cure; what each capability is for is what is missing without it.
# Beside another: it judges its own programs' chains.
. "$(dirname "$0")/lib.sh"
needs_bpf
docs=$(cd "$(dirname "$0")/../../docs/container" && pwd)
command -v podman >/dev/null || skip "no podman"
make_static

pod() {
	timeout 300 podman --root "$tmp/store" --runroot "$tmp/run" --storage-driver vfs --cgroup-manager cgroupfs \
		--events-backend none ${runtime:+--runtime "$runtime"} "$@"
}
pod build -q --isolation chroot -f "$docs/Dockerfile" -t chaincap "$build/static" >"$tmp/out" 2>"$tmp/err" ||
	skip "podman cannot build an image here: $(tail -n 1 "$tmp/err")"

# What both manifests ask for.
rights() { sed -n 's/^ *add: \[\(.*\)\]$/\1/p' "$1" | tr -d ' '; }
all=$(rights "$docs/daemonset.yaml")
[ "$all" ] || fail "no capabilities in daemonset.yaml"
expect "capabilities in sidecar.yaml" "$all" "$(rights "$docs/sidecar.yaml")"

# Lower than podman's own, which not everybody may set.
limits="--ulimit nofile=4096:4096 --ulimit nproc=1000:1000"

# contain CAPS OPTION... -- ARGS: chaincap in a container, which sees $tmp/traces as its working folder
mkdir "$tmp/traces"
contain() {
	caps=$1 options=
	shift
	while [ "$1" != -- ]; do
		options="$options $1"
		shift
	done
	shift
	# shellcheck disable=SC2086 # words
	pod run --rm --network host $limits --read-only --cap-drop all --cap-add "$caps" $options \
		-v "$tmp/traces:/traces" chaincap "$@" >"$tmp/out" 2>"$tmp/err"
}
open="--security-opt seccomp=unconfined --security-opt apparmor=unconfined --security-opt label=disable"

# Some runtimes do not know some machines' control groups.
for runtime in '' runc crun; do
	# shellcheck disable=SC2086 # words
	contain "$all" $open -- --version && break
done
grep -q '^chaincap' "$tmp/out" || skip "podman cannot run a container here: $(tail -n 1 "$tmp/err")"

calm 600
relay=$!

# seen WHAT [NAMES]: the relay is in the trace, which is whole, with the names of its functions ("": with none)
seen() {
	read_info "$tmp/traces/trace"
	expect "$1: events in the log and lost" "$counted" $((events + lost))
	walk_to "$tmp/folded" -p $relay -c '^alpha$' "$tmp/traces/trace"
	grep -q '^alpha;.*schedule.*--;.*;bravo;' "$tmp/folded" || fail "$1: the relay is not in the trace: $(head -5 "$tmp/folded")
$(cat "$tmp/err")"
	if [ "${2-names}" ]; then
		grep -q '^alpha;.*;alpha_waits;.*--;.*;bravo_wakes_alpha;.*bravo;' "$tmp/folded" ||
			fail "$1: names are missing: $(head -5 "$tmp/folded")"
	else
		grep -q '_waits' "$tmp/folded" && fail "$1: names of user functions"
	fi
	return 0
}

# shellcheck disable=SC2086 # words
for kind in host own sidecar; do
	case $kind in
	host) options=--pid=host ;;
	own) options='' ;;
	sidecar) options='-v /proc:/host/proc:ro' ;;
	esac
	contain "$all" $open $options -- -o trace 1
	expect_exit "chaincap in a container ($kind)" 0 $?
	expect "$kind: said of missing rights" "" "$(grep missing "$tmp/err" | grep -vE '(Java frames|callers) are missing')"
	names=names
	[ $kind != own ] || names=
	seen $kind "$names"
	contain "$all" $open $options -- --self-test
	expect_exit "--self-test in a container ($kind)" 0 $?
	if [ $kind = own ]; then
		grep -q '^no  *their names .*--pid=host.*/host/proc' "$tmp/out" || fail "--self-test: $(cat "$tmp/out")"
	else
		expect "$kind: what does not work" "" "$(grep '^no' "$tmp/out")"
	fi
done

# What a runtime forbids by default: older ones bpf(2), whatever the capabilities.
# shellcheck disable=SC2086 # words
contain "$all" --pid=host -- -o trace 1
status=$?
if [ $status = 0 ]; then
	seen "with the runtime's own filter"
else
	expect_exit "with the runtime's own filter" 1 $status
	expect_one_line "with the runtime's own filter"
	grep -q 'forbids bpf(2).*unconfined' "$tmp/err" || fail "the cause is not said: $(cat "$tmp/err")"
fi

# without CAP WHAT: what is said then; the exit status is $status
without() {
	# shellcheck disable=SC2086 # words
	contain "$(echo ",$all," | sed "s/,$1,/,/; s/^,//; s/,$//")" $open --pid=host -- -o trace 1
	expect_exit "without CAP_$1" "${status:-0}" $?
	grep -q "$2" "$tmp/err" || fail "without CAP_$1
expected: ...$2...
got:      $(cat "$tmp/err")"
}
for cap in BPF PERFMON; do
	status=1 without $cap "root has not all rights here (missing: CAP_$cap): docker run --cap-add"
done
status=0
without SYS_PTRACE 'CAP_SYS_PTRACE is missing'
for cap in SETUID SETGID; do
	without $cap "user functions will have no names, user stacks will be cut: CAP_$cap is missing"
	seen "without CAP_$cap" ''
done
without SYS_NICE ''
seen "without CAP_SYS_NICE"
without SYSLOG ''
grep -q 'CAP_SYSLOG is missing' "$tmp/err" || seen "without CAP_SYSLOG"

# Which capability it takes to read a program that only its owner may read, and one that is deleted.
named() {
	walk_to "$tmp/folded" -p $running -c '^alpha$' "$tmp/traces/trace"
	grep -c '^alpha;.*;alpha_waits' "$tmp/folded"
}
cp "$load" "$tmp/private" && cp "$load" "$tmp/deleted"
chown 12345 "$tmp/private" && chmod 700 "$tmp/private" && chmod 711 "$tmp"
for try in DAC_READ_SEARCH:private CHECKPOINT_RESTORE:deleted; do
	program=$tmp/${try#*:}
	user=
	[ "$program" = "$tmp/deleted" ] || user='setpriv --reuid=12345 --clear-groups'
	# shellcheck disable=SC2086 # words
	$user "$program" relay --work 50 --rounds 100000 --seconds 600 --hops pipe >/dev/null 2>&1 &
	running=$!
	started="$started $running"
	wait_for "the program runs" 10 grep -q relay "/proc/$running/cmdline"
	[ "$program" != "$tmp/deleted" ] || rm "$program"
	# shellcheck disable=SC2086 # words
	contain "$all" $open --pid=host -- -o trace 1
	expect_exit "with ${try%:*}" 0 $?
	expect_at_least "stacks of a ${try#*:} program with names, with CAP_${try%:*}" 1 "$(named)" "$tmp/folded"
	without "${try%:*}" ''
	expect "stacks of a ${try#*:} program with names, without CAP_${try%:*}" 0 "$(named)"
	kill $running
	rm -f "$program"
done
