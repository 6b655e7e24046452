// SPDX-License-Identifier: GPL-2.0-or-later
// Makes pictures of a chain graph, OUT_DIR/PREFIX-NAME.png. Those of docs/flamegraph.md:
//     CHROMIUM=... node pictures.mjs RELAY.svg ../../docs flamegraph hover zoom-search dark table menu phone
// where RELAY.svg is
//     chainwalk -c '^(alpha|bravo|charlie|delta)$' tests/data/relay.bin | flamegraph
// docs/chain.png is the picture "light" of alpha's waits alone, of a trace that says what was waited for:
//     chaincap -F 0 -- chainload relay --rounds 30 --work 2000,3000,4000
//     chainwalk --within alpha_waits -t TID | flamegraph --title "What alpha waited for"
// bench/database_pictures.sh makes those of a database.
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const [svg, out, prefix, ...names] = process.argv.slice(2);
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ["--no-sandbox", "--disable-gpu"] });

async function take(name, { fragment = "", context = {}, act = async () => {} } = {}) {
	const ctx = await browser.newContext({ viewport: { width: 1000, height: 640 }, ...context });
	const page = await ctx.newPage();
	await page.goto(pathToFileURL(resolve(svg)).href + fragment);
	await page.waitForSelector("svg.live");
	await act(page);
	await page.screenshot({ path: join(out, prefix + "-" + name + ".png") });
	await ctx.close();
}

const end = (page) => page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight));
const box = (page, label, k = 0) => page.evaluate(([want, n]) => {
	const t = [...document.querySelectorAll("#fg-frames text")].filter((e) => e.textContent === want)[n];
	t.scrollIntoView({ block: "center" });
	const r = t.getBoundingClientRect();
	return { x: r.x + 4, y: r.y + r.height / 2 };
}, [label, k]);

// The whole of it, ends and root, up to a height that still fits into a document.
const whole = async (page) => {
	const height = await page.evaluate(() => Math.ceil(document.documentElement.getBoundingClientRect().height));
	await page.setViewportSize({ width: 1000, height: Math.min(Math.max(height, 300), 1440) });
	await end(page);
};

const pictures = {
	light: { act: whole },
	dark: { context: { colorScheme: "dark" }, act: whole },
	hover: { act: async (page) => {
		const b = await box(page, "charlie_wakes_bravo", 0);
		await page.mouse.move(b.x, b.y);
	} },
	"zoom-search": { fragment: "#path=alpha&search=wake", act: end },
	table: { act: async (page) => {
		await end(page);
		await page.keyboard.press("t");
	} },
	menu: { act: async (page) => {
		const b = await box(page, "--", 0);
		await page.mouse.click(b.x, b.y);
	} },
	phone: { context: { viewport: { width: 390, height: 780 }, isMobile: true, hasTouch: true, deviceScaleFactor: 2 }, act: end },
};
for (const name of names)
	await take(name, pictures[name]);
await browser.close();
