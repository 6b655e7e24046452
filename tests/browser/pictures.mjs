// SPDX-License-Identifier: GPL-2.0-or-later
// Makes the pictures of docs/flamegraph.md from a chain graph:
//     CHROMIUM=... node pictures.mjs GRAPH.svg OUT_DIR
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const [svg, out] = process.argv.slice(2);
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ["--no-sandbox", "--disable-gpu"] });

async function take(name, { fragment = "", context = {}, act = async () => {} } = {}) {
	const ctx = await browser.newContext({ viewport: { width: 1000, height: 640 }, ...context });
	const page = await ctx.newPage();
	await page.goto(pathToFileURL(resolve(svg)).href + fragment);
	await page.waitForSelector("svg.live");
	await act(page);
	await page.screenshot({ path: join(out, "flamegraph-" + name + ".png") });
	await ctx.close();
}

const end = (page) => page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight));
const box = (page, label, k = 0) => page.evaluate(([want, n]) => {
	const t = [...document.querySelectorAll("#fg-frames text")].filter((e) => e.textContent === want)[n];
	t.scrollIntoView({ block: "center" });
	const r = t.getBoundingClientRect();
	return { x: r.x + 4, y: r.y + r.height / 2 };
}, [label, k]);

await take("hover", { act: async (page) => {
	const b = await box(page, "charlie_wakes_bravo", 0);
	await page.mouse.move(b.x, b.y);
} });
await take("zoom-search", { fragment: "#path=alpha&search=wake", act: end });
await take("dark", { context: { colorScheme: "dark" }, act: end });
await take("table", { act: async (page) => {
	await end(page);
	await page.keyboard.press("t");
} });
await take("menu", { act: async (page) => {
	const b = await box(page, "--", 0);
	await page.mouse.click(b.x, b.y);
} });
await take("phone", { context: { viewport: { width: 390, height: 780 }, isMobile: true, hasTouch: true,
	deviceScaleFactor: 2 }, act: end });
await browser.close();
