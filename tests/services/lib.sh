# shellcheck shell=sh disable=SC2034,SC2154 # dir and services are the sourcing script's
# SPDX-License-Identifier: GPL-2.0-or-later
# Servers under load, with clients that measure for themselves; to be sourced. Wants $services, the folder of
# this file, and $dir, an empty folder that any user may enter.
#
#   service_all             the services that are sometimes slow, each for one cause: README.md
#   service_loads           usual servers under the load of usual programs
#   service NAME            the functions below are about this one from now on
#   service_start           0: it runs, at $service_endpoint; 77: not installed, $server_lacks says what; else it
#                           does not start. Without what makes it slow if $service_healthy is not empty.
#                           $service_slow not empty: a usual server takes 5 ms or more for each request.
#   service_load SECONDS    about; the client's own figures are in $dir/figures then: lines "NAME VALUE" for
#                           count, p50_us, p90_us, p99_us, max_us
#   service_expect WHAT     from NAME.expect: a regular expression, or a number
#   service_end             removes what else it made
#   server_stop             ends all that was started
# shellcheck source=tests/stacks/servers.sh
. "$services/../stacks/servers.sh"
service_all="python node go c java postgresql php"
service_loads="nginx nginx_proxy redis mariadb pgbench"
service_healthy='' service_slow=''

service() {
	service_name=$1
	service_endpoint='' service_pid=''
	service_end() { :; }
	# shellcheck source=/dev/null # one of those beside this file
	. "$services/$1.sh"
}

service_build() {
	service_program=$1
	shift
	(cd "$services" && cc -O2 -D_GNU_SOURCE -pthread -o "$dir/$service_program" "$@") 2>"$dir/build.log"
}

# service_compile c++|rust NAME OPTION...: $services/NAME into $dir/NAME.
service_compile() {
	service_program=$2
	case $1 in
	c++) shift 2; g++ -O2 -std=c++17 -pthread -o "$dir/$service_program" "$services/$service_program.cc" "$@" ;;
	rust) shift 2; rustc -O -o "$dir/$service_program" "$services/$service_program.rs" "$@" ;;
	esac 2>"$dir/build.log"
}

# favour COMMAND... &: before who else wants a CPU, also from other sessions, as far as this user may do so: what it takes is
# then its own time. It has the shell's process id.
favour() {
	exec setsid sh -c '{ echo -15 >/proc/self/autogroup; } 2>/dev/null; exec nice -n -15 "$@"' sh "$@"
}

# service_run COMMAND...: a server that prints "port N" when it can be asked; $service_pid, which is empty before that.
service_run() {
	"$@" >"$dir/served" 2>"$dir/server.log" &
	service_pid=$!
	server_kept="$server_kept $!"
	until_there 60 grep -q '^port ' "$dir/served" || return 1
	service_port=$(sed -n 's/^port //p' "$dir/served")
	service_endpoint="tcp :$service_port"
}

# service_upstream NAME: a server that service_run does not take for the service; $service_port.
service_upstream() {
	[ -x "$dir/upstream" ] || service_compile c++ upstream || return 1
	"$dir/upstream" "$1" >"$dir/$1.served" 2>"$dir/$1.log" &
	server_kept="$server_kept $!"
	until_there 60 grep -q '^port ' "$dir/$1.served" || return 1
	service_port=$(sed -n 's/^port //p' "$dir/$1.served")
}

# service_until_done COMMAND...: in the foreground, but a signal ends it with everything else.
service_until_done() {
	"$@" &
	service_others=$server_kept
	server_kept="$server_kept $!"
	wait $!
	service_status=$?
	server_kept=$service_others
	return $service_status
}

# service_ask OPTION...: the client; latencies in $dir/latencies_ns. What is left of several that run at a time are the figures of all.
service_ask() {
	[ -x "$dir/visitors" ] || service_build visitors ../services/client.c ../services/client_http.c || return 1
	service_until_done "$dir/visitors" -l "$dir/latencies_ns" "$@" >"$dir/figures" 2>"$dir/client.log"
}

# service_figures UNITS FILE...: from latencies in such units, so many a microsecond.
service_figures() {
	service_units=$1
	shift
	sort -n "$@" | awk -v units="$service_units" '
		{ v[NR] = $1 / units }
		function percentile(p,   rank) { rank = int((NR * p + 99) / 100); return v[rank ? rank : 1] }
		END {
			if (!NR) exit 1
			printf "count %.0f\np50_us %.1f\np90_us %.1f\np99_us %.1f\nmax_us %.1f\n", NR,
				percentile(50), percentile(90), percentile(99), v[NR]
		}' >"$dir/figures"
}

service_expect() {
	sed -n "s/^$1[[:space:]]*//p" "$services/$service_name.expect" |
		awk -v endpoint="$service_endpoint" '{ gsub(/ENDPOINT/, endpoint); print }'
}

# service_free_port: one to which nobody listens, in $service_port.
service_free_port() {
	service_port=$((20000 + $$ % 10000))
	while grep -q "$(printf ':%04X ' "$service_port")" /proc/net/tcp /proc/net/tcp6 2>/dev/null; do
		service_port=$((service_port + 1))
	done
	service_endpoint="tcp :$service_port"
}
