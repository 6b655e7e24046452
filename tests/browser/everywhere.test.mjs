// SPDX-License-Identifier: GPL-2.0-or-later
// The page on a phone, in shallow graphs, in the dark, in print, for the keyboard and for screen readers;
// labels that fit.
import { pathToFileURL } from "node:url";
import { defineContrast, test, render, open, frame, labels, hover, click, is, has, near } from "./harness.mjs";

const chain = [
	"alpha;main;recv;-;entry;--;wake;send;work;bravo;--;wake;unlock;cwork;charlie;[running] 400",
	"alpha;main;recv;-;entry;--;wake;send;work;bravo;[runnable] 200",
	"delta;nap;--;tick;irq_entry;[interrupt] 300",
];
const folded = ["main;parse;read 300", "main;work;sum 390", "main;work;needle;pin 1", "other 9"];
const status = (page) => page.evaluate(() => document.querySelector("[role=status]").textContent);
const phone = { context: { viewport: { width: 360, height: 640 }, hasTouch: true, isMobile: true } };

test("phone: controls are large enough, on screen, and a tap shows the count", async () => {
	const page = await open(render(chain), phone);
	const high = await page.evaluate(() => [...document.querySelectorAll("#fg-head text")].map((t) => t.getBoundingClientRect().bottom)
		.reduce((a, b) => Math.max(a, b), 0) / innerHeight);
	is(high > 0 && high < 0.12, true, "the heading's part of the screen: " + high);
	const small = () => page.evaluate(() => [...document.querySelectorAll(".controls > *")]
		.filter((e) => e.getClientRects().length && !/chips|share/.test(e.className)).map((e) => [e.getBoundingClientRect(), e.textContent])
		.filter(([r]) => r.width < 44 || r.height < 44 || r.left < 0 || r.right > innerWidth || r.top < 0 || r.bottom > innerHeight).map(([, s]) => s));
	const sideways = () => page.evaluate(() => [...document.querySelectorAll(".bar > div, .controls, .chips")].filter((e) => e.scrollWidth > e.clientWidth + 1)
		.map((e) => e.className));
	is(await small(), [], "controls below 44 px, or not on the screen");
	is(await sideways(), [], "moved sideways");
	// All others are there after a tap, in lines.
	await page.getByRole("button", { name: "More controls" }).click();
	is([await small(), await sideways()], [[], []], "with all controls");
	is(await page.evaluate(() => ["Flip", "Merge", "Everything", "Table", "Save", "Legend", "Aa", "?"].filter((s) => ![...document.querySelectorAll(".extras button")]
		.some((b) => b.getClientRects().length && b.textContent.includes(s)))), [], "which are all of them");
	is(await page.evaluate(() => [...document.querySelectorAll(".bar > div")].map((e) => Math.round(e.getBoundingClientRect().bottom - innerHeight))), [0], "at the lower edge");
	await page.getByRole("button", { name: "More controls" }).click();
	// What the view leaves out, and a search.
	await page.evaluate(() => { location.hash = "#hide=recv&hide=a_function_with_quite_a_long_name_that_does_not_fit&search=send"; });
	await page.waitForFunction(() => document.querySelectorAll(".chips button").length === 2);
	is([await small(), await sideways()], [[], []], "with chips and a search");
	await page.evaluate(() => { location.hash = ""; });
	await page.waitForFunction(() => !document.querySelector(".chips button"));
	// A tall graph is scrolled to its root, which the bar does not hide.
	const tall = await open(render([Array.from({ length: 90 }, (_, i) => "f" + i).join(";") + ";--;w;b;[running] 9"]), phone);
	await tall.waitForFunction(() => {
		const root = [...document.querySelectorAll("#fg-frames text")].find((t) => t.textContent === "all");
		const y = root.getBoundingClientRect().bottom;
		return y > innerHeight / 2 && y < document.querySelector(".bar > div").getBoundingClientRect().top;
	});
	is(await page.evaluate(() => [...document.querySelectorAll("#fg-head text")].map((t) => t.getBoundingClientRect())
		.filter((r) => r.left < 0 || r.right > innerWidth).length), 0, "headings beyond the edges");
	const b = await frame(page, "send");
	await page.touchscreen.tap(b.x + 10, b.y + b.h / 2);
	has(await status(page), "send (600 µs, 66.7 % of all", "the count after a tap");
	const box = await page.evaluate(() => {
		const r = document.querySelector("[role=status]").getBoundingClientRect();
		return [r.width > 200, r.height > 10, r.left >= 0, r.right <= innerWidth, r.bottom <= innerHeight];
	});
	is(box, [true, true, true, true, true], "it can be read");
	await page.touchscreen.tap(b.x + 10, b.y + b.h / 2);
	const bar = await page.evaluate(() => {
		const r = document.querySelector(".bar > div").getBoundingClientRect();
		return [r.left >= 0, r.right <= innerWidth + 1, Math.abs(r.bottom - innerHeight) < 2];
	});
	is(bar, [true, true, true], "the bar is at the lower edge");
}, "chromium"); // which can be a phone

