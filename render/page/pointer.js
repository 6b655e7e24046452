// SPDX-License-Identifier: GPL-2.0-or-later
// Outlines and the hover text, which follow the pointer and the focus; what of the picture is visible.

const over = make(SVG, "rect", { class: "over", visibility: "hidden" });
const ring = make(SVG, "rect", { class: "ring", visibility: "hidden" });
const tip = make(SVG, "foreignObject", { class: "tip", visibility: "hidden", width: 10, height: 10 });
const tipBox = tip.appendChild(make(HTML, "div"));
const head = byId("head");

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
	say();
	if (i < 0) {
		tip.setAttribute("visibility", "hidden");
		return;
	}
	tipBox.replaceChildren(make(HTML, "b", {}, short(label(i), 200)),
		...describe(i).map((s) => make(HTML, "div", {}, s)));
	// Measure at the maximum width, then place beside the pointer, within the visible part.
	const most = Math.min(width - 8, 560), seen = visible();
	tip.setAttribute("width", most);
	const box = tipBox.getBoundingClientRect();
	const w = Math.min(most, box.width / seen.scale + 2), h = box.height / seen.scale + 2;
	tip.setAttribute("width", w);
	tip.setAttribute("height", h);
	tip.setAttribute("x", Math.max(seen.x, Math.min(x + 14, Math.min(seen.x + seen.w, width) - w - 4)));
	tip.setAttribute("y", y + 18 + h > seen.y + seen.h - barHeight() ?
		Math.max(seen.y, y - h - 12) : y + 18);
	tip.setAttribute("visibility", "visible");
}

// The part of the picture that is visible in the window, in the picture's coordinates.
function visible() {
	const box = svg.getBoundingClientRect(), scale = box.width / outer || 1;
	const around = BOX?.getBoundingClientRect(), above = Math.max(0, around?.top ?? 0), below = Math.min(innerHeight, around?.bottom ?? innerHeight);
	const x = Math.max(0, -box.left / scale), y = Math.max(0, (above - box.top) / scale);
	return {
		x, y, scale,
		w: Math.max(0, Math.min(outer, (innerWidth - box.left) / scale) - x),
		h: Math.max(0, Math.min(Number(svg.getAttribute("height")), (below - box.top) / scale) - y),
	};
}

function at(event) {
	const box = svg.getBoundingClientRect(), scale = box.width / outer || 1;
	return { x: (event.clientX - box.left) / scale, y: (event.clientY - box.top) / scale };
}

// Title and legend stay in view.
function placeHead(seen) {
	const away = (ALONE || BOX) && seen.y > 0 && seen.h > 2 * top;
	if (head.hasAttribute("transform") || away)
		head.setAttribute("transform", "translate(0 " + (away ? seen.y : 0) + ")");
	byId("head-back").setAttribute("visibility", away ? "visible" : "hidden");
	byId("head-back").setAttribute("width", width);
	byId("head-back").setAttribute("height", top - 2);
	return away;
}

// Of the tree of frames that a screen reader has, the one with the focus.
let current = null;
function tellReaders() {
	current?.removeAttribute("id");
	current = texts.get(focus);
	svg.removeAttribute("aria-activedescendant");
	if (current) {
		current.id = KEYS + "fg-current";
		svg.setAttribute("aria-activedescendant", current.id);
	}
}

function mark(i) {
	focus = i;
	if (i >= 0 && byId("frames").getAttribute("role") !== "tree")
		redraw(); // the picture that the document came with is none
	surround(ring, i);
	tellReaders();
	say();
	if (i >= 0)
		bring(i);
}

// After a change of the picture the root is in view, unless what is zoomed to is too far away from it.
function bringRoot() {
	if (!ALONE && !BOX)
		return;
	(BOX || window).scrollTo(0, rootOnTop() ? 0 : (BOX || document.documentElement).scrollHeight);
	bring(state.zoom);
}

// Scroll frame i, and with it as many of its callers as fit, into view.
function bring(i) {
	const b = boxOf(i);
	if (!b || (!ALONE && !BOX))
		return;
	const seen = visible(), upper = seen.y + (seen.y > 0 ? top : 0) + 4;
	const lower = seen.y + seen.h - barHeight() - rowHeight - 4;
	if (b.y < upper)
		(BOX || window).scrollBy(0, (b.y - upper - 60) * seen.scale);
	else if (b.y > lower)
		(BOX || window).scrollBy(0, (b.y - lower + 60) * seen.scale);
}
