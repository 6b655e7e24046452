// SPDX-License-Identifier: GPL-2.0-or-later
// The layout, which picks the frames that are wide enough, and drawing, which replaces the picture by
// them.

let rows = [], firstRow = 0, matched = null, width = num("width"), outer = width, top = Number(byId("frames").dataset.top);
// width is the graph's, outer also has the panel beside it.
let height = 0, hover = -1, focus = -1;
// With more rows than this only those near the window are drawn: by row, whether it is; null: all are.
const TALL = 400;
let drawn = null;
// Needles, as in page.c: rows in which no frame is wider than that, and all together are that part of the width at most,
// are one row, if there are as many of them as that.
const NEEDLE = 4, NEEDLES_WIDTH = 0.05, NEEDLES_ROWS = 8;
let needles = []; // for each side: the row and what it says
const texts = new Map(); // of the frames with room for their name, once the script has drawn them
const SIDE = "#101010"; // as in picture.c

// ---- layout: the frames of at least the minimum width, row by row ----
function layout() {
	const z = state.zoom, span = width - 2 * XPAD, from = begin[z], all = time(z);
	const px = all ? span / all : 0;
	const least = num("minPercent") ? span * num("min") / 100 : num("min");
	rows = [];
	const put = (i, x, w) => {
		const d = depth[i];
		(rows[d] = rows[d] || { id: [], x: [], w: [] }).id.push(i);
		rows[d].x.push(x);
		rows[d].w.push(w);
	};
	for (let i = z; i < last[z];) {
		const w = time(i) * px;
		if ((w < least || (name[i] === rest && !w)) && i > z) {
			i = last[i];
			continue;
		}
		put(i, XPAD + (begin[i] - from) * px, w);
		i++;
	}
	for (let up = z; up;) {
		up = parent[up];
		put(up, XPAD, span);
	}
	firstRow = rows.findIndex((row) => row);
	needles = [];
	foldNeedles(rows.length - 1, -1, span);
	if (view.callers && !z)
		foldNeedles(firstRow, 1, span);
	firstRow = rows.findIndex((row) => row);
}

// Folds the needles that end in row d into the last row on the way to the root (by: +1 or -1) that is one.
function foldNeedles(d, by, span) {
	const thin = (row) => row && row.w.every((w) => w <= NEEDLE) && row.w.reduce((sum, w) => sum + w, 0) <= NEEDLES_WIDTH * span;
	let at = d, frames = 0;
	for (; depth[state.zoom] !== at && thin(rows[at]); at += by)
		frames += rows[at].id.length;
	const count = Math.abs(at - d);
	if (count < NEEDLES_ROWS)
		return;
	at -= by;
	for (let k = d; k !== at; k += by)
		delete rows[k];
	if (by < 0)
		rows.length = at + 1;
	needles.push({ d: at, words: "... " + frames + " narrow frames in " + count + " rows" });
}

// What such a row stands for, on the side where the widest of it is not; as picture.c does.
function drawNeedles(fresh) {
	for (const { d, words } of needles) {
		const row = rows[d], widest = row.w.indexOf(Math.max(...row.w)), left = row.x[widest] - XPAD > (width - 2 * XPAD) / 2;
		fresh.append(make(SVG, "text", { class: "needles", x: left ? XPAD : width - XPAD, y: (rowY(d) + (rowHeight - 1) / 2 + FONT * 0.34).toFixed(1),
			"text-anchor": left ? "start" : "end" }, words));
	}
}

function rowY(d) {
	const row = d - firstRow;
	return top + (rootOnTop() ? row : rowsHigh() - 1 - row) * rowHeight;
}

function rowsHigh() {
	return Math.round((height - top - foot()) / rowHeight);
}

function rootOnTop() {
	return INVERTED !== !!state.flip;
}

function foot() {
	return FONT * 2 + 10;
}

// ---- drawing ----
function redraw() {
	layout();
	const deepest = rows.length - firstRow, before = height;
	height = Math.max(top + deepest * rowHeight + foot(), state.zoom ? height : 0);
	resize();
	const frames = byId("frames"), fresh = frames.cloneNode(false);
	fresh.setAttribute("role", "tree");
	fresh.setAttribute("aria-label", opt.nametype + " frames by level");
	texts.clear();
	drawn = rows.length > TALL ? [] : null;
	if (!drawn)
		rows.forEach((row, d) => drawRow(fresh, row, rowY(d)));
	drawNeedles(fresh);
	frames.replaceWith(fresh);
	if (before && height !== before && !rootOnTop())
		(BOX || window).scrollBy(0, height - before);
	point(-1);
	surround(ring, focus);
	tellReaders();
	updateBar();
}

