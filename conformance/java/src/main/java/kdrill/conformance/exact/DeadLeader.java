package kdrill.conformance.exact;

import java.util.Map;
import java.util.TreeMap;
import kdrill.conformance.Json;

/** What one partition without a leader does to all others, on virtual time. */
public final class DeadLeader {
    private static final String TOPIC = "events";
    /** Broker 1 leads one partition of twelve. */
    private static final int[] LEADERS = {2, 3, 1, 2, 3, 2, 3, 2, 3, 2, 3, 2};
    private static final long SEED = 7;
    private static final long SECOND = 1_000_000_000L;
    private static final long GAP = SECOND / 6000;
    private static final long RTT = 1_000_000L;
    private static final double BYTES_PER_SECOND = 125e6;
    private static final int DEATH_SECOND = 10;

    private DeadLeader() {
    }

    public static void main(String[] args) throws Exception {
        Map<String, Object> cases = new TreeMap<>();
        cases.put("exact-defaults", run(Map.of(), 190));
        cases.put("exact-small", run(Map.of(
            "buffer.memory", 4 << 20, "delivery.timeout.ms", 20_000,
            "request.timeout.ms", 10_000), 60));
        Json.writeLine(Json.object("inputs", inputs(), "cases", cases));
    }

    private static Map<String, Object> inputs() {
        Map<String, Object> inputs = ClosedLoop.inputs(SEED);
        inputs.put("gap", "1/6000 s");
        inputs.put("leaders", LEADERS);
        inputs.put("links", "one for each broker, round trip 1 ms, 125000000 bytes/s");
        inputs.put("brokers", "answer in no time");
        inputs.put("death", "at " + DEATH_SECOND + " s broker 1 resets its connections and refuses "
            + "new ones; metadata says at once that its partition has no leader");
        inputs.put("configs", Json.object(
            "exact-defaults", "defaults",
            "exact-small", "buffer.memory 4194304, delivery.timeout.ms 20000, "
                + "request.timeout.ms 10000"));
        inputs.put("max.block.ms", "does not end here: threads that wait for memory wait in real "
            + "time; no wait of these runs is as long");
        inputs.put("repeatable", "to 0.1 %: how long metadata waits between two tries for a leader "
            + "is Kafka's own random draw");
        inputs.put("start", "metadata, producer id and one connection to each broker are there");
        return inputs;
    }

    private static Map<String, Object> run(Map<String, Object> configs, int seconds) {
        VirtualCluster cluster = new VirtualCluster(3);
        cluster.topic(TOPIC, LEADERS);
        VirtualProducer virtual =
            new VirtualProducer(cluster, configs, RTT, BYTES_PER_SECOND, SEED);
        virtual.warmUp(TOPIC, SECOND, 3);
        ClosedLoop loop = new ClosedLoop(
            virtual, TOPIC, LEADERS.length, GAP, SEED,
            "bufferpool-wait-ratio", "buffer-available-bytes", "waiting-threads",
            "record-queue-time-avg", "record-error-total");
        loop.at(DEATH_SECOND, () -> {
            cluster.kill(1);
            virtual.network.resetAll(1);
        });
        return loop.run(seconds);
    }
}
