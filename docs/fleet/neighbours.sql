-- Who has the CPU that a control group waits for: milliseconds in which its threads could have run, by host.
-- since=0
-- until=9999999999
-- top=20
SELECT had_cpu, host, round(sum(runnable_ns + preempted_ns + blocked_ns) / 1e6, 3) AS ms
FROM waits
WHERE endpoint = '' AND cgroup = '{cgroup}' AND had_cpu <> '' AND time >= {since} AND time < {until}
GROUP BY had_cpu, host
ORDER BY ms DESC, had_cpu, host
LIMIT {top}
