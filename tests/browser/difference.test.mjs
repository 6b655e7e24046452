// SPDX-License-Identifier: GPL-2.0-or-later
// Differential graphs: colour, hover text, status and table compare the same counts.
import { address, click, frame, has, hover, is, labels, near, open, render, test } from "./harness.mjs";
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { dir } from "./harness.mjs";

const lines = ["main;f 18 7", "main;f;g 0 20", "main;same 50 50", "rest 2 3"];

const fill = (page, label) => page.evaluate((want) => [...document.querySelectorAll("#fg-frames text")]
	.find((e) => e.textContent === want).previousElementSibling.getAttribute("fill"), label);
const hue = (color) => {
	const [r, , b] = color.slice(1).match(/../g).map((x) => parseInt(x, 16));
	return r > b ? "red" : b > r ? "blue" : "none";
};
const rows = (page) => page.evaluate(() => [...document.querySelectorAll(".panel tr")].slice(1)
	.map((r) => [...r.children].map((c) => c.textContent).join(" ")));

function diff(before, after, ...options) {
	const a = join(dir, "before.folded"), b = join(dir, "after.folded"), svg = join(dir, "diff.svg");
	writeFileSync(a, before.join("\n") + "\n");
	writeFileSync(b, after.join("\n") + "\n");
	execFileSync(process.env.FLAMEGRAPH, ["--diff", ...options, "-o", svg, a, b]);
	return svg;
}

test("difference: own counts are compared, or totals, everywhere alike", async () => {
	const page = await open(render(lines));
	is(hue(await fill(page, "f")), "blue", "f has less of its own");
	has(await hover(page, "f"), "own before 18 samples (25.7 %), after 7 samples (8.75 %): \u221261.1 %", "hover, own");
	has(await page.evaluate(() => document.querySelector("[role=status]").textContent), "\u221261.1 %", "status");
	has(await page.evaluate(() => [...document.querySelectorAll("title")].map((t) => t.textContent).join("\n")),
		"own before 18 samples (25.7 %), after 7 samples (8.75 %): \u221261.1 %", "title without the script");
	await page.selectOption("select[aria-label=Compare]", "total");
	is(hue(await fill(page, "f")), "red", "f has more in total");
	has(await hover(page, "f"), "total before 18 samples (25.7 %), after 27 samples (33.8 %): +50.0 %", "hover, total");
	has(await address(page), "compare=total", "the address");
	await page.keyboard.press("t");
	has((await rows(page)).join("\n"), "25.7 % 33.8 % +50.0 % f", "table, total");
	has((await rows(page)).join("\n"), "71.4 % 62.5 % unchanged same", "no sign without a change");
	has((await rows(page)).join("\n"), "0 % 25.0 % new g", "what is new");
});

test("difference: widths show after, before, or the larger of both", async () => {
	const page = await open(diff(["a;x 30", "a;gone;deep 20", "b 50"], ["a;x 60", "b 20"]));
	const drawn = async (label, n = 0) => Math.round((await frame(page, label, n)).w);
	near(await drawn("x"), 1180 * 0.6, 1, "after, with the region of what is gone");
	is((await labels(page)).includes("[only before]"), true, "the region");
	has(await hover(page, "deep"), "20 samples, 20.0 % of all", "share of its own side");
	has(await hover(page, "x"), "60 samples, 75.0 % of all", "share of its own side");
	await page.selectOption("select[aria-label='Widths of the difference']", "before");
	near(await drawn("x"), 1180 * 0.3, 1, "before");
	near(await drawn("gone"), 1180 * 0.2, 1, "gone, in its place");
	is((await labels(page)).includes("[only before]"), false, "no region");
	has(await hover(page, "b"), "50 samples, 50.0 % of all", "share of before");
	await page.selectOption("select[aria-label='Widths of the difference']", "union");
	near(await drawn("x"), 1180 * 60 / 130, 1, "the larger");
	near(await drawn("b"), 1180 * 50 / 130, 1, "the larger");
	has(await address(page), "side=union", "the address");
	const again = await open(null);
	await again.goto(await address(page));
	await again.waitForSelector("svg.live");
	near((await frame(again, "b")).w, 1180 * 50 / 130, 1, "a link to it");
});

test("difference: the table is the same if the file does not have all frames", async () => {
	const before = ["a;x 30", "a;gone;deep 20", "b 50", "b;c;b 7"], after = ["a;x 60", "b 20", "n;e;w 5", "b;c;b 9"];
	for (const options of [[], ["--negate"]]) {
		const tables = [];
		for (const limit of [[], ["--max-frames", "2", "--minwidth", "999"]]) {
			const page = await open(diff(before, after, ...options, ...limit));
			is(await page.evaluate(() => Number(document.querySelector("#fg-graph").dataset.leftOut) > 0), limit.length > 0, "left out");
			await page.keyboard.press("t");
			const own = await rows(page);
			await page.selectOption("select[aria-label=Compare]", "total");
			tables.push([own, await rows(page)].map((list) => list.filter((r) => !r.startsWith("0 % 0 % unchanged"))));
		}
		is(tables[1].map((list) => list.sort()), tables[0].map((list) => list.filter((r) => !r.includes("[only")).sort()), options.join(" "));
	}
});

