// SPDX-License-Identifier: GPL-2.0-or-later
// The text on a frame: as much of its name as fits and tells it from others (render/label.c has the same
// rules). Widths of glyphs are in 48ths of the font size.

const GLYPHS = (opt.glyphs || "").split(" "), UNIT = FONT / 48;
const LEAST_LABEL = 3 * FONT * num("fontWidth");

function glyph(c, bold) {
	const k = c.codePointAt(0);
	if (!opt.glyphs)
		return 48 * num("fontWidth") * (bold ? 1.125 : 1);
	if (k < 128)
		return k < 32 ? 48 : DIGITS.indexOf(GLYPHS[bold ? 1 : 0][k - 32]);
	if (k >= 0x300 && k < 0x370)
		return 0;
	if ((k >= 0x1100 && k < 0x1160) || (k >= 0x2400 && k < 0x2440) || (k >= 0x2e80 && k < 0xa4d0) ||
		(k >= 0xac00 && k < 0xd7a4) || (k >= 0xf900 && k < 0xfb00) || (k >= 0xfe30 && k < 0xfe70) ||
		(k >= 0xff00 && k < 0xff61) || k >= 0x1f000)
		return 52;
	return bold ? 42 : 38;
}

function textWidth(s, bold) {
	let sum = 0;
	for (const c of s)
		sum += glyph(c, bold);
	return sum;
}

// Without what most names of a program share: arguments, template parameters, a hash, a suffix; and without the place
// behind it, as in "work (log.py:21)".
function elide(s) {
	if (s.length > 1024)
		return s;
	s = s.replace(/::h[0-9a-f]{16}$/, "").replace(/\.(constprop|isra|part|cold|lto_priv|llvm)(\.\d+)*$/, "");
	const close = brackets(s);
	let out = "";
	for (let at = 0; at < s.length; at++) {
		if (at > 1 && s[at] === "(" && s[at - 1] === " " && close[at] + 1 === s.length)
			return out.slice(0, -1);
		out += s[at];
		// "<module>" is all of a name.
		if (close[at] > at + 1 && (at || s[at] !== "<" || ![undefined, " "].includes(s[close[at] + 1]))) {
			out += "..";
			at = close[at] - 1;
		}
	}
	return out;
}

// For each ( and < the index of what closes it. The > of -> closes nothing.
function brackets(s) {
	const close = [], round = [], angle = [];
	for (let k = 0; k < s.length; k++) {
		if (s[k] === "(")
			round.push(k);
		else if (s[k] === "<")
			angle.push(k);
		else if (s[k] === ")" && round.length)
			close[round.pop()] = k;
		else if (s[k] === ">" && s[k - 1] !== "-" && angle.length)
			close[angle.pop()] = k;
	}
	return close;
}

// Where the parts of a qualified name begin: after ::, /, and the point between two letters.
function parts(s) {
	const at = [];
	for (let k = 1; k < s.length; k++)
		if ((s[k - 1] === ":" && s[k - 2] === ":") || s[k - 1] === "/" ||
			(s[k - 1] === "." && /[A-Za-z_$]/.test(s[k]) && /[A-Za-z0-9_$]/.test(s[k - 2] || "")))
			at.push(k);
	return at;
}

function cutRight(s, room, bold) {
	let used = 2 * glyph(".", bold), out = "";
	for (const c of s) {
		used += glyph(c, bold);
		if (used > room)
			return out ? out + ".." : "";
		out += c;
	}
	return s;
}

function cutLeft(s, room, bold) {
	let used = 2 * glyph(".", bold), out = "";
	for (const c of Array.from(s.slice(-2000)).reverse()) {
		used += glyph(c, bold);
		if (used > room)
			return out ? ".." + out : "";
		out = c + out;
	}
	return ".." + out;
}

function fit(s, px, bold) {
	const room = px / UNIT, dots = 2 * glyph(".", bold);
	if (s.length * 4 > room && s.length > 4000)
		s = opt.labels === "end" ? s.slice(-4000) : s.slice(0, 4000);
	if (textWidth(s, bold) <= room)
		return s;
	if (opt.labels === "start")
		return cutRight(s, room, bold);
	if (opt.labels === "end")
		return cutLeft(s, room, bold);
	s = elide(s);
	let at;
	for (const shorter of new Set([s, s.replace(/(?<=.)\(\.\.\)$/s, "")])) {
		s = shorter;
		at = parts(s);
		if (textWidth(s, bold) <= room)
			return s;
		for (const k of at)
			if (dots + textWidth(s.slice(k), bold) <= room)
				return ".." + s.slice(k);
	}
	const end = s.slice(at[at.length - 1] || 0), left = cutLeft(end, room, bold);
	// Fewer of its last characters say less than its first ones.
	return at.length && Array.from(left).length >= 6 ? left : cutRight(end, room, bold);
}

// Is text on this colour white? Of black and white the one with more contrast (WCAG 2.2: at least 4.58:1).
const lightOn = new Map();
function light(fill) {
	if (!lightOn.has(fill)) {
		const c = [1, 3, 5].map((k) => parseInt(fill.slice(k, k + 2), 16) / 255)
			.map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
		lightOn.set(fill, 0.2126 * c[0] + 0.7152 * c[1] + 0.0722 * c[2] < 0.179);
	}
	return lightOn.get(fill);
}
