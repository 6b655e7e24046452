# SPDX-License-Identifier: GPL-2.0-or-later
#
# Threads that say themselves where they are, as paths.py: paths.rb [SEED]. Six threads call methods a to h in an order
# that each draws at random, through blocks, C, rescue, code that is made meanwhile, and fibers, in which a stack begins
# anew. For paths_judge.py:
#
# letters: block in b x, block in c y, block in d z, block (2 levels) in d w, initialize E, rescue in f r, inner G, nap n, step s
# shape: v?(s(a|b(x|$)|c(y|$)|d(z(w|$)|$)|e(E|$)|f(r|$)|g(G|$)|h$|$))*s?n?
# outermost: loop_of
# fiber: block in h v

def nap()
  sleep(rand * 0.004)
end

def step(path, at)
  if at == path.size
    nap
  else
    send(path[at], path, at + 1)
  end
end

def a(path, at)
  step(path, at)
end

def b(path, at)
  [0].each { step(path, at) }
end

def c(path, at)
  [0, 1].sort_by do |i|
    step(path, at) if i == 0
    i
  end
end

def d(path, at)
  1.times do
    [at].map { |j| step(path, j) }
  end
end

class Maker
  def initialize(path, at)
    step(path, at)
  end
end

def e(path, at)
  Maker.new(path, at)
end

def f(path, at)
  raise "on the way" if at
rescue RuntimeError
  step(path, at)
end

def made(at)
  Class.new.class_eval("def inner(path, at)\n" + "\n" * (at % 5) + "    step(path, at)\nend\nself")
end

def g(path, at)
  # Its code is freed before long, and the next one takes its place.
  made(at).new.inner(path, at)
end

def h(path, at)
  Fiber.new { step(path, at) }.resume
end

def loop_of(seed)
  draw = Random.new(seed)
  loop do
    path = Array.new(draw.rand(1..13)) { "abcdefgh"[draw.rand(8)] }.join
    Thread.current.name = "P:#{path}"
    step(path, 0)
    Thread.current.name = "between"
  end
end

seed = (ARGV[0] || 1).to_i
Array.new(6) { |i| Thread.new { loop_of(seed * 6 + i) } }
sleep
