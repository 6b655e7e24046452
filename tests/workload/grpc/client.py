# SPDX-License-Identifier: GPL-2.0-or-later
"""Three connections, one call after the other on each; some have headers and bodies that no trace may have."""
import sys

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
