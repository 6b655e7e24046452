// SPDX-License-Identifier: GPL-2.0-or-later
// Shared by the tests of the page: the list of tests, one browser, and functions that make an SVG
// from folded lines and find frames in it by what is drawn, as a user does.
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import playwright, { chromium } from "playwright-core";

const tests = [];
export const dir = mkdtempSync(join(tmpdir(), "flamegraph-test-"));
let browser;
let serial = 0;

// only: "chromium", if the test needs what the other browser's protocol lacks; "once", if it is about what the page
// computes and not about how a browser shows it.
export function test(name, body, only = "") {
	tests.push({ name, body, only });
}

// A test that judges how quick the page is: SPEED=1 runs these, and nothing else. In Chromium, whose protocol tells
// the CPU time.
export function speed(name, body) {
	tests.push({ name, body, only: "speed" });
}

export function render(folded, ...options) {
	const input = join(dir, "in" + ++serial + ".folded"), svg = join(dir, "out" + serial + ".svg");
	writeFileSync(input, Array.isArray(folded) ? folded.join("\n") + "\n" : folded);
	execFileSync(process.env.FLAMEGRAPH, [...options, "-o", svg, input], { stdio: "pipe" });
	return svg;
}

// To make a page takes longer than most tests: those that ask for nothing special have this one, one after the other.
let kept, taken;

async function make(context) {
	const ctx = await browser.newContext({ viewport: { width: 1200, height: 800 }, ...context });
	return ctx.newPage();
}

async function take() {
	kept ??= await make({});
	taken = true;
	for (const event of ["pageerror", "dialog", "request", "console"])
		kept.removeAllListeners(event);
	await kept.mouse.move(0, 0);
	return kept;
}

// A page that shows the SVG (null: nothing yet). Script from the data, an error, a fetch or a word on the browser's
// console fails the test. context: what playwright's newContext() takes; fresh: one that nothing was shown in before.
export async function open(svg, { fragment = "", context = {}, fresh = false } = {}) {
	const page = fresh || taken || Object.keys(context).length ? await make(context) : await take();
	page.trouble = [];
	page.on("pageerror", (e) => page.trouble.push("error: " + e.message));
	page.on("console", (m) => page.trouble.push("console: " + m.text()));
	page.on("dialog", (d) => { page.trouble.push("dialog: " + d.message()); d.dismiss(); });
	page.on("request", (r) => {
		if (!/^(file|data|about):/.test(r.url()))
			page.trouble.push("fetched " + r.url());
	});
	if (!svg)
		return page;
	await page.goto(pathToFileURL(svg).href + fragment);
	if (context.javaScriptEnabled !== false && svg.endsWith(".svg"))
		await page.waitForSelector("svg.live");
	return page;
}

// Closes what a test opened; the page for the next ones shows nothing again.
async function leave(failed) {
	if (failed)
		kept = undefined;
	for (const ctx of browser.contexts())
		if (ctx !== kept?.context())
			await ctx.close();
	if (taken)
		await kept?.goto("about:blank");
	taken = false;
}

// The drawn box of the n-th frame with this label, in window coordinates, without its border: Firefox counts that.
export async function frame(page, label, n = 0) {
	const box = await page.evaluate(([want, k]) => {
		const t = [...document.querySelectorAll("#fg-frames text")]
			.filter((e) => e.textContent === want)[k];
		if (!t)
			return null;
		t.scrollIntoView({ block: "center" });
		const e = t.previousElementSibling || t, r = e.getBoundingClientRect(), b = e.getBBox(), scale = e.getScreenCTM();
		const w = scale.a * b.width, h = scale.d * b.height;
		return { x: r.x + (r.width - w) / 2, y: r.y + (r.height - h) / 2, w, h };
	}, [label, n]);
	if (!box)
		throw new Error("no frame labelled " + label + "; there are: " + (await labels(page)).join(" "));
	return box;
}

// The page's address as the page has it: page.url() learns of changes a little later.
export async function address(page) {
	return page.evaluate(() => location.href);
}

export async function labels(page) {
	return page.evaluate(() => [...document.querySelectorAll("#fg-frames text")].map((e) => e.textContent));
}

