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
const BOX = svg.closest(".fg-window"); // in which it scrolls, in a page around it; null: with the page
const ALONE = document.documentElement === svg; // not embedded in a page
const XPAD = 10, BAR = 34, FOUND = opt.found || "#f067f0";
const CHAIN = num("chain") > 0, INVERTED = num("inverted") > 0, SCALE = num("scale");
const DIFF = "maxOwn" in opt, WIDE = num("wide") > 0, ORDERED = num("ordered") > 0;
const FONT = num("fontSize"), rowHeight = num("row"), charWidth = FONT * num("fontWidth");
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
//= gen/ends.js
//= page/views.js
//= page/change.js
//= page/state.js
//= page/words.js
//= page/label.js
//= page/view.js
//= page/search.js
//= page/pointer.js
//= page/bar.js
//= page/legend.js
//= page/table.js
//= page/beside.js
//= page/menu.js
//= page/save.js
//= page/act.js

function comeAlive() {
	opt.top = top;
	fillBar();
	svg.append(over, ring, head, bar, tip);
	readState();
	readScope();
	decode();
	fillThreads();
	use(makeView());
	findZoom();
	// Not a picture any more: what is in it can be used.
	svg.setAttribute("role", ALONE ? "application" : "group");
	const before = top;
	showBeside();
	adapt();
	centre();
	const moved = width !== num("width") || top !== before;
	search();
	updateHead();
	if (moved || view !== base || location.hash.length > 1) {
		redraw();
		showRoot();
		if (state.zoom || state.flip)
			bringRoot();
	} else {
		height = Number(svg.getAttribute("height"));
		layout();
		resize();
		updateBar();
	}
	listen();
	try {
		history.replaceState({ own: 1 }, "");
	} catch (e) {
		// as in go()
	}
	svg.classList.add("live");
	// A phone laid the page out for the picture's own width until now.
	requestAnimationFrame(() => requestAnimationFrame(() => {
		resize();
		place();
	}));
}

// A chain graph is read from the root: scroll to it if it is below the window.
function showRoot() {
	const flip = new URLSearchParams(location.hash.slice(1)).has(KEYS + "flip");
	if (INVERTED === flip && !svg.classList.contains("live") && (BOX || (ALONE && CHAIN)))
		(BOX || window).scrollTo(0, (BOX || document.documentElement).scrollHeight);
}

// When a browser takes a picture from the command line, nobody can scroll, and what a script scrolls to may not be
// painted in time. It has no window, or says that it is headless; one that a test drives says that, too. A tab in the
// background has no window either, but is hidden, and may be looked at later.
const nobody = () => ALONE && !document.hidden && (!outerWidth || (/Headless/.test(navigator.userAgent) && !navigator.webdriver));

// All of the graph is shown, until somebody turns out to be there. On a busy machine a window becomes known only after
// the document has loaded, which no event tells.
function awaitSomeone() {
	const signs = ["pointermove", "pointerdown", "wheel", "keydown", "visibilitychange"];
	const look = setInterval(() => nobody() || someone(), 100);
	const someone = () => {
		clearInterval(look);
		signs.forEach((s) => removeEventListener(s, someone));
		svg.classList.remove("whole");
		showRoot();
		comeAlive();
	};
	svg.classList.add("whole");
	signs.forEach((s) => addEventListener(s, someone));
}

// The picture is complete without the script: wait for its first paint. A window may become known after
// the document has begun.
function wake() {
	if (nobody())
		return awaitSomeone();
	svg.classList.remove("whole");
	showRoot();
	requestAnimationFrame(() => setTimeout(comeAlive));
}

if (nobody())
	svg.classList.add("whole");
else
	showRoot();
if (document.readyState === "complete")
	wake();
else
	addEventListener("load", wake);
})();
