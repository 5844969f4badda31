package kdrill.conformance.exact;

import java.util.Map;
import java.util.TreeMap;
import java.util.stream.IntStream;
import kdrill.conformance.Json;

/** How the buffer pool fills behind a slow link, and what the metrics show, on virtual time. */
public final class FullBuffer {
    private static final String TOPIC = "events";
    private static final int PARTITIONS = 12;
    private static final long SEED = 7;
    private static final long SECOND = 1_000_000_000L;
    private static final long GAP = 100_000L;
    private static final long RTT = 1_000_000L;
    private static final double TOTAL_BYTES_PER_SECOND = 6e6;

    private FullBuffer() {
    }

    public static void main(String[] args) throws Exception {
        Map<String, Object> cases = new TreeMap<>();
        cases.put("exact-one-broker-8-mib", loop(1, 8 << 20).run(40));
        cases.put("exact-one-broker-32-mib", loop(1, 32 << 20).run(75));
        cases.put("exact-one-broker-64-mib", loop(1, 64 << 20).run(40));
        cases.put("exact-three-brokers-32-mib", loop(3, 32 << 20).run(40));
        ClosedLoop watched = loop(1, 32 << 20);
        watched.readRatioFromStart();
        cases.put("exact-one-broker-32-mib-read-from-start", watched.run(75));
        Json.writeLine(Json.object("inputs", inputs(), "cases", cases));
    }

    private static Map<String, Object> inputs() {
        Map<String, Object> inputs = ClosedLoop.inputs(SEED);
        inputs.put("gap", "0.1 ms");
        inputs.put("partitions", PARTITIONS + ", partition p is led by broker 1 + p mod brokers");
        inputs.put("links", "one for each broker, round trip 1 ms, 6000000 bytes/s for one broker "
            + "or 2000000 for each of three, in each direction; a request is written when its "
            + "last byte is on the wire, which socket buffers are too small to hide");
        inputs.put("brokers", "answer in no time");
        inputs.put("configs", "defaults but buffer.memory");
        inputs.put("start", "metadata, producer id and one connection to each broker are there");
        return inputs;
    }

    private static ClosedLoop loop(int brokers, long bufferMemory) {
        VirtualCluster cluster = new VirtualCluster(brokers);
        cluster.topic(TOPIC, IntStream.range(0, PARTITIONS)
            .map(partition -> 1 + partition % brokers).toArray());
        VirtualProducer virtual = new VirtualProducer(
            cluster, Map.of("buffer.memory", bufferMemory), RTT,
            TOTAL_BYTES_PER_SECOND / brokers, SEED);
        virtual.warmUp(TOPIC, SECOND, brokers);
        return new ClosedLoop(
            virtual, TOPIC, PARTITIONS, GAP, SEED,
            "bufferpool-wait-ratio", "buffer-available-bytes", "waiting-threads",
            "record-send-rate", "record-queue-time-avg", "batch-size-avg",
            "records-per-request-avg", "requests-in-flight", "bufferpool-wait-time-ns-total");
    }
}
