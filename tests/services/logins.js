// SPDX-License-Identifier: GPL-2.0-or-later
// Settings and logins. Settings are read from a file and logins hash a password; both are done by
// the four threads of libuv's pool, and the settings wait while all four hash passwords.
const crypto = require("crypto"), fs = require("fs"), http = require("http");

const most = process.argv.includes("--healthy") ? 2 : Infinity; // at a time
const waiting = [];
let hashing = 0;

function hashNext() {
	if (hashing >= most || !waiting.length)
		return;
	const response = waiting.shift();
	hashing++;
	crypto.pbkdf2("password", "salt", 40000, 64, "sha512", (error, key) => {
		hashing--;
		response.end(key.toString("hex"));
		hashNext();
	});
}

function login(response) {
	waiting.push(response);
	hashNext();
}

function settings(response) {
	fs.readFile(__filename, (error, text) => {
		response.end(text.subarray(0, 40));
	});
}

const server = http.createServer((request, response) => {
	(request.url === "/login" ? login : settings)(response);
});
server.keepAliveTimeout = 60000;
server.listen(0, "127.0.0.1", () => console.log("port", server.address().port));
