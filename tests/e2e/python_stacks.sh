#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Python functions in the stacks of threads that say themselves where they are: none is wrong, whether the trace is
# written at once or by the flight recorder; and what the program did before its end is named after it.
# Beside another: it judges the stacks of its own process.
. "$(dirname "$0")/lib.sh"
needs_bpf
command -v python3 >/dev/null || skip "no python3"
python=$(command -v /usr/bin/python3 || command -v python3)
# shellcheck source=tests/stacks/recorded.sh
. "$(dirname "$0")/../stacks/recorded.sh"
record_paths "$python" paths.py
