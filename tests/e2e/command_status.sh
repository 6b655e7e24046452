#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# chaincap -- COMMAND ends with the command's status, gives it its input and output, and leaves a trace.
# Beside another: it is about exit statuses.
. "$(dirname "$0")/lib.sh"
needs_bpf
for status in 0 7; do
	timeout 300 "$cap" -o "$tmp/trace" -- sh -c "exit $status" >"$tmp/out" 2>"$tmp/err"
	expect_exit "chaincap -- sh -c 'exit $status'" $status $?
	timeout 300 "$walk" "$tmp/trace" >"$tmp/out" 2>"$tmp/err"
	expect_exit "chainwalk of that trace" 0 $?
	grep -qE '^of the (one thread|[0-9]+ threads) of the command, out of [0-9]+ \(--all: of the whole machine\)$' \
		"$tmp/err" || fail "whose waits are shown is not said
$(cat "$tmp/err")"
done
# shellcheck disable=SC2016 # $$ is the command's
timeout 300 "$cap" -o "$tmp/trace" -- sh -c 'kill -TERM $$' >"$tmp/out" 2>"$tmp/err"
expect_exit "chaincap -- a command that a signal ends" 143 $?
got=$(echo in | timeout 300 "$cap" -o "$tmp/trace" -- sed 's/^/out of /' 2>"$tmp/err")
expect "the command's input and output" "out of in" "$got"

# What cannot be run is known before an earlier trace is emptied, and ends as with env.
touch "$tmp/plain"
mkdir "$tmp/path"
touch "$tmp/path/notrunnable"
PATH=$tmp/path:$PATH
for missing in nosuchcommand /nonexistent/command "$tmp/plain" notrunnable "$tmp" ''; do
	echo precious >"$tmp/trace"
	env -- "$missing" 2>/dev/null
	expected=$?
	timeout 300 "$cap" -o "$tmp/trace" -- "$missing" >"$tmp/out" 2>"$tmp/err"
	expect_exit "chaincap -- '$missing'" $expected $?
	expect_one_line "chaincap -- '$missing'"
	grep -qF "chaincap: $missing: " "$tmp/err" || fail "the command '$missing' is not named in
$(cat "$tmp/err")"
	expect "an earlier trace, after chaincap -- '$missing'" precious "$(cat "$tmp/trace")"
done
# That this one has no interpreter is only seen when it is started.
printf '#!/nonexistent/interpreter\n' >"$tmp/script"
chmod 755 "$tmp/script"
timeout 300 "$cap" -o "$tmp/trace" -- "$tmp/script" >"$tmp/out" 2>"$tmp/err"
expect_exit "chaincap -- a script without its interpreter" 127 $?
expect_one_line "chaincap -- a script without its interpreter"
# A program in a folder of PATH, and in the current one, which an empty part of PATH stands for.
cp /bin/true "$tmp/path/truly"
(cd "$tmp/path" && timeout 300 env PATH=/nonexistent: "$cap" -q -o "$tmp/trace" -- truly) 2>"$tmp/err"
expect_exit "chaincap -- a command in the current folder" 0 $?
