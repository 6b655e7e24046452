#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The first screen, 24 lines of 80 columns, names what makes the slowest requests of six recorded services slow.
# tests/speed/requests_first_screen.sh does the same with services that run meanwhile; tests/services/ has them, and what
# is to be named.
. "$(dirname "$0")/lib.sh"
services=$(cd "$(dirname "$0")/../services" && pwd)
# shellcheck source=tests/services/screen.sh
. "$services/screen.sh"
data=$(cd "$(dirname "$0")/../data/services" && pwd)
judged=0
while read -r service endpoint; do
	on_terminal "$walk -q $data/$service.bin" | screenful >"$tmp/screen"
	block_of "$endpoint" <"$tmp/screen" >"$tmp/block"
	expect_block "$service" "$tmp/block" thread function object
	share=$(share_of "$service" "$tmp/block" function)
	expect_at_least "$service: percent of the slowest requests' time" "$(expected "$service" share)" "$share" "$tmp/screen"
	judged=$((judged + 1))
done <"$data/endpoints"
expect "recorded services" 6 "$judged"
