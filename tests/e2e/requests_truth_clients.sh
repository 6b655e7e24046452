#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Usual servers under the load of the usual programs: as many requests as these counted, logins told apart, none
# shorter than the server was made to take, and none longer than its client's; what each took adds up to the
# nanosecond in all formats, and the second engine says the same.
. "$(dirname "$0")/lib.sh"
needs_bpf
command -v python3 >/dev/null || skip "no python3"
. "$(dirname "$0")/../services/recorded.sh"
# shellcheck disable=SC2034 # for the services
service_slow=yes

if record_service redis 1; then
	look_at "$endpoint"
	# redis-benchmark asks for the server's settings on one more connection.
	expect_at_least "redis: requests" $(($(figure count) + 1)) $(($(recorded count) + $(recorded first)))
	expect_at_most "redis: requests" $(($(figure count) + 2)) $(($(recorded count) + $(recorded first)))
	expect "redis: requests of whose command nothing is known" 0 "$(recorded first)"
	expect_at_least "redis: ns of a request in the middle" 5000000 "$(recorded p50_ns)"
	adds_up
	second_opinion
fi

if record_service pgbench 1; then
	look_at "$endpoint" "$dir/latencies_us" 1000
	# A connection of pgbench's own, and one of each of its eight clients: the login is the first request of each.
	expect "PostgreSQL: requests" "$(figure count)" "$(recorded count)"
	expect "PostgreSQL: logins" 9 "$(recorded first)"
	expect_at_least "PostgreSQL: ns of the shortest" 5000000 "$(recorded least_counted_ns)"
	not_longer
	adds_up
	second_opinion
fi

if record_service mariadb 1; then
	look_at "$endpoint"
	expect "MariaDB: requests" "$(figure count)" "$(recorded count)"
	expect_at_least "MariaDB: logins" 8 "$(recorded first)"
	expect_at_least "MariaDB: ns of the shortest" 5000000 "$(recorded least_counted_ns)"
	adds_up
fi

for name in nginx nginx_proxy; do
	record_service $name 1 || continue
	look_at "$endpoint"
	expect "$name: requests" "$(figure count)" $(($(recorded count) + $(recorded first)))
	adds_up
	[ $name = nginx_proxy ] || continue
	upstream="tcp :$(sed -n 's/^port //p' "$dir/served")"
	look_at "$upstream"
	expect "nginx_proxy: requests of the server behind it" "$(figure count)" $(($(recorded count) + $(recorded first)))
done
[ "$ran" ] || skip "no server is installed"
