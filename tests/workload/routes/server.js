// SPDX-License-Identifier: GPL-2.0-or-later
// server.js PORT: as server.py
const count = {};
const server = require('http').createServer((request, response) => {
	const path = request.url.split('?')[0].replace(/[0-9]+/g, '*');
	const what = request.method + ' ' + path;
	count[what] = (count[what] || 0) + 1;
	request.resume();
	request.on('end', () => {
		if (path.startsWith('/report'))
			setTimeout(() => response.end('ok'), 30 + 30 * Math.random());
		else
			response.end('ok');
	});
});
server.keepAliveTimeout = 60000;
server.listen(Number(process.argv[2]), '127.0.0.1');
process.on('SIGTERM', () => {
	for (const what in count)
		console.log(count[what], what);
	process.exit(0);
});
