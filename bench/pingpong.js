// SPDX-License-Identifier: GPL-2.0-or-later
// As pingpong.py: two threads hand a turn to and fro, in functions that call themselves so deep:
// pingpong.js DEPTH ROUNDS
'use strict';
const worker = require('worker_threads');
const [depth, rounds] = process.argv.slice(2).map(Number);

function descend(levels, turn, mine) {
  if (levels > 0)
    return descend(levels - 1, turn, mine) + 0;
  for (let n = 0; n < rounds; n++) {
    while (Atomics.load(turn, 0) !== mine)
      Atomics.wait(turn, 0, 1 - mine);
    Atomics.store(turn, 0, 1 - mine);
    Atomics.notify(turn, 0);
  }
  return 0;
}

if (worker.isMainThread) {
  const turn = new Int32Array(new SharedArrayBuffer(4));

  new worker.Worker(__filename, { argv: [depth, rounds], workerData: turn });
  descend(depth, turn, 0);
} else {
  descend(depth, worker.workerData, 1);
}
