#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What requests queue for (situations.sh): services in several languages, each with one thing that requests wait for while
# who has it waits for another one. Half of them; "make test-all" has all, and again without what makes them slow.
. "$(dirname "$0")/lib.sh"
needs_bpf
services="session fpm connections own_pool neighbour sql_pool node_pool"
[ ! "${ALL:-}" ] || services="$services loop passwords ddl log_pipe upstreams"
# shellcheck disable=SC2086 # a list
sh "$(dirname "$0")/situations.sh" "$build" $services || exit
# shellcheck disable=SC2086
[ ! "${ALL:-}" ] || sh "$(dirname "$0")/situations.sh" "$build" -H $services
