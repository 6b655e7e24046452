#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Who has no trace, or one that cannot be read, is told the next command, in one line, also where the output is JSON
# into a pipe; making the sample changes no file of the repository.
. "$(dirname "$0")/lib.sh"
here=$(cd "$(dirname "$0")/.." && pwd)
# says WHAT STATUS COMMAND ARGUMENT...: chainwalk, in an empty folder, ends so, and names that command
mkdir "$tmp/empty" "$tmp/folder"
says() {
	what=$1 status=$2 command=$3
	shift 3
	(cd "$tmp/empty" && "$walk" "$@" </dev/null 2>"$tmp/err" | cat >"$tmp/out")
	expect_one_line "$what"
	grep -qF -- "$command" "$tmp/err" || fail "$what: the next command is not named: $(cat "$tmp/err")"
	(cd "$tmp/empty" && "$walk" "$@" </dev/null >/dev/null 2>&1)
	expect_exit "$what" "$status" $?
}
record='to record one: sudo chaincap -o trace.bin 10'
says "no trace" 1 "trace.bin: there is no such trace; $record"
: >"$tmp/zero"
for options in '' --json '-f html' '-f requests'; do
	# shellcheck disable=SC2086 # several words
	says "no such trace, $options" 1 "there is no such trace; $record" $options "$tmp/none"
	# shellcheck disable=SC2086
	says "an empty file, $options" 1 "$record" $options "$tmp/zero"
	# shellcheck disable=SC2086
	says "another file, $options" 1 "$record" $options /etc/passwd
	# shellcheck disable=SC2086
	says "a folder, $options" 1 "chainwalk --follow" $options "$tmp/folder"
done

# Who recorded it may read it, nobody else.
cp "$here/data/relay.bin" "$tmp/secret"
chmod 600 "$tmp/secret"
chmod 711 "$tmp"
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	nobody() { setpriv --reuid 65534 --regid 65534 --clear-groups "$@"; }
	cp "$walk" "$cap" "$tmp" && chmod 755 "$tmp/chainwalk" "$tmp/chaincap"
	nobody "$tmp/chainwalk" "$tmp/secret" >"$tmp/out" 2>"$tmp/err"
	expect_exit "another one's trace" 1 $?
	grep -q 'try: sudo chainwalk' "$tmp/err" || fail "another one's trace: $(cat "$tmp/err")"
	nobody "$tmp/chaincap" -o "$tmp/mine" 1 >"$tmp/out" 2>"$tmp/err"
	expect_exit "to record without the right" 1 $?
	grep -q 'needs root: sudo chaincap' "$tmp/err" || fail "to record without the right: $(cat "$tmp/err")"
fi

"$walk" -q --json "$here/data/relay.bin" | grep -q '"example":"chainwalk ' || fail "--json: no command to go on with"
[ ! -d "$here/../.git" ] || ! command -v git >/dev/null || {
	before=$(git -C "$here/.." status --porcelain)
	CHROMIUM='' sh "$here/../docs/examples/sample.sh" "$build" "$tmp/folder" >/dev/null || fail "sample.sh"
	CHROMIUM='' sh "$here/../docs/examples/sample.sh" "$build" >/dev/null || fail "sample.sh, where it is built"
	expect "what sample.sh changes" "$before" "$(git -C "$here/.." status --porcelain)"
}
