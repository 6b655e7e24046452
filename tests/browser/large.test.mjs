// SPDX-License-Identifier: GPL-2.0-or-later
// Large pages, and how quick they are.
import { availableParallelism, loadavg } from "node:os";
import { statSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { test, speed, render, open, has, is, near, labels } from "./harness.mjs";

const LIMIT = 200; // ms

speed("50 000 visible frames: first paint and zoom within 200 ms", async () => {
	const lines = [];
	for (let a = 0; a < 2500; a++) {
		const path = ["p" + a % 5, "q" + a % 50];
		for (let d = 0; d < 20; d++)
			path.push("f" + (a * 7 + d * 13) % 997);
		lines.push(path.join(";") + ";leaf" + a + " 10");
	}
	const svg = render(lines);
	return bounded(svg, "p0", LIMIT, LIMIT, 50000);
});

// The best of several rounds, as other programs share the machine. On an overloaded machine the limits
// apply to the CPU time of the main thread instead. Times are in ms.
async function bounded(svg, path, paintLimit, zoomLimit, least) {
	const best = { paint: Infinity, paintCpu: Infinity, zoom: Infinity, zoomCpu: Infinity };
	let frames, rounds = 0;
	const busy = () => loadavg()[0] > availableParallelism();
	const met = () => (best.paint <= paintLimit && best.zoom <= zoomLimit) ||
		(busy() && best.paintCpu <= paintLimit && best.zoomCpu <= zoomLimit);
	while (rounds < 2 || (rounds < 8 && !met())) {
		const m = await measure(svg, path);
		frames = m.frames;
		for (const k in best)
			best[k] = Math.min(best[k], m[k]);
		rounds++;
	}
	const note = frames + " frames: first paint " + Math.round(best.paint) + " ms (" +
		Math.round(best.paintCpu) + " of CPU), zoom " + Math.round(best.zoom) + " ms (" +
		Math.round(best.zoomCpu) + " of CPU), best of " + rounds +
		(busy() ? ", on a busy machine (load " + loadavg()[0].toFixed(1) + ")" : "");
	if (frames < least)
		throw new Error("only " + frames + " frames");
	if (!(best.paintCpu <= paintLimit && best.zoomCpu <= zoomLimit))
		throw new Error(note);
	if (!busy() && !(best.paint <= paintLimit && best.zoom <= zoomLimit))
		throw new Error(note);
	return note;
}

// Samples that end in memcpy 50 %, malloc 30 %, hash 20 %, in very many distinct stacks; own and total counts by name.
function manyStacks(samples) {
	let seed = 7;
	const random = (n) => ((seed = Math.imul(seed, 1664525) + 1013904223 >>> 0) >>> 8) % n, lines = [], sums = new Map(), paths = new Set();
	for (let i = 0; i < samples; i++) {
		const path = ["app", "main"];
		for (let d = 20 + random(20); d > 0; d--)
			path.push("fn" + random(100));
		path.push(i % 10 < 5 ? "memcpy" : i % 10 < 8 ? "malloc" : "hash");
		lines.push(path.join(";") + " 1");
		for (const s of new Set(path)) {
			const row = sums.get(s) || { own: 0, total: 0 };
			sums.set(s, row);
			row.total++;
			row.own += path[path.length - 1] === s ? 1 : 0;
		}
		for (let d = path.length; d > 0; d--)
			paths.add(path.slice(0, d).join(";"));
	}
	return { lines, sums, frames: paths.size + 1 };
}

const tableRows = (page) => page.evaluate(() => [...document.querySelectorAll(".panel table tr")].slice(1)
	.map((tr) => [...tr.children].map((td) => td.textContent)));
const threeDigits = (p) => (p ? p.toFixed(p >= 99.95 ? 0 : p >= 9.995 ? 1 : 2) : "0") + " %";

test("frames that are not in the file are nobody's self: table, merged, callers and callees", async () => {
	const samples = 20000, { lines, sums, frames } = manyStacks(samples), page = await open(render(lines));
	const said = () => page.evaluate(() => document.querySelector("[role=status]").textContent);
	const stored = await page.evaluate(() => Number(document.querySelector("#fg-graph").dataset.frames));
	is(stored, 100000, "stored");
	has(await said(), (frames - stored).toLocaleString("en-US") + " narrow frames are not in this file", "all that are left out are counted");
	await page.keyboard.press("t");
	await page.getByRole("button", { name: "Sort by Self" }).click();
	const rows = await tableRows(page);
	is(rows.slice(0, 3), [["50.0 %", "50.0 %", "memcpy"], ["30.0 %", "30.0 %", "malloc"], ["20.0 %", "20.0 %", "hash"]], "the table");
	for (const [self, total, name] of rows)
		is([self, total], [sums.get(name).own, sums.get(name).total].map((n) => threeDigits(100 * n / samples)), name);
	is(rows.length, sums.size, "all functions");
	// What is computed from the frames in the file says so, and is never more than what is right.
	await page.evaluate(() => { location.hash = "#path=app%3Bmain%3Bfn9"; });
	await page.waitForFunction(() => document.querySelector(".panel .missing"));
	has(await page.evaluate(() => document.querySelector(".panel .missing").textContent), "\u2265: at least;", "zoomed");
	is((await tableRows(page)).filter((r) => r.length === 3).every(([self, total]) => self.startsWith("\u2265") && total.startsWith("\u2265")), true, "zoomed");
	await page.evaluate(() => { location.hash = "#leaves=1"; });
	await page.waitForFunction(() => document.querySelector("[aria-pressed=true]"));
	is(await tableRows(page), rows, "merged, the table of the same stacks is the same");
	await page.keyboard.press("Escape");
	const drawn = await page.evaluate(() => [...document.querySelectorAll("#fg-frames text")].map((t) => [t.textContent,
		t.previousElementSibling.getAttribute("y")]));
	const leaves = drawn.filter(([s, y]) => y === drawn.find(([t]) => t === "memcpy")[1]).map(([s]) => s);
	is(leaves.sort(), ["hash", "malloc", "memcpy", "narrow frames that are not in this file"], "what is not in the file is a leaf of its own");
	has(await said(), "of the time is in narrow frames that are not in this file", "merged");
	await page.evaluate(() => { location.hash = "#sandwich=fn1"; });
	await page.waitForFunction(() => document.querySelector(".chips button"));
	has(await said(), "of the time is in narrow frames that are not in this file", "callers and callees");
	await page.evaluate(() => { location.hash = "#beside=fn1"; });
	await page.waitForFunction(() => document.querySelector(".panel h2")?.textContent === "fn1");
	has(await page.evaluate(() => document.querySelector(".panel p").textContent), "at least;", "lists beside the graph");
}, "once");

test("the legend of chains is of all frames, also of those that are not in the file", async () => {
	const lines = [];
	for (let i = 0; i < 2000; i++)
		lines.push("t;main;f" + i + ";[futex];-;sys;--;wake" + i % 7 + ";w;" + (i % 4 ? "[running];g" + i : "--;tick;[timer]") + " " + (1 + i % 3));
	const legend = (page) => page.evaluate(() => [...document.querySelectorAll("#fg-legend text")].map((e) => e.textContent));
	const all = await open(render(lines)), few = await open(render(lines, "--max-frames", "3", "--minwidth", "999"));
	is(await few.evaluate(() => document.querySelector("#fg-graph").dataset.frames), "3", "stored");
	is(await legend(few), await legend(all), "legend");
	is(await legend(all), ["75 % ran", "25 % timer", "off-CPU", "100 % 1st waker", "25 % 2nd", "100 % object", "sample"], "right");
	is(await legend(few), await legend(all), "folded, too");
	await few.evaluate(() => { location.hash = "#hide=f1"; });
	await few.waitForFunction(() => document.querySelector(".chips button"));
	is((await few.evaluate(() => [...document.querySelectorAll("#fg-legend text:not([hidden])")].map((e) => e.textContent))), ["off-CPU", "sample"], "nothing is said of what may be anything");
	const more = await open(render(lines, "--max-frames", "9000", "--minwidth", "999"));
	await more.evaluate(() => { location.hash = "#hide=f1"; });
	await more.waitForFunction(() => document.querySelector(".chips button"));
	has((await legend(more)).join(), "\u2265 1", "what is computed from the file says so");
}, "once");

test("the limit cuts equally wide frames one by one, and never what is drawn at first", async () => {
	const stack = (name, n) => Array.from({ length: n }, (_, i) => name + i).join(";"), graph = (page) => page.evaluate(() => {
		const { frames, leftOut } = document.querySelector("#fg-graph").dataset;
		return [Number(frames), Number(leftOut)];
	});
	const of = async (lines, ...options) => graph(await open(render(lines, ...options), { context: { javaScriptEnabled: false } }));
	is(await of(Array.from({ length: 11 }, (_, k) => stack("s" + k + "_", 1000) + " 1"), "--max-frames", "10000"), [11001, 0], "eleven stacks");
	is(await of([stack("f", 10000) + " 1"], "--max-frames", "10000"), [10001, 0], "one stack");
	is(await of(Array.from({ length: 3000 }, (_, k) => stack("t" + k + "_", 5) + " 1"), "--max-frames", "10000"), [15001, 0], "each once");
	// 0.06 px each: the first ones are kept
	is(await of(Array.from({ length: 20000 }, (_, k) => stack("u" + k + "_", 5) + " 1"), "--max-frames", "10002"), [10002, 89999], "narrower than the least width");
}, "once");

function million() {
	const text = [];
	for (let i = 0; i < 1e6; i++)
		text.push("m;a" + i % 7 + ";b" + i % 191 + ";c" + i % 1009 + ";d" + i % 10007 + ";e" + i + " " + (1 + i * 7919 % 1000));
	return render(text);
}

test("a million distinct stacks: below 30 MB, and what was left out is said", async () => {
	const svg = million(), size = statSync(svg).size;
	if (!(size < 30e6))
		throw new Error("the page has " + size + " bytes");
	const page = await open(svg);
	const said = await page.evaluate(() => document.querySelector("[role=status]").textContent);
	if (!/^[\d,]{7,} narrow frames are not in this file/.test(said))
		throw new Error("what was left out: " + said);
	await page.keyboard.press("/");
	await page.keyboard.type("/^e1/");
	const share = await page.evaluate(() => document.querySelector(".share").textContent);
	if (!/^Matched, without frames that are not in this file: at least /.test(share))
		throw new Error("the share of what is not known whole: " + share);
	return (size / 1e6).toFixed(1) + " MB";
}, "chromium");

speed("a million distinct stacks: open within a second, zoom within 100 ms", async () =>
	bounded(million(), "m;a0", 1000, 100, 50000));

speed("a depth of 10 000 frames takes time in proportion to it", async () => {
	const cpu = {};
	for (const depth of [2500, 10000]) {
		const stack = Array.from({ length: depth }, (_, i) => "f" + i), lines = [];
		for (let k = 1; k <= 10; k++)
			lines.push(stack.slice(0, depth * k / 10).join(";") + " " + k);
		const svg = render(lines, "--inverted"), best = { paint: Infinity, zoom: Infinity };
		// More rounds where others share the machine.
		for (let round = 0; round < 3 || (round < 8 && best.zoom > 100); round++) {
			const m = await measure(svg, "f0;f1");
			best.paint = Math.min(best.paint, m.paintCpu);
			best.zoom = Math.min(best.zoom, m.zoomCpu);
		}
		cpu[depth] = best;
	}
	const note = "CPU of first paint and zoom " + [2500, 10000].map((d) => d + " frames: " +
		Math.round(cpu[d].paint) + " and " + Math.round(cpu[d].zoom) + " ms").join(", ");
	// Four times as deep; quadratic would be sixteen times.
	if (!(cpu[10000].paint <= 8 * cpu[2500].paint + 50 && cpu[10000].zoom <= 100))
		throw new Error(note);
	return note;
});

test("of a tall graph the rows that come into view are drawn", async () => {
	const svg = render([Array.from({ length: 5000 }, (_, i) => "f" + i).join(";") + " 9", "f0 1"]);
	const page = await open(svg, { fragment: "#path=f0" });
	const many = () => page.evaluate(() => document.querySelectorAll("#fg-frames text").length);
	const least = 800 / 16 - 12; // the heading and the bar take some
	for (const at of [0, 0.3, 0.9, 0.5]) {
		await page.evaluate((part) => scrollTo(0, part * document.documentElement.scrollHeight), at);
		await page.waitForFunction((n) => [...document.querySelectorAll("#fg-frames text")].filter((t) => {
			const r = t.getBoundingClientRect();
			return r.top < innerHeight && r.bottom > 0;
		}).length >= n, least);
	}
	if (!(await many() < 1500))
		throw new Error(await many() + " rows are drawn");
	await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
	if (!(await many() > 5000))
		throw new Error("in print there are " + await many() + " rows");
});

// path: of the frame to zoom to.
async function measure(svg, path) {
	const page = await open(null, { fresh: true });
	const cdp = await page.context().newCDPSession(page);
	const cpu = async () => (await cdp.send("Performance.getMetrics")).metrics
		.find((m) => m.name === "TaskDuration").value * 1000;
	await cdp.send("Performance.enable", { timeDomain: "threadTicks" });
	// Chromium reports no paint entries for a lone SVG: take the first message that is handled after
	// the first frame since loading has ended, which is not earlier.
	await page.addInitScript(() => {
		const c = new MessageChannel();
		c.port1.onmessage = () => { window.painted = performance.now(); };
		addEventListener("load", () => requestAnimationFrame(() => c.port2.postMessage(0)));
	});
	await page.goto(pathToFileURL(svg).href);
	await page.waitForFunction(() => window.painted);
	const paintCpu = await cpu();
	await page.waitForSelector("svg.live");
	const frames = await page.evaluate(() => Number(document.querySelector("#fg-graph").dataset.frames));
	const paint = await page.evaluate(() => window.painted), before = await cpu();
	// From the event to the end of the frame that paints the change.
	const zoom = await page.evaluate((to) => new Promise((done) => {
		const t = performance.now();
		location.hash = "#path=" + encodeURIComponent(to);
		addEventListener("hashchange", () => requestAnimationFrame(() =>
			setTimeout(() => done(performance.now() - t))), { once: true });
	}), path);
	return { frames, paint, paintCpu, zoom, zoomCpu: await cpu() - before };
}
