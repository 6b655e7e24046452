// SPDX-License-Identifier: GPL-2.0-or-later
// Chain graphs: links, wakers, delimiters, ends.
import { test, render, open, labels, hover, click, frame, is, has, near } from "./harness.mjs";

const folded = [
	"alpha;main;recv;--;wake;send;work;bravo;--;wake;unlock;cwork;charlie;[running] 400",
	"alpha;main;recv;--;wake;send;work;bravo;[running] 390",
	"alpha;main;recv;--;wake;send;work;bravo;[runnable] 10",
	"alpha;main;recv;[runnable] 200",
	"bravo;loop;lock;--;wake;unlock;cwork;charlie;[running] 1000",
];
const timed = ["delta;nap;--;wake;tick;irq_entry;[interrupt] 1000"];

test("a chain graph has its palette, unit and legend by default", async () => {
	const page = await open(render(folded));
	const legend = await page.evaluate(() => [...document.querySelectorAll("#fg-legend text")].map((e) => e.textContent));
	is(legend, ["90 % ran", "11 % no CPU", "off-CPU", "90 % 1st waker", "20 % 2nd"], "legend");
	const fills = await page.evaluate(() => Object.fromEntries([...document.querySelectorAll("#fg-frames text")]
		.map((t) => [t.textContent, t.previousElementSibling.getAttribute("fill")])));
	is(fills["--"], "#101010", "colour of --");
	if (fills.wake === fills.recv || fills["[running]"] === fills.charlie)
		throw new Error("parts are not told apart: " + JSON.stringify(fills));
	has(await hover(page, "alpha"), "1.00 ms, 50.0 % of all", "time in a handy unit");
});

test("the hover text has the link, the waker, and the share of the wait", async () => {
	const page = await open(render(folded));
	const first = await hover(page, "send");
	has(first, "link 1, waker bravo", "first link");
	has(first, "80.0 % of this wait of alpha", "share of the wait");
	const second = await hover(page, "cwork", 1);
	has(second, "link 2, waker charlie", "second link");
	has(second, "40.0 % of this wait of alpha", "share of the wait");
	has(await hover(page, "recv"), "off-CPU stack of alpha", "the stack that slept");
	has(await hover(page, "[running]"), "it waited for the work this waker did", "what an end means");
});

test("a click on -- opens a menu that can zoom to this link", async () => {
	const page = await open(render(folded));
	await click(page, "--", 1);
	await page.getByText("Zoom to this link").click();
	near((await frame(page, "cwork")).w, 1180, 1, "width of the second link");
	is((await labels(page)).filter((s) => s === "[running]").length, 1, "other links are hidden");
});

test("delimiters are never matched by a search", async () => {
	const page = await open(render(folded));
	await page.keyboard.press("Control+f");
	await page.keyboard.type("-");
	is(await page.evaluate(() => document.querySelector(".share").textContent), "Matched: 0 %, 0 frames", "share");
});

test("delimiters are not in the table, and each link keeps its own", async () => {
	const page = await open(render(folded));
	await page.keyboard.press("t");
	const rows = await page.evaluate(() => [...document.querySelectorAll(".panel td:last-child")]
		.map((e) => e.textContent));
	is([rows.includes("charlie"), rows.includes("--")], [true, false], "names in the table");
	is((await labels(page)).filter((s) => s === "--").length, 3, "each wait and each link has its own");
});

test("names of threads are bold", async () => {
	const page = await open(render(folded));
	const bold = () => page.evaluate(() => [...document.querySelectorAll("#fg-frames text[font-weight]")]
		.map((e) => e.textContent).sort().join(" "));
	is(await bold(), "alpha bravo bravo charlie charlie", "in the document");
	await page.keyboard.press("v");
	is(await bold(), "alpha bravo bravo charlie charlie", "after the script has drawn");
});

test("an interrupt is shown as one, and its entry function is not bold", async () => {
	const page = await open(render(timed), { fragment: "#kernel=whole" });
	has(await hover(page, "tick"), "link 1, waker an interrupt", "hover within the link");
	has(await hover(page, "[interrupt]"), "link 1, waker an interrupt", "hover at its end");
	is(await page.evaluate(() => [...document.querySelectorAll("#fg-frames text[font-weight]")]
		.map((e) => e.textContent)), ["delta"], "names that stand out");
});

test("a waker whose own stack is shown has its name in the hover text", async () => {
	const page = await open(render([
		"a;main;--;wake;-;send;bravo;-;main;read;-;sys_read;__schedule;--;wake;kw;-;kthread;__schedule;[running] 500",
	]));
	has(await hover(page, "send"), "link 1, waker bravo", "of a process");
	has(await hover(page, "wake", 1), "link 2, waker kw", "of a kernel thread");
});

test("a chain graph taller than the window is scrolled to its root", async () => {
	const deep = "alpha;" + Array.from({ length: 80 }, (_, i) => "f" + i).join(";") + ";--;wake;bravo;[running] 5";
	const bottom = (page) => page.evaluate(() => Math.round(innerHeight + scrollY -
		document.documentElement.getBoundingClientRect().height));
	is(await bottom(await open(render([deep]))), 0, "scrolled to the lower edge");
	const scrolled = async (svg, at) => (await open(svg, at)).evaluate(() => scrollY);
	is(await scrolled(render([deep], "--inverted")), 0, "root on top");
	is(await scrolled(render([deep]), { fragment: "#flip=1" }), 0, "turned by the URL");
	is(await scrolled(render([deep.replace("--", "x")])), 0, "no chain");
});

