#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# User stacks of real servers, as the distribution built them: each frame of each thread is where another
# unwinder (eu-stack) finds it, and nothing is made up. The servers are stopped (SIGSTOP) during the
# recording, so that all of their threads leave their CPUs once more where they sleep, and stay there.
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

# compare NAME: into $dir/NAME.out
compare() {
	"$cap" -v -o "$dir/trace" 30 2>"$tmp/err.cap" &
	recorder=$!
	started="$started $recorder"
	wait_for "the recorder begins" 20 grep -q 'ring buffers' "$tmp/err.cap"
	sleep 0.5
	# shellcheck disable=SC2086 # a list
	kill -STOP $server_pids
	sleep 0.5
	kill -INT $recorder
	wait $recorder
	"$walk" -v -U --format=events "$dir/trace" >"$dir/events" 2>"$tmp/err"
	# shellcheck disable=SC2086
	{
		python3 "$judge" ask "$dir/truth" $server_pids
		python3 "$judge" judge "$dir/truth" events "$dir/events"
	} >"$dir/$1.out" 2>&1
}

all_threads=0 all_whole=0 all_frames=0 all_found=0 bad='' some=''
for name in $servers_all; do
	server_start "$name"
	case $? in
	0) ;;
	77)
		echo "note: $name: not compared: $server_lacks is not installed"
		server_stop
		continue
		;;
	*) fail "$name does not start: $(tail -5 "$dir/$name/log" 2>/dev/null)" ;;
	esac
	# A thread that a busy machine did not let leave its CPU in time was not recorded: once more.
	for try in 1 2 3; do
		compare "$name"
		sums=$(grep '^threads ' "$dir/$name.out")
		read -r _ threads _ recorded _ whole _ _ _ frames _ found _ _ _ wrong <<<"$sums"
		# shellcheck disable=SC2086
		kill -CONT $server_pids
		[ "$wrong" -eq 0 ] && [ "$recorded" -eq "$threads" ] && break
	done
	server_stop
	echo "note: $name: $sums$([ $try = 1 ] || echo ", try $try")"
	[ "$wrong" -eq 0 ] || bad="$bad
$name:
$(cat "$dir/$name.out")"
	some=1 all_threads=$((all_threads + threads)) all_frames=$((all_frames + frames)) all_found=$((all_found + found))
	# Of a java thread that runs generated code the end is a guess, and said to be one.
	case $name in
	java) all_threads=$((all_threads - recorded + whole)) ;;
	esac
	all_whole=$((all_whole + whole))
done
[ "$some" ] || skip "no server is installed"
[ -z "$bad" ] || fail "frames that eu-stack does not have:$bad"
cat "$dir"/*.out >"$tmp/out"
expect_at_least "frames at their place, of $all_frames" $((all_frames * 99 / 100)) "$all_found" "$tmp/out"
expect_at_least "whole stacks, of $all_threads" $((all_threads * 97 / 100)) "$all_whole" "$tmp/out"
