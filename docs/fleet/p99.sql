-- What the slowest requests of a service wait for: the time by chain of those that took as long as the quantile, or longer.
-- quantile=0.99
-- since=0
-- until=9999999999
-- top=20
SELECT round(blocked_ns / 1e6, 3) AS ms, frames
FROM (
	SELECT chain, sum(blocked_ns) AS blocked_ns
	FROM waits
	WHERE endpoint = '{endpoint}' AND time >= {since} AND time < {until} AND latency_ns >= (
		SELECT min(latency_ns) FROM (
			SELECT latency_ns, sum(n) AS below
			FROM (
				SELECT latency_ns, 1 AS one FROM waits
				WHERE endpoint = '{endpoint}' AND time >= {since} AND time < {until} AND waits > 0
				GROUP BY latency_ns
			)
			JOIN (
				SELECT latency_ns AS shorter_ns, sum(waits) AS n, 1 AS one FROM waits
				WHERE endpoint = '{endpoint}' AND time >= {since} AND time < {until} AND waits > 0
				GROUP BY latency_ns
			) USING (one)
			WHERE shorter_ns <= latency_ns
			GROUP BY latency_ns
		)
		WHERE below >= {quantile} * (
			SELECT sum(waits) FROM waits WHERE endpoint = '{endpoint}' AND time >= {since} AND time < {until}
		)
	)
	GROUP BY chain
)
JOIN (SELECT chain, max(frames) AS frames FROM chains GROUP BY chain) USING (chain)
ORDER BY blocked_ns DESC, frames
LIMIT {top}
