-- Which chains cost most from `since` on, and less before: milliseconds blocked in a second of recording.
-- before=0
-- until=9999999999
-- process=%
-- top=20
SELECT round(now, 3) AS now_ms, round(earlier, 3) AS before_ms, process, thread, frames
FROM (
	SELECT process, thread, chain,
		sum(CASE WHEN time >= {since} THEN blocked_ns ELSE 0 END) * 1e3 /
			(SELECT coalesce(sum(duration_ns), 0) + 1 FROM traces WHERE time >= {since} AND time < {until}) AS now,
		sum(CASE WHEN time < {since} THEN blocked_ns ELSE 0 END) * 1e3 /
			(SELECT coalesce(sum(duration_ns), 0) + 1 FROM traces WHERE time >= {before} AND time < {since}) AS earlier
	FROM waits
	WHERE endpoint = '' AND process LIKE '{process}' AND time >= {before} AND time < {until} AND blocked_ns > 0
	GROUP BY process, thread, chain
	HAVING now > earlier
	ORDER BY now - earlier DESC, process, thread, chain
	LIMIT {top}
)
JOIN (SELECT chain, max(frames) AS frames FROM chains GROUP BY chain) USING (chain)
ORDER BY now - earlier DESC, process, thread, frames
