// SPDX-License-Identifier: GPL-2.0-or-later
// The state, which mirrors the URL fragment. A frame is named by the names on its path, so that a link
// also works on tomorrow's graph.

// lists: several values; the others are texts, or flags ("" or "1")
const LISTS = { hide: "hide", drop: "drop", without: "without" };
const TEXTS = { search: "search", exact: "case", flip: "flip", thread: "thread", leaves: "leaves",
	sandwich: "sandwich", focus: "focus", recursion: "recursion", only: "only", kernel: "kernel", beside: "beside" };
const state = { zoom: 0, side: USUAL_SIDE, compare: num("byTotal") ? "total" : "own" };
for (const k in TEXTS)
	state[k] = "";
for (const k in LISTS)
	state[k] = [];
let wanted = ""; // the path in the fragment

// The fragment's keys are this, then a name: a page may have several graphs, and keys of its own.
const KEYS = opt.keys || "";

function fragmentKeys() {
	return new URLSearchParams(location.hash.slice(1));
}

function readState(keepSearch) {
	const p = fragmentKeys();
	for (const k in TEXTS)
		if (!keepSearch || (k !== "search" && k !== "exact"))
			state[k] = p.get(KEYS + TEXTS[k]) || "";
	for (const k in LISTS)
		state[k] = p.getAll(KEYS + LISTS[k]);
	if (DIFF) {
		const side = p.get(KEYS + "side");
		state.side = side in SIDES ? side : USUAL_SIDE;
		state.compare = p.get(KEYS + "compare") || (num("byTotal") ? "total" : "own");
	}
	wanted = p.get(KEYS + "path") || "";
}

function fragment() {
	const p = fragmentKeys();
	const put = (key, value) => value ? p.set(KEYS + key, value) : p.delete(KEYS + key);
	for (const k in TEXTS)
		put(TEXTS[k], state[k]);
	for (const k in LISTS) {
		p.delete(KEYS + LISTS[k]);
		state[k].forEach((s) => p.append(KEYS + LISTS[k], s));
	}
	put("side", state.side === USUAL_SIDE ? "" : state.side);
	put("compare", (state.compare === "total") === (num("byTotal") > 0) ? "" : state.compare);
	put("path", pathOf(state.zoom));
	const another = state.zoom && state.zoom !== find(pathOf(state.zoom));
	put("zoom", another ? String(state.zoom) : ""); // of several frames with this path: a flame chart
	return "#" + p.toString();
}

// Without the groups that a frame is in: a view may have none.
function pathOf(i) {
	const path = [];
	for (let j = i; j && (j === i || !view.group[j]); j = parent[j])
		path.push(names[name[j]]);
	return path.reverse().join(";");
}

// The callee of frame `at` with this name, also in a group, where it may have the name of those like it; `at` itself if
// there is none.
function calleeOf(at, s) {
	for (let k = at + 1; k < last[at]; k = last[k]) {
		const inside = view.group[k] && names[name[k]] !== s ? calleeOf(k, s) : k, found = names[name[inside]];
		if (inside !== k || found === s || (view.group[at] && found === alike(s)))
			return inside;
	}
	return at;
}

// The frame of this path, or of as much of it as there is.
function find(path) {
	let at = 0;
	for (const s of path ? path.split(";") : []) {
		const k = calleeOf(at, s);
		if (k === at)
			break;
		at = k;
	}
	return at;
}

function findZoom() {
	const z = Number(fragmentKeys().get(KEYS + "zoom"));
	state.zoom = z > 0 && z < name.length && wanted && pathOf(z) === wanted ? z : find(wanted);
}

// What makes another view, as one text.
const viewKey = () => JSON.stringify([state.thread, state.leaves, state.sandwich, state.focus, state.recursion,
	state.only, state.kernel, scope, state.side, state.hide, state.drop, state.without]);

// Apply a change of the state. keep: as a history entry, which the back button undoes.
function go(change, keep) {
	const path = pathOf(state.zoom), ringed = focus >= 0 ? pathOf(focus) : null, before = viewKey(), compare = state.compare;
	Object.assign(state, change);
	const turned = "flip" in change || "zoom" in change || viewKey() !== before;
	if (viewKey() !== before) {
		use(makeView());
		hover = -1;
		focus = ringed === null ? -1 : exactly(ringed);
		if (!("zoom" in change))
			state.zoom = find(path);
	} else if (state.compare !== compare) {
		paint(base);
		if (view !== base)
			paint(view);
	}
	const hash = fragment();
	try {
		if (keep && hash !== (location.hash || "#"))
			history.pushState({ own: 1 }, "", hash);
		else
			history.replaceState({ own: 1 }, "", hash);
	} catch (e) {
		// a sandboxed frame has no history: not needed to draw
	}
	apply();
	if (turned)
		bringRoot();
}

// The page around has chosen other threads or another time.
function rescope() {
	const path = pathOf(state.zoom), ringed = focus >= 0 ? pathOf(focus) : null;
	use(makeView());
	hover = -1;
	focus = ringed === null ? -1 : exactly(ringed);
	state.zoom = find(path);
	apply();
	bringRoot();
}

// The frame of this whole path; -1: there is none.
function exactly(path) {
	const i = find(path);
	return pathOf(i) === path ? i : -1;
}

// The fragment has changed. back: by the back button, which undoes views and keeps the search.
function arrive(back) {
	readState(back);
	use(makeView());
	if (DIFF)
		paint(view);
	focus = hover = -1;
	findZoom();
	if (back)
		go({});
	else
		apply();
	bringRoot();
}

function apply() {
	search();
	updateHead();
	if (tablePanel.parentNode)
		fillTable();
	showBeside();
	adapt();
	redraw();
}
