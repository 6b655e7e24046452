// SPDX-License-Identifier: GPL-2.0-or-later
// The legend of a chain graph is an instrument: a click on an entry keeps only its stacks, another one
// hides them, a third shows all again.

// The entry that the end of a stack belongs to; "" if s is no end.
function endKey(s) {
	return s in ENDS ? s : s.startsWith("[disk ") ? "[disk]" : "";
}

function isEnd(i) {
	const s = names[name[i]], key = CHAIN && depth[i] ? endKey(s) : "";
	return key !== "" && (last[i] === i + 1 || s === "[running]" || key === "[disk]");
}

// Does the stack that ends in frame i of the base fit the state? "link 2": it has two wakers or more.
function endFilter() {
	if (!state.only && !state.without.length)
		return () => true;
	const ends = new Array(base.name.length).fill("");
	for (let i = 1; i < ends.length; i++) {
		const s = names[base.name[i]], key = endKey(s);
		ends[i] = ends[base.parent[i]] || (key && (base.last[i] === i + 1 || s === "[running]" ||
			key === "[disk]") ? key : "");
	}
	const has = (i, key) => key.startsWith("link ") ? base.link[i] >= Number(key.slice(5)) : ends[i] === key;
	return (i) => (!state.only || has(i, state.only)) && !state.without.some((key) => has(i, key));
}

function legendWords(key) {
	return key.startsWith("link ") ? "chains of " + key.slice(5) + (key === "link 1" ? " waker" : " wakers") +
		" or more" : key;
}

function legendEntries() {
	const legend = byId("legend");
	return legend ? [...legend.querySelectorAll("text[data-key]")] : [];
}

function clickLegend(key) {
	if (state.only === key)
		go({ only: "", without: [...state.without, key] }, true);
	else if (state.without.includes(key))
		go({ without: state.without.filter((k) => k !== key) }, true);
	else
		go({ only: key }, true);
}

function updateLegend() {
	for (const t of legendEntries()) {
		const key = t.dataset.key, on = state.only === key, off = state.without.includes(key);
		t.setAttribute("aria-pressed", on ? "true" : off ? "mixed" : "false");
		t.setAttribute("class", on ? "on" : off ? "off" : "");
	}
}

function listenLegend() {
	for (const t of legendEntries()) {
		const act = (e) => {
			e.stopPropagation();
			clickLegend(t.dataset.key);
		};
		t.setAttribute("tabindex", "0");
		t.setAttribute("role", "button");
		t.setAttribute("aria-label", t.textContent + ": only these, without these, all");
		t.addEventListener("click", act);
		t.previousElementSibling.addEventListener("click", act);
		t.addEventListener("keydown", (e) => {
			if (e.key === "Enter" || e.key === " ") {
				e.preventDefault();
				act(e);
			}
		});
	}
}
