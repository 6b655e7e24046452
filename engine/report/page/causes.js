// SPDX-License-Identifier: GPL-2.0-or-later
// The table of causes, and the graphs, of the chosen threads and steps of time. The rows are those of the whole
// recording; which of them are there, their figures and their order follow the filter.
const causeTable = document.querySelector("#causes table");
const causeLines = causeTable ? [...causeTable.tBodies[0].rows] : [];
const causesUnfiltered = causeLines.filter((tr) => !tr.hidden).length;
const isFiltered = () => !!shown.who || shown.first > 0 || shown.end < data.n;

// What line `k` of data.causeCells has of the chosen threads' waits, in this range of steps.
function causeFigures(k, range = shown) {
	const sum = { ns: 0, waits: 0, longest: 0 }, joined = data.causeSteps;
	for (const [row, step, ns, waits, longest] of groups(data.causeCells[k], 5)) {
		if (step * joined >= range.end || (step + 1) * joined <= range.first || !fits(rows[row].thread))
			continue;
		sum.ns += ns;
		sum.waits += waits;
		sum.longest = Math.max(sum.longest, longest);
	}
	return sum;
}

// The cells of a line as they came with the page.
const asCame = new Map([...causeLines, ...causeTable ? causeTable.tFoot.rows : []].map((tr) =>
	[tr, [...tr.cells].slice(0, 4).map((td) => td.cloneNode(true))]));

const othersCell = causeTable?.querySelector("tfoot .others td:last-child"), othersSaid = othersCell?.textContent;

function fillCauseLine(tr, { ns, waits, longest }, all) {
	const share = element("td", { "data-v": String(all ? 100 * ns / all : 0) }, percent(ns, all));
	const cells = isFiltered() ? [share, timeCell(ns), ...tr.parentNode === causeTable.tFoot ? [element("td"), element("td")] : [numberCell(waits), timeCell(longest)]] :
		asCame.get(tr).map((td) => td.cloneNode(true));
	if (tr.className === "pauses")
		cells[0].replaceChildren();
	tr.hidden = isFiltered() && !ns && tr.className !== "all";
	cells.forEach((td, k) => tr.cells[k].replaceWith(td));
}

function showCauses() {
	if (!causeTable)
		return;
	const sums = data.causeCells.map((cells, k) => causeFigures(k)), [others, pauses] = sums.slice(causeLines.length);
	const all = sums.slice(0, causeLines.length + 1).reduce((sum, s) => sum + s.ns, 0);
	const order = causeLines.map((tr, k) => k);
	if (isFiltered())
		order.sort((a, b) => sums[b].ns - sums[a].ns || a - b);
	order.forEach((k, place) => {
		fillCauseLine(causeLines[k], sums[k], all);
		if (place < causesUnfiltered)
			return;
		causeLines[k].hidden = true;
		others.ns += sums[k].ns;
	});
	const foot = { others, pauses, all: { ns: all } };
	for (const tr of causeTable.tFoot.rows)
		fillCauseLine(tr, foot[tr.className], all);
	if (othersCell)
		othersCell.textContent = isFiltered() ? "others" : othersSaid;
	causeTable.tBodies[0].append(...order.map((k) => causeLines[k]));
	sortRows(causeTable);
}

const causesSaid = document.getElementById("causes-said");
function sayCauses() {
	if (causesSaid)
		causesSaid.textContent = isFiltered() ? (causeLines.every((tr) => tr.hidden) ? "Nothing of this was waited for by " + (shown.who || "anybody") + " then. " : "") + "Shares, times and waits are those of the filter below; the sentences are of the whole recording." +
			(data.causeSteps > 1 ? " Times are told in steps of " + time(data.causeSteps * data.step) + "." : "") : "";
}

// ---- the graphs

const namesShown = () => [...new Set(threads.filter(fits).flatMap((t) => t.names))];

// Says what of it graph `k` shows, and has it show that.
function showGraph(section, k) {
	const svg = section?.querySelector("svg.flamegraph"), said = section?.querySelector(".graph-said"), steps = data.graphSteps[k], words = [];
	if (!svg)
		return;
	const scope = {}, names = namesShown();
	if (shown.who) {
		scope.threads = names;
		words.push(names.length > 4 ? "Threads of " + names.length + " names." : names.length ? "Threads called " + names.join(", ") + "." :
			"No thread fits.");
	}
	if (shown.first > 0 || shown.end < data.n) {
		if (steps) {
			const first = Math.floor(shown.first / steps), end = Math.ceil(shown.end / steps);
			scope.slices = [first, end];
			words.push("From " + seconds(stepFrom(first * steps)) + " s to " + seconds(Math.min(data.to, stepFrom(end * steps))) +
				" s" + (steps > 1 ? ", in steps of " + time(steps * data.step) : "") + ": of each wait the part in that range.");
		} else {
			words.push("It is of the whole time: what it would need for a part of it did not fit into this page.");
		}
	}
	said.textContent = words.join(" ");
	svg.dataset.scope = JSON.stringify(scope);
	svg.dispatchEvent(new Event("scope"));
}

function showGraphs() {
	["graph", "ran"].forEach((id, k) => showGraph(document.getElementById(id), k));
	const requests = document.getElementById("requests-said");
	if (requests)
		requests.textContent = isFiltered() ? "Of all threads and the whole time, whatever the filter below says." : "";
}
