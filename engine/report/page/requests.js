// SPDX-License-Identifier: GPL-2.0-or-later
// Requests: of the endpoint that is chosen in the table, how many took how long. Dragging over that chooses
// some of them: where their time went, beside that of all, and a list, in which each opens its timeline.
const requestView = document.getElementById("requests-view");
// endpoint: its number; first, end: steps of its latencies
const asked = { endpoint: 0, first: 0, end: 0, most: 10, open: new Set() };
const HISTOGRAM = 120, HISTOGRAM_AXIS = 16;

const endpoint = () => data.endpoints[asked.endpoint];
const sumOf = (list, first = 0, end = list.length) => list.slice(first, end).reduce((sum, v) => sum + v, 0);
const chosenCount = () => sumOf(endpoint().counts, asked.first, asked.end);

// The step in which a latency is.
function latencyStep(e, ns) {
	const i = e.edges.findIndex((edge) => ns < edge);
	return i < 0 ? e.counts.length - 1 : Math.max(0, i - 1);
}

// The steps of the slowest, those that the terminal explains.
const slowestSteps = (e) => ({ first: e.slowest, end: e.counts.length });

// Changes what is chosen, and the fragment: the endpoint by its name, latencies by their edges.
function ask(change) {
	if ("endpoint" in change && change.endpoint !== asked.endpoint)
		Object.assign(asked, slowestSteps(data.endpoints[change.endpoint]), { most: 10 });
	Object.assign(asked, change);
	const e = endpoint(), slowest = slowestSteps(e);
	intoAddress({ "to-endpoint": asked.endpoint ? text(e.name) : "",
		took: asked.first === slowest.first && asked.end === slowest.end ? "" : e.edges[asked.first] + "-" + e.edges[asked.end] });
	showRequests();
}

function readAsked() {
	const p = new URLSearchParams(location.hash.slice(1));
	const i = Math.max(0, data.endpoints.findIndex((e) => text(e.name) === p.get("to-endpoint")));
	const e = data.endpoints[i], took = /^(\d+)-(\d+)$/.exec(p.get("took") || "");
	Object.assign(asked, { endpoint: i, most: 10 }, slowestSteps(e));
	if (took) {
		const first = latencyStep(e, +took[1]);
		Object.assign(asked, { first, end: Math.max(first + 1, latencyStep(e, +took[2] - 1) + 1) });
	}
}

// ---- the histogram: both axes are logarithmic, so that the few slow ones are seen

function latencyWords(first, end) {
	const e = endpoint();
	return time(e.edges[first]) + " to " + time(e.edges[end]);
}

function drawLatencies() {
	const e = endpoint(), width = Math.max(280, requestView.clientWidth - 2), step = width / e.counts.length;
	const top = Math.log2(1 + Math.max(1, ...e.counts)), height = HISTOGRAM + HISTOGRAM_AXIS;
	const svg = drawn("svg", { width, height, viewBox: `0 0 ${width} ${height}` });
	e.counts.forEach((n, i) => {
		const h = n ? Math.max(3, (HISTOGRAM - 4) * Math.log2(1 + n) / top) : 0;
		svg.append(drawn("rect", { class: i >= asked.first && i < asked.end ? "latency chosen" : "latency", x: i * step, y: HISTOGRAM - h,
			width: Math.max(1, step - 1), height: h }, drawn("title", {}, latencyWords(i, i + 1) + ": " + n)));
	});
	const every = Math.ceil(70 / step);
	for (let i = 0; i <= e.counts.length; i += every)
		svg.append(drawn("line", { class: "mark", x1: i * step, x2: i * step, y1: HISTOGRAM, y2: HISTOGRAM + 4 }),
			drawn("text", { x: i * step, y: height - 2, "text-anchor": i ? i * step > width - 30 ? "end" : "middle" : "start" }, time(e.edges[i])));
	return svg;
}

const latencies = element("div", { id: "latencies", title: "drag to choose how long requests took", role: "group", tabindex: 0,
	"aria-label": "how many requests took how long; arrow keys move the chosen range, with shift its end" });
let latencyFrom = -1;