// Of a tall graph, draws the rows within a window's height of what is seen (place() calls it), or all.
function drawNear(seen, all) {
	if (!drawn)
		return;
	const frames = byId("frames"), lines = rowsHigh();
	const first = all ? 0 : Math.max(0, Math.floor((seen.y - seen.h - top) / rowHeight));
	const end = all ? lines : Math.min(lines, Math.ceil((seen.y + 2 * seen.h - top) / rowHeight));
	for (let line = first; line < end; line++) {
		const d = firstRow + (rootOnTop() ? line : lines - 1 - line);
		if (!rows[d] || drawn[d])
			continue;
		drawn[d] = true;
		drawRow(frames, rows[d], rowY(d));
		if (focus >= 0 && depth[focus] === d)
			tellReaders();
	}
}

// There is room below the root for the bar; a document of its own is at least as tall as the window, for menus and
// tables of shallow graphs.
function resize() {
	const tall = Math.max(height + Math.max(0, barHeight() - foot()), ALONE ? innerHeight : 0);
	svg.setAttribute("width", outer);
	svg.setAttribute("height", tall);
	svg.setAttribute("viewBox", "0 0 " + outer + " " + tall);
}

function drawRow(fresh, row, y) {
	const paths = new Map(), wide = [], h = rowHeight - 1;
	let edges = "";
	const put = (r) => {
		const p = paths.get(r.fill) || { d: "M0 " + y, x: 0 }, x = Math.round(r.x * 10);
		const w = Math.round((r.to - r.x) * 10) / 10;
		p.d += "m" + (x - p.x) / 10 + " 0h" + w + "v" + h + "h" + -w + "z";
		p.x = x;
		paths.set(r.fill, p);
	};
	let run = null;
	for (let k = 0; k < row.id.length; k++) {
		const i = row.id[k], x = row.x[k], w = row.w[k];
		const hit = matched && matched[name[i]], fill = hit ? FOUND : colors[color[i]];
		if (w >= LEAST_LABEL) {
			const above = i < state.zoom && last[i] > state.zoom;
			const r = make(SVG, "rect", { x: x.toFixed(1), y, width: w.toFixed(1), height: h, fill });
			const t = make(SVG, "text", { x: (x + 3).toFixed(1), y: (y + h / 2 + FONT * 0.34).toFixed(1),
				role: "treeitem", "aria-level": depth[i] + 1, "aria-label": label(i) + ", " + percent(shown(i), shareOf(i)) },
			fit(label(i), w - 6, isThread(i)));
			texts.set(i, t);
			if (isThread(i))
				t.setAttribute("font-weight", "bold");
			if (above) {
				r.setAttribute("class", "above");
				t.setAttribute("class", "above");
			}
			if (!above && light(fill))
				t.setAttribute("fill", "#fff");
			if (view.gone[i])
				r.classList.add("gone");
			wide.push(r, t);
			if (chainView() && link[i] && !isDelim(i) && !isEnd(i) && !part[i]) // what belongs to one waker has one edge
				edges += "M" + x.toFixed(1) + " " + y + "h2v" + rowHeight + "h-2z";
			continue;
		}
		// Too narrow for a name. As in picture.c, touching neighbours of one colour, or
		// at most a pixel wide together, are one rectangle.
		if (run && x - run.to < 0.05 && (run.fill === fill || x + w - run.x <= 1)) {
			run.to = x + w;
			if ((hit ? Infinity : w) > run.widest) {
				run.widest = hit ? Infinity : w;
				run.fill = fill;
			}
			continue;
		}
		if (run)
			put(run);
		run = { x, to: x + w, widest: hit ? Infinity : w, fill };
	}
	if (run)
		put(run);
	for (const [fill, p] of paths)
		fresh.append(make(SVG, "path", { fill, d: p.d }));
	fresh.append(...wide);
	if (edges)
		fresh.append(make(SVG, "path", { class: "side", d: edges, fill: SIDE }));
}

function frameAt(x, y) {
	const line = Math.floor((y - top) / rowHeight);
	const row = rows[firstRow + (rootOnTop() ? line : rowsHigh() - 1 - line)];
	if (!row || y < top)
		return -1;
	let low = 0, high = row.x.length;
	while (low < high) {
		const mid = low + high >> 1;
		if (row.x[mid] <= x)
			low = mid + 1;
		else
			high = mid;
	}
	return low && x <= row.x[low - 1] + row.w[low - 1] ? row.id[low - 1] : -1;
}

function boxOf(i) {
	const row = rows[depth[i]], k = row ? row.id.indexOf(i) : -1;
	return k < 0 ? null : { x: row.x[k], w: row.w[k], y: rowY(depth[i]) };
}
