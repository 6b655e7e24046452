// SPDX-License-Identifier: GPL-2.0-or-later
// Tables that a click on a heading sorts, and that can be copied as csv. A cell's value is that of its
// attribute data-ns or data-v, or else its text.
const orders = new Map(); // by table: the column it is sorted by (-1: as it came), and whether downwards

function cellValue(cell) {
	const v = cell.dataset.ns ?? cell.dataset.v;
	return v === undefined ? cell.textContent : Number(v);
}

const ascending = (a, b) => a < b ? -1 : a > b ? 1 : 0;

function showOrder(table) {
	const order = orders.get(table);
	[...table.tHead.rows[0].cells].forEach((th, i) => {
		th.setAttribute("aria-sort", i !== order.column ? "none" : order.down ? "descending" : "ascending");
	});
}

// Sorts the rows that are in the document; each has a cell in every column.
function sortRows(table) {
	const order = orders.get(table), body = table.tBodies[0];
	showOrder(table);
	if (order.column < 0)
		return;
	const value = (row) => cellValue(row.cells[order.column]);
	body.append(...[...body.rows].sort((a, b) => (order.down ? -1 : 1) * ascending(value(a), value(b))));
}

// Makes buttons of the headings. changed: sorts anew; left out, the rows in the document are sorted.
function sortable(table, changed = () => sortRows(table)) {
	const order = { column: -1, down: false };
	orders.set(table, order);
	[...table.tHead.rows[0].cells].forEach((th, i) => {
		th.replaceChildren(element("button", { type: "button", onclick: () => {
			const first = table.tBodies[0].rows[0];
			order.down = order.column === i ? !order.down : !!first && typeof cellValue(first.cells[i]) === "number";
			order.column = i;
			changed();
		} }, ...th.childNodes));
	});
	showOrder(table);
	return order;
}

// A cell of figures.
const timeCell = (ns) => element("td", { "data-ns": String(ns) }, time(ns));
const numberCell = (n, words = String(n)) => element("td", { "data-v": String(n) }, words);

// A spreadsheet takes what begins so for a formula; behind an apostrophe it is text.
const plain = (v) => /^[=+@\t-]./.test(v) && isNaN(v) ? "'" + v : v;
const field = (v) => /[",\r\n]/.test(v) ? '"' + plain(v).replaceAll('"', '""') + '"' : plain(v);
const csvText = (rows) => rows.map((r) => r.map((v) => field(String(v))).join(",") + "\n").join("");

function cellText(cell) {
	const parts = [...cell.querySelectorAll("bdi, code")].map((e) => e.textContent);
	return parts.length > 1 ? parts.join(" | ") : cell.dataset.csv ?? cell.textContent;
}

// The headings and rows of a table; times are in ns.
function rowsOfTable(table) {
	const rows = [...table.tBodies[0].rows].filter((r) => !r.classList.contains("opened") && !r.hidden);
	const heads = [...table.tHead.rows[0].cells].map((th, i) =>
		th.textContent + (rows.some((r) => r.cells[i]?.dataset.ns) ? " (ns)" : ""));
	return [heads, ...rows.map((r) => [...r.cells].map((c) => c.dataset.ns ?? c.dataset.v ?? cellText(c)))];
}

// Adds the button to a section. rows: returns the headings and the rows.
function copyable(section, rows) {
	const said = element("span", { class: "note", role: "status" });
	const byHand = (text) => {
		const area = element("textarea", { readonly: true, rows: 6, "aria-label": "the table as csv" });
		area.value = text;
		said.replaceChildren(area);
		area.select();
	};
	const button = element("button", { type: "button", class: "copy", onclick: async () => {
		const all = rows(), text = csvText(all);
		try {
			await navigator.clipboard.writeText(text);
			said.textContent = " Copied: " + (all.length - 1) + " rows.";
		} catch (e) {
			byHand(text);
		}
	} }, "Copy as csv");
	section.querySelector("h2").after(element("p", { class: "copying" }, button, said));
}

// What moves sideways can be moved by keys.
for (const e of document.querySelectorAll(".report .scroll"))
	e.setAttribute("tabindex", "0");

for (const id of ["causes", "lost"]) {
	const table = document.querySelector("#" + id + " table");
	if (!table)
		continue;
	sortable(table);
	copyable(document.getElementById(id), () => rowsOfTable(table));
}
