# SPDX-License-Identifier: GPL-2.0-or-later
"""
Three connections, one call after the other on each; some have headers and bodies that no trace may have. Then two with
calls that overlap; prints how long each took, in ns, in order.
"""
import sys
import time

import grpc

for connection in range(3):
    options = [("grpc.use_local_subchannel_pool", 1)]
    with grpc.insecure_channel("127.0.0.1:" + sys.argv[1], options=options) as channel:
        add = channel.unary_unary("/shop.Cart/AddItem")
        get = channel.unary_unary("/shop.Cart/GetCart")
        for i in range(40):
            add(b"bodyzzsecret" * i, metadata=[("authorization", "Bearer passzzsecret%d" % i)])
            get(b"", metadata=[("x-own", "headerzzsecret")])
        if connection == 0:
            for i in range(9):
                channel.unary_unary("/reset.Password/correcthorse")(b"")

took = []


def overlap(slow, n):
    """n calls at a time."""
    calls = []
    for i in range(n):
        began = time.monotonic_ns()
        call = slow.future(b"")
        call.add_done_callback(lambda _, began=began: took.append(time.monotonic_ns() - began))
        calls.append(call)
    for call in calls:
        call.result()


for connection in range(2):
    with grpc.insecure_channel("127.0.0.1:" + sys.argv[1], options=options) as channel:
        for i in range(5):
            overlap(channel.unary_unary("/shop.Cart/Slow"), 20)
print(*sorted(took), sep="\n")
