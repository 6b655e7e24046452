// SPDX-License-Identifier: GPL-2.0-or-later
// Saves a view as SVG or PNG, copies a stack as lines; callers and callees beside the graph, and a filter in the table.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { address, click, dir, frame, has, hover, is, labels, near, open, render, test } from "./harness.mjs";

const folded = ["main;parse;read;memcpy 30", "main;parse;split;memcpy 20", "main;work;work;sum 40", "other;read;memcpy 10"];
const chain = [
	"alpha;main;recv;-;entry;--;wake;send;work;bravo;--;wake;unlock;cwork;charlie;[running] 400",
	"alpha;main;recv;-;entry;--;wake;send;work;bravo;[runnable] 200",
	"delta;nap;--;tick;irq_entry;[interrupt] 300",
];

// Chooses an entry of the button's menu; returns what it would have the browser save: [name, text or pixels' reader].
async function save(page, entry) {
	await page.evaluate(() => {
		window.saved = new Promise((done) => {
			let blob = null;
			const made = URL.createObjectURL;
			URL.createObjectURL = (b) => { URL.createObjectURL = made; return made.call(URL, blob = b); };
			addEventListener("click", (e) => {
				if (e.target.localName !== "a" || !e.target.download)
					return;
				e.preventDefault();
				done([e.target.download, blob]);
			}, true);
		});
	});
	await page.locator("button", { hasText: "Save" }).first().click();
	await page.getByRole("menuitem", { name: entry }).click();
	return page.evaluate(async () => {
		const [name, blob] = await window.saved;
		window.savedBlob = blob;
		return [name, blob.type === "image/png" ? "" : await blob.text(), blob.type];
	});
}

let serial = 0;
function keep(text) {
	const path = join(dir, "saved" + ++serial + ".svg");
	writeFileSync(path, text);
	return path;
}

test("save: the view as SVG, without script and controls", async () => {
	const page = await open(render(chain, "--title", "Who waited: all of it"));
	await click(page, "alpha");
	await page.keyboard.press("/");
	await page.keyboard.type("send");
	await page.locator("#fg-frames").dispatchEvent("mousemove");
	const [name, text, type] = await save(page, "Save as SVG");
	is([name, type], ["Who-waited-all-of-it.svg", "image/svg+xml"], "name and type");
	is(/<script|<foreignObject|fg-nodes/.test(text), false, "script, controls and data");
	const want = (await labels(page)).sort();
	const other = await open(null, { fresh: true });
	await other.goto("file://" + keep(text));
	is((await labels(other)).sort(), want, "the frames");
	near((await frame(other, "recv")).w, 1180, 1, "zoomed");
	is(await other.evaluate(() => document.querySelectorAll("#fg-frames rect[fill='#f067f0']").length), 1, "the match");
	has(await other.evaluate(() => document.documentElement.textContent), "Shown: zoomed to alpha; folded: what the kernel does at each wakeup, how threads start, runs of nameless frames; search for send: Matched: ", "it says what it shows");
	has(await other.evaluate(() => [...document.querySelectorAll("#fg-frames title")].map((e) => e.textContent).join("\n")), "bravo (600 µs, 66.7 %)", "titles");
	const box = await other.evaluate(() => ["width", "height"].map((k) => Number(document.documentElement.getAttribute(k))));
	const low = await other.evaluate(() => Math.max(...[...document.querySelectorAll("#fg-frames rect")].map((r) => +r.getAttribute("y") + +r.getAttribute("height"))));
	is([box[0], low < box[1] && low > box[1] - 60], [1200, true], "as large as the graph");
	is(await page.evaluate(() => document.querySelector(".bar").isConnected), true, "the page goes on");
});

test("save: a tall graph is saved with all its rows, whatever part is in view", async () => {
	const deep = Array.from({ length: 900 }, (_, i) => "f" + i).join(";");
	const page = await open(render([deep + " 9", "g 1"]));
	await page.keyboard.press("v");
	const [, text] = await save(page, "Save as SVG");
	is([...text.matchAll(/>f\d+<\/text>/g)].length, 900, "rows");
});

test("save: the view as PNG, with the colours of the frames", async () => {
	const page = await open(render(chain));
	await click(page, "alpha");
	const [name, , type] = await save(page, "Save as PNG");
	is([name, type], ["Wakeup-Chain-Graph.png", "image/png"], "name and type");
	const wrong = await page.evaluate(async () => {
		const bitmap = await createImageBitmap(window.savedBlob), { width } = bitmap, scale = width / Number(document.querySelector("svg").getAttribute("width"));
		const canvas = document.createElementNS("http://www.w3.org/1999/xhtml", "canvas");
		Object.assign(canvas, { width, height: bitmap.height });
		const g = canvas.getContext("2d", { willReadFrequently: true });
		g.drawImage(bitmap, 0, 0);
		const bad = [scale >= 2 ? "" : "scale " + scale];
		let dark = 0;
		for (const t of document.querySelectorAll("#fg-frames text")) {
			const r = t.previousElementSibling, at = (k) => Number(r.getAttribute(k)) * scale;
			const [red, green, blue] = g.getImageData(at("x") + at("width") - 4 * scale, at("y") + at("height") / 2, 1, 1).data;
			const fill = getComputedStyle(r).fill.match(/\d+/g).map(Number);
			if (getComputedStyle(r).opacity === "1" && Math.max(Math.abs(red - fill[0]), Math.abs(green - fill[1]), Math.abs(blue - fill[2])) > 3)
				bad.push(t.textContent + " " + [red, green, blue] + " instead of " + fill);
			dark += g.getImageData(at("x"), at("y"), 60 * scale, at("height")).data.some((v, k) => k % 4 < 3 && v < 40) ? 1 : 0;
		}
		return [...bad.filter((s) => s), dark > 5 ? "" : "no names"].filter((s) => s);
	});
	is(wrong, [], "pixels");
});

