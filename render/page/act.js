// SPDX-License-Identifier: GPL-2.0-or-later
// Handles keys, clicks and changes of the width.

function zoom(i) {
	if (i !== state.zoom)
		go({ zoom: i }, true);
}

// Move the focus from frame to frame, in screen directions.
function walk(dx, dy) {
	if (document.activeElement !== svg) { // where readers look for aria-activedescendant
		svg.setAttribute("tabindex", "-1");
		svg.focus({ preventScroll: true });
	}
	if (focus < 0 || !boxOf(focus)) {
		mark(state.zoom);
		return;
	}
	const d = depth[focus];
	if (dx) {
		const ids = rows[d].id, k = ids.indexOf(focus) + dx;
		if (k >= 0 && k < ids.length)
			mark(ids[k]);
		return;
	}
	const to = d + (rootOnTop() ? dy : -dy), row = rows[to];
	if (focus && depth[parent[focus]] === to) {
		mark(parent[focus]);
		return;
	}
	let best = -1;
	for (let k = 0; row && k < row.id.length; k++)
		if (parent[row.id[k]] === focus && (best < 0 || row.w[k] > row.w[best]))
			best = k;
	if (best >= 0)
		mark(row.id[best]);
}

function startSearch() {
	field.focus();
	field.select();
}

function onKey(e) {
	if (!ALONE && !svg.matches(":hover, :focus-within"))
		return;
	if (e.ctrlKey || e.metaKey) {
		if (e.key === "f" || e.key === "F")
			startSearch();
		else if (e.key === "i" || e.key === "I")
			go({ exact: state.exact ? "" : "1" });
		else
			return;
		e.preventDefault();
		return;
	}
	if (e.altKey || (e.target.closest && e.target.closest("input,select"))) {
		if (e.key === "Escape" && e.target === field) {
			go({ search: "" });
			field.value = "";
			field.blur();
		} else if (e.key === "Escape" && tablePanel.contains(e.target)) {
			e.preventDefault(); // which would clear the field
			toggleTable();
		}
		return;
	}
	if (menu.contains(e.target) && onMenuKey(e)) {
		e.preventDefault();
		return;
	}
	const keys = {
		F3: startSearch, "/": startSearch,
		ArrowLeft: () => walk(-1, 0), ArrowRight: () => walk(1, 0),
		ArrowUp: () => walk(0, -1), ArrowDown: () => walk(0, 1),
		Home: () => zoom(0), "0": () => zoom(0),
		Backspace: () => zoom(state.zoom ? parent[state.zoom] : 0),
		n: () => step(1), N: () => step(-1),
		v: () => flipButton.click(), t: toggleTable, "?": toggleHelp,
		k: () => CHAIN && foldButton.click(),
		r: () => !ORDERED && leavesButton.click(),
		s: () => !ORDERED && target() > 0 && !isDelim(target()) &&
			go({ sandwich: label(target()), leaves: "", zoom: 0 }, true),
		c: () => target() >= 0 && copy(label(target())),
		C: () => target() >= 0 && copy(folded(target())),
		l: () => target() > 0 && copy(stackLines(target())),
		b: () => target() > 0 && !isDelim(target()) && go({ beside: label(target()) }, true),
		m: () => {
			const b = target() >= 0 && boxOf(target());
			if (b)
				openMenu(target(), b.x, b.y + rowHeight);
		},
		Escape: () => {
			if (menu.parentNode)
				closeMenu();
			else if (helpPanel.parentNode)
				toggleHelp();
			else if (tablePanel.parentNode)
				toggleTable();
			else if (state.beside)
				go({ beside: "" }, true);
			else if (state.search)
				go({ search: "" });
			else if (focus >= 0)
				mark(-1);
			else
				zoom(0);
		},
		Enter: () => focus >= 0 && zoom(focus),
	};
	// A button with the focus handles Enter itself.
	if (!keys[e.key] || (e.key === "Enter" && e.target.closest && e.target.closest("button")))
		return;
	e.preventDefault();
	keys[e.key]();
}

function target() {
	return focus >= 0 ? focus : hover;
}

// Uses the path, as the target may have been removed from the document since.
function onFrames(e) {
	return !e.composedPath().some((n) => n.localName === "foreignObject" || n === head);
}

