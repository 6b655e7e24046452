// SPDX-License-Identifier: GPL-2.0-or-later
// One wait with its chain over time: a lane for each thread and interrupt, the waiting thread on top.
// A bar is thick where the wait waited for that thread; an arrow is a wakeup.
const LANE = 30, BAR = 14, THIN = 5, AXIS = 20;

const doing = { running: "runs", blocked: "sleeps", runnable: "waits for a CPU", preempted: "lost its CPU",
	unknown: "not known", many: "many short waits" };

function laneName(lane) {
	if (lane.thread === undefined)
		return lane.handler < 0 ? "interrupt" : "interrupt " + text(lane.handler);
	return text(lane.name) + " (" + threads[lane.thread].tid + ")";
}

// The states of a lane from its birth to its end: between off-CPU intervals the thread runs.
function stretches(lane, from, to) {
	const all = [], [born, gone] = lane.life;
	let at = Math.max(from, born);
	const run = (until) => {
		if (until > at)
			all.push({ from: at, to: until, what: "running" });
	};
	for (const [begin, len, what] of groups(lane.stretches, 3)) {
		run(begin);
		all.push({ from: begin, to: begin + len, what: STATES[what] });
		at = begin + len;
	}
	run(Math.min(to, gone));
	return all;
}

function drawLane(g, lane, windows, y, x, from, to) {
	const bar = (s, begin, end, height, soft) => {
		if (end <= begin)
			return;
		const rect = drawn("rect", { class: s.what + (soft ? " soft" : ""), x: x(begin), y: y - height / 2,
			width: Math.max(0.6, x(end) - x(begin)), height });
		rect.append(drawn("title", {}, laneName(lane) + " " + doing[s.what] + ": " + time(s.to - s.from)));
		g.append(rect);
	};
	for (const s of stretches(lane, from, to)) {
		bar(s, s.from, s.to, THIN, true);
		for (const [begin, end] of windows)
			bar(s, Math.max(s.from, begin), Math.min(s.to, end), BAR, false);
	}
}

function drawArrow(g, at, fromY, toY, title) {
	const dir = toY < fromY ? -1 : 1, tip = toY - dir * BAR / 2, tail = fromY + dir * BAR / 2;
	g.append(drawn("g", { class: "arrow" }, drawn("title", {}, title),
		drawn("line", { class: "hit", x1: at, y1: tail, x2: at, y2: tip }),
		drawn("line", { x1: at, y1: tail, x2: at, y2: tip - dir * 5 }),
		drawn("path", { d: `M${at} ${tip}l-4 ${-dir * 7}h8z` })));
}

const wakeWords = (w, [at, waker, wakee, stack, slept]) =>
	laneName(w.lanes[waker]) + (slept < 0 ? " started " : " woke ") + laneName(w.lanes[wakee]) +
	" at +" + (at ? time(at) : "0") + ", from " + text(stack) +
	(slept < 0 ? "" : "; it had slept in " + text(slept));

// If there are many lanes, those that took less than a 200th of the wait.
function smallLanes(w) {
	const took = w.lanes.map(() => 0);
	for (const [lane, , len] of groups(w.windows, 3))
		took[lane] += len;
	for (const [lane, , ns] of groups(w.parts, 3))
		took[lane] = Math.max(took[lane], ns);
	return new Set(w.lanes.length <= 8 ? [] : w.lanes.map((_, i) => i).filter((i) => i && took[i] * 200 < length(w)));
}

function drawWait(w, width, hidden) {
	const [from, to] = w.drawn, column = Math.min(210, Math.round(width * 0.3));
	const x = (ns) => column + (width - column - 6) * (ns - from) / (to - from || 1);
	// Threads first, interrupts last.
	const order = w.lanes.map((_, i) => i).filter((i) => !hidden.has(i)).sort((a, b) =>
		(w.lanes[a].thread === undefined) - (w.lanes[b].thread === undefined) || a - b);
	const y = [];
	order.forEach((lane, k) => { y[lane] = AXIS + LANE * k + LANE / 2 + 4; });
	const height = AXIS + LANE * order.length + 6;
	const svg = drawn("svg", { class: "timeline", width, height, viewBox: `0 0 ${width} ${height}`, role: "img",
		"aria-label": "who did what during this wait" });

	for (const at of marks(from, to, Math.max(2, (width - column) / 110))) {
		svg.append(drawn("line", { class: "mark", x1: x(at), x2: x(at), y1: AXIS - 4, y2: height }),
			drawn("text", { x: x(at), y: 11, "text-anchor": x(at) > width - 30 ? "end" : "middle" },
				at ? (at > 0 ? "+" : "") + time(at) : "0"));
	}
	const windows = w.lanes.map(() => []);
	for (const [lane, begin, len] of groups(w.windows, 3))
		windows[lane].push([begin, begin + len]);
	// The thread's own time in the run queue is part of its wait.
	windows[0].push([w.blocked, length(w)]);
	for (const i of order) {
		const lane = w.lanes[i], label = laneName(lane), room = Math.floor(column / (i ? 7 : 7.7));
		svg.append(drawn("text", { class: i ? "lane" : "lane first", x: 0, y: y[i] + 4 },
			label.length > room ? label.slice(0, room - 1) + "…" : label, drawn("title", {}, label)));
		if (lane.thread !== undefined)
			drawLane(svg, lane, windows[i], y[i], x, from, to);
		else
			svg.append(drawn("line", { class: "mark", x1: column, x2: width, y1: y[i], y2: y[i] }));
	}
	for (const wake of groups(w.wakes, 5))
		if (!hidden.has(wake[1]) && !hidden.has(wake[2]))
			drawArrow(svg, x(wake[0]), y[wake[1]], y[wake[2]], wakeWords(w, wake));
	return svg;
}

// The meaning of the colours.
const legend = () => element("p", { class: "legend note" }, ...[["running", "works"], ...STATES.map((s) => [s, doing[s]])]
	.map(([s, words]) => element("span", {}, drawn("svg", { width: 16, height: 10, "aria-hidden": "true" },
		drawn("rect", { class: s, width: 16, height: 10 })), " " + words)),
	element("span", {}, "thick: what this wait waited for; arrow: a wakeup"));

const endWords = { "[running]": "ran", "[runnable]": "had no CPU", "[interrupt]": "",
	"[unknown]": "did what is not known", "[not woken]": "was never woken", "[depth limit]": "slept; more links than were followed",
	"[loop]": "is in this chain already", "[many short waits]": "slept many times, too short to be drawn" };

// Where the time went, largest first; then the wakeups in the order of time.
function wordsOf(w) {
	const parts = [...groups(w.parts, 3)].map(([lane, end, ns]) =>
		({ who: laneName(w.lanes[lane]), what: endWords[data.ends[end]] ?? data.ends[end], ns }));
	if (w.off)
		parts.push({ who: laneName(w.lanes[0]), what: w.preempted ? "lost its CPU" : "had no CPU, after it was woken", ns: w.off });
	parts.sort((a, b) => b.ns - a.ns);
	const rest = parts.splice(10);
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
