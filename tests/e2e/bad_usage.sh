#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Bad usage is exit status 2 and a word about it; help and version are exit status 0. The short help
# fits a screen.
. "$(dirname "$0")/lib.sh"
cd "$tmp" || exit 1

refuses() {
	timeout 300 "$@" </dev/null >"$tmp/out" 2>"$tmp/err"
	expect_exit "$*" 2 $?
	[ -s "$tmp/err" ] || fail "$*: no word about what is wrong"
	[ ! -s "$tmp/out" ] || fail "$*: something on standard output:
$(head -3 "$tmp/out")"
}

helps() {
	grep -q 'chaincap --help tells more' "$tmp/err" || fail "$*: where to find help is not said in
$(cat "$tmp/err")"
	expect_one_line "$*"
}

for option in --nonsense -o --output -1 -q1 --verify=yes --ver; do
	refuses "$cap" $option
	helps "chaincap $option"
done
for command in "$cap --ver" "$walk --ver"; do
	# shellcheck disable=SC2086 # a program and an option
	refuses $command
	grep -q -- '--ver matches several options: .*--verbose, --version' "$tmp/err" ||
		fail "$command: which options begin so is not said in
$(cat "$tmp/err")"
done
refuses "$cap" -q -v -o trace 1
refuses "$cap" -o trace -5
refuses "$cap" -o trace abc
refuses "$cap" -o trace 1x
refuses "$cap" -o trace 1 2
refuses "$cap" -o trace --buffer-size lots 1
refuses "$cap" -o trace --buffer-size 0 1
refuses "$cap" -o trace --buffer-size 4095 1
refuses "$cap" -o trace --max-size -1 1
refuses "$cap" -K -U -o trace 1
refuses "$cap" -o trace --flight 1
refuses "$cap" -o trace --flight 0s
refuses "$cap" -o - --flight 1s
refuses "$cap" -o trace --trigger-wait 1s
refuses "$cap" -o trace --flight 1s --trigger-wait 1s
refuses "$cap" -o trace --flight 1s --trigger-wait soon
refuses "$cap" -o trace --trigger-request 1s
refuses "$cap" -o trace --flight 1s --trigger-request 1s
refuses "$cap" -o trace --flight 1s --trigger-request 80=1ms
refuses "$cap" -o trace --flight 1s --trigger-request 'tcp :80=soon'
refuses "$cap" -o trace --flight 1s --trigger-request 1ms --no-requests
refuses "$cap" -o trace --flight 1s -c name
refuses "$cap" -o trace --flight 1s --trigger-wait 1ms -c '('
refuses "$cap" -o trace --flight 1s --max-size 1K
refuses "$walk" --nonsense
refuses "$walk" --depth x trace
refuses "$walk" --depth -1 trace
refuses "$walk" --mode=guess trace
refuses "$walk" --format=poem trace
refuses "$walk" --unit=weeks trace
refuses "$walk" -t abc trace
refuses "$walk" -p 1x trace
refuses "$walk" -c '(' trace
refuses "$walk" --from x trace
refuses "$walk" --min-wait 5lightyears trace
refuses "$flame" --nonsense
refuses "$flame" --width x
# says TEXT COMMAND...
says() {
	text=$1
	shift
	refuses "$@"
	grep -qF -e "$text" "$tmp/err" || fail "$* does not say: $text
$(cat "$tmp/err")"
	expect_one_line "$*"
}
# Who is not root may not have the recorder read what strangers wrote, whatever its file's capabilities.
if [ "$(id -u)" = 0 ]; then
	cp "$cap" "$tmp/chaincap"
	chmod 755 "$tmp" "$tmp/chaincap"
	says '--verify is for root' setpriv --reuid=65534 --regid=65534 --clear-groups "$tmp/chaincap" --verify -o trace 1
else
	says '--verify is for root' "$cap" --verify -o trace 1
fi
says 'a command goes after --: chaincap -- /bin/sh' "$cap" -o trace /bin/sh 1
says 'did you mean --max-size?' "$cap" --max-sise 5 -o trace
says 'did you mean --no-idle?' "$walk" --no-idel trace
[ ! -e trace ] || fail "a refused command left a file"

echo 'a;b 1' >"$tmp/folded"
timeout 300 "$flame" -o "$tmp/folded" "$tmp/folded" >"$tmp/out" 2>"$tmp/err"
expect_exit "flamegraph -o FOLDED FOLDED" 1 $?
expect "the input, after it was refused as the output" "a;b 1" "$(cat "$tmp/folded")"

for program in "$cap" "$walk" "$flame"; do
	for option in -h --help -V --version; do
		timeout 300 "$program" $option </dev/null >"$tmp/out" 2>"$tmp/err"
		expect_exit "$program $option" 0 $?
		[ -s "$tmp/out" ] || fail "$program $option says nothing"
		expect "$program $option on standard error" "" "$(cat "$tmp/err")"
		# two screens of 48 lines
		expect_at_most "$program $option, lines" 96 "$(wc -l <"$tmp/out")"
	done
done
for program in "$cap" "$walk" "$flame"; do
	expect_at_most "$program -h, lines" 24 "$("$program" -h | wc -l)"
	expect_at_most "$program -h, lines less than of --help" -1 \
		"$(($("$program" -h | wc -l) - $("$program" --help | wc -l)))"
done
