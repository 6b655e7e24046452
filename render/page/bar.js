// SPDX-License-Identifier: GPL-2.0-or-later
// The toolbar at the lower edge of the window: what is under the pointer, and the controls.

const bar = make(SVG, "foreignObject", { class: "bar", x: 0, height: BAR });
const barBox = bar.appendChild(make(HTML, "div"));
const button = (text, title, act) => {
	const b = make(HTML, "button", { type: "button", title, "aria-label": title }, text);
	b.addEventListener("click", act);
	return b;
};
const choice = (title, options, act) => {
	const s = make(HTML, "select", { "aria-label": title, title });
	for (const [value, text] of options)
		s.append(make(HTML, "option", { value }, text));
	s.addEventListener("change", () => act(s.value));
	return s;
};
const reset = button("Reset zoom", "Reset zoom: back to the whole (Home)", () => zoom(0));
const status = make(HTML, "output", { role: "status", "aria-live": "polite" });
const share = make(HTML, "output", { class: "share", "aria-live": "polite" });
const how = make(HTML, "output", { class: "how", "aria-live": "polite" }); // the text of the search was taken
const field = make(HTML, "input", { type: "search",
	"aria-label": "Search frames", spellcheck: "false", autocomplete: "off" });
const back = button("\u2039", "Match before (Shift-N)", () => step(-1));
const forth = button("\u203a", "Next match (N)", () => step(1));
const caseButton = button("Aa", "Match case (Ctrl-I)", () => go({ exact: state.exact ? "" : "1" }));
const flipButton = button("\u21c5 Flip", "Turn upside down (V)", () => go({ flip: state.flip ? "" : "1" }));
const leavesButton = button("\u22d4 Merge", "Merge from the leaves (R)",
	() => go({ leaves: state.leaves ? "" : "1", sandwich: "" }, true));
const foldButton = button("Everything", "Show everything: also what the kernel does at each wakeup, how threads start, each nameless frame, and time that nobody waited for (K)", () => go({
	kernel: foldsKernel() ? FOLDED ? "whole" : "" : FOLDED ? "" : "folded" }));
const helpButton = button("?", "Keys (?)", () => toggleHelp());
const headButton = button("Legend", "Subtitle and legend", () => {
	svg.classList.toggle("explained");
	centre();
	redraw();
});
const tableButton = button("\u2261 Table", "Widest frames (T)", () => toggleTable());
const threads = choice("Show one thread", [], (thread) => go({ thread }, true));
const sides = choice("Widths of the difference", Object.entries(SIDES), (side) => go({ side }, true));
const compare = choice("Compare", [["own", "Compare own"], ["total", "Compare totals"]],
	(what) => go({ compare: what }));
const saveButton = button("\u2913 Save", "Save this view as a picture", () => openList("Save this view", [
	["Save as SVG", saveSvg], ["Save as PNG", savePng]], saveButton));
const chips = make(HTML, "span", { class: "chips" });
const controls = make(HTML, "div", { class: "controls", role: "toolbar", "aria-label": "Flame graph" });
// On a narrow screen these are shown by a button, in as many lines as they need.
const extras = make(HTML, "div", { class: "controls extras", role: "toolbar", "aria-label": "Flame graph, more" });
const moreButton = button("More", "More controls", () => {
	moreButton.setAttribute("aria-expanded", barBox.classList.toggle("open"));
	place();
});
moreButton.className = "more";
moreButton.setAttribute("aria-expanded", "false");

function fillBar() {
	controls.append(reset, chips, share, how, back, forth, field, moreButton);
	extras.append(caseButton, sides, compare, threads, flipButton, leavesButton, foldButton, tableButton, saveButton,
		headButton, helpButton);
	barBox.append(status, controls, extras);
	sides.hidden = compare.hidden = !DIFF;
	sides.disabled = ORDERED;
	leavesButton.hidden = ORDERED;
	foldButton.hidden = !CHAIN;
}

