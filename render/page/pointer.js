// SPDX-License-Identifier: GPL-2.0-or-later
// Outlines and the hover text, which follow the pointer and the focus.

const over = make(SVG, "rect", { class: "over", visibility: "hidden" });
const ring = make(SVG, "rect", { class: "ring", visibility: "hidden" });
const tip = make(SVG, "foreignObject", { class: "tip", visibility: "hidden", width: 10, height: 10 });
const tipBox = tip.appendChild(make(HTML, "div"));

function surround(rect, i) {
	const b = i >= 0 && boxOf(i);
	rect.setAttribute("visibility", b ? "visible" : "hidden");
	if (!b)
		return;
	rect.setAttribute("x", b.x);
	rect.setAttribute("y", b.y);
	rect.setAttribute("width", Math.max(b.w, 1));
	rect.setAttribute("height", rowHeight - 1);
}

function point(i, x, y) {
	hover = i;
	surround(over, i);
	if (i < 0) {
		tip.setAttribute("visibility", "hidden");
		say("");
		return;
	}
	const lines = describe(i);
	tipBox.replaceChildren(make(HTML, "b", {}, short(label(i), 200)),
		...lines.map((s) => make(HTML, "div", {}, s)));
	say(i);
	// Measure at the maximum width, then place beside the pointer, within the visible part.
	const most = Math.min(width - 8, 560), seen = visible();
	tip.setAttribute("width", most);
	const box = tipBox.getBoundingClientRect();
	const w = Math.min(most, box.width / seen.scale + 2), h = box.height / seen.scale + 2;
	tip.setAttribute("width", w);
	tip.setAttribute("height", h);
	tip.setAttribute("x", Math.max(seen.x, Math.min(x + 14, seen.x + seen.w - w - 4)));
	tip.setAttribute("y", y + 18 + h > seen.y + seen.h - BAR ? Math.max(seen.y, y - h - 12) : y + 18);
	tip.setAttribute("visibility", "visible");
}

// The part of the picture that is visible in the window, in the picture's coordinates.
function visible() {
	const box = svg.getBoundingClientRect(), scale = box.width / width || 1;
	const x = Math.max(0, -box.left / scale), y = Math.max(0, -box.top / scale);
	return {
		x, y, scale,
		w: Math.min(width, (innerWidth - box.left) / scale) - x,
		h: Math.min(height, (innerHeight - box.top) / scale) - y,
	};
}

function at(event) {
	const box = svg.getBoundingClientRect(), scale = box.width / width || 1;
	return { x: (event.clientX - box.left) / scale, y: (event.clientY - box.top) / scale };
}

function mark(i) {
	focus = i;
	surround(ring, i);
	if (i < 0)
		return;
	const b = boxOf(i);
	say(i);
	if (!b)
		return;
	const seen = visible();
	if (b.y < seen.y + 8)
		scrollBy(0, (b.y - seen.y - 60) * seen.scale);
	else if (b.y + rowHeight > seen.y + seen.h - BAR)
		scrollBy(0, (b.y + rowHeight - seen.y - seen.h + BAR + 60) * seen.scale);
}