test("a shallow graph does not clip its menu and table", async () => {
	const page = await open(render(["a;b 1", "c 2"]));
	await click(page, "b", 0, { button: "right" });
	const inside = (selector) => page.evaluate((s) => [...document.querySelectorAll(s)].filter((e) => {
		const r = e.getBoundingClientRect(), hit = document.elementFromPoint(r.x + r.width / 2, r.y + r.height / 2);
		return !(hit && (e === hit || e.contains(hit) || hit.contains(e)));
	}).map((e) => e.textContent), selector);
	is((await page.locator(".menu button").count()) > 5, true, "a menu");
	is(await inside(".menu button"), [], "entries that cannot be clicked");
	await page.keyboard.press("Escape");
	await page.keyboard.press("t");
	is(await inside(".panel tr, .panel h2"), [], "rows that cannot be seen");
});

// The contrast of each text with what is below it (WCAG 2.2, 1.4.3).
const worst = (page) => page.evaluate(() => {
	const rgb = (s) => s.match(/[\d.]+/g).slice(0, 3).map(Number);
	const lum = (c) => c.map((v) => v / 255).map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
		.reduce((sum, v, k) => sum + v * [0.2126, 0.7152, 0.0722][k], 0);
	const ratio = (a, b) => (Math.max(lum(a), lum(b)) + 0.05) / (Math.min(lum(a), lum(b)) + 0.05);
	const ground = rgb(getComputedStyle(document.documentElement).backgroundColor);
	let least = { ratio: 99 };
	const note = (what, ratio) => { if (ratio < least.ratio) least = { what, ratio }; };
	for (const t of document.querySelectorAll("#fg-frames text")) {
		const r = getComputedStyle(t.previousElementSibling), o = Number(r.opacity), fill = rgb(r.fill);
		const below = fill.map((v, k) => v * o + ground[k] * (1 - o));
		note(t.textContent, ratio(rgb(getComputedStyle(t).fill), below));
	}
	for (const t of document.querySelectorAll("#fg-head text"))
		note(t.textContent, ratio(rgb(getComputedStyle(t).fill), ground));
	for (const e of document.querySelectorAll(".bar output, .bar button, .bar select, .panel td, .panel th")) {
		let up = e;
		while (/rgba\(0, 0, 0, 0\)/.test(getComputedStyle(up).backgroundColor))
			up = up.parentNode;
		note(e.outerHTML.slice(0, 60), ratio(rgb(getComputedStyle(e).color), rgb(getComputedStyle(up).backgroundColor)));
	}
	return least;
});

test("every text has a contrast of 4.5 to 1, in the light and in the dark", async () => {
	const hot = folded.concat(Array.from({ length: 200 }, (_, i) => "main;shade" + i + " 40"));
	for (const colorScheme of ["light", "dark"])
		for (const [lines, zoom] of [[chain, "path=alpha%3Bmain%3Brecv"], [hot, "path=main%3Bwork&search=sum"],
			[["a;b 1 9", "a;c 9 1", "d 5 5"], "path=a"]]) {
			const page = await open(render(lines), { fragment: "#" + zoom, context: { colorScheme } });
			await page.keyboard.press("t");
			const w = await worst(page);
			if (!(w.ratio >= 4.5))
				throw new Error(colorScheme + ": " + w.what + " has " + w.ratio.toFixed(2));
			await page.keyboard.press("Escape");
			await page.keyboard.press("Home");
			const whole = await worst(page);
			if (!(whole.ratio >= 4.5))
				throw new Error(colorScheme + ": " + whole.what + " has " + whole.ratio.toFixed(2));
		}
}, "once");

