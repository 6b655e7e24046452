// SPDX-License-Identifier: GPL-2.0-or-later
// Text about a frame: time, share, link, waker.

// As svg_count() in C: no decimals, two below 100, three digits of what is less than 0.01.
function commas(v) {
	const whole = v === Math.floor(v) || Math.abs(v) >= 100;
	if (!whole && Math.abs(v) < 0.01)
		return String(Number(v.toPrecision(3)));
	return v.toLocaleString("en-US", { minimumFractionDigits: whole ? 0 : 2,
		maximumFractionDigits: whole ? 0 : 2 });
}

function count(t) {
	const v = t / SCALE * num("factor"), units = ["ns", "us", "ms", "s"];
	let u = units.indexOf(opt.count), handy = v;
	if (u < 0 || u > 2 || v < 1000)
		return commas(v) + " " + opt.count;
	for (; u < 3 && handy >= 1000; u++)
		handy /= 1000;
	return (handy < 999.5 ? handy.toPrecision(3) : commas(Math.round(handy))) + " " + units[u] +
		" (" + commas(v) + " " + opt.count + ")";
}

function percent(part, whole) {
	return (whole ? 100 * part / whole : 0).toFixed(2) + "%";
}

// The wakers whose link frame i is part of: names by decreasing time.
function wakers(i) {
	const found = new Map();
	let steps = 0, whole = 0;
	for (let j = i; j < last[i] && steps < 50000; steps++) {
		const here = j > i && (names[name[j]] === "--" || isEnd(j));
		if (!here && last[j] > j + 1) {
			j++;
			continue;
		}
		const who = byInterrupt(j) ? "an interrupt" : nameInLink(here ? parent[j] : j);
		found.set(who, (found.get(who) || 0) + time(j));
		whole += time(j);
		j = last[j];
	}
	const list = [...found].sort((a, b) => b[1] - a[1]);
	return list.slice(0, 3).map(([who, t]) => list.length > 1 ?
		who + " " + percent(t, whole) : who).join(", ") +
		(list.length > 3 ? " and " + (list.length - 3) + " more" : "");
}

// The waker's name in the link that ends in frame j. Usually this is frame j. With
// chainwalk --blocked-stacks the stack in which the waker slept follows the name, which is then the
// frame before the second `-`, or, for a kernel thread, before the only one:
// kernel - user NAME - user - kernel, or kernel NAME - kernel.
function nameInLink(j) {
	const before = [];
	let i = j;
	for (; names[name[i]] !== "--" && i; i = parent[i])
		if (names[name[i]] === "-")
			before.unshift(parent[i]);
	if (!SLEPT.test(names[name[j]]) || !before.length)
		return names[name[j]];
	return names[name[before[before.length > 1 ? 1 : 0]]];
}

// The last frame of the off-CPU stack below frame i; i itself if it is in that stack.
function waitOf(i) {
	let j = i;
	while (link[j])
		j = parent[j];
	return j;
}

function describe(i) {
	const lines = [count(shown(i)) + ", " + percent(shown(i), shareOf(i)) + " of all, own " + count(own[i])];
	if (!i && num("leftOut"))
		lines.push(commas(num("leftOut")) + " frames are not in this file: --max-frames keeps more");
	if (view.gone[i])
		lines.push(num("negate") ? "only after: it is new" : "only before: nothing of it is left after");
	else if (DIFF)
		lines.push(changeLine(i));
	if (state.zoom && i >= state.zoom && i < last[state.zoom] && i !== state.zoom)
		lines.push(percent(time(i), time(state.zoom)) + " of " + short(label(state.zoom), 40));
	if (chainView() && i) {
		const thread = ancestorAt(i, 1);
		if (endOf(view, i))
			lines.push(ENDS[endKey(names[name[i]])]);
		if (link[i]) {
			let j = i;
			while (part[j]) // above an end: down to it
				j = parent[j];
			const woke = byInterrupt(j) ? "an interrupt" : isEnd(j) ? nameInLink(parent[j]) : isDelim(j) && j + 1 < last[j] ?
				wakers(j + 1) : wakers(j);
			lines.push("link " + link[i] + ", waker " + short(woke, 80));
			lines.push(percent(time(i), time(waitOf(i))) + " of this wait of " +
				short(names[name[thread]], 40));
		} else if (part[i] === HAD_CPU) {
			if (!endOf(view, i))
				lines.push("had the CPU that " + short(names[name[thread]], 40) + " waited for");
		} else if (i !== thread) {
			lines.push((part[i] === ON_CPU || names[name[i]] === "[on-CPU]" ? "CPU time of " : "off-CPU stack of ") +
				short(names[name[thread]], 40));
		}
	}
	return lines;
}

// Does the view show chains from the sleeper on?
function chainView() {
	return CHAIN && !state.leaves && !state.sandwich;
}

function short(s, most) {
	const chars = s.length > most ? Array.from(s.slice(0, most * 2)) : null;
	return chars && chars.length > most ? chars.slice(0, most - 2).join("") + ".." : s;
}

function folded(i) {
	return pathOf(i) + " " + time(i) / SCALE;
}

// An interrupt has no thread name: its link ends with its entry function.
function byInterrupt(i) {
	return isEnd(i) && (names[name[i]] in INTERRUPTS || endKey(names[name[i]]) === "[disk]");
}

// Is this the name of the sleeper, or of a waker, which ends its link?
function isThread(i) {
	return chainView() && depth[i] > 0 && !SLEPT.test(names[name[i]]) && (depth[i] === 1 || (link[i] > 0 && last[i] > i + 1 &&
		(names[name[i + 1]] === "--" || (isEnd(i + 1) && !byInterrupt(i + 1)))));
}
