"""librdkafka itself, by its C interface: the library inside the `confluent-kafka` package.

The Python package hides what the probes ask for: partitioners as functions, results of single
configuration properties, effective values, and the mock cluster's controls.
"""

import ctypes
import json
from ctypes import POINTER, Structure, byref, c_char_p, c_int, c_int32, c_int64, c_size_t, c_void_p
from pathlib import Path

PRODUCER = 0
CONF_OK = 0
CONF_RESULTS = {-2: "UNKNOWN", -1: "INVALID", 0: "OK"}
MSG_F_COPY = 2
QUEUE_FULL = -184
PARTITION_UNASSIGNED = -1
TEXT_BYTES = 512


def load():
    import confluent_kafka

    folder = Path(confluent_kafka.__file__).parent.parent / "confluent_kafka.libs"
    (path,) = folder.glob("librdkafka-*.so*")
    library = ctypes.CDLL(str(path))
    for name in POINTER_RESULTS:
        getattr(library, name).restype = c_void_p
    for name in TEXT_RESULTS:
        getattr(library, name).restype = c_char_p
    library.rd_kafka_mock_request_timestamp.restype = c_int64
    library.rd_kafka_mock_request_api_key.restype = ctypes.c_int16
    return library


POINTER_RESULTS = [
    "rd_kafka_conf_new",
    "rd_kafka_conf_dump",
    "rd_kafka_topic_conf_dump",
    "rd_kafka_conf",
    "rd_kafka_conf_get_default_topic_conf",
    "rd_kafka_new",
    "rd_kafka_topic_new",
    "rd_kafka_handle_mock_cluster",
    "rd_kafka_mock_get_requests",
]
TEXT_RESULTS = ["rd_kafka_err2str", "rd_kafka_err2name", "rd_kafka_topic_name"]


class Message(Structure):
    """`rd_kafka_message_t`."""

    _fields_ = [
        ("err", c_int),
        ("rkt", c_void_p),
        ("partition", c_int32),
        ("payload", c_void_p),
        ("len", c_size_t),
        ("key", c_void_p),
        ("key_len", c_size_t),
        ("offset", c_int64),
        ("private", c_void_p),
    ]


DELIVERY = ctypes.CFUNCTYPE(None, c_void_p, POINTER(Message), c_void_p)
LOG = ctypes.CFUNCTYPE(None, c_void_p, c_int, c_char_p, c_char_p)
STATISTICS = ctypes.CFUNCTYPE(c_int, c_void_p, c_char_p, c_size_t, c_void_p)

LIB = load()


class Refused(Exception):
    """The library did not accept a configuration: where, with which code, in which words."""

    def __init__(self, where, code, text):
        super().__init__(f"{where}: {code}: {text}")
        self.where, self.code, self.text = where, code, text


def error_name(code):
    return LIB.rd_kafka_err2name(code).decode()


def error_text(code):
    return LIB.rd_kafka_err2str(code).decode()


