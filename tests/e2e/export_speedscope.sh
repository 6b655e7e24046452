#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# --format=speedscope, loaded into the speedscope package in headless Chromium: it draws the frames, its
# table has each of them with the time that the folded lines give it, and each thread has a profile.
. "$(dirname "$0")/lib.sh"
tests=$(cd "$(dirname "$0")/.." && pwd)
. "$tests/browser/chromium.sh"
[ -n "$chromium" ] || skip "no chromium"
command -v node >/dev/null || skip "no node"
for package in playwright-core speedscope/speedscope; do
	folder=$tests/browser/$(dirname "$package" | sed 's/^\.$//')
	[ -d "$folder/node_modules/$(basename "$package")" ] && continue
	command -v npm >/dev/null || skip "no npm"
	(cd "$folder" && PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD=1 timeout 60 npm ci --ignore-scripts --no-audit --no-fund --silent) \
		>/dev/null 2>&1 || skip "npm ci failed for $(basename "$package")"
done

options='--state=all --blocked-stacks'
# shellcheck disable=SC2086 # options, separated by spaces
{
	timeout 60 "$walk" -q --format=speedscope -o "$tmp/file.json" $options -c '^(alpha|bravo|charlie|delta)$' \
		"$tests/data/relay.bin" 2>"$tmp/err"
	expect_exit "chainwalk --format=speedscope $options" 0 $?
	walk_to "$tmp/folded" $options -c '^(alpha|bravo|charlie|delta)$' "$tests/data/relay.bin"
}
CHROMIUM=$chromium timeout 90 node "$tests/browser/speedscope/show.mjs" "$tmp/file.json" "$tmp/folded" \
	alpha bravo charlie delta >"$tmp/out" 2>&1 || fail "speedscope: $(cat "$tmp/out")"
