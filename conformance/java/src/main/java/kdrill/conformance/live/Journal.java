package kdrill.conformance.live;

import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;
import kdrill.conformance.Json;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.Metric;
import org.apache.kafka.common.MetricName;

/** What happened to the records of one {@link ProducerApp}, in seconds since its first send. */
final class Journal {
    private static final int FAILURES_MAX = 2_000;
    /** Shorter sends did not wait for memory. */
    private static final long NOTICEABLE_NANOS = 200_000;

    private final ProducerApp.Plan plan;
    private final KafkaProducer<?, ?> producer;
    private final Map<String, Metric> metrics = new TreeMap<>();
    private Metric poolWaitNanos;
    private long startNanos;

    private final AtomicLong sent = new AtomicLong();
    private final AtomicLong settled = new AtomicLong();
    /** Sends that have not returned, by the moment when they began. */
    private final Map<Long, Sending> running = new LinkedHashMap<>();

    // Guarded by this.
    private final List<Object> seconds = new ArrayList<>();
    private final List<Object> marks = new ArrayList<>();
    private final List<Object> blockedSends = new ArrayList<>();
    private final Map<String, Kind> kinds = new LinkedHashMap<>();
    private final List<Failure> failures = new ArrayList<>();
    private final Map<Integer, Partition> partitions = new TreeMap<>();
    private final Latencies latencies = new Latencies();
    private final List<Object> everyRecord = new ArrayList<>();
    private Failure lastFailure;
    private Map<String, Object> firstBlocked;
    private Double firstWaitedSeconds;
    private long acked;
    private long failed;
    private long longestSendNanos;

    Journal(ProducerApp.Plan plan, KafkaProducer<?, ?> producer) {
        this.plan = plan;
        this.producer = producer;
    }

    /** The clock starts here; one thread then takes a sample at every full second. */
    void start() {
        for (Map.Entry<MetricName, ? extends Metric> entry : producer.metrics().entrySet()) {
            MetricName name = entry.getKey();
            if (name.group().equals("producer-metrics") && plan.metrics.contains(name.name())) {
                metrics.put(name.name(), entry.getValue());
            }
            if (name.name().equals("bufferpool-wait-time-ns-total")) {
                poolWaitNanos = entry.getValue();
            }
        }
        startNanos = System.nanoTime();
        Thread sampler = new Thread(this::sampleEverySecond, "sampler");
        sampler.setDaemon(true);
        sampler.start();
    }

    Sending beginSend(long number) {
        Sending sending = new Sending(number, Thread.currentThread());
        synchronized (running) {
            running.put(number, sending);
        }
        return sending;
    }

    void endSend(Sending sending) {
        long tookNanos = System.nanoTime() - sending.beganNanos;
        sent.incrementAndGet();
        synchronized (running) {
            running.remove(sending.number);
        }
        synchronized (this) {
            longestSendNanos = Math.max(longestSendNanos, tookNanos);
            if (firstWaitedSeconds == null && tookNanos >= NOTICEABLE_NANOS && hasWaited()) {
                firstWaitedSeconds = seconds(sending.beganNanos);
            }
            if (tookNanos >= plan.blockedMs * 1_000_000) {
                blocked(sending, tookNanos);
            }
        }
    }

    private boolean hasWaited() {
        return ((Number) poolWaitNanos.metricValue()).doubleValue() > 0;
    }

    private void blocked(Sending sending, long tookNanos) {
        Map<String, Object> blocked = Json.object(
            "at_seconds", seconds(sending.beganNanos),
            "number", sending.number,
            "took_ms", tookNanos / 1e6,
            "failed", sending.failedInSend);
        if (blockedSends.size() < FAILURES_MAX) {
            blockedSends.add(blocked);
        }
        if (firstBlocked == null) {
            firstBlocked = blocked;
            Map<String, Object> event = new TreeMap<>(blocked);
            event.put("event", "blocked");
            say(event);
        }
    }

    synchronized void mark(String name) {
        marks.add(Json.object("at_seconds", seconds(System.nanoTime()), "name", name));
    }

