-- The chains of all hosts as folded lines, in nanoseconds: ask.sh WHERE picture | flamegraph --countname ns
-- since=0
-- until=9999999999
-- A row has a chain's time, or how often its last thread was sampled at a place; picture.awk shares the time out.
SELECT line, ns, place, samples
FROM (
	SELECT
		host || ';' || thread || CASE WHEN frames = '' THEN '' ELSE ';' || frames END AS line,
		ns, ran, samples
	FROM (
		SELECT host, thread, chain, ran, sum(blocked_ns + runnable_ns) AS ns, sum(samples) AS samples
		FROM waits
		WHERE endpoint = '' AND ended <> '[on-CPU]' AND time >= {since} AND time < {until}
		GROUP BY host, thread, chain, ran
	)
	JOIN (SELECT chain, max(frames) AS frames FROM chains GROUP BY chain) USING (chain)
	WHERE ns > 0 OR samples > 0
)
LEFT JOIN (SELECT chain AS ran, max(frames) AS place FROM chains GROUP BY chain) USING (ran)
ORDER BY line, place