test("save: the browser saves a file of this name", async () => {
	const page = await open(render(folded), { fresh: true });
	page.trouble.length = 0;
	await page.locator("button", { hasText: "Save" }).click();
	const [file] = await Promise.all([page.waitForEvent("download"), page.getByRole("menuitem", { name: "Save as SVG" }).click()]);
	is(file.suggestedFilename(), "Flame-Graph.svg", "name");
	has(readFileSync(await file.path(), "utf8"), "memcpy", "content");
	page.trouble = page.trouble.filter((s) => !s.startsWith("fetched blob:"));
}, "chromium"); // whose protocol tells of downloads

test("a stack can be copied as lines", async () => {
	const page = await open(render(folded));
	await page.evaluate(() => Object.defineProperty(navigator, "clipboard", { configurable: true,
		value: { writeText: (text) => { window.copied = text; return Promise.resolve(); } } }));
	await click(page, "sum", 0, { button: "right" });
	await page.getByRole("menuitem", { name: "Copy stack" }).click();
	is(await page.evaluate(() => window.copied), "main\nwork\nwork\nsum\n", "by the menu");
	await hover(page, "split");
	await page.keyboard.press("l");
	is(await page.evaluate(() => window.copied), "main\nparse\nsplit\n", "by the key");
});

const panel = (page) => page.evaluate(() => [...document.querySelectorAll(".panel table")].map((t) =>
	[...t.rows].slice(1).map((r) => [...r.cells].map((c) => c.textContent).join(" "))));

test("callers and callees are listed with times beside the graph", async () => {
	const page = await open(render(folded));
	await click(page, "read", 0, { button: "right" });
	await page.getByRole("menuitem", { name: "Callers and callees beside the graph" }).click();
	is(await panel(page), [["30 samples 75.0 % parse", "10 samples 25.0 % other"], ["40 samples 100 % memcpy"]], "of both frames");
	has(await page.evaluate(() => document.querySelector(".panel").textContent), "40 samples, 40.0 % of all, own 0 samples", "its own");
	const [right, left] = await page.evaluate(() => [[...document.querySelectorAll("#fg-frames text")].find((t) => t.textContent === "all")
		.previousElementSibling.getBoundingClientRect().right, document.querySelector(".panel > div").getBoundingClientRect().left]);
	is(right <= left && right > 600, true, "all of the graph is beside it: " + right + ", " + left);
	is((await labels(page)).includes("work"), true, "the graph shows the same");
	// From one to the next; recursion counts once.
	await page.locator(".panel td button", { hasText: "parse" }).click();
	is(await panel(page), [["50 samples 100 % main"], ["30 samples 60.0 % read", "20 samples 40.0 % split"]], "of its caller");
	const link = await address(page);
	has(link, "beside=parse", "in the address");
	const other = await open(null);
	await other.goto(link.replace("parse", "work"));
	await other.waitForSelector("svg.live");
	is(await panel(other), [["40 samples 100 % main", "40 samples 100 % work"], ["40 samples 100 % sum", "40 samples 100 % work"]], "recursion");
	await page.keyboard.press("Escape");
	is(await page.locator(".panel").count(), 0, "closed");
	near((await frame(page, "main")).w, 1180 * 0.9, 1, "the graph has its width again");
});

test("callers and callees in a chain are what is before and after", async () => {
	const page = await open(render(chain), { fragment: "#beside=wake" });
	is(await panel(page), [["600 µs 100 % -- entry", "400 µs 66.7 % -- bravo"], ["600 µs 100 % send", "400 µs 66.7 % unlock"]], "over wakeups");
	has(await page.evaluate(() => document.querySelector(".panel").textContent), "After it in the chain", "no callees");
});

test("the table is filtered, and beside the graph", async () => {
	const page = await open(render(folded));
	await page.keyboard.press("t");
	const right = await page.evaluate(() => Math.max(...[...document.querySelectorAll("#fg-frames rect")].map((r) => r.getBoundingClientRect().right)));
	is(right <= await page.evaluate(() => document.querySelector(".panel > div").getBoundingClientRect().left), true, "nothing of the graph is covered");
	const names = async () => (await panel(page))[0].map((s) => s.split(" ").pop()).sort();
	is((await names()).length, 8, "all");
	await page.getByLabel("Filter the table").fill("^(RE|s)");
	is(await names(), ["read", "split", "sum"], "by a pattern");
	has(await page.evaluate(() => document.querySelector(".panel caption").textContent), "3 of 8", "how many");
	await page.getByLabel("Filter the table").fill("f(");
	has(await page.evaluate(() => document.querySelector(".panel caption").textContent), "None of 8 fits", "no pattern: as it stands");
	await page.getByLabel("Filter the table").fill("mem");
	await page.keyboard.press("Escape");
	is(await page.locator(".panel").count(), 0, "closed");
	await page.keyboard.press("t");
	is(await names(), ["memcpy"], "kept");
});
