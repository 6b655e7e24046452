// SPDX-License-Identifier: GPL-2.0-or-later
// What a report begins with: the first screen, drawn; and how one gets about in it.
import { readFileSync, writeFileSync } from "node:fs";
import { test, defineContrast, is, has, near } from "./harness.mjs";
import { trace, walk, report, show, data, cells } from "./reports.mjs";

const screen = (name) => JSON.parse(walk("--json", "--wide", trace(name)));
const time = (ns) => (ns / 1e6).toFixed(ns >= 99.95e6 ? 0 : ns >= 9.995e6 ? 1 : 2) + " ms";
const texts = (page, selector) => page.evaluate((s) => [...document.querySelectorAll(s)].map((e) => e.textContent), selector);
const hash = (page) => page.evaluate(() => decodeURIComponent(location.hash));

test("answer: a report begins with the verdicts and chains of the first screen, also without a script", async () => {
	for (const [name, javaScriptEnabled] of [["shop", true], ["relay", false], ["sampled_relay", true]]) {
		const p = await show(report(trace(name)), { context: javaScriptEnabled ? {} : { javaScriptEnabled } }), said = screen(name).subjects;
		is(await p.evaluate(() => document.querySelector(".report > section").id), "answer", name + ": the first section");
		is(await texts(p, ".subject .verdict"), said.map((s) => s.verdict), name + ": verdicts");
		is(said.length > 0, true, name + " has some");
		const lines = await p.evaluate(() => [...document.querySelectorAll(".subject")].map((e) => [...e.querySelectorAll(".chain li")].map((li) => li.textContent)));
		said.forEach((s, i) => s.steps.forEach((step, k) => {
			for (const part of [step.who, step.at, step.words, step.percent + " %"])
				has(lines[i][k], part ?? "", name + ": a line a link");
		}));
	}
}, "chromium"); // in which scripts can be forbidden

// Of the bars of a strip the stretches from left to right, as [x, end].
const bars = (page, strip) => page.evaluate((s) => [...document.querySelector(s).querySelectorAll(".strip-bar")].map((g) =>
	[...g.querySelectorAll("rect")].map((r) => [Number(r.getAttribute("x")), Number(r.getAttribute("x")) + Number(r.getAttribute("width"))])), strip);

