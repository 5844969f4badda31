package kdrill.conformance.exact;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.IntStream;
import kdrill.conformance.Json;
import kdrill.conformance.SplitMix64;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.clients.producer.internals.BufferPool;
import org.apache.kafka.clients.producer.internals.BuiltInPartitioner;
import org.apache.kafka.clients.producer.internals.RecordAccumulator;
import org.apache.kafka.clients.producer.internals.SenderAccess;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.utils.Time;

/** Where records without a key go: the partitioner alone, and under load on virtual time. */
public final class Sticky {
    private static final String TOPIC = "events";
    private static final long MILLISECOND = 1_000_000L;
    private static final long SECOND = 1_000_000_000L;
    private static final int PARTITIONS = 12;
    private static final int BROKERS = 3;
    private static final int SECONDS = 10;
    private static final long GAP = 100_000L;
    private static final int[] SEEDS = {1, 2, 3};
    private static final int[][] QUEUES = {
        {0, 3, 1}, {0, 0, 0}, {2, 2, 2}, {5, 0, 0, 0}, {1, 2, 3, 4, 5, 6}, {0, 7}, {7, 7, 7, 0}};

    private Sticky() {
    }

    public static void main(String[] args) throws Exception {
        Map<String, Object> cases = new TreeMap<>();
        cases.put("exact-weights", weights());
        cases.put("exact-run-lengths", runLengths());
        for (Load load : loads()) {
            cases.put("exact-" + load.name, repeated(load));
        }
        Json.writeLine(Json.object("inputs", inputs(), "cases", cases));
    }

    private static Map<String, Object> inputs() {
        return Json.object(
            "exact-weights", "rows of queue lengths of the partitions, how many of them count (the "
                + "rest is unavailable), and how many of `range` equally likely draws choose each "
                + "partition",
            "exact-run-lengths", "rows of value bytes and the records of the first six stays at a "
                + "partition when nothing is ever sent; null key, batch.size 16384",
            "load", "a record of 1024 bytes every 0.1 ms for " + SECONDS + " s; "
                + "keys, where there are any: `k-{n}`, n = 1 + below(5000) of SplitMix64",
            "network", BROKERS + " brokers, " + PARTITIONS + " partitions, partition p is led by "
                + "broker 1 + p mod 3; round trip 1 ms, no bandwidth limit, brokers take "
                + "no time; `far`: the round trip to broker 3 is 21 ms; `busy`: broker 3 takes "
                + "20 ms for each Produce request, one after the other",
            "configs", "defaults but what the name says",
            "start", "metadata, producer id and one connection to each broker are there",
            "runs", SEEDS.length + " seeds of the partitioner's draws",
            "latency_ms", "send() to callback");
    }

    // === The partitioner alone

    private static Map<String, Object> weights() {
        List<Object> rows = new ArrayList<>();
        for (int[] queues : QUEUES) {
            for (int length = queues.length; length >= Math.max(1, queues.length - 1); length--) {
                rows.add(weigh(queues, length));
            }
        }
        return Json.object("rows", rows);
    }

    private static Map<String, Object> weigh(int[] queues, int length) {
        int range = range(queues, length);
        int[] chosen = new int[queues.length];
        for (int draw = 0; draw < range; draw++) {
            int fixed = draw;
            BuiltInPartitioner partitioner =
                SenderAccess.seededPartitioner(TOPIC, 16_384, () -> fixed);
            partitioner.updatePartitionLoadStats(
                queues.clone(), IntStream.range(0, queues.length).toArray(), length);
            chosen[SenderAccess.stickyPartition(partitioner, cluster(queues.length))]++;
        }
        return Json.object(
            "queues", queues, "available", length, "range", range, "chosen", chosen);
    }

    /** End of the draws that matter; without a load table every partition is equally likely. */
    private static int range(int[] queues, int length) {
        BuiltInPartitioner partitioner = SenderAccess.seededPartitioner(TOPIC, 16_384, () -> 0);
        partitioner.updatePartitionLoadStats(
            queues.clone(), IntStream.range(0, queues.length).toArray(), length);
        try {
            return partitioner.loadStatsRangeEnd();
        } catch (NullPointerException noTable) {
            return queues.length;
        }
    }

    private static Cluster cluster(int partitions) {
        Node node = new Node(1, "127.0.0.1", 9001);
        Node[] nodes = {node};
        List<PartitionInfo> infos = IntStream.range(0, partitions)
            .mapToObj(partition -> new PartitionInfo(TOPIC, partition, node, nodes, nodes))
            .toList();
        return new Cluster("c", List.of(node), infos, Set.of(), Set.of());
    }

    private static Map<String, Object> runLengths() throws Exception {
        List<Object> rows = new ArrayList<>();
        for (int value : new int[] {10, 100, 500, 1000, 1024, 2048, 4096, 10_240, 20_000}) {
            rows.add(Arrays.asList(value, runLengths(value)));
        }
        return Json.object("rows", rows);
    }

