// SPDX-License-Identifier: GPL-2.0-or-later
// The table of the widest frames, and of a chain graph who ended the waiting and what was waited for.

const tablePanel = make(SVG, "foreignObject", { class: "panel" });
const OBJECT = new RegExp("^\\[(" + (opt.objects || "-") + ")( .*)?\\]$");
let tab = "functions", sortKey = "self", tableFilter = "";

// Own and total counts by name, of the zoomed part; recursion counts once.
function totals() {
	if (ofAll())
		return decodeSums();
	if (state.leaves && !state.zoom) {
		const merged = view;
		use(unmerged());
		const rows = sumUp();
		use(merged);
		return rows;
	}
	return sumUp();
}

// Are the sums of all frames, which the file has, those that are shown?
const ofAll = () => allTime() && !state.zoom && byId("sums");

function sumUp() {
	const t = new Map(), open = new Uint32Array(names.length), path = [], z = state.zoom;
	const until = view.callers && !z ? view.callers : last[z];
	for (let i = z; i < until; i++) {
		if (DIFF && view.gone[i] && !view.gone[z]) { // these are in their places, without width
			i = last[i] - 1;
			continue;
		}
		while (path.length && last[path[path.length - 1]] <= i)
			open[name[path.pop()]]--;
		const k = name[i], row = t.get(k) || { self: 0, whole: 0, before: 0, after: 0 };
		t.set(k, row);
		row.self += own[i];
		const outermost = !open[k]++;
		if (outermost)
			row.whole += time(i);
		if (DIFF && (state.compare === "own" || outermost)) {
			const c = compared(view, i);
			row.before += c.before;
			row.after += c.after;
		}
		path.push(i);
	}
	t.delete(base.name[0]);
	return [...t].filter(([k]) => k !== rest && names[k] !== "--" && names[k] !== "-")
		.map(([k, row]) => ({ ...row, name: bare(names[k]) }));
}

// Who ended the waits: the first waker of each chain, or its end if it has none.
function byWaker() {
	const t = new Map(), z = state.zoom;
	const put = (who, i) => t.set(who, (t.get(who) || 0) + time(i));
	for (let i = z; i < last[z]; i++) {
		const s = names[name[i]], ends = isEnd(i);
		if (link[i] === 0 && ends)
			put(s, i);
		else if (link[i] === 1 && ends)
			put(byInterrupt(i) ? s : nameInLink(parent[i]), i);
		else if (link[i] === 2 && s === "--")
			put(nameInLink(parent[i]), i);
	}
	return [...t].map(([who, whole]) => ({ name: who, whole }));
}

// What was waited for: the object in the stack that slept.
function byObject() {
	const t = new Map(), z = state.zoom;
	for (let i = z; i < last[z];) {
		const s = names[name[i]];
		if (link[i] || !OBJECT.test(s)) {
			i++;
			continue;
		}
		t.set(s, (t.get(s) || 0) + time(i));
		i = last[i];
	}
	return [...t].map(([what, whole]) => ({ name: what, whole }));
}

function toggleTable() {
	if (tablePanel.parentNode) {
		tablePanel.remove();
		settle();
		tableButton.focus();
		return;
	}
	if (state.beside)
		go({ beside: "" }, true);
	svg.append(tablePanel);
	fillTable();
	settle();
	bringRoot();
	tablePanel.querySelector("button").focus({ preventScroll: true });
}

function fillTable() {
	const z = state.zoom, tabs = make(HTML, "div", { role: "tablist" }), table = make(HTML, "table");
	const lists = { functions: totals };
	if (chainView()) {
		lists.wakers = byWaker;
		lists.objects = byObject;
	}
	tab = tab in lists ? tab : "functions";
	const words = { functions: "Functions", wakers: "By waker", objects: "By object" };
	for (const key in lists) {
		const b = button(words[key], words[key], () => {
			tab = key;
			fillTable();
			tablePanel.querySelector("[aria-selected=true]").focus();
		});
		b.setAttribute("role", "tab");
		b.setAttribute("aria-selected", key === tab);
		if (Object.keys(lists).length > 1)
			tabs.append(b);
	}
	const field = make(HTML, "input", { type: "search", class: "filter", "aria-label": "Filter the table", placeholder: "Filter (" + HOW_TO_SEARCH + ")",
		spellcheck: "false", autocomplete: "off" }), rows = () => fillRows(table, lists[tab]());
	field.value = tableFilter;
	field.addEventListener("input", () => {
		tableFilter = field.value;
		rows();
	});
	rows();
	const title = { functions: "Widest frames", wakers: "Who ended the waiting", objects: "What was waited for" };
	const box = make(HTML, "div", { role: "dialog", "aria-label": title[tab] });
	box.append(button("\u00d7", "Close (Esc)", toggleTable),
		make(HTML, "h2", {}, title[tab] + (z ? " in " + short(label(z), 30) : "")), tabs, field, table);
	box.firstChild.className = "close";
	const at = [...tablePanel.querySelectorAll("button, input")].indexOf(document.activeElement), { scrollTop } = tablePanel.firstChild || {};
	tablePanel.replaceChildren(box);
	if (at >= 0)
		[...tablePanel.querySelectorAll("button, input")][at]?.focus();
	box.scrollTop = scrollTop || 0;
}

