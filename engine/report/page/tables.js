// SPDX-License-Identifier: GPL-2.0-or-later
// The table of threads, the histogram and the table of wakers, for the selected threads and steps.
const sorting = { column: 3, down: true };
const threadTable = document.querySelector("#threads table");

function figures(r) {
	const s = sums(r);
	return [name(r), r.thread ? r.thread.tid : 0, r.thread ? r.thread.pid : 0, ...s.times, s.waits, s.longest];
}

function showThreads() {
	const all = shownRows().map((r) => ({ r, f: figures(r) })).filter(({ f }) => f.slice(3).some((v) => v));
	const k = sorting.column, sign = sorting.down ? -1 : 1;
	all.sort((a, b) => sign * (k ? a.f[k] - b.f[k] : a.f[0] < b.f[0] ? -1 : a.f[0] > b.f[0]));
	threadTable.tBodies[0].replaceChildren(...all.map(({ r, f }) => {
		const label = r.thread ? element("button", { type: "button", class: "open", title: "this thread alone",
			onclick: () => choose({ who: String(r.thread.tid) }) }, isolated(f[0])) : f[0];
		return element("tr", {}, element("td", {}, label), ...f.slice(1).map((v, i) =>
			element("td", {}, i < 2 ? String(v || "") : i === 7 ? String(v) : time(v))));
	}));
	[...threadTable.tHead.rows[0].cells].forEach((th, i) => {
		th.setAttribute("aria-sort", i !== k ? "none" : sorting.down ? "descending" : "ascending");
	});
}

[...threadTable.tHead.rows[0].cells].forEach((th, i) => {
	const label = th.textContent;
	th.replaceChildren(element("button", { type: "button", onclick: () => {
		sorting.down = sorting.column === i ? !sorting.down : i > 2;
		sorting.column = i;
		showThreads();
	} }, label));
});

// Slot 0 is below 2 us; slot n begins at 2^n us.
function showLengths() {
	const counts = [];
	for (const r of shownRows())
		for (const [step, slot, count] of groups(r.row.lengths, 3))
			if (inRange(step))
				counts[slot] = (counts[slot] || 0) + count;
	const most = Math.max(1, ...counts.filter((n) => n)), first = Math.max(0, counts.findIndex((n) => n));
	const bars = [];
	for (let slot = first; slot < counts.length; slot++) {
		const n = counts[slot] || 0;
		const bar = drawn("svg", { class: "bar", height: 14, viewBox: "0 0 1000 10", preserveAspectRatio: "none", "aria-hidden": "true" },
			drawn("rect", { x: 0, y: 0, width: n && Math.max(2, 1000 * n / most), height: 10 }));
		bars.push(element("tr", {}, element("td", {}, slot ? time(2 ** slot * 1000) : "0"), element("td", {}, "up to"),
			element("td", {}, time(2 ** (slot + 1) * 1000)), element("td", {}, String(n)), element("td", {}, bar)));
	}
	document.getElementById("lengths-chart").replaceChildren(bars.length ?
		element("table", { class: "lengths" }, element("tbody", {}, ...bars)) : element("p", { class: "note" }, "No waits."));
}

// Keeps the largest and counts the others.
function largest(totals, most) {
	const all = [...totals.keys()].sort((a, b) => totals.get(b) - totals.get(a) || (a < b ? -1 : 1));
	return { kept: all.slice(0, most), others: all.length - Math.min(all.length, most) };
}

const wakerNames = data.wakers.map(text);

function showWakers() {
	const cells = new Map(), byWaker = new Map(), byWakee = new Map(), never = { count: 0, ns: 0 };
	const add = (map, key, ns) => map.set(key, (map.get(key) || 0) + ns);
	for (const r of shownRows()) {
		for (const [step, waker, count, ns] of groups(r.row.wakeups, 4)) {
			if (!inRange(step))
				continue;
			const who = wakerNames[waker] ?? "(other wakers)", key = JSON.stringify([who, name(r)]);
			if (who === "[not woken]") {
				never.count += count;
				never.ns += ns;
				continue;
			}
			const cell = cells.get(key) || { count: 0, ns: 0 };
			cell.count += count;
			cell.ns += ns;
			cells.set(key, cell);
			add(byWaker, who, ns);
			add(byWakee, name(r), ns);
		}
	}
	const wakers = largest(byWaker, 20), wakees = largest(byWakee, 10);
	const top = Math.max(1, ...[...cells.values()].map((c) => c.ns));
	const table = element("table", { class: "matrix" }, element("thead", {}, element("tr", {}, element("th", {}, "Waker \\ woken"),
		...wakees.kept.map((t) => element("th", {}, isolated(t))))));
	table.append(element("tbody", {}, ...wakers.kept.map((who) => element("tr", {}, element("th", {}, isolated(who)),
		...wakees.kept.map((wakee) => {
			const c = cells.get(JSON.stringify([who, wakee]));
			if (!c)
				return element("td");
			const td = element("td", { title: who + " ended " + c.count + " waits of " + wakee + ", " + time(c.ns) + " in all" },
				time(c.ns), element("small", {}, c.count + "×"));
			td.style.setProperty("--share", String(Math.sqrt(c.ns / top)));
			return td;
		})))));
	const left = [];
	if (wakers.others)
		left.push(wakers.others + " more wakers");
	if (wakees.others)
		left.push(wakees.others + " more names of woken threads");
	const unwokenWords = never.count ? " " + never.count + " waits, " + time(never.ns) + " in all, nobody ended." : "";
	document.getElementById("wakers-table").replaceChildren(cells.size ? table : element("p", { class: "note" }, "No wakeups."),
		element("p", { class: "note" }, "How long threads of a name were asleep until a waker of a name woke them, and how often." +
			(left.length ? " Left out, with less time: " + left.join(", ") + "." : "") + unwokenWords));
}
