// SPDX-License-Identifier: GPL-2.0-or-later
// One wait with its chain over time: a lane for each thread and interrupt, the waiting thread on top.
// A bar is thick where the wait waited for that thread; an arrow is a wakeup.
const LANE = 30, BAR = 14, THIN = 5, AXIS = 20;

const doing = { running: "runs", blocked: "sleeps", runnable: "is runnable", preempted: "is preempted",
	unknown: "unknown", many: "short sleeps", "many-ready": "mostly has no CPU", "many-runs": "mostly runs" };

function laneName(lane) {
	if (lane.thread === undefined) // "timer hrtimer_wakeup"
		return data.ends[lane.end].slice(1, -1) + (lane.handler < 0 ? "" : " " + text(lane.handler));
	return text(lane.name) + " (" + threads[lane.thread].tid + ")";
}

// The rows of the picture: a lane each, but threads of one name, three or more, are one row ("worker x 6")
// unless they are to be seen one by one. Threads first, interrupts last. Lane 0 is always a row.
const CONVOY = 3;

function rowsOf(w, apart) {
	const byName = new Map(), rows = [];
	w.lanes.forEach((lane, i) => {
		const key = lane.thread === undefined || !i || apart ? "lane " + i : "name " + lane.name;
		if (!byName.has(key))
			rows.push(byName.set(key, { lanes: [] }).get(key));
		byName.get(key).lanes.push(i);
	});
	const all = rows.flatMap((r) => r.lanes.length < CONVOY ? r.lanes.map((i) => ({ lanes: [i] })) : [r]);
	for (const r of all)
		r.label = r.lanes.length > 1 ? text(w.lanes[r.lanes[0]].name) + " x " + r.lanes.length : laneName(w.lanes[r.lanes[0]]);
	const isInterrupt = (r) => w.lanes[r.lanes[0]].thread === undefined;
	return all.sort((a, b) => isInterrupt(a) - isInterrupt(b) || a.lanes[0] - b.lanes[0]);
}

// The states of a lane from its birth to its end: between off-CPU intervals the thread runs.
function stretches(lane, from, to, unit) {
	const all = [], [born, gone] = lane.life;
	let at = Math.max(from, born);
	const run = (until) => {
		if (until > at)
			all.push({ from: at, to: until, what: "running" });
	};
	let end = from;
	for (const [gap, len, what, more] of groups(lane.stretches, 4)) {
		const begin = end + gap * unit;
		end = begin + len * unit;
		run(begin);
		const s = { from: begin, to: end, what: STATES[what] };
		all.push(s.what === "running" ? { ...s, interrupted: more } : { ...s, place: more });
		at = end;
	}
	run(Math.min(to, gone));
	return all;
}

const interruptWords = (ns) => ns ? ", " + time(ns) + " of it in interrupts" : "";
const placeWords = { blocked: " in ", many: ", the longest in ", runnable: ", as ", preempted: ", as " };

function drawLane(g, lane, windows, y, x, [from, to], unit, soft) {
	const bar = (s, begin, end, height, isSoft) => {
		if (end <= begin)
			return;
		const rect = drawn("rect", { class: s.what + (isSoft ? " soft" : ""), x: x(begin), y: y - height / 2,
			width: Math.max(0.6, x(end) - x(begin)), height });
		rect.append(drawn("title", {}, laneName(lane) + " " + doing[s.what] + (s.place >= 0 ? (placeWords[s.what] || " in ") + text(s.place) : "") +
			": " + time(s.to - s.from) + interruptWords(s.interrupted)));
		g.append(rect);
	};
	for (const s of stretches(lane, from, to, unit)) {
		if (soft)
			bar(s, s.from, s.to, THIN, true);
		for (const [begin, end] of windows)
			bar(s, Math.max(s.from, begin), Math.min(s.to, end), BAR, false);
	}
}

// A tick for each sample: what the thread ran then.
function drawSamples(g, lane, y, x) {
	for (const [at, n, stack] of groups(lane.samples || [], 3))
		g.append(drawn("rect", { class: "sample", x: x(at) - 1, y: y + BAR / 2, width: 2, height: 5 },
			drawn("title", {}, laneName(lane) + " ran" + (n > 1 ? ", here " + n + " samples, the first in " : " in ") + text(stack))));
}

function drawArrow(g, at, fromY, toY, title) {
	const dir = toY < fromY ? -1 : 1, tip = toY - dir * BAR / 2, tail = fromY + dir * BAR / 2;
	g.append(drawn("g", { class: "arrow" }, drawn("title", {}, title),
		drawn("line", { class: "hit", x1: at, y1: tail, x2: at, y2: tip }),
		drawn("line", { x1: at, y1: tail, x2: at, y2: tip - dir * 5 }),
		drawn("path", { d: `M${at} ${tip}l-4 ${-dir * 7}h8z` })));
}

