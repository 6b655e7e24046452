// SPDX-License-Identifier: GPL-2.0-or-later
// Zoom, search, URL state and keyboard, on an ordinary flame graph.
import { readFileSync } from "node:fs";
import { test, render, open, frame, labels, hover, click, is, has, near } from "./harness.mjs";

const folded = [
	"main;parse;read_line 300",
	"main;parse;split 100",
	"main;work;parse;split 200",
	"main;work;sum 390",
	"main;work;tiny_function_seen_only_when_zoomed 1",
	"other 9",
];

const share = (page) => page.evaluate(() => document.querySelector(".share").textContent);
const hash = (page) => page.evaluate(() => location.hash);
const drawn = async (page, label, n = 0) => (await frame(page, label, n)).w;

test("the hover text has the frame's name, count and percent", async () => {
	const page = await open(render(folded));
	has(await hover(page, "sum"), "sum390 samples, 39.0 % of all, own 390 samples", "the hover text");
	has(await page.evaluate(() => document.querySelector("[role=status]").textContent),
		"Function: sum (390 samples, 39.0 % of all, own 390 samples)", "the status line");
});

test("a click zooms, Reset zoom returns to the root", async () => {
	const page = await open(render(folded));
	near(await drawn(page, "work"), 1180 * 0.591, 1, "width before");
	await click(page, "work");
	near(await drawn(page, "work"), 1180, 1, "width when zoomed to");
	near(await drawn(page, "main"), 1180, 1, "width of the caller");
	is((await labels(page)).includes("read_line"), false, "a frame outside is shown");
	await page.getByText("Reset zoom").click();
	near(await drawn(page, "work"), 1180 * 0.591, 1, "width after the reset");
	is(await hash(page), "", "fragment after the reset");
});

test("frames too narrow to be drawn appear after a zoom", async () => {
	const lines = ["main;wide 999990", "main;deep;needle 9", "main;deep;straw 1"];
	const page = await open(render(lines));
	is((await labels(page)).includes("needle"), false, "too narrow, yet shown");
	await page.evaluate(() => { location.hash = "#path=main%3Bdeep"; });
	near(await drawn(page, "needle"), 1180 * 0.9, 1, "width of needle under deep");
});

test("Ctrl-F searches, nested matches count once", async () => {
	const page = await open(render(folded));
	await page.keyboard.press("Control+f");
	await page.keyboard.type("/^(parse|split)$/");
	is(await share(page), "Matched: 60.0 %, 4 frames", "share");
	const lit = await page.evaluate(() => document.querySelectorAll("#fg-frames rect[fill='#f067f0']").length);
	is(lit, 4, "frames lit");
	await page.keyboard.press("Escape");
	is(await share(page), "", "share after Escape");
});

test("search ignores case unless Match case is on", async () => {
	const page = await open(render(["Main;Sum 10", "Main;sum 30"]));
	await page.keyboard.press("Control+f");
	await page.keyboard.type("Sum");
	is(await share(page), "Matched: 100 %, 2 frames", "any case");
	await page.keyboard.press("Control+i");
	is(await share(page), "Matched: 25.0 %, 1 frame", "this case");
});

