#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# On this kernel too alpha's wait is explained by bravo, charlie, delta and the timer, in that order,
# whatever the threads wait on; nothing is lost, and every kernel function has its name.
. "$(dirname "$0")/../../e2e/lib.sh"
needs_bpf
rounds=4
waits=alpha_waits wakes_alpha=bravo_wakes_alpha wakes_bravo=charlie_wakes_bravo wakes_charlie=delta_wakes_charlie
frames="alpha_runs;$waits;[^;]*" waker="$wakes_alpha;bravo_runs"
if is_plain; then
	# The C library's functions for system calls have no frame: frame pointers lead to who called their caller.
	own=runs
	waits=alpha_runs wakes_alpha=bravo_runs wakes_bravo=charlie_runs wakes_charlie=delta_runs
	frames="$waits;[^;]*" waker=$wakes_alpha
fi
bravo="alpha;$waits;--;$wakes_alpha;bravo"
charlie="$bravo;--;$wakes_bravo;charlie"
delta="$charlie;--;$wakes_charlie;delta"

# leave: nothing is lost and all has its name; and leaves the trace for run.sh to walk outside, where none of these
# programs and libraries are.
leave() {
	read_info "$tmp/trace"
	expect "$hop: events lost" 0 "$lost"
	expect "$hop: events in the log" "$counted" "$events"
	expect "$hop: kernel frames with a name" "$(info_figure frames_kernel)" "$(info_figure frames_kernel_named)"
	expect "$hop: the kernel that the trace names" "kernel: $(uname -r)" "$(grep '^kernel:' "$tmp/info")"

	mkdir -p /tmp/out
	mv "$tmp/trace" "/tmp/out/relay_$hop.bin"
	"$walk" -q --unit=ns "/tmp/out/relay_$hop.bin" >"/tmp/out/relay_$hop.folded" || fail "$hop: chainwalk of all"
}

for hop in futex pipe eventfd unix tcp; do
	case ${own:-}:$hop in
	runs:unix | runs:tcp) # the C library's functions for sockets use the frame pointer for something else
		record "$tmp/trace" relay --hops $hop --work 20000,40000,60000 --sleep 100000 --rounds $rounds
		walk_to "$tmp/folded" --state=all -t "$(tid alpha)" "$tmp/trace"
		skeleton '^$' <"$tmp/folded" >"$tmp/chains"
		links=alpha
		for name in bravo charlie delta; do
			links="$links;--;$name"
			expect_at_least "$hop: $name: running, and nine tenths of its CPU time" $(($(told $name cpu_ns) * 9 / 10)) \
				"$(weight "$links;[running]" "$tmp/chains")" "$tmp/chains"
		done
		leave
		continue
		;;
	esac
	record_thread "$tmp/trace" "$tmp/folded" alpha \
		relay --hops $hop --work 20000,40000,60000 --sleep 100000 --rounds $rounds
	grep ";$waits;.*;--;" "$tmp/folded" |
		skeleton "^($waits|$wakes_alpha|$wakes_bravo|$wakes_charlie)\$" >"$tmp/chains"
	expect_work "$hop: bravo" bravo "$(weight "$bravo;[running]" "$tmp/chains")" "$tmp/chains"
	expect_work "$hop: charlie" charlie "$(weight "$charlie;[running]" "$tmp/chains")" "$tmp/chains"
	expect_work "$hop: delta" delta "$(weight "$delta;[running]" "$tmp/chains")" "$tmp/chains"
	timer=$(weight "$delta;--;[timer]" "$tmp/chains")
	expect_at_least "$hop: the timer, and delta waiting for a CPU" $(($(told timer_ns) * 9 / 10)) \
		$((timer + $(weight "$delta;[runnable]" "$tmp/chains"))) "$tmp/chains"
	expect_at_most "$hop: the timer" "$(told timer_ns)" "$timer" "$tmp/chains"
	expect "$hop: other ends than these" "" \
		"$(grep -v -e '\[running\] ' -e '\[runnable\] ' -e '\[timer\] ' "$tmp/chains")"
	grep -q "^alpha;.*;thread_main;$frames;\\(\\[[^;]*\\];\\)*-;.*;schedule;__schedule;--;try_to_wake_up;.*;-;[^;]*;$waker;thread_main;" \
		"$tmp/folded" || fail "$hop: stacks are not whole at the joint
$(cat "$tmp/folded")"
	grep -qE ';hrtimer_wakeup;.*;(asm_sysvec_apic_timer_interrupt|el[01][ht]_64_irq|el[01]_irq);\[timer\] ' "$tmp/folded" ||
		fail "$hop: the timer's own frames are missing
$(cat "$tmp/folded")"

	leave
done
