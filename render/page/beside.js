// SPDX-License-Identifier: GPL-2.0-or-later
// Callers and callees of one function in lists beside the graph, which shows all the same. A link to such a
// list has the function's name.

const besidePanel = make(SVG, "foreignObject", { class: "panel" });

// The next frame towards the root, or the leaves' side of it, that is a function; of a chain graph, "-- f" if
// a wakeup is in between.
function neighbour(i) {
	let j = parent[i], woke = "";
	for (; j && isDelim(j); j = parent[j])
		woke = woke || names[name[j]] === "--" ? "-- " : "";
	return { at: j, woke };
}

// The time of a function, and by the names next to it; of recursion the outermost counts.
function neighbours(about) {
	const sums = { whole: 0, own: 0, callers: new Map(), callees: new Map() }, open = new Map(), path = [], z = state.zoom;
	const is = (i) => label(i) === about && !isDelim(i);
	const put = (map, list, key, i) => {
		const id = list + key, n = open.get(id) || 0;
		open.set(id, n + 1);
		path[path.length - 1].ids.push(id);
		if (!n && map)
			map.set(key, (map.get(key) || 0) + time(i));
		return !n;
	};
	for (let i = z; i < (view.callers && !z ? view.callers : last[z]); i++) {
		while (path.length && last[path[path.length - 1].i] <= i)
			for (const id of path.pop().ids)
				open.set(id, open.get(id) - 1);
		if (isDelim(i) || view.gone[i])
			continue;
		const { at, woke } = neighbour(i);
		path.push({ i, ids: [] });
		if (is(i)) {
			sums.own += own[i];
			if (put(null, "whole", "", i))
				sums.whole += time(i);
			if (i)
				put(sums.callers, "from ", woke + label(at), i);
		}
		if (i && is(at))
			put(sums.callees, "to ", woke + label(i), i);
	}
	return sums;
}

function neighbourTable(title, map, sums) {
	const table = make(HTML, "table"), head = make(HTML, "tr"), list = [...map].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
	for (const s of ["Time", "Share", title])
		head.append(make(HTML, "th", { scope: "col" }, s));
	table.append(head, ...list.slice(0, 100).map(([s, t]) => {
		const tr = make(HTML, "tr"), td = make(HTML, "td"), to = s.replace(/^-- /, "");
		td.append(s === "(itself)" ? s : button(short(s, 120), "Callers and callees of " + short(to, 120), () => go({ beside: to }, true)));
		tr.append(make(HTML, "td", {}, atLeast(count(t))), make(HTML, "td", {}, percent(t, sums.whole)), td);
		return tr;
	}));
	if (list.length > 100)
		table.append(make(HTML, "caption", {}, "100 of " + commas(list.length)));
	else if (!list.length)
		table.append(make(HTML, "caption", {}, "None."));
	return table;
}

// Shows, changes or removes the panel, as the state says.
function showBeside() {
	const about = state.beside, had = besidePanel.parentNode;
	if (!about) {
		besidePanel.remove();
		return;
	}
	const sums = neighbours(about), box = make(HTML, "div", { role: "dialog", "aria-label": "Callers and callees" });
	if (sums.own)
		sums.callees.set("(itself)", sums.own);
	// The stacks of wakers stand upside down: in a chain there is only before and after.
	const [before, after] = chainView() ? ["Before it in the chain", "After it in the chain"] : ["Callers", "Callees"];
	box.append(button("\u00d7", "Close (Esc)", () => go({ beside: "" }, true)), make(HTML, "h2", {}, short(about, 200)),
		make(HTML, "p", {}, atLeast(count(sums.whole)) + ", " + percent(sums.whole, state.zoom ? time(state.zoom) : shareOf(0)) + (state.zoom ? " of " + short(label(state.zoom), 30) : " of all") +
			", own " + count(sums.own) + (uncounted() > 0 ? ". " + missingWords(uncounted()) : "")),
		button("Show it in the graph", "Search for " + short(about, 120), () => go({ search: wholeName(about), exact: "1" })),
		neighbourTable(before, sums.callers, sums), neighbourTable(after, sums.callees, sums));
	box.firstChild.className = "close";
	const inside = besidePanel.contains(document.activeElement);
	besidePanel.replaceChildren(box);
	if (!had) {
		tablePanel.remove();
		svg.append(besidePanel);
	}
	if (!had || inside)
		box.firstChild.focus({ preventScroll: true });
}

// A panel is beside the graph where both have room: then it takes this from its width.
let printing = false;
function besideRoom() {
	const open = tablePanel.parentNode || besidePanel.parentNode;
	return open && !printing && (num("fluid") || num("embedded")) && outer >= 900 ? panelWidth() : 0;
}

const panelWidth = () => Math.round(Math.min(480, outer * 0.4));

// After a panel was opened or closed.
function settle() {
	if (adapt())
		redraw();
	resize();
	place();
}
