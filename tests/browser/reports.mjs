// SPDX-License-Identifier: GPL-2.0-or-later
// Shared by the tests of the report: they make one of a recorded trace, and show it.
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { open, dir } from "./harness.mjs";

export const trace = (name) => fileURLToPath(new URL("../data/" + name + ".bin", import.meta.url));
export const walk = (...args) => execFileSync(process.env.CHAINWALK, ["-q", ...args], { encoding: "utf8", maxBuffer: 1 << 26 });
let serial = 0;

export function report(input, ...options) {
	const html = join(dir, "report" + ++serial + ".html");
	walk("--format=html", "-o", html, ...options, input);
	return html;
}

export async function show(html, { fragment = "", context = {}, fresh = false } = {}) {
	const page = await open(null, { context, fresh });
	await page.goto("file://" + html + fragment);
	if (context.javaScriptEnabled !== false)
		await page.waitForSelector(".report.live");
	return page;
}

// As text: Firefox takes seconds to hand over as many objects.
export const data = async (page) => JSON.parse(await page.evaluate(() => document.querySelector("#report-data").textContent));
export const cells = (page, selector) => page.evaluate((s) => [...document.querySelectorAll(s)].map((tr) =>
	[...tr.cells].map((c) => c.textContent)), selector);
