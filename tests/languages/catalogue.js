// SPDX-License-Identifier: GPL-2.0-or-later
// A catalogue that is built anew now and then, by the one thread that answers all requests.
const http = require("http");

let prices = new Map();

function buildIndex() {
	const built = new Map();
	for (let i = 0, x = 1; i < 4000000; i++) {
		x = (x * 1103515 + 12345) & 0x7fffffff;
		built.set(x % 1000, x);
	}
	return built;
}

function reloadCatalogue() {
	prices = buildIndex();
}

function findPrice(article) {
	return prices.get(article) || 0;
}

function answer(request, response) {
	response.end(findPrice(Number(request.url.split("/").pop())) + "\n");
}

const server = http.createServer(answer);
server.keepAliveTimeout = 60000;
setInterval(reloadCatalogue, 400);
server.listen(0, "127.0.0.1", () => console.log("port", server.address().port));
