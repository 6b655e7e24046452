#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The chain of a slow request to a Node.js service names the function that made it slow, its file and line.
. "$(dirname "$0")/lib.sh"
needs_bpf
languages=$(cd "$(dirname "$0")/../languages" && pwd)
# shellcheck source=tests/languages/record.sh
. "$languages/record.sh"
language_record node "$cap"
line=$(awk '/^function buildIndex/ { print NR }' "$languages/catalogue.js")
# Node.js 18 writes another kind, and no column.
expect_names "(JS|LazyCompile):.?buildIndex [^;]*/catalogue\\.js:$line(:[0-9]+)?;" '(JS|LazyCompile):.?reloadCatalogue [^;]*/catalogue\.js'
