#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Whether chainwalk's time grows with events and output, and not faster: each format over traces that have N (a
# million if left out) endpoints, routes, threads, names, processes, groups, objects, buckets of time, CPUs and hosts.
#   bench/many.sh BUILD_DIR [N [SECONDS]]
# Prints the seconds of CPU time that each took, and how many times those of a tenth of N; "-": more than SECONDS (300
# if left out). Exits with 1 if there is such a one. FORMATS="rows ..." and KINDS="names ..." pick some.
set -eu
export LC_ALL=C
O=$(cd "$1" && pwd)
n=${2:-1000000} limit=${3:-300} status=0
dir=$(mktemp -d "${TMPDIR:-/tmp}/bench-many.XXXXXX")
trap 'rm -rf "$dir"' EXIT
formats=${FORMATS:-folded causes requests tree json threads hist wakers objects io events info csv rows rowbinary sqlite pprof otlp perfetto html}

# seconds FORMAT TRACE: of CPU time, "-" if it takes too long, or "failed".
seconds() {
	rm -f "$dir/out"
	set -- "$1" "$2" "-o" "$dir/out"
	[ "$1" = rowbinary ] && set -- "$@" --table=waits
	format=$1 trace=$2
	shift 2
	# shellcheck disable=SC3045 # dash has it
	took=$( (ulimit -t "$limit"; "$O/bench/cost" "$O/chainwalk" -q -f "$format" "$@" "$trace") 2>"$dir/err" | cut -d' ' -f2) || took=-
	case $took in
	*[0-9]*) ! grep -q . "$dir/err" || took=failed ;;
	*) took=- ;;
	esac
	echo "$took"
}

printf '%-10s' "$n"
for format in $formats; do printf ' %14s' "$format"; done
echo
for kind in ${KINDS:-endpoints routes threads names processes groups objects buckets cpus hosts}; do
	"$O/bench/many" "$kind" "$n" "$dir/all"
	"$O/bench/many" "$kind" $((n / 10)) "$dir/tenth"
	printf '%-10s' "$kind"
	for format in $formats; do
		all=$(seconds "$format" "$dir/all")
		case $all in
		-|failed) status=1; printf ' %14s' "$all" ;;
		*) printf ' %14s' "$(echo "$all $(seconds "$format" "$dir/tenth")" | awk '{ printf "%.2f%8s", $1, ($2 > 0.02) ? sprintf("x %.0f", $1 / $2) : "" }')" ;;
		esac
	done
	echo
done
exit $status
