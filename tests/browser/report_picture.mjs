// SPDX-License-Identifier: GPL-2.0-or-later
// Makes docs/report.png from the report of tests/data/relay.bin (chainwalk --format=html):
//     CHROMIUM=... node report_picture.mjs RELAY.html ../../docs/report.png
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const [html, png] = process.argv.slice(2);
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ["--no-sandbox", "--disable-gpu"] });
const page = await browser.newPage({ viewport: { width: 1000, height: 760 } });
await page.goto(pathToFileURL(resolve(html)).href + "#who=alpha");
await page.waitForSelector(".report.live");
// The first wait that is a whole round of the relay.
for (const open of await page.$$("#waits .is-open button.open"))
	await open.click();
await page.locator("#waits-list tbody tr:not(.opened, .is-open)", { hasText: "alpha_waits" }).first().locator("button.open").click();
await page.evaluate(() => document.querySelector("#waits").scrollIntoView());
await page.screenshot({ path: png });
await browser.close();
