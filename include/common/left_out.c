// SPDX-License-Identifier: GPL-2.0-or-later
#include "left_out.h"

static const struct words {
	const char *key, *words;
} all[CHAINLOG_LEFT_OUTS] = {
	[CHAINLOG_LEFT_REQUESTS] = { "requests_left_out",
				     "requests were not recorded: they came too fast" },
	[CHAINLOG_LEFT_PROBED] = { "probed_left_out",
				   "requests of --request were not recorded: too many others had "
				   "begun and not ended" },
	[CHAINLOG_LEFT_LISTS] = { "lists_left_out",
				  "lists of the threads or connections that were there took too "
				  "long, and lack some" },
	[CHAINLOG_LEFT_OPEN] = { "open_left_out",
				 "processes' files were not searched for requests that were open "
				 "at the end: there were too many" },
	[CHAINLOG_LEFT_DATAGRAMS] = { "datagrams_left_out", "datagrams may have been requests, and "
							    "were not recorded: too "
							    "many threads read one socket" },
	[CHAINLOG_LEFT_QUOTAS] = { "throttled_left_out",
				   "times in which a thread's quota was used up are not known: too "
				   "many threads had none at once" },
	[CHAINLOG_LEFT_DISK] = { "disk_left_out", "requests to disks lack who asked for them, or "
						  "the disk: there were too "
						  "many at once" },
	[CHAINLOG_LEFT_WORK] = { "work_left_out", "work items were forgotten before they began, or "
						  "cancelled: who queued "
						  "them is not known" },
	[CHAINLOG_LEFT_CODE] = { "code_left_out",
				 "frames of interpreted code lack their functions: there was too "
				 "much code" },
	[CHAINLOG_LEFT_PROCESSES] = { "processes_left_out",
				      "processes lack contexts or interpreted code: there were too "
				      "many" },
	[CHAINLOG_LEFT_SOCKETS] = { "sockets_left_out",
				    "times a socket's requests were not recorded: there were too "
				    "many sockets for --memory" },
	[CHAINLOG_LEFT_MAPPED] = { "mapped_left_out",
				   "files were not looked at for interpreters and contexts: there "
				   "were too many" },
	[CHAINLOG_LEFT_STACKS] = { "stacks_left_out",
				   "user stacks were cut: rules for unwinding, mappings, or "
				   "threads that were asleep, were not read in time, or there "
				   "was no room to copy them" },
	[CHAINLOG_LEFT_ROUTES] = { "routes_left_out",
				   "requests lack what they ask for, or words of it: there were "
				   "too many routes, endpoints or statements" },
	[CHAINLOG_LEFT_QUICK] = { "quick_requests_left_out",
				  "requests were quick, and others stand for them" },
	[CHAINLOG_LEFT_STREAMS] = { "streams_left_out",
				    "streams of HTTP/2 were not recorded, or connections' streams "
				    "not told apart from there on: too many were open at once, or "
				    "what was read or written could not be followed" },
};

const char *left_out_key(enum chainlog_left_out what)
{
	return all[what].key;
}

const char *left_out_words(enum chainlog_left_out what)
{
	return all[what].words;
}
