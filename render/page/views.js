// SPDX-License-Identifier: GPL-2.0-or-later
// Views: the frames that the state asks for, made from the base. A node tree has own counts by side
// (a: after, b: before, g: only before, of the region) and becomes a view when all is counted.

// At most for a view from the leaves: longer stacks are cut.
const STEPS = 8e6, NODES = 5e5;

// What the page around an embedded graph has chosen: names of threads, slices of time; null: all.
let scope = {};
function readScope() {
	const fits = (list, is) => Array.isArray(list) && list.every((v) => typeof v === is) ? list : null;
	let said = null;
	try {
		said = JSON.parse(svg.dataset.scope || "null");
	} catch (e) {
		// then nothing is chosen
	}
	const slices = num("slices") && byId("slices") ? fits(said?.slices, "number") : null;
	scope = { threads: fits(said?.threads, "string"), slices: slices && slices.length === 2 ? slices : null };
}

// All of the time that is shown: 100 %.
const wholeTime = () => view.whole ?? base.end[0];

// Does the view have all stacks, folded or not, as they are or from their leaves?
function unfiltered() {
	return !(state.sandwich || state.focus || state.hide.length || state.drop.length ||
		state.recursion || scope.threads || scope.slices || state.only || state.without.length || state.thread || state.side !== USUAL_SIDE);
}

// Is it also the time of all of them?
const allTime = () => unfiltered() && !view.idle;

const complete = () => !foldsKernel() && unfiltered();
const plain = () => complete() && !state.leaves;

// The view without the merging from the leaves, in which a function's own counts are those of its callers.
function unmerged() {
	return complete() ? base : arrange(chosen());
}

function makeView() {
	if (plain())
		return base;
	const t = chosen();
	const v = state.sandwich ? sandwich(t) : arrange(state.leaves ? fromLeaves(t) : t);
	v.whole = t.whole;
	v.rest = t.rest;
	v.idle = t.idle;
	v.idleShare = t.idleShare;
	return v;
}

// How much time of what is zoomed to is in frames that are not in the file: what is not counted.
function uncounted() {
	const z = state.zoom;
	let sum = 0;
	for (let i = z; z && i < last[z]; i++)
		sum += name[i] === rest ? own[i] : 0;
	return z ? sum : view.rest;
}

// A figure that is at least this; what is missing, in words.
const atLeast = (s, missing = uncounted()) => missing > 0 ? "\u2265 " + s : s;
const missingWords = (missing) => "\u2265: at least; " + percent(missing, state.zoom ? time(state.zoom) : wholeTime()) +
	" of the time is in " + REST + " (--max-frames).";

function newTree(root) {
	return { name: [root], parent: [0], depth: [0], from: [0], a: [0], b: [0], g: [0], newest: [0],
		kids: new Map(), groups: new Set(), cut: 0, rest: 0 };
}

// The callee of this name below node `up`, a new one if needed; `from`: a frame of the base like it.
function callee(t, up, id, from) {
	const key = up * names.length + id;
	let k = ORDERED ? t.newest[up] : t.kids.get(key);
	if (k && t.name[k] === id)
		return k;
	k = t.name.length;
	t.name.push(id);
	t.parent.push(up);
	t.depth.push(t.depth[up] + 1);
	t.from.push(from);
	t.a.push(0);
	t.b.push(0);
	t.g.push(0);
	t.newest.push(0);
	t.newest[up] = k;
	if (!ORDERED)
		t.kids.set(key, k);
	return k;
}

function add(t, k, from, j) {
	t.a[k] += from.a[j];
	t.b[k] += from.b[j];
	t.g[k] += from.g[j];
}

// Is what stands in every chain folded: what the kernel does at each wakeup, and how a thread starts; are runs of
// nameless frames one? Chains open so, at what differs. The address has what is not the default.
const FOLDED = CHAIN && !DIFF;
const STARTS = /^(_start|__libc_start_(main|call_main)(_\w+)?|(__)?clone3?|start_thread|thread_start)$/;
const foldsKernel = () => CHAIN && (FOLDED ? state.kernel !== "whole" : state.kernel === "folded");

// Functions of the kernel: in a waker's stack before the one that woke; where a system call or a thread begins; and
// in which every sleeper is in the end.
const WAKES = /^(try_to_wake_up|ttwu_\w+|default_wake_function|(__)?wake_up(_\w+)?|\w*_wake_function|pollwake|ep_poll_callback|(__)?wake_q_\w+|swake_up_\w+|complete(_\w+)?)$/;
const ENTRY = /^(entry_SYSCALL\w*|do_syscall_\w+|x64_sys_call|__(x64|ia32|arm64|se|do)_sys_\w+|el0t?_\w+|invoke_syscall\w*|ret_from_fork\w*)$/;
const SLEEPS = /^((__|io_|preempt_)?schedule(_\w+)?|wait_woken)$/;

