-- SPDX-License-Identifier: GPL-2.0-or-later
-- Profiles, by an event loop. A consent is written to a ledger, and the loop waits for its answer (argument: its port).
-- Without that with --healthy: the ledger's answer is an event as others are.
local socket = require("socket")
local healthy = arg[2] == "--healthy"
local server = assert(socket.bind("127.0.0.1", 0, 64))
local ledger = assert(socket.connect("127.0.0.1", tonumber(arg[1])))
local _, port = server:getsockname()
local clients, owed = { server }, {}

server:settimeout(0)
ledger:setoption("tcp-nodelay", true)
if healthy then clients[2] = ledger end
print("port " .. port)
io.stdout:flush()

local function answer(client, waited_us)
	client:send(string.format(
		"HTTP/1.1 200 OK\r\nX-Waited: %d\r\nContent-Length: 3\r\n\r\nok\n", waited_us))
end

local function record_consent(client, waited_us)
	ledger:send("80\n")
	if healthy then
		table.insert(owed, client)
	else
		ledger:receive("*l")
		answer(client, waited_us)
	end
end

local function handle(client)
	local request, sent_us = client:receive("*l"), 0
	if not request then return false end
	repeat
		local line, failed = client:receive("*l")
		if failed then return false end
		sent_us = tonumber(line:match("^X%-Sent: (%d+)")) or sent_us
	until line == ""
	local waited_us = math.floor(socket.gettime() * 1000000) - sent_us
	if request:find("/consent", 1, true) then
		record_consent(client, waited_us)
	else
		answer(client, waited_us)
	end
	return true
end

while true do
	for _, ready in ipairs(socket.select(clients)) do
		if ready == server then
			local client = server:accept()
			client:setoption("tcp-nodelay", true)
			table.insert(clients, client)
		elseif ready == ledger then
			ledger:receive("*l")
			answer(table.remove(owed, 1), 0)
		elseif not handle(ready) then
			for i, client in ipairs(clients) do
				if client == ready then table.remove(clients, i) end
			end
		end
	end
end
