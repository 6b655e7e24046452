# SPDX-License-Identifier: GPL-2.0-or-later
# What the scripts here put before their own awk programs.

# Sorts the numbers in the text into v[1] and so on; returns how many there are.
function sorted(text, v,    n, i, j, t) {
	n = split(text, v, " ")
	for (i = 2; i <= n; i++)
		for (j = i; j > 1 && v[j] + 0 < v[j - 1] + 0; j--) { t = v[j]; v[j] = v[j - 1]; v[j - 1] = t }
	return n
}

# The median of the numbers in the text.
function median(text,    n, v) {
	n = sorted(text, v)
	return n % 2 ? v[(n + 1) / 2] : (v[n / 2] + v[n / 2 + 1]) / 2
}
