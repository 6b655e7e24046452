// SPDX-License-Identifier: GPL-2.0-or-later
// The state, which mirrors the URL fragment; the layout, which picks the frames that are wide
// enough; and drawing, which replaces the picture by them.

// ---- state ----
const state = { zoom: 0, search: "", exact: false, flip: false, thread: "" };
let rows = [], matched = null, width = num("width"), top = Number(byId("frames").dataset.top);
let height = 0, hover = -1, focus = -1, drawn = false;

function readState() {
	const p = new URLSearchParams(location.hash.slice(1));
	const zoom = Number(p.get("zoom"));
	state.zoom = zoom > 0 && zoom < name.length && zoom % 1 === 0 ? zoom : 0;
	state.search = p.get("search") || "";
	state.exact = p.has("case");
	state.flip = p.has("flip");
	state.thread = p.get("thread") || "";
}

function fragment() {
	const p = new URLSearchParams(location.hash.slice(1)); // a page may have keys of its own
	const put = (key, value) => value ? p.set(key, value) : p.delete(key);
	put("zoom", state.zoom);
	put("search", state.search);
	put("case", state.exact ? "1" : "");
	put("flip", state.flip ? "1" : "");
	put("thread", state.thread);
	return "#" + p.toString();
}

// Apply a change of the state. keep: as a history entry, which the back button undoes.
function go(change, keep) {
	Object.assign(state, change);
	const hash = fragment();
	if (keep && hash !== (location.hash || "#")) {
		location.hash = hash;
	} else {
		try {
			history.replaceState(null, "", hash);
		} catch (e) {
			// a sandboxed frame has no history: not needed to draw
		}
	}
	apply();
}

function apply() {
	search();
	redraw();
}

// ---- layout: the frames of at least the minimum width, row by row ----
function layout() {
	const z = state.zoom, span = width - 2 * XPAD;
	const only = state.thread;
	let whole = time(z), from = begin[z];
	rows = [];
	const put = (i, x, w) => {
		const d = depth[i];
		(rows[d] = rows[d] || { id: [], x: [], w: [] }).id.push(i);
		rows[d].x.push(x);
		rows[d].w.push(w);
	};
	const threads = [];
	if (only && !z) {
		whole = 0;
		for (let i = 1; i < name.length; i = last[i])
			if (names[name[i]] === only) {
				threads.push(i);
				whole += time(i);
			}
	}
	const px = whole ? span / whole : 0;
	const least = num("minPercent") ? span * num("min") / 100 : num("min");
	const subtree = (root) => {
		for (let i = root; i < last[root];) {
			const w = time(i) * px;
			if (w < least) {
				i = last[i];
				continue;
			}
			put(i, XPAD + (begin[i] - from) * px, w);
			i++;
		}
	};
	for (let up = z; up;) {
		up = parent[up];
		put(up, XPAD, span);
	}
	if (!threads.length || z) {
		subtree(z);
		return;
	}
	put(0, XPAD, span);
	let done = 0;
	for (const i of threads) {
		from = begin[i] - done;
		subtree(i);
		done += time(i);
	}
}

function rowY(d) {
	const down = rootOnTop();
	return top + (down ? d : (height - top - foot()) / rowHeight - 1 - d) * rowHeight;
}

function rootOnTop() {
	return INVERTED !== state.flip;
}

function foot() {
	return FONT * 2 + 10;
}

// ---- drawing ----
function cut(s, w, bold) {
	let room = Math.floor(w / charWidth + 1e-6);
	if (room < 3)
		return "";
	if (bold)
		room -= Math.floor(room / 9);
	if (s.length <= room)
		return s;
	const chars = Array.from(s.slice(0, room * 2 + 2));
	return chars.length <= room ? chars.join("") : chars.slice(0, room - 2).join("") + "..";
}

function redraw() {
	layout();
	const deepest = rows.length, before = height;
	height = Math.max(top + deepest * rowHeight + foot(), state.zoom ? height : 0);
	svg.setAttribute("width", width);
	svg.setAttribute("height", height);
	svg.setAttribute("viewBox", "0 0 " + width + " " + height);
	const frames = byId("frames"), fresh = make(SVG, "g", { id: "fg-frames" });
	for (let d = 0; d < deepest; d++) {
		const row = rows[d], y = rowY(d), paths = new Map(), wide = [];
		const h = rowHeight - 1;
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
			if (w >= 3 * charWidth) {
				const faded = i < state.zoom && last[i] > state.zoom;
				const r = make(SVG, "rect", { x: x.toFixed(1), y, width: w.toFixed(1),
					height: h, fill });
				const t = make(SVG, "text", { x: (x + 3).toFixed(1),
					y: (y + h / 2 + FONT * 0.34).toFixed(1) }, cut(label(i), w, isThread(i)));
				if (isThread(i))
					t.setAttribute("font-weight", "bold");
				if (isGone(i))
					r.setAttribute("class", "gone");
				if (faded) {
					r.setAttribute("class", "above");
					t.setAttribute("class", "above");
				}
				wide.push(r, t);
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
	}
	frames.replaceWith(fresh);
	drawn = true;
	if (before && height !== before && !rootOnTop())
		scrollBy(0, height - before);
	point(-1);
	if (focus >= 0)
		mark(focus);
	updateBar();
}

function frameAt(x, y) {
	const down = rootOnTop();
	const line = Math.floor((y - top) / rowHeight);
	const d = down ? line : Math.round((height - top - foot()) / rowHeight) - 1 - line;
	const row = rows[d];
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
