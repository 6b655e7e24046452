// SPDX-License-Identifier: GPL-2.0-or-later
// The toolbar at the lower edge of the window.

const bar = make(SVG, "foreignObject", { class: "bar", x: 0, height: BAR });
const barBox = bar.appendChild(make(HTML, "div", { role: "toolbar", "aria-label": "Flame graph" }));
const button = (text, title, act) => {
	const b = make(HTML, "button", { type: "button", title, "aria-label": title }, text);
	b.addEventListener("click", act);
	return b;
};
const reset = button("Reset zoom", "Back to the whole (Home)", () => zoom(0));
const status = make(HTML, "output", { role: "status", "aria-live": "polite" });
const share = make(HTML, "output", { class: "share", "aria-live": "polite" });
const field = make(HTML, "input", { type: "search", placeholder: "Search (regular expression)",
	"aria-label": "Search frames", spellcheck: "false", autocomplete: "off" });
const back = button("\u2039", "Match before (Shift-N)", () => step(-1));
const forth = button("\u203a", "Next match (N)", () => step(1));
const caseButton = button("Aa", "Match case (Ctrl-I)", () => go({ exact: !state.exact }));
const flipButton = button("\u21c5", "Turn upside down (V)", () => go({ flip: !state.flip }));
const tableButton = button("\u2261", "Widest frames (T)", () => toggleTable());
const threads = make(HTML, "select", { "aria-label": "Show one thread", title: "Show one thread" });

function updateBar() {
	reset.hidden = !state.zoom;
	if (document.activeElement !== field)
		field.value = state.search;
	share.textContent = state.search ? "Matched: " + matchedShare() : "";
	back.hidden = forth.hidden = !state.search;
	caseButton.setAttribute("aria-pressed", state.exact);
	flipButton.setAttribute("aria-pressed", state.flip);
	threads.value = state.thread;
	place();
}

function place() {
	const seen = visible();
	bar.setAttribute("x", seen.x);
	bar.setAttribute("width", seen.w);
	bar.setAttribute("y", Math.max(0, seen.y + seen.h - BAR));
	if (panel.parentNode) {
		panel.setAttribute("x", Math.max(seen.x, seen.x + seen.w - 480));
		panel.setAttribute("width", Math.min(480, seen.w));
		panel.setAttribute("y", seen.y);
		panel.setAttribute("height", Math.max(80, seen.h - BAR));
	}
}

function say(i) {
	if (i === "" || i < 0)
		status.textContent = focus >= 0 && drawn ? line(focus) : "";
	else
		status.textContent = line(i);
}

function line(i) {
	return opt.nametype + " " + short(label(i), 120) + " (" + count(time(i)) + ", " +
		percent(time(i), end[0]) + ")";
}

function fillThreads() {
	const list = [];
	for (let i = 1; i < name.length; i = last[i])
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
	threads.addEventListener("change", () => go({ thread: threads.value, zoom: 0 }, true));
}
