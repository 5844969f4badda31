package kdrill.conformance.exact;

import java.util.Map;
import java.util.TreeMap;
import java.util.stream.IntStream;
import kdrill.conformance.Json;
import kdrill.conformance.SplitMix64;
import org.apache.kafka.clients.producer.ProducerRecord;

/** Batches and requests at different `linger.ms`, on virtual time. */
public final class Linger {
    private static final String TOPIC = "events";
    private static final int[] LINGER_MS = {0, 5, 10, 100};
    private static final int VALUE_BYTES = 100;
    private static final int KEYS = 5000;
    private static final long SEED = 7;
    private static final long SECOND = 1_000_000_000L;
    private static final long MILLISECOND = 1_000_000L;

    private Linger() {
    }

    private record World(int brokers, int partitions, int records, long gapNanos, long rttNanos) {
    }

    public static void main(String[] args) throws Exception {
        Map<String, Object> cases = new TreeMap<>();
        for (int linger : LINGER_MS) {
            cases.put("slow-linger-" + linger,
                run(new World(1, 1, 1000, MILLISECOND, 2 * MILLISECOND), linger));
            for (int partitions : new int[] {1, 12, 60, 600}) {
                World world = new World(3, partitions, 50_000, 100_000, 2 * MILLISECOND);
                cases.put("fast-partitions-" + partitions + "-linger-" + linger,
                    run(world, linger));
            }
            World far = new World(3, 12, 50_000, 100_000, 20 * MILLISECOND);
            cases.put("far-partitions-12-linger-" + linger, run(far, linger));
        }
        Json.writeLine(Json.object("inputs", inputs(), "cases", cases));
    }

    private static Map<String, Object> inputs() {
        return Json.object(
            "value_bytes", VALUE_BYTES,
            "keys", "`k-{n}`, n = 1 + below(" + KEYS + ") of SplitMix64 seed " + SEED,
            "slow", "1000 records, one every 1 ms, 1 broker, 1 partition, round trip 2 ms",
            "fast", "50000 records, one every 0.1 ms, 3 brokers, partition p is led by broker "
                + "1 + p mod 3, round trip 2 ms",
            "far", "as fast with a round trip of 20 ms",
            "network", "no bandwidth limit; brokers and the client's own work take no time",
            "start", "metadata, producer id and one connection to each broker are there",
            "end", "figures are taken 1 s after the last record",
            "configs", "defaults but linger.ms");
    }

    private static Map<String, Object> run(World world, int lingerMs) {
        VirtualCluster cluster = new VirtualCluster(world.brokers);
        cluster.topic(TOPIC, IntStream.range(0, world.partitions)
            .map(partition -> 1 + partition % world.brokers).toArray());
        VirtualProducer virtual = new VirtualProducer(
            cluster, Map.of("linger.ms", lingerMs), world.rttNanos, 0, SEED);
        virtual.warmUp(TOPIC, SECOND, world.brokers);
        SplitMix64 random = new SplitMix64(SEED);
        long start = virtual.clock.nanoseconds();
        byte[] value = new byte[VALUE_BYTES];
        for (int i = 0; i < world.records; i++) {
            byte[] key = ("k-" + (1 + random.below(KEYS))).getBytes();
            virtual.at(start + i * world.gapNanos,
                () -> virtual.producer.send(new ProducerRecord<>(TOPIC, key, value)));
        }
        virtual.runUntil(start + world.records * world.gapNanos + SECOND);
        return figures(virtual);
    }

    static Map<String, Object> figures(VirtualProducer virtual) {
        long requests = virtual.cluster.produces.size();
        long batches = virtual.cluster.produces.stream().mapToLong(p -> p.batches().size()).sum();
        long records = virtual.cluster.produces.stream()
            .flatMap(produce -> produce.batches().stream())
            .mapToLong(VirtualCluster.Batch::records).sum();
        Map<String, Object> figures = Json.object(
            "requests", requests,
            "batches", batches,
            "records", records,
            "batches_per_request", (double) batches / requests,
            "records_per_batch", (double) records / batches);
        for (String metric : new String[] {
                "batch-size-avg", "batch-size-max", "records-per-request-avg",
                "record-queue-time-avg", "record-queue-time-max", "request-latency-avg",
                "request-latency-max", "record-send-total", "record-size-avg"}) {
            figures.put(metric, virtual.metric(metric));
        }
        return figures;
    }
}
