// SPDX-License-Identifier: GPL-2.0-or-later
// The context menu of a frame.

const menu = make(SVG, "foreignObject", { class: "menu", width: 230 });

function closeMenu() {
	menu.remove();
}

function openMenu(i, x, y) {
	const items = [], entry = (text, act) => items.push(button(text, text, () => {
		closeMenu();
		act();
	}));
	if (names[name[i]] === "--")
		entry("Zoom to this link", () => zoom(i));
	else
		entry("Zoom to this frame", () => zoom(i));
	if (link[i])
		entry("Zoom to the wait", () => zoom(waitOf(i)));
	if (depth[i])
		entry("Show only " + short(names[name[ancestorAt(i, 1)]], 24),
			() => go({ thread: names[name[ancestorAt(i, 1)]], zoom: 0 }, true));
	if (!isDelim(i))
		entry("Search for this name",
			() => go({ search: "^" + escapeRegExp(label(i)) + "$", exact: true }));
	entry("Copy name", () => copy(label(i)));
	entry("Copy folded line", () => copy(folded(i)));
	const box = make(HTML, "div", { role: "menu" });
	box.append(...items);
	menu.replaceChildren(box);
	const seen = visible(), h = items.length * 30 + 10;
	menu.setAttribute("height", h);
	menu.setAttribute("x", Math.max(0, Math.min(x, seen.x + seen.w - 236)));
	menu.setAttribute("y", Math.max(0, Math.min(y, seen.y + seen.h - h - 4)));
	svg.append(menu);
	items[0].focus();
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