// What a wakeup was; slept: where the one that was woken had slept, or one of these.
const STARTED = -1, READ = -2, ANSWERED = -3;

function wakeWords(w, [at, waker, wakee, stack, slept]) {
	const did = { [STARTED]: "started ", [READ]: "read ", [ANSWERED]: "answered " }[slept] || "woke ";
	return laneName(w.lanes[waker]) + " " + did + laneName(w.lanes[wakee]) + " at +" + (at ? time(at) : "0") +
		(stack < 0 ? "" : ", from " + text(stack)) + (slept < 0 ? "" : "; it had slept in " + text(slept));
}

// If there are many rows, those that took less than a 200th of the wait.
function smallRows(w, rows) {
	const took = w.lanes.map(() => 0);
	for (const [lane, , len] of groups(w.windows, 3))
		took[lane] += len;
	for (const [lane, , ns] of groups(w.parts, 5))
		took[lane] = Math.max(took[lane], ns);
	return rows.length <= 8 ? [] : rows.filter((r) => r.lanes[0] && r.lanes.every((i) => took[i] * 200 < length(w)));
}

function drawMarks(svg, from, to, x, column, width, height) {
	for (const at of marks(from, to, Math.max(2, (width - column) / 110))) {
		svg.append(drawn("line", { class: "mark", x1: x(at), x2: x(at), y1: AXIS - 4, y2: height }),
			drawn("text", { x: x(at), y: 11, "text-anchor": x(at) > width - 30 ? "end" : "middle" },
				at ? (at > 0 ? "+" : "") + time(at) : "0"));
	}
}

function drawWait(w, width, rows) {
	const [from, to] = w.drawn, column = Math.min(210, Math.round(width * 0.3));
	const x = (ns) => column + (width - column - 6) * (ns - from) / (to - from || 1);
	const y = [], height = AXIS + LANE * rows.length + 6;
	const svg = drawn("svg", { class: "timeline", width, height, viewBox: `0 0 ${width} ${height}`, role: "group",
		tabindex: 0, "aria-label": "who did what during this wait; arrow keys go through it" });
	drawMarks(svg, from, to, x, column, width, height);
	const windows = w.lanes.map(() => []);
	for (const [lane, begin, len] of groups(w.windows, 3))
		windows[lane].push([begin, begin + len]);
	// The thread's own time in the run queue is part of its wait.
	windows[0].push([w.blocked, length(w)]);
	rows.forEach((row, k) => {
		const at = AXIS + LANE * k + LANE / 2 + 4, room = Math.floor(column / (k ? 7 : 7.7)), label = row.label;
		svg.append(drawn("text", { class: k ? "lane" : "lane first", x: 0, y: at + 4 },
			label.length > room ? label.slice(0, room - 1) + "…" : label, drawn("title", {}, label)));
		const g = drawn("g", { class: "row" });
		svg.append(g);
		// Of several threads each moment shows the last one in the chain: it is drawn last.
		for (const i of row.lanes) {
			y[i] = at;
			if (w.lanes[i].thread === undefined)
				g.append(drawn("line", { class: "mark", x1: column, x2: width, y1: at, y2: at }));
			else
				drawLane(g, w.lanes[i], windows[i], at, x, w.drawn, w.unit, row.lanes.length === 1);
		}
		for (const i of row.lanes)
			drawSamples(g, w.lanes[i], at, x);
	});
	for (const wake of groups(w.wakes, 5))
		// A try of a wait that goes on may end long before the wakeup that ended the wait.
		if (y[wake[1]] && y[wake[2]] && y[wake[1]] !== y[wake[2]] && wake[0] <= to)
			drawArrow(svg, x(wake[0]), y[wake[1]], y[wake[2]], wakeWords(w, wake));
	return svg;
}

// Says below the picture what is under the pointer or the finger, or where the arrow keys have gone.
function explained(svg) {
	const said = element("p", { class: "said", role: "status" }, "");
	let here = null;
	const show = (e) => {
		if (here)
			here.classList.remove("here");
		here = e;
		here.classList.add("here");
		said.textContent = [...e.children].find((c) => c.tagName === "title").textContent;
	};
	const titled = (e) => e.closest(".row > rect, .arrow");
	for (const event of ["pointerover", "pointerdown"])
		svg.addEventListener(event, (e) => { if (titled(e.target)) show(titled(e.target)); });
	const at = (e) => Number((e.querySelector("line") || e).getAttribute(e.querySelector("line") ? "x1" : "x"));
	const parts = (row) => [...row.querySelectorAll("rect:not(.soft)")].sort((a, b) => at(a) - at(b));
	svg.addEventListener("keydown", (e) => {
		const rows = [...svg.querySelectorAll(".row")].filter((r) => parts(r).length);
		const step = { ArrowRight: 1, ArrowLeft: -1 }[e.key], turn = { ArrowDown: 1, ArrowUp: -1 }[e.key];
		if (!rows.length || (!step && !turn))
			return;
		e.preventDefault();
		const row = Math.max(0, rows.findIndex((r) => r.contains(here)));
		if (!here || !rows[row].contains(here))
			return show(parts(rows[0])[0]);
		if (step) {
			const all = parts(rows[row]);
			return show(all[Math.max(0, Math.min(all.length - 1, all.indexOf(here) + step))]);
		}
		const next = parts(rows[Math.max(0, Math.min(rows.length - 1, row + turn))]);
		show(next.reduce((best, p) => Math.abs(at(p) - at(here)) < Math.abs(at(best) - at(here)) ? p : best));
	});
	return said;
}

