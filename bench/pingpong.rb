# SPDX-License-Identifier: GPL-2.0-or-later
# As pingpong.py: two threads hand a byte to and fro through pipes, in methods that call themselves so deep:
# pingpong.rb DEPTH ROUNDS
DEPTH, ROUNDS = ARGV.map(&:to_i)

def descend(levels, ours, theirs, first)
  return descend(levels - 1, ours, theirs, first) if levels > 0
  theirs.syswrite("x") if first
  (ROUNDS - (first ? 1 : 0)).times do
    ours.sysread(1)
    theirs.syswrite("x")
  end
  ours.sysread(1) if first
end

here, to_here = IO.pipe
there, to_there = IO.pipe
other = Thread.new { descend(DEPTH, there, to_here, false) }
descend(DEPTH, here, to_there, true)
other.join
