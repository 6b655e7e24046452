# SPDX-License-Identifier: GPL-2.0-or-later
# Reads a log, and packs each segment of it before it reads on.
segment = ""
while (part = $stdin.readpartial(65536) rescue nil)
  segment << part
  next if segment.size < Integer(ARGV[0])
  IO.popen(["xz", "-9", "-T1"], "r+b") do |xz|
    xz.write(segment * 4)
    xz.close_write
    xz.read
  end
  segment = ""
end