test("between neighbours of a chain is a line or a bar with 3 to 1 to both, in both schemes, to all eyes", async () => {
	for (const colorScheme of ["light", "dark"]) {
		const page = await open(render(chain.concat(["alpha;main;recv;[futex];--;wake;send;bravo;--;wake;unlock;charlie;[runnable];gzip 300", "alpha;main;recv;--;wake;[timer] 200",
			"delta;nap;--;wake;end_bio;[disk vda read];[device] 90", "delta;nap;--;wake;net;[network];[tcp 10.0.0.5:80] 90", "delta;[on-CPU];main;loop 90", "delta;nap;[unknown] 90"])), { context: { colorScheme } });
		await defineContrast(page);
		const [frames, low] = await page.evaluate(() => {
			const bad = [], rects = [...document.querySelectorAll("#fg-frames rect")];
			for (const r of rects) {
				const style = getComputedStyle(r), bar = /^--?$/.test(r.nextElementSibling?.textContent);
				if (!bar && parseFloat(style.strokeWidth) < 1)
					bad.push("no line around " + r.nextElementSibling?.textContent);
				[0, 1, 2, 3].forEach((eye) => {
					const c = contrast(style.fill, style.stroke, eye);
					if (!(c >= 3) && r.nextElementSibling?.textContent !== "--") // a bar is told by its own colour
						bad.push([r.nextElementSibling?.textContent, style.fill, style.stroke, eye, c.toFixed(2)].join(" "));
				});
			}
			return [rects.length, bad];
		});
		is(frames > 30, true, "frames");
		is(low, [], colorScheme);
	}
});

test("print is on white, without controls, and tells delimiters apart in gray", async () => {
	const page = await open(render(chain), { context: { colorScheme: "dark" } });
	await page.emulateMedia({ media: "print", colorScheme: "light" });
	is(await page.evaluate(() => getComputedStyle(document.querySelector(".bar")).display), "none", "the bar");
	is(await page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor), "rgb(255, 255, 255)", "ground");
	const gray = await page.evaluate(() => Object.fromEntries([...document.querySelectorAll("#fg-frames text")]
		.map((t) => [t.textContent, getComputedStyle(t.previousElementSibling).fill.match(/\d+/g).map(Number)])
		.map(([s, c]) => [s, 0.3 * c[0] + 0.6 * c[1] + 0.1 * c[2]])));
	if (!(gray["-"] - gray["--"] > 100 && gray["main"] - gray["--"] > 60))
		throw new Error(JSON.stringify(gray));
}, "chromium"); // which can pretend to print

