#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Recording needs CAP_BPF and CAP_PERFMON and no more; what other rights are for is said when they are
# missing; once it records, it has given up all that it needs no more, root or not.
# Beside another: it is about rights.
. "$(dirname "$0")/lib.sh"
needs_bpf
chmod 711 "$tmp"
mkdir -m 777 "$tmp/open"
# Where nobody may read them, wherever the build folder is.
cp "$cap" "$tmp/open/chaincap"
cp "$load" "$tmp/open/chainload"
load=$tmp/open/chainload
trace=$tmp/open/trace

# with CAPS COMMAND...: as nobody, with these capabilities and no others.
with() {
	caps=-all
	for c in $1; do caps=$caps,+$c; done
	shift
	setpriv --reuid=65534 --regid=65534 --clear-groups --bounding-set "$caps" \
		--inh-caps "$caps" --ambient-caps "$caps" "$@"
}

# run_with CAPS OPTION...: records a second of root's threads.
run_with() {
	caps_given=$1
	shift
	rm -f "$trace"
	with "$caps_given" timeout 300 "$tmp/open/chaincap" -o "$trace" "$@" 1 >"$tmp/out" 2>"$tmp/err"
}

calm 600
with "bpf perfmon" true 2>/dev/null || skip "this machine's root has not got CAP_BPF and CAP_PERFMON to give"

for missing in BPF PERFMON; do
	have=bpf
	[ $missing = PERFMON ] || have=perfmon
	run_with $have
	expect_exit "without CAP_$missing" 1 $?
	expect_one_line "without CAP_$missing"
	grep -q "(missing: CAP_$missing)" "$tmp/err" || fail "without CAP_$missing the line does not say so: $(cat "$tmp/err")"
done

run_with "bpf perfmon"
expect_exit "with CAP_BPF and CAP_PERFMON" 0 $?
cp "$tmp/err" "$tmp/said"
read_info "$trace"
expect "events in the log and lost" "$counted" $((events + lost))
grep -q 'CAP_SYS_PTRACE is missing' "$tmp/said" || fail "it is not said that names will be missing: $(cat "$tmp/said")"
walk_to "$tmp/folded" -c '^alpha$' "$trace"
grep -q '^alpha;' "$tmp/folded" || fail "the relay is not in the trace"
grep -q 'CAP_SYSLOG is missing' "$tmp/said" || grep -q ';schedule;' "$tmp/folded" ||
	fail "kernel functions have no names, and CAP_SYSLOG is not said to be missing: $(cat "$tmp/said")"

if with "bpf perfmon sys_ptrace syslog" true 2>/dev/null; then
	run_with "bpf perfmon sys_ptrace syslog"
	expect_exit "with CAP_SYS_PTRACE and CAP_SYSLOG, too" 0 $?
	expect "said of missing rights" "" "$(grep -e missing -e 'will have no names' "$tmp/err" | grep -v 'callers are missing')"
	walk_to "$tmp/folded" -c '^alpha$' "$trace"
	grep -q '^alpha;.*;alpha_waits;.*;schedule;' "$tmp/folded" ||
		fail "names of root's process or of the kernel are not there: $(head -3 "$tmp/folded")"
fi

# rights PID: what it may do and what it could come to do; only what the manual names is left.
# DAC_READ_SEARCH 2, SYS_PTRACE 19, SYS_NICE 23, SYSLOG 34, BPF 39, CHECKPOINT_RESTORE 40
allowed=$((1 << 2 | 1 << 19 | 1 << 23 | 1 << 34 | 1 << 39 | 1 << 40))
check_rights() {
	for set in CapEff CapPrm CapInh CapAmb; do
		have=$(awk -v set="$set:" '$1 == set { print $2 }' "/proc/$2/status")
		expect "$1: $set $have: rights kept that are not needed" 0 $((0x$have & ~allowed))
	done
	expect "$1: NoNewPrivs" 1 "$(awk '$1 == "NoNewPrivs:" { print $2 }' "/proc/$2/status")"
}

# find_readers PID: sets readers, those that read strangers' files for it.
find_readers() {
	readers=$(awk -v parent="$1" '
		$1 == "Name:" { is_it = $2 == "chaincap-reader" } # of 15 characters
		$1 == "PPid:" && is_it && $2 == parent { split(FILENAME, part, "/"); print part[3] }' \
		/proc/[0-9]*/status 2>/dev/null)
	[ "$readers" ]
}

# check_readers WHAT PID: its readers have no rights at all.
check_readers() {
	wait_for "$1: somebody reads files" 15 find_readers "$2"
	for pid in $readers; do
		for set in CapEff CapPrm CapInh CapAmb; do
			expect "$1: $set of $pid, which reads files" 0000000000000000 \
				"$(awk -v set="$set:" '$1 == set { print $2 }' "/proc/$pid/status")"
		done
	done
}

# while_recording WHAT COMMAND...: looks at the rights of a recording that is under way.
while_recording() {
	what=$1
	shift
	rm -f "$trace"
	"$@" -o "$trace" >"$tmp/out" 2>"$tmp/err" &
	recorder=$!
	started="$started $recorder"
	wait_for "$what records" 15 has_bytes "$trace" 2000
	check_rights "$what" $recorder
	check_readers "$what" $recorder
	kill -INT $recorder
	wait $recorder
	expect_exit "$what" 0 $?
	read_info "$trace"
	expect "$what: events in the log and lost" "$counted" $((events + lost))
}
while_recording "root" "$tmp/open/chaincap"
expect_at_least "user frames with a name, as root without most rights" 1 "$(info_figure frames_user_named)" "$tmp/info"
caps=-all,+bpf,+perfmon
while_recording "nobody" setpriv --reuid=65534 --regid=65534 --clear-groups --bounding-set $caps \
	--inh-caps $caps --ambient-caps $caps "$tmp/open/chaincap"

# The command keeps what it was given.
rm -f "$trace"
"$tmp/open/chaincap" -q -o "$trace" -- awk '$1 == "CapEff:" { print $2 }' /proc/self/status >"$tmp/out" 2>"$tmp/err"
expect_exit "chaincap -- awk" 0 $?
expect "CapEff of the command" "$(awk '$1 == "CapEff:" { print $2 }' /proc/self/status)" "$(cat "$tmp/out")"