test("difference: --negate names the sides the other way round, everywhere", async () => {
	const page = await open(diff(["a;x 30", "a;gone;deep 20", "b 50"], ["a;x 60", "b 20"], "--negate"));
	is((await labels(page)).filter((s) => s.startsWith("[only")), ["[only after]"], "the region");
	has(await page.evaluate(() => document.querySelector("#fg-legend").textContent), "only after", "the legend");
	has(await hover(page, "deep"), "only after: it is new", "hover");
	is(await page.evaluate(() => [...document.querySelectorAll("select[aria-label='Widths of the difference'] option")].map((o) => o.textContent)),
		["Width: before", "Width: after", "Width: the larger"], "the list of widths");
	has(await hover(page, "x"), "own before 60 samples (75.0 %), after 30 samples (30.0 %): \u221250.0 %", "hover, both");
	is(await page.evaluate(() => document.documentElement.textContent.includes("only before\u0020")), false, "no word is left");
	await page.keyboard.press("t");
	has((await rows(page)).join("\n"), "0 % 20.0 % new deep", "the table");
	const chains = ["srv;main;nap;[sleep];-;sys;--;tick;[timer] 4", "srv;main;lock;[futex];-;sys;--;wake;other;[running] 5"];
	const wide = await open(diff([chains[1]], [chains[0]], "--negate"));
	await wide.selectOption("select[aria-label='Widths of the difference']", "after");
	is((await labels(wide)).filter((s) => s.startsWith("[only")), ["[only after]"], "the region of chains");
});

test("difference: the sums of each side agree after every switch", async () => {
	const page = await open(diff(["a;x 30", "a;gone;deep 20", "b 50", "b;c 7"], ["a;x 60", "b 20", "n;e;w 5"]));
	for (const side of ["after", "before", "union"])
		for (const compare of ["own", "total"]) {
			await page.selectOption("select[aria-label='Widths of the difference']", side);
			await page.selectOption("select[aria-label=Compare]", compare);
			has(await hover(page, "x"), compare + " before 30 samples (28.0 %), after 60 samples (70.6 %): +100 %",
				side + ", " + compare);
		}
}, "once");

test("difference: the table counts stacks that are gone once, and follows what is compared", async () => {
	const page = await open(diff(["a;x 30", "a;gone;deep 20", "b 50"], ["a;x 60", "b 20"]));
	for (const root of ["all", "[only before]"])
		has(await hover(page, root), root === "all" ? "80 samples, 100 % of all" : "20 samples, 20.0 % of all", root);
	await page.keyboard.press("t");
	const own = ["50.0 % 25.0 % \u221260.0 % b", "30.0 % 75.0 % +100 % x", "20.0 % 0 % gone deep"];
	for (const side of ["after", "before", "union"]) {
		await page.selectOption("select[aria-label='Widths of the difference']", side);
		is((await rows(page)).filter((r) => / (b|x|deep)$/.test(r)).sort(), own.sort(), "own, " + side);
		await page.selectOption("select[aria-label=Compare]", "total");
		has((await rows(page)).join("\n"), "20.0 % 0 % gone gone", "total, " + side);
		has((await rows(page)).join("\n"), "50.0 % 75.0 % +20.0 % a", "total, " + side);
		await page.selectOption("select[aria-label=Compare]", "own");
	}
	await page.selectOption("select[aria-label='Widths of the difference']", "after");
	await click(page, "[only before]");
	has((await rows(page)).join("\n"), "20.0 % 0 % gone deep", "in the region");
});

test("difference of chains: the improvement is seen: totals, the larger widths, and a sentence", async () => {
	const sleep = "srv;main;nap;[sleep];-;sys;--;tick;[timer] ", lock = "srv;main;work;lock;[futex];-;sys;--;wake;other;";
	const svg = diff([lock + "[running] 5000000", lock + "[runnable] 200000", sleep + "300000"], [sleep + "4000000"]);
	const page = await open(svg);
	is(await labels(page).then((l) => l.includes("[only before]")), false, "no region");
	near((await frame(page, "lock")).w, 1180 * 5.2 / 9.2, 1, "what is gone has its place");
	is([hue(await fill(page, "lock")), hue(await fill(page, "nap"))], ["blue", "red"], "colours");
	has(await hover(page, "lock"), "total before 5.20 s (94.5 %), after 0 (0 %): gone", "hover");
	has(await hover(page, "all"), "100 % of all", "the root");
	const still = await fill(page, "srv");
	const text = () => page.evaluate(() => document.querySelector("#fg-head").textContent);
	has(await text(), "Change: \u22121.50 s in all: lock waits \u22125.20 s, sleep +3.70 s", "what it comes down to");
	has(await text(), "Bottom: who waited", "how to read it");
	await page.selectOption("select[aria-label='Widths of the difference']", "after");
	near((await frame(page, "[only before]")).w, 1180 * 5.2 / 9.2, 1, "the region can be asked for");
	has(await hover(page, "lock"), "only before", "hover");
	has(await address(page), "side=after", "the address");
	await page.selectOption("select[aria-label='Widths of the difference']", "union");
	is(await fill(page, "srv"), still, "back");
	const own = await open(diff([lock + "[running] 5"], [sleep + "4"], "--compare", "own"));
	has(await hover(own, "nap"), "own before", "own counts are compared if asked for");
});
