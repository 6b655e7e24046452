// SPDX-License-Identifier: GPL-2.0-or-later
// The page of chainwalk --format=html: it shows the same as the other formats, filters apply to all
// of it, and names are inserted as text.
import { execFileSync } from "node:child_process";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, speed, open, render, labels, is, has, near, dir } from "./harness.mjs";
import { trace, walk, report, show, data, cells } from "./reports.mjs";

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

// A share in percent as the page writes it.
const share = (p) => p.toFixed(p >= 99.95 ? 0 : p >= 9.995 ? 1 : 2) + " %";

// Rows of --format=threads in ns: name, tid, pid, then the times, without the lifetime.
function threadsOf(...options) {
	return walk("--format=threads", "--unit=ns", ...options).split("\n").slice(1, -3).map((line) => {
		const [, tid, pid, name, rest] = line.match(/^ *(\d+) +(\d+|\?) (.{16,}?)((?: +\d+){8}) +\d+ +[-\d]+$/);
		const n = rest.trim().split(/ +/).map(Number);
		return [name.trim(), tid, pid === "?" ? "" : pid, ...n.slice(0, 5).map(time), String(n[6]), time(n[7])];
	});
}

test("report: the thread table is that of --format=threads", async () => {
	const p = await show(report(trace("relay")));
	const shown = await cells(p, "#threads tbody tr");
	const sort = (rows) => rows.map((r) => r.join("|")).sort();
	is(sort(shown), sort(threadsOf(trace("relay"))), "all rows");
}, "once");

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
}, "once");

test("report: what interrupts took stands in the table, in the lanes and where the time went", async () => {
	const p = await show(report(trace("relay_unix_tcp")));
	// The column behind those by class, as --format=threads has it, by TID.
	const lines = walk("--format=threads", "--unit=ns", trace("relay_unix_tcp")).split("\n");
	const end = lines[0].indexOf("INTERRUPTS") + "INTERRUPTS".length;
	const want = lines.slice(1, -3).map((l) => l.trim().split(/ +/)[0] + " " + time(+l.slice(end - 14, end)));
	is(want.some((s) => !s.endsWith(" 0")), true, "interrupts took some time");
	is((await cells(p, "#threads thead tr"))[0][10], "Interrupts", "the column");
	is((await cells(p, "#threads tbody tr")).map((r) => r[1] + " " + r[10]).sort(), want.sort(), "the table");
	// The longest wait's wakers: the tree says the same of them.
	const q = await show(report(trace("relay_unix_tcp"), "-c", "^alpha$", "--top=1"));
	const all = (await data(q)).waits, w = all.find((a) => a.blocked === Math.max(...all.map((b) => b.blocked))), names = (await data(q)).strings, RUNNING = 7;
	const tree = walk("--format=tree", "-c", "^alpha$", "--top=1", trace("relay_unix_tcp"));
	is(w.lanes.filter((l) => l.interrupted).map((l) => names[l.name] + " " + (l.interrupted / 1000).toFixed(3) + " us"),
		[...tree.matchAll(/woken by (\w+) \(\d+\), which ran [^,(]*\(([\d.]+ us) of it in interrupts\)/g)].map((m) => m[1] + " " + m[2]),
		"what interrupts took of the wakers' running");
	// The lanes show a margin around the wait, too.
	for (const lane of w.lanes.filter((l) => l.interrupted)) {
		const ran = [...lane.stretches.keys()].filter((i) => i % 4 === 2 && lane.stretches[i] === RUNNING);
		is(ran.every((i) => lane.stretches[i + 1] <= (lane.stretches[i - 1] + 1) * w.unit), true, "no more than the stretch");
		is(ran.reduce((sum, i) => sum + lane.stretches[i + 1], 0) >= lane.interrupted, true, "all of it is in the lane");
	}
	const titles = await q.evaluate(() => [...document.querySelectorAll(".opened .timeline rect.running title")].map((e) => e.textContent));
	has(titles.join("\n"), " of it in interrupts", "the lanes");
	// What is open is the example of the largest cause.
	const bravo = all[(await data(q)).causes.find((i) => i >= 0)].lanes.find((l) => names[l.name] === "bravo");
	has(await q.evaluate(() => document.querySelector(".opened .words .parts").textContent),
		"ran, " + time(bravo.interrupted) + " of it in interrupts", "where the time went");
});

test("report: a trace that does not say what interrupts took has no column for it", async () => {
	const p = await show(report(trace("relay")));
	is((await cells(p, "#threads thead tr"))[0].includes("Interrupts"), false, "the column");
}, "once");

test("report: the histogram is that of --format=hist, also for one thread", async () => {
	const p = await show(report(trace("relay")));
	const counts = async () => (await cells(p, "#lengths-chart tr")).map((r) => +r[3]).join(" ");
	const want = (...options) => {
		const all = [...walk("--format=hist", "--unit=us", ...options, trace("relay")).matchAll(/-> \d+ +: (\d+)/g)].map((m) => +m[1]);
		return all.slice(all.findIndex((n) => n)).join(" ");
	};
	is(await counts(), want(), "all threads");
	const tid = threadsOf("-c", "^bravo$", trace("relay"))[0][1];
	await chooseWho(p, tid);
	is(await counts(), want("-t", tid), "bravo");
}, "once");

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
}, "once");

test("report: a wait opens to its chain over time, with lanes, arrows and text", async () => {
	const p = await show(report(trace("relay")));
	await chooseWho(p, "alpha");
	for (const open of await p.$$("#waits .is-open button.open"))
		await open.click();
	await p.locator("#waits-list tbody tr", { hasText: "alpha_waits" }).first().locator("button.open").click();
	const lanes = await p.evaluate(() => [...document.querySelectorAll(".opened .timeline .lane")].map((e) =>
		e.firstChild.textContent.replace(/ \(\d+\)$/, "")));
	is(lanes.slice(0, 4), ["alpha", "bravo", "charlie", "delta"], "lanes in the order of the chain");
	has(lanes[4], "timer hrtimer", "the last lane");
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
			for (let i = 2; i < w.parts.length; i += 5)
				sum += w.parts[i];
			is(sum, w.blocked, name + ": a wait at " + w.start);
		}
		is(d.waits.length > 0, true, name + ": there are waits");
	}
}, "once");

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

test("report: its graph folds what the kernel does at each wakeup, until asked", async () => {
	const p = await show(report(trace("relay")));
	await p.waitForSelector("svg.live");
	is((await labels(p)).filter((s) => /^(try_to_wake_up|schedule|do_syscall_64)$/.test(s)), [], "folded");
	await p.locator("button", { hasText: "Everything" }).click();
	await p.waitForFunction(() => [...document.querySelectorAll("#fg-frames text")].some((t) => t.textContent === "schedule"));
	has(await p.evaluate(() => location.hash), "kernel=whole", "in the address");
});

