-- Which hosts differ: a process's blocked time a wait, the versions of kernel and recorder, and the program's build ID.
-- since=0
-- until=9999999999
-- top=20
SELECT host, n AS waits, mean_us, kernel, recorder, build_id
FROM (
	SELECT host, n, mean_us, kernel, recorder
	FROM (
		SELECT host, sum(waits) AS n, round(sum(blocked_ns) / 1e3 / sum(waits), 1) AS mean_us
		FROM waits
		WHERE endpoint = '' AND process = '{process}' AND time >= {since} AND time < {until}
		GROUP BY host
		HAVING sum(waits) > 0
	)
	JOIN (SELECT host, max(kernel) AS kernel, max(recorder) AS recorder FROM traces GROUP BY host) USING (host)
)
LEFT JOIN (
	SELECT host, max(build_id) AS build_id FROM modules
	WHERE path LIKE '%/{process}' AND time >= {since} AND time < {until}
	GROUP BY host
) USING (host)
ORDER BY mean_us DESC, host
LIMIT {top}
