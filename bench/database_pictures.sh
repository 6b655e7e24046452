#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The two pictures of a busy database in docs/flamegraph.md, light and dark: MariaDB under sysbench is
# recorded for three seconds, and drawn with what it waited for and what it ran.
#     bench/database_pictures.sh BUILD_DIR OUT_DIR
# Needs root, mariadb-server, sysbench, chromium, node, and playwright-core as tests/browser/run.sh
# installs it. The trace stays in BUILD_DIR/database.bin.
set -euo pipefail
build=$(cd "${1:?usage: $0 BUILD_DIR OUT_DIR}" && pwd)
out=$(cd "${2:?usage: $0 BUILD_DIR OUT_DIR}" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
. "$here/mariadb.sh"
. "$here/../tests/browser/chromium.sh"
missing=$(mariadb_missing)
[ -z "$missing" ] || { echo "not installed: $missing" >&2; exit 77; }
[ -n "$chromium" ] || { echo "no chromium" >&2; exit 77; }
dir=$(mktemp -d /var/tmp/chain-database.XXXXXX)
export dir
trap 'mariadb_stop; rm -rf "$dir"' EXIT

export mariadb_workload=oltp_read_write
mariadb_start
mariadb_busy
"$build/chaincap" -q -o "$build/database.bin" 3
mariadb_stop
"$build/chainwalk" -q --state all --no-idle -p mariadbd "$build/database.bin" >"$dir/folded"
"$build/flamegraph" --title "MariaDB, oltp_read_write, 8 threads, 3 s" -o "$dir/database.svg" "$dir/folded"
CHROMIUM=$chromium node "$here/../tests/browser/pictures.mjs" "$dir/database.svg" "$out" database light dark
ls -l "$out"/database-*.png