test("answer: the strip is as long as the slowest request, and the usual one has the same axis", async () => {
	const p = await show(report(trace("shop"))), d = await data(p);
	// It is of a service, which has these routes.
	const of = d.requests.filter((r) => / front\//.test(d.strings[d.endpoints[r.endpoint].name])).sort((a, b) => b.took - a.took);
	const [slow, usual] = await bars(p, ".subject[data-endpoints] .strip");
	const width = await p.evaluate(() => document.querySelector(".subject[data-endpoints] .strip").clientWidth);
	near(slow.at(-1)[1], width - 1, 1, "the slowest takes all of it");
	for (const bar of [slow, usual])
		bar.forEach(([x], k) => near(x, k ? bar[k - 1][1] : 1, 0.7, "no gap before stretch " + k)); // which are 0.6 px wide at least
	const counts = d.endpoints[of[0].endpoint].counts, half = counts.reduce((a, b) => a + b, 0) / 2;
	let step = 0, seen = counts[0];
	while (seen < half)
		seen += counts[++step];
	const [from, to] = d.endpoints[of[0].endpoint].edges.slice(step, step + 2), share = (usual.at(-1)[1] - 1) / (width - 2) * of[0].took;
	is(share > from * 0.98 && share < to * 1.02 + of[0].took * 0.6 / width, true, "the usual one is of the median's step: " + [share, from, to]);
	const marked = await p.evaluate(() => document.querySelectorAll(".subject[data-endpoints] .strip .grew").length);
	is(marked > 0, true, "what took longer is marked");
	is(await p.evaluate(() => document.querySelectorAll(".subject[data-endpoints] .strip-bar:nth-of-type(2) .grew").length), 0, "in the slow one alone");
});

test("answer: the strip is of the request that is slowest for its route, not of a route that always takes longer", async () => {
	const html = report(trace("shop")), d = JSON.parse(readFileSync(html, "utf8").match(/id="report-data"[^>]*>([^<]*)</)[1]);
	const other = d.requests.find((r) => d.strings[d.endpoints[r.endpoint].name].includes("/search"));
	writeFileSync(html, readFileSync(html, "utf8").replace(`"took":${other.took},`, '"took":99000000,'));
	const p = await show(html), said = screen("shop").subjects.find((s) => s.name.includes("front"));
	is(await p.evaluate(() => document.querySelector(".subject[data-endpoints] .strip > .strip-words").textContent), "the slowest: " + (said.requests.longest_ns / 1e6).toFixed(2) + " ms", "as the answer says");
});

test("answer: the strip is of what the verdict is about: of any of its routes, the longest of the slow ones", async () => {
	for (const name of ["shop", "services/postgresql", "services/c", "services/java"]) {
		const p = await show(report(trace(name))), d = await data(p), said = screen(name).subjects.filter((s) => s.requests);
		const drawn = await p.evaluate(() => [...document.querySelectorAll(".subject[data-endpoints]")].map((e) =>
			[e.dataset.endpoints, +e.dataset.slowest, e.querySelector(".strip > .strip-words").textContent]));
		is(drawn.map((s) => s[1]), said.map((s) => s.requests.longest_ns), name + ": the slowest, as the answer has them");
		drawn.forEach(([endpoints, ns, words], k) => {
			const own = d.endpoints.map((e, i) => [i, d.strings[e.name]]).filter(([, s]) => said[k].routes ? / front\//.test(s) : s === said[k].name);
			is(endpoints, own.map(([i]) => i).join(" "), name + ": all of its routes");
			is(words, "the slowest: " + time(ns), name);
		});
	}
}, "once");

test("answer: of a command, or of what was named, the strip is all of its path, which a click opens with its lanes", async () => {
	for (const options of [["-p", "chainload"], ["-t", "26050", "--from", "0.1"]]) {
		const html = report(trace("relay"), ...options), p = await show(html), w = (await data(p)).life;
		const [said] = JSON.parse(walk("--json", "--wide", ...options, trace("relay"))).subjects, took = said.took_ns;
		is([w.blocked, w.parts.filter((_, i) => i % 5 === 2).reduce((a, b) => a + b)], [took, took], options + ": all of it");
		const timers = said.steps.filter((step) => /\(timer\)/.test(step.words)).reduce((sum, step) => sum + step.ns, 0);
		const laneOf = (i) => w.lanes[w.parts[i - 2]], mine = w.parts.reduce((sum, ns, i) => sum + (i % 5 === 2 && laneOf(i).thread === undefined ? ns : 0), 0);
		near(mine / took, timers / took, 0.02, options + ": what the answer says of timers");
		const width = await p.evaluate(() => document.querySelector(".subject .strip").clientWidth), [bar] = await bars(p, ".subject .strip");
		bar.forEach(([x], k) => near(x, k ? bar[k - 1][1] : 1, 0.7, "no gap before stretch " + k));
		near(bar.at(-1)[1], width - 1, 1, "up to the end");
		is((await texts(p, ".subject .strip-bar text")).filter((s) => !/^(al|br|cha|de|ti)/.test(s)), [], "who had it");
		const before = await hash(p);
		await p.locator(".subject .strip-bar rect[role=button]").first().click();
		is(await texts(p, ".subject .timeline .lane").then((l) => l.length), w.lanes.length, "its lanes");
		const there = await hash(p);
		has(there, "life=1", "a link");
		await p.evaluate(() => history.back());
		await p.waitForFunction(() => !document.querySelector(".subject .timeline"));
		is(await hash(p), before, "Back");
		is(await (await show(html, { fragment: "#" + there.slice(1) })).locator(".subject .timeline").count(), 1, "who got the link");
	}
});

test("answer: of a command with several processes, the strip says which of them had the time when", async () => {
	const html = report(trace("relay"), "-p", "chainload"), text = readFileSync(html, "utf8");
	const { strings, life, ends } = await data(await show(html));
	const half = Math.floor(life.blocked / 2), running = ends.indexOf("[running]"), timer = ends.indexOf("[timer]");
	writeFileSync(html, text.replace('"life":{', `"life":{"path":[0,${half},0,${running},${half},${life.blocked - half},-1,${timer}],`));
	const p = await show(html), [bar] = await bars(p, ".subject .strip");
	is(bar.length, 2, "a stretch each");
	const name = (s) => s.replace(/\u2026$/, "");
	const [first, second] = (await texts(p, ".subject .strip-bar text")).map(name);
	has(strings[0], first, "the first's name");
	is(/^(al|br|cha)/.test(second), true, "the one whose path it is: " + second);
	is(await p.evaluate(() => [...document.querySelectorAll(".subject .strip-bar rect")].map((r) => r.getAttribute("class"))), ["running", "blocked"], "what each did");
});

test("answer: lines of the chain that wrap go on below their words", async () => {
	const p = await show(report(trace("shop")), { context: { viewport: { width: 300, height: 700 } } });
	const left = await p.evaluate(() => [...document.querySelectorAll(".chain li")].map((li) => {
		const r = document.createRange(), texts = [...li.querySelectorAll("b, code"), ...[...li.childNodes].filter((n) => n.nodeType === 3 && n.data.trim())];
		return texts.flatMap((n) => { r.selectNodeContents(n); return [...r.getClientRects()]; }).filter((b) => b.width > 4).map((b) => b.left - li.querySelector("svg").getBoundingClientRect().right);
	}));
	is(left.some((xs) => new Set(xs.map(Math.round)).size > 1), true, "some wrap");
	is(Math.min(...left.flat()) > 20, true, "none goes on below the bar: " + Math.min(...left.flat()));
});

test("answer: a click, a key or a finger on the strip opens the request with its lanes, and Back comes back", async () => {
	const html = report(trace("shop")), p = await show(html), before = await hash(p);
	await p.locator(".subject .strip-bar rect").first().click();
	is(await p.locator("#requests .opened .timeline").count(), 1, "its lanes");
	const there = await hash(p);
	has(there, "request=", "a link");
	is(await p.evaluate(() => document.querySelector(".asked .is-open").getBoundingClientRect().top < innerHeight), true, "in view");
	await p.evaluate(() => history.back()); // goBack() waits for a page to load, in Firefox
	await p.waitForFunction(() => !document.querySelector("#requests .opened"));
	is([await hash(p), await p.locator("#requests .opened").count()], [before, 0], "Back");
	const q = await show(html, { fragment: there });
	is(await q.locator("#requests .opened .timeline").count(), 1, "who got the link");
	await p.locator(".subject .strip [role=button]").first().focus();
	await p.keyboard.press("Enter");
	is(await p.locator("#requests .opened .timeline").count(), 1, "by keyboard");
	const high = await p.evaluate(() => [...document.querySelectorAll(".strip-bar rect")].map((r) => r.getBoundingClientRect().height));
	is(Math.min(...high) >= 44, true, "large enough for a finger: " + Math.min(...high));
	is(await p.evaluate(() => [...document.querySelectorAll("#requests .opened .strip")].length), 1, "an open request has its strip");
});

test("answer: on a phone a tap on the strip opens the request with its lanes", async () => {
	const p = await show(report(trace("shop")), { context: { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true } });
	const widest = await p.evaluate(() => [...document.querySelectorAll(".subject .strip-bar rect")].map((r) => Number(r.getAttribute("width")))
		.reduce((most, w, i, all) => w > all[most] ? i : most, 0));
	await p.locator(".subject .strip-bar rect").nth(widest).tap();
	is(await p.locator("#requests .opened .timeline").count(), 1, "its lanes");
	has(await hash(p), "request=", "a link");
}, "chromium"); // Firefox has no phones

test("answer: an open wait is in the address, and Back closes it", async () => {
	const html = report(trace("relay")), p = await show(html);
	await p.evaluate(() => document.querySelector("#waits tbody tr:not(.is-open, .opened) button.open").click());
	const link = await hash(p), wait = new URLSearchParams(link.slice(1)).get("wait");
	is(await p.locator("#wait-" + wait + ".is-open").count(), 1, "open");
	await p.evaluate(() => history.back()); // goBack() waits for a page to load, in Firefox
	await p.waitForFunction((id) => !document.getElementById(id).classList.contains("is-open"), "wait-" + wait);
	const q = await show(html, { fragment: link });
	is(await q.locator("#wait-" + wait + ".is-open").count(), 1, "who got the link");
	await q.evaluate(() => { location.hash = ""; });
	await q.waitForFunction((id) => !document.getElementById(id)?.classList.contains("is-open"), "wait-" + wait);
});

test("answer: each cause has a link, which marks it, and Back comes back", async () => {
	const html = report(trace("shop")), p = await show(html), before = await hash(p);
	const marked = (page) => texts(page, "#causes tbody tr.chosen bdi");
	is(await marked(p), [], "none at first");
	const row = p.locator("#causes tbody tr:not([hidden])").nth(2), what = await row.locator("bdi").first().innerText();
	await row.locator("a.link").click();
	const link = await hash(p);
	has(link, "cause=2", "a link");
	is((await marked(p))[0], what, "marked");
	const q = await show(html, { fragment: link });
	is((await marked(q))[0], what, "who got the link");
	is(await q.evaluate(() => { const b = document.querySelector("#causes tr.chosen").getBoundingClientRect(); return b.top >= 0 && b.bottom <= innerHeight; }), true, "in view");
	await p.evaluate(() => history.back());
	await p.waitForFunction(() => !document.querySelector("#causes tr.chosen"));
	is(await hash(p), before, "Back");
});

test("answer: what the table of causes leaves out is said: how many, and the largest of them", async () => {
	const p = await show(report(trace("things"), "--top=3"));
	const said = () => p.locator("#causes tfoot .others td:last-child").innerText();
	const all = walk("--format=causes", "--json", "--state=blocked,runnable", trace("things")).trim().split("\n").map((l) => JSON.parse(l)).filter((c) => !c.pause)
		.map((c) => c.ns).sort((a, b) => b - a), sum = all.reduce((a, b) => a + b);
	const next = 100 * all[3] / sum;
	is(await said(), all.length - 3 + " others, none with more than " + (next < 0.005 ? "<0.01" : next.toFixed(next >= 9.995 ? 1 : 2)) + " %", "said");
	await p.fill("#who", (await data(p)).strings[(await data(p)).threads[0][3]]);
	await p.press("#who", "Enter");
	is(await said(), "others", "of a filter that is not known");
}, "once");

test("answer: on paper nothing is cut off, and there are no controls", async () => {
	const p = await show(report(trace("shop")), { fresh: true });
	await p.emulateMedia({ media: "print" });
	// As paper has it: narrower than the window for which all was drawn.
	const [wide, controls, first] = await p.evaluate(() => {
		document.querySelector(".report").style.width = "700px";
		const seen = (e) => e.getClientRects().length > 0;
		return [[...document.querySelectorAll(".report svg")].filter((e) => seen(e) && e.getBoundingClientRect().right > 701).map((e) => e.getAttribute("class")),
			[...document.querySelectorAll(".report :is(.copy, .example, .more, .link, #filter, #contents)")].filter(seen).length,
			document.querySelector(".subject .strip").getBoundingClientRect().bottom];
	});
	is([wide, controls], [[], 0], "cut off, and controls");
	is(first < 1000, true, "the answer and its strip are on the first page: " + first);
}, "chromium"); // which can pretend to print

test("answer: the contents lead to each section, and headings stay in view", async () => {
	const p = await show(report(trace("shop")), { fragment: "#who=front" });
	const links = await p.evaluate(() => [...document.querySelectorAll("#contents a")].map((a) => a.getAttribute("href").slice(1)));
	is(links.filter((id) => ["answer", "requests", "causes", "all-threads", "graph", "threads", "wakers"].includes(id)).length, 7, "sections: " + links);
	for (const id of links) {
		await p.locator("#contents a[href='#" + id + "']").click();
		has(await hash(p), "who=front", "the filter stays");
		has(await hash(p), "at=" + id, "a link to it");
		const [top, below, end] = await p.evaluate((s) => [document.querySelector("#" + s + " h2").getBoundingClientRect().top,
			document.querySelector("#contents").getBoundingClientRect().bottom, Math.abs(document.documentElement.scrollHeight - innerHeight - scrollY) < 2], id);
		is(top >= below && (top < below + 60 || end), true, id + ": heading at " + top + ", below " + below);
		is(below <= 64, true, "what stays takes " + below + " px");
	}
});

test("answer: on a phone the links of the contents stand apart, and say that there are more", async () => {
	const p = await show(report(trace("shop")), { context: { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true } });
	const [words, more] = await p.evaluate(() => {
		const of = (a) => { const r = document.createRange(); r.selectNodeContents(a); return r.getBoundingClientRect(); };
		const links = document.querySelector("#contents .links");
		return [[...links.querySelectorAll("a")].map((a) => [of(a).left, of(a).right]), links.scrollWidth > links.clientWidth && getComputedStyle(links).backgroundImage.includes("gradient")];
	});
	const gaps = words.slice(1).map(([left], i) => left - words[i][1]);
	is(Math.min(...gaps) >= 8, true, "pixels between them: " + gaps);
	is(more, true, "a shade");
}, "chromium"); // Firefox has no phones

test("answer: where events are lost the advice stands first, and unknown causes stand last, which is said", async () => {
	const p = await show(report(trace("lost")));
	const [first, words] = await p.evaluate(() => [document.querySelector("#answer h2 + *").textContent,
		[...document.querySelectorAll("#causes tbody tr:not([hidden]) td > bdi")].map((e) => e.textContent)]);
	has(first, "3 % of the events are lost: record with a larger --buffer-size", "the advice");
	const unknown = words.map((s) => /unknown/.test(s));
	is(unknown.includes(true) && !unknown[0], true, "there are some, and the first one is known");
	is(unknown.slice(unknown.indexOf(true)).includes(false), false, "no known one after them");
	has(await p.locator("#causes").innerText(), "Those that are unknown, as events are missing, come last.", "it is said");
	is((await show(report(trace("relay"))).then((q) => q.locator("#causes").innerText())).includes("come last"), false, "where there are none it is not");
}, "once");

test("answer: one search finds endpoints, causes, threads, places and functions, and goes there", async () => {
	const p = await show(report(trace("shop")));
	const found = async (s) => {
		await p.fill("#find", s);
		return p.evaluate(() => [...document.querySelectorAll("#found button")].map((b) => b.textContent));
	};
	const d = await data(p), name = d.strings[d.endpoints[1].name];
	is((await found(name))[0], "endpoint " + name, "an endpoint");
	await p.keyboard.press("Enter");
	const chosen = await p.evaluate(() => [...document.querySelector("#requests tr.chosen").cells].map((c) => c.textContent).slice(0, 2));
	is(name.split(" ").sort(), chosen.join(" ").split(" ").sort(), "and it is chosen, with its route");
	const thread = d.strings[d.threads[0][3]];
	is((await found(thread)).includes("thread " + thread), true, "a thread");
	const place = await p.evaluate(() => document.querySelector("#fg-names").textContent.split("\n").find((s) => /^[a-z_]{6,}$/.test(s)));
	is((await found(place)).some((s) => s === "function " + place), true, "a function: " + place);
	await p.locator("#found button", { hasText: "function " + place }).first().click();
	has(await hash(p), "search=" + place, "it is searched for in the graph");
	is(await found("no such name at all"), [], "nothing");
	has(await p.locator("#found").innerText(), "Nothing", "which is said");
	await p.keyboard.press("Escape");
	is(await p.locator("#found").isVisible(), false, "Escape closes it");
});

test("answer: the filter keeps answers: what the chosen ones waited for is named", async () => {
	const p = await show(report(trace("shop"))), d = await data(p);
	const shown = () => p.evaluate(() => [...document.querySelectorAll("#causes tbody tr")].filter((tr) => !tr.hidden).length);
	const usual = await shown();
	is(usual <= 10, true, "rows without a filter");
	for (const who of new Set(d.threads.map((t) => d.strings[t[3]]))) {
		await p.fill("#who", who);
		await p.press("#who", "Enter");
		const rows = await p.evaluate(() => [...document.querySelectorAll("#causes :is(tbody, tfoot) tr")].filter((tr) => !tr.hidden)
			.map((tr) => [tr.className, parseFloat(tr.cells[0].textContent)]));
		const others = rows.find(([kind]) => kind === "others")?.[1] || 0;
		is(others < 50, true, who + ": others have " + others + " %");
	}
	await p.locator("#all").click();
	is(await shown(), usual, "as before");
	await p.fill("#who", "nobody is called so");
	await p.press("#who", "Enter");
	has(await p.locator("#causes-said").innerText(), "Nothing of this was waited for", "an empty result says so");
}, "once");

test("answer: captions follow the filter, and where nothing fits each section says so", async () => {
	const html = report(trace("shop")), p = await show(html), d = await data(p);
	const caption = (section, page = p) => page.locator("#" + section + "-said").innerText();
	const filter = async (who) => {
		await p.fill("#who", who);
		await p.press("#who", "Enter");
	};
	const usual = [await caption("waits"), await caption("threads")];
	has(usual[0], d.waits.length + " of ", "all waits that the page has");
	const [tid] = d.threads.find((t) => d.strings[t[3]] === "front"), own = d.waits.filter((w) => d.threads[w.thread][0] === tid).length;
	const waits = walk("--format=json", "--state=blocked,runnable", "-t", String(tid), trace("shop")).trim().split("\n").map((l) => JSON.parse(l)).filter((w) => w.kind);
	await filter(String(tid));
	has(await caption("waits"), own + " of the " + waits.length + " waits that fit the filter.", "of one thread");
	is(own > 0 && own < waits.length, true, "some are listed");
	has(await caption("threads"), "1 of the " + d.rows.filter((r) => r.thread >= 0).length + " threads of this table fit", "of one thread");
	// In a range of time a wait is counted where it ended. This one goes on after it.
	const mine = d.waits.filter((w) => d.threads[w.thread][0] === tid).map((w) => [w.start, w.start + w.blocked + w.off]);
	const to = d.step * Array.from({ length: d.n }, (_, i) => i).find((i) => mine.some(([start, end]) => start < d.step * i && end > d.step * i) && mine.some(([, end]) => end < d.step * i));
	await p.fill("#to", String(to / 1e9));
	await p.press("#to", "Enter");
	has(await caption("waits"), mine.filter(([, end]) => end <= to).length + " of the " + waits.filter((w) => w.end <= to).length +
		" waits that fit the filter, and " + mine.filter(([start, end]) => start < to && end > to).length + " that ended later", "of a range, too");
	await p.click("#all");
	is([await caption("waits"), await caption("threads")], usual, "as before");
	await filter("nobody is called so");
	has(await caption("waits"), "0 of the 0 waits", "none");
	for (const [section, words] of [["causes", "Nothing of this was waited for by nobody is called so"], ["all-threads", "No thread fits."], ["waits", "None of the listed waits fits."],
		["graph", "No thread fits."], ["threads", "No thread fits."], ["lengths", "No waits."], ["wakers", "No wakeups."]])
		has(await p.locator("#" + section).innerText(), words, "nothing in " + section);
}, "once");

test("answer: a wide window is used, in a narrow one tables say that there is more", async () => {
	const html = report(trace("shop")), p = await show(html, { context: { viewport: { width: 1920, height: 1080 } } });
	is(await p.evaluate(() => document.querySelector("#causes").getBoundingClientRect().width) > 1800, true, "as wide as the window");
	const q = await show(html, { context: { viewport: { width: 390, height: 844 } } });
	is(await q.evaluate(() => [...document.querySelectorAll(".report .scroll")].filter((e) => e.scrollWidth > e.clientWidth + 1 &&
		!getComputedStyle(e).backgroundImage.includes("gradient")).length), 0, "cut without a hint");
	is(await q.evaluate(() => [...document.querySelectorAll(".report .scroll > table")].filter((e) => getComputedStyle(e).backgroundColor !== "rgba(0, 0, 0, 0)").length), 0,
		"nothing hides the hint");
	is(await q.evaluate(() => document.documentElement.scrollWidth), 390, "the page itself is no wider");
	is(await q.evaluate(() => [...document.querySelectorAll("#causes td:last-child, #requests .where td:last-child")].filter((e) => e.clientWidth)
		.filter((e) => e.getBoundingClientRect().left < 0 || e.getBoundingClientRect().right > 380.5).map((e) => e.textContent)), [], "words of rows need no scrolling");
	await q.evaluate(() => { document.querySelector("h1 bdi").textContent = "sh /" + "a_long_path/".repeat(8) + " on host"; });
	is(await q.evaluate(() => document.documentElement.scrollWidth), 390, "whatever it is called");
}, "once");

test("answer: lanes of threads of one name are told apart, and preempted time is in the overview", async () => {
	const p = await show(report(trace("shop")));
	const names = await texts(p, "#lanes .lane-row text.lane");
	is(names.every((s) => /\d+(\D|$)/.test(s)), true, "each has its tid: " + names.slice(0, 3));
	const d = await data(p);
	const got = await p.evaluate(() => [...document.querySelectorAll("#overview rect.runnable")].reduce((sum, r) => sum + Number(r.getAttribute("height")), 0));
	// Both in the same unit: what was runnable or preempted by what ran, as high as they are drawn.
	const ran = await p.evaluate(() => [...document.querySelectorAll("#overview rect.running")].reduce((sum, r) => sum + Number(r.getAttribute("height")), 0));
	const sum = (k) => d.rows.flatMap((r) => r.steps.filter((v, i) => i % 7 === k)).reduce((a, b) => a + b, 0);
	near(got / ran, (sum(3) + sum(4)) / sum(1), 0.15 * (sum(3) + sum(4)) / sum(1), "runnable and preempted beside running");
}, "once");

test("answer: in a window narrower than its margin nothing has a negative size, and the console stays empty", async () => {
	const p = await show(report(trace("relay")), { context: { viewport: { width: 1, height: 40 } } });
	is(await p.evaluate(() => [...document.querySelectorAll("svg *")].flatMap((e) => ["width", "height"].map((k) => e.getAttribute(k)))
		.filter((v) => v && v.startsWith("-"))), [], "negative sizes");
}, "once"); // show() makes a test fail that writes to the console

test("answer: two ranges of time are compared, cause by cause, and the address has both", async () => {
	const html = report(trace("relay")), p = await show(html), d = await data(p), half = Math.floor(d.n / 2 / d.causeSteps) * d.causeSteps;
	const at = (i) => String(Math.min(d.from + i * d.step, d.to) / 1e9);
	const chooseRange = async (page, first, end) => {
		for (const [id, v] of [["#from", at(first)], ["#to", at(end)]]) {
			await page.fill(id, v);
			await page.press(id, "Enter");
		}
	};
	await chooseRange(p, 0, half);
	await p.locator("#keep").click();
	has(await p.locator("#compared").innerText(), "Nothing changed", "with itself");
	await chooseRange(p, half, d.n);
	const rows = await p.evaluate(() => [...document.querySelectorAll("#compared tbody tr")].map((tr) =>
		[...[...tr.cells].slice(0, 3).map((c) => +c.dataset.ns), tr.cells[3].textContent]));
	is(rows.length > 3, true, "causes that changed");
	const names = await p.evaluate(() => Object.fromEntries([...document.querySelectorAll("#causes tbody tr")].map((tr) => [tr.cells[4]?.firstChild.textContent, tr.rowIndex])));
	is(rows.every((r) => r[3] in names), true, "they are rows of the table");
	is(rows.every(([before, now, more]) => Math.abs(now - before - more) <= 2), true, "the change is the difference");
	// In all causes together, the time that each range has, for each second of it.
	const sum = (first, end) => d.causeCells.slice(0, -2).map((cells) => {
		let ns = 0;
		for (let i = 0; i < cells.length; i += 5)
			ns += cells[i + 1] * d.causeSteps >= first && cells[i + 1] * d.causeSteps < end ? cells[i + 2] : 0;
		return Math.round(ns * 1e9 / (Math.min(d.from + end * d.step, d.to) - d.from - first * d.step));
	});
	const [a, b] = [sum(0, half), sum(half, d.n)];
	const want = a.map((v, i) => [v, b[i]]).sort((x, y) => Math.abs(y[1] - y[0]) - Math.abs(x[1] - x[0])).slice(0, 3);
	is(rows.slice(0, 3).map((r) => r.slice(0, 2)), want, "the figures");
	const q = await show(html, { fragment: await p.evaluate(() => location.hash) });
	is(await q.evaluate(() => document.querySelectorAll("#compared tbody tr").length), rows.length, "who got the link");
	await q.locator("#compared button").click();
	is(await q.evaluate(() => document.querySelector("#compared").textContent), "", "no more");
}, "once");

test("answer: every colour of a state and of a class has 3 to 1 to its ground, in the light and in the dark, to all eyes", async () => {
	const html = report(trace("relay"));
	for (const colorScheme of ["light", "dark"]) {
		const p = await show(html, { context: { colorScheme } });
		await defineContrast(p);
		const low = await p.evaluate(() => {
			const grounds = [document.querySelector(".report"), document.querySelector("#overview")].map((e) => getComputedStyle(e).backgroundColor);
			const svg = document.querySelector("#overview svg"), kinds = ["lock", "file", "net", "local", "poll", "timer", "child", "other", "unknown"];
			return ["running", "blocked", "runnable", "preempted", "unknown", "many", "many-ready", "many-runs", "loss", ...kinds.map((k) => "kind-" + k)].flatMap((name) => {
				const rect = svg.appendChild(document.createElementNS("http://www.w3.org/2000/svg", "rect"));
				rect.setAttribute("class", name);
				return grounds.flatMap((g) => [0, 1, 2, 3].map((eye) => [name, eye, contrast(getComputedStyle(rect).fill, g, eye)])).filter(([, , r]) => !(r >= 3));
			});
		});
		is(low, [], colorScheme);
	}
}, "once");
