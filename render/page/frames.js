// SPDX-License-Identifier: GPL-2.0-or-later
// The frames: parallel arrays in preorder. `base` is what the document has (format: render/data.c);
// views.js makes others of the same kind from it. The globals below are those of the view shown.

let names, colors, style, links, base, view;
let name, parent, depth, begin, end, last, link, part, own, color;
// What the file does not have of a frame's callees is a frame, too: the first of them, in the base without width.
// This name has an id of its own, as an input may have it as well.
const REST = "narrow frames that are not in this file";
let rest = -1;
const isRest = (v, i) => v.name[i] === rest;
const isDelim = (i) => names[name[i]] === "--" || names[name[i]] === "-" || name[i] === rest; // no function
// The first of frame i's callees, if it has any.
const firstCallee = (i) => i + 1 < last[i] && name[i + 1] === rest ? i + 2 : i + 1;
const SAMPLE = 1, ON_CPU = 2, HAD_CPU = 3; // .part: what stands above these ends
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
		color: new Uint32Array(n), part: new Uint8Array(n), gone: new Uint8Array(n),
		closes: new Uint8Array(n), // is it an end of a chain?
		group: new Uint8Array(n) }; // does it group the threads of a process?
	for (const k of ["name", "parent", "depth", "last", "link"])
		v[k] = new Uint32Array(n);
	if (DIFF)
		for (const k of ["before", "after", "ownBefore", "ownAfter"])
			v[k] = new Float64Array(n);
	return v;
}

function decode() {
	const s = byId("nodes").textContent, next = numbers(s), left = byId("rest") ? decodeRest() : [];
	const n = num("frames") + left.length, v = newFrames(n);
	const filled = new Float64Array(n), more = new Float64Array(n);
	names = byId("names").textContent.split("\n");
	colors = byId("colors").textContent.split(" ");
	links = opt.links.split(" ").map(Number);
	style = names.map(next);
	rest = names.push(REST) - 1;
	style.push(16 + colors.push("#d0d0d0") - 1);
	const path = [], goneAt = num("goneFrame");
	for (let i = 0, k = 0, at = 0, d = -1; i < n; i++, at++) { // at: its number in the file
		d += 1 - next();
		const up = i ? path[d - 1] : 0;
		while (path.length > d)
			v.last[path.pop()] = i;
		v.name[i] = next();
		v.parent[i] = up;
		v.depth[i] = d;
		v.gone[i] = goneAt && (at === goneAt || (d > 1 && v.gone[up])) ? 1 : 0;
		v.begin[i] = (i ? filled[up] : 0) + next();
		v.end[i] = i ? v.end[up] - next() : next();
		filled[up] = v.end[i];
		filled[i] = v.begin[i];
		if (DIFF)
			v.before[i] = next();
		if (WIDE)
			more[i] = next();
		path.push(i);
		if (k === left.length || left[k].at !== at)
			continue;
		i++;
		v.name[i] = rest;
		v.parent[i] = i - 1;
		v.depth[i] = d + 1;
		v.last[i] = i + 1;
		v.gone[i] = v.gone[i - 1] && d ? 1 : 0;
		v.begin[i] = v.end[i] = v.begin[i - 1];
		v.own[i] = left[k].counts;
		more[i] = left[k].more;
		if (DIFF)
			v.before[i] = left[k].before;
		k++;
	}
	while (path.length)
		v.last[path.pop()] = n;
	countOwn(v, more);
	v.rest = v.own.reduce((sum, t, i) => sum + (isRest(v, i) && !v.gone[i] ? t : 0), 0);
	if (WIDE) {
		names.push(GONE);
		style.push(16 + num("gone"));
	}
	if (num("total"))
		v.end[0] = Math.max(v.end[0], num("total") * SCALE);
	base = v;
	inherit(v);
	paint(v);
	use(v);
}

// Of which frames callees are not in the file, and their counts.
function decodeRest() {
	const next = numbers(byId("rest").textContent), list = [];
	for (let at = 0; next.more();) {
		at += next();
		list.push({ at, counts: next(), before: DIFF ? next() : 0, more: WIDE ? next() : 0 });
	}
	return list;
}

// Own and total counts by name of all frames, also of those that are not in the file: rows of the table.
function decodeSums() {
	const next = numbers(byId("sums").textContent), list = [];
	while (next.more()) {
		const k = next(), self = next(), whole = next(), before = DIFF ? [next(), next()] : [];
		const sides = state.compare === "total" ? [before[1], whole] : [before[0], self];
		if (num("negate"))
			sides.reverse();
		list.push({ name: bare(names[k]), self, whole, before: sides[0], after: sides[1] });
	}
	return list;
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
		v.own[i] = isRest(v, i) ? v.own[i] : v.end[i] - v.begin[i];
	const wide = v.own.slice();
	for (let i = 0; DIFF && i < n; i++) {
		v.after[i] = v.ownAfter[i] = v.gone[i] ? 0 : v.own[i] - more[i];
		v.ownBefore[i] = v.before[i];
	}
	for (let i = n; --i > 0;) {
		const up = v.parent[i], whole = wide[i];
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

// The link, what part of a chain a frame is in, and whether it is an end follow from the frames below and above it.
function inherit(v) {
	const n = v.name.length, on = new Uint8Array(n); // is there a `--` above it?
	for (let i = n; CHAIN && --i > 0;)
		if (on[i] || names[v.name[i]] === "--")
			on[v.parent[i]] = 1;
	for (let i = 1; i < n && CHAIN; i++) {
		const s = names[v.name[i]], up = v.parent[i], below = names[v.name[up]];
		v.link[i] = v.link[up] + (s === "--" ? 1 : 0);
		v.part[i] = v.part[up] || (v.closes[up] && Object.hasOwn(ABOVE, below) && ABOVE[below] || 0);
		v.closes[i] = isEndAt(s, v.part[i], v.last[i] === i + 1, !on[i]) ? 1 : 0;
	}
}

// Colour all frames of a view.
function paint(v) {
	for (let i = 0; i < v.name.length; i++) {
		const s = names[v.name[i]], st = style[v.name[i]];
		if (s === "--" || s === "-")
			v.color[i] = st - 16;
		else if (DIFF && !isRest(v, i))
			v.color[i] = v.gone[i] ? num("gone") : changeColor(v, i);
		else if (st < 16 || (CHAIN && !v.closes[i] && endKey(s))) // a function may be named as an end: colors.c
			v.color[i] = (v.part[i] === SAMPLE ? num("samples") : v.part[i] ? num("onCpu") :
				links[v.link[i] ? (v.link[i] - 1) % (links.length - 1) + 1 : 0]) + (st < 16 ? st : 8);
		else
			v.color[i] = st - 16;
	}
}

// Is it the name of a thread that waited, at the beginning of a stack?
const isHead = (i) => i > 0 && !view.group[i] && (!parent[i] || view.group[parent[i]] > 0);

// The head of the stack that frame i is in; of a group and of the root itself.
function headOf(i) {
	while (i && !isHead(i) && !view.group[i])
		i = parent[i];
	return i;
}
