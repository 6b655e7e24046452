// SPDX-License-Identifier: GPL-2.0-or-later
// Names that contain markup or script, and strict content security policies.
import { createHash } from "node:crypto";
import { createServer } from "node:http";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { test, dir, render, open, hover, click, labels, is, has } from "./harness.mjs";

const names = [
	"<script>alert(1)</script>",
	"]]><script>alert(2)</script>",
	"\"><img src=x onerror=alert(3)>",
	"' onmouseover='alert(4)",
	"&amp;&lt;&#0;&bogus",
	"javascript:alert(5)",
	"${alert(6)}`alert(7)`",
	"</metadata><script>alert(8)</script>",
	"--><!--",
	"\u2026dots",
	"\u2603 \u{1f525} \u4e2d\u6587",
];

test("hostile names are shown as text, and nothing runs", async () => {
	const page = await open(render(names.map((n, i) => "root;" + n.replaceAll(";", ":") + " " + (100 + i)),
		"--title", names[0], "--subtitle", names[1], "--notes", names[7], "--nametype", names[2],
		"--countname", names[3]));
	const text = await page.evaluate(() => document.querySelector("#fg-names").textContent.split("\n"));
	for (const n of names)
		is(text.includes(n.replaceAll(";", ":")), true, "the name " + JSON.stringify(n));
	is(await page.evaluate(() => document.querySelector("text#fg-title").textContent), names[0], "title");
	for (const label of await labels(page)) {
		await hover(page, label);
		await click(page, label);
		await page.keyboard.press("Home");
	}
	await page.keyboard.press("t");
	is(await page.evaluate(() => document.querySelectorAll("script").length), 1, "scripts");
	is(await page.evaluate(() => document.querySelectorAll("img").length), 0, "images");
});

test("control characters and invalid UTF-8 are shown as pictures", async () => {
	const bytes = Buffer.concat([Buffer.from("root;a\x01b\x1b[31mc\x7f 10\nroot;bad"),
		Buffer.from([0xff, 0xc3, 0x28, 0xed, 0xa0, 0x80, 0xef, 0xbf, 0xbe]), Buffer.from(" 5\n")]);
	const page = await open(render(bytes));
	const text = await page.evaluate(() => document.querySelector("#fg-names").textContent.split("\n"));
	is(text.includes("a\u2401b\u241b[31mc\u2421"), true, "control characters in " + JSON.stringify(text));
	is(text.some((s) => s.startsWith("bad\ufffd\ufffd(\ufffd")), true, "broken UTF-8");
});

test("a name of a megabyte is cut where it is drawn", async () => {
	const page = await open(render(["root;" + "x".repeat(1 << 20) + " 5", "root;y 5"]));
	has(await hover(page, "y"), "50.0 % of all", "hover");
	const tip = await page.evaluate(() => [...document.querySelectorAll("#fg-frames text")][1].textContent.length);
	if (tip > 200)
		throw new Error("a label of " + tip + " characters");
});

test("all works under a strict Content-Security-Policy", async () => {
	const svg = readFileSync(render(["main;work 3", "main;rest 1"]));
	const text = svg.toString(), sha = (s) => "'sha256-" + createHash("sha256").update(s).digest("base64") + "'";
	const script = text.match(/<script><!\[CDATA\[([^]*)\]\]><\/script>/)[1];
	const style = text.match(/<style>([^]*?)<\/style>/)[1];
	const policy = "default-src 'none'; script-src " + sha(script) + "; style-src " + sha(style);
	const server = createServer((q, r) => {
		r.writeHead(200, { "Content-Type": "image/svg+xml", "Content-Security-Policy": policy });
		r.end(q.url.startsWith("/a.svg") ? svg : "");
	});
	await new Promise((done) => server.listen(0, "127.0.0.1", done));
	try {
		const page = await open(render(["x 1"]));
		page.removeAllListeners("request"); // the SVG itself is fetched, from the server above
		page.on("console", (m) => {
			if (m.type() === "error" && /Security Policy/.test(m.text()))
				page.trouble.push(m.text());
		});
		await page.goto("http://127.0.0.1:" + server.address().port + "/a.svg");
		await page.waitForSelector("svg.live");
		await click(page, "work");
		is(await page.evaluate(() => location.hash), "#path=main%3Bwork", "zoomed");
		is(await page.evaluate(() => getComputedStyle(document.querySelector(".bar > div")).display), "flex", "style");
	} finally {
		server.close();
	}
}, "chromium"); // Firefox's own request for an icon is refused, too

test("in an <img> it is a static picture", async () => {
	const svg = render(["main;work 3", "main;rest 1"]);
	const html = join(dir, "img.html");
	writeFileSync(html, "<!doctype html><body style='margin:0'><img src='" + pathToFileURL(svg).href + "'>");
	const page = await open(html);
	is(await page.evaluate(() => {
		const i = document.querySelector("img");
		return [i.complete, i.naturalWidth];
	}), [true, 1200], "loaded");
	const shot = await page.screenshot({ clip: { x: 0, y: 0, width: 1200, height: 120 } });
	if (shot.length < 3000)
		throw new Error("the picture is empty");
});

test("it fits a phone, and has a dark mode", async () => {
	const svg = render(["main;work 3", "main;rest 1"]);
	const page = await open(svg, { context: { viewport: { width: 360, height: 640 }, colorScheme: "dark",
		hasTouch: true, isMobile: true } });
	is(await page.evaluate(() => document.documentElement.getAttribute("width")), "360", "width");
	is(await page.evaluate(() => getComputedStyle(document.querySelector("#fg-back")).fill), "rgb(21, 24, 29)", "ground");
	const wide = await page.evaluate(() => [...document.querySelectorAll(".bar > div, .bar > div > *")]
		.filter((e) => e.getBoundingClientRect().right > 361).map((e) => e.outerHTML.slice(0, 80)));
	is(wide, [], "parts beyond the right edge");
	is(await page.evaluate(() => { scrollTo(999, 0); return scrollX; }), 0, "scrolls sideways");
}, "chromium"); // which can be a phone, and dark

test("a screen reader finds a title, a description and labelled controls", async () => {
	const page = await open(render(["main;work 3"], "--title", "Where time goes"));
	is(await page.evaluate(() => [document.documentElement.getAttribute("role"),
		document.querySelector("title").textContent]), ["application", "Where time goes"], "role and title");
	has(await page.evaluate(() => document.querySelector("desc").textContent), "3 samples", "description");
	const bare = await page.evaluate(() => [...document.querySelectorAll("button,input,select")]
		.filter((e) => !e.getAttribute("aria-label")).length);
	is(bare, 0, "controls without a label");
});
