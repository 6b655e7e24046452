// SPDX-License-Identifier: GPL-2.0-or-later
// The table of the widest frames: self and total time by name.

const panel = make(SVG, "foreignObject", { class: "panel" });

function totals() {
	const self = new Float64Array(names.length), whole = new Float64Array(names.length);
	const open = new Uint32Array(names.length), path = [];
	const z = state.zoom;
	for (let i = z; i < last[z]; i++) {
		while (path.length && last[path[path.length - 1]] <= i)
			open[name[path.pop()]]--;
		if (path.length)
			self[name[path[path.length - 1]]] -= time(i);
		if (!open[name[i]]++)
			whole[name[i]] += time(i);
		self[name[i]] += time(i);
		path.push(i);
	}
	return { self, whole };
}

function toggleTable() {
	if (panel.parentNode) {
		panel.remove();
		return;
	}
	const t = totals(), z = state.zoom, list = [];
	names.forEach((s, k) => {
		if (t.whole[k] && s !== "--" && s !== "-" && k !== name[0])
			list.push(k);
	});
	const table = make(HTML, "table");
	const fill = (key) => {
		list.sort((a, b) => t[key][b] - t[key][a] || a - b);
		const head = make(HTML, "tr");
		for (const [k, title] of [["self", "Self"], ["whole", "Total"]]) {
			const th = make(HTML, "th", { scope: "col" });
			th.append(button(title + (k === key ? " \u25be" : ""), "Sort by this", () => fill(k)));
			head.append(th);
		}
		head.append(make(HTML, "th", { scope: "col" }, "Name"));
		table.replaceChildren(head, ...list.slice(0, 200).map((k) => {
			const tr = make(HTML, "tr"), td = make(HTML, "td");
			td.append(button(short(bare(names[k]), 120), "Search for this",
				() => go({ search: "^" + escapeRegExp(bare(names[k])) + "$", exact: true })));
			tr.append(make(HTML, "td", {}, percent(t.self[k], time(z))),
				make(HTML, "td", {}, percent(t.whole[k], time(z))), td);
			return tr;
		}));
	};
	fill("whole");
	const box = make(HTML, "div", { role: "dialog", "aria-label": "Widest frames" });
	box.append(button("\u00d7", "Close (Esc)", toggleTable),
		make(HTML, "h2", {}, "Widest frames" + (z ? " in " + short(label(z), 30) : "")), table);
	panel.replaceChildren(box);
	svg.append(panel);
	place();
}

function escapeRegExp(s) {
	return s.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
}