test("report: of a whole machine its graph groups threads by process, and so does the picture", async () => {
	const recorded = trace("services/java"), p = await show(report(recorded));
	const heads = (page, level) => page.evaluate((l) => [...document.querySelectorAll(l + " text[aria-level='2']")].map((t) => t.textContent), level);
	await p.waitForSelector("#graph svg.live");
	is((await heads(p, "#graph")).filter((s) => /^(java|order|HTTP)/.test(s)), ["java: threads"], "in the report");
	const folded = (...options) => execFileSync(process.env.CHAINWALK, [...options, recorded], { encoding: "utf8", maxBuffer: 1 << 26, stdio: "pipe" });
	is((await heads(await open(render(folded())), "#fg-frames")).filter((s) => /^(java|order|HTTP)/.test(s)), ["java: threads"], "in the picture");
	has(folded(), "\n[note] process;java;order-1 0\n", "the lines that say so");
	for (const options of [["-q"], ["-p", "java"], ["--root", "process"], ["--view", "wakeup"]])
		is(folded(...options).includes("[note] process"), false, options.join(" "));
	const one = await show(report(recorded, "-p", "java"));
	is((await heads(one, "#graph")).some((s) => s.includes(": threads")), false, "of one process there is nothing to group");
}, "once");

test("report: a time range selects waits, and dragging sets it", async () => {
	const p = await show(report(trace("relay")));
	const d = await data(p);
	await p.locator("#overview").scrollIntoViewIfNeeded();
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

// What the lines of the table of causes add up to, and the sum that is said below it, in ns.
const causeSums = (page) => page.evaluate(() => {
	const ns = (tr) => Number(tr?.cells[1].dataset.ns ?? 0);
	return { rows: [...document.querySelectorAll("#causes tbody tr:not([hidden])")].map(ns), all: ns(document.querySelector("#causes tfoot .all")),
		others: ns(document.querySelector("#causes tfoot .others")), pauses: ns(document.querySelector("#causes tfoot .pauses")) };
});
// What the shares in a table's first column add up to, in percent.
const shares = (page, table) => page.evaluate((s) => [...document.querySelectorAll(s + " tbody td:first-child")].reduce((sum, td) => sum + Number(td.dataset.v), 0), table);
const setRange = async (page, from, to) => {
	for (const [id, ns] of [["#from", from], ["#to", to]]) {
		await page.fill(id, ns === null ? "" : String(ns / 1e9));
		await page.press(id, "Enter");
	}
};

test("report: the causes are those of the chosen threads and of the chosen time", async () => {
	const p = await show(report(trace("relay"))), d = await data(p), whole = await causeSums(p), before = await cells(p, "#causes tr");
	const tid = threadsOf("-c", "^bravo$", trace("relay"))[0][1];
	await chooseWho(p, tid);
	const want = walk("--format=causes", "--json", "--state=blocked,runnable", "-t", tid, trace("relay")).trim().split("\n").map((l) => JSON.parse(l)).filter((c) => !c.pause);
	const got = await cells(p, "#causes tbody tr:not([hidden])"), sum = want.reduce((s, c) => s + c.ns, 0);
	is((await causeSums(p)).all, sum, "the sum of a thread's waits");
	// Those that have a line of their own in the whole table.
	const named = new Map(want.map((c) => [c.cause, c]));
	for (const [part, ns, waits, , words] of got.slice(0, 3)) {
		const c = [...named.values()].find((w) => words.startsWith(w.cause));
		is([ns, waits, part], [time(c.ns), String(c.waits), share(100 * c.ns / sum)], c.cause);
	}
	is(await p.evaluate(() => document.querySelector("#causes-said").textContent.includes("the filter below")), true, "it is said");
	await p.click("#all");
	is(await cells(p, "#causes tr"), before, "all of it again");
	// Each wait counts where it ended.
	const waits = walk("--format=json", "--state=blocked,runnable", trace("relay")).trim().split("\n").map((l) => JSON.parse(l)).filter((w) => w.kind);
	const from = d.step * 20, to = d.step * 55, ended = waits.filter((w) => w.end > from && w.end <= to);
	await setRange(p, from, to);
	const part = await causeSums(p);
	is(part.rows.reduce((a, b) => a + b, 0) + part.others, part.all, "the lines add up");
	is(part.all + part.pauses, ended.reduce((s, w) => s + w.blocked + w.runnable + w.preempted, 0), "as JSON has the waits");
	is(part.rows, [...part.rows].sort((a, b) => b - a), "most first");
	await setRange(p, 0, from);
	const first = await causeSums(p);
	await setRange(p, to, null);
	const last = await causeSums(p);
	is(first.all + part.all + last.all, whole.all, "all parts of the time");
}, "once");

test("report: the graph is that of the chosen time, as --from and --to make one", async () => {
	const p = await show(report(trace("relay")), { fragment: "#kernel=whole" }), d = await data(p), steps = d.graphSteps[0];
	await p.waitForSelector("#graph svg.live");
	const from = d.step * steps * 10, to = d.step * steps * 24;
	await setRange(p, from, to);
	const sums = new Map();
	for (const line of walk("--unit=ns", "--from=" + (from / 1e9).toFixed(9), "--to=" + (to / 1e9).toFixed(9), trace("relay")).trim().split("\n")) {
		const [, name, ns] = line.match(/^([^;]*);.* (\d+)$/) || [];
		sums.set(name, (sums.get(name) || 0) + Number(ns));
	}
	const all = [...sums.values()].reduce((a, b) => a + b, 0), frames = () => p.evaluate(() => Object.fromEntries([...document.querySelectorAll("#graph #fg-frames text[aria-level='2']")]
		.map((t) => [t.textContent, Number(t.previousElementSibling.getAttribute("width"))])));
	const root = await p.evaluate(() => Number([...document.querySelectorAll("#graph #fg-frames text")].find((t) => t.textContent === "all").previousElementSibling.getAttribute("width")));
	const wide = await frames();
	for (const name of ["alpha", "bravo", "charlie", "delta"])
		is(Math.abs(wide[name] - root * sums.get(name) / all) < 0.2, true, name + ": " + wide[name] + " of " + root + ", " + sums.get(name) + " of " + all);
	has(await p.evaluate(() => document.querySelector("#graph .bar [role=status], #graph .graph-said").textContent), "From ", "it says so");
	// Several names at once, and shares of the range.
	await chooseWho(p, "a");
	const names = Object.keys(await frames());
	is([names.includes("bravo"), names.includes("alpha"), names.every((s) => s.includes("a"))], [true, true, true], "all names with an a: " + names);
	const html = await p.evaluate(() => location.href.split("#")[1]);
	const q = await show(report(trace("relay")), { fragment: "#" + html });
	await q.waitForSelector("#graph svg.live");
	is(await q.evaluate(() => [...document.querySelectorAll("#graph #fg-frames text[aria-level='2']")].map((t) => t.textContent)), names, "of one who got the link");
	await p.click("#all");
	is((await frames()).delta > 0, true, "all again");
}, "once");

test("report: a thread chosen in the graph stays when the time changes", async () => {
	const p = await show(report(trace("relay")), { fragment: "#thread=bravo" });
	await p.fill("#to", "0.3");
	await p.press("#to", "Enter");
	const hash = await p.evaluate(() => location.hash);
	has(hash, "thread=bravo", "the fragment");
	has(hash, "to=0.3", "the fragment");
	is((await labels(p)).includes("alpha"), false, "alpha in the graph");
	has(await p.evaluate(() => document.querySelector(".graph-said").textContent), "From 0 s to 0.3", "it says of what time it is");
});

test("report: tables sort by any column", async () => {
	const p = await show(report(trace("relay")));
	await p.click("#threads th:nth-child(1) button");
	const names = (await cells(p, "#threads tbody tr")).map((r) => r[0]);
	is(names, [...names].sort((a, b) => a < b ? -1 : a > b ? 1 : 0), "by name");
	await p.click("#threads th:nth-child(9) button");
	const waits = (await cells(p, "#threads tbody tr")).map((r) => +r[8]);
	is(waits, [...waits].sort((a, b) => b - a), "by waits");
}, "once");

test("report: behind the answer is the table of --format=causes, and its largest cause is open", async () => {
	const p = await show(report(trace("relay")));
	is(await p.evaluate(() => [...document.querySelectorAll(".report > section")].map((e) => e.id).slice(0, 2)), ["answer", "causes"], "the first sections");
	const sentences = walk("--format=causes", "--json", trace("relay")).trim().split("\n").slice(0, 10).map((l) => JSON.parse(l).cause);
	const isUnknown = (s) => /^\[unknown\] |not known/.test(s);
	is(await p.evaluate(() => [...document.querySelectorAll("#causes tbody tr:not([hidden])")].map((r) => r.cells[4].querySelector("bdi").textContent)),
		[...sentences.filter((s) => !isUnknown(s)), ...sentences.filter(isUnknown)], "the sentences, those that nobody knows last");
	const d = await data(p), w = d.waits[d.causes[0]];
	is((await cells(p, "#waits-list tbody .is-open")).map((r) => r[0]), [time(w.blocked + w.off)], "what is open");
	is(await p.evaluate(() => document.querySelector("#waits-list tbody tr").classList.contains("is-open")), true, "on top");
	// Another one, of which the filter says nothing.
	await chooseWho(p, "nobody at all");
	is((await cells(p, "#causes tbody tr:not([hidden])")).length, 0, "nobody waited");
	await chooseWho(p, "charlie");
	const others = (await p.evaluate(() => [...document.querySelectorAll("#causes tbody tr")].map((tr) => tr.hidden ? "" : tr.querySelector("bdi").textContent)))
		.map((s) => sentences.indexOf(s)).filter((k) => k >= 0 && !isUnknown(sentences[k]) && d.strings[d.waits[d.causes[k]].name] !== "charlie");
	is(others.length > 0, true, "a cause with the example of another thread");
	await p.locator("#causes tbody tr", { hasText: sentences[others[0]] }).locator("button.example").click();
	is(await p.evaluate(() => document.activeElement.closest("tr").id), "wait-" + d.causes[others[0]], "the focus");
	is(await p.inputValue("#who"), "", "the filter");
}, "once");

test("report: its graph opens at its root, and is as tall as the window at most", async () => {
	const p = await show(report(trace("relay")), { fragment: "#kernel=whole" });
	await p.waitForSelector("#graph svg.live");
	await p.evaluate(() => document.querySelector("#graph .fg-window").scrollIntoView({ block: "end" }));
	const seen = () => p.evaluate(async () => {
		// What has been scrolled is drawn, and the bar moved, in the next frame.
		await new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)));
		const box = document.querySelector("#graph .fg-window").getBoundingClientRect(), stays = document.querySelector("#contents").getBoundingClientRect();
		const root = [...document.querySelectorAll("#graph #fg-frames text")].find((t) => t.textContent === "all").getBoundingClientRect();
		const bar = document.querySelector("#graph .bar > div").getBoundingClientRect();
		return { tall: Math.round(box.height), room: Math.round(innerHeight - stays.height), all: document.querySelector("#graph svg").getBoundingClientRect().height,
			root: root.top >= box.top && root.bottom <= bar.top + 1, bar: Math.abs(bar.bottom - Math.min(innerHeight, box.bottom)) < 2 };
	});
	const s = await seen();
	is(s.all > s.tall, true, "it is taller: " + s.all);
	is(s.tall <= s.room && s.tall > s.room - 80, true, "as tall as there is room: " + s.tall + " of " + s.room);
	is([s.root, s.bar], [true, true], "the root above the bar, which is at the lower edge");
	// Other views keep it there.
	await p.hover("#graph svg");
	await p.keyboard.press("v");
	await p.waitForFunction(() => document.querySelector("#graph .fg-window").scrollTop === 0);
	is((await seen()).bar, true, "the bar with the root on top");
	await p.keyboard.press("v");
	await p.waitForFunction(() => document.querySelector("#graph .fg-window").scrollTop > 0);
	is((await seen()).root, true, "the root after turning twice");
});