test("an icicle chain graph has the legend, links and wakers", async () => {
	const page = await open(render(folded, "--inverted"));
	is(await page.evaluate(() => [...document.querySelectorAll("#fg-legend text")].map((e) => e.textContent)),
		["90 % ran", "11 % no CPU", "off-CPU", "90 % 1st waker", "20 % 2nd"], "legend");
	has(await hover(page, "cwork", 1), "link 2, waker charlie", "hover");
	if (!((await frame(page, "alpha")).y < (await frame(page, "recv")).y))
		throw new Error("the root is not on top");
});

test("merged from the leaves, chains show no links", async () => {
	for (const palette of [[], ["--colors", "chain"]]) {
		const page = await open(render(folded, "--reverse", ...palette));
		is(await page.evaluate(() => document.querySelectorAll("#fg-legend").length), 0, "legends");
		const text = await hover(page, "charlie");
		has(text, "of all", "hover");
		if (/link|waker|wait of/.test(text))
			throw new Error("hover speaks of links: " + text);
		const fill = () => page.evaluate(() => [...document.querySelectorAll("#fg-frames rect")]
			.map((r) => r.getAttribute("fill")).sort().join(" "));
		const still = await fill();
		await page.keyboard.press("v");
		is(await fill(), still, "colours when the script draws");
		is((await labels(page)).includes("[running]"), true, "the ends are at the root");
	}
});

const legendOf = (page) => page.evaluate(() => [...document.querySelectorAll("#fg-legend text")]
	.filter((e) => e.getClientRects().length && e.previousElementSibling.getClientRects().length).map((e) => e.textContent));

test("the legend counts nested objects once, and follows the filters", async () => {
	const svg = render([
		"alpha;main;wait;[epoll];[tcp 10.0.0.5:5432];-;entry;--;wake;send;bravo;[running] 60",
		"alpha;main;wait;[epoll];-;entry;--;tick;[timer] 20",
		"charlie;main;recv;[runnable] 20",
	]);
	const page = await open(svg);
	const whole = ["60 % ran", "20 % timer", "20 % no CPU", "off-CPU", "80 % 1st waker", "80 % object"];
	is(await legendOf(page), whole, "the whole graph");
	is(await legendOf(await open(svg, { context: { javaScriptEnabled: false } })), whole, "without the script");
	await clickLegend(page, "timer");
	await clickLegend(page, "timer");
	is(await legendOf(page), ["60 % ran", "0 % timer", "20 % no CPU", "off-CPU", "60 % 1st waker", "60 % object"], "without timers");
	await clickLegend(page, "timer");
	await page.selectOption("select[aria-label='Show one thread']", "charlie");
	is(await legendOf(page), ["20 % no CPU", "off-CPU"], "one thread: what has next to nothing of it is no part of the sentence");
	const saved = await page.evaluate(() => document.querySelector("#fg-legend rect:not([hidden])").getAttribute("x"));
	is(Number(saved) > 300, true, "what is left is in the middle: " + saved);
	await page.goBack();
	await page.keyboard.press("r");
	is(await legendOf(page), ["ran", "timer", "no CPU", "off-CPU", "1st waker", "object"], "merged from the leaves there are no links");
});

const clickLegend = (page, text) => page.locator("#fg-legend text", { hasText: text }).click();
const hash = (page) => page.evaluate(() => decodeURIComponent(location.hash));

