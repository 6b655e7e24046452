# shellcheck shell=sh disable=SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
# For the tests of interpreted stacks; e2e/lib.sh is read before it.
stacks=$(dirname "$0")/../stacks

# expect_right WHAT PROGRAM PID TRACE [whole]: no stack of the process, which runs $stacks/PROGRAM, is wrong.
expect_right() {
	# Before it is listed, a moment after the beginning, a thread may have had another name.
	walk_to "$tmp/folded" -p "$3" --from 0.3 -U -d 0 --no-ends "$4"
	python3 "$stacks/paths_judge.py" "$stacks/$2" "$tmp/folded" ${5+"$5"} >"$tmp/judged" || fail "$1
$(tail -n 5 "$tmp/judged" | cut -c 1-1500)"
	echo "note: $1: $(tail -n 1 "$tmp/judged")"
}

# is_known PROGRAM: whether the recorder that began last has found a process with the interpreter of PROGRAM. A busy machine
# takes seconds for that.
is_known() {
	case $1 in
	*.py) language=Python ;;
	*.php) language=PHP ;;
	*.rb) language=Ruby ;;
	*.js) language='Node\.js' ;;
	*) language=Java ;;
	esac
	grep -aqE "interpreters: .*\b[1-9][0-9]* (processes )?of $language\b" "$tmp/err.cap"
}

# record_paths INTERPRETER PROGRAM [OPTION]: a trace that is written at once, and one of the flight recorder. OPTION: of
# the interpreter, with which stacks are whole. $says_ready: a file in
# which the program says so, if it takes long.
record_paths() {
	"$1" ${3+"$3"} "$stacks/$2" $$ &
	pid=$!
	started="$started $pid"
	[ -z "${says_ready-}" ] || wait_for "$2 runs" 30 grep -q ready "$says_ready"
	begin_recording "$tmp/trace.$pid"
	wait_for "the recorder knows what runs $2" 10 is_known "$2"
	first=$recorder
	mv "$tmp/err.cap" "$tmp/err.first" # which it goes on to write
	fly "$tmp/flight.$pid" --flight=60s
	wait_for "the flight recorder knows what runs $2" 10 is_known "$2"
	sleep 3
	kill "$pid"
	wait "$pid"
	end_recording
	expect_right "the flight recorder's trace" "$2" "$pid" "$tmp/flight.$pid" ${3+whole}
	recorder=$first
	mv "$tmp/err.first" "$tmp/err.cap"
	end_recording
	expect_right "the trace" "$2" "$pid" "$tmp/trace.$pid" ${3+whole}
}