function fillRows(table, list) {
	const fitting = tableFilter ? matcher(tableFilter, false, list.map((row) => row.name)).fits : () => true;
	const all = tab === "functions" && ofAll(), missing = all ? 0 : uncounted();
	const columns = tab !== "functions" ? [["whole", "Share"]] : DIFF ?
		[["before", "Before"], ["after", "After"], ["change", "Change"]] : [["self", "Self"], ["whole", "Total"]];
	const key = columns.some(([k]) => k === sortKey) ? sortKey : columns[columns.length - 1][0];
	const sides = DIFF ? sideTotals() : {}, whole = (k) => sides[k] || time(state.zoom);
	for (const row of list)
		row.change = Math.abs(row.after - row.before);
	const known = list.length, more = all ? num("functions") - known : 0; // more: that are narrower, and not in the file
	list = list.filter((row) => fitting(row.name));
	list.sort((a, b) => b[key] - a[key] || (a.name < b.name ? -1 : 1));
	const tr = make(HTML, "tr");
	for (const [k, title] of columns) {
		const th = make(HTML, "th", { scope: "col", "aria-sort": k === key ? "descending" : "none" });
		th.append(button(title + (k === key ? " \u25be" : ""), "Sort by " + title, () => {
			sortKey = k;
			fillTable();
		}));
		tr.append(th);
	}
	tr.append(make(HTML, "th", { scope: "col" }, "Name"));
	table.replaceChildren(tr, ...list.slice(0, 200).map((row) => {
		const line = make(HTML, "tr"), td = make(HTML, "td");
		td.append(button(short(row.name, 120), "Search for " + short(row.name, 120),
			() => go({ search: wholeName(row.name), exact: "1" })));
		for (const [k] of columns)
			line.append(make(HTML, "td", {}, k === "change" ? changeWords(row) : atLeast(percent(row[k], whole(k)), missing)));
		line.append(td);
		return line;
	}));
	if (missing > 0)
		table.prepend(make(HTML, "caption", { class: "missing" }, missingWords(missing)));
	if (!list.length)
		table.append(make(HTML, "caption", {}, known ? "None of " + (more ? "the widest " : "") + commas(known) + " fits." : "Nothing in this graph."));
	else if (list.length > 200 || list.length < known || more)
		table.append(make(HTML, "caption", {}, commas(Math.min(200, list.length)) + " of " + (more ? "the widest " : "") + commas(known)));
}

// ---- the keys

const helpPanel = make(SVG, "foreignObject", { class: "panel help" });
const KEYS_HELP = [["click, Enter", "zoom to a frame"], ["right click, M", "menu of a frame"], ["Home; Backspace", "whole graph; caller"],
	["arrows", "from frame to frame"], ["/ or Ctrl-F; N, Shift-N", "search; next, previous match"], ["Ctrl-I", "match case"],
	["V", "turn upside down"], ["R; S", "merge from the leaves; graph of callers and callees"], ["K", "show everything, or fold what is in every chain"],
	["T", "table"], ["B", "callers and callees beside the graph"], ["C, L, Shift-C", "copy name, stack, folded line"], ["Esc", "close, clear, reset"]];

function toggleHelp() {
	if (helpPanel.parentNode) {
		helpPanel.remove();
		helpButton.focus();
		return;
	}
	const table = make(HTML, "table"), box = make(HTML, "div", { role: "dialog", "aria-label": "Keys" });
	for (const [key, does] of KEYS_HELP) {
		const tr = make(HTML, "tr");
		tr.append(make(HTML, "td", {}, key), make(HTML, "td", {}, does));
		table.append(tr);
	}
	const close = button("\u00d7", "Close (Esc)", toggleHelp);
	close.className = "close";
	box.append(close, make(HTML, "h2", {}, "Keys"), table);
	if (CHAIN)
		box.append(make(HTML, "p", {}, "After each --: who ended the wait; " + UPSIDE_DOWN + " [tcp] and such: what was waited for. " +
			"In brackets at the end: why the chain ends there."));
	helpPanel.replaceChildren(box);
	svg.append(helpPanel);
	place();
	box.querySelector("button").focus();
}

function escapeRegExp(s) {
	return s.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
}