    void awaitOutstanding(long limitMs) throws InterruptedException {
        long endNanos = System.nanoTime() + limitMs * 1_000_000;
        while (settled.get() < sent.get() && System.nanoTime() < endNanos) {
            Thread.sleep(5);
        }
    }

    synchronized Map<String, Object> result() {
        Map<String, Object> byPartition = new TreeMap<>();
        partitions.forEach((id, partition) -> byPartition.put(id.toString(), partition.result()));
        List<Object> kindList = new ArrayList<>();
        kinds.values().forEach(kind -> kindList.add(kind.result()));
        List<Object> failureList = new ArrayList<>();
        failures.forEach(failure -> failureList.add(failure.result()));
        Map<String, Object> result = Json.object(
            "event", "result",
            "elapsed_seconds", seconds(System.nanoTime()),
            "sent", sent.get(),
            "acked", acked,
            "failed", failed,
            "outstanding", sent.get() - settled.get(),
            "first_blocked", firstBlocked,
            "first_waited_seconds", firstWaitedSeconds,
            "blocked_sends", blockedSends,
            "exceptions", kindList,
            "failures", failureList,
            "latency_ms", latencies.result(),
            "partitions", byPartition,
            "marks", marks,
            "seconds", seconds,
            "metrics", metricValues());
        if (plan.everyRecord) {
            result.put("records", everyRecord);
        }
        return result;
    }

    private synchronized void settle(Sending sending, RecordMetadata metadata, Exception failure) {
        long now = System.nanoTime();
        settled.incrementAndGet();
        boolean measured = sending.beganNanos - startNanos >= plan.measureFromMs * 1_000_000;
        double latencyMs = (now - sending.beganNanos) / 1e6;
        int id = metadata == null ? -1 : metadata.partition();
        Partition partition = partitions.computeIfAbsent(id, unused -> new Partition());
        if (failure == null) {
            acked++;
            partition.acked++;
            if (measured) {
                latencies.add(latencyMs);
                partition.latencies.add(latencyMs);
            }
        } else {
            failed++;
            partition.failed++;
            fail(sending, failure, now);
        }
        if (plan.everyRecord) {
            everyRecord.add(Json.object(
                "number", sending.number,
                "sent_seconds", seconds(sending.beganNanos),
                "settled_seconds", seconds(now),
                "partition", id,
                "offset", failure == null ? metadata.offset() : null,
                "error", failure == null ? null : failure.getClass().getSimpleName()));
        }
    }

    private void fail(Sending sending, Exception exception, long now) {
        String where = sending.where();
        String key = where + exception.getClass().getName()
            + String.valueOf(exception.getMessage()).replaceAll("\\d+", "N");
        Kind kind = kinds.computeIfAbsent(key, unused -> new Kind(where, exception, seconds(now)));
        kind.records++;
        kind.lastSeconds = seconds(now);
        // All records of a batch fail with the same exception object.
        if (lastFailure == null || lastFailure.exception != exception) {
            lastFailure = new Failure(exception, where, seconds(now));
            if (failures.size() < FAILURES_MAX) {
                failures.add(lastFailure);
            }
        }
        lastFailure.add((now - sending.beganNanos) / 1_000_000);
    }

    private void sampleEverySecond() {
        long lastSent = 0;
        long lastAcked = 0;
        long lastFailed = 0;
        for (long second = 1; ; second++) {
            sleepUntil(startNanos + second * 1_000_000_000L);
            Map<String, Object> byPartition = new TreeMap<>();
            Map<String, Object> sample;
            long nowSent = sent.get();
            double inSendMs = longestRunningMs();
            synchronized (this) {
                partitions.forEach((id, partition) ->
                    byPartition.put(id.toString(), partition.ackedSinceLastSample()));
                sample = Json.object(
                    "second", second,
                    "sent", nowSent - lastSent,
                    "acked", acked - lastAcked,
                    "failed", failed - lastFailed,
                    "longest_send_ms", longestSendNanos / 1e6,
                    "in_send_ms", inSendMs,
                    "acked_by_partition", byPartition,
                    "metrics", metricValues());
                lastAcked = acked;
                lastFailed = failed;
                longestSendNanos = 0;
                seconds.add(sample);
            }
            lastSent = nowSent;
            if (plan.saySeconds) {
                Map<String, Object> event = new TreeMap<>(sample);
                event.put("event", "second");
                say(event);
            }
        }
    }

