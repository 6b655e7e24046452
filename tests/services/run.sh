#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Puts load on a service for some seconds, and prints what its client measured.
#   run.sh [-H] NAME [SECONDS]
#   -H     without what makes it slow
#   NAME   of one beside this file, or the path of one in another folder, without .sh
# "loading" is printed when the load begins: then is the time for "chaincap 6" beside it.
set -u
LC_ALL=C
export LC_ALL
here=$(dirname "$0") services=$(dirname "$0")
healthy=''
[ "${1:-}" != -H ] || { healthy=yes; shift; }
case ${1:-} in
*/*) services=$(dirname "$1") ;;
esac
name=$(basename "${1:-}" .sh)
[ -e "$services/$name.sh" ] || { sed -n '3,7s/^# //p' "$0" >&2; exit 2; }
dir=$(mktemp -d "${TMPDIR:-/tmp}/service.XXXXXX") || exit 1
chmod 755 "$dir"
# shellcheck source=tests/services/lib.sh
. "$here/lib.sh"
trap 'server_stop; service_end; rm -rf "$dir"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
# shellcheck disable=SC2034 # for who is sourced
service_healthy=$healthy
service "$name"
service_start || {
	status=$?
	[ $status -ne 77 ] || { echo "$name: no $server_lacks"; exit 77; }
	echo "$name does not start:"
	tail -n 5 "$dir"/*log "$dir"/*/log 2>/dev/null
	exit 1
} >&2
echo "endpoint $service_endpoint"
echo loading
service_load "${2:-10}" || { echo "$name: the client failed:"; tail -n 5 "$dir"/*log; exit 1; } >&2
cat "$dir/figures"
