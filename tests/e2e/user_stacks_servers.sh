#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# User stacks of real servers, as the distribution built them: each frame of each thread is where another
# unwinder (eu-stack) finds it, and nothing is made up. The servers are stopped (SIGSTOP) during the
# recording, so that all of their threads leave their CPUs once more where they sleep, and stay there.
# Beside another: it compares stacks of its own processes while they are stopped.
. "$(dirname "$0")/lib.sh"
needs_bpf
for tool in eu-stack python3; do
	command -v $tool >/dev/null || skip "no $tool"
done
dir=$tmp/servers
mkdir "$dir"
chmod 755 "$tmp" "$dir"
# shellcheck source=tests/stacks/servers.sh
. "$(dirname "$0")/../stacks/servers.sh"
judge=$(dirname "$0")/../stacks/compare.py
trap 'server_stop; clean_up' EXIT

servers_start || fail "$server does not start: $(tail -5 "$dir/$server/log" 2>/dev/null)"
[ "$servers" ] || skip "no server is installed"

# compare SECONDS: records for as long, in which the rules of the servers' code are read, and until all have
# left their CPUs for good; judges each server's stacks, in $dir/NAME.out.
compare() {
	# Of Java the other unwinder knows no function.
	begin_recording "$dir/trace" --no-java 60
	sleep "$1"
	# shellcheck disable=SC2086 # a list
	kill -STOP $server_pids
	sleep 0.5
	end_recording
	"$walk" -v --native -U --format=events "$dir/trace" >"$dir/events" 2>"$tmp/err"
	for name in $servers; do
		# shellcheck disable=SC2046
		{
			python3 "$judge" ask "$dir/truth" $(cat "$dir/$name/pids")
			python3 "$judge" judge "$dir/truth" events "$dir/events"
		} >"$dir/$name.out" 2>&1
	done
}

# A busy machine may not let a thread leave its CPU in time, and reads rules late: once more, and for longer.
for seconds in 1 3 9; do
	compare $seconds
	again=''
	for name in $servers; do
		read -r _ threads _ recorded _ whole _ _ _ _ _ _ _ _ _ wrong <<<"$(grep '^threads ' "$dir/$name.out")"
		[ $name != java ] || whole=$threads
		[ "$wrong" -eq 0 ] && [ "$recorded" -eq "$threads" ] && [ "$whole" -eq "$threads" ] || again="$again $name"
	done
	# shellcheck disable=SC2086
	kill -CONT $server_pids
	[ "$again" ] || break
	echo "note: in $seconds s not all of$again"
done

all_threads=0 all_whole=0 all_frames=0 all_found=0 bad=''
for name in $servers; do
	sums=$(grep '^threads ' "$dir/$name.out") || fail "nothing compared: $(cat "$dir/$name.out")"
	read -r _ threads _ recorded _ whole _ _ _ frames _ found _ _ _ wrong <<<"$sums"
	echo "note: $name: $sums"
	[ "$wrong" -eq 0 ] || bad="$bad
$name:
$(cat "$dir/$name.out")"
	all_threads=$((all_threads + threads)) all_frames=$((all_frames + frames)) all_found=$((all_found + found))
	# Of a java thread that runs generated code the end is a guess, and said to be one.
	case $name in
	java) all_threads=$((all_threads - recorded + whole)) ;;
	esac
	all_whole=$((all_whole + whole))
done
[ -z "$bad" ] || fail "frames that eu-stack does not have:$bad"
cat "$dir"/*.out >"$tmp/out"
expect_at_least "frames at their place, of $all_frames" $((all_frames * 99 / 100)) "$all_found" "$tmp/out"
expect_at_least "whole stacks, of $all_threads" $((all_threads * 97 / 100)) "$all_whole" "$tmp/out"