test("a search is for a text; an expression has slashes, or is what no name has", async () => {
	const page = await open(render(["main;f(int) 1", "main;g;[timer] 3", "main;time;a|b 4"]));
	const how = () => page.evaluate(() => document.querySelector(".how").textContent);
	const found = async (text) => {
		await page.evaluate((s) => { location.hash = "#search=" + encodeURIComponent(s); }, text);
		await page.waitForFunction((s) => document.querySelector("input[type=search]").value === s, text);
		return [await share(page), await how()];
	};
	is(await page.evaluate(() => document.querySelector("input[type=search]").placeholder), "Search (text or /regex/)", "the box says so");
	is(await found("[timer]"), ["Matched: 37.5 %, 1 frame", ""], "brackets are no set of letters");
	is(await found("[network]"), ["Matched: 0 %, 0 frames", ""], "nor if no frame has this name");
	is(await found("f("), ["Matched: 12.5 %, 1 frame", ""], "a text that would be no expression");
	is(await found("a|b"), ["Matched: 50.0 %, 1 frame", ""], "a text that would be another expression");
	is(await found("/a|b/"), ["Matched: 100 %, 3 frames", ""], "that expression: all and main have an a");
	is(await found("g|f"), ["Matched: 50.0 %, 2 frames", "taken as a regular expression"], "what no name has");
	is(await found("/f(/"), ["Matched: 0 %, 0 frames", "no valid expression, taken as it stands"], "an incomplete one");
	is(await page.evaluate(() => document.querySelector("input[type=search]").getAttribute("aria-invalid")), "true", "it is told");
	is(await found("/[TIMER]{5}/"), ["Matched: 37.5 %, 1 frame", ""], "letters, in any case");
	await page.keyboard.press("t");
	const rows = () => page.evaluate(() => [...document.querySelectorAll(".panel td:last-child")].map((e) => e.textContent));
	await page.fill(".panel .filter", "[timer]");
	is(await rows(), ["[timer]"], "the table's filter, too");
	await page.fill(".panel .filter", "/^[ag]/");
	is((await rows()).sort(), ["a|b", "g"], "and expressions there");
});

test("needles are one row that says how many they are; a zoom shows them", async () => {
	const lines = [];
	for (let i = 0; i < 300; i++)
		lines.push("main;work" + i % 7 + ";step" + i + " 100");
	lines.push("main;work3;step3;" + Array.from({ length: 170 }, (_, i) => "deep" + i).join(";") + " 20");
	const svg = render(lines), tall = () => page.evaluate(() => Number(document.querySelector("svg").getAttribute("height")));
	const says = () => page.evaluate(() => document.querySelector("#fg-frames .needles")?.textContent);
	const still = await open(svg, { context: { javaScriptEnabled: false } });
	is(await still.evaluate(() => document.querySelector("#fg-frames .needles").textContent), "... 170 narrow frames in 170 rows", "without the script");
	is(Number(/viewBox="0 0 [\d.]+ ([\d.]+)"/.exec(readFileSync(svg, "utf8"))[1]) < 300, true, "and all is on the first screen");
	const page = await open(svg);
	is(await says(), "... 170 narrow frames in 170 rows", "with it");
	is(await tall(), 800, "as tall as the window");
	await page.evaluate(() => { location.hash = "#path=main%3Bwork3%3Bstep3%3Bdeep0"; });
	await page.waitForFunction(() => document.documentElement.getAttribute("height") > 2000);
	is([await says(), (await labels(page)).includes("deep169")], [undefined, true], "zoomed");
	await page.evaluate(() => { location.hash = "#search=deep169"; });
	await page.waitForFunction(() => document.querySelector(".share").textContent);
	has(await share(page), "1 frame", "found");
	await page.keyboard.press("n");
	is((await labels(page)).includes("deep169"), true, "the match is shown");
	const few = await open(render(["main;a 1000", "main;b;c;d;e 1"]));
	is(await few.evaluate(() => document.querySelector(".needles")), null, "few rows stay");
});

test("? shows the keys, controls have words, and the match that is shown has its number", async () => {
	const page = await open(render(folded));
	await page.keyboard.press("?");
	has(await page.evaluate(() => document.querySelector(".panel.help").textContent), "merge from the leaves", "the keys");
	await page.keyboard.press("Escape");
	is(await page.locator(".panel.help").count(), 0, "closed");
	is(await page.evaluate(() => ["Flip", "Merge", "Table"].every((w) => [...document.querySelectorAll(".controls button")]
		.some((b) => b.textContent.includes(w)))), true, "words beside the icons");
	await page.keyboard.press("/");
	await page.keyboard.type("/^(parse|split)$/");
	await page.keyboard.press("Enter");
	await page.keyboard.press("Enter");
	is(await share(page), "Matched: 60.0 %, 2 of 4 frames", "which one");
});

test("zoom and search are written to the URL and read from it", async () => {
	const svg = render(folded), page = await open(svg);
	await click(page, "work");
	await page.keyboard.press("Control+f");
	await page.keyboard.type("sum");
	const fragment = await hash(page);
	const other = await open(svg, { fragment });
	near(await drawn(other, "work"), 1180, 1, "zoomed width");
	is(await share(other), "Matched: 66.0 %, 1 frame", "share of what is zoomed to");
});

