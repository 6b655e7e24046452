#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The chain of a slow request to a Java service names the method that made it slow:
# of a JVM that was given no option.
# Beside another: it judges names in its own program's chains.
. "$(dirname "$0")/lib.sh"
needs_bpf
languages=$(cd "$(dirname "$0")/../languages" && pwd)
# shellcheck source=tests/languages/record.sh
. "$languages/record.sh"
language_record java "$cap"
expect_names ';Catalogue\.(buildIndex|reload) \(Catalogue\.java:' ';Catalogue\.findPrice \(Catalogue\.java:'
