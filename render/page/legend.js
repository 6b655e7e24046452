// SPDX-License-Identifier: GPL-2.0-or-later
// The legend of a chain graph is an instrument: a click on an entry keeps only its stacks, another one
// hides them, a third shows all again.

// The entry that the end of a stack belongs to; "" if s is no end.
function endKey(s) {
	return Object.hasOwn(ENDS, s) ? s : s.startsWith("[disk ") ? "[disk]" : "";
}

// The key of the end that frame i of a view is, "" if it is none. Stacks can have frames like ends, also
// those above an end: only some ends have more on them, and only these stand on others.
const MORE = /^\[(running|on-CPU|runnable|preempted|disk|network)\]$/, ON_ENDS = /^\[(throttled|idle CPU|recorder|no events|queued|device)\]$/;
function endOf(v, i) {
	const key = CHAIN && v.depth[i] ? endKey(names[v.name[i]]) : "";
	return (v.last[i] === i + 1 || MORE.test(key)) && (!v.part[i] || ON_ENDS.test(key)) ? key : "";
}

// Is it the end of a chain, next to the last waker?
function isEnd(i) {
	const key = endOf(view, i);
	return key !== "" && !ON_ENDS.test(key);
}

// Does the stack that ends in frame i of the base fit the state? "link 2": it has two wakers or more.
function endFilter() {
	if (!state.only && !state.without.length)
		return () => true;
	const ends = new Array(base.name.length).fill("");
	for (let i = 1; i < ends.length; i++) {
		const key = endOf(base, i), below = ends[base.parent[i]];
		ends[i] = !below || ON_ENDS.test(key) ? below + key : below;
	}
	const has = (i, key) => key.startsWith("link ") ? base.link[i] >= Number(key.slice(5)) : ends[i].includes(key);
	return (i) => (!state.only || has(i, state.only)) && !state.without.some((key) => has(i, key));
}

function legendWords(key) {
	return key.startsWith("link ") ? "chains of " + key.slice(5) + (key === "link 1" ? " waker" : " wakers") +
		" or more" : key;
}

function legendEntries() {
	const legend = byId("legend");
	return legend ? [...legend.querySelectorAll("text[data-key]")] : [];
}

function clickLegend(key) {
	if (state.only === key)
		go({ only: "", without: [...state.without, key] }, true);
	else if (state.without.includes(key))
		go({ without: state.without.filter((k) => k !== key) }, true);
	else
		go({ only: key }, true);
}

// The time of each entry in the view, as render/legend.c counts it for the whole graph.
function legendTimes() {
	const sum = { object: 0 };
	for (let i = 1, inside = 0; i < name.length; i++) {
		const s = names[name[i]], key = s === "--" ? "link " + link[i] : endOf(view, i);
		if (key)
			sum[key] = (sum[key] || 0) + time(i);
		if (i >= inside && !link[i] && OBJECT.test(s)) {
			sum.object += time(i);
			inside = last[i];
		}
	}
	return sum;
}

// "running 70%"; where chains are not seen from the sleeper on, links and ends have no shares.
function legendText(word, t) {
	const p = 100 * t / base.end[0];
	return word + (t === undefined || !chainView() ? "" : p && p < 0.05 ? " <0.1%" : " " + p.toFixed(p && p < 0.95 ? 1 : 0) + "%");
}

function legendShares() {
	const texts = CHAIN && !DIFF && byId("legend") ? [...byId("legend").querySelectorAll("text[data-word]")] : [];
	const sum = texts.length ? legendTimes() : {};
	for (const t of texts) {
		const { key, word } = t.dataset;
		t.textContent = legendText(word, key ? sum[key] || 0 : sum[word]);
	}
	if (texts.length)
		centre();
}

let sharesOf = null; // the view that the legend has the shares of
function updateLegend() {
	if (view !== sharesOf)
		legendShares();
	sharesOf = view;
	for (const t of legendEntries()) {
		const key = t.dataset.key, on = state.only === key, off = state.without.includes(key);
		t.setAttribute("aria-pressed", on ? "true" : off ? "mixed" : "false");
		t.setAttribute("class", on ? "on" : off ? "off" : "");
		t.setAttribute("aria-label", t.textContent + ": only these, without these, all");
	}
}

function listenLegend() {
	for (const t of legendEntries()) {
		const act = (e) => {
			e.stopPropagation();
			clickLegend(t.dataset.key);
		};
		t.setAttribute("tabindex", "0");
		t.setAttribute("role", "button");
		t.addEventListener("click", act);
		t.previousElementSibling.addEventListener("click", act);
		t.addEventListener("keydown", (e) => {
			if (e.key === "Enter" || e.key === " ") {
				e.preventDefault();
				act(e);
			}
		});
	}
}
