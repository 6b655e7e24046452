#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What the options cost that docs/languages.md asks for: the service of tests/languages with and without them, in turn.
#   bench/languages.sh [ROUNDS]
#   WINDOW=6            seconds of a measurement, after as many under the same load
# Medians of ROUNDS (5): the server's CPU time for a request, in which its share of building the catalogue anew
# is, the time until it could be asked, and its memory at the most. Nothing is recorded.
set -eu
rounds=${1:-5} window=${WINDOW:-6}
tests=$(cd "$(dirname "$0")/../tests" && pwd)
dir=$(mktemp -d)
server=
end_server() {
	kill "$server" 2>/dev/null || true
	wait "$server" 2>/dev/null || true
	rm -f "/tmp/perf-$server.map"
	server=
}
clean_up() {
	[ -z "$server" ] || end_server
	rm -rf "$dir"
}
# shellcheck source=bench/begin.sh
. "$(dirname "$0")/begin.sh"
cc -O2 -D_GNU_SOURCE -pthread -o "$dir/visitors" "$tests/services/client.c" "$tests/services/client_http.c"
javac -d "$dir" "$tests/languages/Catalogue.java"
cd "$dir"

# cpu_ticks: of the server so far.
cpu_ticks() {
	awk '{ sub(/.*\) /, ""); printf "%.0f\n", $12 + $13 }' "/proc/$server/stat"
}

# measure NAME COMMAND...: a line of figures to $dir/NAME
measure() {
	local name=$1 begun ready from to count
	shift
	begun=$(date +%s%N)
	: >told
	"$@" >told 2>/dev/null &
	server=$!
	until grep -q '^port ' told; do sleep 0.01; done
	ready=$(date +%s%N)
	port=$(sed -n 's/^port //p' told)
	./visitors -c 4 -t 1 -s "$window" "$port" '/price/{}' >/dev/null
	from=$(cpu_ticks)
	count=$(./visitors -c 4 -t 1 -s "$window" "$port" '/price/{}' | awk '$1 == "count" { print $2 }')
	to=$(cpu_ticks)
	echo "$(((to - from) * 1000000 / $(getconf CLK_TCK) / count)) $(((ready - begun) / 1000000))" \
		"$(awk '/^VmHWM/ { printf "%.0f\n", $2 / 1024 }' "/proc/$server/status")" >>"$dir/$name"
	end_server
}
node=(node) java=(java -Dsun.net.httpserver.nodelay=true)
for ((i = 0; i < rounds; i++)); do
	measure node-plain "${node[@]}" "$tests/languages/catalogue.js"
	measure node-map "${node[@]}" --perf-basic-prof "$tests/languages/catalogue.js"
	measure node-both "${node[@]}" --perf-basic-prof --interpreted-frames-native-stack "$tests/languages/catalogue.js"
	measure java-plain "${java[@]}" -cp . Catalogue
	measure java-frames "${java[@]}" -XX:+PreserveFramePointer -cp . Catalogue
	measure java-early "${java[@]}" -XX:+PreserveFramePointer -XX:CompileThresholdScaling=0.01 -cp . Catalogue
done
median() {
	sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'
}
printf '%-12s %12s %10s %8s\n' service "us a request" "start, ms" "MiB"
for name in node-plain node-map node-both java-plain java-frames java-early; do
	printf '%-12s %12s %10s %8s\n' $name "$(cut -d' ' -f1 "$dir/$name" | median)" \
		"$(cut -d' ' -f2 "$dir/$name" | median)" "$(cut -d' ' -f3 "$dir/$name" | median)"
done
