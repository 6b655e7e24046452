// SPDX-License-Identifier: GPL-2.0-or-later
// The strip of a wait or request: one bar as long as it took, in which each stretch is of the one whom it waited for
// then, the last in the chain. A slow one and the usual one have the same axis.
const STRIP = 44, STRIP_GAP = 26, NARROWEST = 3; // px; narrower stretches are not gone to by keyboard

// The windows of a wait in the order in which the chain goes on, lane 0 first.
function windowsOf(w) {
	return [[0, 0, length(w)], ...[...groups(w.windows, 3)].map(([lane, begin, len]) => [lane, begin, begin + len]), [0, w.blocked, length(w)]];
}

// Of a command: which process had the time when.
function pathOfLife(w) {
	return [...groups(w.path, 4)].map(([from, len, who, end]) => {
		const word = data.ends[end].slice(1, -1);
		return { from, to: from + len, who: who < 0 ? laneName(w.lanes[0]) : text(who), what: doing[word] ? word : "blocked" };
	});
}

// { from, to, lane or who, what, place }: they follow each other, from 0 to the wait's length.
function pathOfWait(w) {
	if (w.path)
		return pathOfLife(w);
	const windows = windowsOf(w), path = [];
	const states = w.lanes.map((lane) => lane.thread === undefined ? null : stretches(lane, ...w.drawn, w.unit));
	const edges = [...new Set([...windows.flatMap(([, from, to]) => [from, to]), ...states.flatMap((all) => all ? all.flatMap((s) => [s.from, s.to]) : [])])]
		.filter((ns) => ns >= 0 && ns <= length(w)).sort((a, b) => a - b);
	for (let i = 0; i + 1 < edges.length; i++) {
		const from = edges[i], to = edges[i + 1];
		const lane = windows.reduce((last, [k, begin, end]) => begin <= from && end >= to ? k : last, 0);
		const s = states[lane]?.find((at) => at.from <= from && at.to >= to), what = states[lane] ? s?.what || "unknown" : "end";
		const before = path[path.length - 1];
		if (before && before.lane === lane && before.what === what && before.place === s?.place)
			before.to = to;
		else
			path.push({ from, to, lane, what, place: s?.place });
	}
	return path;
}

const didWords = (w, s) => (s.what === "end" ? "" : doing[s.what]) + (s.place >= 0 ? (placeWords[s.what] || " in ") + text(s.place) : "");
const whoseStretch = (w, s) => s.who ?? laneName(w.lanes[s.lane]);
// Alike in two requests, whichever thread of the name it was.
const alikeKey = (w, s) => (w.lanes[s.lane].thread === undefined ? laneName(w.lanes[s.lane]) : text(w.lanes[s.lane].name)) + " " + didWords(w, s);

// By what it did, how much longer it took than in the usual one: those with a tenth of the difference at least.
function grown(slow, usual) {
	const sums = new Map(), more = length(slow) - length(usual);
	for (const [w, sign] of [[slow, 1], [usual, -1]])
		for (const s of pathOfWait(w))
			sums.set(alikeKey(w, s), (sums.get(alikeKey(w, s)) || 0) + sign * (s.to - s.from));
	return new Map([...sums].filter(([, ns]) => ns > 0 && 10 * ns >= more).sort((a, b) => b[1] - a[1]));
}

// As it is drawn: stretches that are alike are one, also with what is narrower than a pixel between them.
function joinedPath(path, x) {
	const all = [];
	let between = [];
	for (const s of path) {
		const last = all[all.length - 1];
		if (last && x(s.to) - x(s.from) < 1) {
			between.push(s);
			continue;
		}
		if (last && last.lane === s.lane && last.who === s.who && last.what === s.what && last.place === s.place)
			last.to = s.to;
		else
			all.push(...between, { ...s });
		between = [];
	}
	return [...all, ...between];
}

// One bar of the strip. marked: which stretches are longer than usual; act: what a click does.
function stripBar(w, y, x, marked, act) {
	const g = drawn("g", { class: "strip-bar" });
	for (const s of joinedPath(pathOfWait(w), x)) {
		const wide = x(s.to) - x(s.from), who = whoseStretch(w, s), words = who + " " + didWords(w, s) + ": " + time(s.to - s.from);
		const grew = marked?.has(alikeKey(w, s));
		const rect = drawn("rect", { class: s.what + (wide < 2 ? " thin" : ""), x: x(s.from), y, width: Math.max(0.6, wide), height: STRIP },
			drawn("title", {}, words + (grew ? ", longer than usual" : "")));
		if (act && wide >= NARROWEST)
			for (const [key, value] of Object.entries({ tabindex: 0, role: "button", "aria-label": words }))
				rect.setAttribute(key, value);
		if (grew)
			g.append(drawn("line", { class: "grew", x1: x(s.from), x2: x(s.to), y1: y + STRIP + 3, y2: y + STRIP + 3 }));
		g.append(rect);
		const room = Math.floor((wide - 6) / 7.4); // 4 px before it, and 2 px after it
		if (room > 3)
			g.append(drawn("text", { class: "on-" + s.what, x: x(s.from) + 4, y: y + STRIP / 2 + 4 }, who.length > room ? who.slice(0, room - 1) + "\u2026" : who));
	}
	if (!act)
		return g;
	g.addEventListener("click", () => act(w));
	g.addEventListener("keydown", (e) => {
		if (e.key !== "Enter" && e.key !== " ")
			return;
		e.preventDefault();
		act(w);
	});
	return g;
}

// bars: [words, wait] each, of which the first is compared with the second, if there is one.
function drawStrip(bars, width, act) {
	const most = Math.max(...bars.map(([, w]) => length(w)), 1), x = (ns) => 1 + (width - 2) * ns / most;
	const high = AXIS + bars.length * (STRIP + STRIP_GAP), marked = bars.length > 1 ? grown(bars[0][1], bars[1][1]) : null;
	const svg = drawn("svg", { class: "strip", width, height: high, viewBox: `0 0 ${width} ${high}`, role: "group",
		"aria-label": "who had the time, in its order" });
	bars.forEach(([words, w], k) => {
		const y = k * (STRIP + STRIP_GAP);
		if (words)
			svg.append(drawn("text", { class: "strip-words", x: 0, y: y + STRIP_GAP - 7 }, words + ": " + time(length(w))));
		svg.append(stripBar(w, y + (words ? STRIP_GAP : 0), x, k ? null : marked, act));
	});
	const axis = high - 6;
	for (const at of marks(0, most, Math.max(2, width / 110)))
		svg.append(drawn("line", { class: "mark", x1: x(at), x2: x(at), y1: axis - 14, y2: axis - 9 }),
			drawn("text", { class: "strip-words", x: x(at), y: axis + 2, "text-anchor": at ? x(at) > width - 30 ? "end" : "middle" : "start" }, at ? time(at) : "0"));
	return { svg, marked };
}
