// SPDX-License-Identifier: GPL-2.0-or-later
// The answer: below the verdict on an endpoint, the strip of its slowest request and of the usual one.
const subjects = [...document.querySelectorAll("#answer .subject[data-endpoints]")];

// The slowest request, as the answer has it: for its route; and of the same endpoint that nearest to the median.
function slowAndUsual(subject) {
	const of = subject.endpoints.split(" "), list = data.requests.filter((r) => of.includes(String(r.endpoint))).sort((a, b) => b.took - a.took);
	if (!list.length)
		return [];
	const slow = list.find((r) => r.took === +subject.slowest) || list[0], e = data.endpoints[slow.endpoint], half = sumOf(e.counts) / 2;
	let step = 0;
	for (let n = e.counts[0]; n < half && step + 1 < e.counts.length; n += e.counts[step])
		step++;
	const usual = list.filter((r) => r.endpoint === slow.endpoint && latencyStep(e, r.took) === step).pop();
	return usual && usual !== slow ? [slow, usual] : [slow];
}

function showStrips() {
	for (const subject of subjects) {
		const pair = slowAndUsual(subject.dataset), box = subject.querySelector(".strips") || subject.appendChild(element("div", { class: "strips" }));
		if (!pair.length)
			continue;
		const bars = pair.map((r, k) => [k ? "the usual one" : r.took === +subject.dataset.slowest ? "the slowest" : "a slow one", r.wait]);
		const { svg, marked } = drawStrip(bars, Math.max(280, box.clientWidth), (w) => openRequest(pair.find((r) => r.wait === w)));
		const more = marked ? [...marked].slice(0, 4).map(([words, ns]) => element("li", {}, element("b", {}, "+" + time(ns)), " ", isolated(words))) : [];
		box.replaceChildren(svg, ...more.length ? [element("p", { class: "note" }, "Underlined, and longer than in the usual one:"),
			element("ul", { class: "parts" }, ...more)] : []);
	}
	showLife();
}

// Of a command, or of what was named, the strip is of all of its path; a click opens that with its lanes.
const lived = data.life && document.querySelector("#answer .subject[data-life]");
const lifeBox = lived ? lived.appendChild(element("div", { class: "strips" })) : null;

function showLife() {
	if (!lived)
		return;
	const w = data.life, width = Math.max(280, lifeBox.clientWidth), open = inAddress("life") !== "";
	const { svg } = drawStrip([["from its beginning to its end", w]], width, () => {
		intoAddress({ life: open ? "" : "1" });
		showLife();
	});
	lifeBox.replaceChildren(svg);
	if (!open)
		return;
	const rows = rowsOf(w, false), lanes = drawWait(w, width, rows);
	lifeBox.append(element("div", { class: "opened" }, lanes, explained(lanes), wordsOf(w, rows)));
}
onAddress("life", showLife);

// ---- contents and search

const contents = document.getElementById("contents");

function goToSection(id) {
	document.getElementById(id)?.scrollIntoView();
}

contents.addEventListener("click", (e) => {
	const id = e.target.closest("a")?.getAttribute("href")?.slice(1);
	if (!id)
		return;
	e.preventDefault();
	goToSection(id);
	intoAddress({ at: id });
});

const MOST_FOUND = 4; // of a kind
const findField = element("input", { id: "find", type: "search", autocomplete: "off", spellcheck: "false", placeholder: "Search all",
	"aria-label": "Search names, functions, objects and endpoints", oninput: () => showFound() });
const foundBox = element("div", { id: "found", role: "list", "aria-label": "found", hidden: true });

// All that has this text in its name: what it is, what it is called, and how to go there.
function* findAll(part) {
	const has = (s) => s.toLowerCase().includes(part);
	for (const [i, e] of data.endpoints.entries())
		if (has(text(e.name)))
			yield ["endpoint", text(e.name), () => { ask({ endpoint: i }); goToSection("requests"); }];
	for (const [k, tr] of causeLines.entries())
		if (has(tr.cells[4].textContent))
			yield ["cause", tr.cells[4].firstChild.textContent, () => goToCause(k)];
	for (const s of new Set(threads.flatMap((t) => t.names)))
		if (has(s))
			yield ["thread", s, () => { choose({ who: s }); goToSection("all-threads"); }];
	for (const [i, w] of data.waits.entries())
		if (has(text(w.place)))
			yield ["wait in", text(w.place), () => showExample(i)];
	const functions = document.querySelector("#graph #fg-names")?.textContent.split("\n") || [];
	for (const s of functions.filter(has))
		yield ["function", s, () => { intoAddress({ search: s }); goToSection("graph"); }];
}

function showFound() {
	const part = findField.value.trim().toLowerCase(), rows = [], seen = new Set(), kinds = {};
	let more = 0;
	for (const [kind, name, go] of part.length > 1 ? findAll(part) : []) {
		if (seen.has(kind + name))
			continue;
		seen.add(kind + name);
		kinds[kind] = (kinds[kind] || 0) + 1;
		if (kinds[kind] > MOST_FOUND)
			more++;
		else
			rows.push(element("div", { role: "listitem" }, element("button", { type: "button", onclick: () => { closeFound(); go(); } },
				element("span", { class: "note" }, kind), " ", isolated(name))));
	}
	foundBox.hidden = part.length < 2;
	foundBox.replaceChildren(...rows.length ? rows : [element("p", { class: "note" }, "Nothing has this in its name.")],
		...more ? [element("p", { class: "note" }, "and " + more + " more")] : []);
}

function closeFound() {
	findField.value = "";
	foundBox.hidden = true;
}

contents.append(element("div", { class: "finding" }, findField, foundBox));
contents.addEventListener("keydown", (e) => {
	if (e.key === "Escape")
		closeFound();
	if (e.key === "Enter" && e.target === findField)
		foundBox.querySelector("button")?.click();
});