class Client:
    """A producer. Callbacks get plain values: `delivered(number, code, partition)` with the number
    that `produce` was given, `logged(level, facility, text)`, `measured(statistics)`."""

    def __init__(self, config, delivered=None, logged=None, measured=None):
        conf = c_void_p(LIB.rd_kafka_conf_new())
        self.callbacks = []
        self.handle = None
        self.topics = {}
        if delivered:
            # Numbers travel as pointers, and a pointer of 0 arrives as None.
            self.hook(conf, "dr_msg", DELIVERY, lambda _, message, __: delivered(
                (message[0].private or 1) - 1, message[0].err, message[0].partition
            ))
        self.hook(conf, "log", LOG, lambda _, level, facility, text: (
            logged(level, facility.decode(), text.decode()) if logged else None
        ))
        if measured:
            self.hook(conf, "stats", STATISTICS, lambda _, text, length, __: (
                measured(json.loads(ctypes.string_at(text, length))) or 0
            ))
        text = ctypes.create_string_buffer(TEXT_BYTES)
        for name, value in config.items():
            code = LIB.rd_kafka_conf_set(
                conf, name.encode(), str(value).encode(), text, c_size_t(TEXT_BYTES)
            )
            if code != CONF_OK:
                LIB.rd_kafka_conf_destroy(conf)
                raise Refused("set", CONF_RESULTS[code], text.value.decode())
        self.handle = LIB.rd_kafka_new(PRODUCER, conf, text, c_size_t(TEXT_BYTES))
        if not self.handle:
            code = error_name(LIB.rd_kafka_last_error())
            LIB.rd_kafka_conf_destroy(conf)
            raise Refused("new", code, text.value.decode())
        self.handle = c_void_p(self.handle)

    def hook(self, conf, kind, prototype, function):
        callback = prototype(function)
        self.callbacks.append(callback)
        getattr(LIB, f"rd_kafka_conf_set_{kind}_cb")(conf, callback)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        """Drops what is undelivered."""
        for topic in self.topics.values():
            LIB.rd_kafka_topic_destroy(topic)
        LIB.rd_kafka_purge(self.handle, 3)
        LIB.rd_kafka_poll(self.handle, 0)
        LIB.rd_kafka_destroy(self.handle)

    # === Configuration

    def effective(self):
        """Every property's value after the library completed the configuration. Where a property
        of the default topic has the name of a global one, its name begins with `topic:`. There is
        a default topic only if some property of it was set."""
        count = c_size_t()
        conf = c_void_p(LIB.rd_kafka_conf(self.handle))
        values = pairs(LIB.rd_kafka_conf_dump(conf, byref(count)), count)
        topic = c_void_p(LIB.rd_kafka_conf_get_default_topic_conf(conf))
        for name, value in pairs(LIB.rd_kafka_topic_conf_dump(topic, byref(count)), count).items():
            values[f"topic:{name}" if name in values else name] = value
        return values

    # === Producing

    def topic(self, name):
        if name not in self.topics:
            handle = LIB.rd_kafka_topic_new(self.handle, name.encode(), None)
            if not handle:
                code = LIB.rd_kafka_last_error()
                raise Refused("topic", error_name(code), error_text(code))
            self.topics[name] = c_void_p(handle)
        return self.topics[name]

    def produce(self, topic, value, key=None, number=0, partition=PARTITION_UNASSIGNED):
        """The error code of the call, 0 when the message was taken. An empty key is not None."""
        taken = LIB.rd_kafka_produce(
            self.topic(topic), c_int32(partition), MSG_F_COPY, value, c_size_t(len(value or b"")),
            key, c_size_t(len(key or b"")), c_void_p(number + 1),
        )
        return 0 if taken == 0 else LIB.rd_kafka_last_error()

    def poll(self, timeout_ms=0):
        return LIB.rd_kafka_poll(self.handle, timeout_ms)

    def flush(self, timeout_ms):
        return LIB.rd_kafka_flush(self.handle, timeout_ms)

    def queued(self):
        """Messages and events that wait: what `rd_kafka_outq_len` counts."""
        return LIB.rd_kafka_outq_len(self.handle)

    def mock(self):
        """The mock cluster that `test.mock.num.brokers` started inside this client."""
        return Mock(c_void_p(LIB.rd_kafka_handle_mock_cluster(self.handle)))


class Mock:
    """librdkafka's own simulated brokers."""

    def __init__(self, handle):
        self.handle = handle

    def create_topic(self, name, partitions, replication_factor=1):
        LIB.rd_kafka_mock_topic_create(self.handle, name.encode(), partitions, replication_factor)

    def set_leader(self, topic, partition, broker):
        LIB.rd_kafka_mock_partition_set_leader(
            self.handle, topic.encode(), c_int32(partition), c_int32(broker)
        )

    def set_round_trip_ms(self, broker, round_trip_ms):
        LIB.rd_kafka_mock_broker_set_rtt(self.handle, c_int32(broker), round_trip_ms)

    def set_down(self, broker):
        LIB.rd_kafka_mock_broker_set_down(self.handle, c_int32(broker))

    def set_up(self, broker):
        LIB.rd_kafka_mock_broker_set_up(self.handle, c_int32(broker))

    def push_errors(self, api, codes):
        """The next requests to an API are answered with these codes, one each."""
        errors = (c_int * len(codes))(*codes)
        LIB.rd_kafka_mock_push_request_errors_array(
            self.handle, ctypes.c_int16(api), c_size_t(len(codes)), errors
        )

    def start_tracking(self):
        LIB.rd_kafka_mock_start_request_tracking(self.handle)

    def request_times_us(self, api):
        """When requests to an API arrived since tracking began."""
        count = c_size_t()
        requests = LIB.rd_kafka_mock_get_requests(self.handle, byref(count))
        found = ctypes.cast(requests, POINTER(c_void_p))
        times = [
            LIB.rd_kafka_mock_request_timestamp(c_void_p(found[i]))
            for i in range(count.value)
            if LIB.rd_kafka_mock_request_api_key(c_void_p(found[i])) == api
        ]
        LIB.rd_kafka_mock_request_destroy_array(c_void_p(requests), count)
        return times


def pairs(address, count):
    """A dump of names and values, freed after copying."""
    texts = ctypes.cast(c_void_p(address), POINTER(c_char_p))
    values = {
        texts[i].decode(): (texts[i + 1] or b"").decode() for i in range(0, count.value, 2)
    }
    LIB.rd_kafka_conf_dump_free(c_void_p(address), count)
    return values


def hash_partition(partitioner, key, partitions):
    """What a partitioner that ignores the cluster's state returns: `consistent`, `murmur2`,
    `fnv1a`."""
    function = getattr(LIB, f"rd_kafka_msg_partitioner_{partitioner}")
    return function(None, key, c_size_t(len(key or b"")), c_int32(partitions), None, None)
