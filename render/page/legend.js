// SPDX-License-Identifier: GPL-2.0-or-later
// The legend of a chain graph is an instrument: a click on an entry keeps only its stacks, another one
// hides them, a third shows all again.

// The entry that the end of a stack belongs to; "" if s is no end.
function endKey(s) {
	return Object.hasOwn(ENDS, s) ? s : s.startsWith("[disk ") ? "[disk]" : s.startsWith("[throttled ") ? "[throttled]" : "";
}

// Is a frame of this name an end? Stacks can have frames like ends, also those above an end: only some ends have more
// on them, though not the next waker, and only these stand on others. As palette_is_end() in C.
function isEndAt(s, above, leaf, isLast) {
	const key = endKey(s);
	return key !== "" && (leaf || (isLast && ABOVE[key] !== undefined)) && (!above || key in ON_ENDS);
}

// The key of the end that frame i of a view is, "" if it is none.
const endOf = (v, i) => v.closes[i] ? endKey(names[v.name[i]]) : "";

// Is it the end of a chain, next to the last waker?
function isEnd(i) {
	const key = endOf(view, i);
	return key !== "" && !(key in ON_ENDS);
}

// Does the stack that ends in frame i of the base fit the state? "link 2": it has two wakers or more.
function endFilter() {
	if (!state.only && !state.without.length)
		return () => true;
	const ends = new Array(base.name.length).fill("");
	for (let i = 1; i < ends.length; i++) {
		const key = endOf(base, i), below = ends[base.parent[i]];
		ends[i] = !below || key in ON_ENDS ? below + key : below;
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

const LEAST_SHARE = 0.1; // percent: less is left out, as in the picture

// "70 % ran"; where chains are not seen from the sleeper on, links and ends have no shares.
function legendText(word, t) {
	const p = 100 * t / wholeTime();
	return t === undefined || !chainView() ? word :
		(view.rest > 0 ? "\u2265 " : "") + p.toFixed(p && p < 0.95 ? 1 : 0) + " % " + word;
}

// What has next to nothing of the view is no part of the sentence, unless it is chosen there.
function leaveOut(t, share) {
	const { key } = t.dataset, out = share < LEAST_SHARE && state.only !== key && !state.without.includes(key);
	t.toggleAttribute("hidden", out);
	t.previousElementSibling.toggleAttribute("hidden", out);
}

// By share, as the picture is written (`sum` null): unless an entry was chosen, which stays where it was clicked.
function orderLegend(sum) {
	const ends = legendEntries().filter((t) => t.dataset.key.startsWith("["));
	ends.forEach((t, k) => { t.dataset.place = t.dataset.place || String(k); });
	const rank = (t) => sum ? -(sum[t.dataset.key] || 0) : 0, had = document.activeElement;
	const sorted = [...ends].sort((a, b) => rank(a) - rank(b) || a.dataset.place - b.dataset.place);
	if (state.only || state.without.length || sorted.every((t, k) => t === ends[k]))
		return false;
	const after = ends[ends.length - 1].nextSibling;
	for (const t of sorted) {
		const box = t.previousElementSibling;
		byId("legend").insertBefore(box, after);
		byId("legend").insertBefore(t, after);
	}
	if (ends.includes(had))
		had.focus();
	return true;
}

let sharesOf = null; // the view that the legend has the shares of

// Subtitle and legend say what is shown; if they changed, they are laid out again.
function updateHead() {
	const texts = CHAIN && !DIFF && byId("legend") ? [...byId("legend").querySelectorAll("text[data-word]")] : [];
	const sum = texts.length && view !== sharesOf ? legendTimes() : {};
	let changed = sayHowToRead();
	for (const t of view === sharesOf ? [] : texts) {
		const { key, word } = t.dataset, first = t.dataset.first = t.dataset.first || t.textContent;
		// what the program wrote is of all frames, also of those that the file does not have
		const asWritten = allTime() && !state.leaves, of = key ? sum[key] || 0 : sum[word], before = t.hasAttribute("hidden");
		const says = asWritten ? first : legendText(word, of);
		leaveOut(t, asWritten || of === undefined || !chainView() ? 100 : 100 * of / wholeTime());
		changed = changed || says !== t.textContent || before !== t.hasAttribute("hidden");
		t.textContent = says;
	}
	if (view !== sharesOf && texts.length)
		changed = orderLegend(allTime() && !state.leaves || !chainView() ? null : sum) || changed;
	sharesOf = view;
	for (const t of legendEntries()) {
		const key = t.dataset.key, on = state.only === key, off = state.without.includes(key);
		t.setAttribute("aria-pressed", on ? "true" : off ? "mixed" : "false");
		t.setAttribute("class", on ? "on" : off ? "off" : "");
		t.setAttribute("aria-label", t.textContent + ": only these, without these, all");
	}
	if (changed)
		centre();
}

// The subtitle that explains a chain graph fits how it is shown. Returns whether it changed.
function sayHowToRead() {
	const e = byId("head").querySelector("#fg-subtitle[data-turned]");
	if (!e)
		return false;
	e.dataset.usual = e.dataset.usual || e.textContent;
	const says = state.sandwich ? "What calls a function, and what it calls. Width: time." :
		state.leaves ? "Merged from the leaves: why chains end, then who was waited for. Width: time." :
			state.flip ? e.dataset.turned : e.dataset.usual;
	const before = e.dataset.text || e.textContent;
	e.dataset.text = says;
	return says !== before;
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
		if (t.dataset.key.startsWith("link "))
			t.previousElementSibling.append(make(SVG, "title", {}, "who ended a wait; " + UPSIDE_DOWN));
		t.addEventListener("keydown", (e) => {
			if (e.key === "Enter" || e.key === " ") {
				e.preventDefault();
				act(e);
			}
		});
	}
}
