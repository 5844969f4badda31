package kdrill.conformance.exact;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import kdrill.conformance.Json;
import kdrill.conformance.SplitMix64;
import org.apache.kafka.clients.producer.ProducerRecord;

/** An application that spends a gap of its own time, calls send(), and does it again; keyed. */
final class ClosedLoop {
    private static final int KEYS = 5000;
    private static final int VALUE_BYTES = 1024;
    private static final long SECOND = 1_000_000_000L;

    private final VirtualProducer virtual;
    private final String topic;
    private final long gapNanos;
    private final String[] metrics;
    private final SplitMix64 random;
    private final byte[] value = new byte[VALUE_BYTES];
    private final long start;
    private final Map<String, List<Object>> samples = new TreeMap<>();
    private final Map<String, Map<String, Object>> failures = new LinkedHashMap<>();
    private Double firstBlockedSeconds;
    private long sent;
    private long sentAtLastSample;
    private long failedAtLastSample;
    private long failed;
    private final int[] ackedSinceLastSample;
    private boolean readsRatioFromStart;

    /** What it does, in words. */
    static Map<String, Object> inputs(long seed) {
        return Json.object(
            "load", "closed loop: a gap, then send() of " + VALUE_BYTES + " bytes, and again",
            "keys", "`rider-{n}`, n = 1 + below(" + KEYS + ") of SplitMix64 seed " + seed,
            "samples", "at the end of each second since the load began; bufferpool-wait-ratio "
                + "only after the first wait, since the first read opens its first window (cases "
                + "`…-read-from-start`: always)");
    }

    ClosedLoop(
            VirtualProducer virtual, String topic, int partitions, long gapNanos, long seed,
            String... metrics) {
        this.virtual = virtual;
        this.topic = topic;
        this.gapNanos = gapNanos;
        this.random = new SplitMix64(seed);
        this.metrics = metrics;
        this.start = virtual.clock.nanoseconds();
        this.ackedSinceLastSample = new int[partitions];
    }

    /** Somebody reads `bufferpool-wait-ratio` before anything ever waited. */
    void readRatioFromStart() {
        readsRatioFromStart = true;
    }

    /** Something that happens to the world at a second of the run. */
    void at(int second, Runnable deed) {
        virtual.agenda.at(start + second * SECOND, deed);
    }

    Map<String, Object> run(int seconds) {
        sendAt(start + gapNanos);
        for (int second = 1; second <= seconds; second++) {
            at(second, this::sample);
        }
        virtual.runUntil(start + seconds * SECOND + 1);
        Map<String, Object> result = Json.object(
            "first_blocked_seconds", firstBlockedSeconds,
            "requests", virtual.cluster.produces.size(),
            "sent", sent,
            "samples", samples);
        if (!failures.isEmpty()) {
            result.put("failures", failures.values());
        }
        return result;
    }

    private void sendAt(long nanos) {
        byte[] key = ("rider-" + (1 + random.below(KEYS))).getBytes();
        ProducerRecord<byte[], byte[]> record = new ProducerRecord<>(topic, key, value);
        virtual.callAt(nanos,
            () -> virtual.producer.send(record, (metadata, failure) -> {
                if (failure == null) {
                    ackedSinceLastSample[metadata.partition()]++;
                } else {
                    fail(failure);
                }
            }),
            () -> {
                sent++;
                long returned = virtual.clock.nanoseconds();
                if (returned > nanos && firstBlockedSeconds == null) {
                    firstBlockedSeconds = seconds(nanos);
                }
                sendAt(returned + gapNanos);
            });
    }

    /** Failures that differ in nothing but the figures in their text count together. */
    private void fail(Exception failure) {
        failed++;
        double now = seconds(virtual.clock.nanoseconds());
        String kind = failure.getClass().getName()
            + String.valueOf(failure.getMessage()).replaceAll("\\d+", "N");
        Map<String, Object> known = failures.computeIfAbsent(kind, unused -> {
            Map<String, Object> first = Json.exception(failure);
            first.put("first_seconds", now);
            first.put("records", 0);
            return first;
        });
        known.merge("records", 1, (count, one) -> (int) count + (int) one);
        known.put("last_seconds", now);
    }

    private void sample() {
        boolean waited = virtual.metric("bufferpool-wait-time-ns-total") > 0;
        for (String metric : metrics) {
            boolean isRead = waited || readsRatioFromStart
                || !metric.equals("bufferpool-wait-ratio");
            double figure = isRead ? virtual.metric(metric) : Double.NaN;
            note(metric, Double.isNaN(figure) ? null : figure);
        }
        note("sent", sent - sentAtLastSample);
        note("failed", failed - failedAtLastSample);
        note("acked_by_partition", ackedSinceLastSample.clone());
        Arrays.fill(ackedSinceLastSample, 0);
        sentAtLastSample = sent;
        failedAtLastSample = failed;
    }

    private void note(String figure, Object value) {
        samples.computeIfAbsent(figure, name -> new ArrayList<>()).add(value);
    }

    private double seconds(long nanos) {
        return (nanos - start) / 1e9;
    }
}
