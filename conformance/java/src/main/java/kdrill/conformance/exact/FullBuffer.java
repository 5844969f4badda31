package kdrill.conformance.exact;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.IntStream;
import kdrill.conformance.Json;
import kdrill.conformance.SplitMix64;
import org.apache.kafka.clients.producer.ProducerRecord;

/** How the buffer pool fills behind a slow link, and what the metrics show, on virtual time. */
public final class FullBuffer {
    private static final String TOPIC = "events";
    private static final int PARTITIONS = 12;
    private static final int KEYS = 5000;
    private static final int VALUE_BYTES = 1024;
    private static final long SEED = 7;
    private static final long SECOND = 1_000_000_000L;
    private static final long GAP = 100_000L;
    private static final long RTT = 1_000_000L;
    private static final double TOTAL_BYTES_PER_SECOND = 6e6;
    private static final String[] METRICS = {
        "bufferpool-wait-ratio", "buffer-available-bytes", "waiting-threads", "record-send-rate",
        "record-queue-time-avg", "batch-size-avg", "records-per-request-avg", "requests-in-flight",
        "bufferpool-wait-time-ns-total"};

    private final VirtualProducer virtual;
    private final SplitMix64 random = new SplitMix64(SEED);
    private final byte[] value = new byte[VALUE_BYTES];
    private final long start;
    private final int seconds;
    private final Map<String, List<Object>> samples = new TreeMap<>();
    private Double firstBlockedSeconds;
    private long sent;
    private long sentAtLastSample;

    private FullBuffer(int brokers, long bufferMemory, int seconds) {
        VirtualCluster cluster = new VirtualCluster(brokers);
        cluster.topic(TOPIC, IntStream.range(0, PARTITIONS)
            .map(partition -> 1 + partition % brokers).toArray());
        this.virtual = new VirtualProducer(
            cluster, Map.of("buffer.memory", bufferMemory), RTT,
            TOTAL_BYTES_PER_SECOND / brokers, SEED);
        this.seconds = seconds;
        virtual.warmUp(TOPIC, SECOND, brokers);
        this.start = virtual.clock.nanoseconds();
    }

    public static void main(String[] args) throws Exception {
        Map<String, Object> cases = new TreeMap<>();
        cases.put("exact-one-broker-8-mib", new FullBuffer(1, 8 << 20, 40).run());
        cases.put("exact-one-broker-32-mib", new FullBuffer(1, 32 << 20, 75).run());
        cases.put("exact-one-broker-64-mib", new FullBuffer(1, 64 << 20, 40).run());
        cases.put("exact-three-brokers-32-mib", new FullBuffer(3, 32 << 20, 40).run());
        Json.writeLine(Json.object("inputs", inputs(), "cases", cases));
    }

    private static Map<String, Object> inputs() {
        return Json.object(
            "load", "closed loop: 0.1 ms, then send() of " + VALUE_BYTES + " bytes, and again",
            "keys", "`rider-{n}`, n = 1 + below(" + KEYS + ") of SplitMix64 seed " + SEED,
            "partitions", PARTITIONS + ", partition p is led by broker 1 + p mod brokers",
            "links", "one for each broker, round trip 1 ms, 6000000 bytes/s for one broker or "
                + "2000000 for each of three, in each direction; a request is written when its "
                + "last byte is on the wire, which socket buffers are too small to hide",
            "brokers", "answer in no time",
            "configs", "defaults but buffer.memory",
            "start", "metadata, producer id and one connection to each broker are there",
            "samples", "at the end of each second since the load began");
    }

    private Map<String, Object> run() {
        sendAt(start + GAP);
        for (int second = 1; second <= seconds; second++) {
            virtual.agenda.at(start + second * SECOND, this::sample);
        }
        virtual.runUntil(start + seconds * SECOND + 1);
        return Json.object(
            "first_blocked_seconds", firstBlockedSeconds,
            "requests", virtual.cluster.produces.size(),
            "sent", sent,
            "samples", samples);
    }

    /** The application's loop: one send, and the next a gap after it returned. */
    private void sendAt(long nanos) {
        byte[] key = ("rider-" + (1 + random.below(KEYS))).getBytes();
        ProducerRecord<byte[], byte[]> record = new ProducerRecord<>(TOPIC, key, value);
        virtual.callAt(nanos, () -> virtual.producer.send(record), () -> {
            sent++;
            long returned = virtual.clock.nanoseconds();
            if (returned > nanos && firstBlockedSeconds == null) {
                firstBlockedSeconds = (nanos - start) / 1e9;
            }
            sendAt(returned + GAP);
        });
    }

    private void sample() {
        for (String metric : METRICS) {
            double figure = virtual.metric(metric);
            samples.computeIfAbsent(metric, name -> new ArrayList<>())
                .add(Double.isNaN(figure) ? null : figure);
        }
        samples.computeIfAbsent("sent", name -> new ArrayList<>()).add(sent - sentAtLastSample);
        sentAtLastSample = sent;
    }
}