test("print: the heading is at the top, nothing is black, and a graph is one page, upright if it is tall", async () => {
	const lines = ["main;a 5000"];
	for (let i = 0; i < 400; i++)
		lines.push("main;b" + i + " 1");
	const page = await open(render(lines.concat(chain)), { fresh: true });
	await page.evaluate(() => scrollTo(0, 1e6));
	await page.emulateMedia({ media: "print" });
	await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
	is(await page.evaluate(() => (document.querySelector("#fg-head").getAttribute("transform") || "translate(0 0)")), "translate(0 0)", "the heading");
	is(await page.evaluate(() => [...document.querySelectorAll("#fg-frames path:not(.side)")].map((e) => getComputedStyle(e).stroke)
		.filter((s) => s !== "none").length), 0, "strokes around narrow frames");
	const paper = async () => {
		const pdf = (await page.pdf({ preferCSSPageSize: true })).toString("latin1");
		return [pdf.match(/\/Type ?\/Page\b/g).length, /MediaBox ?\[0 0 ([\d.]+) ([\d.]+)/.exec(pdf).slice(1).map(Number)];
	};
	const [pages, [w, h]] = await paper();
	is([pages, w > h], [1, true], "one page, landscape");
	await page.goto(pathToFileURL(render([Array.from({ length: 200 }, (_, i) => "f" + i).join(";") + " 1"])).href);
	await page.waitForSelector("svg.live");
	const [of, [wide, high]] = await paper();
	is([of, wide < high], [1, true], "one page, portrait");
}, "chromium"); // which can pretend to print

test("in the dark the bar between two threads is seen", async () => {
	const page = await open(render(chain), { context: { colorScheme: "dark" } });
	const [bar, text] = await page.evaluate(() => {
		const t = [...document.querySelectorAll("#fg-frames text")].find((e) => e.textContent === "--");
		return [getComputedStyle(t.previousElementSibling).fill, getComputedStyle(t).fill].map((s) => s.match(/\d+/g).map(Number)[0]);
	});
	is([bar > 120, text < 60], [true, true], "bright, with dark text: " + bar + ", " + text);
}, "chromium"); // which can be dark

test("a page that is loaded in the background comes alive", async () => {
	const page = await open(null, { fresh: true });
	await page.addInitScript(() => {
		Object.defineProperty(window, "outerWidth", { get: () => 0 });
		Object.defineProperty(document, "hidden", { get: () => true });
	});
	await page.goto(pathToFileURL(render(chain)).href);
	await page.waitForSelector("svg.live", { timeout: 10000 });
});

test("a page whose window becomes known after it has loaded comes alive", async () => {
	const page = await open(null, { fresh: true });
	await page.addInitScript(() => {
		let known = 0;
		Object.defineProperty(window, "outerWidth", { get: () => known });
		addEventListener("load", () => setTimeout(() => { known = 1200; }, 300));
	});
	await page.goto(pathToFileURL(render(chain)).href);
	await page.waitForSelector("svg.live", { timeout: 10000 });
});

test("the menu has the roles of one, and arrow keys", async () => {
	const page = await open(render(folded));
	await page.keyboard.press("ArrowUp");
	await page.keyboard.press("ArrowUp");
	await page.keyboard.press("m");
	is(await page.evaluate(() => [document.querySelector(".menu [role=menu]") !== null,
		[...document.querySelectorAll(".menu button")].every((b) => b.getAttribute("role") === "menuitem")]),
		[true, true], "roles");
	const at = () => page.evaluate(() => document.activeElement.textContent);
	is(await at(), "Zoom to this frame", "the first has the focus");
	await page.keyboard.press("ArrowDown");
	has(await at(), "Show only main", "down");
	await page.keyboard.press("End");
	is(await at(), "Copy folded line", "the last");
	await page.keyboard.press("ArrowDown");
	is(await at(), "Zoom to this frame", "around");
	await page.keyboard.press("ArrowUp");
	is(await at(), "Copy folded line", "up");
	await page.keyboard.press("Escape");
	is(await page.locator(".menu").count(), 0, "closed");
});

test("roles are as ARIA wants them", async () => {
	const page = await open(render(folded));
	await page.keyboard.press("t");
	is(await page.evaluate(() => [...document.querySelectorAll("[role=menuitem], [role=tab]")]
		.filter((e) => !e.closest(e.getAttribute("role") === "tab" ? "[role=tablist]" : "[role=menu]")).length), 0, "parents");
	is(await page.evaluate(() => [...document.querySelectorAll(".panel th")].map((e) => e.getAttribute("aria-sort"))),
		["descending", "none", null], "the sorted column");
	is(await page.evaluate(() => document.activeElement.closest("[role=dialog]") !== null), true, "the focus is in the table");
	await page.keyboard.press("Escape");
	is(await page.evaluate(() => document.activeElement.getAttribute("aria-label")), "Widest frames (T)", "and goes back");
	is(await page.evaluate(() => document.querySelector("[role=img]")), null, "no picture: its parts can be reached");
});

test("the status line has own time and the share of the zoomed frame", async () => {
	const page = await open(render(folded));
	await click(page, "work");
	has(await status(page), "work (391 samples, 55.9 % of all, own 0 samples)", "after the zoom");
	await hover(page, "sum");
	has(await status(page), "sum (390 samples, 55.7 % of all, 99.7 % of work, own 390 samples)", "under the pointer");
});

test("the next match can be a frame that is too narrow to be drawn", async () => {
	const page = await open(render(["main;wide 9999990", "main;deep;needle 9", "main;far;away;needle;x 3"]));
	is((await labels(page)).includes("needle"), false, "too narrow");
	await page.keyboard.press("/");
	await page.keyboard.type("needle");
	await page.keyboard.press("Enter");
	has(await status(page), "needle (9 samples", "the first");
	is((await labels(page)).includes("needle"), true, "it is drawn now");
	await page.keyboard.press("Enter");
	has(await status(page), "needle (3 samples", "the second, in another part");
	has(await page.evaluate(() => document.querySelector(".share").textContent), "Matched:", "still searching");
});

test("the back button keeps the search", async () => {
	const page = await open(render(folded));
	await click(page, "work");
	await page.keyboard.press("/");
	await page.keyboard.type("pin");
	await page.goBack();
	has(await page.evaluate(() => document.querySelector(".share").textContent), "Matched: 0.14 %, 1 frame", "the search");
	near((await frame(page, "main")).w, 1180 * 691 / 700, 1, "the zoom is undone");
});

test("labels fit their frames, by the glyphs that the browser draws", async () => {
	const names = ["WWWWMMMM@@@@WWWWMMMM", "iiiillll....iiiillllIIII", "\u4e2d\u6587\u51fd\u6570\u540d\u79f0\u5f88\u957f\u5f88\u957f",
		"HashMap<String, Vec<u8>>::insert_or_replace_it", "ALL_CAPITALS_NAME_OF_A_CONSTANT", "caf\u00e9_na\u00efve_fa\u00e7ade",
		"app::service::Handler::method_7", "app::service::Handler::method_8"];
	const lines = [];
	names.forEach((n, k) => { for (let w = 8; w < 40; w += 4) lines.push("t" + k + w + ";" + n + " " + w); });
	for (const options of [[], ["--labels", "start"], ["--labels", "end"], ["--fontsize", "18"]]) {
		const page = await open(render(lines, ...options));
		for (const when of ["still", "alive"]) {
			const over = await page.evaluate(() => [...document.querySelectorAll("#fg-frames text")].map((t) => [t.textContent,
				t.getComputedTextLength() + 3 - Number(t.previousElementSibling.getAttribute("width"))]).filter(([, d]) => d > 0.5));
			is(over, [], when + ", " + options + ": texts beyond their frames");
			await page.keyboard.press("v");
		}
	}
	const bold = await open(render(["WWWWMMMMWWWWMMMM;f;--;w;WWMM;[running] 1", "t;x 9"]));
	is(await bold.evaluate(() => [...document.querySelectorAll("#fg-frames text[font-weight]")].filter((t) =>
		t.getComputedTextLength() > Number(t.previousElementSibling.getAttribute("width"))).length), 0, "bold names");
});

test("labels keep what tells names apart", async () => {
	const page = await open(render(["app::service::Handler::method_7 1", "app::service::Handler::method_8 1",
		"std::vector<int, std::allocator<int> >::push_back(int const&) 2", "x 6"]));
	for (const when of ["still", "alive"]) {
		const l = await labels(page);
		is(l.filter((s) => /method_[78]$/.test(s)).length, 2, when + ": " + l.join(" "));
		is(l.some((s) => /push_back\(\.\.\)$/.test(s)), true, when + ": " + l.join(" "));
		await page.keyboard.press("v");
	}
});

test("the script shortens names as the program does", async () => {
	const names = ["a::b<c<d>>::operator()(int)::h0123456789abcdef", "<T as U>::f(x)", "/usr/lib/x.js:12", "f.constprop.0.isra.3",
		"org.example.Main$1.run", "\u4e2d\u6587(\u51fd\u6570)::x", "operator<<(std::ostream&, T)", "a->b<c>(d)", "[kernel.kallsyms]",
		"<listcomp> (log.py:23)", "Thread._bootstrap_inner (threading.py:1045)", "ThreadPoolExecutor.getTask (ThreadPoolExecutor.java)", "(a b) (c)", "<T> x(..)"];
	const lines = [];
	names.forEach((n, k) => { for (let w = 4; w < 60; w += 3) lines.push("p" + k + "_" + w + ";" + n + " " + w); });
	for (const options of [[], ["--labels", "end"], ["--fontwidth", "0.7"], ["--width", "2400"]]) {
		const page = await open(render(lines, ...options));
		const still = await labels(page);
		await page.keyboard.press("v");
		await page.keyboard.press("v");
		is((await labels(page)).sort(), still.sort(), "labels " + options);
	}
}, "once");

test("without a script the picture is seen as a whole, with its root", async () => {
	const deep = Array.from({ length: 150 }, (_, i) => "f" + i).join(";") + " 1";
	for (const options of [[], ["--inverted"]]) {
		const page = await open(render([deep], ...options), { context: { javaScriptEnabled: false } });
		const seen = await page.evaluate(() => {
			const t = [...document.querySelectorAll("#fg-frames text")].find((e) => e.textContent === "all");
			const r = t.previousElementSibling.getBoundingClientRect();
			return [r.top >= 0, r.bottom <= innerHeight, r.right <= innerWidth, r.width > 20];
		});
		is(seen, [true, true, true, true], "the root " + options);
	}
}, "chromium"); // which tells the style that scripts are off
