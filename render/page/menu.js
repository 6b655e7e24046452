// SPDX-License-Identifier: GPL-2.0-or-later
// The context menu of a frame.

const menu = make(SVG, "foreignObject", { class: "menu", width: 260 });
let menuFrom = null; // had the focus before

function closeMenu() {
	const had = menu.parentNode;
	menu.remove();
	if (had && menuFrom && menuFrom.isConnected)
		menuFrom.focus();
}

function openMenu(i, x, y) {
	const items = [], entry = (text, act) => items.push([text, act]);
	const s = label(i), thread = names[name[headOf(i)]], lib = library(names[name[i]]);
	entry(names[name[i]] === "--" ? "Zoom to this link" : "Zoom to this frame", () => zoom(i));
	if (link[i] && chainView())
		entry("Zoom to the wait", () => zoom(waitOf(i)));
	if (depth[i] && !view.group[i] && [...threads.options].some((o) => o.value === thread) && !state.sandwich && !state.leaves)
		entry("Show only " + short(thread, 24), () => go({ thread, zoom: 0 }, true));
	if (!isDelim(i) && i && !view.group[i]) {
		entry("Search for this name", () => go({ search: wholeName(s), exact: "1" }));
		if (!ORDERED) {
			entry("Callers and callees beside the graph", () => go({ beside: s }, true));
			entry("Graph of callers and callees", () => go({ sandwich: s, leaves: "", zoom: 0 }, true));
			entry("Only stacks with this, from here on", () => go({ focus: s, zoom: 0 }, true));
		}
		entry("Hide this function", () => go({ hide: [...state.hide, s] }, true));
		if (lib)
			entry("Hide all of " + short(lib, 24), () => go({ drop: [...state.drop, lib] }, true));
	}
	entry(state.recursion ? "Show recursion" : "Collapse recursion",
		() => go({ recursion: state.recursion ? "" : "1" }, true));
	entry("Copy name", () => copy(s));
	entry("Copy stack, a frame a line", () => copy(stackLines(i)));
	entry("Copy folded line", () => copy(folded(i)));
	showMenu(short(s, 60), items, x, y);
}

// A menu of a button in the bar, above it.
function openList(title, entries, of) {
	const box = of.getBoundingClientRect(), p = at({ clientX: box.left, clientY: box.top });
	showMenu(title, entries, p.x, p.y - 4, true);
}

// entries: texts and what they do. above: the menu ends at y.
function showMenu(title, entries, x, y, above) {
	const items = entries.map(([text, act]) => {
		const b = button(text, text, () => {
			closeMenu();
			act();
		});
		b.setAttribute("role", "menuitem");
		b.setAttribute("tabindex", "-1");
		return b;
	});
	const box = make(HTML, "div", { role: "menu", "aria-label": title });
	box.append(...items);
	menu.replaceChildren(box);
	menuFrom = document.activeElement;
	svg.append(menu);
	menu.setAttribute("height", 20);
	const seen = visible(), h = box.offsetHeight + 2;
	menu.setAttribute("height", h);
	menu.setAttribute("x", Math.max(0, Math.min(x, seen.x + seen.w - 266)));
	menu.setAttribute("y", Math.max(0, Math.min(above ? y - h : y, seen.y + seen.h - h - 4)));
	items[0].focus();
}

// Arrow keys move in the menu.
function onMenuKey(e) {
	const items = [...menu.querySelectorAll("button")], here = items.indexOf(document.activeElement);
	const to = { ArrowDown: here + 1, ArrowUp: here - 1 + items.length, Home: 0, End: items.length - 1 }[e.key];
	if (e.key === "Tab")
		closeMenu();
	if (to === undefined)
		return false;
	items[to % items.length].focus();
	return true;
}

function copy(text) {
	const byHand = () => prompt("Copy:", text);
	if (navigator.clipboard && navigator.clipboard.writeText)
		navigator.clipboard.writeText(text).then(() => {
			status.textContent = "Copied.";
		}, byHand);
	else
		byHand();
}
