// SPDX-License-Identifier: GPL-2.0-or-later
// The page of chainwalk --format=html: it shows the same as the other formats, filters apply to all
// of it, and names are inserted as text.
import { execFileSync } from "node:child_process";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { test, open, labels, is, has, dir } from "./harness.mjs";

const trace = (name) => fileURLToPath(new URL("../data/" + name + ".bin", import.meta.url));
const walk = (...args) => execFileSync(process.env.CHAINWALK, ["-q", ...args], { encoding: "utf8", maxBuffer: 1 << 26 });
let serial = 0;

function report(input, ...options) {
	const html = join(dir, "report" + ++serial + ".html");
	walk("--format=html", "-o", html, ...options, input);
	return html;
}

async function show(html, { fragment = "", context = {} } = {}) {
	const page = await open(null, { context });
	page.on("console", (m) => page.trouble.push("console: " + m.text()));
	await page.goto("file://" + html + fragment);
	if (context.javaScriptEnabled !== false)
		await page.waitForSelector(".report.live");
	return page;
}

const data = (page) => page.evaluate(() => JSON.parse(document.querySelector("#report-data").textContent));
const cells = (page, selector) => page.evaluate((s) => [...document.querySelectorAll(s)].map((tr) =>
	[...tr.cells].map((c) => c.textContent)), selector);
const chooseWho = async (page, who) => {
	await page.fill("#who", who);
	await page.press("#who", "Enter");
};

// Formats a time as the page does.
function time(ns) {
	if (!ns)
		return "0";
	const [unit, name] = [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]].find(([u]) => ns >= u);
	const v = ns / unit;
	return v.toFixed(unit === 1 || v >= 99.95 ? 0 : v >= 9.995 ? 1 : 2) + " " + name;
}

// Rows of --format=threads in ns: name, tid, pid, then the times, without the lifetime.
function threadsOf(...options) {
	return walk("--format=threads", "--unit=ns", ...options).split("\n").slice(1, -3).map((line) => {
		const [, tid, pid, name, rest] = line.match(/^ *(\d+) +(\d+|\?) (.{16,}?)((?: +\d+){8}) +\d+$/);
		const n = rest.trim().split(/ +/).map(Number);
		return [name.trim(), tid, pid === "?" ? "" : pid, ...n.slice(0, 5).map(time), String(n[6]), time(n[7])];
	});
}

test("report: the thread table is that of --format=threads", async () => {
	const p = await show(report(trace("relay")));
	const shown = await cells(p, "#threads tbody tr");
	const sort = (rows) => rows.map((r) => r.join("|")).sort();
	is(sort(shown), sort(threadsOf(trace("relay"))), "all rows");
});

test("report: with a time range the thread table is that of --from and --to", async () => {
	const p = await show(report(trace("relay")));
	const d = await data(p);
	const [from, to] = [d.step * 20, d.step * 55];
	await p.fill("#from", String(from / 1e9));
	await p.press("#from", "Enter");
	await p.fill("#to", String(to / 1e9));
	await p.press("#to", "Enter");
	const want = threadsOf("--from=" + (from / 1e9).toFixed(9), "--to=" + (to / 1e9).toFixed(9), trace("relay"));
	const times = (rows) => rows.map((r) => r.slice(0, 8).join("|"))
		.filter((r) => !r.endsWith("|0|0|0|0|0")).sort();
	is(times(await cells(p, "#threads tbody tr")), times(want), "names and times");
});

test("report: the histogram is that of --format=hist, also for one thread", async () => {
	const p = await show(report(trace("relay")));
	const counts = async () => (await cells(p, "#lengths-chart tr")).map((r) => +r[3]).join(" ");
	const want = (...options) => {
		const all = [...walk("--format=hist", ...options, trace("relay")).matchAll(/-> \d+ +: (\d+)/g)].map((m) => +m[1]);
		return all.slice(all.findIndex((n) => n)).join(" ");
	};
	is(await counts(), want(), "all threads");
	const tid = threadsOf("-c", "^bravo$", trace("relay"))[0][1];
	await chooseWho(p, tid);
	is(await counts(), want("-t", tid), "bravo");
});