    /** Successive draws name successive partitions, so that every stay shows. */
    private static List<Integer> runLengths(int valueBytes) throws Exception {
        Metrics metrics = new Metrics();
        int[] draws = {0};
        RecordAccumulator accumulator = SenderAccess.seededAccumulator(
            16_384, Compression.NONE, 5, 100, 1000, 120_000,
            new RecordAccumulator.PartitionerConfig(true, 0), metrics, Time.SYSTEM, null,
            new BufferPool(1 << 26, 16_384, metrics, Time.SYSTEM, "producer-metrics"),
            () -> draws[0]++);
        Cluster cluster = cluster(PARTITIONS);
        List<Integer> lengths = new ArrayList<>();
        int[] partition = {-1};
        int last = -1;
        while (lengths.size() < 7) {
            accumulator.append(
                TOPIC, RecordMetadata.UNKNOWN_PARTITION, 0, null, new byte[valueBytes], null,
                new RecordAccumulator.AppendCallbacks() {
                    @Override
                    public void setPartition(int chosen) {
                        partition[0] = chosen;
                    }

                    @Override
                    public void onCompletion(RecordMetadata metadata, Exception failure) {
                    }
                }, 0, 0, cluster);
            if (partition[0] != last) {
                lengths.add(0);
                last = partition[0];
            }
            lengths.set(lengths.size() - 1, lengths.get(lengths.size() - 1) + 1);
        }
        return lengths.subList(0, 6);
    }

    // === Under load

    /** What is special about broker 3. */
    private enum Third { UNIFORM, FAR, BUSY }

    private record Load(String name, Map<String, Object> configs, Third third, boolean keyed) {
    }

    private static List<Load> loads() {
        Map<String, Object> adaptive = Map.of();
        Map<String, Object> off = Map.of("partitioner.adaptive.partitioning.enable", false);
        Map<String, Object> available = Map.of("partitioner.availability.timeout.ms", 5);
        Map<String, Object> ignoring = Map.of("partitioner.ignore.keys", true);
        Map<String, Object> roundRobin = Map.of("partitioner.class",
            "org.apache.kafka.clients.producer.RoundRobinPartitioner");
        List<Load> loads = new ArrayList<>();
        for (Third third : Third.values()) {
            String name = third.name().toLowerCase(Locale.ROOT);
            loads.add(new Load(name + "-adaptive", adaptive, third, false));
            loads.add(new Load(name + "-not-adaptive", off, third, false));
            loads.add(new Load(name + "-availability-5-ms", available, third, false));
            loads.add(new Load(name + "-round-robin", roundRobin, third, false));
            loads.add(new Load(name + "-keyed", adaptive, third, true));
            loads.add(new Load(name + "-keyed-ignoring-keys", ignoring, third, true));
        }
        return loads;
    }

    private static Map<String, Object> repeated(Load load) {
        Map<String, List<Object>> runs = new TreeMap<>();
        for (int seed : SEEDS) {
            run(load, seed).forEach((figure, value) ->
                runs.computeIfAbsent(figure, name -> new ArrayList<>()).add(value));
        }
        return Json.object("runs", runs);
    }

    private static Map<String, Object> run(Load load, int seed) {
        VirtualCluster cluster = new VirtualCluster(BROKERS);
        cluster.topic(TOPIC, IntStream.range(0, PARTITIONS)
            .map(partition -> 1 + partition % BROKERS).toArray());
        VirtualProducer virtual =
            new VirtualProducer(cluster, load.configs, MILLISECOND, 0, seed);
        if (load.third == Third.FAR) {
            virtual.network.delay(3, 20 * MILLISECOND);
        }
        if (load.third == Third.BUSY) {
            cluster.script(arrival ->
                VirtualCluster.Verdict.ok(arrival.broker() == 3 ? 20 * MILLISECOND : 0));
        }
        virtual.warmUp(TOPIC, SECOND, BROKERS);
        SplitMix64 random = new SplitMix64(seed);
        long start = virtual.clock.nanoseconds();
        byte[] value = new byte[1024];
        int[] records = new int[PARTITIONS];
        double[] latencySum = new double[BROKERS];
        for (int i = 0; i < SECONDS * SECOND / GAP; i++) {
            byte[] key = load.keyed ? ("k-" + (1 + random.below(5000))).getBytes() : null;
            long at = start + i * GAP;
            virtual.at(at, () -> virtual.producer.send(
                new ProducerRecord<>(TOPIC, key, value),
                (metadata, failure) -> {
                    records[metadata.partition()]++;
                    latencySum[metadata.partition() % BROKERS] +=
                        (virtual.clock.nanoseconds() - at) / 1e6;
                }));
        }
        virtual.runUntil(start + (SECONDS + 2) * SECOND);
        return figures(virtual, records, latencySum);
    }

    private static Map<String, Object> figures(
            VirtualProducer virtual, int[] records, double[] latencySum) {
        int[] byBroker = new int[BROKERS];
        for (int partition = 0; partition < PARTITIONS; partition++) {
            byBroker[partition % BROKERS] += records[partition];
        }
        int all = IntStream.of(records).sum();
        double[] shares = IntStream.of(byBroker)
            .mapToDouble(count -> (double) count / all).toArray();
        double[] latencies = IntStream.range(0, BROKERS)
            .mapToDouble(broker -> latencySum[broker] / byBroker[broker]).toArray();
        return Json.object(
            "records_by_partition", records,
            "share_by_broker", shares,
            "latency_ms_by_broker", latencies,
            "latency_ms", Arrays.stream(latencySum).sum() / all,
            "batch-size-avg", virtual.metric("batch-size-avg"),
            "requests", virtual.cluster.produces.size());
    }
}
