# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
# Sourced: sets $chromium to the browser; "" if there is none.
chromium=${CHROMIUM:-}
for name in chromium chromium-browser google-chrome; do
	[ -n "$chromium" ] || chromium=$(command -v "$name") || :
done
