#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Programs that look like Python, Ruby, Node.js or a JVM and lie in their structs: the recorder ends as always, with little memory; what they say
# harms no terminal, and another program's frames are right beside them.
# Beside another: it judges its own programs' stacks.
. "$(dirname "$0")/lib.sh"
only_all "one of the attackers"
needs_bpf
for tool in cc python3; do
	command -v $tool >/dev/null || skip "no $tool"
done
python=$(command -v /usr/bin/python3 || command -v python3)
stacks=$(dirname "$0")/../stacks
attacks=$(dirname "$0")/../attacks
languages="forged forged_ruby"
[ "$(uname -m)" != x86_64 ] || languages="$languages forged_v8 forged_jvm"
for language in $languages; do
	cc -O2 -pthread -rdynamic -o "$tmp/$language" "$attacks/$language.c" 2>"$tmp/err" || fail "$(cat "$tmp/err")"
done
"$python" "$stacks/paths.py" $$ &
honest=$!
started="$started $honest"
lies="honest loop wild long control key many race"
for kind in honest loop wild long control many line race; do
	lies="$lies ruby_$kind"
	[ ! -x "$tmp/forged_v8" ] || lies="$lies v8_$kind jvm_$kind"
done
for lie in $lies; do
	case $lie in
	ruby_*) "$tmp/forged_ruby" "${lie#ruby_}" >"$tmp/$lie.out" & ;;
	v8_*) "$tmp/forged_v8" "${lie#v8_}" >"$tmp/$lie.out" & ;;
	jvm_*) "$tmp/forged_jvm" "${lie#jvm_}" >"$tmp/$lie.out" & ;;
	*) "$tmp/forged" "$lie" >"$tmp/$lie.out" & ;;
	esac
	eval "pid_$lie=$!"
	started="$started $!"
	wait_for "forged $lie" 5 grep -q forged "$tmp/$lie.out"
done
# seen PID: its forged functions are shown.
seen() {
	walk_to "$tmp/folded" -p "$1" -U -d 0 --no-ends "$tmp/trace"
	grep -q ';forged[._]name (file\.\(py\|rb\|js:42\|java:42\)' "$tmp/folded"
}
# What is no lie is shown: the programs are taken for Python, for Ruby, for Node.js and for a JVM. On a machine that is slow, or
# busy, that takes longer.
# shellcheck disable=SC2154 # by eval
honest_seen() {
	for pid in "$pid_honest" "$pid_ruby_honest" ${pid_v8_honest-} ${pid_jvm_honest-}; do
		seen "$pid" || return 1
	done
}
for seconds in 2 6 18; do
	begin_recording "$tmp/trace"
	sleep $seconds
	end_recording
	mib=$(sed -n 's/^chaincap: recorder: .* CPU, \([0-9]*\) MiB.*/\1/p' "$tmp/err")
	! honest_seen || break
done
# What they are doing still would only take the CPUs from those who judge.
# shellcheck disable=SC2086 # a list of processes
kill $started 2>/dev/null
honest_seen || fail "the forged interpreter $pid is not seen: $(head -3 "$tmp/folded")"
expect_at_most "MiB of the recorder" 200 "$mib"
for lie in $lies; do
	eval "pid=\$pid_$lie"
	walk_to "$tmp/folded" -p "$pid" "$tmp/trace"
	[ -s "$tmp/folded" ] || fail "$lie: no waits of process $pid"
	walk_to "$tmp/tree" -p "$pid" --format=tree "$tmp/trace"
	bytes=$(cat "$tmp/folded" "$tmp/tree" | tr -d '\n -~' | LC_ALL=C tr -d '\200-\377' | wc -c)
	expect "$lie: control characters in what is printed" 0 "$bytes"
	! LC_ALL=C grep -q "$(printf '\302\233')" "$tmp/folded" "$tmp/tree" || fail "$lie: a C1 control character is printed"
done
# Before it is listed, a moment after the beginning, a thread may have had another name.
walk_to "$tmp/folded" -p "$honest" --from 0.3 -U -d 0 --no-ends "$tmp/trace"
"$python" "$stacks/paths_judge.py" "$stacks/paths.py" "$tmp/folded" >"$tmp/judged" || fail "beside them: $(tail -n 3 "$tmp/judged" | cut -c 1-900)"
echo "note: $mib MiB; beside them: $(tail -n 1 "$tmp/judged")"