test("report: times and percentages are written as in its graph", async () => {
	const p = await show(report(trace("relay"))), style = /^(0|\d\.\d\d|\d\d\.\d|\d{3,}|<0\.01) ?(%|s|ms|µs)?$|^\d+ ns$/;
	await p.waitForSelector("#graph svg.live");
	const figures = async () => (await p.evaluate(() => [...document.querySelectorAll("#causes td:nth-child(-n+4), #summary dd, #threads td, #wakers td, #waits td:not(.stack)")]
		.map((e) => e.innerText).join("\n"))).match(/<?[\d.]+ ?(%|[mµn]?s\b)/g).filter((s) => !/^\d\.\d{6} s$/.test(s)); // a point in time
	const came = await figures();
	is(came.length > 50, true, "there are some: " + came.length);
	is(came.filter((s) => !style.test(s)), [], "as the page came");
	await chooseWho(p, "bravo");
	is((await figures()).filter((s) => !style.test(s)), [], "filtered");
	is((await p.evaluate(() => [...document.querySelectorAll("#graph svg :is(text, title, .bar)")].map((e) => e.textContent).join("\n"))).match(/\d%|\d us/g), null, "in the graph");
}, "once");

test("report: all threads over time: who ran, was runnable, waited", async () => {
	const p = await show(report(trace("relay"))), d = await data(p);
	is(await p.evaluate(() => document.querySelector("#all-threads + #waits") !== null), true, "above the list of waits");
	const order = (await cells(p, "#threads tbody tr")).map((r) => r[1]);
	const lanes = () => p.evaluate(() => [...document.querySelectorAll("#lanes .lane-row")].map((g) => g.dataset.tid));
	is(await lanes(), order.slice(0, 24), "the threads, as the table has them");
	await p.locator("#lanes button.more").click();
	is(await lanes(), order, "all of them");
	// Each lane says at which times the thread was in a wait, as JSON has them, and when it was not.
	const tid = threadsOf("-c", "^bravo$", trace("relay"))[0][1], waits = walk("--format=json", "--state=all", "-t", tid, trace("relay")).trim().split("\n")
		.map((l) => JSON.parse(l)).filter((w) => w.kind);
	const column = (d.to - d.from) / d.columns, wrong = [];
	let slept = 0, ran = 0;
	const drawnAt = (what, ns) => p.evaluate(([id, state, at, from, to]) => {
		const row = document.querySelector(`#lanes .lane-row[data-tid="${id}"]`), path = row.querySelector("path." + state), svg = row.ownerSVGElement;
		const marks = [...svg.querySelectorAll("line.mark")].map((l) => Number(l.getAttribute("x1"))), left = Math.min(...marks), right = Number(svg.getAttribute("width")) - 4;
		const y = Number(row.querySelector("text").getAttribute("y")) + 2.5, p = svg.createSVGPoint();
		return !!path && [-0.4, 0.4].some((by) => path.isPointInFill(Object.assign(p, { x: left + (right - left) * (at - from) / (to - from) + by, y })));
	}, [tid, what, ns, d.from, d.to]);
	for (const [i, w] of waits.entries()) {
		if (w.wake - w.start > 3 * column) {
			slept++;
			if (await drawnAt("running", (w.start + w.wake) / 2) || !await drawnAt("blocked", (w.start + w.wake) / 2))
				wrong.push("asleep at " + (w.start + w.wake) / 2);
		}
		if (i && w.start - waits[i - 1].end > 1.2 * column) {
			ran++;
			if (!await drawnAt("running", (w.start + waits[i - 1].end) / 2))
				wrong.push("running at " + (w.start + waits[i - 1].end) / 2);
		}
	}
	is([wrong, slept > 5, ran > 5], [[], true, true], "states of " + slept + " sleeps and " + ran + " runs");
	// The pointer says it; dragging chooses a range, which is as wide as the page then; a name a thread.
	const row = p.locator(`#lanes .lane-row[data-tid="${tid}"]`);
	await row.evaluate((e) => e.scrollIntoView({ block: "center" }));
	const box = await p.locator("#lanes svg").boundingBox(), y = (await row.locator("text").boundingBox()).y + 4;
	await p.mouse.move(box.x + box.width * 0.5, y);
	has(await p.locator("#lanes .said").innerText(), "bravo (" + tid + "), 0.", "what is under the pointer");
	await p.mouse.down();
	await p.mouse.move(box.x + box.width * 0.6, y, { steps: 3 });
	await p.mouse.up();
	const [from, to] = await p.evaluate(() => ["#from", "#to"].map((s) => Number(document.querySelector(s).value)));
	is(to - from > 0.05 * d.to / 1e9 && to - from < 0.2 * d.to / 1e9, true, "the range: " + from + " to " + to);
	const axis = await p.evaluate(() => [...document.querySelectorAll("#lanes text:not(.lane)")].map((t) => parseFloat(t.textContent)));
	is(axis.length > 1 && axis.every((s) => s >= from - 1e-6 && s <= to + 1e-6), true, "the axis: " + axis);
	await p.locator(`#lanes .lane-row[data-tid="${tid}"] text`).click();
	is([await p.inputValue("#who"), await lanes()], [tid, [tid]], "that thread alone");
});

