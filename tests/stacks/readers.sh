# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
# The processes that read call frame information for a recorder; to be sourced.

# children PID NAME: of that process, with that name.
children() {
	awk -v parent="$1" -v name="$2" '
		$1 == "Name:" { is_it = $2 == name }
		$1 == "PPid:" && is_it && $2 == parent { split(FILENAME, part, "/"); print part[3] }' \
		/proc/[0-9]*/status 2>/dev/null
}

# readers PID: those of that recorder
readers() {
	for parent in $(children "$1" chaincap-reader); do # 15 characters
		children "$parent" chaincap-rules
	done
}
