// SPDX-License-Identifier: GPL-2.0-or-later
// Two ranges of time beside each other: what each cause has of the chosen range, and of the one that was kept before,
// for each second of them. The address has the range that was kept.
const COMPARED = 10; // causes, those that changed most
const comparedBox = element("div", { id: "compared" });
causeTable?.parentNode.after(comparedBox);

function keptRange() {
	const [, from, to] = /^([\d.]+)-([\d.]+)$/.exec(inAddress("against")) || [];
	return from === undefined ? null : stepsOf(from, to);
}

function keepRange() {
	intoAddress({ against: seconds(rangeFrom()) + "-" + seconds(rangeTo()) });
	showCompared();
}

const rangeEnd = (range) => range.end >= data.n ? data.to : stepFrom(range.end);
const rangeWords = (range) => seconds(stepFrom(range.first)) + " to " + seconds(rangeEnd(range)) + " s";
const perSecond = (k, range) => causeFigures(k, range).ns * 1e9 / (rangeEnd(range) - stepFrom(range.first) || 1);

function showCompared() {
	const kept = causeTable && keptRange();
	if (!kept) {
		comparedBox.replaceChildren();
		return;
	}
	const rows = causeLines.map((tr, k) => ({ what: tr.cells[4].firstChild.textContent, before: perSecond(k, kept), now: perSecond(k, shown) }))
		.map((r) => ({ ...r, more: r.now - r.before })).filter((r) => r.more).sort((a, b) => Math.abs(b.more) - Math.abs(a.more)).slice(0, COMPARED);
	const stop = element("button", { type: "button", class: "more", onclick: () => { intoAddress({ against: "" }); showCompared(); } }, "Stop comparing");
	comparedBox.replaceChildren(element("p", { class: "note" }, "Waiting in each second, in the range that was kept and in the chosen one; what changed most. ", stop),
		rows.length ? element("div", { class: "scroll", tabindex: 0 }, element("table", {}, element("thead", {}, element("tr", {},
			...[rangeWords(kept), rangeWords(shown), "Change", "Cause"].map((s) => element("th", {}, s)))),
		element("tbody", {}, ...rows.map((r) => element("tr", {}, timeCell(Math.round(r.before)), timeCell(Math.round(r.now)),
			element("td", { "data-ns": String(Math.round(r.more)) }, (r.more > 0 ? "+" : "\u2212") + time(Math.abs(Math.round(r.more)))),
			element("td", {}, isolated(r.what))))))) : element("p", { class: "note" }, "Nothing changed. Choose another range."));
}
