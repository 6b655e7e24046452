// SPDX-License-Identifier: GPL-2.0-or-later
// Speed of the page with 50 000 visible frames.
import { availableParallelism, loadavg } from "node:os";
import { pathToFileURL } from "node:url";
import { test, render, open } from "./harness.mjs";

const LIMIT = 200; // ms

test("50 000 visible frames: first paint and zoom within 200 ms", async () => {
	const lines = [];
	for (let a = 0; a < 2500; a++) {
		const path = ["p" + a % 5, "q" + a % 50];
		for (let d = 0; d < 20; d++)
			path.push("f" + (a * 7 + d * 13) % 997);
		lines.push(path.join(";") + ";leaf" + a + " 10");
	}
	const svg = render(lines);
	// The best of several rounds, as other programs share the machine. On an overloaded machine the
	// limit applies to the CPU time of the main thread instead.
	const best = { paint: Infinity, paintCpu: Infinity, zoom: Infinity, zoomCpu: Infinity };
	let frames, rounds = 0;
	while (rounds < 4 || (rounds < 8 && !(best.paint <= LIMIT && best.zoom <= LIMIT))) {
		const m = await measure(svg);
		frames = m.frames;
		for (const k in best)
			best[k] = Math.min(best[k], m[k]);
		rounds++;
	}
	const busy = loadavg()[0] > availableParallelism();
	const note = frames + " frames: first paint " + Math.round(best.paint) + " ms (" +
		Math.round(best.paintCpu) + " of CPU), zoom " + Math.round(best.zoom) + " ms (" +
		Math.round(best.zoomCpu) + " of CPU), best of " + rounds +
		(busy ? ", on a busy machine (load " + loadavg()[0].toFixed(1) + ")" : "");
	if (frames < 50000)
		throw new Error("only " + frames + " frames");
	if (!(best.paintCpu <= LIMIT && best.zoomCpu <= LIMIT))
		throw new Error(note);
	if (!busy && !(best.paint <= LIMIT && best.zoom <= LIMIT))
		throw new Error(note);
	return note;
});

async function measure(svg) {
	const page = await open(null);
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
	const zoom = await page.evaluate(() => new Promise((done) => {
		const t = performance.now();
		location.hash = "#zoom=1";
		addEventListener("hashchange", () => requestAnimationFrame(() =>
			setTimeout(() => done(performance.now() - t))), { once: true });
	}));
	return { frames, paint, paintCpu, zoom, zoomCpu: await cpu() - before };
}
