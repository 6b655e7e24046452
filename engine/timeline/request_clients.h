/* SPDX-License-Identifier: GPL-2.0-or-later */
/* request_clients.h - makes the clients that wait for a trace's requests (requests.h). */
#pragma once

#include "timeline.h"

/*
 * When all else of the timelines is there: checks their requests, makes indexes and endpoints, and
 * appends the clients.
 */
void request_clients_make(struct timelines *tl);
