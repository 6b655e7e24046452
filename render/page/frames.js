// SPDX-License-Identifier: GPL-2.0-or-later
// The frames: parallel arrays in preorder. `base` is what the document has (format: render/data.c);
// views.js makes others of the same kind from it. The globals below are those of the view shown.

let names, colors, style, links, base, view;
let name, parent, depth, begin, end, last, link, part, own, color;
const SAMPLE = 1, ON_CPU = 2, HAD_CPU = 3; // .part: what stands above these ends
const ABOVE = { "[running]": SAMPLE, "[on-CPU]": ON_CPU, "[runnable]": HAD_CPU, "[preempted]": HAD_CPU };
const isDelim = (i) => names[name[i]] === "--" || names[name[i]] === "-";
const bare = (s) => s.replace(/_\[[kwij]\]$/, "");
const label = (i) => bare(names[name[i]]);
const time = (i) => end[i] - begin[i];
const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+-"; // of numbers in the document

const value = new Uint8Array(128);
for (let i = 0; i < 64; i++)
	value[DIGITS.charCodeAt(i)] = i;

function use(v) {
	view = v;
	({ name, parent, depth, begin, end, last, link, part, own, color } = v);
}

function newFrames(n) {
	const v = { begin: new Float64Array(n), end: new Float64Array(n), own: new Float64Array(n),
		color: new Uint32Array(n), part: new Uint8Array(n), gone: new Uint8Array(n) };
	for (const k of ["name", "parent", "depth", "last", "link"])
		v[k] = new Uint32Array(n);
	if (DIFF)
		for (const k of ["before", "after", "ownBefore", "ownAfter"])
			v[k] = new Float64Array(n);
	return v;
}

function decode() {
	const s = byId("nodes").textContent, n = num("frames"), v = newFrames(n);
	const filled = new Float64Array(n), more = new Float64Array(n), next = numbers(s);
	names = byId("names").textContent.split("\n");
	colors = byId("colors").textContent.split(" ");
	links = opt.links.split(" ").map(Number);
	style = names.map(next);
	const path = [], goneAt = num("goneFrame");
	for (let i = 0; i < n; i++) {
		const d = (i ? v.depth[i - 1] + 1 : 0) - next(), up = i ? path[d - 1] : 0;
		while (path.length > d)
			v.last[path.pop()] = i;
		v.name[i] = next();
		v.parent[i] = up;
		v.depth[i] = d;
		v.gone[i] = goneAt && (i === goneAt || (d > 1 && v.gone[up])) ? 1 : 0;
		v.begin[i] = (i ? filled[up] : 0) + next();
		v.end[i] = i ? v.end[up] - next() : next();
		filled[up] = v.end[i];
		filled[i] = v.begin[i];
		if (DIFF)
			v.before[i] = next();
		if (WIDE)
			more[i] = next();
		path.push(i);
	}
	while (path.length)
		v.last[path.pop()] = n;
	countOwn(v, more);
	if (WIDE) {
		names.push(GONE);
		style.push(16 + num("gone"));
	}
	if (num("total"))
		v.end[0] = Math.max(v.end[0], num("total") * SCALE);
	base = v;
	for (let i = 0; i < n; i++)
		inherit(v, i, names[v.name[i]], names[v.name[v.parent[i]]]);
	paint(v);
	use(v);
}

// Of each frame the own counts of the slices of time from `first` to `end`.
function ownOfSlices([first, end]) {
	const s = byId("slices").textContent, sum = new Float64Array(base.name.length), unit = num("sliceFactor") * SCALE, next = numbers(s);
	for (let at = 0, more = s.length > 0; more;) {
		at += next();
		for (let n = next(), slice = 0; n > 0; n--) {
			slice += next();
			const count = next();
			if (slice >= first && slice < end)
				sum[at] += count * unit;
		}
		more = next.more();
	}
	return sum;
}

// A function that reads one number after another.
function numbers(s) {
	let at = 0;
	const next = () => {
		let v = 0, unit = 1, d;
		do {
			d = value[s.charCodeAt(at++)];
			v += (d & 31) * unit;
			unit *= 32;
		} while (d & 32);
		return v;
	};
	next.more = () => at < s.length;
	return next;
}

// Own counts, and of a difference those of each side. more: what of the widths is not after.
function countOwn(v, more) {
	const n = v.name.length;
	for (let i = 0; i < n; i++)
		v.own[i] = v.end[i] - v.begin[i];
	for (let i = 0; DIFF && i < n; i++) {
		v.after[i] = v.ownAfter[i] = v.gone[i] ? 0 : v.own[i] - more[i];
		v.ownBefore[i] = v.before[i];
	}
	for (let i = n; --i > 0;) {
		const up = v.parent[i], whole = v.end[i] - v.begin[i];
		v.own[up] -= whole;
		if (!DIFF)
			continue;
		if (v.gone[i] && v.depth[i] === 1) { // the region, which is no part of the whole
			v.after[0] -= whole;
			v.ownAfter[0] -= whole;
			continue;
		}
		v.ownAfter[up] -= v.after[i];
		v.ownBefore[up] -= v.before[i];
	}
}

// The link, and what part of a chain a frame is in, follow from its caller's.
function inherit(v, i, s, up) {
	if (!i || !CHAIN)
		return;
	v.link[i] = v.link[v.parent[i]] + (s === "--" ? 1 : 0);
	v.part[i] = v.part[v.parent[i]] || (Object.hasOwn(ABOVE, up) ? ABOVE[up] : 0);
}

// Colour all frames of a view.
function paint(v) {
	for (let i = 0; i < v.name.length; i++) {
		const s = names[v.name[i]], st = style[v.name[i]];
		if (s === "--" || s === "-")
			v.color[i] = st - 16;
		else if (DIFF)
			v.color[i] = v.gone[i] ? num("gone") : changeColor(v, i);
		else if (st < 16)
			v.color[i] = (v.part[i] === SAMPLE ? num("samples") : v.part[i] ? num("onCpu") :
				links[v.link[i] ? (v.link[i] - 1) % (links.length - 1) + 1 : 0]) + st;
		else
			v.color[i] = st - 16;
	}
}

function ancestorAt(i, d) {
	while (depth[i] > d && i)
		i = parent[i];
	return i;
}