test("report: the matrix is that of --format=wakers", async () => {
	const p = await show(report(trace("relay")));
	await chooseWho(p, "alpha");
	const rows = await cells(p, ".matrix tbody tr"), tid = threadsOf("-c", "^alpha$", trace("relay"))[0][1];
	// Its first waits were recorded under the thread's earlier name, chainload.
	const sums = new Map();
	for (const line of walk("--format=wakers", "--unit=ns", "-t", tid, trace("relay")).split("\n").slice(1)) {
		const [, waker, count, ns] = line.match(/^(.*?) {2,}(?:alpha|chainload) +(\d+) +(\d+) +\d+$/) || [];
		if (!waker || waker === "[not woken]")
			continue;
		const sum = sums.get(waker) || [0, 0];
		sums.set(waker, [sum[0] + +count, sum[1] + +ns]);
	}
	const want = [...sums].map(([waker, [count, ns]]) => waker + "|" + time(ns) + count + "×");
	is(rows.map((r) => r.join("|")).sort(), want.sort(), "who woke alpha");
});

test("report: a wait opens to its chain over time, with lanes, arrows and text", async () => {
	const p = await show(report(trace("relay")));
	await chooseWho(p, "alpha");
	for (const open of await p.$$("#waits .is-open button.open"))
		await open.click();
	await p.locator("#waits-list tbody tr", { hasText: "alpha_waits" }).first().locator("button.open").click();
	const lanes = await p.evaluate(() => [...document.querySelectorAll(".opened .timeline .lane")].map((e) =>
		e.firstChild.textContent.replace(/ \(\d+\)$/, "")));
	is(lanes.slice(0, 4), ["alpha", "bravo", "charlie", "delta"], "lanes in the order of the chain");
	has(lanes[4], "interrupt hrtimer", "the last lane");
	is(await p.evaluate(() => document.querySelectorAll(".opened .arrow").length) >= 4, true, "an arrow for each wakeup");
	const words = await p.evaluate(() => document.querySelector(".opened .words").textContent);
	has(words, "bravo_wakes_alpha", "where bravo woke alpha");
	has(words, "alpha_waits", "where alpha had slept");
	// The arrow to alpha ends at the end of alpha's sleep.
	const gap = await p.evaluate(() => {
		const bars = [...document.querySelectorAll(".opened .timeline rect.blocked:not(.soft)")];
		const top = Math.min(...bars.map((b) => +b.getAttribute("y")));
		const mine = bars.filter((b) => +b.getAttribute("y") === top).map((b) => +b.getAttribute("x") + +b.getAttribute("width"));
		const arrow = document.querySelector(".opened .arrow line:not(.hit)");
		return Math.abs(Math.max(...mine) - +arrow.getAttribute("x1"));
	});
	is(gap < 1.5, true, "pixels between the end of the sleep and the arrow: " + gap);
});

test("report: each wait's parts add up to it", async () => {
	for (const name of ["relay", "lost", "convoy", "early_exit"]) {
		const d = await data(await show(report(trace(name), "--state=all")));
		for (const w of d.waits) {
			let sum = 0;
			for (let i = 2; i < w.parts.length; i += 3)
				sum += w.parts[i];
			is(sum, w.blocked, name + ": a wait at " + w.start);
		}
		is(d.waits.length > 0, true, name + ": there are waits");
	}
});

test("report: the thread filter applies to waits, table and graph, and is in the URL", async () => {
	const html = report(trace("relay"));
	const p = await show(html);
	await chooseWho(p, "charlie");
	const tid = threadsOf("-c", "^charlie$", trace("relay"))[0][1];
	is([...new Set((await cells(p, "#waits-list tbody tr:not(.opened)")).map((r) => r[2].split(" ").pop()))], [tid], "waits");
	is((await cells(p, "#threads tbody tr")).map((r) => r[0]), ["charlie"], "table");
	await p.waitForFunction(() => [...document.querySelectorAll("#fg-frames text")].some((t) => t.textContent === "charlie"));
	is((await labels(p)).includes("alpha"), false, "alpha in the graph");
	const fragment = await p.evaluate(() => location.hash);
	is(fragment, "#who=charlie&thread=charlie", "the link");
	await p.click("#all");
	await p.waitForFunction(() => location.hash.replace("#", "") === "");
	is((await cells(p, "#threads tbody tr")).length > 10, true, "all again");
	const q = await show(html, { fragment });
	is((await cells(q, "#threads tbody tr")).map((r) => r[0]), ["charlie"], "the table of one who got the link");
});