test("the legend keeps one end, hides it, and shows all again", async () => {
	const page = await open(render(folded));
	await clickLegend(page, "no CPU");
	is([(await labels(page)).includes("[running]"), (await labels(page)).filter((s) => /^\[runn/.test(s)).length], [false, 2], "only this end");
	near((await frame(page, "alpha")).w, 1180, 1, "of alpha alone");
	has(await hover(page, "alpha"), "210 µs, 10.5 % of all", "the share is that of all");
	is(await hash(page), "#only=[runnable]", "in the address");
	await clickLegend(page, "no CPU");
	is((await labels(page)).includes("[runnable]"), false, "all but this end");
	await clickLegend(page, "no CPU");
	is(await hash(page), "", "all");
	await clickLegend(page, "2nd");
	is((await labels(page)).includes("charlie"), true, "chains of two wakers");
	near((await frame(page, "alpha")).w, 1180, 1, "only those");
	await page.locator("#fg-legend text", { hasText: "2nd" }).focus();
	await page.keyboard.press("Enter");
	is((await labels(page)).filter((s) => s === "charlie").length, 1, "all but those, by the keyboard");
});

test("the table says who ended the waiting and what was waited for", async () => {
	const page = await open(render([
		"alpha;main;read;[tcp 10.0.0.5:5432];-;entry;--;wake;send;bravo;[running] 600",
		"alpha;main;read;[file /x];-;entry;--;wake;irq;[disk vda read];[device] 250",
		"alpha;main;read;[file /x];-;entry;--;wake;irq;[disk vda read];[queued] 50",
		"charlie;main;[futex];-;entry;--;wake;unlock;bravo;--;wake;alpha;[running] 100",
	]));
	is(await page.evaluate(() => [...document.querySelectorAll("#fg-legend text")].map((e) => e.textContent)),
		["70 % ran", "30 % disk", "25 % device", "5 % queued", "off-CPU", "100 % 1st waker", "10 % 2nd", "100 % object"], "legend");
	const rows = () => page.evaluate(() => [...document.querySelectorAll(".panel tr")].slice(1)
		.map((r) => [...r.children].map((c) => c.textContent).join(" ")));
	await page.keyboard.press("t");
	await page.getByRole("tab", { name: "By waker" }).click();
	is(await rows(), ["70.0 % bravo", "30.0 % [disk vda read]"], "who ended it");
	await page.getByRole("tab", { name: "By object" }).click();
	is(await rows(), ["60.0 % [tcp 10.0.0.5:5432]", "30.0 % [file /x]", "10.0 % [futex]"], "what for");
	await page.keyboard.press("Escape");
	await clickLegend(page, "disk");
	near((await frame(page, "[disk vda read]")).w, 1180, 1, "only the disk");
	await clickLegend(page, "queued");
	near((await frame(page, "[queued]")).w, 1180, 1, "only what was queued");
});

test("the socket above the network is no end, and not what was waited for", async () => {
	const page = await open(render([
		"alpha;main;ask;[unix /s];-;entry;--;wake;send;bravo;--;wake;irq;[network];[tcp 10.0.0.5:5432] 600",
		"alpha;main;ask;[unix /s];-;entry;--;wake;irq;[network] 300",
		"alpha;main;ask;[unix /s];-;entry;--;wake;send;bravo;[running] 100",
	]));
	is(await page.evaluate(() => [...document.querySelectorAll("#fg-legend text")].map((e) => e.textContent)),
		["90 % network", "10 % ran", "off-CPU", "100 % 1st waker", "60 % 2nd", "100 % object"], "legend");
	const rows = () => page.evaluate(() => [...document.querySelectorAll(".panel tr")].slice(1)
		.map((r) => [...r.children].map((c) => c.textContent).join(" ")));
	await page.keyboard.press("t");
	await page.getByRole("tab", { name: "By waker" }).click();
	is(await rows(), ["70.0 % bravo", "30.0 % [network]"], "who ended it");
	await page.getByRole("tab", { name: "By object" }).click();
	is(await rows(), ["100 % [unix /s]"], "what for");
	await page.keyboard.press("Escape");
	await clickLegend(page, "network");
	is((await labels(page)).includes("[running]"), false, "only the network");
	is((await labels(page)).includes("[tcp 10.0.0.5:5432]"), true, "with its socket");
});

test("the frame of generated code is no object", async () => {
	const page = await open(render(["alpha;main;[anon];read;[pipe];-;entry;--;wake;[anon];send;bravo;[running] 9"]));
	const fills = await page.evaluate(() => [...document.querySelectorAll("#fg-frames text")]
		.filter((t) => /^\[(anon|pipe)/.test(t.textContent)).map((t) => t.previousElementSibling.getAttribute("fill")));
	is(new Set(fills).size, 3, "colours of a sleeper's code, a waker's code, and the pipe");
	await page.keyboard.press("t");
	await page.getByRole("tab", { name: "By object" }).click();
	is(await page.evaluate(() => [...document.querySelectorAll(".panel td:last-child")].map((e) => e.textContent)), ["[pipe]"], "objects");
});

test("samples above [running] are green, on-CPU stacks warm", async () => {
	const page = await open(render([
		"alpha;main;recv;--;wake;bravo;[running];main;deflate 70",
		"alpha;main;recv;--;wake;bravo;[running];main;[unknown] 30",
		"alpha;[on-CPU];main;loop 50",
	]));
	const fills = () => page.evaluate(() => Object.fromEntries([...document.querySelectorAll("#fg-frames text")]
		.map((t) => [t.textContent, t.previousElementSibling.getAttribute("fill")])));
	const rgb = (s) => s.slice(1).match(/../g).map((x) => parseInt(x, 16));
	for (const when of ["still", "alive"]) {
		const f = await fills(), [r, g, b] = rgb(f.deflate), [r2, g2, b2] = rgb(f.loop);
		is([g > r && g > b, r2 > g2 && g2 > b2], [true, true], when + ": " + f.deflate + " " + f.loop);
		await page.keyboard.press("v");
	}
	is(await page.evaluate(() => [...document.querySelectorAll("#fg-legend text")].map((e) => e.textContent)),
		["67 % ran", "33 % on CPU", "off-CPU", "67 % 1st waker", "sample"], "legend: no end is unknown");
	has(await hover(page, "wake"), "waker bravo", "the waker");
	has(await hover(page, "deflate"), "link 1, waker bravo", "the waker that ran this");
	is((await hover(page, "deflate")).includes("waker deflate"), false, "a function is no waker");
	has(await hover(page, "loop"), "CPU time of alpha", "own time");
	await clickLegend(page, "on CPU");
	is([(await labels(page)).includes("loop"), (await labels(page)).includes("deflate")], [true, false], "only own time");
});

test("who had the CPU is warm, and belongs to [runnable]", async () => {
	const page = await open(render([
		"alpha;main;recv;[runnable];gzip 30",
		"alpha;main;recv;[runnable];[throttled] 30",
		"alpha;main;recv;[runnable];[idle CPU] 20",
		"alpha;main;recv;[runnable];[no events] 20",
		"alpha;main;recv;--;wake;irq;[interrupt] 100",
	]));
	is(await page.evaluate(() => [...document.querySelectorAll("#fg-legend text")].map((e) => e.textContent)),
		["50 % interrupt", "50 % no CPU", "15 % throttled", "off-CPU", "50 % 1st waker", "on CPU"], "legend");
	const fills = await page.evaluate(() => Object.fromEntries([...document.querySelectorAll("#fg-frames text")]
		.map((t) => [t.textContent, t.previousElementSibling.getAttribute("fill")])));
	is([fills["[idle CPU]"] === fills["[runnable]"], fills["[no events]"] === fills["[runnable]"], fills.gzip === fills.recv],
		[true, true, false], "colours");
	has(await hover(page, "[no events]"), "the whole machine stood still", "what it means");
	has(await hover(page, "[idle CPU]"), "nobody had the CPU", "what that means");
	has(await hover(page, "gzip"), "had the CPU that alpha waited for", "whose time it is");
	await clickLegend(page, "throttled");
	near((await frame(page, "[throttled]")).w, 1180, 1, "only what a quota took");
	await clickLegend(page, "throttled");
	is((await labels(page)).filter((s) => s === "[throttled]").length, 0, "without it");
	near((await frame(page, "[runnable]")).w, 1180 * 70 / 170, 1, "the rest of it is there");
});

const kernel = [
	"cart;main;read;[tcp 10.0.0.5:80];-;entry_SYSCALL_64_after_hwframe;do_syscall_64;__x64_sys_read;tcp_recvmsg;sk_wait_data;wait_woken;schedule_timeout;schedule;__schedule;--;try_to_wake_up;__wake_up_common;sock_def_readable;tcp_rcv;__x64_sys_write;do_syscall_64;entry_SYSCALL_64_after_hwframe;-;write;answer;nginx;[running] 700",
	"cart;main;nap;[sleep];-;entry_SYSCALL_64_after_hwframe;do_syscall_64;do_nanosleep;--;try_to_wake_up;hrtimer_wakeup;__hrtimer_run_queues;asm_sysvec;[timer] 300",
];

test("a chain opens with what stands in every chain folded, on both sides, and one key shows everything", async () => {
	const page = await open(render(kernel)), l = await labels(page);
	is(["entry_SYSCALL_64_after_hwframe", "do_syscall_64", "tcp_recvmsg", "wait_woken", "__schedule", "try_to_wake_up", "__wake_up_common", "tcp_rcv", "__hrtimer_run_queues"]
		.filter((s) => l.includes(s)), [], "folded");
	is(["cart", "read", "sk_wait_data", "do_nanosleep", "sock_def_readable", "hrtimer_wakeup", "write", "answer", "nginx", "[running]", "[timer]"]
		.filter((s) => !l.includes(s)), [], "kept");
	has(await hover(page, "nginx"), "70.0 % of all", "shares stay");
	await page.keyboard.press("k");
	is([(await labels(page)).includes("do_syscall_64"), await hash(page)], [true, "#kernel=whole"], "everything");
	await page.getByText("Everything").click();
	is([(await labels(page)).includes("do_syscall_64"), await hash(page)], [false, ""], "folded again");
});

const threads = [
	"a;_start;__libc_start_main_impl;main;[libx.so+0x10];[libx.so+0x20];poll;[poll];--;wake;[libx.so+0x30];[liby.so+0x8];start_thread;clone3;worker;[running];_start;main;sum 10",
	"a;_start;__libc_start_main_impl;main;[libx.so+0x11];[libx.so+0x21];read;[tcp];[timer] 25",
	"clone;[unknown];[unknown];[unknown];nap;[timer] 30",
];

test("a chain opens at the widest, without how threads start, and nameless functions of a file are one", async () => {
	const page = await open(render(threads)), l = await labels(page);
	is(l.filter((s) => /_start|clone3|start_thread/.test(s)), [], "starts");
	is(l.filter((s) => /0x/.test(s)), [], "nameless ones by address");
	is(["[libx.so]", "[liby.so]", "[unknown]"].map((s) => l.filter((t) => t === s).length), [2, 1, 1], "and by file");
	is(["worker", "clone", "main", "sum", "poll", "read"].filter((s) => !l.includes(s)), [], "kept");
	is((await frame(page, "a")).x < (await frame(page, "clone")).x, true, "a is wider than clone");
	is((await frame(page, "read")).x < (await frame(page, "poll")).x, true, "read is wider than poll");
	is((await frame(page, "[libx.so]")).w > 0.5 * 1180, true, "the frames of one file are one");
	await page.keyboard.press("k");
	is(["__libc_start_main_impl", "[libx.so+0x10]", "[libx.so+0x11]", "clone3"].filter((s) => !l.includes(s)).length, 4, "they were folded");
	const all = await labels(page);
	is(["__libc_start_main_impl", "[libx.so+0x10]", "[libx.so+0x11]", "clone3"].filter((s) => !all.includes(s)), [], "one key shows them");
});

const wholeMachine = [
	"kworker/0:1;ret_from_fork;kthread;worker_thread;schedule;__schedule;--;try_to_wake_up;hrtimer_wakeup;asm_sysvec;[interrupt] 300",
	"ksoftirqd/0;ret_from_fork;kthread;smpboot_thread_fn;schedule;[runnable] 50",
	"ksoftirqd/0;ret_from_fork;kthread;smpboot_thread_fn;schedule;__schedule;--;try_to_wake_up;wake;cart;[running] 100",
	"worker;main;nap;[sleep];-;do_nanosleep;schedule;__schedule;--;try_to_wake_up;hrtimer_wakeup;asm_sysvec;[timer] 200",
	"worker;main;mutex_lock;[futex];-;futex_wait;schedule;__schedule;--;try_to_wake_up;hrtimer_wakeup;asm_sysvec;[timer] 40",
	"worker;main;read;[tcp];-;sk_wait_data;schedule;__schedule;--;try_to_wake_up;hrtimer_wakeup;asm_sysvec;[timer] 30",
	"cart;main;recv;[tcp];-;sk_wait_data;schedule;__schedule;--;try_to_wake_up;unlock;worker;--;try_to_wake_up;hrtimer_wakeup;asm_sysvec;[timer] 180",
];

test("a picture of a whole machine opens without what nobody waited for, which one key shows", async () => {
	const page = await open(render(wholeMachine));
	const width = async (s) => (await labels(page)).includes(s) ? Math.round((await frame(page, s)).w) : 0;
	is(["kworker/0:1", "nap", "worker_thread"].filter((s) => wholeMachine.join().includes(s)).length, 3, "they are in the file");
	is((await labels(page)).filter((s) => /^(kworker\/0:1|nap|worker_thread)$/.test(s)), [], "left out");
	for (const [who, us] of [["cart", 180], ["ksoftirqd/0", 50], ["worker", 70], ["mutex_lock", 40], ["read", 30]])
		near(await width(who), 1180 * us / 300, 2, who + " waited for somebody, or for a CPU");
	has(await page.evaluate(() => document.querySelector(".chips").textContent), "without the 66.7 % that nobody waited for", "it is said");
	has(await hover(page, "cart"), "60.0 % of all", "of what is shown");
	const legend = () => page.evaluate(() => [...document.querySelectorAll("#fg-legend text:not([hidden])")].map((e) => e.textContent));
	is((await legend()).includes("83 % timer"), true, "in the legend, too");
	await page.keyboard.press("t");
	is(await page.evaluate(() => [...document.querySelectorAll(".panel td:last-child")].map((e) => e.textContent).includes("nap")), false, "and in the table");
	await page.keyboard.press("Escape");
	await page.keyboard.press("k");
	near(await width("nap"), 1180 * 200 / 900, 1, "everything");
	is(await page.locator(".chips button").count(), 0, "nothing is left out");
	await page.keyboard.press("k");
	is(await width("nap"), 0, "and back");
	await page.locator(".chips button").click();
	is(await hash(page), "#kernel=whole", "a click on what is said shows everything, too");
	// A thread that only waits for work has all of its time.
	await page.evaluate(() => { location.hash = "#thread=kworker%2F0%3A1"; });
	await page.waitForFunction(() => document.querySelector("select[aria-label='Show one thread']").value);
	near(await width("kworker/0:1"), 1180, 1, "alone");
	// Of programs alone, a pause is where their time went.
	const alone = await open(render(wholeMachine.filter((s) => !s.startsWith("k"))));
	is((await labels(alone)).includes("nap"), true, "without threads of the kernel");
});

test("the legend is by share of what is shown, and stays in its order while an entry is chosen", async () => {
	const page = await open(render(["kworker/0:1;worker_thread;schedule;--;wake;nginx;[running] 500",
		"cart;main;read;[tcp];-;sk_wait_data;schedule;--;wake;nginx;[running] 100", "cart;main;read;[tcp];-;sk_wait_data;schedule;[runnable] 300",
		"cart;main;nap;-;hrtimer_nanosleep;schedule;--;try_to_wake_up;hrtimer_wakeup;asm_sysvec;[timer] 100"]));
	const legend = async () => (await page.evaluate(() => [...document.querySelectorAll("#fg-legend text:not([hidden])")]
		.sort((a, b) => a.getAttribute("x") - b.getAttribute("x")).map((e) => e.textContent))).filter((s) => / (ran|timer|no CPU)$/.test(s));
	is(await legend(), ["75 % no CPU", "25 % ran"], "without what nobody waited for");
	await clickLegend(page, "no CPU");
	await clickLegend(page, "no CPU");
	is(await legend(), ["0 % no CPU", "25 % ran"], "an entry that is clicked stays where it is");
	await clickLegend(page, "no CPU");
	is(await legend(), ["75 % no CPU", "25 % ran"], "all again");
	await page.keyboard.press("k");
	is(await legend(), ["60 % ran", "30 % no CPU", "10 % timer"], "everything: as it was written");
});

// Threads of a pool, one of which has a name that another program's thread has, too.
const pools = [
	"pool-1;run;take;[futex];-;futex_wait;schedule;[runnable] 100",
	"pool-2;run;take;[futex];-;futex_wait;schedule;[runnable] 100",
	"main;run;join;[futex];-;futex_wait;schedule;[runnable] 40",
	"java;run;join;[futex];-;futex_wait;schedule;[runnable] 60",
	"cart;main;read;[tcp];-;sk_wait_data;schedule;--;wake;nginx;[running] 500",
	"[note] process;java;pool-1 0", "[note] process;java;pool-2 0", "[note] process;java;java 0",
	"[note] process;java;main 0", "[note] process;other;main 0", "[note] process;java;of no frame 0", "[note] process;no two parts 0", "[note] process;a;b;c 0", // of nothing here
];

test("a picture of several programs groups threads by process, and one key shows them one by one", async () => {
	const svg = render(pools), page = await open(svg), heads = async () => (await page.evaluate(() =>
		[...document.querySelectorAll("#fg-frames text[aria-level='2']")].map((t) => t.textContent)));
	is(await heads(), ["cart", "java: threads", "main"], "widest first; main is of two processes");
	near((await frame(page, "java: threads")).w, 1180 * 260 / 800, 1, "all that are java's alone");
	near((await frame(page, "pool-*")).w, 1180 * 200 / 800, 1, "threads that have numbers are one");
	is((await frame(page, "pool-*")).y < (await frame(page, "java: threads")).y, true, "on it");
	has(await hover(page, "java: threads"), "Threads of java.", "what it is");
	has(await hover(page, "pool-*"), "pool-* waited for a lock", "threads are told of as before");
	is(await page.evaluate(() => [...document.querySelectorAll("#fg-frames text")].filter((t) => t.getAttribute("font-weight") === "bold").map((t) => t.textContent)).then((l) => l.sort()),
		["cart", "java", "main", "nginx", "pool-*"], "names of threads are bold");
	is(await page.evaluate(() => [...document.querySelectorAll("[id^=fg-remark]")].map((t) => t.textContent)), [], "no remarks");
	// Links have no groups: they lead to the same frames in both views.
	await click(page, "take");
	is(await hash(page), "#path=pool-*;run;take", "the path");
	is((await heads()).length, 1, "zoomed");
	await page.keyboard.press("Escape");
	await page.keyboard.press("k");
	is(await heads(), ["cart", "pool-1", "pool-2", "java", "main"], "everything");
	for (const [path, want] of [["pool-2;run;take", "take"], ["java: threads", "java: threads"], ["java;run", "run"]]) {
		const q = await open(svg, { fragment: "#path=" + encodeURIComponent(path) });
		is(await q.evaluate(() => [...document.querySelectorAll("#fg-frames text.above")].length > 0), true, path + " is zoomed to");
		has(await q.evaluate(() => document.querySelector("[role=status]").textContent), want, path);
	}
	await page.evaluate(() => { location.hash = "#thread=pool-1"; });
	await page.waitForFunction(() => document.querySelector("select[aria-label='Show one thread']").value);
	is(await heads(), ["pool-1"], "a thread alone");
});

// Two programs with threads of one name: where their stacks tell them apart, they are in the groups of both.
test("threads of one name are grouped by program as far as their stacks tell whose they are", async () => {
	const page = await open(render([
		"worker;start;run;take;[futex];-;futex_wait;schedule;[runnable] 100",
		"worker;start;evaluate;sleep;-;do_nanosleep;schedule;[runnable] 200",
		"worker;start;-;exit_signals;schedule;[runnable] 60",
		"worker-2;start;run;take;[futex];-;futex_wait;schedule;[runnable] 40",
		"python;evaluate;sleep;-;do_nanosleep;schedule;[runnable] 30", "java;run;join;-;futex_wait;schedule;[runnable] 20",
		"cart;main;read;[tcp];-;sk_wait_data;schedule;--;wake;nginx;[running] 550",
		"[note] process;java;worker;start;run 0", "[note] process;python;worker;start;evaluate 0", "[note] process;java;worker-2 0",
		"[note] process;java;java 0", "[note] process;python;python 0", "[note] process;gone;worker;start;of no frame 0",
	]));
	const heads = () => page.evaluate(() => [...document.querySelectorAll("#fg-frames text[aria-level='2']")].map((t) => t.textContent));
	is(await heads(), ["cart", "python: threads", "java: threads", "worker"], "the groups, and of what it is not known");
	near((await frame(page, "python: threads")).w, 1180 * 230 / 1000, 1, "python's");
	near((await frame(page, "java: threads")).w, 1180 * 160 / 1000, 1, "java's");
	is((await frame(page, "run")).y < (await frame(page, "java: threads")).y, true, "the stack is on it");
	has(await hover(page, "evaluate"), "worker", "whose it is");
	await page.keyboard.press("k");
	is((await heads()).slice(0, 2), ["cart", "worker"], "everything: as the lines are");
	near((await frame(page, "worker")).w, 1180 * 360 / 1000, 1, "one");
});

// A process that ends has no user stack any more; what it ran is above its end, and with --blocked-stacks where it slept.
const exiting = [
	"sh;wait;-;do_syscall_64;__x64_sys_wait4;do_wait;schedule;--;try_to_wake_up;__wake_up_common;do_notify_parent;do_exit;__x64_sys_exit_group;do_syscall_64;cc1plus;[running];main;parse;-;asm_exc_page_fault;clear_page 400",
	"sh;wait;-;do_syscall_64;__x64_sys_wait4;do_wait;schedule;--;try_to_wake_up;__wake_up_common;do_notify_parent;do_exit;__x64_sys_exit_group;do_syscall_64;cc1plus;-;do_syscall_64;io_wait;schedule;--;try_to_wake_up;end_bio;asm_common_interrupt;[disk vda read] 200",
	"sh;wait;-;do_syscall_64;__x64_sys_wait4;do_wait;schedule;--;try_to_wake_up;worker;kworker/0:1;[running] 100",
];

test("a waker's name is never folded, also of one whose stack is the kernel's alone", async () => {
	const page = await open(render(exiting));
	const l = await labels(page);
	is(["try_to_wake_up", "__wake_up_common", "do_exit"].filter((s) => l.includes(s)), [], "folded");
	is(["do_wait", "do_notify_parent", "cc1plus", "kworker/0:1", "worker"].filter((s) => !l.includes(s)), [], "kept");
	has(await hover(page, "do_notify_parent"), "cc1plus woke it", "who woke it");
});

test("the hover text is a sentence, the status bar says it, and readers get a tree", async () => {
	const page = await open(render(kernel));
	has(await hover(page, "read"), "cart waited in read for a TCP socket; nginx woke it.", "the sleeper");
	has(await page.evaluate(() => document.querySelector("[role=status]").textContent), "nginx woke it.", "the status bar");
	has(await hover(page, "answer"), "cart waited for a TCP socket in read; nginx woke it in answer.", "the waker");
	has(await hover(page, "nap"), "cart waited in nap for time to pass; a timer woke it.", "a timer");
	has(await hover(page, "main"), "cart waited in main for a TCP socket (read); nginx woke it (70.0 % of this frame).", "of the widest chain");
	has(await hover(page, "--"), "Above this: who ended the wait; its stack stands upside down", "how a waker is read");
	has(await hover(page, "-"), "Between functions of the program and of the kernel", "what - is");
	await page.keyboard.press("ArrowUp");
	is(await page.evaluate(() => document.getElementById(document.activeElement.getAttribute("aria-activedescendant")).textContent), "all", "where the focus is");
	const item = await page.evaluate(() => {
		const t = [...document.querySelectorAll("[role=tree] [role=treeitem]")].find((e) => e.textContent === "read");
		return [t.getAttribute("aria-level"), t.getAttribute("aria-label")];
	});
	is(item, ["4", "read, 70.0 %"], "level, name, share");
});

test("times and percentages are written the same way in titles, legend, hover, status, table, panel and saved picture", async () => {
	const page = await open(render(["alpha;main;recv;--;wake;send;work;bravo;[running] 1234567", "alpha;main;recv;--;wake;send;work;bravo;[runnable] 89",
		"delta;nap;--;tick;[timer] 432100"]));
	const said = [await page.evaluate(() => [...document.querySelectorAll("#fg-frames title, #fg-legend text, desc")].map((e) => e.textContent).join("\n"))];
	for (const name of ["alpha", "send", "delta", "nap"])
		said.push(await hover(page, name), await page.evaluate(() => document.querySelector("[role=status]").textContent));
	await page.keyboard.press("t");
	said.push(await page.evaluate(() => document.querySelector(".panel").textContent));
	await page.evaluate(() => { location.hash = "#beside=send&search=send"; });
	await page.waitForFunction(() => document.querySelector(".panel h2")?.textContent === "send");
	said.push(await page.evaluate(() => document.querySelector(".panel").textContent + document.querySelector(".share").textContent));
	const all = said.join("\n");
	is(all.match(/\d%|\d us|[\d,]{5,} (us|ms)|\d\.\d{3,}|\d\d\.\d\d /g), null, "other styles");
	for (const figure of ["1.23 s", "432 ms", "74.1 %", "0.01 %", "74 % ran"])
		has(all, figure, "there is");
	has(await hover(await open(render(["a;x;--;w;b;[running] 89"])), "x"), "89.0 µs, 100 % of all, own 0", "few, of a chain graph's usual unit");
});

test("a waker's frames have one edge, up to its name", async () => {
	const page = await open(render(folded));
	const edges = () => page.evaluate(() => [...document.querySelectorAll("#fg-frames path.side")].map((e) => e.getAttribute("d").split("M").length - 1)
		.reduce((a, b) => a + b, 0));
	const wakers = (await labels(page)).filter((s) => /^(wake|send|work|bravo|unlock|cwork|charlie)$/.test(s)).length;
	is(await edges(), wakers - 1, "each frame of a waker, not the name of bravo's own wait");
	await page.keyboard.press("v");
	is(await edges(), wakers - 1, "as the script draws it");
});

test("the root stays in view, subtitle and ring agree with the picture", async () => {
	const deep = (who, end) => who + ";" + Array.from({ length: 60 }, (_, i) => "f" + i).join(";") + ";--;wake;b" + who + ";" + end;
	const page = await open(render([deep("alpha", "[running] 50"), deep("charlie", "[timer] 30"), "delta;nap;[runnable] 20"]));
	const inView = async (what) => {
		await page.waitForFunction(() => {
			const t = [...document.querySelectorAll("#fg-frames text")].find((e) => e.textContent === "all"), r = t.getBoundingClientRect();
			return r.top >= 0 && r.bottom <= document.querySelector(".bar > div").getBoundingClientRect().top + 1;
		}, undefined, { timeout: 5000 }).catch(() => { throw new Error("the root is not in view: " + what); });
	};
	const subtitle = () => page.evaluate(() => document.querySelector("#fg-subtitle").textContent);
	await inView("at first");
	await page.keyboard.press("v");
	await inView("root on top");
	has(await subtitle(), "Top: who waited", "turned");
	await page.keyboard.press("v");
	await inView("root below");
	has(await subtitle(), "Bottom: who waited", "turned back");
	await page.keyboard.press("r");
	await inView("merged from the leaves");
	has(await subtitle(), "Merged from the leaves", "how to read that");
	await page.goBack();
	await inView("back");
	await page.evaluate(() => scrollTo(0, 0));
	await clickLegend(page, "timer");
	await inView("filtered");
	await page.keyboard.press("ArrowUp");
	await page.keyboard.press("ArrowUp");
	await clickLegend(page, "timer");
	await page.waitForFunction(() => ![...document.querySelectorAll("#fg-frames text")].some((e) => e.textContent === "charlie"));
	await clickLegend(page, "timer");
	await page.waitForFunction(() => [...document.querySelectorAll("#fg-frames text")].some((e) => e.textContent === "charlie"));
	const rings = await page.evaluate(() => {
		const ring = document.querySelector(".ring"), t = [...document.querySelectorAll("#fg-frames text")].find((e) => e.textContent === "charlie");
		const a = ring.getBoundingClientRect(), b = t.previousElementSibling.getBoundingClientRect();
		return ring.getAttribute("visibility") === "hidden" || (Math.abs(a.x - b.x) < 3 && Math.abs(a.y - b.y) < 3);
	});
	is(rings, true, "the ring goes with its frame");
	await click(page, "delta");
	await inView("zoomed");
});

test("the table opens on own time, not on how programs start, and opening it keeps the root in view", async () => {
	const deep = Array.from({ length: 70 }, (_, i) => "f" + i).join(";");
	const starts = (lines) => render(lines.map((s) => s.replace("main;", "_start;__libc_start_main;main;")));
	const chains = starts(["alpha;main;" + deep + ";read;[tcp 10.0.0.5:80];-;sk_wait_data;--;sock_def_readable;-;write;answer;main;bravo;[running] 700",
		"alpha;main;nap;[sleep];-;do_nanosleep;--;hrtimer_wakeup;[timer] 300"]);
	for (const [svg, most, fragment] of [[starts(["main;" + deep + ";work 60", "main;parse 40"]), "work", ""], [chains, "[running]", "#kernel=whole"]]) {
		const page = await open(svg, { fragment });
		is((await labels(page)).includes("__libc_start_main"), true, "it is there, and as wide as anything");
		const root = () => page.evaluate(() => {
			const t = [...document.querySelectorAll("#fg-frames text")].find((e) => e.textContent === "all").getBoundingClientRect();
			return t.top >= 0 && t.bottom <= document.querySelector(".bar > div").getBoundingClientRect().top + 1;
		});
		if (svg === chains)
			await page.waitForFunction(() => scrollY > 0); // chains open at their root
		await page.evaluate(() => scrollTo(0, 0));
		is([await page.evaluate(() => document.documentElement.getBoundingClientRect().height > 1.3 * innerHeight), await root()], [true, false], most + ": taller than the window");
		await page.keyboard.press("t");
		const rows = await page.evaluate(() => [...document.querySelectorAll(".panel td:last-child")].map((e) => e.textContent));
		is(rows[0], most, "the first row");
		is(await page.evaluate(() => document.querySelector(".panel [aria-sort=descending]").textContent), "Self \u25be", "by own time");
		is(rows.indexOf("__libc_start_main") > 1, true, "which a start has none of: " + rows.slice(0, 4));
		await page.waitForFunction(() => !!document.querySelector(".panel"));
		is(await root(), true, most + ": the root is in view");
	}
});

test("only ends have the colours of ends: functions may have such names", async () => {
	const page = await open(render([
		"alpha;[unknown];recv;[running];--;wake;[timer];bravo;[running];work;[unknown] 60",
		"alpha;main;recv;--;wake;bravo;[timer] 30",
		"alpha;main;[unknown] 10",
	]), { context: { viewport: { width: 1300, height: 800 } } });
	const rows = () => page.evaluate(() => {
		const list = [...document.querySelectorAll("#fg-frames text")].map((t) => ({ name: t.textContent,
			y: Math.round(t.previousElementSibling.getBoundingClientRect().y), x: t.previousElementSibling.getBoundingClientRect().x,
			fill: t.previousElementSibling.getAttribute("fill"), bold: t.getAttribute("font-weight") === "bold" }));
		return list.sort((a, b) => b.y - a.y || a.x - b.x);
	});
	const UNKNOWN = "#7c8782", TIMER = "#c46965", RUNNING = "#7d9c18";
	const colours = async (when) => {
		const list = await rows(), all = (name) => list.filter((f) => f.name === name);
		is(all("[unknown]").map((f) => f.fill === UNKNOWN), [false, true, false], when + ": in the stack, at its end, a sample");
		is(all("[timer]").map((f) => f.fill === TIMER).sort(), [false, true], when + ": in the waker's stack, at the end");
		is(all("[running]").map((f) => f.fill === RUNNING), [false, true], when + ": in the sleeper's stack, the end");
		is(list.filter((f) => f.bold).map((f) => f.name), ["alpha", "bravo"], when + ": threads; a timer's link has none");
	};
	await colours("alive");
	await page.evaluate(() => { location.hash = "#hide=nothing"; });
	await page.waitForFunction(() => document.querySelector(".chips button"));
	await colours("another view");
	is(await page.evaluate(() => [...document.querySelectorAll("#fg-legend text")].map((e) => e.textContent)),
		["60 % ran", "30 % timer", "10 % unknown", "off-CPU", "90 % 1st waker", "sample"], "legend");
	await page.evaluate(() => { location.hash = "#leaves=1"; });
	await page.waitForFunction(() => document.querySelector("[aria-pressed=true]"));
	is((await rows()).some((f) => f.name === "[timer]" && f.fill === TIMER), true, "merged from the leaves, ends are ends");
});

test("the legend and the headings of the picture wrap without the script", async () => {
	const ends = ["interrupt", "timer", "network", "running", "runnable", "preempted", "not woken", "depth limit", "loop", "unknown"];
	const lines = ends.map((e, i) => "alpha;main;recv;[futex];--;wake;bravo;--;wake;carol;--;wake;delta;--;wake;f" + i + ";[" + e + "] 10");
	for (const options of [[], ["--width", "390"]]) {
		const svg = render([...lines, "[note] " + "words of a remark ".repeat(12) + " 0"], ...options);
		const page = await open(svg, { context: { javaScriptEnabled: false } });
		is(await page.evaluate(() => {
			const root = document.documentElement, wide = root.viewBox.baseVal.width, frames = Number(document.querySelector("#fg-frames").dataset.top);
			return [...document.querySelectorAll("#fg-head text, #fg-legend rect")].filter((e) => {
				const b = e.getBBox();
				return b.x < 0 || b.x + b.width > wide || b.y + b.height > frames;
			}).map((e) => e.textContent);
		}), [], "what is cut off, " + options.join(" "));
		const alive = await open(svg, { context: { viewport: { width: 1200, height: 800 } } });
		const top = () => alive.evaluate(() => [...document.querySelectorAll("#fg-frames rect")].reduce((least, r) => Math.min(least, r.getBBox().y), 1e9) -
			[...document.querySelectorAll("#fg-legend rect")].reduce((most, r) => Math.max(most, r.getBBox().y), 0));
		const before = await top();
		await alive.keyboard.press("v");
		await alive.keyboard.press("v");
		near(await top(), before, 1, "the script leaves as much room");
	}
}, "once");
