package kdrill.conformance.exact;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.IntStream;
import kdrill.conformance.Clicks;
import kdrill.conformance.Json;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.MemoryRecordsBuilder;
import org.apache.kafka.common.record.internal.RecordBatch;

/** Sizes of batches and requests, by the real builder and on the wire of the real client. */
public final class Sizes {
    private static final String TOPIC = "sizes";
    private static final Integer[] KEYS = {null, 0, 8, 36};
    private static final Integer[] VALUES = {
        null, 0, 10, 50, 100, 500, 1000, 1024, 2048, 4096, 10_240, 16_384, 100_000};
    private static final int[] HEADERS = {0, 1, 3};
    private static final int[] BATCH_SIZES = {0, 1024, 16_384, 32_768, 65_536, 131_072, 1_048_576};
    private static final int[] DEPTHS = {1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000};
    private static final int CHUNKS_MAX = 200;
    private static final int FILLED_MAX = 60;

    private Sizes() {
    }

    /** Input: `{"sample": FILE}`. */
    public static void main(String[] args) throws Exception {
        JsonNode request = Json.readNode();
        byte[][] sample = Clicks.read(request.get("sample").asText());
        Map<String, Object> cases = new TreeMap<>();
        for (int batchSize : BATCH_SIZES) {
            cases.put("batch-size-" + batchSize, grid(batchSize));
        }
        cases.put("timestamps", spreadTimestamps());
        cases.put("partitions-in-a-request", partitions());
        cases.put("largest-record", largest());
        compressions().forEach((name, compression) ->
            cases.put("compressed-" + name, compressed(sample, compression)));
        for (String codec : List.of("none", "gzip", "snappy", "lz4", "zstd")) {
            cases.put("filled-" + codec, filled(sample, codec));
        }
        Json.writeLine(Json.object("inputs", inputs(), "cases", cases));
    }

    private static Map<String, Object> inputs() {
        return Json.object(
            "client_id", VirtualProducer.CLIENT_ID,
            "acks", "all",
            "batch-size-N", "rows of key bytes, value bytes, headers (names of 4 bytes, values of "
                + "8), records in the first full batch, its bytes, bytes of the Produce request "
                + "with it alone; all records have one timestamp; null is a null key or value",
            "timestamps", "rows of milliseconds between records, records in the first full batch, "
                + "its bytes; null key, value of 1024 bytes, batch.size 16384",
            "partitions-in-a-request", "rows of partitions, bytes of the Produce request, bytes of "
                + "its response; one batch of one record each, null key, value of 100 bytes",
            "compressed-CODEC-LEVEL", "rows of records in a batch, batches, bytes of all of them "
                + "with headers, bytes of the same batches without compression: consecutive "
                + "records of the sample from its start, at most " + CHUNKS_MAX + " batches; null "
                + "key, one timestamp",
            "filled-CODEC", "the first " + FILLED_MAX + " full batches, records and bytes, when "
                + "the sample is sent at 10000 records/s to one partition with batch.size 16384, "
                + "linger.ms 1000 and a round trip of 1 ms: the estimated ratio at work");
    }

    // === Uncompressed

    private static Map<String, Object> grid(int batchSize) {
        List<Object> rows = new ArrayList<>();
        for (Integer key : KEYS) {
            for (Integer value : VALUES) {
                for (int headers : HEADERS) {
                    VirtualCluster.Produce first = fill(batchSize, key, value, headers, 0);
                    VirtualCluster.Batch batch = first.batches().get(0);
                    rows.add(Arrays.asList(
                        key, value, headers, batch.records(), batch.bytes(), first.bytes()));
                }
            }
        }
        return Json.object("rows", rows);
    }

    private static Map<String, Object> spreadTimestamps() {
        List<Object> rows = new ArrayList<>();
        for (int stepMs : new int[] {0, 1, 4, 5, 63, 64, 100, 1000, 10_000, 1_000_000, -1, -1000}) {
            VirtualCluster.Batch batch = fill(16_384, null, 1024, 0, stepMs).batches().get(0);
            rows.add(List.of(stepMs, batch.records(), batch.bytes()));
        }
        return Json.object("rows", rows);
    }

    /** Sends equal records at one moment until the first batch is full; the request with it. */
    private static VirtualCluster.Produce fill(
            int batchSize, Integer key, Integer value, int headers, int timestampStepMs) {
        VirtualProducer virtual = producer(1, Map.of(
            "batch.size", batchSize, "linger.ms", 30_000, "buffer.memory", 8_388_608));
        long now = virtual.clock.nanoseconds();
        long timestamp = virtual.clock.milliseconds();
        int records = 2 + Math.max(batchSize, 1) / (7 + (key == null ? 0 : key)
            + (value == null ? 0 : value) + 14 * headers);
        byte[] keyBytes = key == null ? null : new byte[key];
        byte[] valueBytes = value == null ? null : new byte[value];
        for (int i = 0; i < records; i++) {
            long at = timestamp + (long) i * timestampStepMs;
            virtual.at(now, () -> virtual.producer.send(new ProducerRecord<>(
                TOPIC, 0, at, keyBytes, valueBytes, headers(headers))));
        }
        virtual.runUntil(now + 40_000_000_000L);
        return virtual.cluster.produces.get(0);
    }

