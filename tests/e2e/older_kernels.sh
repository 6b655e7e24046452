#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The programs for older kernels, which this one takes, too: what they lack is said and not recorded, and what they
# record is right, as those tests judge that are for all kernels.
. "$(dirname "$0")/lib.sh"
only_all "what make test-kernels tries on the kernels themselves"
needs_usual "which programs this kernel takes is tested by all tests"
tests=$(dirname "$0")
for programs in older plain; do
	with=$tmp/with-$programs
	mkdir "$with"
	ln -s "$build"/* "$with"
	ln -sf "$build/$programs/chaincap" "$with"
	more=
	[ $programs = plain ] || more='relay objects context_softirq'
	for test in ../kernels/guest/lacking never_woken context_interrupt $more; do
		bash "$tests/$test.sh" "$with" >"$tmp/log" 2>&1 || fail "$programs programs: ${test##*/}: $(cat "$tmp/log")"
		echo "note: $programs programs: ${test##*/}"
	done
done
