// SPDX-License-Identifier: GPL-2.0-or-later
// Matches names, sums the time of matching frames, and goes from match to match.

const HOW_TO_SEARCH = "text or /regex/", INVALID = "no valid expression, taken as it stands";
let taken = ""; // how the text was taken, if that is not plain

function expression(s, exact) {
	let re = null;
	for (const flags of ["u", ""]) // "u" refuses some expressions that are valid without it
		try {
			re = re || new RegExp(s, flags + (exact ? "" : "i"));
		} catch (e) {
			// the next flags, or none
		}
	return re;
}

// Which names a text means: those that have it; /.../ is an expression. What no name has may be an expression without
// slashes, as other programs take it, but not what looks like the name of an end: [timer] is no set of letters.
function matcher(s, exact, list) {
	const slashed = /^\/(.+)\/$/su.exec(s), plain = exact ? s : s.toLowerCase();
	const has = (name) => (exact ? name : name.toLowerCase()).includes(plain);
	let re = slashed && expression(slashed[1], exact), how = slashed && !re ? INVALID : "";
	if (!slashed && /[\\^$*+?|()[\].{}]/.test(s) && !/^\[[^[\]]*\]$/.test(s) && !list.some(has)) {
		re = expression(s, exact);
		how = re ? "taken as a regular expression" : INVALID;
	}
	return { fits: re ? (name) => re.test(name) : has, how };
}

// The expression that finds this name alone.
const wholeName = (s) => "/^" + escapeRegExp(s) + "$/";

function search() {
	matched = null;
	taken = "";
	if (!state.search)
		return;
	const list = names.map((s, k) => s === "--" || s === "-" || k === rest ? null : bare(s));
	const { fits, how } = matcher(state.search, state.exact, list.filter((s) => s !== null));
	taken = how;
	matched = Uint8Array.from(list, (s) => s !== null && fits(s) ? 1 : 0);
}

// The share of matching frames in the time of the zoomed part, nested matches counted once, and how
// many there are. With callers and callees of a function: of each.
function matchedWords() {
	const z = state.zoom;
	let frames = 0;
	const sum = (from, to) => {
		let t = 0, covered = 0;
		for (let i = from; i < to; i++) {
			if (!matched[name[i]] || !time(i))
				continue;
			frames++;
			if (i < covered)
				continue;
			t += time(i);
			covered = last[i];
		}
		return percent(t, time(z));
	};
	const share = view.callers && !z ? "callees " + sum(0, view.callers) + ", callers " +
		sum(view.callers, name.length) : sum(z, last[z]);
	const at = focus >= 0 && matched[name[focus]] ? matches(z).indexOf(focus) + 1 : 0;
	return (uncounted() > 0 ? "Matched, without frames that are not in this file: at least " : "Matched: ") + share +
		", " + (at ? commas(at) + " of " : "") + commas(frames) + (frames === 1 ? " frame" : " frames");
}

// Row by row and from left to right.
function matches(z) {
	const list = [];
	for (let i = z; i < last[z]; i++)
		if (matched[name[i]] && time(i))
			list.push(i);
	return list.sort((a, b) => depth[a] - depth[b] || begin[a] - begin[b] || a - b);
}

// The next or previous match in what the user has zoomed to, row by row and from left to right. If it is
// too narrow to be drawn, zoom to the widest caller in which it is not.
let stepZoom = 0, stepFrom = 0; // the zoom made for a match, and the one before
function step(by) {
	if (!matched)
		return;
	const z = state.zoom && state.zoom === stepZoom ? stepFrom : state.zoom, list = matches(z);
	if (!list.length)
		return;
	const here = list.indexOf(focus);
	const to = list[here < 0 ? (by > 0 ? 0 : list.length - 1) : (here + by + list.length) % list.length];
	focus = to;
	if (!boxOf(to)) {
		stepFrom = z;
		const wide = (width - 2 * XPAD) / LEAST_LABEL;
		let up = to;
		while (up && time(parent[up]) <= time(to) * wide)
			up = parent[up];
		stepZoom = up;
		go({ zoom: up }, true);
	}
	mark(to);
	share.textContent = matchedWords();
}