// By frame of v: 1 if it is folded. Of a sleeper's kernel stack the function in which it slept stays, of a waker's the
// one that woke; the others lead from the system call's entry to these. A waker's name always stays.
function kernelFrames(v) {
	const n = v.name.length, fold = new Uint8Array(n), part = new Uint8Array(n), woke = new Uint8Array(n);
	const slept = new Uint8Array(n); // did a thread sleep in it, or is it the last of a waker's stack?
	const more = new Uint8Array(n); // does the kernel's part of its link end above it: at `-`, or an interrupt's end?
	const all = (re) => names.map((s) => re.test(bare(s).replace(/(@@?[\w.]+|(\.\w+)+)$/, "")));
	const starts = all(STARTS);
	const wakes = all(WAKES), enters = all(ENTRY), sleeps = all(SLEEPS), inSleep = all(SLEPT);
	const alone = new Uint8Array(n); // is the stack in which the waker slept above it, and no other part?
	const named = new Uint8Array(n); // is it the name of a waker whose stack is the kernel's alone: see nameInLink()
	for (let i = n; --i > 0;) {
		const s = names[v.name[i]], up = v.parent[i], end = endOf(v, i);
		if (v.part[i]) // what ran
			continue;
		if (s === "-" || end in INTERRUPTS || (more[i] && s !== "--"))
			more[up] = 1;
		if (s === "--" || end || (slept[i] && sleeps[v.name[i]]))
			slept[up] = 1;
		if (s === "-")
			named[up] |= alone[i];
		else if (s === "--" || end ? inSleep[v.name[up]] : alone[i])
			alone[up] = 1;
	}
	for (let i = 1; i < n; i++) {
		const id = v.name[i], s = names[id], up = v.parent[i], waker = v.link[i];
		part[i] = s === "--" ? 0 : part[up] + (s === "-" ? 1 : 0);
		if (s === "-" || s === "--" || id === rest || v.depth[i] < 2 || endOf(v, i))
			continue;
		fold[i] = starts[id] && !slept[i];
		if (fold[i] || v.part[i])
			continue;
		if (part[i] === (waker ? 3 : 1)) // see nameInLink()
			fold[i] = !slept[i] || sleeps[id];
		else if (part[i])
			continue;
		else if (waker && more[i])
			fold[i] = !named[i] && (woke[up] || wakes[id]);
		else if (!more[i] && !(waker && slept[i])) // a kernel thread
			fold[i] = enters[id] || (waker ? wakes[id] : slept[i] && sleeps[id]);
		woke[i] = waker && (woke[up] || !wakes[id]);
	}
	return fold;
}

