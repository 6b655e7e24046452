// SPDX-License-Identifier: GPL-2.0-or-later
// Loads a trace into Perfetto's trace processor (its WebAssembly build, outside a browser) and prints the
// rows of SQL queries, columns separated by tabs:
//   node query.mjs FOLDER TRACE QUERY...
// FOLDER has trace_processor.wasm, engine_bundle.node.js (the worker around it) and engine.mjs (who talks to
// the worker), as they are in Perfetto's UI.
import { webcrypto as crypto } from "node:crypto"; // a global only since Node.js 19
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import vm from "node:vm";

const [folder, trace, ...queries] = process.argv.slice(2);
const { EngineBase } = await import(pathToFileURL(resolve(folder, "engine.mjs")).href);

// What the worker expects around it in a browser. The one file that it loads is on the disk.
const worker = {
	WorkerGlobalScope: class {},
	location: { href: "" },
	XMLHttpRequest: class {
		open(method, url) {
			this.name = url.split("/").pop();
		}
		send() {
			if (this.name !== "trace_processor.wasm")
				throw new Error("the worker asks for " + this.name);
			const file = readFileSync(join(folder, this.name));
			this.response = file.buffer.slice(file.byteOffset, file.byteOffset + file.length);
		}
	},
	console: { log() {}, info() {}, warn() {}, error: console.error },
	ArrayBuffer, Error, RangeError, TypeError, TextDecoder, TextEncoder, URL, Uint8Array, WebAssembly,
	crypto, performance, setTimeout, clearTimeout,
};
worker.self = worker;
vm.runInNewContext(readFileSync(join(folder, "engine_bundle.node.js"), "utf8"), worker);

class Engine extends EngineBase {
	constructor() {
		super();
		const channel = new MessageChannel();
		worker.onmessage({ data: channel.port2 });
		this.port = channel.port1;
		this.port.onmessage = (m) => this.onRpcResponseBytes(new Uint8Array(m.data));
	}
	get id() { return "test"; }
	get mode() { return "WASM"; }
	rpcSendRequestBytes(data) { this.port.postMessage(data); }
}

console.warn = () => {}; // of fields of answers that it does not know
const engine = new Engine();
await engine.parse(new Uint8Array(readFileSync(trace)));
await engine.notifyEof();
for (const query of queries) {
	const result = await engine.query(query), columns = result.columns();
	for (const row = result.iter({}); row.valid(); row.next())
		console.log(columns.map((c) => row.get(c)).join("\t"));
}
process.exit(0);
