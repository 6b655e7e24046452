// SPDX-License-Identifier: GPL-2.0-or-later
// Loads a file into speedscope as a user would, and holds what it shows against folded lines:
//   node show.mjs FILE FOLDED THREAD...
// FOLDED are the same waits in nanoseconds; THREAD... the few threads that they are of, by their names.
import { readFileSync } from "node:fs";
import { fileURLToPath, pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const [file, foldedFile, ...threads] = process.argv.slice(2);
const html = fileURLToPath(new URL("./node_modules/speedscope/dist/release/index.html", import.meta.url));
const units = { ns: 1, "µs": 1e3, ms: 1e6, s: 1e9 };

function check(holds, what) {
	if (!holds)
		throw new Error(what);
}

// What speedscope writes for a time: "1.04s", "721.36ms", and from a minute on "1:01".
function nanoseconds(text) {
	const clock = /^(\d+):(\d+)/.exec(text), plain = /^([\d.]+)(ns|µs|ms|s)\b/.exec(text);
	check(clock || plain, "not a time: " + text);
	return clock ? (clock[1] * 60 + +clock[2]) * 1e9 : plain[1] * units[plain[2]];
}

function near(got, want, what) {
	const slack = want >= 60e9 ? 1e9 : Math.max(want * 0.006, 1);
	check(Math.abs(got - want) <= slack, `${what}: got ${got} ns, want ${want}`);
}

// By frame: the time of all lines that have it, and of those that end in it.
const total = new Map(), self = new Map(), byThread = new Map();
for (const line of readFileSync(foldedFile, "utf8").split("\n").filter(Boolean)) {
	const at = line.lastIndexOf(" "), ns = +line.slice(at + 1), frames = line.slice(0, at).split(";");
	for (const name of new Set(frames))
		total.set(name, (total.get(name) || 0) + ns);
	self.set(frames.at(-1), (self.get(frames.at(-1)) || 0) + ns);
	byThread.set(frames[0], (byThread.get(frames[0]) || 0) + ns);
}

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: [
	"--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader",
	"--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync" ] });
try {
	const page = await (await browser.newContext({ viewport: { width: 1600, height: 1200 } })).newPage();
	const trouble = [];
	page.setDefaultTimeout(30000);
	page.on("pageerror", (e) => trouble.push("error: " + e.message));
	page.on("dialog", (d) => { trouble.push("dialog: " + d.message()); d.dismiss(); });
	// Names of frames are drawn on a canvas.
	await page.addInitScript(() => {
		const draw = CanvasRenderingContext2D.prototype.fillText;
		window.drawn = new Set();
		CanvasRenderingContext2D.prototype.fillText = function (text, ...rest) {
			window.drawn.add(text);
			return draw.call(this, text, ...rest);
		};
	});
	await page.goto(pathToFileURL(html).href);
	await page.waitForSelector("input[type=file]", { state: "attached" });
	await page.setInputFiles("input[type=file]", file);
	await page.waitForFunction(() => document.title.includes(" - speedscope"));
	for (const view of ["1", "2"]) {
		await page.evaluate(() => window.drawn.clear());
		await page.keyboard.press(view);
		// Frames that most of the time goes through have room for their names.
		const wide = [...total].sort((a, b) => b[1] - a[1]).slice(0, 5).map((e) => e[0]);
		await page.waitForFunction((names) => names.every((n) => window.drawn.has(n)), wide)
			.catch(async () => check(false, `view ${view} does not show ${wide}, but ` +
				(await page.evaluate(() => [...window.drawn].join(" ")))));
	}

	// The sandwich view is a table of all frames: total, self, name; with its rows in sight alone.
	await page.keyboard.press("3");
	const seen = new Map();
	await page.waitForFunction(() => {
		window.rows = () => [...document.querySelectorAll("tr")].filter((tr) => /%\)/.test(tr.innerText));
		return window.rows().length > 0;
	});
	const rows = await page.evaluate(async () => {
		const found = new Map();
		let box = window.rows()[0];
		while (box && !(box.scrollHeight > box.clientHeight + 1 && getComputedStyle(box).overflowY !== "visible"))
			box = box.parentElement;
		for (let y = 0; ; y += 300) {
			if (box)
				box.scrollTop = y;
			await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
			for (const tr of window.rows()) {
				const cells = [...tr.querySelectorAll("td")].map((td) => td.innerText.trim());
				found.set(cells[2], [cells[0], cells[1]]);
			}
			if (!box || y > box.scrollHeight)
				return [...found];
		}
	});
	for (const [name, [all, own]] of rows)
		seen.set(name, [nanoseconds(all), nanoseconds(own)]);
	for (const [name, ns] of total) {
		check(seen.has(name), `no row for ${name}`);
		near(seen.get(name)[0], ns, `total of ${name}`);
		near(seen.get(name)[1], self.get(name) || 0, `self of ${name}`);
	}
	check(seen.size === total.size, `${seen.size} rows, ${total.size} frames`);

	// One profile for all threads, and one for each, by their names.
	await page.keyboard.press("1");
	await page.keyboard.press("t");
	await page.waitForFunction(() => document.body.innerText.includes("Total Weight"));
	const list = (await page.evaluate(() => document.body.innerText)).split("\n")
		.map((l) => l.split("\t")).filter((l) => /^\d+$/.test(l[0]) && l.length === 3);
	check(list[0][1] === "all threads", "the first profile is " + list[0][1]);
	near(nanoseconds(list[0][2]), [...byThread.values()].reduce((a, b) => a + b, 0), "all threads");
	for (const thread of threads) {
		const found = list.filter((l) => l[1].startsWith(thread + " ("));
		check(found.length === 1, `${found.length} profiles of ${thread}`);
		near(nanoseconds(found[0][2]), byThread.get(thread), "profile of " + thread);
	}
	check(list.length === threads.length + 1, `${list.length} profiles`);
	check(!trouble.length, trouble.join("; "));
	console.log(`${rows.length} frames, ${list.length} profiles`);
} catch (e) {
	console.log(e.message);
	process.exitCode = 1;
} finally {
	await browser.close();
}