// The meaning of the colours.
const legend = () => element("p", { class: "legend note" }, ...[["running", "works"], ...STATES.filter((s) => s !== "running" && !s.startsWith("many-")).map((s) => [s, doing[s]])]
	.map(([s, words]) => element("span", {}, drawn("svg", { width: 16, height: 10, "aria-hidden": "true" },
		drawn("rect", { class: s, width: 16, height: 10 })), " " + words)),
	...data.sampled ? [element("span", {}, drawn("svg", { width: 8, height: 10, "aria-hidden": "true" },
		drawn("rect", { class: "sample", x: 3, width: 2, height: 10 })), " a sample: what it ran")] : [],
	element("span", {}, "thick: what this wait waited for; arrow: a wakeup"));

// What a row's threads did: "ran: 61 % in deflate < ..., 20 % in ...".
function partWords({ end, n, places, interrupted, ns }, ran) {
	if (data.ends[end] === "[short sleeps]")
		return "slept " + n + " times" + (places.length ? ", in " + places.map(text).join(", ") : "");
	const words = endWords[data.ends[end]] ?? data.ends[end];
	if (data.ends[end] !== "[running]")
		return words;
	return words + (interrupted * 100 >= ns ? interruptWords(interrupted) : "") + (ran.length ? ": " : "") + ran.map(({ n, all, stack }) => percent(n, all) + " in " + text(stack)).join("; ");
}

// Where the time went by row, largest first.
function partsOf(w, rows) {
	const rowOf = [], sums = new Map();
	rows.forEach((r) => r.lanes.forEach((i) => { rowOf[i] = r; }));
	for (const [lane, end, ns, n, place] of groups(w.parts, 5)) {
		const row = rowOf[lane] || { label: laneName(w.lanes[lane]), lanes: [lane] };
		// Short sleeps are kept apart by what they were.
		const key = row.label + " " + end + " " + (n ? place : "");
		const sum = sums.get(key) || { row, end, ns: 0, n: 0, interrupted: 0,
			places: place >= 0 ? [place] : [] };
		sum.ns += ns;
		sum.n += n;
		sum.interrupted += w.lanes[lane].interrupted || 0;
		sums.set(key, sum);
	}
	const ran = (row) => [...groups(w.ran, 4)].filter(([lane]) => row.lanes.length === 1 && row.lanes[0] === lane)
		.map(([, n, all, stack]) => ({ n, all, stack }));
	const parts = [...sums.values()].map((p) => ({ who: p.row.label, what: partWords(p, ran(p.row)), ns: p.ns }));
	if (w.off)
		parts.push({ who: laneName(w.lanes[0]), what: w.preempted ? "was preempted" : "was runnable after it was woken", ns: w.off });
	return parts.sort((a, b) => b.ns - a.ns);
}

// Where the time went; then the wakeups in the order of time.
function wordsOf(w, rows) {
	const parts = partsOf(w, rows), rest = parts.splice(10);
	if (rest.length)
		parts.push({ who: rest.length + " more", what: "", ns: rest.reduce((sum, p) => sum + p.ns, 0) });
	const list = element("ul", { class: "parts" }, ...parts.map((p) => element("li", {},
		element("b", {}, time(p.ns)), " ", element("span", { class: "note" }, percent(p.ns, length(w))), " ",
		isolated(p.who), p.what ? " " + p.what : "")));
	const wakes = [...groups(w.wakes, 5)].sort((a, b) => a[0] - b[0]);
	const story = element("ol", { class: "story" }, ...wakes.slice(-12).map((wake) =>
		element("li", {}, wakeWords(w, wake))));
	return element("div", { class: "words" }, element("h4", {}, "Where the time went"), list,
		wakes.length ? element("h4", {}, "Who woke whom" + (wakes.length > 12 ? ", the last 12 times" : "")) : "",
		wakes.length ? story : "");
}
