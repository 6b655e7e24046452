// SPDX-License-Identifier: GPL-2.0-or-later
// The report's data, as engine/report/report_json.c writes it, and the functions that select from it.
// Texts and threads are indexes into tables; lists of figures are flat, in groups. Times are ns.
const data = JSON.parse(document.getElementById("report-data").textContent);

const STATES = ["blocked", "runnable", "preempted", "unknown", "many", "many-ready", "many-runs", "running"];
const NOT_WOKEN = 2, NO_WAKING = 4, SINCE_START = 8, NEW = 16;

const text = (i) => i < 0 ? "" : data.strings[i];

// Splits a flat list into groups of n.
function* groups(list, n) {
	for (let i = 0; i + n <= list.length; i += n)
		yield list.slice(i, i + n);
}

// tid, process (0: unknown), group (enum report_group), last name, control group; then all names, if there were several.
function threadOf(i) {
	const [tid, pid, group, name, cgroup, ...names] = data.threads[i];
	return { tid, pid, group, name: text(name), cgroup: text(cgroup), names: [...new Set([name, ...names].map(text))] };
}
const threads = data.threads.map((_, i) => threadOf(i));

// The filter: threads by a part of the name or of their control group's, or by a thread or process id; and a range of
// steps.
const shown = { who: "", first: 0, end: data.n };

function fits(thread) {
	if (!shown.who)
		return true;
	if (!thread)
		return false;
	const who = shown.who.toLowerCase();
	if (/^\d+$/.test(who) && (thread.tid === +who || thread.pid === +who))
		return true;
	return [thread.cgroup, ...thread.names].some((s) => s.toLowerCase().includes(who));
}

const stepFrom = (i) => Math.min(data.from + i * data.step, data.to);
const rangeFrom = () => stepFrom(shown.first);
const rangeTo = () => shown.end >= data.n ? data.to : stepFrom(shown.end);
const inRange = (step) => step >= shown.first && step < shown.end;

// For each row of the table: its thread (null: all threads without a row), its five times in each step, and
// how much of the first of them interrupts took.
const rows = data.rows.map((row) => {
	const thread = row.thread < 0 ? null : threads[row.thread];
	const steps = Array.from({ length: data.n }, (_, i) =>
		thread ? [0, stepFrom(i + 1) - stepFrom(i), 0, 0, 0, 0] : [0, 0, 0, 0, 0, 0]);
	for (const [i, ...times] of groups(row.steps, 7))
		steps[i] = times;
	return { row, thread, steps };
});
const name = (r) => r.thread ? r.thread.name : "(other threads)";
const shownRows = () => rows.filter((r) => fits(r.thread));

// The totals of a row over the selected steps.
function sums(r) {
	const all = { times: [0, 0, 0, 0, 0, 0], waits: 0, longest: 0 };
	for (let i = shown.first; i < shown.end; i++)
		r.steps[i].forEach((ns, k) => { all.times[k] += ns; });
	for (const [step, , count] of groups(r.row.lengths, 3))
		all.waits += inRange(step) ? count : 0;
	for (const [step, ns] of groups(r.row.longest, 2))
		all.longest = inRange(step) ? Math.max(all.longest, ns) : all.longest;
	return all;
}

const length = (w) => w.blocked + w.off;
const endsIn = (w) => w.start + length(w) > rangeFrom() && (shown.end >= data.n || w.start + length(w) <= rangeTo());
const isShown = (w) => fits(threads[w.thread]) && w.start < rangeTo() && w.start + length(w) > rangeFrom();
