// SPDX-License-Identifier: GPL-2.0-or-later
// Elements, and numbers as text. Names are inserted as text only, never as HTML: a recorded program
// controls its own name.
function element(tag, attributes = {}, ...children) {
	const e = document.createElement(tag);
	for (const [key, value] of Object.entries(attributes))
		if (key.startsWith("on"))
			e.addEventListener(key.slice(2), value);
		else if (value !== false && value !== null)
			e.setAttribute(key, value === true ? "" : value);
	e.append(...children);
	return e;
}

function drawn(tag, attributes = {}, ...children) {
	const e = document.createElementNS("http://www.w3.org/2000/svg", tag);
	for (const [key, value] of Object.entries(attributes))
		e.setAttribute(key, value);
	e.append(...children);
	return e;
}

const isolated = (s) => element("bdi", {}, s);

// Times and percentages have three digits and a blank before the unit; as include/common/figures.c writes them.
const threeDigits = (v) => v.toFixed(Math.abs(v) >= 99.95 ? 0 : Math.abs(v) >= 9.995 ? 1 : 2);

function time(ns) {
	const size = Math.abs(ns), [unit, name] = [[1e9, "s"], [1e6, "ms"], [1e3, "\u00b5s"]].find(([u]) => size >= u * 0.9995) || [1, "ns"];
	return !size ? "0" : (unit === 1 && size === Math.floor(size) ? String(ns) : threeDigits(ns / unit)) + " " + name;
}

function percent(part, whole) {
	const p = whole ? 100 * part / whole : 0;
	return (!p ? "0" : Math.abs(p) < 0.005 ? "<0.01" : threeDigits(p)) + " %";
}

// A time: seconds since the recording began.
const when = (ns) => (ns / 1e9).toFixed(6) + " s";

// Round numbers for an axis with about `count` marks.
function marks(from, to, count) {
	const rough = (to - from) / count, unit = 10 ** Math.floor(Math.log10(rough || 1));
	const step = [1, 2, 5, 10].map((k) => k * unit).find((s) => s >= rough) || 1;
	const all = [];
	for (let at = Math.ceil(from / step) * step; at <= to; at += step)
		all.push(at);
	return all;
}