    private double longestRunningMs() {
        synchronized (running) {
            long now = System.nanoTime();
            return running.values().stream()
                .mapToDouble(sending -> (now - sending.beganNanos) / 1e6).max().orElse(0);
        }
    }

    private Map<String, Object> metricValues() {
        Map<String, Object> values = new TreeMap<>();
        metrics.forEach((name, metric) -> {
            double value = ((Number) metric.metricValue()).doubleValue();
            values.put(name, Double.isFinite(value) ? value : null);
        });
        return values;
    }

    private double seconds(long nanos) {
        return Math.round((nanos - startNanos) / 1e5) / 1e4;
    }

    private static void sleepUntil(long nanos) {
        try {
            for (long now = System.nanoTime(); now < nanos; now = System.nanoTime()) {
                Thread.sleep((nanos - now) / 1_000_000 + 1);
            }
        } catch (InterruptedException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    private static void say(Map<String, Object> event) {
        try {
            Json.writeLine(event);
        } catch (IOException problem) {
            throw new IllegalStateException(problem);
        }
    }

    /** One record, from its send() to its callback. */
    final class Sending implements Callback {
        final long number;
        final long beganNanos = System.nanoTime();
        private final Thread sender;
        private volatile boolean failedInSend;
        private boolean threw;

        Sending(long number, Thread sender) {
            this.number = number;
            this.sender = sender;
        }

        @Override
        public void onCompletion(RecordMetadata metadata, Exception failure) {
            failedInSend = failure != null && Thread.currentThread() == sender;
            settle(this, metadata, failure);
        }

        void thrown(RuntimeException exception) {
            threw = true;
            settle(this, null, exception);
        }

        /** `thrown` by send(), `in-send` by the callback inside send(), `callback` otherwise. */
        String where() {
            if (threw) {
                return "thrown";
            }
            return failedInSend ? "in-send" : "callback";
        }
    }

    /** Failures that differ in nothing but the figures in their text. */
    private static final class Kind {
        private final String where;
        private final Exception first;
        private final double firstSeconds;
        private double lastSeconds;
        private long records;

        Kind(String where, Exception first, double firstSeconds) {
            this.where = where;
            this.first = first;
            this.firstSeconds = firstSeconds;
        }

        Map<String, Object> result() {
            Map<String, Object> result = Json.exception(first);
            result.put("where", where);
            result.put("first_seconds", firstSeconds);
            result.put("last_seconds", lastSeconds);
            result.put("records", records);
            return result;
        }
    }

    /** One exception object and the records that got it. */
    private static final class Failure {
        private final Exception exception;
        private final String where;
        private final double atSeconds;
        private long records;
        private long youngestMs = Long.MAX_VALUE;
        private long oldestMs;

        Failure(Exception exception, String where, double atSeconds) {
            this.exception = exception;
            this.where = where;
            this.atSeconds = atSeconds;
        }

        void add(long ageMs) {
            records++;
            youngestMs = Math.min(youngestMs, ageMs);
            oldestMs = Math.max(oldestMs, ageMs);
        }

        Map<String, Object> result() {
            return Json.object(
                "at_seconds", atSeconds,
                "class", exception.getClass().getName(),
                "text", exception.getMessage(),
                "where", where,
                "records", records,
                "age_ms", List.of(youngestMs, oldestMs));
        }
    }

    private static final class Partition {
        private final Latencies latencies = new Latencies();
        private long acked;
        private long failed;
        private long ackedAtLastSample;

        long ackedSinceLastSample() {
            long since = acked - ackedAtLastSample;
            ackedAtLastSample = acked;
            return since;
        }

        Map<String, Object> result() {
            return Json.object(
                "acked", acked, "failed", failed, "latency_ms", latencies.result());
        }
    }
}