// By name: itself; of a function without one, as [libruby-3.1.so.3.1.2+0x249b9], its file.
const NAMELESS = /^(\[[^\]\s]+)\+0x[0-9a-f]+\]$|^(\[unknown|\[anon)\]$/;
let knownAs = null, rankOf = null;
function knownNames() {
	if (knownAs)
		return knownAs;
	const ids = new Map(names.map((s, k) => [s, k]));
	knownAs = names.map((s, k) => {
		const file = NAMELESS.exec(s);
		if (!file)
			return k;
		const known = (file[1] || file[2]) + "]";
		if (!ids.has(known)) {
			ids.set(known, names.push(known) - 1);
			style.push(style[k]);
		}
		return ids.get(known);
	});
	rankOf = null;
	return knownAs;
}

// Whose stacks are whose, where the file says how those of a process begin: by the first name, then by those that follow,
// { group: the name of the frame that groups its threads, -1 where the file says so of several processes, next: by name }.
// And of threads of one group whose names differ only in their numbers the name that they have together, as "pool-*".
let owners = null, alikeAs = null;
const alike = (s) => s.replace(/\d+/g, "*");
function findGroups() {
	const ids = new Map(names.map((s, k) => [s, k])), said = (byId("processes")?.textContent || "").split("\n"), alikes = new Map();
	const idOf = (s, like) => {
		if (!ids.has(s)) {
			ids.set(s, names.push(s) - 1);
			style.push(style[like]);
		}
		return ids.get(s);
	};
	owners = { next: new Map() };
	alikeAs = new Map();
	for (let k = 0; k + 1 < said.length; k += 2) {
		const path = said[k + 1].split(";").map((s) => ids.get(s));
		if (path.includes(undefined))
			continue;
		const group = idOf(said[k] + ": threads", path[0]), key = group + " " + alike(names[path[0]]);
		let at = owners;
		for (const id of path) {
			at.next = at.next || new Map();
			at.next.set(id, at.next.get(id) || {});
			at = at.next.get(id);
		}
		at.group = at.group === undefined || at.group === group ? group : -1;
		alikes.set(key, (alikes.get(key) || new Set()).add(path[0]));
	}
	for (const [key, threads] of alikes)
		for (const thread of threads.size > 1 ? threads : [])
			alikeAs.set(parseInt(key) + " " + thread, idOf(alike(names[thread]), thread));
	rankOf = null;
}

// Does the view group threads by process? Chains open so; a thread alone, and a view of something else, have no groups.
const groups = () => FOLDED && foldsKernel() && !state.thread && !state.focus && !state.leaves && !state.sandwich;

// Time that nobody waited for, by frame of the base, in a picture with threads of the kernel, as a recording of the whole
// machine has them: where these threads, or accept(), wait for work; and pauses, which the thread's own timer ended,
// but not at a lock, a file or a socket. What the engine knows better (--no-idle) is in no stack. null: there is none.
const TO_SLEEP = /^((__|io_|preempt_)?schedule(_\w+)?|wait_woken|usleep_range\w*|msleep\w*|(__)?kthread_parkme)$/;
const LOCKS = /mutex|rwlock|rwsem|semaphore|sem_|take_gil/;
function idleFrames(v) {
	const n = v.name.length, idle = new Uint8Array(n), held = new Uint8Array(n);
	const bares = names.map((s) => bare(s).replace(/(@@?[\w.]+|(\.\w+)+)$/, ""));
	const goes = bares.map((s) => TO_SLEEP.test(s)), waits = bares.map((s) => LOOPS.has(s) || AWAITS.has(s));
	const serious = names.map((s, k) => LOCKS.test(bares[k]) || (OBJECT.test(s) && !/^\[(sleep|futex|poll|select|epoll|timerfd|eventfd|signal)[\] ]/.test(s)));
	const asleep = new Uint8Array(n); // in such a function, or from it on the way to the scheduler
	let kernel = false;
	for (let i = 1; i < n; i++) {
		const id = v.name[i], up = v.parent[i], s = names[id], end = endOf(v, i);
		held[i] = held[up] || (!v.link[i] && serious[id]);
		if (idle[up]) {
			idle[i] = 1;
		} else if (end) {
			idle[i] = asleep[up] ? end !== "[runnable]" && end !== "[preempted]" : end === "[timer]" && v.link[i] < 2 && !held[i];
		} else if (s === "--") {
			idle[i] = asleep[up];
		} else if (!v.link[i]) {
			asleep[i] = waits[id] || (asleep[up] && goes[id]);
			kernel = kernel || (asleep[i] && LOOPS.has(bares[id]));
		}
	}
	return kernel ? idle : null;
}

// The frames that are left by thread, ends, focus, hidden names, dropped libraries, recursion; in a view that folds,
// without what nobody waited for, unless there is nothing else.
function chosen() {
	const idle = FOLDED && foldsKernel() ? idleFrames(base) : null, t = choose(idle);
	return idle && !(t.a.some((ns) => ns > 0)) ? choose(null) : t;
}

function choose(idle) {
	const v = base, n = v.name.length, map = new Int32Array(n), t = newTree(v.name[0]);
	const folds = foldsKernel() ? kernelFrames(v) : null, known = folds ? knownNames() : null;
	const hidden = names.map((s) => s !== "--" && s !== "-" && (state.hide.includes(bare(s)) ||
		(state.drop.length > 0 && state.drop.includes(library(s)))));
	hidden[rest] = false; // its time is not that of its caller
	const focus = names.map((s) => bare(s) === state.focus), fits = endFilter();
	// A link can name a thread that this graph does not have.
	const there = v.depth.some((d, i) => d === 1 && names[v.name[i]] === state.thread);
	const grouped = groups();
	if (grouped && !owners)
		findGroups();
	const thread = there ? state.thread : "", among = scope.threads && new Set(scope.threads);
	const mine = scope.slices ? ownOfSlices(scope.slices) : DIFF ? v.ownAfter : v.own;
	t.whole = scope.slices ? mine.reduce((sum, ns) => sum + ns, 0) : base.end[0];
	t.idle = idle ? mine.reduce((sum, ns, i) => sum + (idle[i] ? ns : 0), 0) : 0;
	t.idleShare = t.idle / t.whole;
	t.whole -= t.idle;
	map[0] = state.focus ? -1 : 0;
	// Where frame i goes that is called by node `up`.
	const place = (i, up, as = known ? known[v.name[i]] : v.name[i]) => hidden[v.name[i]] || (folds && folds[i]) ||
		(state.recursion && up && t.name[up] === v.name[i]) ||
		(known && NAMELESS.test(names[v.name[i]]) && t.name[up] === known[v.name[i]] && !endOf(v, i)) ? up : callee(t, up, as, i);
	// The same with all that called it, in a group.
	const placeIn = (group, i) => {
		if (v.depth[i] > 1)
			return place(i, placeIn(group, v.parent[i]));
		const k = callee(t, 0, group, 0);
		t.groups.add(k);
		return place(i, k, alikeAs.get(group + " " + v.name[i]));
	};
	const owner = [owners]; // by frame: what is said of the stacks that begin as its own; that they are a process's once
	for (let i = 0; i < n; i++) {
		const id = v.name[i], up = map[v.parent[i]];
		if (v.depth[i] === 1 && ((thread && names[id] !== thread) || (among && !among.has(names[id])) ||
			(v.gone[i] && state.side !== "after"))) {
			i = v.last[i] - 1;
			continue;
		}
		if (id === rest && !v.gone[i]) // whatever it has of what is shown
			t.rest += mine[i];
		if (grouped && i)
			owner[i] = owner[v.parent[i]]?.next?.get(id);
		if (i && up < 0)
			map[i] = focus[id] ? callee(t, 0, id, i) : -1;
		else if (i)
			map[i] = owner[i]?.group >= 0 ? placeIn(owner[i].group, i) : place(i, up);
		const k = map[i];
		if (k < 0 || !fits(i) || (!i && (thread || among)) || (idle && idle[i]))
			continue;
		if (v.gone[i]) {
			t.g[k] += v.own[i];
		} else {
			t.a[k] += mine[i];
			t.b[k] += DIFF ? v.ownBefore[i] : 0;
			if (WIDE && state.side === "after" && !v.ownAfter[i])
				t.g[inRegion(t, k)] += v.ownBefore[i];
		}
	}
	return t;
}

// The node of the same path as k's in the region of what is gone.
function inRegion(t, k) {
	const path = [];
	for (let j = k; j; j = t.parent[j])
		path.push(j);
	return path.reduceRight((at, j) => callee(t, at, t.name[j], t.from[j]), callee(t, 0, names.length - 1, 0));
}

// Each stack upside down.
function fromLeaves(t) {
	const r = newTree(t.name[0]), leaves = [];
	let most = 0;
	for (let k = 1; k < t.name.length; k++)
		if (t.a[k] || t.b[k] || t.g[k]) {
			leaves.push(k);
			most = Math.max(most, t.depth[k]);
		}
	const deepest = most;
	while (most > 8 && leaves.reduce((sum, k) => sum + Math.min(t.depth[k], most), 0) > STEPS)
		most >>= 1;
	add(r, 0, t, 0);
	for (const k of leaves) {
		let at = 0;
		for (let j = k, left = most; j && left && r.name.length < NODES; j = t.parent[j], left--)
			at = callee(r, at, t.name[j], t.from[j]);
		add(r, at, t, k);
	}
	r.cut = r.name.length >= NODES ? 1 : most < deepest ? most : 0;
	return r;
}

// Everything above the outermost frames of one name, and, below it, everything that calls them.
function sandwich(t) {
	const n = t.name.length, id = names.findIndex((s) => bare(s) === state.sandwich);
	const up = newTree(Math.max(0, id)), down = newTree(Math.max(0, id)), map = new Int32Array(n).fill(-1);
	const sum = { a: t.a.slice(), b: t.b.slice(), g: t.g.slice() };
	for (let k = n; --k > 0;)
		add(sum, t.parent[k], sum, k);
	let steps = STEPS;
	for (let k = 1; k < n; k++) {
		const inside = map[t.parent[k]];
		if (inside >= 0) {
			map[k] = callee(up, inside, t.name[k], t.from[k]);
		} else if (bare(names[t.name[k]]) === state.sandwich) {
			map[k] = 0;
			let at = 0;
			for (let j = t.parent[k]; j && steps-- > 0; j = t.parent[j])
				at = callee(down, at, t.name[j], t.from[j]);
			add(down, at, sum, k);
		} else {
			continue;
		}
		add(up, map[k], t, k);
	}
	return join(arrange(up), arrange(down), steps < 0);
}

// One view of two with the same root: the frames of `down` get the rows on the other side of it.
function join(up, down, cut) {
	const n = up.name.length, m = down.name.length - 1, v = newFrames(n + m);
	const rows = down.depth.reduce((most, d) => Math.max(most, d), 0);
	for (const k in v) {
		v[k].set(up[k]);
		v[k].set(down[k].subarray(1), n);
	}
	for (let i = 0; i < n; i++)
		v.depth[i] = rows + up.depth[i];
	for (let i = 1; i <= m; i++) {
		v.depth[n + i - 1] = rows - down.depth[i];
		v.parent[n + i - 1] = down.parent[i] ? n + down.parent[i] - 1 : 0;
		v.last[n + i - 1] = n + down.last[i] - 1;
	}
	v.last[0] = n + m;
	v.callers = n;
	v.cut = cut;
	return v;
}

// From own counts to frames: widths by the state's side, callees sorted by name, in preorder.
function arrange(t) {
	const n = t.name.length, after = Float64Array.from(t.a), before = Float64Array.from(t.b);
	const gone = Float64Array.from(t.g), width = new Float64Array(n), first = new Int32Array(n), next = new Int32Array(n);
	for (let k = 0; k < n; k++)
		width[k] = state.side === "before" ? t.b[k] : state.side === "union" ? Math.max(t.a[k], t.b[k]) :
			t.a[k] + t.g[k];
	for (let k = n; --k > 0;) {
		const up = t.parent[k];
		width[up] += width[k];
		after[up] += after[k];
		before[up] += before[k];
		gone[up] += gone[k];
	}
	const order = new Uint32Array(n - 1).map((x, k) => k + 1);
	if (!ORDERED) {
		const rank = ranks();
		order.sort((x, y) => (FOLDED ? width[y] - width[x] : 0) || rank[t.name[x]] - rank[t.name[y]]);
	}
	let frames = 1;
	for (let k = n - 1; k--;) {
		const node = order[k];
		if (!(width[node] > 0 || after[node] > 0 || before[node] > 0)) // the table needs both sides
			continue;
		next[node] = first[t.parent[node]];
		first[t.parent[node]] = node;
		frames++;
	}
	const v = newFrames(frames), path = [], filled = new Float64Array(frames), todo = [0];
	for (let i = 0; todo.length; i++) {
		const k = todo.pop(), d = t.depth[k];
		while (path.length > d)
			v.last[path.pop()] = i;
		const up = i ? path[d - 1] : 0;
		v.name[i] = t.name[k];
		v.parent[i] = up;
		v.depth[i] = d;
		v.begin[i] = i ? filled[up] : 0;
		v.end[i] = filled[up] = v.begin[i] + width[k];
		v.own[i] = width[k];
		if (i)
			v.own[up] -= width[k];
		const kids = [];
		let inside = 0;
		for (let c = first[k]; c; c = next[c]) {
			kids.push(c);
			inside += width[c];
		}
		filled[i] = v.end[i] - inside;
		for (const c of kids.reverse())
			todo.push(c);
		v.link[i] = base.link[t.from[k]];
		v.part[i] = base.part[t.from[k]];
		v.closes[i] = base.closes[t.from[k]];
		v.group[i] = t.groups.has(k) ? 1 : 0;
		if (DIFF) {
			v.after[i] = after[k];
			v.gone[i] = gone[k] > 0 && !(after[k] > 0 || before[k] > 0) ? 1 : 0;
			v.before[i] = v.gone[i] ? gone[k] : before[k];
			v.ownAfter[i] = t.a[k];
			v.ownBefore[i] = t.b[k];
		}
		path.push(i);
	}
	while (path.length)
		v.last[path.pop()] = frames;
	v.cut = t.cut;
	paint(v);
	return v;
}

function ranks() {
	if (!rankOf) {
		const order = names.map((s, k) => k).sort((x, y) => names[x] < names[y] ? -1 : names[x] > names[y] ? 1 : 0);
		rankOf = new Uint32Array(names.length);
		order.forEach((k, r) => { rankOf[k] = r; });
	}
	return rankOf;
}

// The library of a function, "" if its name does not tell: module`f, lib.so!f, [lib.so], f (lib.so),
// f_[k], and the crate or outermost namespace of Rust's and C++'s names.
function library(s) {
	if (s.endsWith("_[k]"))
		return "the kernel";
	const m = /^([^`]+)`/.exec(s) || /^([^!\s]+)!/.exec(s) || /^\[([^\]]+\.so[^\]]*)\]$/.exec(s) ||
		/ \(([^()]+)\)$/.exec(s) || /^<?&?(?:mut |dyn )?([A-Za-z_]\w*)::/.exec(s);
	return m ? m[1] : "";
}