test("the back button undoes a zoom, and forward repeats it", async () => {
	const page = await open(render(folded));
	await click(page, "work");
	await click(page, "sum");
	near(await drawn(page, "sum"), 1180, 1, "zoomed twice");
	await page.goBack();
	near(await drawn(page, "work"), 1180, 1, "one back");
	await page.goBack();
	near(await drawn(page, "work"), 1180 * 0.591, 1, "two back");
	await page.goForward();
	near(await drawn(page, "work"), 1180, 1, "forward");
});

test("keys move from frame to frame, zoom, and go to the next match", async () => {
	const page = await open(render(folded));
	const status = () => page.evaluate(() => document.querySelector("[role=status]").textContent);
	await page.keyboard.press("ArrowUp");
	has(await status(), "Function: all ", "first key takes the root");
	await page.keyboard.press("ArrowUp");
	await page.keyboard.press("ArrowUp");
	has(await status(), "Function: work ", "the widest callee");
	await page.keyboard.press("ArrowLeft");
	has(await status(), "Function: parse ", "the neighbour");
	await page.keyboard.press("ArrowDown");
	has(await status(), "Function: main ", "the caller");
	await page.keyboard.press("ArrowUp");
	await page.keyboard.press("Enter");
	near(await drawn(page, "work"), 1180, 1, "Enter zooms");
	await page.keyboard.press("Home");
	await page.keyboard.press("/");
	await page.keyboard.type("split");
	await page.keyboard.press("Enter");
	has(await status(), "split (100 ", "first match");
	await page.keyboard.press("Enter");
	has(await status(), "split (200 ", "second match");
});

test("keys go to the previous match and to the caller, and open and close the menu", async () => {
	const page = await open(render(folded));
	const status = () => page.evaluate(() => document.querySelector("[role=status]").textContent);
	await page.keyboard.press("/");
	await page.keyboard.type("split");
	await page.keyboard.press("Enter");
	await page.evaluate(() => document.activeElement.blur());
	await page.keyboard.press("n");
	has(await status(), "split (200 ", "N: the next match");
	await page.keyboard.press("Shift+N");
	has(await status(), "split (100 ", "Shift-N: the match before");
	await page.keyboard.press("Enter");
	near(await drawn(page, "split"), 1180, 1, "zoomed to it");
	await page.keyboard.press("Backspace");
	near(await drawn(page, "parse"), 1180, 1, "Backspace: its caller");
	await page.keyboard.press("m");
	has(await page.evaluate(() => document.activeElement.textContent), "Zoom to this frame", "M: the menu");
	await page.keyboard.press("Escape");
	is(await page.locator(".menu").count(), 0, "Escape closes it");
});

test("V turns the picture upside down, also in the URL", async () => {
	const page = await open(render(folded));
	const above = async () => (await frame(page, "main")).y < (await frame(page, "work")).y;
	is(await above(), false, "root below");
	await page.keyboard.press("v");
	is(await above(), true, "root on top");
	is(await hash(page), "#flip=1", "fragment");
});

test("one thread can be shown alone", async () => {
	const page = await open(render(folded));
	await page.selectOption("select[aria-label='Show one thread']", "other");
	near(await drawn(page, "other"), 1180, 1, "its width");
	is((await labels(page)).includes("main"), false, "another thread is shown");
	await page.goBack();
	near(await drawn(page, "main"), 1180 * 0.991, 1, "back to all");
});

test("the table lists the widest frames, recursion counted once", async () => {
	const page = await open(render(["main;f;g;f 60", "main;g 30", "main 10"]));
	await page.keyboard.press("t");
	const rows = () => page.evaluate(() => [...document.querySelectorAll(".panel tr")].slice(1)
		.map((r) => [...r.children].map((c) => c.textContent).join(" ")));
	is(await rows(), ["60.0 % 60.0 % f", "30.0 % 90.0 % g", "10.0 % 100 % main"], "by own time");
	await page.locator(".panel th button", { hasText: "Total" }).click();
	is((await rows())[0], "10.0 % 100 % main", "by total");
	await page.getByText("Self").click();
	await page.locator(".panel td button").first().click();
	is(await share(page), "Matched: 60.0 %, 2 frames", "a click on a name searches for it");
	await page.keyboard.press("Escape");
	is(await page.locator(".panel").count(), 0, "closed");
});

