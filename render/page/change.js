// SPDX-License-Identifier: GPL-2.0-or-later
// What a differential graph says about a frame, as render/picture.c does: colour, hover text, table and
// status compare the same counts, own or total ones.

// The sides by what is drawn; --negate only changes what they are called.
const DRAWN = num("negate") ? "before" : "after", OTHER = num("negate") ? "after" : "before";
const GONE = "[only " + OTHER + "]", USUAL_SIDE = WIDE ? "union" : "after";
const SIDES = { after: "Width: " + DRAWN, before: "Width: " + OTHER, union: "Width: the larger" };

function compared(v, i) {
	const total = state.compare === "total";
	const drawn = total ? v.after[i] : v.ownAfter[i], other = total ? v.before[i] : v.ownBefore[i];
	return num("negate") ? { before: drawn, after: other } : { before: other, after: drawn };
}

function sideTotals() {
	const [a, b] = [base.after[0], base.before[0]];
	return num("negate") ? { before: a, after: b } : { before: b, after: a };
}

function changeColor(v, i) {
	const c = compared(v, i), d = c.after - c.before;
	const most = num(state.compare === "total" ? "maxTotal" : "maxOwn") * SCALE;
	const strength = most ? Math.min(1, Math.abs(d) / most) : 0;
	return num(d > 0 ? "more" : "less") + Math.round(strength * 15);
}

// "+50.00%", "unchanged", "new", "gone"
function changeWords(c) {
	const t = sideTotals(), least = 1e-9 * (t.before + t.after), d = c.after - c.before;
	if (Math.abs(d) <= least)
		return "unchanged";
	if (c.before <= least)
		return "new";
	if (c.after <= least)
		return "gone";
	return (d > 0 ? "+" : "\u2212") + percent(Math.abs(d), c.before);
}

function changeLine(i) {
	const t = sideTotals(), c = compared(view, i);
	return state.compare + " before " + count(c.before) + " (" + percent(c.before, t.before) + "), after " +
		count(c.after) + " (" + percent(c.after, t.after) + "): " + changeWords(c);
}

// The counts of frame i on the side that its width shows: those of the root are without the region.
function shown(i) {
	return DIFF && !i && state.side === "after" ? view.after[0] : time(i);
}

// What frame i's share is of: the counts of the side that its width shows.
function shareOf(i) {
	if (!DIFF || state.side === "union")
		return DIFF ? unionTotal() : wholeTime();
	return state.side === "before" || view.gone[i] ? base.before[0] : base.after[0];
}

let both = 0;
function unionTotal() {
	if (WIDE)
		return base.end[0];
	if (!both)
		both = base.ownAfter.reduce((sum, own, i) =>
			sum + (base.gone[i] ? 0 : Math.max(own, base.ownBefore[i])), 0);
	return both;
}