function latencyAt(event) {
	const box = latencies.getBoundingClientRect();
	return Math.max(0, Math.min(endpoint().counts.length - 1, Math.floor((event.clientX - box.left) / box.width * endpoint().counts.length)));
}
latencies.addEventListener("pointerdown", (e) => {
	latencyFrom = latencyAt(e);
	latencies.setPointerCapture(e.pointerId);
	e.preventDefault();
});
latencies.addEventListener("pointermove", (e) => {
	if (latencyFrom < 0)
		return;
	const k = latencyAt(e);
	Object.assign(asked, { first: Math.min(latencyFrom, k), end: Math.max(latencyFrom, k) + 1 });
	latencies.replaceChildren(drawLatencies());
});
latencies.addEventListener("pointerup", (e) => {
	const k = latencyAt(e), from = latencyFrom;
	latencyFrom = -1;
	if (from >= 0)
		ask({ first: Math.min(from, k), end: Math.max(from, k) + 1 });
});
latencies.addEventListener("pointercancel", () => { latencyFrom = -1; });
// Arrows move the range, with shift its end.
latencies.addEventListener("keydown", (e) => {
	const step = { ArrowRight: 1, ArrowLeft: -1 }[e.key], n = endpoint().counts.length;
	if (!step)
		return;
	e.preventDefault();
	const end = asked.end + step, first = e.shiftKey ? asked.first : asked.first + step;
	if (first >= 0 && end <= n && first < end)
		ask({ first, end });
});

// ---- where the time of the chosen ones went

