# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares the stacks of threads that say themselves where they are: paths_judge.py SOURCE FOLDED [whole].

SOURCE is the program, FOLDED what `chainwalk -U -d 0 --no-ends` says of it. A thread that sleeps in its functions is
called "P:" and the letters of those among a to h that it is in, the outermost first; while it is on its way in or out
it is in the first of them. SOURCE also says, in lines of a comment:

    letters:    for other functions that stand in between a letter each
    shape:      a regular expression for the letters of all, the outermost first
    outermost:  a function that all of these stacks begin with
    fiber:      optional: in stacks without that one, the function that begins them, and its letter: it is called by h
    may lack:   optional: without "whole" each function may be missing, but the others are in their order

    lines:      optional: a regular expression that finds functions and classes in the line that all their frames have
    calls:      optional: functions that call others of these in a line that names them; each frame but the innermost
                of these has a line then

Each frame must be in a line of its function, where this is one of SOURCE. Exit status 1 if a stack is wrong.
"""
import collections
import re
import sys

source, folded, *whole_asked = sys.argv[1:]
text = open(source, encoding="utf-8").read().splitlines()


def said(key):
    return next((line.split(key + ":", 1)[1].strip() for line in text if line.strip(" *#/").startswith(key + ":")), "")


letters = {name: name for name in "abcdefgh"}
letters.update(pair.rsplit(maxsplit=1) for pair in said("letters").split(","))
letters = {name.strip(): letter for name, letter in letters.items()}
# Its function is not known: code that was new, on a busy machine. It may be several that were compiled as one.
unnamed = "[interpreted code]"
letters[unnamed] = "?"
shape = re.compile(said("shape"))
outermost = said("outermost")
fiber = said("fiber").rsplit(maxsplit=1)
if fiber:
    letters[fiber[0]] = fiber[1]
may_lack = bool(said("may lack")) and not whole_asked
calls = said("calls").split()
# Ruby's blocks are "block (2 levels) in NAME".
inside = r"(?:\w+ (?:\(\d+ levels\) )?in )?"
frame = re.compile(r"(?:[\w$]+(?:\.|::))?(" + inside + r"[<>{}\w]+|\[interpreted code\])(?: \(((?:[^()]|\(eval\))*?)(?::(\d+))?\))?$")


def is_prefix(path, name):
    """Whether the thread that says it is on its way to name can be at path, and whether it is there."""
    pattern = path.replace("?", "[a-h]*")
    return bool(re.match(pattern, name)), bool(re.fullmatch(pattern, name))


def is_part(path, name):
    """The same of one that may lack functions, which is there without any if all others are."""
    rest = iter(name)
    return all(c in rest for c in path.replace("?", "")), path == name


def in_fiber(path, name):
    ways = [is_prefix(path, name[i + 1 :]) for i, c in enumerate(name) if c == "h"]
    return any(w[0] for w in ways), any(w[1] for w in ways)


lines, function = collections.defaultdict(set), None
begins_in = said("lines") and re.compile(said("lines"))
for number, line in enumerate(text, 1):
    if begins_in:
        for name in begins_in.findall(line):
            lines[name].add(number)
        continue
    found = re.match(r"\s*(?:def|(?:static |public |synchronized )*(?:function|void|String)) (\w+)\(", line)
    if found:
        function = found[1]
    if function:
        lines[function].add(number)
    # Where it begins, and as long as it is in no line yet: with what decorates it.
    if found and number > 1 and text[number - 2].lstrip().startswith("@"):
        lines[function].add(number - 1)



def is_called_there(caller, called):
    """Whether the line of a frame is there, and names what it calls."""
    if unnamed in (caller[1], called[1]):
        return True
    if caller[1] not in letters or not source.endswith("/" + caller[2]):
        return True
    return bool(caller[3]) and (caller[1] not in calls or called[1].replace("<init>", "d") + "(" in text[int(caller[3]) - 1])


right = on_the_way = lacking = wrong = without = 0
all_ns = with_ns = 0
for line in open(folded, encoding="utf-8", errors="replace"):
    stack, ns = line.rsplit(" ", 1)
    name, *frames = stack.split(";")
    found = [m for m in map(frame.match, frames) if m]
    names = [m[1] for m in found]
    if not name.startswith("P:"):
        continue
    all_ns += int(ns)
    # Frames with a source file; without one they are native.
    if any(m[2] for m in found):
        with_ns += int(ns)
    begins = outermost in names
    if not begins and not (fiber and fiber[0] in names):
        without += 1
        continue
    found = found[names.index(outermost) + 1 if begins else names.index(fiber[0]) :]
    found = [m for m in found if m[1] in letters and (m[2] or m[1] in ("made", unnamed))]
    bad = [m[0] for m in found if m[3] and source.endswith("/" + m[2]) and int(m[3]) not in lines.get(m[1].split(" in ")[-1], {int(m[3])})]
    if calls:
        bad += [f"{a[0]} calls {b[0]}" for a, b in zip(found, found[1:]) if not is_called_there(a, b)]
    whole = "".join(letters[m[1]] for m in found)
    path = "".join(c for c in whole if c in "abcdefgh?")
    some_lack = may_lack or "?" in whole
    can_be, is_there = (is_part if may_lack else is_prefix if begins else in_fiber)(path, name[2:])
    if bad or not (some_lack or shape.fullmatch(whole)) or not can_be:
        wrong += 1
        print("wrong:", bad, whole, line[:900])
    elif some_lack and not shape.fullmatch(whole):
        lacking += 1
    elif is_there:
        right += 1
    else:
        on_the_way += 1
print(
    f"stacks {right + on_the_way + lacking + wrong + without} right {right} on their way {on_the_way} "
    f"{f'lacking some {lacking} ' if lacking else ''}wrong {wrong} without {without}; time with frames {100 * with_ns / max(all_ns, 1):.2f} %"
)
sys.exit(1 if wrong or not right else 0)
