#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# On an idle machine one of the first two rows of all names the cause of each usual situation (tests/e2e/situations.sh).
exec sh "$(dirname "$0")/../e2e/situations.sh" "$1" -a
