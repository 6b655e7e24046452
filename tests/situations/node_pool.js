// SPDX-License-Identifier: GPL-2.0-or-later
// Prices of a store, which is asked by four connections (argument: its port). A quote keeps one of them while it asks a
// carrier (its port is the next argument); not with --healthy.
const http = require("http"), net = require("net");
const [storePort, carrierPort, healthy] = process.argv.slice(2);

class Connection {
	constructor(port) {
		this.socket = net.connect(Number(port), "127.0.0.1").setNoDelay(true);
	}
	ask(ms) {
		return new Promise((resolve) => {
			this.socket.once("data", resolve);
			this.socket.write(`${ms}\n`);
		});
	}
}

class Pool {
	constructor(size, port) {
		this.idle = Array.from({ length: size }, () => new Connection(port));
		this.waiting = [];
	}
	connect() {
		const connection = this.idle.pop();
		return connection ? Promise.resolve(connection) : new Promise((resolve) => this.waiting.push(resolve));
	}
	release(connection) {
		const next = this.waiting.shift();
		if (next)
			next(connection);
		else
			this.idle.push(connection);
	}
}

const store = new Pool(4, storePort);

async function askCarrier() {
	const carrier = new Connection(carrierPort);
	await carrier.ask(150);
	carrier.socket.end();
}

async function take() {
	const begin = process.hrtime.bigint();
	const connection = await store.connect();
	return { connection, waited: Number((process.hrtime.bigint() - begin) / 1000n) };
}

async function price() {
	const { connection, waited } = await take();
	await connection.ask(0);
	store.release(connection);
	return waited;
}

async function quote() {
	const { connection, waited } = await take();
	await connection.ask(0);
	if (healthy)
		store.release(connection);
	await askCarrier();
	if (!healthy)
		store.release(connection);
	return waited;
}

const server = http.createServer(async (request, response) => {
	const waited = await (request.url === "/quote" ? quote : price)();
	response.writeHead(200, { "X-Waited": waited, "Content-Length": 3 });
	response.end("ok\n");
});
server.keepAliveTimeout = 60000;
server.listen(0, "127.0.0.1", () => console.log("port", server.address().port));