test("report: a time range selects waits, and dragging sets it", async () => {
	const p = await show(report(trace("relay")));
	const d = await data(p);
	const box = await (await p.$("#overview")).boundingBox();
	await p.mouse.move(box.x + box.width * 0.305, box.y + 20);
	await p.mouse.down();
	await p.mouse.move(box.x + box.width * 0.495, box.y + 20, { steps: 4 });
	await p.mouse.up();
	const [from, to] = await p.evaluate(() => [+document.querySelector("#from").value, +document.querySelector("#to").value]);
	is([Math.round(from * 1e9 / d.step), Math.round(to * 1e9 / d.step)], [30, 50], "steps");
	const begins = (await cells(p, "#waits-list tbody tr:not(.opened)")).map((r) => parseFloat(r[1]));
	is(begins.length > 0 && begins.every((s) => s < to), true, "waits begin before the end");
});

test("report: a thread chosen in the graph stays when the time changes", async () => {
	const p = await show(report(trace("relay")), { fragment: "#thread=bravo" });
	await p.fill("#to", "0.3");
	await p.press("#to", "Enter");
	const hash = await p.evaluate(() => location.hash);
	has(hash, "thread=bravo", "the fragment");
	has(hash, "to=0.3", "the fragment");
	is((await labels(p)).includes("alpha"), false, "alpha in the graph");
	is(await p.evaluate(() => document.querySelector("#graph-said").textContent.includes("whole time")), true, "it says of what time it is");
});

test("report: tables sort by any column", async () => {
	const p = await show(report(trace("relay")));
	await p.click("#threads th:nth-child(1) button");
	const names = (await cells(p, "#threads tbody tr")).map((r) => r[0]);
	is(names, [...names].sort((a, b) => a < b ? -1 : a > b ? 1 : 0), "by name");
	await p.click("#threads th:nth-child(9) button");
	const waits = (await cells(p, "#threads tbody tr")).map((r) => +r[8]);
	is(waits, [...waits].sort((a, b) => b - a), "by waits");
});

// Text of perf script, in which a thread can have any name.
function perfText(file, events) {
	const lines = [];
	for (const [at, what, name, pid, other, otherPid, frame] of events)
		lines.push(`${name} ${pid} [000] ${at.toFixed(9)}: ` + (what === "wakes" ?
			`sched:sched_waking: comm=${other} pid=${otherPid} prio=120 target_cpu=000` :
			`sched:sched_switch: prev_comm=${name} prev_pid=${pid} prev_prio=120 prev_state=${what} ==> next_comm=${other} next_pid=${otherPid} next_prio=120`),
		`\tffffffff81399969 ${frame}+0x29 ([kernel.kallsyms])`, "");
	const path = join(dir, file);
	writeFileSync(path, lines.join("\n") + "\n");
	return path;
}

const hostile = (names) => perfText("hostile.txt", names.flatMap((name, i) => {
	const [a, b] = [101 + 2 * i, 102 + 2 * i], at = 10 + i, other = name + "2";
	return [[at, "S", name, a, other, b, "<b>recv</b>"],
		[at + 0.5, "wakes", other, b, name, a, "</script><script>document.title='x'</script>"],
		[at + 0.6, "S", other, b, name, a, "x"]];
}));

