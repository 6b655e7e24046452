#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A picture that Chromium or Firefox takes of a tall graph from the command line shows its root, not the
# part above: near the lower edge is the dark bar of the delimiter between who waited and who woke.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/../browser/chromium.sh"
firefox=$(command -v firefox-esr || command -v firefox)
[ -n "$chromium$firefox" ] || skip "no chromium and no firefox-esr"
command -v node >/dev/null || skip "no node"
awk 'BEGIN {
	printf "alpha;main;recv;--"
	for (i = 0; i < 120; i++)
		printf ";f%.0f", i
	print ";bravo;[running] 1"
	print "alpha;main;recv;--;wake;bravo;[running] 99"
}' | "$flame" -o "$tmp/tall.svg" || fail "flamegraph"

# How many of the lowest 70 rows of a PNG's pixels have a hundred dark ones.
cat >"$tmp/dark.mjs" <<'END'
import { readFileSync } from "node:fs";
import { inflateSync } from "node:zlib";
const png = readFileSync(process.argv[2]), parts = [];
let width, height, channels;
for (let at = 8; at < png.length;) {
	const size = png.readUInt32BE(at), kind = png.toString("latin1", at + 4, at + 8), data = png.subarray(at + 8, at + 8 + size);
	if (kind === "IHDR")
		[width, height, channels] = [data.readUInt32BE(0), data.readUInt32BE(4), data[9] === 6 ? 4 : 3];
	if (kind === "IDAT")
		parts.push(data);
	at += size + 12;
}
const raw = inflateSync(Buffer.concat(parts)), stride = width * channels, rows = [];
for (let y = 0, above = Buffer.alloc(stride); y < height; y++) {
	const filter = raw[y * (stride + 1)], row = Buffer.from(raw.subarray(y * (stride + 1) + 1, (y + 1) * (stride + 1)));
	for (let i = 0; i < stride; i++) {
		const a = i < channels ? 0 : row[i - channels], b = above[i], c = i < channels ? 0 : above[i - channels], p = a + b - c;
		const near = [a, b, c].reduce((best, v) => Math.abs(p - v) < Math.abs(p - best) ? v : best);
		row[i] += [0, a, b, (a + b) >> 1, near][filter];
	}
	rows.push(row);
	above = row;
}
const isDark = (r, x) => r[x * channels] < 100 && r[x * channels + 1] < 100 && r[x * channels + 2] < 100;
console.log(rows.slice(-70).filter((r) => Array.from({ length: width }, (_, x) => isDark(r, x)).filter((d) => d).length >= 100).length);
END

if [ -n "$chromium" ]; then
	HOME=$tmp timeout 300 "$chromium" --headless --no-sandbox --disable-gpu --user-data-dir="$tmp/chromium" --window-size=1000,700 \
		--screenshot="$tmp/chromium.png" "file://$tmp/tall.svg" >"$tmp/said" 2>&1
	[ -s "$tmp/chromium.png" ] || fail "no picture from Chromium: $(tail -n 3 "$tmp/said")"
	[ "$(node "$tmp/dark.mjs" "$tmp/chromium.png")" -gt 0 ] || fail "Chromium's picture does not show the root"
fi
if [ -n "$firefox" ]; then
	HOME=$tmp timeout 300 "$firefox" --headless --window-size=1000,700 --screenshot "$tmp/firefox.png" "file://$tmp/tall.svg" >"$tmp/said" 2>&1
	[ -s "$tmp/firefox.png" ] || fail "no picture from Firefox: $(tail -n 3 "$tmp/said")"
	[ "$(node "$tmp/dark.mjs" "$tmp/firefox.png")" -gt 0 ] || fail "Firefox's picture does not show the root"
fi
