// SPDX-License-Identifier: GPL-2.0-or-later
// The filters. The page's fragment holds them, beside the graph's own keys, so that a link restores
// the selection.
const place = document.getElementById("filter");
const seconds = (ns) => +(ns / 1e9).toFixed(6);

const whoInput = element("input", { id: "who", type: "search", list: "names", autocomplete: "off", spellcheck: "false",
	placeholder: threads.some((t) => t.cgroup) ? "name, control group, TID or PID" : "name, TID or PID", onchange: (e) => choose({ who: e.target.value.trim() }) });
const fromInput = element("input", { id: "from", type: "number", step: "any", onchange: (e) => chooseTime(e.target.value, toInput.value) });
const toInput = element("input", { id: "to", type: "number", step: "any", onchange: (e) => chooseTime(fromInput.value, e.target.value) });
const overview = element("div", { id: "overview", title: "drag to choose a range of time" });

place.append(element("div", { class: "fields" }, element("label", {}, "Thread ", whoInput), element("label", {}, "From ", fromInput, " s"),
	element("label", {}, "to ", toInput, " s"), element("button", { type: "button", id: "all",
		onclick: () => choose({ who: "", first: 0, end: data.n }) }, "Show all"),
	element("button", { type: "button", id: "keep", onclick: keepRange }, "Compare with this range"),
	element("datalist", { id: "names" }, ...[...new Set(rows.filter((r) => r.thread).flatMap((r) => r.thread.names))].sort()
		.map((s) => element("option", { value: s })))), overview,
element("p", { class: "note" }, "Green: threads at work, of all CPUs; orange: threads that were runnable or preempted. Drag to choose a range, in steps of " +
	time(data.step) + "; a wait counts in the step in which it ended. Causes, graphs and tables follow. A name selects all threads that ever had it."));

// The steps that contain a range in seconds; an invalid number means the start, or the end.
function stepsOf(from, to) {
	const at = (s) => s === "" ? NaN : (s * 1e9 - data.from) / data.step;
	const first = Math.max(0, Math.min(data.n - 1, Math.floor(at(from) + 1e-3) || 0));
	const end = Math.ceil(at(to) - 1e-3);
	return { first, end: Math.max(first + 1, Math.min(data.n, Number.isNaN(end) ? data.n : end)) };
}
const chooseTime = (from, to) => choose(stepsOf(from, to));

// The one thread name that the filter matches; "" if it matches several or none.
function oneName() {
	if (!shown.who)
		return "";
	const exact = threads.some((t) => t.names.includes(shown.who));
	const names = new Set(rows.filter((r) => fits(r.thread)).map(name));
	return exact ? shown.who : names.size === 1 ? [...names][0] : "";
}

// Changes the filter and the fragment, and draws everything again.
function choose(change) {
	Object.assign(shown, change);
	const keys = { who: shown.who, from: shown.first > 0 ? String(seconds(rangeFrom())) : "", to: shown.end < data.n ? String(seconds(rangeTo())) : "" };
	// A thread selected in the graph itself stays when another filter changes.
	if ("who" in change)
		Object.assign(keys, { thread: oneName(), "ran.thread": document.getElementById("ran") ? oneName() : "" });
	if ("who" in change && keys.thread !== inAddress("thread"))
		Object.assign(keys, { zoom: "", path: "", "ran.zoom": "", "ran.path": "" });
	intoAddress(keys);
	showAll();
}

