// SPDX-License-Identifier: GPL-2.0-or-later
// Matches names, and sums the time of matching frames.

function search() {
	matched = null;
	let re;
	if (!state.search)
		return;
	try {
		re = new RegExp(state.search, state.exact ? "u" : "iu");
	} catch (e) {
		try {
			re = new RegExp(state.search, state.exact ? "" : "i");
		} catch (e2) {
			re = null; // an incomplete expression is matched literally
		}
	}
	const plain = state.exact ? state.search : state.search.toLowerCase();
	matched = new Uint8Array(names.length);
	names.forEach((s, k) => {
		if (s === "--" || s === "-")
			return;
		s = bare(s);
		matched[k] = (re ? re.test(s) : (state.exact ? s : s.toLowerCase()).includes(plain)) ? 1 : 0;
	});
}

// The share of matching frames in the time of the zoomed part; nested matches count once.
function matchedShare() {
	let sum = 0, whole = 0;
	const z = state.zoom;
	const walk = (from, to) => {
		for (let i = from; i < to;) {
			if (matched[name[i]]) {
				sum += time(i);
				i = last[i];
			} else {
				i++;
			}
		}
	};
	if (state.thread && !z) {
		for (let i = 1; i < name.length; i = last[i])
			if (names[name[i]] === state.thread) {
				whole += time(i);
				walk(i, last[i]);
			}
	} else {
		whole = time(z);
		walk(z, last[z]);
	}
	return percent(sum, whole);
}