test("report: of many lanes, those with very short times are hidden until a click", async () => {
	// Before worker woke patient, twelve helpers had each ended a short sleep of worker.
	const events = [[10, "S", "patient", 1, "worker", 2, "recv"]];
	for (let i = 0; i < 12; i++)
		events.push([11 + i, "S", "worker", 2, "helper" + i, 100 + i, "lock"],
			[11.0001 + i, "wakes", "helper" + i, 100 + i, "worker", 2, "unlock"],
			[11.0002 + i, "S", "helper" + i, 100 + i, "worker", 2, "rest"]);
	events.push([30, "wakes", "worker", 2, "patient", 1, "send"], [30.1, "S", "worker", 2, "patient", 1, "rest"]);
	const p = await show(report(perfText("many.txt", events)));
	await chooseWho(p, "patient");
	if (!await p.locator(".opened").count())
		await p.locator("#waits-list button.open").first().click();
	is(await p.locator(".opened .lane").count(), 2, "lanes at first");
	await p.locator(".opened button.more").click();
	is(await p.locator(".opened .lane").count(), 14, "lanes when asked for");
	is(await p.locator(".opened .arrow").count(), 13, "arrows then");
});

test("report: hostile names are shown as text everywhere", async () => {
	const names = ["<script>alert(1)", "\"onload='x'", "<img src=q>", "]]>&lt", "e\u0007\u001b[1mvil", "\u202eabc", "</title>"];
	const p = await show(report(hostile(names)));
	const shown = (await cells(p, "#threads tbody tr")).map((r) => r[0]);
	for (const name of names)
		has(shown.join("\n"), name.replace(/[\x00-\x1f]/g, "?"), "in the table"); // as in folded lines
	is(await p.evaluate(() => document.querySelectorAll("img, script").length), 3, "scripts of the page: data, its own, the graph's");
	has(await p.title(), "Wakeup chains", "title");
	has(await p.locator("#lost").innerText(), "switches are missing", "what the text's import has to say");
	await p.locator("#waits-list tbody tr:not(.is-open) button.open").first().click();
	await chooseWho(p, "<script>alert(1)");
	is((await cells(p, "#threads tbody tr")).length > 0, true, "the filter takes it");
	await p.locator("#threads tbody button.open").first().click();
	is(await p.locator("#threads tbody tr").count(), 1, "one thread alone");
	is(await p.evaluate(() => document.querySelectorAll("img").length), 0, "images");
});

test("report: the policy allows only the page's own script and style", async () => {
	const p = await show(report(trace("relay")));
	const blocked = await p.evaluate(async () => {
		const what = [];
		document.addEventListener("securitypolicyviolation", (e) => what.push(e.effectiveDirective));
		const s = document.createElement("script");
		s.textContent = "document.title = 'injected'";
		document.body.append(s);
		await fetch("https://example.invalid/").catch(() => 0);
		const i = document.createElement("div");
		i.innerHTML = "<p onclick='document.title = 1'>x</p>";
		document.body.append(i);
		i.firstChild.click();
		await new Promise((r) => setTimeout(r, 50));
		return [document.title, [...new Set(what)].sort()];
	});
	has(blocked[0], "Wakeup chains", "the title stays");
	is(blocked[1], ["connect-src", "script-src-attr", "script-src-elem"], "violations");
	p.trouble = p.trouble.filter((t) => !/Content Security Policy|violates|Refused/.test(t));
});

test("report: without a script it shows the summary and the threads", async () => {
	const p = await show(report(trace("relay")), { context: { javaScriptEnabled: false } });
	const all = await p.locator("body").innerText();
	for (const part of ["testhost", "380", "Without JavaScript", "delta"])
		has(all, part, "text");
	is(await p.locator("#threads tbody tr").count(), threadsOf(trace("relay")).length, "rows");
});

test("report: dark mode, narrow window, and lost events", async () => {
	const html = report(trace("lost"));
	const p = await show(html, { context: { colorScheme: "dark", viewport: { width: 390, height: 800 } } });
	has(await p.locator("#lost").innerText(), "known to be lost", "the losses");
	is(await p.locator("#overview .loss").count() > 0, true, "marks over time");
	is(await p.evaluate(() => document.documentElement.scrollWidth), 390, "no wider than the window");
	is(statSync(html).size < 5e6 && !/https?:\/\/(?!www\.w3\.org)/.test(readFileSync(html, "utf8").replace(/data">[^<]*/, "")), true, "nothing from elsewhere");
});
