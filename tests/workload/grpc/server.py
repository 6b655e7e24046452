# SPDX-License-Identifier: GPL-2.0-or-later
"""
A gRPC server without TLS: answers any unary call, two at a time, one for .../Slow only after a while. Says its port, and
when its input ends, how often each was called.
"""
import sys
import time
from collections import Counter
from concurrent import futures

import grpc

counted = Counter()


class Anything(grpc.GenericRpcHandler):
    def service(self, details):
        def answer(request, context):
            counted[details.method] += 1
            if details.method.endswith("/Slow"):
                time.sleep(0.01)
            return b"ok"

        return grpc.unary_unary_rpc_method_handler(answer)


server = grpc.server(futures.ThreadPoolExecutor(2))
server.add_generic_rpc_handlers((Anything(),))
print(server.add_insecure_port("127.0.0.1:0"), flush=True)
server.start()
sys.stdin.read()
server.stop(1).wait()
for method, times in sorted(counted.items()):
    print(times, method)
