# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# To be sourced by what records, when its clean_up() is defined: that is called in the end, also when the
# script is interrupted.
trap clean_up EXIT
trap 'exit 130' INT TERM
if [ "$(id -u)" != 0 ]; then
	echo "bench: needs root" >&2
	exit 1
fi
