#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Receives OTLP profiles by HTTP as a collector does, and holds them against what the schema's comments demand.

receiver.py SCHEMA FOLDER: SCHEMA is a folder with what protoc --python_out made. Writes its port to FOLDER/port. Of
each request FOLDER/N has a line for each sample, "RESOURCE<TAB>TYPE<TAB>ATTRIBUTES<TAB>LINK<TAB>STACK VALUE", the
stack as a folded line; N counts from 1.
"""
import gzip
import http.server
import os
import sys

schema, folder = sys.argv[1:3]
sys.path.insert(0, schema)
from opentelemetry.proto.collector.profiles.v1development import profiles_service_pb2  # noqa: E402

TABLES = ("mapping", "location", "function", "link", "string", "attribute", "stack")


def any_value(value):
    return str(getattr(value, value.WhichOneof("value")))


class Reader:
    """A request, of which everything is read once and marked as used."""

    def __init__(self, body):
        self.request = profiles_service_pb2.ExportProfilesServiceRequest()
        self.request.ParseFromString(body)
        dictionary = self.request.dictionary
        self.tables = {name: getattr(dictionary, name + "_table") for name in TABLES}
        self.used = {name: {0} for name in TABLES}
        self.check_tables()

    def check_tables(self):
        for name, table in self.tables.items():
            assert table, f"{name} table: without entry 0"
            texts = [e if name == "string" else e.SerializeToString(deterministic=True) for e in table]
            if name == "link":
                assert table[0].trace_id == bytes(16) and table[0].span_id == bytes(8), "link 0"
            else:
                assert not texts[0], f"{name} table: entry 0 is {texts[0]}"
            assert len(set(texts)) == len(texts), f"{name} table: an entry is twice"

    def at(self, name, index):
        assert 0 <= index < len(self.tables[name]), f"{name} {index} of {len(self.tables[name])}"
        self.used[name].add(index)
        return self.tables[name][index]

    def attributes(self, indices):
        pairs = []
        for index in indices:
            assert index, "attribute 0"
            entry = self.at("attribute", index)
            self.at("string", entry.unit_strindex)
            pairs.append((self.at("string", entry.key_strindex), any_value(entry.value)))
        assert len({key for key, _ in pairs}) == len(pairs), f"a key is twice: {pairs}"
        return ",".join(f"{key}={value}" for key, value in pairs)

    def frame(self, index):
        assert index, "location 0"
        location = self.at("location", index)
        mapping = self.at("mapping", location.mapping_index)
        self.at("string", mapping.filename_strindex)
        self.attributes(mapping.attribute_indices)
        self.attributes(location.attribute_indices)
        assert len(location.lines) == 1, "inlined functions are frames of their own"
        function = self.at("function", location.lines[0].function_index)
        assert location.lines[0].function_index, "function 0"
        self.at("string", function.filename_strindex)
        return self.at("string", function.name_strindex)

    def lines(self):
        for resource in self.request.resource_profiles:
            keys = [pair.key for pair in resource.resource.attributes]
            assert len(set(keys)) == len(keys), keys
            about = ",".join(f"{pair.key}={any_value(pair.value)}" for pair in resource.resource.attributes)
            for scope in resource.scope_profiles:
                assert scope.scope.name == "chainwalk" and scope.scope.version
                for profile in scope.profiles:
                    yield from self.of_profile(about, profile)
        for name in TABLES:
            unused = set(range(len(self.tables[name]))) - self.used[name]
            assert not unused, f"{name} table: nothing refers to {sorted(unused)[:5]}"

    def of_profile(self, about, profile):
        what = self.at("string", profile.sample_type.type_strindex)
        unit = self.at("string", profile.sample_type.unit_strindex)
        self.at("string", profile.period_type.type_strindex)
        self.at("string", profile.period_type.unit_strindex)
        assert profile.time_unix_nano and profile.duration_nano, "when?"
        identities = set()
        for sample in profile.samples:
            identity = (sample.stack_index, tuple(sorted(sample.attribute_indices)), sample.link_index)
            assert identity not in identities, f"two samples are the same: {identity}"
            identities.add(identity)
            assert len(sample.values) == 1 and sample.values[0] > 0, sample.values
            stack = self.at("stack", sample.stack_index)
            frames = [self.frame(i) for i in reversed(stack.location_indices)]
            link = self.at("link", sample.link_index)
            yield "\t".join((about, f"{what}/{unit}", self.attributes(sample.attribute_indices),
                             f"{link.trace_id.hex()}-{link.span_id.hex()}", f"{';'.join(frames)} {sample.values[0]}"))


class Handler(http.server.BaseHTTPRequestHandler):
    received = 0

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        status, answer = 200, profiles_service_pb2.ExportProfilesServiceResponse().SerializeToString()
        try:
            assert self.path == "/v1development/profiles", self.path
            assert self.headers["content-type"] == "application/x-protobuf", self.headers["content-type"]
            if self.headers.get("content-encoding") == "gzip":
                body = gzip.decompress(body)
            reader = Reader(body)
            # What the schema does not know would be left out by this.
            assert len(reader.request.SerializeToString()) == len(body)
            reader.request.DiscardUnknownFields()
            assert len(reader.request.SerializeToString()) == len(body), "fields that the schema does not have"
            text = "".join(line + "\n" for line in reader.lines())
            Handler.received += 1
            with open(f"{folder}/{Handler.received}", "w", encoding="utf-8") as out:
                out.write(text)
        except Exception as error:  # all of them are said to who has sent it
            status, answer = 400, f"{type(error).__name__}: {error}\n".encode()
        self.send_response(status)
        self.send_header("content-length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass


with http.server.HTTPServer(("127.0.0.1", 0), Handler) as server:
    with open(folder + "/port.new", "w", encoding="utf-8") as out:
        out.write(f"{server.server_port}\n")
    os.rename(folder + "/port.new", folder + "/port")
    server.serve_forever()
