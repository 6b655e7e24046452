#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The chain of a slow request to a Node.js service names the function that made it slow, its file and line: by V8's
# objects, or by its perf map.
# Beside another: it judges names in its own program's chains.
. "$(dirname "$0")/lib.sh"
needs_bpf
languages=$(cd "$(dirname "$0")/../languages" && pwd)
# shellcheck source=tests/languages/record.sh
. "$languages/record.sh"
line=$(awk '/^function buildIndex/ { print NR }' "$languages/catalogue.js")
language_record node "$cap"
expect_names "buildIndex \\(catalogue\\.js:$line\\);" 'reloadCatalogue \(catalogue\.js:[0-9]*\)'
node_options="--perf-basic-prof --interpreted-frames-native-stack"
export node_options
language_record node "$cap" --no-node
# Node.js 18 writes another kind, and no column.
expect_names "(JS|LazyCompile):.?buildIndex [^;]*/catalogue\\.js:$line(:[0-9]+)?;" '(JS|LazyCompile):.?reloadCatalogue [^;]*/catalogue\.js'
