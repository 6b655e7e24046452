#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What programs for older kernels lack, where the kernel takes no others, is said when the recording begins, and in the
# trace; and nothing of it is in the trace. A tracepoint that this kernel does not have is named by -v, with what is not known without it; one that it has
# is not. That requests are not recorded without it is said without -v too. The kernel itself says by its tracefs
# which it has.
. "$(dirname "$0")/../../e2e/lib.sh"
needs_bpf
mount -t tracefs tracefs /sys/kernel/tracing 2>/dev/null
[ -d /sys/kernel/tracing/events/sched/sched_switch ] || fail "no tracefs"
"$cap" -v -o "$tmp/trace" 1 2>"$tmp/err"
expect_exit "chaincap -v" 0 $?
expected=
[ -d /sys/kernel/tracing/events/sock/sk_data_ready ] || expected=sk_data_ready
expect "tracepoints that are said to be lacking" "$expected" \
	"$(sed -n 's/^chaincap: this kernel has no tracepoint \([a-z_]*\).*/\1/p' "$tmp/err")"
[ -z "$expected" ] || echo "note: $(grep 'no tracepoint' "$tmp/err")"
"$cap" -o "$tmp/trace" 1 2>"$tmp/err"
expect_exit "chaincap" 0 $?
expect "lines that say that requests are not recorded" "${expected:+1}" \
	"$(grep -c '^chaincap: requests are not recorded: .*(Linux 6.3 does)$' "$tmp/err" | sed 's/^0$//')"
expect_whole "$tmp/trace"
if is_older; then
	record "$tmp/trace" relay --hops pipe --rounds 20
	read_info "$tmp/trace"
	expect "the trace's own note" "${older#*: }: Linux 6.1" "$(sed -n 's/^note: chaincap[^:]*: //p' "$tmp/info")"
	expect "requests" 0 "$(info_figure requests)"
fi
if is_plain; then
	expect "user stacks that count as whole" "user_stacks_whole: 0 (0.0 %)" "$(grep '^user_stacks_whole:' "$tmp/info")"
	expect_at_least "user stacks that count as guessed" 1 "$(info_figure user_stacks_guessed)" "$tmp/info"
	for kind in objects ready disk_requests contexts lock_holders group_moves; do
		expect "$kind" 0 "$(info_figure $kind)"
	done
elif [ "$older" ]; then
	expect_at_least "objects" 2 "$(info_figure objects)" "$tmp/info"
	expect_at_least "user stacks that count as whole" 10 "$(info_figure user_stacks_whole)" "$tmp/info"
fi