function whereTable() {
	const e = endpoint(), of = (ns) => sumOf(ns, asked.first, asked.end);
	const all = sumOf(e.where.map((r) => sumOf(r.ns))), chosen = sumOf(e.where.map((r) => of(r.ns)));
	const rows = e.where.map((r) => ({ what: text(r.text), ns: of(r.ns), share: all ? 100 * sumOf(r.ns) / all : 0 }))
		.filter((r) => r.ns).sort((a, b) => b.ns - a.ns);
	const few = rows.slice(0, 12), rest = rows.slice(12);
	if (rest.length)
		few.push({ what: rest.length + " more, each with less than any above", ns: sumOf(rest.map((r) => r.ns)), share: sumOf(rest.map((r) => r.share)) });
	const n = chosenCount();
	return element("table", { class: "where" }, element("thead", {}, element("tr", {}, ...["Share", "Each", "Of all requests", "Where their time went, for the thread that answered"]
		.map((s) => element("th", {}, s)))), element("tbody", {}, ...few.map((r) => {
		const share = chosen ? 100 * r.ns / chosen : 0;
		const bar = drawn("svg", { class: "share", width: 80, height: 10, viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true" },
			drawn("rect", { class: "chosen", width: share, height: 10 }), drawn("rect", { class: "all", x: Math.max(0, r.share - 0.7), width: 1.4, height: 10 }));
		return element("tr", {}, numberCell(share.toFixed(3), percent(share, 100)), timeCell(n ? Math.round(r.ns / n) : 0),
			numberCell(r.share.toFixed(3), percent(r.share, 100)), element("td", {}, bar, " ", isolated(r.what)));
	})));
}

// ---- the ends of their chains: of those that the page has one by one

function endsOf(some) {
	const sums = new Map();
	for (const { wait } of some)
		for (const [lane, end, ns, n] of groups(wait.parts, 5)) {
			const l = wait.lanes[lane], who = l.thread === undefined ? laneName(l) : text(l.name), key = who + " " + end;
			const sum = sums.get(key) || sums.set(key, { who, end, ns: 0, n: 0, places: [], interrupted: 0, ran: new Map() }).get(key);
			sum.ns += ns;
			sum.n += n;
			if (data.ends[end] !== "[running]")
				continue;
			sum.interrupted += l.interrupted || 0;
			for (const [k, samples, , stack] of groups(wait.ran, 4))
				if (k === lane)
					sum.ran.set(stack, (sum.ran.get(stack) || 0) + samples);
		}
	return [...sums.values()].sort((a, b) => b.ns - a.ns);
}

function endRow(all, n, ns, ...words) {
	const share = all ? 100 * ns / all : 0;
	return element("tr", {}, numberCell(share.toFixed(3), percent(share, 100)), timeCell(n ? Math.round(ns / n) : 0), element("td", {}, ...words));
}

// What has at least 0.5 % of `all`, `most` at most, as row(it) makes a row of each; and what the others have together.
function endRows(list, all, n, most, row) {
	const few = list.filter(({ ns }) => ns * 200 >= all).slice(0, most), left = all - sumOf(few.map(({ ns }) => ns)), more = list.length - few.length;
	return [...few.map(row), ...more ? [endRow(all, n, left, more + " more, each with less than any above")] : []];
}

// Of the slowest: all of them, as the first screen adds them up.
const endsOfSlowest = (e, n) => endRows([...groups(e.ends, 4)].map(([who, at, words, ns]) => ({ who, at, words, ns })), e.endsNs, n, Infinity, ({ who, at, words, ns }) =>
	endRow(e.endsNs, n, ns, element("b", {}, isolated(text(who))), " ", isolated(text(words)), ...text(at) ? [" in ", element("code", {}, isolated(text(at)))] : []));

function endsOfSome(some) {
	const all = sumOf(some.map((r) => r.wait.blocked));
	return endRows(endsOf(some), all, some.length, 8, (s) => {
		const samples = sumOf([...s.ran.values()]), ran = [...s.ran].sort((a, b) => b[1] - a[1]).slice(0, 2).map(([stack, n]) => ({ n, all: samples, stack }));
		const each = (ns) => Math.round(ns / some.length);
		return endRow(all, some.length, s.ns, element("b", {}, isolated(s.who)), " " + partWords({ ...s, ns: each(s.ns), interrupted: each(s.interrupted) }, ran));
	});
}

const isSlowest = (e) => asked.first === e.slowest && asked.end === e.counts.length;

function endsTable(some) {
	const e = endpoint(), n = chosenCount(), whole = isSlowest(e) && e.ends.length > 0, rows = whole ? endsOfSlowest(e, n) : endsOfSome(some);
	const of = whole || some.length === n ? "What they came down to" : "What " + some.length + " of them came down to, which the page has one by one";
	return element("table", { class: "where came-down" }, element("thead", {}, element("tr", {}, ...["Share", "Each", of]
		.map((s) => element("th", {}, s)))), element("tbody", {}, ...rows));
}

// Opens one in the list, chosen by its endpoint and its latency if it is not among the chosen ones.
function openRequest(r) {
	if (asked.endpoint !== r.endpoint || !chosenRequests().includes(r)) {
		const step = latencyStep(data.endpoints[r.endpoint], r.took);
		ask({ endpoint: r.endpoint, first: step, end: step + 1 });
	}
	asked.open.add(r);
	asked.most = Math.max(asked.most, 1 + chosenRequests().indexOf(r));
	intoAddress({ request: String(data.requests.indexOf(r)) });
	showRequests();
	const row = document.getElementById("request-" + data.requests.indexOf(r));
	row.scrollIntoView({ block: "start" });
	row.querySelector("button").focus({ preventScroll: true });
}

// ---- the list

const laneOf = (w, slept) => {
	const wake = [...groups(w.wakes, 5)].find((a) => a[4] === slept && a[2] === 0);
	return wake ? laneName(w.lanes[wake[1]]) : "";
};
const REQUEST_COLUMNS = [["Took", (r) => r.took], ["Arrived at", (r) => r.wait.start], ["Queued", (r) => r.queued],
	["Answered by", (r) => laneOf(r.wait, ANSWERED)], ["Mostly", (r) => mostly(r.wait)], ["Label", (r) => text(r.label)], ["Trace", (r) => text(r.trace)]];

// Columns in which nothing stands are left out.
const columnsOf = (some) => REQUEST_COLUMNS.filter(([name, value]) => !/^(Label|Trace)$/.test(name) || some.some(value));

const requestsOf = (i) => data.requests.filter((r) => r.endpoint === i);
const chosenRequests = () => requestsOf(asked.endpoint).filter((r) => {
	const step = latencyStep(endpoint(), r.took);
	return step >= asked.first && step < asked.end;
});

function requestRow(r, columns) {
	const open = asked.open.has(r), number = data.requests.indexOf(r), row = element("tr", { class: open ? "is-open" : "", id: "request-" + number });
	const button = element("button", { type: "button", class: "open", "aria-expanded": String(open), onclick: () => {
		if (!asked.open.delete(r))
			asked.open.add(r);
		intoAddress({ request: open ? "" : String(number) });
		showRequests();
	} }, time(r.took));
	row.append(element("td", { "data-ns": String(r.took) }, button), element("td", { "data-ns": String(r.wait.start) }, when(r.wait.start)),
		timeCell(r.queued), ...columns.slice(3).map(([, value]) => element("td", {}, isolated(value(r)))));
	return row;
}

function requestList(some) {
	const columns = columnsOf(some), body = element("tbody");
	const table = element("table", { class: "asked" }, element("thead", {}, element("tr", {}, ...columns.map(([s]) => element("th", {}, s)))), body);
	for (const r of some.slice(0, asked.most)) {
		const row = requestRow(r, columns);
		body.append(row);
		if (!asked.open.has(r))
			continue;
		openWait(r.wait, row, showRequests);
		row.nextSibling.cells[0].append(element("p", { class: "note" }, element("code", {}, text(r.command))));
	}
	const parts = [element("div", { class: "scroll", tabindex: 0 }, table)];
	if (some.length > asked.most)
		parts.push(element("button", { type: "button", class: "more", onclick: () => { asked.most += 20; showRequests(); } },
			"Show more: " + (some.length - asked.most) + " are left"));
	if (some.length < chosenCount())
		parts.push(element("p", { class: "note" }, "The page has " + some.length + " of these " + chosenCount() +
			" one by one: the slowest, and some of each step."));
	return some.length ? parts : parts.slice(1);
}

function showRequests() {
	const e = endpoint(), n = chosenCount(), all = sumOf(e.counts), button = (words, range) => element("button", { type: "button",
		class: "more", onclick: () => ask(range) }, words);
	[...document.querySelectorAll("#requests .endpoints tbody tr")].forEach((row) =>
		row.classList.toggle("chosen", row.dataset.endpoint === String(asked.endpoint)));
	latencies.replaceChildren(drawLatencies());
	const said = element("p", { class: "note", role: "status" }, n + " of " + all + " requests to ", isolated(text(e.name)), " took " +
		latencyWords(asked.first, asked.end) + ". The height is the logarithm of their number. Drag to choose others. ", button("The slowest", slowestSteps(e)), " ",
	button("All", { first: 0, end: e.counts.length }));
	// What is dragged over stays in the document, or the pointer would lose it.
	if (latencies.parentNode !== requestView)
		requestView.replaceChildren(latencies);
	while (latencies.nextSibling)
		latencies.nextSibling.remove();
	const some = chosenRequests();
	requestView.append(said, element("div", { class: "scroll", tabindex: 0 }, whereTable()));
	if (some.length)
		requestView.append(element("div", { class: "scroll", tabindex: 0 }, endsTable(some)));
	requestView.append(...requestList(some));
}

if (requestView) {
	const table = document.querySelector("#requests .endpoints table");
	[...table.tBodies[0].rows].forEach((row, i) => {
		const name = row.cells[0].firstChild;
		row.dataset.endpoint = i;
		row.cells[0].replaceChildren(element("button", { type: "button", class: "open", onclick: () => ask({ endpoint: i }) }, name));
	});
	sortable(table);
	copyable(document.getElementById("requests"), () => rowsOfTable(table));
	readAsked();
	showRequests();
	onAddress("request", (before, now) => {
		asked.open.delete(data.requests[before]);
		const r = now === "" ? undefined : data.requests[now];
		if (r && !asked.open.has(r))
			openRequest(r);
		else
			showRequests();
	})();
	addEventListener("hashchange", () => {
		const before = JSON.stringify([asked.endpoint, asked.first, asked.end]), most = asked.most;
		readAsked();
		if (JSON.stringify([asked.endpoint, asked.first, asked.end]) !== before)
			showRequests();
		else
			asked.most = most;
	});
}