    private static List<Header> headers(int count) {
        List<Header> headers = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            headers.add(new RecordHeader("name", new byte[8]));
        }
        return headers;
    }

    private static Map<String, Object> partitions() {
        List<Object> rows = new ArrayList<>();
        for (int partitions : new int[] {1, 2, 3, 6, 12, 60, 126, 127, 128, 600}) {
            VirtualProducer virtual = producer(partitions, Map.of());
            long now = virtual.clock.nanoseconds();
            for (int i = 0; i < partitions; i++) {
                int partition = i;
                virtual.at(now, () -> virtual.producer.send(
                    new ProducerRecord<>(TOPIC, partition, null, new byte[100])));
            }
            virtual.runUntil(now + 1_000_000_000L);
            VirtualCluster.Produce produce = virtual.cluster.produces.get(0);
            rows.add(List.of(partitions, produce.bytes(), produce.responseBytes()));
        }
        return Json.object("rows", rows);
    }

    /** What send() makes of records around its limits. */
    private static Map<String, Object> largest() {
        Map<String, Object> outcomes = new TreeMap<>();
        for (int value : new int[] {1_048_488, 1_048_489, 1_048_490}) {
            outcomes.put("value-" + value, outcome(value, Map.of()));
        }
        outcomes.put("above-buffer-memory", outcome(100_000, Map.of("buffer.memory", 65_536)));
        outcomes.put("batch-size-above-buffer-memory", outcome(
            100, Map.of("buffer.memory", 65_536, "batch.size", 65_537)));
        outcomes.put("max-request-size-0", outcome(0, Map.of("max.request.size", 0)));
        return outcomes;
    }

    private static Object outcome(int valueBytes, Map<String, Object> configs) {
        VirtualProducer virtual = producer(1, configs);
        long now = virtual.clock.nanoseconds();
        Map<String, Object> outcome = new TreeMap<>();
        outcome.put("configs", configs);
        outcome.put("value_bytes", valueBytes);
        virtual.at(now, () -> {
            try {
                virtual.producer.send(
                    new ProducerRecord<>(TOPIC, 0, null, new byte[valueBytes]),
                    (metadata, failure) -> {
                        if (failure != null) {
                            outcome.put("callback", Json.exception(failure));
                        }
                    });
            } catch (RuntimeException thrown) {
                outcome.put("thrown", Json.exception(thrown));
            }
        });
        virtual.runUntil(now + 1_000_000_000L);
        if (!virtual.cluster.produces.isEmpty()) {
            VirtualCluster.Produce produce = virtual.cluster.produces.get(0);
            outcome.put("batch_bytes", produce.batches().get(0).bytes());
            outcome.put("request_bytes", produce.bytes());
        }
        return outcome;
    }

    // === Compressed

    private static Map<String, Compression> compressions() {
        Map<String, Compression> all = new TreeMap<>();
        all.put("gzip-default", Compression.gzip().build());
        all.put("gzip-1", Compression.gzip().level(1).build());
        all.put("gzip-9", Compression.gzip().level(9).build());
        all.put("snappy", Compression.snappy().build());
        all.put("lz4-default", Compression.lz4().build());
        all.put("lz4-1", Compression.lz4().level(1).build());
        all.put("lz4-17", Compression.lz4().level(17).build());
        all.put("zstd-default", Compression.zstd().build());
        all.put("zstd-1", Compression.zstd().level(1).build());
        all.put("zstd-10", Compression.zstd().level(10).build());
        return all;
    }

    private static Map<String, Object> compressed(byte[][] sample, Compression compression) {
        List<Object> rows = new ArrayList<>();
        for (int depth : DEPTHS) {
            int chunks = Math.min(CHUNKS_MAX, sample.length / depth);
            long bytes = 0;
            long plain = 0;
            for (int chunk = 0; chunk < chunks; chunk++) {
                byte[][] records = Arrays.copyOfRange(sample, chunk * depth, (chunk + 1) * depth);
                bytes += build(records, compression);
                plain += build(records, Compression.NONE);
            }
            rows.add(List.of(depth, chunks, bytes, plain));
        }
        return Json.object("rows", rows);
    }

    private static int build(byte[][] values, Compression compression) {
        MemoryRecordsBuilder builder = MemoryRecords.builder(
            ByteBuffer.allocate(16_384), RecordBatch.CURRENT_MAGIC_VALUE, compression,
            TimestampType.CREATE_TIME, 0L);
        for (byte[] value : values) {
            builder.append(0L, null, value);
        }
        return builder.build().sizeInBytes();
    }

    private static Map<String, Object> filled(byte[][] sample, String codec) {
        String topic = "filled-" + codec;
        VirtualCluster cluster = new VirtualCluster(1);
        cluster.topic(topic, 1);
        VirtualProducer virtual = new VirtualProducer(
            cluster, Map.of("compression.type", codec, "linger.ms", 1000), 1_000_000, 0, 1);
        virtual.warmUp(topic, 1_000_000_000L, 1);
        long start = virtual.clock.nanoseconds();
        for (int i = 0; i < sample.length; i++) {
            byte[] value = sample[i];
            virtual.at(start + i * 100_000L,
                () -> virtual.producer.send(new ProducerRecord<>(topic, 0, null, value)));
        }
        virtual.runUntil(start + 4_000_000_000L);
        List<Object> rows = new ArrayList<>();
        virtual.cluster.produces.stream().limit(FILLED_MAX).forEach(produce -> {
            VirtualCluster.Batch batch = produce.batches().get(0);
            rows.add(List.of(batch.records(), batch.bytes()));
        });
        return Json.object("rows", rows);
    }

    private static VirtualProducer producer(int partitions, Map<String, Object> configs) {
        VirtualCluster cluster = new VirtualCluster(1);
        cluster.topic(TOPIC, IntStream.range(0, partitions).map(i -> 1).toArray());
        VirtualProducer virtual = new VirtualProducer(cluster, configs, 1_000_000, 0, 1);
        virtual.warmUp(TOPIC, 1_000_000_000L, 1);
        return virtual;
    }
}
