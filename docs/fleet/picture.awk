# SPDX-License-Identifier: GPL-2.0-or-later
# Shares the time of each line out over the places where its last thread was sampled, as chainwalk does (section 8 of
# chain-semantics.md): in proportion, in whole nanoseconds, what is left to the largest remainders, among equals to the
# place that sorts first. In: rows of picture.sql, in order, after their header. Out: LINE, a tab, NS. Exact up to 2^53 ns.
BEGIN { FS = OFS = "\t" }
NR == 1 { next }
function line_out(text, ns) {
	if (ns > 0)
		printf "%s\t%.0f\n", text, ns
}
function flush(  i, q, r, left, best) {
	if (!n || !total) {
		line_out(line, time)
	} else {
		q = int(time / total)
		r = time % total
		left = r
		for (i = 1; i <= n; i++) {
			share[i] = q * samples[i] + int(r * samples[i] / total)
			rest[i] = r * samples[i] % total
			left -= int(r * samples[i] / total)
		}
		for (; left > 0; left--) {
			best = 1
			for (i = 2; i <= n; i++)
				if (rest[i] > rest[best])
					best = i
			share[best]++
			rest[best] = -1
		}
		for (i = 1; i <= n; i++)
			line_out(line ";" place[i], share[i])
	}
	n = total = time = 0
}
$1 != line { flush(); line = $1 }
$4 + 0 == 0 { time += $2; next }
{ n++; place[n] = $3; samples[n] = $4; total += $4 }
END { flush() }
