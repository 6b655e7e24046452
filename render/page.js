// SPDX-License-Identifier: GPL-2.0-or-later
// The script of the document. It decodes the frames, draws the zoomed part of them, and handles
// mouse, keyboard and URL fragment. It fetches nothing, evaluates nothing, and inserts names as
// text only. embed.sh replaces each line `//= FILE` by that file.
"use strict";
(function () {
const SVG = "http://www.w3.org/2000/svg", HTML = "http://www.w3.org/1999/xhtml";
const svg = (document.currentScript || document.querySelector("script")).closest("svg");
const byId = (id) => svg.querySelector("#fg-" + id);
const opt = byId("graph").dataset;
const num = (key) => Number(opt[key] || 0);
const ALONE = document.documentElement === svg; // not embedded in a page
const XPAD = 10, BAR = 34, FOUND = "#f067f0";
const CHAIN = num("chain") > 0, INVERTED = num("inverted") > 0, SCALE = num("scale");
const FONT = num("fontSize"), rowHeight = num("row"), charWidth = FONT * num("fontWidth");
const ENDS = {
	"[interrupt]": "an interrupt, a timer or a device woke it",
	"[running]": "it waited for the work this waker did",
	"[runnable]": "it waited for a CPU",
	"[preempted]": "it was switched out while it could have run on",
	"[not woken]": "nothing had woken it when the trace ended",
	"[depth limit]": "the chain goes on; it was followed no further",
	"[loop]": "this waker is in the chain already",
	"[unknown]": "what happened here was not recorded",
};

const SLEPT = /^(__)?schedule$/; // the last frame of a sleeping thread's stack

function make(ns, tag, attrs, text) {
	const e = document.createElementNS(ns, tag);
	for (const k in attrs)
		e.setAttribute(k, attrs[k]);
	if (text !== undefined)
		e.textContent = text;
	return e;
}

//= page/frames.js
//= page/words.js
//= page/view.js
//= page/search.js
//= page/pointer.js
//= page/bar.js
//= page/table.js
//= page/menu.js
//= page/act.js

function comeAlive() {
	opt.top = top;
	barBox.append(reset, status, share, back, forth, field, caseButton, threads, flipButton,
		tableButton);
	svg.append(over, ring, bar, tip);
	decode();
	readState();
	fillThreads();
	const moved = fit();
	search();
	if (moved || location.hash.length > 1) {
		redraw();
		showRoot();
	} else {
		height = Number(svg.getAttribute("height"));
		layout();
		updateBar();
	}
	listen();
	svg.classList.add("live");
}

// A chain graph is read from the root: scroll to it if it is below the window.
function showRoot() {
	const flip = new URLSearchParams(location.hash.slice(1)).has("flip");
	if (ALONE && CHAIN && INVERTED === flip && !svg.classList.contains("live"))
		scrollTo(0, document.documentElement.scrollHeight);
}

// The picture is complete without the script: wait for its first paint.
showRoot();
const afterPaint = () => requestAnimationFrame(() => setTimeout(comeAlive));
if (document.readyState === "complete")
	afterPaint();
else
	addEventListener("load", afterPaint);
})();
