// SPDX-License-Identifier: GPL-2.0-or-later
// Matches names, sums the time of matching frames, and goes from match to match.

let invalid = false; // is the expression none?
function search() {
	matched = null;
	invalid = false;
	let re = null; // an incomplete expression is matched literally
	if (!state.search)
		return;
	for (const flags of ["u", ""]) // "u" refuses some expressions that are valid without it
		try {
			re = re || new RegExp(state.search, flags + (state.exact ? "" : "i"));
		} catch (e) {
			// the next flags, or none
		}
	invalid = !re;
	const plain = state.exact ? state.search : state.search.toLowerCase();
	matched = new Uint8Array(names.length);
	names.forEach((s, k) => {
		if (s === "--" || s === "-")
			return;
		s = bare(s);
		matched[k] = (re ? re.test(s) : (state.exact ? s : s.toLowerCase()).includes(plain)) ? 1 : 0;
	});
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
	return (num("leftOut") ? "Matched, without frames that are not in this file: at least " : "Matched: ") + share +
		", " + (at ? commas(at) + " of " : "") + commas(frames) + (frames === 1 ? " frame" : " frames") +
		(invalid ? "; no valid pattern, taken as it stands" : "");
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
