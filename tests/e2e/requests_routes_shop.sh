#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A shop of ten routes with three causes (tests/situations/shop.sh): the first screen says whose requests are slow beyond
# the median of their route, which thing they wait for and for which route that works meanwhile; the causes of one
# route, who holds what it waits for. A route that is always slow is none of them.
. "$(dirname "$0")/lib.sh"
needs_bpf
. "$(dirname "$0")/../services/recorded.sh"
services=$(cd "$(dirname "$0")/../situations" && pwd)
# shellcheck source=tests/situations/shop.sh
record_service shop 6 199 || skip "no $server_lacks"

timeout 300 "$walk" -q -f causes "$trace" >"$tmp/causes" 2>"$tmp/err"
expect_exit "chainwalk -f causes" 0 $?
# section ENDPOINT: of the first screen.
section() {
	AT="Requests to $1 " awk 'index($0, "Requests to ") == 1 { ours = index($0, ENVIRON["AT"]) == 1 } /^ *SHARE/ { exit } ours' "$tmp/causes"
}
# says FILE REGEX
says() { grep -qE "$2" "$1" || fail "$2 is not in
$(cat "$1")"; }

section "$endpoint" >"$tmp/of_shop"
says "$tmp/of_shop" ' of 10 routes'
for route in 'GET /orders/[*]' 'GET /users/[*]' 'GET /cart' 'POST /cart/items'; do
	says "$tmp/of_shop" "^ *[0-9]+ $route of [0-9]+, [0-9]+ % of the delay"
done
# Each of these takes as long as the slowest hundredth begins with: by their time alone they would be most of it. One that
# took longer than they do, as others had the CPUs, is rightly there.
expect_at_most "GET /report/*, which is always slow: % of the delay" 10 "$(
	sed -n 's,.* GET /report/.* \([0-9]*\) % of the delay.*,\1,p' "$tmp/of_shop" | grep . || echo 0)" "$tmp/of_shop"
# Which of the two has most of the delay depends on how fast the machine is, and who else has its CPUs; what has less than a
# quarter has no line. Both are told of their routes below.
# shellcheck disable=SC2154 # it is set by shop.sh
waits_for_redis='waits for redis-server \(tcp :'"$shop_redis"
says "$tmp/of_shop" "shop +settle_orders +[0-9]+ % +holds it, slept|$waits_for_redis"
# Where the requests of others had as much of its time, what calls all of their functions.
redis_ran='redis-server +(keysCommand|processInputBuffer)'
if grep -qE "$waits_for_redis" "$tmp/of_shop"; then
	says "$tmp/of_shop" "$redis_ran"
	section "tcp :$shop_redis" >"$tmp/of_redis"
	for command in GET HGETALL HSET; do
		says "$tmp/of_redis" "^ *[0-9]+ $command of [0-9]+, [0-9]+ % of the delay"
	done
	says "$tmp/of_redis" "\\(queue\\) +[0-9]+ % +event loop of redis-server busy with KEYS"
	says "$tmp/of_redis" "$redis_ran"
else
	echo "note: redis has less than a quarter of the delay"
fi

# The same for programs.
"$walk" --json-schema >"$tmp/schema"
"$walk" -q --json "$trace" >"$tmp/one" 2>"$tmp/err"
expect_exit "chainwalk --json" 0 $?
python3 "$(dirname "$0")/../tools/json_schema.py" "$tmp/schema" "$tmp/one" >"$tmp/unused" 2>"$tmp/err" || fail "$(cat "$tmp/err")"
expect "members of routes that it does not have" "" "$(grep routes "$tmp/unused")"
python3 - "$tmp/one" "$tmp/of_shop" <<'END' || fail "--json: not what the screen says: $(cat "$tmp/one")"
import json, sys
text = " ".join(open(sys.argv[2]).read().split())
shop = json.load(open(sys.argv[1]))["subjects"]
shop = [s for s in shop if s["kind"] == "endpoint" and s["verdict"].split(".")[0] in text][0]
assert any(r["slow"] for r in shop["routes"])
for r in shop["routes"]:
    assert not r["slow"] or "%d %s of %d, " % (r["slow"], r["name"], r["count"]) in text, r
END

# of_route ROUTE: the causes of its slow requests, a line each.
of_route() {
	timeout 300 "$walk" -q -f causes --top 6 --requests --request "$1" --slowest 5% "$trace" >"$tmp/said" 2>"$tmp/err"
	expect_exit "chainwalk --request '$1'" 0 $?
	awk '/^ *[0-9.]+ %/ { printf "\n" } { sub(/^ +/, ""); printf "%s ", $0 }' "$tmp/said" >"$tmp/of_route"
}
of_route 'GET /orders/*'
says "$tmp/of_route" 'shop/[0-9]+.* held futex .*slept in [^:;]*settle_orders'
of_route 'GET /cart'
says "$tmp/of_route" 'redis-server/[0-9]+ ran ([0-9]+ % )?in (.*< )?keysCommand'
of_route 'GET /price'
says "$tmp/of_route" 'shop/[0-9]+.* ran [^;]*price_bundle'
