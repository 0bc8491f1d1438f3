#!/usr/bin/env python3
"""client.py ADDRESS: grpcio (gRPC's C core) against an echo server. The messages come from v1alpha reflection, as
older grpcurl asks for it. Prints a line for each check; ends with status 1 if one failed."""
import sys
import threading

import grpc
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

SERVICE = "cuzk.v1.ProvingEngine"
ALPHA = "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo"
KIND_POREP = 1
COMPLETED = 1


def varint(n):
    out = b""
    while n >= 0x80:
        out, n = out + bytes([n & 0x7F | 0x80]), n >> 7
    return out + bytes([n])


def field(number, data):
    return varint(number << 3 | 2) + varint(len(data)) + data


def split(data):
    """The length-delimited and varint fields of a message, as (number, value)."""
    at, out = 0, []

    def number():
        nonlocal at
        value, shift = 0, 0
        while True:
            byte = data[at]
            at, value, shift = at + 1, value | (byte & 0x7F) << shift, shift + 7
            if byte < 0x80:
                return value

    while at < len(data):
        tag = number()
        value = number()
        if tag & 7 == 2:
            value, at = data[at:at + value], at + value
        out.append((tag >> 3, value))
    return out


def raw(channel, path):
    return channel.unary_unary(path, request_serializer=bytes, response_deserializer=bytes)


class Service:
    def __init__(self, channel):
        self.channel = channel
        ask = channel.stream_stream(ALPHA, request_serializer=bytes, response_deserializer=bytes)
        answers = list(ask(iter([field(7, b"*"), field(4, SERVICE.encode()), field(4, b"grpc.health.v1.Health")])))
        assert len(answers) == 3, answers
        self.names = [dict(split(s))[1].decode() for n, s in split(dict(split(answers[0]))[6])]
        pool = descriptor_pool.DescriptorPool()
        for answer in answers[1:]:
            for _, data in split(dict(split(answer))[4]):
                pool.Add(descriptor_pb2.FileDescriptorProto.FromString(data))
        self.methods = pool.FindServiceByName(SERVICE).methods_by_name
        self.health = pool.FindServiceByName("grpc.health.v1.Health").methods_by_name["Check"]

    def invoke(self, method, request=None, **options):
        request_class = message_factory.GetMessageClass(method.input_type)
        response_class = message_factory.GetMessageClass(method.output_type)
        path = f"/{method.containing_service.full_name}/{method.name}"
        call = self.channel.unary_unary(path, request_serializer=request_class.SerializeToString,
                                        response_deserializer=response_class.FromString)
        return call(request_class(**(request or {})), **options)

    def call(self, name, request=None, **options):
        return self.invoke(self.methods[name], request, **options)


def porep(job, size=4 << 20, kind=KIND_POREP):
    return {"submit": {"request_id": job, "proof_kind": kind, "vanilla_proof": b"\xa5" * size, "miner_id": 1000,
                       "sector_number": 2**64 - 1}}


def fails(code, part, function):
    try:
        function()
    except grpc.RpcError as error:
        assert error.code() == code and part in error.details(), error
        return
    raise AssertionError(f"no error, expected {code}")


def proves(service, job="porep-1000-1", size=4 << 20):
    result = service.call("Prove", porep(job, size), timeout=1800).result
    assert result.status == COMPLETED and result.job_id == job and len(result.proof) == 1920


def lists(service):
    assert SERVICE in service.names and "grpc.health.v1.Health" in service.names, service.names


def healthy(service):
    assert service.invoke(service.health, {"service": SERVICE}).status == 1
    fails(grpc.StatusCode.NOT_FOUND, "", lambda: service.invoke(service.health, {"service": "x"}))


def refuses(service):
    fails(grpc.StatusCode.INVALID_ARGUMENT, "missing submit field", lambda: service.call("Prove"))
    fails(grpc.StatusCode.INVALID_ARGUMENT, "invalid proof_kind: 77",
          lambda: service.call("Prove", porep("a", 10, 77)))
    fails(grpc.StatusCode.NOT_FOUND, "job not found: \u00e9 [1 2]",
          lambda: service.call("AwaitProof", {"job_id": "\u00e9 [1 2]"}))
    fails(grpc.StatusCode.RESOURCE_EXHAUSTED, "8388608", lambda: service.call("Prove", porep("a", 9 << 20)))
    fails(grpc.StatusCode.UNIMPLEMENTED, "", lambda: raw(service.channel, "/a.B/C")(b""))
    fails(grpc.StatusCode.INTERNAL, "malformed protobuf",
          lambda: raw(service.channel, f"/{SERVICE}/Prove")(b"\x0a\x05ab"))
    fails(grpc.StatusCode.UNIMPLEMENTED, "compressed",
          lambda: service.call("Prove", porep("a"), compression=grpc.Compression.Gzip))


def deadline(service):
    fails(grpc.StatusCode.DEADLINE_EXCEEDED, "", lambda: service.call("Prove", porep("slow-1", 10), timeout=0.05))
    future = service.channel.unary_unary(f"/{SERVICE}/Prove", request_serializer=bytes,
                                         response_deserializer=bytes).future(field(1, field(1, b"slow-2") + b"\x10\x01"))
    future.cancel()
    assert future.cancelled()
    proves(service, "slow-1", 10)


def together(service):
    errors = []

    def caller(i):
        try:
            for k in range(5):
                proves(service, f"porep-{i}-{k}", i * 300000)
                service.call("GetStatus", timeout=5)
        except Exception as error:  # reported by the thread that waits
            errors.append(error)

    threads = [threading.Thread(target=caller, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors, errors[0]


def metrics(service):
    assert "cuzk_" in service.call("GetMetrics").prometheus_text
    assert not service.call("CancelProof", {"job_id": "x"}).was_running


def main():
    address = sys.argv[1]
    limits = [("grpc.max_send_message_length", 256 << 20), ("grpc.max_receive_message_length", 256 << 20)]
    failed = 0
    with grpc.insecure_channel(address, options=limits) as channel:
        service = Service(channel)
        for check in (lists, healthy, proves, refuses, deadline, together, metrics):
            try:
                check(service)
                print(f"ok   {check.__name__}")
            except (AssertionError, grpc.RpcError) as error:
                failed += 1
                print(f"FAIL {check.__name__}: {error}")
    sys.exit(1 if failed else 0)


main()
