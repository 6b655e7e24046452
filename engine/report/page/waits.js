// SPDX-License-Identifier: GPL-2.0-or-later
// The list of waits; each opens its timeline.
const PAGE = 50;
const list = document.getElementById("waits-list");
// first: the wait on top; whole, apart: waits with all their rows, with each thread in a row of its own
const showing = { idle: false, unwoken: false, most: PAGE, first: -1, open: new Set(), whole: new Set(), apart: new Set() };

const unwoken = (w) => !!(w.flags & NOT_WOKEN);

function endedBy(w) {
	if (w.preempted)
		return "";
	if (unwoken(w))
		return "nobody";
	if (w.flags & NO_WAKING)
		return "unknown";
	const last = [...groups(w.wakes, 5)].find((wake) => wake[2] === 0);
	return last ? laneName(w.lanes[last[1]]) : "";
}

// The row and state with the largest share of the wait.
function mostly(w) {
	let most = ["", 0];
	for (const [lane, end, ns] of groups(w.parts, 5))
		if (ns > most[1])
			most = [laneName(w.lanes[lane]) + (endWords[data.ends[end]] === "" ? "" : " " + data.ends[end]), ns];
	if (w.off > most[1])
		most = [laneName(w.lanes[0]) + (w.preempted ? " [preempted]" : " [runnable]"), w.off];
	return percent(most[1], length(w)) + " " + most[0];
}

// Below its row; again: shows the table anew.
function openWait(w, row, again = () => showWaits()) {
	const cell = element("td", { colspan: row.cells.length }), width = Math.max(280, list.clientWidth - 20);
	const rows = rowsOf(w, showing.apart.has(w)), small = showing.whole.has(w) ? [] : smallRows(w, rows);
	const svg = drawWait(w, width, rows.filter((r) => !small.includes(r)));
	const more = (set, words) => element("button", { type: "button", class: "more", onclick: () => { set.add(w); again(); } }, words);
	cell.append(drawStrip([["", w]], width).svg, svg, explained(svg));
	if (small.length)
		cell.append(more(showing.whole, "Show also the " + small.length + " who took less than 0.5 % of it"));
	if (rows.some((r) => r.lanes.length > 1))
		cell.append(more(showing.apart, "Show each thread in a row of its own"));
	cell.append(wordsOf(w, rows));
	row.after(element("tr", { class: "opened" }, cell));
}

const COLUMNS = [["Length", length], ["Began at", (w) => w.start], ["Thread", (w) => text(w.name) + " " + threads[w.thread].tid],
	["Slept in", (w) => w.flags & NEW ? "its first run" : text(w.place)], ["Woken by", endedBy], ["Mostly", mostly]];

function waitRow(w, index) {
	const open = showing.open.has(index);
	const button = element("button", { type: "button", class: "open", "aria-expanded": String(open),
		onclick: () => {
			if (!showing.open.delete(index))
				showing.open.add(index);
			intoAddress({ wait: open ? "" : String(index) });
			showWaits();
		} }, time(length(w)));
	const cells = COLUMNS.slice(3).map(([, value]) => element("td", {}, isolated(value(w))));
	cells[0].className = "stack";
	if (!(w.flags & NEW))
		cells[0].title = text(w.stack);
	return element("tr", { class: open ? "is-open" : "", id: "wait-" + index }, element("td", { "data-ns": String(length(w)) }, button),
		element("td", { "data-ns": String(w.start) }, when(w.start)),
		element("td", {}, isolated(text(w.name)), " ", element("span", { class: "note" }, String(threads[w.thread].tid))), ...cells);
}

function choice(key, label, count) {
	return element("label", {}, element("input", { type: "checkbox", checked: showing[key], id: "waits-" + key,
		disabled: !count, onchange: (e) => { showing[key] = e.target.checked; showWaits(); } }),
		" " + label + " (" + count + ")");
}

// The one on top; the recorded command's; those of other programs; those whose waker is unknown.
const waitGroup = ([w, i]) => i === showing.first ? -1 : w.flags & NO_WAKING ? 3 : threads[w.thread].group;

