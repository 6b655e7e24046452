// SPDX-License-Identifier: GPL-2.0-or-later
// Saves what is shown, as SVG or PNG: the frames of the view with headings and legend, without script, data
// and controls. Nothing is loaded for that, so it also works under a strict policy (a canvas that draws an
// image would need img-src).

const PNG_PIXELS = 64e6, PNG_SIDE = 16000; // what all browsers have canvases of

// What of the graph the view has, in words; "" for all of it.
function viewWords() {
	const list = state.zoom ? ["zoomed to " + short(label(state.zoom), 60)] : [];
	if (state.thread)
		list.push("thread " + short(state.thread, 40));
	if (state.leaves)
		list.push("merged from the leaves");
	if (foldsKernel())
		list.push("folded: what the kernel does at each wakeup, how threads start, runs of nameless frames");
	for (const b of chips.children)
		list.push(b.dataset.words);
	if (state.search)
		list.push("search for " + short(state.search, 60) + (taken ? " (" + taken + ")" : "") + ": " + matchedWords());
	return list.join("; ");
}

// All that is to be seen is in the document, with the heading in its place. Returns the note below the frames.
function lieStill() {
	if (byId("frames").getAttribute("role") !== "tree")
		redraw();
	drawNear(visible(), true);
	placeHead({ y: 0, h: 0 });
	const says = viewWords();
	return says ? make(SVG, "text", { class: "soft", x: XPAD, y: height - FONT }, "Shown: " + cutRight(says, (width - 2 * XPAD) / UNIT - 400, false)) : null;
}

function pictureText() {
	const note = lieStill(), copy = make(SVG, "svg", { class: "flamegraph", version: "1.1", width, height, role: "img",
		viewBox: "0 0 " + width + " " + height });
	for (const key of ["color", "font-family", "font-size"])
		if (svg.hasAttribute(key))
			copy.setAttribute(key, svg.getAttribute(key));
	const frames = byId("frames"), of = new Map([...texts].map(([i, t]) => [t, i])), there = [...frames.querySelectorAll("text:not(.needles)")];
	const drawing = frames.cloneNode(true), heading = head.cloneNode(true);
	[...drawing.querySelectorAll("text:not(.needles)")].forEach((t, k) => {
		const i = of.get(there[k]), g = make(SVG, "g"), box = t.previousElementSibling;
		box.before(g);
		g.append(make(SVG, "title", {}, label(i) + " (" + count(shown(i)) + ", " + percent(shown(i), shareOf(i)) + ")"), box, t);
		for (const key of ["id", "role", "aria-level", "aria-label"])
			t.removeAttribute(key);
	});
	for (const e of [drawing, ...heading.querySelectorAll("[role]")])
		for (const key of ["role", "tabindex", "aria-label", "aria-pressed"])
			e.removeAttribute(key);
	for (const e of heading.querySelectorAll(".aside, [hidden]"))
		e.remove();
	const part = (selector) => svg.querySelector(":scope > " + selector).cloneNode(true);
	copy.append(part("title"), part("desc"), part("style"), part("defs"), part("#fg-back"), heading, drawing);
	if (note)
		copy.append(note);
	place();
	return '<?xml version="1.0" encoding="UTF-8"?>\n' + new XMLSerializer().serializeToString(copy) + "\n";
}

// Draws rectangles, paths and texts as their computed style says.
function drawOn(g, e) {
	const style = getComputedStyle(e), at = (key) => Number(e.getAttribute(key) || 0);
	if (style.visibility === "hidden" || e.closest(".aside, [hidden]"))
		return;
	g.globalAlpha = Number(style.opacity);
	g.fillStyle = style.fill;
	if (e.localName === "path")
		g.fill(new Path2D(e.getAttribute("d")));
	if (e.localName === "rect") {
		const box = ["x", "y", "width", "height"].map(at);
		g.fillRect(...box);
		g.strokeStyle = style.stroke === "none" ? "transparent" : style.stroke;
		g.lineWidth = parseFloat(style.strokeWidth);
		g.strokeRect(...box);
	}
	if (e.localName !== "text")
		return;
	g.font = style.fontWeight + " " + style.fontSize + " " + style.fontFamily;
	g.textAlign = { middle: "center", end: "right" }[style.textAnchor] || "left";
	let y = at("y");
	const lines = [...e.querySelectorAll("tspan")];
	for (const line of lines.length ? lines : [e]) {
		y += Number(line.getAttribute("dy") || 0);
		g.fillText(line.textContent, at("x"), y);
	}
}

function pictureBlob(done) {
	const note = lieStill(), most = Math.sqrt(PNG_PIXELS / (width * height));
	const scale = Math.min(Math.max(2, devicePixelRatio || 1), most, PNG_SIDE / width, PNG_SIDE / height);
	const canvas = make(HTML, "canvas", { width: Math.round(width * scale), height: Math.round(height * scale) });
	const g = canvas.getContext("2d"), ground = getComputedStyle(byId("back")).fill;
	g.scale(scale, scale);
	g.fillStyle = ground;
	if (ground.includes("url(")) { // the gradient, which canvases do not know
		const shade = g.createLinearGradient(0, 0, 0, height);
		for (const stop of svg.querySelectorAll("#fg-ground stop"))
			shade.addColorStop(parseFloat(stop.getAttribute("offset")) / 100, stop.getAttribute("stop-color"));
		g.fillStyle = shade;
	}
	g.fillRect(0, 0, width, height);
	if (note)
		byId("head").append(note);
	for (const e of svg.querySelectorAll("#fg-frames :is(rect, path, text), #fg-head :is(rect, text)"))
		drawOn(g, e);
	note?.remove();
	place();
	canvas.toBlob(done, "image/png");
}

function download(blob, suffix) {
	const url = URL.createObjectURL(blob), words = byId("title").textContent.replace(/[^\w.-]+/g, "-");
	const a = make(HTML, "a", { href: url, download: (words.replace(/^[-.]+|-+$/g, "").slice(0, 80) || "graph") + suffix });
	barBox.append(a); // Firefox follows no other links
	a.click();
	a.remove();
	setTimeout(() => URL.revokeObjectURL(url), 60000);
	status.textContent = "Saved as " + a.download + ".";
}

const saveSvg = () => download(new Blob([pictureText()], { type: "image/svg+xml" }), ".svg");
const savePng = () => pictureBlob((blob) => {
	if (blob)
		download(blob, ".png");
	else
		status.textContent = "This view is too large for a PNG; save it as SVG.";
});
