#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The chain of a slow request to a Java service names the method that made it slow:
# with frame pointers, and the perf map that the JVM writes when the recording ends. (Lines are not in it.)
. "$(dirname "$0")/lib.sh"
needs_bpf
languages=$(cd "$(dirname "$0")/../languages" && pwd)
# shellcheck source=tests/languages/record.sh
. "$languages/record.sh"
language_record java "$cap" --java-maps
expect_names 'java\.util\.Map Catalogue\.buildIndex\(\)'