function sortWaits(some, order) {
	if (order.column < 0)
		return some.sort((a, b) => waitGroup(a) - waitGroup(b) || length(b[0]) - length(a[0]));
	const value = COLUMNS[order.column][1];
	return some.sort(([a], [b]) => (order.down ? -1 : 1) * ascending(value(a), value(b)));
}

const waitTable = element("table", {}, element("thead", {}, element("tr", {}, ...COLUMNS.map(([s]) => element("th", {}, s)))),
	element("tbody"));
const waitOrder = sortable(waitTable, () => showWaits());

function shownWaits() {
	const all = data.waits.map((w, i) => [w, i]).filter(([w]) => isShown(w));
	const some = all.filter(([w, i]) => i === showing.first || (w.idle ? showing.idle : showing.unwoken || !unwoken(w)));
	return { all, some: sortWaits(some, waitOrder) };
}

copyable(document.getElementById("waits"), () => [["Length (ns)", "Began at (ns)", "TID", "Thread", ...COLUMNS.slice(3).map(([s]) => s)],
	...shownWaits().some.map(([w]) => [length(w), w.start, threads[w.thread].tid, text(w.name),
		...COLUMNS.slice(3).map(([, value]) => value(w))])]);

function showWaits() {
	const { all, some } = shownWaits(), body = waitTable.tBodies[0];
	const idle = all.filter(([w]) => w.idle).length, asleep = all.filter(([w]) => !w.idle && unwoken(w)).length;

	body.replaceChildren();
	showOrder(waitTable);
	const whole = shownRows().reduce((sum, r) => sum + sums(r).waits, 0), ended = all.filter(([w]) => endsIn(w)).length;
	sayCaption("waits", ended + " of the " + whole + " waits that fit the filter" + (all.length > ended ? ", and " + (all.length - ended) + " that ended later" : "") +
		". Choose one to see its chain in time.");
	list.replaceChildren(element("p", { class: "choices" }, choice("idle", "also waits for work", idle),
		choice("unwoken", "also sleepers that nobody woke", asleep)), legend(), element("div", { class: "scroll", tabindex: 0 }, waitTable));
	for (const [w, i] of some.slice(0, showing.most)) {
		const row = waitRow(w, i);
		body.append(row);
		if (showing.open.has(i))
			openWait(w, row);
	}
	if (!some.length)
		list.append(element("p", { class: "note" }, "None of the listed waits fits."));
	if (some.length > showing.most)
		list.append(element("button", { type: "button", onclick: () => { showing.most += PAGE; showWaits(); } },
			"Show more: " + (some.length - showing.most) + " are left"));
}

// Opens a wait on top of the list.
function showFirst(i) {
	showing.first = i;
	showing.open.add(i);
}

const lookForWait = onAddress("wait", (before, now) => {
	showing.open.delete(before === "" ? -1 : +before);
	if (now !== "" && data.waits[now] && !showing.open.has(+now))
		showExample(+now);
	else
		showWaits();
});

// ---- the table of causes: each with the wait that has the largest part of it

function showExample(i) {
	showFirst(i);
	waitOrder.column = -1;
	choose(isShown(data.waits[i]) ? {} : { who: "", first: 0, end: data.n });
	intoAddress({ wait: String(i) });
	const row = document.getElementById("wait-" + i);
	row.scrollIntoView({ block: "center" });
	row.querySelector("button").focus({ preventScroll: true });
}

// A row of the table of causes, by its number: a link marks it.
const causeRows = [...document.querySelectorAll("#causes tbody tr")];
function markCause(before, now) {
	causeRows[before]?.classList.remove("chosen");
	causeRows[now]?.classList.add("chosen");
	causeRows[now]?.scrollIntoView({ block: "center" });
}
const lookForCause = onAddress("cause", markCause);

function goToCause(k) {
	const before = inAddress("cause");
	intoAddress({ cause: String(k) });
	markCause(before, String(k));
}

data.causes.forEach((i, k) => {
	const cell = causeRows[k].cells[4];
	cell.firstChild.after(" ", element("a", { class: "link", href: "#cause=" + k, title: "a link to this cause", "aria-label": "a link to this cause", onclick: (e) => {
		e.preventDefault();
		goToCause(k);
	} }, "#"));
	if (i >= 0)
		cell.lastElementChild.append(" ", element("button", { type: "button", class: "example", onclick: () => showExample(i) }, "Show the example"));
});