const copied = async (page, section) => {
	await page.evaluate(() => Object.defineProperty(navigator, "clipboard", { configurable: true,
		value: { writeText: (text) => { window.copied = text; return Promise.resolve(); } } }));
	await page.locator(section + " button.copy").click();
	return page.evaluate(() => window.copied);
};

test("report: each table can be copied as csv", async () => {
	const p = await show(report(trace("relay")));
	const threads = (await copied(p, "#threads")).trim().split("\n");
	is(threads[0].split(",").slice(0, 5), ["Name", "TID", "PID", "Running (ns)", "Asleep (ns)"], "the headings");
	is(threads.length - 1, (await cells(p, "#threads tbody tr")).length, "a line for each thread");
	const alpha = walk("--format=threads", "--unit=ns", "-c", "^alpha$", trace("relay")).split("\n")[1].trim().split(/ +/);
	is(threads.find((s) => s.startsWith("alpha,")).split(",").slice(0, 5), ["alpha", alpha[0], alpha[1], alpha[3], alpha[4]], "in ns");
	for (const [section, heading] of [["#causes", "Share,Time (ns),Waits,Longest (ns),"], ["#waits", "Length (ns),Began at (ns),TID,Thread,"],
		["#wakers", "Waker \\ woken,"], ["#lengths", "From (ns),To (ns),Waits"]]) {
		const text = await copied(p, section);
		is(text.startsWith(heading), true, section + ": " + text.slice(0, 80));
		is(text.trim().split("\n").length > 3, true, section + " has lines");
	}
	const q = await show(report(trace("lost")));
	is((await copied(q, "#lost")).startsWith("From (ns),To (ns),CPU,Events\n"), true, "losses");
	const r = await show(report(hostile(["a\"b,c"])));
	has(await copied(r, "#threads"), '\n"a""b,c",', "quoted");
	// Where the clipboard cannot be had, the text is shown for copying by hand.
	await r.evaluate(() => Object.defineProperty(navigator, "clipboard", { value: { writeText: () => Promise.reject(Error("no")) } }));
	await r.locator("#threads button.copy").click();
	has(await r.inputValue("#threads textarea"), "Name,TID,PID", "the text");
}, "once");

test("report: every table sorts by every heading, both ways", async () => {
	const p = await show(report(trace("lost")));
	for (const section of ["causes", "waits", "threads", "wakers", "lost"]) {
		// All in the page: each click through the browser's protocol would take as long as all of them here.
		const columns = await p.evaluate((id) => {
			const table = document.querySelector("#" + id + " table");
			const turn = (k) => {
				table.tHead.rows[0].cells[k].querySelector("button").click();
				const th = table.tHead.rows[0].cells[k];
				const cells = [...table.tBodies[0].rows].filter((r) => !r.classList.contains("opened")).map((r) => r.cells[k]);
				const values = cells.map((c) => {
					const value = c.dataset.ns ?? c.dataset.v;
					return value === undefined ? c.textContent : Number(value);
				});
				const down = th.getAttribute("aria-sort") === "descending" ? -1 : 1;
				const sorted = values.every((v, n) => !n || (values[n - 1] < v ? -1 : values[n - 1] > v ? 1 : 0) * down <= 0);
				return [th.getAttribute("aria-sort"), sorted];
			};
			return [...table.querySelectorAll("thead th button")].map((_, k) => [turn(k), turn(k)]);
		}, section);
		is(columns.length > 3, true, section + " has headings: " + columns.length);
		columns.forEach((orders, k) => {
			is(orders.map(([, sorted]) => sorted), [true, true], section + ", column " + k);
			is(orders.map(([order]) => order).sort(), ["ascending", "descending"], section + ", column " + k);
		});
	}
}, "once");

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

// A lock goes through six workers; each was asleep while the one before it worked, and patient waits for all.
function convoy() {
	const events = [[10, "S", "patient", 1, "worker", 11, "recv"]];
	for (let i = 0; i < 6; i++)
		events.push([10.001 + i / 1e4, "S", "worker", 11 + i, i < 5 ? "worker" : "holder", i < 5 ? 12 + i : 20, "lock"]);
	events.push([12, "wakes", "holder", 20, "worker", 16, "unlock"], [12.0001, "S", "holder", 20, "worker", 16, "rest"]);
	for (let i = 5; i > 0; i--)
		events.push([12 + (6 - i) / 10, "wakes", "worker", 11 + i, "worker", 10 + i, "unlock"],
			[12.01 + (6 - i) / 10, "S", "worker", 11 + i, "worker", 10 + i, "rest"]);
	events.push([13, "wakes", "worker", 11, "patient", 1, "send"], [13.1, "S", "worker", 11, "patient", 1, "rest"]);
	return events;
}

