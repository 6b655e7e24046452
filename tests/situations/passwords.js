// SPDX-License-Identifier: GPL-2.0-or-later
// Pages, and logins, which compare a password: on the event loop itself; by a thread of the pool with --healthy.
const crypto = require("crypto"), http = require("http"), { performance } = require("perf_hooks");
const healthy = process.argv[2] === "--healthy";

function comparePassword(password) {
	return crypto.pbkdf2Sync(password, "salt", 90000, 32, "sha512");
}

function login(then) {
	if (healthy)
		crypto.pbkdf2("secret", "salt", 90000, 32, "sha512", then);
	else
		then(null, comparePassword("secret"));
}

const server = http.createServer((request, response) => {
	const now_us = (performance.timeOrigin + performance.now()) * 1000;
	const waited_us = Math.max(0, Math.floor(now_us - Number(request.headers["x-sent"])));
	const answer = () => {
		response.writeHead(200, { "X-Waited": waited_us, "Content-Length": 3 });
		response.end("ok\n");
	};
	if (request.url === "/login")
		login(answer);
	else
		answer();
});
server.keepAliveTimeout = 60000;
server.listen(0, "127.0.0.1", () => console.log("port", server.address().port));
