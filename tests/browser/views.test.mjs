// SPDX-License-Identifier: GPL-2.0-or-later
// Views: from the leaves, callers and callees, hidden and collapsed frames. Each is in the address.
import { address, click, frame, has, hover, is, labels, near, open, render, test } from "./harness.mjs";

const folded = [
	"main;parse;read;libc.so!memcpy 30",
	"main;parse;split;libc.so!memcpy 20",
	"main;work;work;work;sum 40",
	"other;read;libc.so!memcpy 10",
];
const menu = async (page, label, entry, n = 0) => {
	await click(page, label, n, { button: "right" });
	await page.getByRole("menuitem", { name: entry }).click();
};
const drawn = async (page, label, n = 0) => (await frame(page, label, n)).w;
const sorted = async (page) => (await labels(page)).sort().join(" ");
const chips = (page) => page.evaluate(() => [...document.querySelectorAll(".chips button")].map((b) => b.textContent));

test("views: merged from the leaves as --reverse does, and back", async () => {
	const page = await open(render(folded));
	const whole = await sorted(page);
	await page.keyboard.press("r");
	near(await drawn(page, "libc.so!memcpy"), 1180 * 0.6, 1, "all callers together");
	near(await drawn(page, "read"), 1180 * 0.4, 1, "its callers");
	const alive = await sorted(page);
	is(await sorted(await open(render(folded, "--reverse"))), alive, "the program draws the same frames");
	has(await address(page), "leaves=1", "in the address");
	await page.goBack();
	is(await sorted(page), whole, "back");
});

test("views: callers and callees of a function", async () => {
	const page = await open(render(folded));
	await menu(page, "read", "Graph of callers and callees");
	near(await drawn(page, "read"), 1180, 1, "the function");
	near(await drawn(page, "libc.so!memcpy"), 1180, 1, "what it calls");
	near(await drawn(page, "parse"), 1180 * 0.75, 1, "who calls it");
	near(await drawn(page, "other"), 1180 * 0.25, 1, "who calls it");
	const y = async (label) => (await frame(page, label)).y;
	is([await y("libc.so!memcpy") < await y("read"), await y("read") < await y("parse"),
		await y("parse") < await y("main")], [true, true, true], "callees above, callers below");
	await click(page, "parse");
	near(await drawn(page, "main"), 1180, 1, "a caller can be zoomed to");
	near(await drawn(page, "read"), 1180, 1, "the function stays");
	await page.keyboard.press("Home");
	await page.keyboard.press("/");
	await page.keyboard.type("main");
	has(await page.evaluate(() => document.querySelector(".share").textContent),
		"callees 0 %, callers 75.0 %", "search on both sides");
});

test("views: hide a function, a library, recursion; only stacks with one; all in a link", async () => {
	const page = await open(render(folded));
	await menu(page, "split", "Hide this function");
	near(await drawn(page, "libc.so!memcpy", 0), 1180 * 0.2, 1, "its callee moves to its caller");
	await menu(page, "libc.so!memcpy", "Hide all of libc.so");
	is((await labels(page)).some((s) => s.includes("memcpy")), false, "the library is gone");
	await menu(page, "work", "Collapse recursion");
	is((await labels(page)).filter((s) => s === "work").length, 1, "one frame of work");
	near(await drawn(page, "main"), 1180 * 0.9, 1, "the time stays");
	is((await chips(page)).length, 3, "each can be taken back");
	const link = await address(page);
	const other = await open(null);
	await other.goto(link);
	await other.waitForSelector("svg.live");
	is(await sorted(other), await sorted(page), "a link shows the same");
	await page.locator(".chips button").first().click();
	is((await chips(page)).length, 2, "taken back");
	await page.keyboard.press("Home");
	await page.evaluate(() => { location.hash = "#focus=read"; });
	near(await drawn(page, "read"), 1180, 1, "only stacks with read, from there on");
	is((await labels(page)).includes("main"), false, "no callers");
	has(await hover(page, "read"), "40.0 % of all", "the share is that of all");
});

test("views: a frame in a link is found by its names, also in another graph", async () => {
	const page = await open(render(folded));
	await click(page, "split");
	is(decodeURIComponent((await address(page)).split("#")[1]), "path=main;parse;split", "the path");
	const tomorrow = render(["aaa 100", "main;parse;newer 5", "main;parse;split;x 20", "main;z 1"]);
	const other = await open(tomorrow, { fragment: "#path=main%3Bparse%3Bsplit" });
	near(await drawn(other, "split"), 1180, 1, "the same frame of another graph");
	const less = await open(tomorrow, { fragment: "#path=main%3Bparse%3Bgone%3Bx" });
	near(await drawn(less, "parse"), 1180, 1, "as much of the path as there is");
}, "once");

test("views: a flame chart zooms to the right one of equal frames", async () => {
	const svg = render(["a;x 10", "b 10", "a;y 30"], "--flamechart");
	const page = await open(svg);
	await click(page, "a", 1);
	near(await drawn(page, "y"), 1180, 1, "the second a");
	const other = await open(svg, { fragment: "#" + (await address(page)).split("#")[1] });
	near(await drawn(other, "y"), 1180, 1, "by a link");
	is(await page.getByLabel("Merge from the leaves (R)").isVisible(), false, "no merging: it has an order");
});

test("views: links bring what they show into view; title and legend stay", async () => {
	const deep = Array.from({ length: 200 }, (_, i) => "f" + i), tall = [deep.join(";") + " 10", "g 1"];
	const seen = (page, label) => page.evaluate((want) => {
		const t = [...document.querySelectorAll("#fg-frames text")].find((e) => e.textContent === want);
		const r = t.getBoundingClientRect();
		return r.top >= 0 && r.bottom <= innerHeight;
	}, label);
	for (const options of [[], ["--inverted"]])
		for (const n of [3, 100, 199]) {
			const page = await open(render(tall, ...options), { fragment: "#path=" + deep.slice(0, n + 1).join(";") });
			is(await seen(page, "f" + n), true, "f" + n + " " + options);
		}
	const page = await open(render(tall, "--title", "Where am I"));
	await page.evaluate(() => scrollTo(0, 1500));
	await page.waitForTimeout(100);
	const title = await page.evaluate(() => {
		const r = document.querySelector("text#fg-title").getBoundingClientRect();
		return document.elementFromPoint(r.x + r.width / 2, r.y + r.height / 2).textContent;
	});
	is(title, "Where am I", "the title is on top");
});

test("views: sums agree with the graph, also for chains, cut stacks are told", async () => {
	const chain = ["alpha;main;recv;--;wake;work;bravo;[running] 300", "alpha;main;recv;[runnable] 100",
		"delta;nap;--;tick;[interrupt] 100"];
	const page = await open(render(chain));
	await page.keyboard.press("r");
	near(await drawn(page, "[running]"), 1180 * 0.6, 1, "ends first");
	const deep = Array.from({ length: 4000 }, (_, i) => "f" + i);
	const lines = [];
	for (let i = 0; i < 4000; i++)
		lines.push(deep.slice(0, i + 1).join(";") + " 1");
	const tall = await open(render(lines));
	await tall.keyboard.press("r");
	has(await tall.evaluate(() => document.querySelector("[role=status]").textContent), "Stacks are cut", "told");
}, "once");