test("report: a convoy is one row, and its threads are shown one by one when asked for", async () => {
	const p = await show(report(perfText("convoy.txt", convoy())));
	await chooseWho(p, "patient");
	if (!await p.locator(".opened").count())
		await p.locator("#waits-list button.open").first().click();
	const lanes = () => p.evaluate(() => [...document.querySelectorAll(".opened .lane")].map((e) => e.firstChild.textContent));
	is(await lanes(), ["patient (1)", "worker x 6", "holder (20)"], "rows");
	const words = await p.locator(".opened .parts").innerText();
	has(words, "worker x 6 ran", "in words");
	is(/worker \(/.test(words), false, "threads of the convoy in words: " + words);
	has(await p.locator("#causes").innerText(), "worker x 6", "the way of the cause");
	await p.locator(".opened button.more", { hasText: "row of its own" }).click();
	is((await lanes()).length, 8, "rows when asked for");
});

// Twenty threads ask each other all the time; forty wait for the last of them from the beginning to the end, and
// eight others each for one thing.
function busy() {
	const events = [], at = (t) => 10 + t / 1e4;
	for (let i = 0; i < 40; i++)
		events.push([at(i), "S", "main" + i, 1 + i, i < 39 ? "main" + (i + 1) : "busy0", i < 39 ? 2 + i : 100, "join"]);
	for (let round = 0; round < 250; round++)
		for (let i = 0; i < 20; i++) {
			const t = 100 + round * 60 + i * 3, next = (i + 1) % 20, quick = i < 8 && round === 100 + i;
			const [to, tid] = quick ? ["quick" + i, 200 + i] : ["busy" + next, 100 + next];
			events.push([at(t), "wakes", "busy" + i, 100 + i, "busy" + next, 100 + next, "send"],
				[at(t + 1), "S", "busy" + i, 100 + i, to, tid, "recv"]);
			if (quick)
				events.push([at(t + 1.1), "S", to, tid, "disk" + i, 300 + i, "read_page"],
					[at(t + 1.6), "wakes", "disk" + i, 300 + i, to, tid, "end_io"],
					[at(t + 1.7), "S", "disk" + i, 300 + i, to, tid, "rest"],
					[at(t + 1.8), "S", to, tid, "busy" + next, 100 + next, "x"]);
		}
	for (let i = 0; i < 40; i++)
		events.push([at(15200 + 2 * i), "wakes", "busy0", 100, "main" + i, 1 + i, "send"]);
	events.push([at(15300), "S", "busy0", 100, "main0", 1, "rest"]);
	for (let i = 0; i < 39; i++)
		events.push([at(15301 + i), "S", "main" + i, 1 + i, "main" + (i + 1), 2 + i, "rest"]);
	return events;
}

test("report: each cause and each thread has a wait, however long others are", async () => {
	const html = report(perfText("busy.txt", busy())), p = await show(html), d = await data(p);
	is(d.causes.every((i) => i >= 0), true, "each cause has its example, with its chain: " + d.causes);
	const has = new Set(d.waits.filter((w) => !w.idle).map((w) => d.strings[w.name].replace(/\d+$/, "")));
	for (let i = 0; i < 8; i++)
		is(d.waits.some((w) => d.strings[w.name] === "quick" + i && w.wakes.length), true, "quick" + i);
	is(["main", "busy", "quick"].every((s) => has.has(s)), true, "all kinds of threads: " + [...has]);
	is(statSync(html).size < 2e6, true, "bytes: " + statSync(html).size);
	// Joined stretches are as long as what they are joined of.
	for (const w of d.waits)
		for (const lane of w.lanes.filter((l) => l.stretches)) {
			let end = 0;
			lane.stretches.forEach((v, i) => { end += i % 4 < 2 ? v : 0; });
			is(end <= (w.drawn[1] - w.drawn[0]) / w.unit + 1, true, "within what is drawn");
		}
}, "once");

test("report: the example of a cause is on its usual way, and not the wait of a script for its child", async () => {
	const events = [[6, "S", "other", 9, "script", 1, "x"], [10, "S", "script", 1, "worker", 2, "do_wait"]];
	for (let i = 0; i < 5; i++)
		events.push([10.1 + i, "S", "worker", 2, "holder", 3, "lock"], [10.9 + i, "wakes", "holder", 3, "worker", 2, "unlock"],
			[10.95 + i, "S", "holder", 3, "worker", 2, "rest"], [11.05 + i, "wakes", "worker", 2, "holder", 3, "ask"]);
	events.push([16, "wakes", "worker", 2, "script", 1, "do_exit"], [16.1, "S", "worker", 2, "script", 1, "x"], [16.2, "S", "script", 1, "holder", 3, "x"]);
	const p = await show(report(perfText("script.txt", events)));
	const row = p.locator("#causes tbody tr", { hasText: "holder" }).first();
	has(await row.innerText(), "script", "the script waited for it, too");
	has(await row.locator("code").innerText(), "-t 2 ", "the command");
	await row.locator("button.example").click();
	has(await p.evaluate(() => document.activeElement.closest("tr").cells[2].textContent), "worker", "the example");
}, "once");

test("report: many short sleeps are named by what they were", async () => {
	const events = [[10, "S", "patient", 1, "worker", 2, "recv"]];
	for (let i = 0; i < 2000; i++)
		events.push([11 + i / 1e3, "S", "worker", 2, "disk", 3, "wait_for_page"],
			[11.0005 + i / 1e3, "wakes", "disk", 3, "worker", 2, "end_io"],
			[11.0006 + i / 1e3, "S", "disk", 3, "worker", 2, "rest"]);
	events.push([14, "wakes", "worker", 2, "patient", 1, "send"], [14.1, "S", "worker", 2, "patient", 1, "rest"]);
	const p = await show(report(perfText("short.txt", events)));
	await chooseWho(p, "patient");
	if (!await p.locator(".opened").count())
		await p.locator("#waits-list button.open").first().click();
	const words = await p.locator(".opened .parts").innerText();
	is(/worker \(2\) slept 19\d\d times, in wait_for_page/.test(words), true, words);
	const many = await p.evaluate(() => [...document.querySelectorAll(".opened rect.many title")].map((t) => t.textContent));
	is(many.some((s) => s.startsWith("worker (2) ") && s.includes("short sleeps, the longest in wait_for_page")), true, many[0]);
}, "once");

test("report: by keyboard a wait opens, and arrow keys say who did what", async () => {
	const p = await show(report(trace("relay")));
	await chooseWho(p, "alpha");
	for (const b of await p.$$("#waits .is-open button.open"))
		await b.click();
	await p.locator("#waits-list tbody tr", { hasText: "alpha_waits" }).first().locator("button.open").focus();
	await p.keyboard.press("Enter");
	is(await p.locator(".opened .timeline").count(), 1, "open");
	await p.locator(".opened .timeline").focus();
	const said = () => p.locator(".opened .said").innerText();
	await p.keyboard.press("ArrowRight");
	has(await said(), "alpha", "the first row");
	await p.keyboard.press("ArrowDown");
	has(await said(), "bravo", "the second row");
	const first = await said();
	await p.keyboard.press("ArrowRight");
	is(await said() !== first, true, "the next stretch");
	// What moves sideways has the focus in turn, so that arrow keys move it.
	is(await p.evaluate(() => [...document.querySelectorAll(".report .scroll")].every((e) => e.tabIndex === 0)), true, "tables");
	await p.locator("#threads thead th button").first().focus();
	await p.keyboard.press("Space");
	is(await p.evaluate(() => document.querySelector("#threads th").getAttribute("aria-sort")), "ascending", "sorted by a key");
	is(await p.evaluate(() => document.activeElement.textContent), "Name", "the focus stays");
});

// Of a report with 300 threads.
function crowd() {
	const events = [];
	for (let i = 0; i < 300; i++)
		events.push([10 + i / 100, "S", "thread" + i, 101 + i, "hub", 100, "recv"],
			[10.004 + i / 100, "wakes", "hub", 100, "thread" + i, 101 + i, "send"],
			[10.005 + i / 100, "S", "hub", 100, "thread" + (i + 1) % 300, 101 + (i + 1) % 300, "rest"]);
	return show(report(perfText("crowd.txt", events)));
}

test("report: with 300 threads it is complete", async () => {
	const p = await crowd();
	is(await p.locator("#threads tbody tr").count(), 201, "rows: those with one of their own, and the others");
	await chooseWho(p, "thread299");
	is(await p.locator("#threads tbody tr").count() <= 1, true, "the filter");
}, "once");

speed("report: a table of 200 threads is sorted within a second", async () => {
	const p = await crowd();
	const took = await p.evaluate(() => {
		const from = performance.now();
		document.querySelector("#threads th:nth-child(4) button").click();
		return performance.now() - from;
	});
	is(took < 1000, true, "ms of a sort: " + took);
});

// Text with samples of perf's own: "worker" runs while "patient" waits.
function sampled() {
	const path = perfText("sampled.txt", [[10, "S", "patient", 1, "worker", 2, "recv"],
		[12, "wakes", "worker", 2, "patient", 1, "send"], [12.1, "S", "worker", 2, "patient", 1, "rest"], [13, "S", "patient", 1, "worker", 2, "x"]]);
	const lines = readFileSync(path, "utf8").split("\n\n");
	const sample = (at, frame) => `worker 2 [000] ${at.toFixed(9)}: 1 cpu-clock:\n\tffffffff81399969 ${frame}+0x29 ([kernel.kallsyms])`;
	lines.splice(1, 0, sample(10.5, "deflate"), sample(11, "deflate"), sample(11.5, "copy"));
	writeFileSync(path, lines.join("\n\n"));
	return path;
}

test("report: samples are ticks, words, and a graph of what ran", async () => {
	const p = await show(report(sampled()));
	await chooseWho(p, "patient");
	if (!await p.locator(".opened").count())
		await p.locator("#waits-list button.open").first().click();
	is(await p.evaluate(() => [...document.querySelectorAll(".opened .sample title")].map((t) => t.textContent)),
		["deflate", "deflate", "copy"].map((s) => "worker (2) ran in " + s), "ticks");
	await p.locator(".opened .row .sample").first().dispatchEvent("pointerover");
	has(await p.locator(".opened .said").innerText(), "ran in deflate", "said below");
	has(await p.locator(".opened .parts").innerText(), "ran: 66.7 % in deflate; 33.3 % in copy", "words");
	await p.click("#all");
	await p.waitForSelector("#ran svg.live");
	const inGraph = (id) => p.evaluate((s) => [...document.querySelectorAll(s + " #fg-frames text")].map((t) => t.textContent), id);
	has((await inGraph("#ran")).join(" "), "deflate", "the graph of what ran");
	has((await inGraph("#graph")).join(" "), "patient", "the graph of waits");
	// Each keeps its zoom to itself, and a link restores both.
	await p.evaluate(() => { location.hash = "#path=patient&ran.path=worker"; });
	await p.waitForFunction(() => ![...document.querySelectorAll("#ran #fg-frames text")].some((t) => t.textContent === "patient"));
	has((await inGraph("#graph")).join(" "), "patient", "the other graph");
	is((await inGraph("#graph")).includes("worker") && !(await inGraph("#graph")).includes("all"), false, "zoomed apart");
});

// The contrast of each text of the page with what is below it (WCAG 2.2, 1.4.3), but not of the graphs.
const worstContrast = (page) => page.evaluate(() => {
	const rgba = (s) => { const c = s.match(/[\d.]+/g).map(Number); return c.length < 4 ? [...c, 1] : c; };
	const lum = (c) => c.slice(0, 3).map((v) => v / 255).map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
		.reduce((sum, v, k) => sum + v * [0.2126, 0.7152, 0.0722][k], 0);
	const ratio = (a, b) => (Math.max(lum(a), lum(b)) + 0.05) / (Math.min(lum(a), lum(b)) + 0.05);
	const grounds = new Map();
	const ground = (e) => {
		if (!e)
			return [255, 255, 255, 1];
		if (!grounds.has(e)) {
			const c = rgba(getComputedStyle(e).backgroundColor), below = c[3] === 1 ? c : ground(e.parentElement);
			grounds.set(e, [...c.slice(0, 3).map((v, k) => v * c[3] + below[k] * (1 - c[3])), 1]);
		}
		return grounds.get(e);
	};
	let least = { ratio: 99 };
	const walker = document.createTreeWalker(document.querySelector(".report"), NodeFilter.SHOW_TEXT);
	for (let t; (t = walker.nextNode());) {
		const e = t.parentElement;
		if (!t.data.trim() || e.closest(".flamegraph, script, noscript, title, datalist, textarea") || !e.getClientRects().length)
			continue;
		const style = getComputedStyle(e), svg = e.closest("svg");
		// The names in a strip stand on its stretches.
		const on = e.matches(".strip-bar text") ? rgba(getComputedStyle(e.previousElementSibling).fill) : ground(svg ? svg.parentElement : e);
		const r = ratio(rgba(svg ? style.fill : style.color), on);
		if (r < least.ratio)
			least = { ratio: r, what: t.data.slice(0, 60), of: e.outerHTML.slice(0, 80) };
	}
	return least;
});

test("report: every text has a contrast of 4.5 to 1, in the light and in the dark", async () => {
	for (const colorScheme of ["light", "dark"])
		for (const name of ["relay", "lost", "shop"]) {
			const p = await show(report(trace(name)), { context: { colorScheme } });
			const w = await worstContrast(p);
			if (!(w.ratio >= 4.5))
				throw new Error(colorScheme + ", " + name + ": " + JSON.stringify(w));
		}
}, "once");

test("report: on a phone controls are large enough, nothing is cut off, and a tap says what is there", async () => {
	for (const name of ["lost", "shop"])
		await onPhone(name);
}, "chromium"); // which can be a phone

async function onPhone(name) {
	const p = await show(report(trace(name)), { context: { viewport: { width: 360, height: 640 }, hasTouch: true, isMobile: true } });
	const small = await p.evaluate(() => [...document.querySelectorAll(".report :is(button, input, summary)")]
		.filter((e) => !e.closest(".flamegraph") && e.type !== "checkbox").map((e) => [e.textContent || e.id, e.getBoundingClientRect()])
		.filter(([, r]) => r.width && (r.width < 44 || r.height < 44)).map(([s, r]) => s + " " + Math.round(r.width) + "x" + Math.round(r.height)));
	is(small, [], "controls below 44 px");
	const choices = await p.evaluate(() => [...document.querySelectorAll(".report .choices label")].map((e) => e.getBoundingClientRect().height));
	is(choices.every((h) => h >= 44), true, "labels of boxes: " + choices);
	is(await p.evaluate(() => [...document.querySelectorAll(".report *")].filter((e) => !e.closest(".scroll, .flamegraph") &&
		e.getBoundingClientRect().right > 360.5).map((e) => e.outerHTML.slice(0, 60))), [], "beyond the edge");
	is(await p.evaluate(() => document.documentElement.scrollWidth), 360, "no wider than the window");
	const bar = p.locator(".opened .row rect:not(.soft)").first();
	await bar.scrollIntoViewIfNeeded();
	const box = await bar.boundingBox();
	await p.touchscreen.tap(box.x + box.width / 2, box.y + box.height / 2);
	is((await p.locator(".opened .said").innerText()).length > 5, true, "what is said after a tap");
}

test("report: hostile names are shown as text everywhere", async () => {
	const names = ["<script>alert(1)", "\"onload='x'", "<img src=q>", "]]>&lt", "e\u0007\u001b[1mvil", "\u202eabc", "</title>"];
	const p = await show(report(hostile(names)));
	const shown = (await cells(p, "#threads tbody tr")).map((r) => r[0]);
	for (const name of names)
		has(shown.join("\n"), name.replace(/[\x00-\x1f\u202e]/g, "?"), "in the table"); // as in folded lines
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
	// In a page of its own: Firefox may tell of what was blocked when the next test runs.
	const p = await show(report(trace("relay")), { fresh: true });
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
}, "chromium"); // in which scripts can be forbidden

test("report: dark mode, narrow window, and lost events", async () => {
	const html = report(trace("lost"));
	const p = await show(html, { context: { colorScheme: "dark", viewport: { width: 390, height: 800 } } });
	has(await p.locator("#lost").innerText(), "known to be lost", "the losses");
	is(await p.locator("#overview .loss").count() > 0, true, "marks over time");
	is(await p.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth), 0, "wider than the window by");
	is(statSync(html).size < 5e6 && !/https?:\/\/(?!www\.w3\.org)/.test(readFileSync(html, "utf8").replace(/data">[^<]*/, "")), true, "nothing from elsewhere");
});

// ---- requests

const requests = (...options) => walk("--format=json", ...options, trace("shop")).trim().split("\n").map((l) => JSON.parse(l));
const ms = (s) => Math.round(parseFloat(s.replace(/ /g, "")) * 1e6);

test("report: requests come first, the endpoints of --format=requests", async () => {
	const p = await show(report(trace("shop")));
	is(await p.evaluate(() => [...document.querySelectorAll(".report > section")].map((s) => s.id).slice(0, 3)), ["answer", "requests", "causes"], "the sections");
	const want = walk("--format=requests", trace("shop")).split("\n").slice(1).filter((l) => /^(tcp|unix|udp) .* \d+ +[\d.]+( +[\d.]+){6}/.test(l))
		.map((l) => l.match(/^(.*?) {3,}(\d+) +([\d.]+) +([\d.]+) +([\d.]+) +([\d.]+) +([\d.]+) +([\d.]+) +([\d.]+)/).slice(1))
		.map(([name, n, rate, ...times]) => [...name.match(/^(.*?\/\d+) +(\S.*)$/).slice(1).map((s) => s.replace(/^-$/, "")), n, rate, ...times.map((t) => time(ms(t)))]);
	is(want.length, 4, "endpoints");
	const got = await cells(p, "#requests .endpoints tbody tr");
	const near = (a, b) => a === b || Math.abs(parseFloat(a) - parseFloat(b)) < 0.011 * parseFloat(a);
	is(got.map((r) => r.slice(0, 4)), want.map((r) => r.slice(0, 4)), "names, routes, counts, rates");
	is(got.every((r, i) => r.slice(4).every((t, k) => near(t, want[i][k + 4]))), true, "times: " + JSON.stringify([got, want]));
	is(await p.evaluate(() => document.querySelector("#requests tr.chosen").cells[0].textContent), want[0][0], "the one that is chosen");
}, "once");

test("report: a trace without requests has no such section", async () => {
	const p = await show(report(trace("relay")));
	is(await p.$("#requests"), null, "the section");
}, "once");

test("report: one drags over latencies, and sees those requests and where their time went", async () => {
	const html = report(trace("shop"));
	const p = await show(html);
	const d = await data(p), all = requests("--request", "/cart$"), took = (r) => r.end - r.start;
	const e = d.endpoints[0], n = e.counts.length;
	is(e.counts, e.counts.map((_, i) => all.filter((r) => took(r) >= e.edges[i] && took(r) < e.edges[i + 1]).length), "the steps");
	is(e.where.reduce((sum, r) => sum + r.ns.reduce((a, b) => a + b, 0), 0), all.reduce((sum, r) => sum + took(r), 0), "ns of all of it");
	// At first the slowest.
	has(await p.locator("#requests-view [role=status]").innerText(), "1 of " + all.length + " requests", "what is chosen at first");
	const drag = async (from, to) => {
		await p.locator("#latencies").scrollIntoViewIfNeeded();
		const box = await (await p.$("#latencies")).boundingBox();
		await p.mouse.move(box.x + box.width * (from + 0.5) / n, box.y + 60);
		await p.mouse.down();
		await p.mouse.move(box.x + box.width * (to + 0.5) / n, box.y + 60, { steps: 4 });
		await p.mouse.up();
	};
	const some = all.filter((r) => took(r) >= e.edges[0] && took(r) < e.edges[2]);
	is(some.length > 0 && some.length < all.length, true, "there are some, and others");
	await drag(1, 0);
	has(await p.locator("#requests-view [role=status]").innerText(), some.length + " of " + all.length + " requests", "what is chosen");
	is((await cells(p, ".asked tbody tr")).every((r) => some.some((q) => time(took(q)) === r[0])), true, "the list");
	const each = (await p.evaluate(() => [...document.querySelectorAll(".where:not(.came-down) tbody td[data-ns]")].map((c) => +c.dataset.ns))).reduce((a, b) => a + b, 0);
	is(Math.abs(each - some.reduce((sum, r) => sum + took(r), 0) / some.length) < 40, true, "the rows add up: " + each);
	// The ends of their chains, as JSON has them, by who was the last in the chain.
	const ends = new Map();
	for (const r of some)
		for (const piece of r.pieces) {
			const last = piece.links.at(-1), who = last.name ?? { timer: "timer", network: "network" }[piece.end];
			const key = who + " " + { running: "ran", runnable: "was runnable" }[piece.end];
			ends.set(key, (ends.get(key) || 0) + piece.ns / some.length);
		}
	const cameDown = await cells(p, ".came-down tbody tr");
	near(await shares(p, ".came-down"), 100, 0.01, "all of it is told");
	for (const [, each, words] of cameDown.filter((r) => !/^\d+ more, /.test(r[2]))) {
		const [, who, what] = words.match(/^(\w+)(?: \w+ *$| (ran|was runnable))/) || [];
		const want = ends.get(who + " " + what);
		is(Math.abs(parseFloat(time(want)) - parseFloat(each)) < 0.02 * parseFloat(each), true, words + ": " + each + ", JSON says " + time(want));
	}
	is((await cells(p, ".came-down tbody tr")).length > 2, true, "there are such rows");
	is(await p.evaluate(() => location.hash), "#took=" + e.edges[0] + "-" + e.edges[2], "the link");
	const q = await show(html, { fragment: "#took=" + e.edges[0] + "-" + e.edges[2] });
	has(await q.locator("#requests-view [role=status]").innerText(), some.length + " of " + all.length + " requests", "who got the link");
	// By keys: the end with shift, then both.
	await p.locator("#latencies").focus();
	await p.keyboard.press("Shift+ArrowRight");
	await p.keyboard.press("ArrowRight");
	is(await p.evaluate(() => location.hash), "#took=" + e.edges[1] + "-" + e.edges[4], "after keys");
});

test("report: how high the steps of latencies are is said in words, and is so", async () => {
	const p = await show(report(trace("shop"))), d = await data(p), counts = d.endpoints[0].counts;
	has(await p.locator("#requests-view [role=status]").innerText(), "The height is the logarithm of their number.", "the words");
	const high = await p.evaluate(() => [...document.querySelectorAll("#latencies rect.latency")].map((r) => Number(r.getAttribute("height"))));
	is(new Set(counts.filter((n) => n)).size > 2, true, "steps of several numbers: " + counts);
	const most = Math.max(...high), LEAST = 3; // px: one request is seen, too
	counts.forEach((n, i) => near(high[i], n ? Math.max(LEAST, most * Math.log(1 + n) / Math.log(1 + Math.max(...counts))) : 0, 0.01, n + " requests"));
	// The other histogram is linear, and has its figures beside the bars.
	const bars = (await p.evaluate(() => [...document.querySelectorAll("#lengths-chart tr")].map((tr) => [Number(tr.cells[3].textContent), Number(tr.querySelector("rect").getAttribute("width"))])));
	const top = Math.max(...bars.map(([n]) => n));
	is(bars.length > 3, true, "lengths of waits");
	for (const [n, wide] of bars)
		near(wide, n && Math.max(2, 1000 * n / top), 0.01, n + " waits");
}, "once");

test("report: what the slowest came down to is what the first screen says of them, to the nanosecond", async () => {
	const p = await show(report(trace("shop"))), d = await data(p), s = (i) => d.strings[i];
	const said = JSON.parse(walk("--json", "--wide", trace("shop"))).subjects
		.filter((of) => d.endpoints.some((e) => s(e.name) === of.name && e.counts.reduce((a, b) => a + b) === of.requests.count)); // no service with routes
	is(said.length > 0, true, "some endpoint is on the first screen");
	for (const of of said) {
		const e = d.endpoints.find((one) => s(one.name) === of.name), rows = [];
		for (let i = 0; i < e.ends.length; i += 4)
			rows.push({ who: s(e.ends[i]), words: s(e.ends[i + 2]), ns: e.ends[i + 3] });
		is(e.endsNs, of.explained_ns, "all of it");
		is(rows.reduce((sum, r) => sum + r.ns, 0), e.endsNs, "the rows add up");
		const ends = of.steps.filter((step) => step.ends_as && !step.no_cpu_ns);
		is(ends.length > 0, true, "ends of the first screen");
		for (const step of ends)
			is(rows.filter((r) => r.who === step.who && r.words === step.words).map((r) => r.ns), [step.ns], step.who + " " + step.words);
		await p.locator("#requests .endpoints tbody tr", { hasText: of.name.split(" ")[2] }).first().locator("button.open").click();
		const shown = await cells(p, ".came-down tbody tr");
		near(await shares(p, ".came-down"), 100, 0.01, "all of it is told");
		for (const step of ends)
			is(Math.round(parseFloat(shown.find((r) => r[2].startsWith(step.who + " " + step.words))?.[0])), step.percent, "the share of " + step.words);
	}
});

test("report: what is unknown of slow requests is one figure on the first screen, in the table of requests and in the report", async () => {
	const p = await show(report(trace("shop_lost"))), d = await data(p), s = (i) => d.strings[i];
	const lines = walk("--json", "-f", "requests", trace("shop_lost")).trim().split("\n").map((l) => JSON.parse(l)).filter((l) => l.table === "time" && l.kind === "unknown");
	let seen = 0;
	for (const of of JSON.parse(walk("--json", "--wide", trace("shop_lost"))).subjects) {
		const e = d.endpoints.find((one) => s(one.name) === of.name && one.counts.reduce((a, b) => a + b) === of.requests.count), step = of.steps.find((one) => one.ends_as === "[unknown]");
		if (!e || !step)
			continue;
		seen++;
		is(lines.filter((l) => l.endpoint === of.name).map((l) => l.slowest_ns), [step.ns], "the table of requests has as much as the first screen");
		await p.locator("#requests .endpoints tbody tr", { hasText: of.name.split(" ")[2].slice(0, 7) }).first().locator("button.open").click();
		const rows = (await cells(p, ".came-down tbody tr")).filter((r) => /unknown/.test(r[2]));
		is(rows.length, 1, "one row");
		near(parseFloat(rows[0][0]), 100 * step.ns / of.explained_ns, 0.5, "the share in the report");
		is(step.percent, Math.round(100 * step.ns / of.explained_ns), "the share on the first screen");
	}
	is(seen, 1, "an endpoint of which a part is unknown");
}, "once");

test("report: a request opens its timeline, and has its trace id and command", async () => {
	const p = await show(report(trace("shop")));
	await p.locator("#requests .endpoints tbody tr", { hasText: "/stock/" }).first().locator("button.open").click();
	has(await p.evaluate(() => decodeURIComponent(location.hash)), "to-endpoint=tcp", "the link");
	const stock = requests("--request", "/stock/");
	const slowest = stock.reduce((a, b) => b.end - b.start > a.end - a.start ? b : a);
	is((await cells(p, ".asked tbody tr"))[0].slice(-1), [slowest.request.trace_id], "the trace id");
	await p.locator(".asked button.open").first().click();
	const lanes = await p.evaluate(() => [...document.querySelectorAll(".asked .timeline .lane")].map((t) => t.textContent));
	has(lanes[0], "[request tcp", "the client");
	has(lanes[1], "back (" + slowest.request.writer + ")", "who answered");
	const words = await p.locator(".asked .words").innerText();
	has(words, "answered [request tcp", "the answer");
	has(words, "read [request tcp", "the reader");
	has(await p.locator(".asked .opened code").innerText(), "chainwalk -f tree --request $'^tcp :", "the command");
});

test("report: options choose the requests alone", async () => {
	const p = await show(report(trace("shop"), "--request", "/search$", "--request-min", "1us"));
	is((await cells(p, "#requests .endpoints tbody tr")).length, 1, "endpoints");
	is((await cells(p, "#threads tbody tr")).length > 10, true, "threads are all there");
}, "once");
