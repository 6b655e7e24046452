/* SPDX-License-Identifier: GPL-2.0-or-later */
/* chainleft.h - what a recorder leaves out. Part of chainlog.h and of chainwire.h. */
#pragma once

/*
 * What a recorder left out for want of room or of time, and counted. Its tag in the END block is
 * CHAINLOG_END_UNTOLD and the value; include/common/left_out.c has the words.
 */
enum chainlog_left_out {
	CHAINLOG_LEFT_REQUESTS, /* requests that came too fast */
	CHAINLOG_LEFT_PROBED,	/* those of --request, as too many others had begun */
	CHAINLOG_LEFT_LISTS,	/* lists of threads and connections that took too long */
	CHAINLOG_LEFT_OPEN, /* tables of files that were not searched for open requests at the end
			     */
	CHAINLOG_LEFT_DATAGRAMS, /* that were read by more threads of a socket than are kept */
	CHAINLOG_LEFT_QUOTAS, /* times in which threads had no quota: too many had none at once */
	CHAINLOG_LEFT_DISK,   /* requests to disks, or their askers: too many at once */
	CHAINLOG_LEFT_WORK,   /* work items that were forgotten before they began, or cancelled */
	CHAINLOG_LEFT_CODE, /* frames of interpreted code that was forgotten: there was too much */
	CHAINLOG_LEFT_PROCESSES, /* with contexts or an interpreter: there were too many */
	CHAINLOG_LEFT_SOCKETS,	 /* times a socket got no room: too many were in use */
	CHAINLOG_LEFT_MAPPED,	 /* files that were mapped and not looked at for interpreters */
	CHAINLOG_LEFT_STACKS,	 /* user stacks that were cut, as rules came too late */
	CHAINLOG_LEFT_OUTS,
};
