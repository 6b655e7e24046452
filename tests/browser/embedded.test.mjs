// SPDX-License-Identifier: GPL-2.0-or-later
// A graph inside an HTML page (flamegraph --embedded).
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, render, open, frame, labels, is, near, dir } from "./harness.mjs";

const folded = ["main;work;sum 300", "main;rest 100", "other 100"];

// A page with a heading above and a paragraph below, styles and ids of its own, and the graph in a
// box of 700 pixels.
function page(lines, ...options) {
	const html = join(dir, "report.html");
	writeFileSync(html, "<!doctype html><meta charset=utf-8><title>A report</title>" +
		"<style>#title { color: rgb(1, 2, 3) } text { } .bar { height: 99px }</style>" +
		"<body style='margin:0'><h1 id=title>Report</h1><div id=box style='width:700px'>" +
		readFileSync(render(lines, "--embedded", ...options), "utf8") +
		"</div><p id=names>After</p><input id=own>");
	return html;
}

async function live(html, fragment = "") {
	const p = await open(html, { fragment });
	await p.waitForSelector("svg.live");
	return p;
}

test("embedded: the page around it is unchanged", async () => {
	const p = await live(page(["main;<b>&lt 3", "]]></svg><script>alert(1)</script>;x 2"]));
	is(await p.evaluate(() => [...document.body.children].map((e) => e.localName).join(" ")),
		"h1 div p input", "the body's elements");
	is(await p.evaluate(() => [document.title, document.querySelector("#names").textContent]),
		["A report", "After"], "the page's own texts");
	is((await labels(p)).sort(), ["<b>&lt", "]]></svg><script>alert(1)</script>", "all", "main", "x"],
		"labels, as they were");
});

test("embedded: it is as wide as its parent, also if that changes or is hidden at first", async () => {
	const p = await live(page(folded));
	near((await frame(p, "main")).w, 680 * 0.8, 1, "main in 700 pixels");
	await p.evaluate(() => { document.querySelector("#box").style.width = "500px"; });
	await p.waitForFunction(() => document.querySelector("svg").getAttribute("width") === "500");
	near((await frame(p, "main")).w, 480 * 0.8, 1, "main in 500 pixels");
	await p.evaluate(() => { document.querySelector("#box").style.display = "none"; });
	await p.evaluate(() => { document.querySelector("#box").style.width = "600px"; });
	await p.evaluate(() => { document.querySelector("#box").style.display = ""; });
	await p.waitForFunction(() => document.querySelector("svg").getAttribute("width") === "600");
});

test("embedded: its state is in the page's fragment, whose other parts are kept", async () => {
	const p = await live(page(folded), "#tab=2&path=main%3Bwork");
	near((await frame(p, "work")).w, 680, 1, "zoomed by the fragment");
	await p.mouse.move(300, 150);
	await p.keyboard.press("Home");
	is(await p.evaluate(() => location.hash), "#tab=2", "after Home");
	await p.evaluate(() => { location.hash = "#tab=3&thread=other"; });
	await p.waitForFunction(() => ![...document.querySelectorAll("#fg-frames text")]
		.some((t) => t.textContent === "main"));
	near((await frame(p, "other")).w, 680, 1, "the thread that the page asked for");
});

test("embedded: it handles keys only under the pointer or with the focus", async () => {
	const p = await live(page(folded));
	await p.mouse.move(900, 10);
	await p.keyboard.press("v");
	is(await p.evaluate(() => location.hash), "", "pointer elsewhere");
	const b = await frame(p, "work");
	await p.mouse.move(b.x + 5, b.y + 5);
	await p.keyboard.press("v");
	is(await p.evaluate(() => location.hash), "#flip=1", "pointer on it");
	await p.fill("#own", "v");
	await p.focus("#own");
	await p.keyboard.press("v");
	is(await p.evaluate(() => [location.hash, document.querySelector("#own").value]), ["#flip=1", "vv"],
		"typing into the page's own field");
});
