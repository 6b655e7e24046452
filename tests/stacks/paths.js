// SPDX-License-Identifier: GPL-2.0-or-later
//
// Threads that say themselves where they are, as paths.py: paths.js [SEED]. Six workers call functions a to h in an order
// that each draws at random, through functions of the library, constructors, exceptions, code that is made meanwhile,
// generators and async functions. For paths_judge.py:
//
// letters: each E, compare C, Maker M, Here H, <instance_members_initializer> I, made D, yields Y, waits W, nap n, step s
// shape: (s(a|bE|cC|dH?MI|eD|f|gY|hW))*(s(n|[b-h]|dHM?|dM)?)?
// outermost: loopOf
// lines: (?:^|\W)(?:function\*? |class )(\w+) ?[({e]
// may lack: what is compiled into its caller, but with --no-turbo-inlining
'use strict';
const fs = require('fs');
const worker = require('worker_threads');

const asleep = new Int32Array(new SharedArrayBuffer(4));

let inHaste = false;

function nap() {
  if (!inHaste)
    Atomics.wait(asleep, 0, 0, Math.random() * 4);
}

function step(path, at) {
  if (at === path.length)
    nap();
  else
    FUNCTIONS[path[at]](path, at + 1);
}

function a(path, at) {
  step(path, at);
}

function b(path, at) {
  [0].forEach(function each() {
    step(path, at);
  });
}

function c(path, at) {
  let n = 0;

  [1, 0].sort(function compare() {
    if (!n++)
      step(path, at);
    return 0;
  });
}

class Maker {
  first = step(this.constructor.path, this.constructor.at);
}

function d(path, at) {
  class Here extends Maker {
    static path = path;
    static at = at;
  }
  return new Here();
}

function e(path, at) {
  // Its code is freed before long, and the next one takes its place.
  const made = eval('(function made(path, at) {' + '\n'.repeat(at % 5) + 'step(path, at); })');

  made(path, at);
}

function f(path, at) {
  try {
    throw new Error('on the way');
  } catch {
    step(path, at);
  }
}

function* yields(path, at) {
  yield step(path, at);
}

function g(path, at) {
  for (const x of yields(path, at))
    void x;
}

async function waits(path, at) {
  step(path, at);
}

function h(path, at) {
  waits(path, at);
}

const FUNCTIONS = { a, b, c, d, e, f, g, h };

async function loopOf(seed) {
  const name = fs.openSync('/proc/' + fs.readlinkSync('/proc/thread-self') + '/comm', 'w');
  let drawn = seed;

  function draw(n) {
    drawn = (Math.imul(drawn, 1103515245) + 12345) & 0x7fffffff;
    return (drawn >> 8) % n;
  }
  function drawPath() {
    let path = '';

    for (let n = 1 + draw(13); n; n--)
      path += 'abcdefgh'[draw(8)];
    return path;
  }
  for (let round = 0;; round++) {
    // It goes on from the queue of what can go on, no more from the script.
    if (draw(4) === 0)
      await null;
    // What is called often is compiled, and compiled once more.
    inHaste = true;
    for (let n = round < 64 ? 30 : draw(8); n; n--)
      step(drawPath(), 0);
    inHaste = false;
    const path = drawPath();
    fs.writeSync(name, 'P:' + path);
    step(path, 0);
    fs.writeSync(name, 'between');
  }
}

const seed = parseInt(process.argv[2] || '1');
if (worker.isMainThread)
  for (let i = 0; i < 6; i++)
    new worker.Worker(__filename, { argv: [seed], workerData: i });
else
  loopOf(seed * 6 + worker.workerData);
