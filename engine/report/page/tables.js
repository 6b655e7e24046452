// SPDX-License-Identifier: GPL-2.0-or-later
// The table of threads, the histogram and the table of wakers, for the selected threads and steps.
const threadTable = document.querySelector("#threads table");

// What the threads waited for: colours by kind, so that what is alike looks alike.
const KINDS = [["lock", /^(futex|GIL|file_lock|ipc)$/], ["file", /^(file|aio|io_uring)$/], ["net", /^(tcp|udp|icmp|sctp|ip|packet|vsock|socket|netlink)$/],
	["local", /^(unix|pipe)$/], ["poll", /^(epoll|poll|select|eventfd|signalfd|inotify|fanotify|userfaultfd|signal)$/],
	["timer", /^(sleep|timerfd)$/], ["child", /^(child|pidfd)$/]];
const classNames = [...data.classes.map(text), "others"];
const kindOf = (name) => name ? (KINDS.find(([, names]) => names.test(name)) || ["other"])[0] : "unknown";
const classesKnown = classNames.slice(0, -1).some((s) => s);

// The time of a row's waits by class, most first.
function classTimes(r) {
	const sum = new Map();
	for (const [step, k, ns] of groups(r.row.asleep, 3))
		if (inRange(step))
			sum.set(classNames[k], (sum.get(classNames[k]) || 0) + ns);
	return [...sum].sort((a, b) => b[1] - a[1] || ascending(a[0], b[0]));
}

function classBar(r) {
	const all = classTimes(r), whole = all.reduce((sum, [, ns]) => sum + ns, 0);
	if (!whole)
		return element("td");
	const words = all.map(([s, ns]) => (s || "unknown") + " " + percent(ns, whole)).join(", ");
	const bar = drawn("svg", { class: "classes", width: 160, height: 12, viewBox: "0 0 160 12", role: "img", "aria-label": words });
	let at = 0;
	for (const [s, ns] of all) {
		const width = 160 * ns / whole;
		bar.append(drawn("rect", { class: "kind-" + kindOf(s), x: at, y: 0, width: Math.max(0.4, width - 0.6), height: 12 },
			drawn("title", {}, (s || "unknown") + ": " + time(ns) + ", " + percent(ns, whole))));
		at += width;
	}
	return element("td", { class: "bar-cell", "data-csv": words }, bar, " " + (all[0][0] || "unknown") + " " + percent(all[0][1], whole));
}

function figures(r) {
	const s = sums(r), [interrupts] = s.times.splice(5);
	return [name(r), r.thread ? r.thread.tid : 0, r.thread ? r.thread.pid : 0, ...s.times, s.waits, s.longest,
		...data.interrupts ? [interrupts] : []];
}

// The threads of the recorded command, then other programs, then those without a name; most work first.
const rowGroup = (r) => r.thread ? r.thread.group : 3;

function showThreads() {
	const all = shownRows().map((r) => ({ r, f: figures(r) })).filter(({ f }) => f.slice(3).some((v) => v));
	const order = orders.get(threadTable), k = order.column, sign = order.down ? -1 : 1;
	all.sort((a, b) => k >= a.f.length ? sign * ascending(classTimes(a.r)[0]?.[0] ?? "", classTimes(b.r)[0]?.[0] ?? "") :
		k >= 0 ? sign * ascending(a.f[k], b.f[k]) : rowGroup(a.r) - rowGroup(b.r) || b.f[3] - a.f[3]);
	sayCaption("threads", all.length ? all.length + " of the " + rows.filter((r) => r.thread).length + " threads of this table fit the filter." : "No thread fits.");
	threadTable.tBodies[0].replaceChildren(...all.map(({ r, f }) => {
		const label = r.thread ? element("button", { type: "button", class: "open", title: "this thread alone",
			onclick: () => choose({ who: String(r.thread.tid) }) }, isolated(f[0])) : f[0];
		const where = r.thread?.cgroup ? [" ", element("span", { class: "note" }, isolated(r.thread.cgroup))] : [];
		return element("tr", {}, element("td", {}, label, ...where), numberCell(f[1], String(f[1] || "")), numberCell(f[2], String(f[2] || "")),
			...f.slice(3, 8).map(timeCell), numberCell(f[8]), ...f.slice(9).map(timeCell), ...classesKnown ? [classBar(r)] : []);
	}));
	showOrder(threadTable);
}

if (classesKnown) {
	threadTable.tHead.rows[0].append(element("th", {}, "Waited for"));
	const kinds = [...new Set(classNames.slice(0, data.classes.length).map(kindOf))];
	threadTable.parentNode.before(element("p", { class: "legend note" }, ...kinds.map((kind) => element("span", {},
		drawn("svg", { width: 16, height: 10, "aria-hidden": "true" }, drawn("rect", { class: "kind-" + kind, width: 16, height: 10 })),
		" " + classNames.slice(0, data.classes.length).filter((s) => kindOf(s) === kind).map((s) => s || "unknown").join(", ")))));
}
sortable(threadTable, showThreads);
copyable(document.getElementById("threads"), () => rowsOfTable(threadTable));

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
		const from = slot ? 2 ** slot * 1000 : 0, to = 2 ** (slot + 1) * 1000;
		bars.push(element("tr", {}, numberCell(from, time(from)), element("td", {}, "up to"), numberCell(to, time(to)),
			numberCell(n), element("td", {}, bar)));
	}
	document.getElementById("lengths-chart").replaceChildren(bars.length ?
		element("table", { class: "lengths" }, element("tbody", {}, ...bars)) : element("p", { class: "note" }, "No waits."));
}

// Threads of the recorded command by name; then others; what has no name last.
const ownNames = new Set(threads.filter((t) => !t.group).flatMap((t) => t.names));
const nameGroup = (s) => s === "[unknown]" ? 2 : ownNames.has(s) || s.startsWith("[") ? 0 : 1;

// Keeps the largest and counts the others.
function largest(totals, most) {
	const all = [...totals.keys()].sort((a, b) => totals.get(b) - totals.get(a) || ascending(a, b));
	return { kept: all.slice(0, most).sort((a, b) => nameGroup(a) - nameGroup(b) || totals.get(b) - totals.get(a) || ascending(a, b)),
		others: all.length - Math.min(all.length, most) };
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
				return element("td", { "data-ns": "0" });
			const td = element("td", { "data-ns": String(c.ns), title: who + " ended " + c.count + " waits of " + wakee + ", " + time(c.ns) + " in all" },
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
	const before = document.querySelector("#wakers-table table"), order = before && orders.get(before);
	orders.delete(before);
	if (cells.size) {
		// The columns may be others now.
		const by = before && before.tHead.rows[0].cells[order.column]?.textContent;
		Object.assign(sortable(table), { down: !!order && order.down,
			column: [...table.tHead.rows[0].cells].findIndex((th) => th.textContent === by) });
		sortRows(table);
	}
	document.getElementById("wakers-table").replaceChildren(cells.size ? table : element("p", { class: "note" }, "No wakeups."),
		element("p", { class: "note" }, "How long threads of a name were asleep until a waker of a name woke them, and how often." +
			(left.length ? " Left out, with less time: " + left.join(", ") + "." : "") + unwokenWords));
}

copyable(document.getElementById("wakers"), () => {
	const table = document.querySelector("#wakers-table table");
	return table ? rowsOfTable(table) : [[]];
});
copyable(document.getElementById("lengths"), () => [["From (ns)", "To (ns)", "Waits"],
	...[...document.querySelectorAll("#lengths-chart tr")].map((r) => [...r.cells].filter((c) => c.dataset.v).map((c) => c.dataset.v))]);
