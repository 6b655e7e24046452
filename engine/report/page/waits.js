// SPDX-License-Identifier: GPL-2.0-or-later
// The list of waits; each opens its timeline.
const PAGE = 50;
const list = document.getElementById("waits-list");
const showing = { idle: false, unwoken: false, most: PAGE, open: new Set(), whole: new Set() };

const unwoken = (w) => !!(w.flags & NOT_WOKEN);

function endedBy(w) {
	if (w.preempted)
		return "";
	if (unwoken(w))
		return "nobody";
	if (w.flags & NO_WAKING)
		return "not known";
	const last = [...groups(w.wakes, 5)].find((wake) => wake[2] === 0);
	return last ? laneName(w.lanes[last[1]]) : "";
}

// The lane and state with the largest share of the wait.
function mostly(w) {
	let most = ["", 0];
	for (const [lane, end, ns] of groups(w.parts, 3))
		if (ns > most[1])
			most = [laneName(w.lanes[lane]) + (data.ends[end] === "[interrupt]" ? "" : " " + data.ends[end]), ns];
	if (w.off > most[1])
		most = [laneName(w.lanes[0]) + (w.preempted ? " [preempted]" : " [runnable]"), w.off];
	return percent(most[1], length(w)) + " " + most[0];
}

function openWait(w, row) {
	const cell = element("td", { colspan: 6 });
	const width = Math.max(280, list.clientWidth - 20);
	const small = showing.whole.has(w) ? new Set() : smallLanes(w);
	cell.append(drawWait(w, width, small));
	if (small.size)
		cell.append(element("button", { type: "button", class: "more", onclick: () => { showing.whole.add(w); showWaits(); } },
			"Show also the " + small.size + " who took less than 0.5 % of it"));
	cell.append(wordsOf(w));
	row.after(element("tr", { class: "opened" }, cell));
}

function waitRow(w, index) {
	const open = showing.open.has(index);
	const button = element("button", { type: "button", class: "open", "aria-expanded": String(open),
		onclick: () => {
			if (!showing.open.delete(index))
				showing.open.add(index);
			showWaits();
		} }, time(length(w)));
	const row = element("tr", { class: open ? "is-open" : "" }, element("td", {}, button),
		element("td", {}, when(w.start)),
		element("td", {}, isolated(text(w.name)), " ", element("span", { class: "note" }, String(threads[w.thread].tid))),
		element("td", { class: "stack" }, w.flags & NEW ? "its first run" : text(w.stack)),
		element("td", {}, isolated(endedBy(w))),
		element("td", {}, isolated(mostly(w))));
	return row;
}

function choice(key, label, count) {
	return element("label", {}, element("input", { type: "checkbox", checked: showing[key], id: "waits-" + key,
		disabled: !count, onchange: (e) => { showing[key] = e.target.checked; showWaits(); } }),
		" " + label + " (" + count + ")");
}

function showWaits() {
	const all = data.waits.map((w, i) => [w, i]).filter(([w]) => isShown(w));
	const idle = all.filter(([w]) => w.idle).length, asleep = all.filter(([w]) => !w.idle && unwoken(w)).length;
	const some = all.filter(([w]) => w.idle ? showing.idle : showing.unwoken || !unwoken(w));
	const body = element("tbody");
	const table = element("table", {}, element("thead", {}, element("tr", {}, ...["Length", "Began at", "Thread", "Slept in",
		"Woken by", "Mostly"].map((s) => element("th", {}, s)))), body);

	list.replaceChildren(element("p", { class: "choices" }, choice("idle", "also waits for work", idle),
		choice("unwoken", "also sleepers that nobody woke", asleep)), legend(), element("div", { class: "scroll" }, table));
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