function showOverview() {
	const width = Math.max(200, overview.clientWidth), height = 54;
	const x = (i) => width * (stepFrom(i) - data.from) / (data.to - data.from || 1);
	const svg = drawn("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": "work over time" });
	const load = Array.from({ length: data.n }, (_, i) => [0, 2].map((k) =>
		shownRows().reduce((sum, r) => sum + r.steps[i][k] + (k ? r.steps[i][3] : 0), 0) / (stepFrom(i + 1) - stepFrom(i) || 1)));
	const most = Math.max(shown.who ? 0 : data.cpus, 1e-6, ...load.map(([run, wait]) => run + wait));
	load.forEach(([run, wait], i) => {
		const h = (v) => (height - 4) * v / most, w = Math.max(0.5, x(i + 1) - x(i) - 0.5);
		svg.append(drawn("rect", { class: "running", x: x(i), y: height - h(run), width: w, height: h(run) }),
			drawn("rect", { class: "runnable", x: x(i), y: height - h(run + wait), width: w, height: h(wait) }));
	});
	for (const [from, to] of groups(data.losses, 4)) {
		const at = (ns) => width * (ns - data.from) / (data.to - data.from || 1);
		svg.append(drawn("rect", { class: "loss", x: at(from), y: 0, width: Math.max(2, at(to) - at(from)), height: 5 },
			drawn("title", {}, "events were lost here")));
	}
	svg.append(drawn("rect", { class: "out", x: 0, y: 0, width: x(shown.first), height }),
		drawn("rect", { class: "out", x: x(shown.end), y: 0, width: Math.max(0, width - x(shown.end)), height }));
	overview.replaceChildren(svg);
}

function stepAt(event) {
	const box = overview.getBoundingClientRect();
	const at = (event.clientX - box.left) / box.width * (data.to - data.from) / data.step;
	return Math.max(0, Math.min(data.n - 1, Math.floor(at)));
}
let dragFrom = -1;
overview.addEventListener("pointerdown", (e) => {
	dragFrom = stepAt(e);
	overview.setPointerCapture(e.pointerId);
	e.preventDefault();
});
overview.addEventListener("pointermove", (e) => {
	if (dragFrom < 0)
		return;
	const k = stepAt(e);
	Object.assign(shown, { first: Math.min(dragFrom, k), end: Math.max(dragFrom, k) + 1 });
	showOverview();
});
for (const end of ["pointerup", "pointercancel"])
	overview.addEventListener(end, () => {
		if (dragFrom >= 0)
			choose({});
		dragFrom = -1;
	});

// What stands above a table is of what the filter has chosen: these words, while there is one.
const captions = new Map();
function sayCaption(section, words) {
	const p = document.getElementById(section + "-said");
	if (!captions.has(p))
		captions.set(p, p.textContent);
	p.textContent = isFiltered() ? words : captions.get(p);
}

function showAll() {
	whoInput.value = shown.who;
	fromInput.value = seconds(rangeFrom());
	toInput.value = seconds(rangeTo());
	showOverview();
	showLanes();
	showWaits();
	showThreads();
	showLengths();
	showWakers();
	showCauses();
	sayCauses();
	showCompared();
	showGraphs();
}

// Sets the filter from the fragment: a link, or the browser's history. True if it changed.
function readFragment() {
	const p = new URLSearchParams(location.hash.slice(1)), before = JSON.stringify(shown);
	Object.assign(shown, { who: p.get("who") || "" }, stepsOf(p.get("from") || "", p.get("to") || ""));
	return before !== JSON.stringify(shown);
}
addEventListener("hashchange", () => {
	if (readFragment())
		showAll();
});
let knownWidth = list.clientWidth;
addEventListener("resize", () => {
	if (list.clientWidth === knownWidth)
		return;
	knownWidth = list.clientWidth;
	showOverview();
	showLanes();
	showWaits();
	showStrips();
	if (requestView)
		showRequests();
});

readFragment();
// Opens one wait at the start: the example of the largest cause that has one here.
const opened = data.causes.find((i) => i >= 0 && isShown(data.waits[i]));
if (opened !== undefined)
	showFirst(opened);
if (shown.who)
	choose({});
else
	showAll();
showStrips();
document.querySelector(".report").classList.add("live");
onAddress("against", showCompared)();
onAddress("at", (before, now) => goToSection(now))();
lookForWait();
lookForCause();
