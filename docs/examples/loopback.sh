#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A service on the same machine takes 40 ms for an answer, and nobody is busy.
. "$(dirname "$0")/lib.sh"
compile loopback

title "The symptom"
record loopback 50
show loopback 50
before=$(loopback 50 | awk '{ print $3 }')

title "Off-CPU, off-wake, chain: the same wait"
show chainwalk -f tree -c '^client$' --top 1 --depth 0 trace.bin
show chainwalk -f tree -c '^client$' --top 1 --depth 1 trace.bin
show chainwalk -f tree -c '^client$' --top 1 trace.bin
pictures "A client of a service on the same machine" 3 -c '^client$'
claim "of the client's waits, woken by the service" 90 "$(share ';service;' off-wake.folded)"
claim "of the client's waits, for a timer" 60 "$(share ';service;--;.*timer.*\[(timer|network)\]' chain.folded)"

title "The cure"
show loopback --nodelay 50
cured "ms an answer" "$before" "$(loopback --nodelay 50 | awk '{ print $3 }')" 10
