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

// Times and percentages have three digits and a blank before the unit; as include/common/figures.c writes them.
const threeDigits = (v) => v.toFixed(Math.abs(v) >= 99.95 ? 0 : Math.abs(v) >= 9.995 ? 1 : 2);

function timeWords(ns) {
	const size = Math.abs(ns), [unit, name] = [[1e9, "s"], [1e6, "ms"], [1e3, "\u00b5s"]].find(([u]) => size >= u * 0.9995) || [1, "ns"];
	return !size ? "0" : (unit === 1 && size === Math.floor(size) ? String(ns) : threeDigits(ns / unit)) + " " + name;
}

function percent(part, whole) {
	const p = whole ? 100 * part / whole : 0;
	return (!p ? "0" : Math.abs(p) < 0.005 ? "<0.01" : threeDigits(p)) + " %";
}

// A count with its unit; of a unit of time "1.00 ms".
function count(t) {
	const v = t / SCALE * num("factor"), unit = { ns: 1, us: 1e3, ms: 1e6, s: 1e9 }[opt.count];
	return unit ? timeWords(v * unit) : commas(v) + " " + opt.count;
}

// The wakers whose link frame i is part of: names by decreasing time.
function wakers(i) {
	const found = new Map();
	let steps = 0, whole = 0;
	for (let j = i; j < last[i] && steps < 50000; steps++) {
		if (name[j] === rest) {
			j++;
			continue;
		}
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

// The frame with the waker's name in the link that ends in frame j. Usually this is frame j. With
// chainwalk --blocked-stacks the stack in which the waker slept follows the name, which is then the
// frame before the second `-`, or, for a kernel thread, before the only one:
// kernel - user NAME - user - kernel, or kernel NAME - kernel.
function nameFrame(j) {
	const before = [];
	for (let i = j; names[name[i]] !== "--" && i; i = parent[i])
		if (names[name[i]] === "-")
			before.unshift(parent[i]);
	return before.length > 1 ? before[1] : before.length && SLEPT.test(names[name[j]]) ? before[0] : j;
}

const nameInLink = (j) => names[name[nameFrame(j)]];

// The last frame of the off-CPU stack below frame i; i itself if it is in that stack.
function waitOf(i) {
	let j = i;
	while (link[j])
		j = parent[j];
	return j;
}

// What was waited for, by the class of the object.
const THINGS = { tcp: "a TCP socket", udp: "a UDP socket", unix: "a Unix socket", socket: "a socket", pipe: "a pipe", file: "a file",
	futex: "a lock or condition (futex)", epoll: "an event (epoll)", poll: "an event (poll)", select: "an event (select)", eventfd: "an eventfd",
	timerfd: "a timer", sleep: "time to pass", child: "a child process", signal: "a signal", GIL: "the interpreter's lock (GIL)", io_uring: "an io_uring" };
const UPSIDE_DOWN = "its stack stands upside down: first the function that woke, at the end the waker's name.";

// The frames of the widest chain through frame i, from the sleeper to the end.
function widestChain(i) {
	const path = [];
	for (let j = i; j && !view.group[j]; j = parent[j])
		path.push(j);
	path.reverse();
	for (let j = i; j + 1 < last[j];) {
		let best = firstCallee(j);
		for (let k = best; k < last[j]; k = last[k])
			if (name[k] !== rest && time(k) > time(best))
				best = k;
		if (best >= last[j])
			break;
		path.push(j = best);
	}
	return path;
}

// "for a TCP socket in read": what the sleeper of a chain waited for, and its function that did so. in main, of which that
// function is a callee: "in main for a TCP socket (read)".
function waitedFor(path, inside) {
	let thing = "", place = "", kernel = false;
	for (const j of path.slice(1)) {
		const s = names[name[j]], object = OBJECT.exec(s);
		if (link[j] || isEnd(j))
			break;
		if (object)
			thing = " for " + (THINGS[object[1]] || object[1]);
		else if (!kernel && s !== "-" && !SLEEPS.test(label(j)))
			place = " in " + short(label(j), 40);
		kernel = kernel || object || s === "-";
	}
	const leaf = inside && place.replace(/^ in /, "");
	return inside ? " in " + inside + thing + (leaf && leaf !== inside ? " (" + leaf + ")" : "") : thing + place;
}

// Is it a function of a sleeper or of a waker?
const isFunction = (i) => depth[i] > 1 && !view.group[i] && !part[i] && !isDelim(i) && !isEnd(i) && !isThread(i) && !OBJECT.test(names[name[i]]);

// "cart waited for a TCP socket in read; nginx woke it.": the widest chain through a frame.
function sentence(i) {
	const s = names[name[i]];
	if (!chainView() || !i)
		return "";
	if (view.group[i])
		return "Threads of " + short(s.replace(/: threads$/, ""), 40) + ".";
	if (s === "--")
		return (rootOnTop() ? "Below" : "Above") + " this: who ended the wait; " + UPSIDE_DOWN;
	if (name[i] === rest)
		return "Frames too narrow to be among those that the file has; --max-frames keeps more.";
	if (s === "-")
		return "Between functions of the program and of the kernel.";
	const path = widestChain(i), who = short(names[name[path[0]]], 40), near = Math.max(1, link[i]);
	const inside = isFunction(i) ? short(label(i), 40) : "";
	if (part[i] === ON_CPU || s === "[on-CPU]")
		return who + " ran.";
	// Who woke the thread before, or why nobody did: by the last frame of that link, or an end.
	let says = "", told = path[path.length - 1], before = who;
	for (let k = 1; k < path.length && !says; k++) {
		const j = path[k], next = path[k + 1], over = (next === undefined && last[j] === j + 1) || names[name[next]] === "--" || isEnd(next);
		const woke = link[j] && over && !part[j] && !isEnd(j) && !isDelim(j) && short(nameInLink(j), 40);
		if (woke && link[j] < near)
			before = woke;
		else if (woke && part[i] === SAMPLE)
			return woke + " ran this while " + before + " waited.";
		else if (woke || isEnd(j))
			says = "; " + (woke && !(next && byInterrupt(next)) ? (woke === before ? "another " : "") + woke + " woke it" +
				(inside && link[j] === link[i] ? " in " + inside : "") : ENDS[endKey(names[name[woke ? next : j]])]);
		if (says)
			told = j;
	}
	const most = time(told) / time(i);
	return (near > 1 ? before + ", for which " + who + " waited, had waited itself" :
		who + (s === "[preempted]" ? " was preempted" : " waited" + waitedFor(path, link[i] ? "" : inside))) + says +
		(most < 0.995 ? " (" + percent(most, 1) + " of this frame)." : ".");
}

function describe(i) {
	const says = sentence(i), lines = says ? [says] : [];
	lines.push(count(shown(i)) + ", " + percent(shown(i), shareOf(i)) + " of all, own " + count(own[i]));
	if (!i && num("leftOut"))
		lines.push(commas(num("leftOut")) + " frames are not in this file: --max-frames keeps more");
	if (view.gone[i])
		lines.push(num("negate") ? "only after: it is new" : "only before: nothing of it is left after");
	else if (DIFF)
		lines.push(changeLine(i));
	if (state.zoom && i >= state.zoom && i < last[state.zoom] && i !== state.zoom)
		lines.push(percent(time(i), time(state.zoom)) + " of " + short(label(state.zoom), 40));
	if (chainView() && i && !view.group[i]) {
		const thread = headOf(i);
		if (endOf(view, i) && !says.includes(ENDS[endKey(names[name[i]])]))
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

// The frames up to i, the root's side first.
const stackLines = (i) => pathOf(i).split(";").join("\n") + "\n";

function folded(i) {
	return pathOf(i) + " " + time(i) / SCALE;
}

// An interrupt has no thread name: its link ends with its entry function.
function byInterrupt(i) {
	return isEnd(i) && endKey(names[name[i]]) in INTERRUPTS;
}

// Is this the name of the sleeper, or of a waker, which ends its link?
function isThread(i) {
	const above = firstCallee(i);
	return chainView() && depth[i] > 0 && !SLEPT.test(names[name[i]]) && (isHead(i) || (link[i] > 0 && last[i] > above &&
		(names[name[above]] === "--" || (isEnd(above) && !byInterrupt(above))) && nameFrame(i) === i));
}
