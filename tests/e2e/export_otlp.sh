#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# --format=otlp is read by a receiver that decodes it with OpenTelemetry's schema, sent with curl as to a collector:
# its samples are the folded lines to the nanosecond, tables have nothing twice and nothing that is not used, each
# control group is a resource.
#   OTLP_PROTO=DIR  a checkout of opentelemetry-proto, in place of the schema in ../otlp
. "$(dirname "$0")/lib.sh"
data=$(dirname "$0")/../data
otlp=$(cd "$(dirname "$0")/../otlp" && pwd)
command -v protoc >/dev/null || skip "no protoc (Debian: protobuf-compiler), which reads the schema"
python=
for try in python3 /usr/bin/python3; do
	"$try" -c 'import google.protobuf' 2>/dev/null && python=$try
done
[ -n "$python" ] || skip "no python3 with google.protobuf (Debian: python3-protobuf), which decodes"

mkdir "$tmp/schema" "$tmp/got"
schema=${OTLP_PROTO:-$otlp}
(cd "$schema" && protoc -I . --python_out="$tmp/schema" opentelemetry/proto/common/v1/common.proto \
	opentelemetry/proto/resource/v1/resource.proto opentelemetry/proto/profiles/v1development/profiles.proto \
	opentelemetry/proto/collector/profiles/v1development/profiles_service.proto) || fail "protoc $schema"
"$python" "$otlp/receiver.py" "$tmp/schema" "$tmp/got" 2>"$tmp/receiver.err" &
started="$started $!"
wait_for "the receiver's port" 30 test -s "$tmp/got/port"
url=http://127.0.0.1:$(cat "$tmp/got/port")/v1development/profiles
n=0

# push TRACE [OPTION...]: sends it; what was received is $got, and its folded lines in nanoseconds $tmp/folded
push() {
	trace=$1
	shift
	timeout 300 "$walk" --format=otlp "$@" "$trace" 2>"$tmp/summary" | gzip | timeout 300 curl -s --data-binary @- -o "$tmp/answer" \
		-w '%{http_code}\n' -H 'Content-Type: application/x-protobuf' -H 'Content-Encoding: gzip' "$url" >"$tmp/code"
	expect "what the receiver says of $trace [$*], $(head -c 300 "$tmp/answer" | tr '\0' ' ')" 200 "$(cat "$tmp/code")"
	n=$((n + 1))
	got=$tmp/got/$n
	walk_to "$tmp/folded" "$@" "$trace"
}

# lines TYPE: folded lines of what was received of this type (an expression), equal ones added up. Where a waker ran
# while it was waited for is left out: profiles keep processes apart, and share out the time of each by its own samples.
lines() {
	awk -F'\t' -v type="$1" '$2 ~ type { print $5 }' "$got" | added_up
}
added_up() {
	awk '{ ns = $NF; sub(/ [0-9]+$/, ""); if (match($0, /;\[(running|on-CPU)\];/)) $0 = substr($0, 1, RSTART + RLENGTH - 2); sum[$0] += ns }
		END { for (line in sum) printf "%s %.0f\n", line, sum[line] }' | sort
}

for trace in "$data"/relay.bin "$data"/disk_syncs.bin "$data"/lost.bin "$data"/tenants.bin "$data"/shop.bin; do
	for options in '' '--state=all --annotate --blocked-stacks' '--mode=classic --depth=3' '--no-ends --no-delim --from=0.01 --to=0.05'; do
		# shellcheck disable=SC2086 # options, separated by spaces
		push "$trace" $options
		case $options in
		*--state*) lines '/nanoseconds$' ;;
		*) lines '^off_cpu/' ;; # running time is there, too, as a profile of its own
		esac >"$tmp/read"
		added_up <"$tmp/folded" >"$tmp/sorted"
		cmp -s "$tmp/sorted" "$tmp/read" || fail "$trace [$options]: folded lines, and what was received
$(diff "$tmp/sorted" "$tmp/read" | head -10)"
		expect "$trace [$options]: waits" "$(sed -n 's/^\([0-9]*\) waits:.*/\1/p' "$tmp/summary")" \
			"$(lines '^waits/count$' | awk '{ n += $NF } END { printf "%.0f\n", n }')"
	done
done

# Own running time is a type of its own, of a trace with samples.
push "$data/shares.bin"
walk_to "$tmp/folded" --state=running "$data/shares.bin"
expect "CPU time without --state" "$(weight_of . "$tmp/folded")" "$(lines '^cpu/nanoseconds$' | awk '{ ns += $NF } END { printf "%.0f\n", ns }')"

# Values, attributes and resources of the relay.
push "$data/relay.bin"
cut -f2 "$got" | sort -u | tr '\n' ' ' >"$tmp/types"
expect "types of values" "off_cpu/nanoseconds waits/count " "$(cat "$tmp/types")"
expect "resources" "host.name=testhost" "$(cut -f1 "$got" | sort -u)"
awk -F'\t' '{ n = split($3, pair, ","); for (i = 1; i <= n; i++) { sub(/=.*/, "", pair[i]); print pair[i] } }' "$got" |
	sort -u | grep -v '^\[' | tr '\n' ' ' >"$tmp/keys"
expect "attributes" "chain.end chain.links chain.state process.executable.name process.pid thread.name " "$(cat "$tmp/keys")"
expect "time of alpha" "$(weight_of '^alpha;' "$tmp/folded")" \
	"$(awk -F'\t' '$2 ~ /^off_cpu/ && $3 ~ /^thread[.]name=alpha,/ { sub(/.* /, "", $5); sum += $5 } END { printf "%.0f\n", sum }' "$got")"
