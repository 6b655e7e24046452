#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What a light recording costs beside a whole one: what alternate.sh says of both, for one workload after the other.
#   bench/light.sh BUILD_DIR [TURNS]   TURNS: 100
#   WORKLOADS="pipe echo redis pgbench mariadb nginx idle"   loads.sh; what is not installed is left out by name
#   RECORDERS="chaincap-light chaincap"   WINDOW and SETTLE: as there
set -eu
here=$(dirname "$0")
# shellcheck source=bench/loads.sh
. "$here/loads.sh"
for workload in ${WORKLOADS:-pipe echo redis pgbench mariadb nginx idle}; do
	missing=$(load_missing "$workload" | tr '\n' ' ')
	if [ "$missing" ]; then
		echo "left out: $workload: no $missing"
	else
		WORKLOAD=$workload RECORDERS=${RECORDERS:-chaincap-light chaincap} bash "$here/alternate.sh" "$1" "${2:-100}"
	fi
done