test("a frame's name and folded line can be copied", async () => {
	const page = await open(render(folded), { context: { permissions: ["clipboard-read", "clipboard-write"] } });
	await click(page, "sum", 0, { button: "right" });
	await page.getByText("Copy folded line").click();
	is(await page.evaluate(() => navigator.clipboard.readText()), "main;work;sum 390", "folded line");
	await hover(page, "read_line");
	await page.keyboard.press("c");
	is(await page.evaluate(() => navigator.clipboard.readText()), "read_line", "name");
}, "chromium"); // which can be allowed to read the clipboard

test("increases are red, decreases blue, and the hover text has them", async () => {
	const page = await open(render(["main;grew 100 200", "main;shrank 300 100", "main;same 50 50"]));
	const fill = (label) => page.evaluate((want) => [...document.querySelectorAll("#fg-frames text")]
		.find((e) => e.textContent === want).previousElementSibling.getAttribute("fill"), label);
	const [r, , b] = (await fill("grew")).slice(1).match(/../g).map((x) => parseInt(x, 16));
	if (!(r > b))
		throw new Error("grew is not red: " + await fill("grew"));
	const [r2, , b2] = (await fill("shrank")).slice(1).match(/../g).map((x) => parseInt(x, 16));
	if (!(b2 > r2))
		throw new Error("shrank is not blue: " + await fill("shrank"));
	const still = await fill("grew");
	await page.keyboard.press("v");
	is(await fill("grew"), still, "the script paints another colour");
	has(await hover(page, "grew"), "+100 %", "hover");
});

test("the script draws the same picture as the document without it", async () => {
	const svg = render(folded);
	const shape = (page) => page.evaluate(() => [...document.querySelectorAll("#fg-frames rect")].map((r) =>
		["x", "y", "width", "height", "fill"].map((a) => r.getAttribute(a)).map((v) =>
			Number.isNaN(Number(v)) ? v : Math.round(v * 10) / 10).join(" ")).sort());
	const still = await shape(await open(svg, { context: { javaScriptEnabled: false } }));
	const page = await open(svg);
	await page.keyboard.press("v");
	await page.keyboard.press("v");
	is(await shape(page), still, "rectangles");
});

test("what is under the pointer can be read beside all controls, in a window of any width", async () => {
	const page = await open(render(["alpha;main;recv;--;wake;send;work;bravo;[running] 400", "delta;nap;--;tick;[timer] 300"]), { fresh: true });
	await page.keyboard.press("/");
	await page.keyboard.type("a");
	for (const width of [720, 1000, 1200, 1500]) {
		await page.setViewportSize({ width, height: 700 });
		await hover(page, "recv");
		const [wide, low, out] = await page.evaluate(() => {
			const r = document.querySelector("[role=status]").getBoundingClientRect(), bar = document.querySelector(".bar > div").getBoundingClientRect();
			return [r.width, Math.abs(bar.bottom - innerHeight) < 2, [...document.querySelectorAll(".controls > *")].filter((e) => e.getClientRects().length &&
				(e.getBoundingClientRect().left < 0 || e.getBoundingClientRect().right > innerWidth)).length];
		});
		is([wide > 180, low, out], [true, true, 0], width + " px: " + wide + " px for the status");
	}
});

test("the bar stays at the window's lower edge, and the scroll position is kept", async () => {
	const deep = Array.from({ length: 120 }, (_, i) => "f" + i).join(";");
	const page = await open(render([deep + " 10", "g 1"]));
	const bottom = () => page.evaluate(() => Math.round(
		document.querySelector(".bar > div").getBoundingClientRect().bottom));
	is(await bottom(), 800, "the bar's lower edge");
	await page.mouse.wheel(0, 300);
	await page.waitForTimeout(300);
	await page.mouse.move(100, 100);
	await page.waitForTimeout(100);
	is(await page.evaluate(() => scrollY), 300, "scrolled to");
	is(await bottom(), 800, "the bar's lower edge after scrolling");
});
