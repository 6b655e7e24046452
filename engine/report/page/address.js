// SPDX-License-Identifier: GPL-2.0-or-later
// The page's address: what is chosen and what is open, beside the graphs' own keys, so that each section, wait and
// request has a link, and Back comes back.
const inAddress = (key) => new URLSearchParams(location.hash.slice(1)).get(key) || "";

// What was last put there, or seen there, by key.
const knownAddress = {};

// Changes keys; "" takes one out. Nobody is told.
function intoAddress(change) {
	Object.assign(knownAddress, change);
	const p = new URLSearchParams(location.hash.slice(1));
	for (const [key, value] of Object.entries(change))
		if (value)
			p.set(key, value);
		else
			p.delete(key);
	if (p.toString() !== location.hash.slice(1))
		location.hash = p.toString();
}

// Calls changed(before, now) when the key has another value: by a link, or the browser's history. Returns what looks.
function onAddress(key, changed) {
	const look = () => {
		const before = knownAddress[key] || "", now = knownAddress[key] = inAddress(key);
		if (now !== before)
			changed(before, now);
	};
	addEventListener("hashchange", look);
	return look;
}
