// SPDX-License-Identifier: GPL-2.0-or-later
// The frames: parallel arrays in preorder, decoded from the document (format: render/data.c).

let names, colors, name, parent, depth, begin, end, last, color, link, delta;
const isDelim = (i) => names[name[i]] === "--" || names[name[i]] === "-";
const isEnd = (i) => CHAIN && depth[i] && names[name[i]] in ENDS && last[i] === i + 1;
const bare = (s) => s.replace(/_\[[kwij]\]$/, "");
const label = (i) => bare(names[name[i]]);
const time = (i) => end[i] - begin[i];

function mix(h) {
	h ^= h >>> 16;
	h = Math.imul(h, 0x7feb352d);
	h ^= h >>> 15;
	h = Math.imul(h, 0x846ca68b);
	return (h ^ h >>> 16) >>> 0;
}

function decode() {
	if (names)
		return;
	const s = byId("nodes").textContent, n = num("frames"), diff = "maxDelta" in opt;
	const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+-";
	const value = new Uint8Array(128), links = opt.links.split(" ").map(Number);
	const random = num("random") > 0;
	let at = 0;
	for (let i = 0; i < 64; i++)
		value[digits.charCodeAt(i)] = i;
	const next = () => {
		let v = 0, unit = 1, d;
		do {
			d = value[s.charCodeAt(at++)];
			v += (d & 31) * unit;
			unit *= 32;
		} while (d & 32);
		return v;
	};
	const signed = () => {
		const v = next();
		return v % 2 ? -(v + 1) / 2 : v / 2;
	};
	names = byId("names").textContent.split("\n");
	colors = byId("colors").textContent.split(" ");
	const style = names.map(next);
	[name, parent, depth, last, color, link] = [1, 2, 3, 4, 5, 6].map(() => new Uint32Array(n));
	begin = new Float64Array(n);
	end = new Float64Array(n);
	delta = diff ? new Float64Array(n) : null;
	const path = [], filled = [], delim = names.map((s) => s === "--" ? 2 : s === "-" ? 1 : 0);
	for (let i = 0; i < n; i++) {
		let d = (i ? depth[i - 1] + 1 : 0) - next();
		while (path.length > d)
			last[path.pop()] = i;
		const up = i ? path[d - 1] : 0, id = next(), st = style[id];
		name[i] = id;
		parent[i] = up;
		depth[i] = d;
		link[i] = (i ? link[up] : 0) + (CHAIN && delim[id] === 2 ? 1 : 0);
		begin[i] = (i ? filled[d - 1] : 0) + next();
		end[i] = i ? end[up] - next() : next();
		if (i)
			filled[d - 1] = end[i];
		filled[d] = begin[i];
		path.push(i);
		let own = 0;
		if (diff) {
			own = signed() / SCALE;
			delta[i] = signed();
		}
		if (delim[id])
			color[i] = st - 16;
		else if (diff)
			color[i] = isGone(i) ? num("gone") : diffColor(own);
		else if (st < 16)
			color[i] = links[link[i] ? (link[i] - 1) % (links.length - 1) + 1 : 0] + st;
		else
			color[i] = random ? (st - 16 & ~15) + mix(i) % 16 : st - 16;
	}
	while (path.length)
		last[path.pop()] = n;
	if (num("total"))
		end[0] = Math.max(end[0], num("total") * SCALE);
}

// Is frame i in the region of the stacks that only the first of two inputs has?
function isGone(i) {
	return delta && i > 0 && names[name[ancestorAt(i, 1)]] === opt.goneName;
}

function ancestorAt(i, d) {
	while (depth[i] > d)
		i = parent[i];
	return i;
}

function diffColor(d) {
	const strength = Math.min(1, Math.abs(d) / num("maxDelta"));
	return num((d > 0) !== !!num("negate") ? "more" : "less") + Math.round(strength * 15);
}
