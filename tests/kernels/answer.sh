#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What is at the other end of the guest's network (run.sh): answers each line after 100 ms.
while read -r line; do
	sleep 0.1
	echo "answer $line"
done
