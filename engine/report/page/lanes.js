// SPDX-License-Identifier: GPL-2.0-or-later
// All threads over time, one lane each: who ran, was runnable, waited. The lanes show the chosen range; dragging over
// them chooses a part of it, a click on a name that thread alone.
const LANE_HIGH = 16, LANES_SHOWN = 24;
const laneBox = document.getElementById("lanes");
const laneDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+-";
let lanesShown = LANES_SHOWN;

const columnFrom = (i) => data.from + (data.to - data.from) * i / data.columns;

// Of a column of a lane: sevenths of it in which the thread ran, and in which it was runnable or preempted; null: the
// thread did not exist. what: "unknown" if that is most of it.
function laneCell(lane, i) {
	const v = laneDigits.indexOf(lane[i]);
	return lane[i] === "." ? null : v < 0 ? { ran: 0, ready: 0, what: "unknown" } : { ran: v >> 3, ready: v & 7 };
}

// Columns of equal content are one rectangle. Returns a path for each state.
function lanePaths(lane, first, end, x, y) {
	const d = { blocked: "", running: "", runnable: "", unknown: "" };
	for (let i = first, next; i < end; i = next) {
		for (next = i + 1; next < end && lane[next] === lane[i];)
			next++;
		const cell = laneCell(lane, i), high = LANE_HIGH - 3, left = x(i).toFixed(1), wide = Math.max(0.7, x(next) - x(i)).toFixed(1);
		const put = (what, below, h) => { d[what] += `M${left} ${(y + high - below - h).toFixed(1)}h${wide}v${h.toFixed(1)}h-${wide}z`; };
		if (!cell)
			continue;
		if (cell.what) {
			put("unknown", 0, high);
			continue;
		}
		const ran = high * cell.ran / 7, ready = Math.min(high - ran, high * cell.ready / 7);
		put("blocked", 0, 3);
		if (ran)
			put("running", 0, ran);
		if (ready)
			put("runnable", ran, ready);
	}
	return d;
}

function laneWords(r, i) {
	const cell = laneCell(r.row.lane, i), part = (n) => percent(n, 7);
	const at = name(r) + (r.thread ? " (" + r.thread.tid + ")" : "") + ", " + when(columnFrom(i)) + ": ";
	if (!cell)
		return at + "it did not exist";
	if (cell.what)
		return at + "unknown: events are missing";
	const said = [cell.ran ? "ran " + part(cell.ran) : "", cell.ready ? "was runnable " + part(cell.ready) : ""].filter((s) => s);
	return at + (said.length ? "about " + said.join(", ") + " of " + time((data.to - data.from) / data.columns) : "waited");
}

// Rows in the order of the table of threads: those of the recorded command first, most work first.
function laneRows() {
	return shownRows().filter((r) => r.thread && r.row.lane).map((r) => ({ r, ran: sums(r).times[0] }))
		.sort((a, b) => rowGroup(a.r) - rowGroup(b.r) || b.ran - a.ran).map(({ r }) => r);
}

let laneDrag = null; // the steps between which the pointer is held
function showLanes() {
	const all = laneRows(), some = all.slice(0, lanesShown), width = Math.max(280, laneBox.clientWidth), column = Math.min(180, Math.round(width * 0.28));
	const height = AXIS + LANE_HIGH * some.length + 4, first = Math.floor(data.columns * shown.first / data.n), end = Math.ceil(data.columns * shown.end / data.n);
	const from = rangeFrom(), to = rangeTo(), scale = (width - column - 4) / (to - from || 1);
	const x = (i) => column + scale * (Math.min(to, Math.max(from, columnFrom(i))) - from);
	const svg = drawn("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": "all threads over time" });
	for (const at of marks(from, to, Math.max(2, (width - column) / 120))) {
		const here = column + scale * (at - from);
		svg.append(drawn("line", { class: "mark", x1: here, x2: here, y1: AXIS - 4, y2: height }),
			drawn("text", { x: here, y: 11, "text-anchor": here > width - 40 ? "end" : "middle" }, seconds(at) + " s"));
	}
	some.forEach((r, k) => {
		const y = AXIS + LANE_HIGH * k + 2, room = Math.floor(column / 7), label = name(r) + " " + r.thread.tid;
		const g = drawn("g", { class: "lane-row", "data-tid": r.thread.tid });
		g.append(drawn("text", { class: "lane", x: 0, y: y + 10, tabindex: 0, role: "button", "aria-label": label + " alone" },
			label.length > room ? name(r).slice(0, room - 2 - String(r.thread.tid).length) + "… " + r.thread.tid : label,
			drawn("title", {}, name(r) + " (" + r.thread.tid + "): this thread alone")));
		for (const [what, d] of Object.entries(lanePaths(r.row.lane, first, end, x, y)))
			if (d)
				g.append(drawn("path", { class: what, d }));
		svg.append(g);
	});
	const mark = drawn("rect", { class: "dragged", y: AXIS - 4, height: height - AXIS + 4, width: 0 }), said = element("p", { class: "said", role: "status" }, "");
	svg.append(mark);
	listenLanes(svg, mark, said, { some, column, from, scale });
	const more = all.length > some.length ? [element("button", { type: "button", class: "more", onclick: () => { lanesShown *= 4; showLanes(); } },
		"Show more: " + (all.length - some.length) + " threads are left")] : [];
	laneBox.replaceChildren(svg, said, ...more, ...all.length ? [] : [element("p", { class: "note" }, "No thread fits.")]);
}

function listenLanes(svg, mark, said, { some, column, from, scale }) {
	const at = (e) => {
		const box = svg.getBoundingClientRect(), x = e.clientX - box.left;
		return { x, row: some[Math.floor((e.clientY - box.top - AXIS) / LANE_HIGH)], ns: from + (x - column) / scale };
	};
	const step = (ns) => Math.max(0, Math.min(data.n - 1, Math.floor((ns - data.from) / data.step)));
	const alone = (e) => {
		const row = e.target.closest("text.lane")?.parentNode;
		if (row)
			choose({ who: row.dataset.tid });
		return !!row;
	};
	svg.addEventListener("click", alone);
	svg.addEventListener("keydown", (e) => {
		if ((e.key === "Enter" || e.key === " ") && alone(e))
			e.preventDefault();
	});
	svg.addEventListener("pointerdown", (e) => {
		const { x, ns } = at(e);
		if (x < column || e.button)
			return;
		laneDrag = { x, from: step(ns), to: step(ns) };
		svg.setPointerCapture(e.pointerId);
		e.preventDefault();
	});
	svg.addEventListener("pointermove", (e) => {
		const { x, ns, row } = at(e);
		if (row && x >= column)
			said.textContent = laneWords(row, Math.max(0, Math.min(data.columns - 1, Math.floor((ns - data.from) / (data.to - data.from) * data.columns))));
		if (!laneDrag)
			return;
		laneDrag.to = step(ns);
		mark.setAttribute("x", Math.min(x, laneDrag.x));
		mark.setAttribute("width", Math.abs(x - laneDrag.x));
	});
	for (const event of ["pointerup", "pointercancel"])
		svg.addEventListener(event, (e) => {
			const drag = laneDrag, moved = drag && Math.abs(at(e).x - drag.x) > 4;
			laneDrag = null;
			if (moved && event === "pointerup")
				choose({ first: Math.min(drag.from, drag.to), end: Math.max(drag.from, drag.to) + 1 });
			else
				mark.setAttribute("width", 0);
		});
}