export async function hover(page, label, n = 0) {
	const b = await frame(page, label, n);
	await page.mouse.move(0, 0); // a pointer that stays where it is makes no event
	await page.mouse.move(b.x + Math.min(10, b.w / 2), b.y + b.h / 2);
	return page.evaluate(() => document.querySelector(".tip").textContent);
}

export async function click(page, label, n = 0, options = {}) {
	const b = await frame(page, label, n);
	await page.mouse.click(b.x + Math.min(10, b.w / 2), b.y + b.h / 2, options);
}

// To all eyes: the matrices of Machado, Oliveira and Fernandes (2009), as in tests/unit/render_palette.c. In a page: the
// contrast of two colours to eye n of four.
const EYES = [[1, 0, 0, 0, 1, 0, 0, 0, 1], [0.152286, 1.052583, -0.204868, 0.114503, 0.786281, 0.099216, -0.003882, -0.048116, 1.051998],
	[0.367322, 0.860646, -0.227968, 0.280085, 0.672501, 0.047413, -0.011820, 0.042940, 0.968881],
	[1.255528, -0.076749, -0.178779, -0.078411, 0.930809, 0.147602, 0.004733, 0.691367, 0.303900]];

export async function defineContrast(page) {
	await page.evaluate((eyes) => {
		const linear = (s) => s.match(/[\d.]+/g).slice(0, 3).map((v) => v / 255).map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
		const seen = (l, m) => [0.2126, 0.7152, 0.0722].reduce((sum, part, i) => sum + part * Math.min(1, Math.max(0, m[3 * i] * l[0] + m[3 * i + 1] * l[1] + m[3 * i + 2] * l[2])), 0);
		window.contrast = (a, b, eye) => {
			const [x, y] = [a, b].map((s) => seen(linear(s), eyes[eye]));
			return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05);
		};
	}, EYES);
}

export function is(got, want, what) {
	const [a, b] = [JSON.stringify(got), JSON.stringify(want)];
	if (a !== b)
		throw new Error(what + "\n    got  " + a + "\n    want " + b);
}

export function has(text, part, what) {
	if (!String(text).includes(part))
		throw new Error(what + "\n    got  " + JSON.stringify(text) + "\n    want it to hold " +
			JSON.stringify(part));
}

export function near(got, want, slack, what) {
	if (!(Math.abs(got - want) <= slack))
		throw new Error(what + "\n    got  " + got + "\n    want " + want + " within " + slack);
}

// Chromium ($CHROMIUM) runs all tests but those of speed. Firefox ($FIREFOX), the distribution's own, over WebDriver BiDi, runs
// those of the page that `only` leaves to it.
export async function run() {
	const { CHROMIUM, FIREFOX } = process.env, sums = { passed: 0, failed: 0 };
	if (CHROMIUM) {
		browser = await chromium.launch({ executablePath: CHROMIUM, args: [
			"--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
			"--disable-background-networking", "--disable-component-update", "--disable-sync" ] });
		await runAll("browser", tests.filter((t) => (t.only === "speed") === Boolean(process.env.SPEED)), sums);
		await browser.close();
		kept = undefined;
	}
	if (FIREFOX) {
		browser = await playwright._bidiFirefox.launch({ executablePath: FIREFOX });
		await runAll("browser, Firefox", tests.filter((t) => !t.only), sums);
		await browser.close();
	}
	rmSync(dir, { recursive: true });
	console.log(sums.passed + " passed, " + sums.failed + " failed, 0 skipped");
	process.exitCode = sums.failed ? 1 : 0;
}

async function runAll(where, list, sums) {
	const only = process.argv[2];
	for (const t of list) {
		if (only && !t.name.includes(only))
			continue;
		try {
			const note = await t.body();
			for (const ctx of browser.contexts())
				for (const p of ctx.pages())
					if (p.trouble)
						is(p.trouble, [], "the page made trouble");
			await leave();
			console.log("ok   " + where + ": " + t.name + (note ? ": " + note : ""));
			sums.passed++;
		} catch (e) {
			console.log("FAIL " + where + ": " + t.name + "\n    " + e.message);
			sums.failed++;
			await leave(true);
		}
	}
}
