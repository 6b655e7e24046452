# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
# The processes of a recorder; to be sourced.

# below PID: a line "PID PARENT STATE KIB NAME" of that process and of each below it. KIB: memory that no file backs
below() {
	cat /proc/[0-9]*/status 2>/dev/null | awk -v top="$1" '
		$1 == "Name:" { name = $2 }
		$1 == "State:" { state = $2 }
		$1 == "Pid:" { pid = $2 }
		$1 == "PPid:" { parent[pid] = $2; named[pid] = name; does[pid] = state }
		$1 == "RssAnon:" || $1 == "RssShmem:" { kib[pid] += $2 }
		END {
			is_below[top]
			for (more = 1; more;) {
				more = 0
				for (pid in parent)
					if (!(pid in is_below) && (parent[pid] in is_below)) {
						is_below[pid]
						more = 1
					}
			}
			for (pid in parent)
				if (pid in is_below)
					printf "%.0f %.0f %s %.0f %s\n", pid, parent[pid], does[pid], kib[pid], named[pid]
		}'
}

# children PID NAME: of that process, with that name.
children() { below "$1" | awk -v parent="$1" -v name="$2" '$2 == parent && $5 == name { print $1 }'; }

# readers PID: those that read call frame information for that recorder
readers() {
	for parent in $(children "$1" chaincap-reader); do # 15 characters
		children "$parent" chaincap-rules
	done
}

# kib_below PID: the memory of that process and of all below it
kib_below() { below "$1" | awk '{ kib += $4 } END { printf "%.0f\n", kib }'; }