function listen() {
	svg.addEventListener("mousemove", (e) => {
		const p = at(e), i = onFrames(e) && !menu.parentNode ? frameAt(p.x, p.y) : -1;
		if (i >= 0 || hover >= 0)
			point(i, p.x, p.y);
	});
	svg.addEventListener("mouseleave", () => point(-1));
	svg.addEventListener("click", (e) => {
		if (!onFrames(e))
			return;
		const p = at(e), i = frameAt(p.x, p.y), had = menu.parentNode;
		closeMenu();
		if (i < 0 || had)
			return;
		mark(-1);
		point(-1);
		if (names[name[i]] === "--")
			openMenu(i, p.x, p.y);
		else
			zoom(i);
	});
	svg.addEventListener("contextmenu", (e) => {
		const p = at(e), i = onFrames(e) ? frameAt(p.x, p.y) : -1;
		if (i < 0)
			return;
		e.preventDefault();
		point(-1);
		openMenu(i, p.x, p.y);
	});
	field.addEventListener("input", () => go({ search: field.value }));
	field.addEventListener("keydown", (e) => {
		if (e.key === "Enter" && !e.isComposing)
			step(e.shiftKey ? -1 : 1);
	});
	addEventListener("keydown", onKey);
	addEventListener("scroll", place, { passive: true, capture: true });
	addEventListener("beforeprint", () => {
		printing = true;
		if (adapt())
			redraw();
		drawNear(visible(), true);
		placeHead({ y: 0, h: 0 });
		svg.classList.toggle("tall", ALONE && height > width);
	});
	addEventListener("afterprint", () => {
		printing = false;
		settle();
	});
	const resized = () => {
		if (adapt())
			redraw();
		resize();
		place();
	};
	addEventListener("resize", resized);
	if (!ALONE)
		new ResizeObserver(resized).observe(svg.parentNode);
	svg.addEventListener("scope", () => {
		const before = viewKey();
		readScope();
		if (viewKey() !== before)
			rescope();
	});
	let popped = false; // an entry of our own: the back button, not a link
	addEventListener("popstate", (e) => { popped = !!(e.state && e.state.own); });
	addEventListener("hashchange", () => {
		if (fragment() !== (location.hash || "#"))
			arrive(popped);
		popped = false;
	});
	listenLegend();
}

// A document of its own is as wide as the window, an embedded one as wide as its parent element,
// once that is visible. Returns whether the width changed.
function adapt() {
	const room = svg.parentNode.clientWidth;
	let want = num("width");
	if (num("fluid") && ALONE)
		want = Math.max(300, document.documentElement.clientWidth || innerWidth);
	else if (num("embedded"))
		want = room ? Math.max(300, room) : outer;
	const before = [outer, width];
	outer = want;
	width = want - besideRoom();
	const changed = outer !== before[0] || width !== before[1];
	if (changed)
		centre();
	return changed;
}

// Centre the headings and the legend after a change of the width; both wrap.
function centre() {
	let down = 0, alone = 0; // by how much the headings have grown since the picture, and above one line each
	const short = isNarrow() && !svg.classList.contains("explained"); // the title alone
	for (const e of byId("head").querySelectorAll(".soft"))
		e.classList.toggle("aside", short);
	for (const id of ["title", "subtitle", "change", "remark0", "remark1", "remark2", "remark3"]) {
		const e = byId("head").querySelector("#fg-" + id);
		if (!e || (short && id !== "title"))
			continue;
		const size = Number(e.getAttribute("font-size") || FONT), lines = wrap(e, size);
		e.dataset.y = e.dataset.y || e.getAttribute("y");
		e.dataset.lines = e.dataset.lines || e.childElementCount || 1;
		e.setAttribute("y", Number(e.dataset.y) + down);
		e.setAttribute("x", width / 2);
		e.replaceChildren(...lines.map((s, k) => make(SVG, "tspan",
			{ x: width / 2, dy: k ? size * 1.3 : 0 }, s)));
		down += (lines.length - e.dataset.lines) * size * 1.3;
		alone += (lines.length - 1) * size * 1.3;
	}
	top = short ? FONT * 3 + alone : Number(opt.top) + down;
	if (byId("legend") && !short)
		centreLegend(down);
}

const isNarrow = () => outer < 600;

// The text of a heading in lines that fit the width.
function wrap(e, size) {
	const room = (width - 2 * XPAD) / (size / 48), lines = [""];
	e.dataset.text = e.dataset.text || e.textContent;
	for (const word of e.dataset.text.split(" ")) {
		const longer = lines[lines.length - 1] ? lines[lines.length - 1] + " " + word : word;
		if (lines[lines.length - 1] && textWidth(longer, false) > room)
			lines.push(word);
		else
			lines[lines.length - 1] = longer;
	}
	return lines;
}

function centreLegend(down) {
	const legend = byId("legend");
	const boxes = [...legend.querySelectorAll("rect:not([hidden])")], texts = [...legend.querySelectorAll("text:not([hidden])")];
	const step = boxes.map((b, k) => Number(b.getAttribute("width")) + 4 +
		FONT * (0.6 * texts[k].textContent.length + 1.2));
	const lines = [[]];
	let used = 0;
	step.forEach((w, k) => {
		if (used && used + w > width - 2 * XPAD) {
			lines.push([]);
			used = 0;
		}
		lines[lines.length - 1].push(k);
		used += w;
	});
	const all = [...legend.querySelectorAll("rect")];
	legend.dataset.y = legend.dataset.y || all[0].getAttribute("y");
	legend.dataset.lines = legend.dataset.lines || new Set(all.map((b) => b.getAttribute("y"))).size;
	lines.forEach((ks, n) => {
		let x = (width - ks.reduce((sum, k) => sum + step[k], 0)) / 2;
		for (const k of ks) {
			const y = Number(legend.dataset.y) + down + n * FONT * 1.5;
			boxes[k].setAttribute("x", x);
			boxes[k].setAttribute("y", y);
			texts[k].setAttribute("x", x + Number(boxes[k].getAttribute("width")) + 4);
			texts[k].setAttribute("y", y + Number(boxes[k].getAttribute("height")) -
				FONT * 0.05);
			x += step[k];
		}
	});
	top += (lines.length - legend.dataset.lines) * FONT * 1.5;
}