// What the view leaves out or changes; a click takes it back.
function fillChips() {
	const list = [], chip = (text, change) => {
		const b = button(text + " \u00d7", "Take back: " + text, () => go(change, true));
		b.dataset.words = text;
		list.push(b);
	};
	if (state.sandwich)
		chip("callers and callees of " + short(state.sandwich, 30), { sandwich: "" });
	if (state.focus)
		chip("only " + short(state.focus, 30), { focus: "" });
	if (state.recursion)
		chip("recursion collapsed", { recursion: "" });
	if (state.only)
		chip("only " + legendWords(state.only), { only: "" });
	if (view.idle)
		chip("without the " + percent(view.idleShare, 1) + " that nobody waited for", { kernel: "whole" });
	const others = (list, s) => list.filter((other) => other !== s);
	for (const s of state.without)
		chip("without " + legendWords(s), { without: others(state.without, s) });
	for (const s of state.hide)
		chip("without " + short(s, 30), { hide: others(state.hide, s) });
	for (const s of state.drop)
		chip("without library " + short(s, 30), { drop: others(state.drop, s) });
	chips.replaceChildren(...list);
	chips.hidden = !list.length;
}

function updateBar() {
	reset.hidden = !state.zoom;
	if (document.activeElement !== field)
		field.value = state.search;
	share.textContent = state.search ? matchedWords() : "";
	how.textContent = taken;
	how.hidden = !taken;
	back.hidden = forth.hidden = !state.search;
	caseButton.setAttribute("aria-pressed", !!state.exact);
	flipButton.setAttribute("aria-pressed", !!state.flip);
	leavesButton.setAttribute("aria-pressed", !!state.leaves);
	foldButton.setAttribute("aria-pressed", !foldsKernel());
	headButton.hidden = !isNarrow();
	headButton.setAttribute("aria-pressed", svg.classList.contains("explained"));
	field.placeholder = isNarrow() ? "Search" : "Search (" + HOW_TO_SEARCH + ")";
	field.setAttribute("aria-invalid", taken === INVALID);
	threads.value = state.thread;
	sides.value = state.side;
	compare.value = state.compare;
	fillChips();
	place();
	say();
}

function barHeight() {
	return barBox.offsetHeight || BAR;
}

function place() {
	const seen = visible();
	bar.setAttribute("x", seen.x);
	bar.setAttribute("width", seen.w);
	bar.setAttribute("height", barHeight());
	bar.setAttribute("y", Math.max(0, seen.y + seen.h - barHeight()));
	placeHead(seen);
	drawNear(seen, false);
	for (const panel of [tablePanel, besidePanel, helpPanel].filter((p) => p.parentNode)) {
		const wide = besideRoom() || Math.min(480, seen.w);
		panel.setAttribute("x", Math.max(seen.x, seen.x + seen.w - wide));
		panel.setAttribute("width", wide);
		panel.setAttribute("y", seen.y);
		panel.setAttribute("height", Math.max(80, seen.h - barHeight()));
	}
}

// The frame under the pointer, else the one with the focus, else what is zoomed to.
function say() {
	const i = hover >= 0 ? hover : focus >= 0 ? focus : state.zoom;
	let text = i || hover >= 0 || focus >= 0 ? line(i) : "";
	if (view.cut)
		text = "Stacks are cut" + (view.cut > 1 ? " after " + view.cut + " frames" : "") + ". " + text;
	if (view !== base && view.rest > 0)
		text = percent(view.rest, wholeTime()) + " of the time is in " + REST + " (--max-frames), so that parts are at least what they are here. " + text;
	if (!text && num("leftOut"))
		text = commas(num("leftOut")) + " narrow frames are not in this file (--max-frames)";
	if (status.textContent === text)
		return;
	status.textContent = text;
	if (barHeight() !== Number(bar.getAttribute("height"))) // on a phone it has as many lines as it needs
		place();
}

function line(i) {
	const more = [percent(shown(i), shareOf(i)) + " of all"];
	if (state.zoom && i !== state.zoom && i > state.zoom && i < last[state.zoom])
		more.push(percent(time(i), time(state.zoom)) + " of " + short(label(state.zoom), 30));
	if (DIFF && !view.gone[i])
		more.push(changeLine(i));
	else
		more.push("own " + count(own[i]));
	const says = sentence(i);
	return opt.nametype + " " + short(label(i), 120) + " (" + count(shown(i)) + ", " + more.join(", ") + ")" + (says ? " " + says : "");
}

function fillThreads() {
	const list = [];
	for (let i = 1; i < name.length; i = last[i])
		if (!view.gone[i])
			list.push(i);
	list.sort((a, b) => time(b) - time(a));
	threads.append(make(HTML, "option", { value: "" }, CHAIN ? "All threads" : "All"));
	const seen = new Set();
	for (const i of list.slice(0, 500)) {
		const s = names[name[i]];
		if (!seen.has(s))
			threads.append(make(HTML, "option", { value: s }, short(s, 30)));
		seen.add(s);
	}
	threads.hidden = seen.size < 2;
}
