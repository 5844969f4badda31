package kdrill.conformance.live;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import kdrill.conformance.Json;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * One producer under load against live brokers.
 *
 * <p>The first line of standard input is the plan, see {@link Plan}. Later lines are commands as
 * JSON texts: "mark NAME" (a mark on the timeline), "rate N", "stop". Lines of standard output are
 * JSON objects with an `event`: `started`, `blocked` (the first send() longer than `blocked_ms`),
 * `second` (only with `say_seconds`), and at last `result`.
 */
public final class ProducerApp {
    /** A loop that fell behind by more than this does not catch up; shorter ones it makes good. */
    private static final long CATCH_UP_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

    /** How long a thread that hangs in send() is waited for when the load ends. */
    private static final long LAST_SEND_MS = 200;

    private final Plan plan;
    private final KafkaProducer<byte[], byte[]> producer;
    private final Journal journal;
    private volatile double recordsPerSecond;
    private volatile boolean stopped;

    private ProducerApp(Plan plan) {
        this.plan = plan;
        this.recordsPerSecond = plan.recordsPerSecond;
        this.producer = new KafkaProducer<>(
            plan.producer, new ByteArraySerializer(), new ByteArraySerializer());
        this.journal = new Journal(plan, producer);
    }

    public static void main(String[] args) throws Exception {
        ProducerApp app = new ProducerApp(new Plan(Json.readNode()));
        app.run();
        // A producer that cannot deliver would make close() wait; the process is the clean-up.
        Runtime.getRuntime().halt(0);
    }

    private void run() throws Exception {
        if (plan.warmUpRecords > 0) {
            warmUp();
        }
        if (plan.warmUp) {
            producer.partitionsFor(plan.topic);
        }
        for (int i = 0; i < plan.preludeRecords; i++) {
            producer.send(new ProducerRecord<>(
                plan.topic, plan.partition, null, "prelude".getBytes())).get();
        }
        startCommands();
        journal.start();
        Json.writeLine(Json.object("event", "started"));

        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < plan.threads; i++) {
            int first = i;
            Thread thread = new Thread(() -> load(first), "load-" + i);
            thread.setDaemon(true);
            thread.start();
            threads.add(thread);
        }
        long endNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(plan.durationMs);
        for (Thread thread : threads) {
            // A thread may hang in send() when the time is up.
            TimeUnit.NANOSECONDS.timedJoin(thread, Math.max(1, endNanos - System.nanoTime()));
        }
        stopped = true;
        for (Thread thread : threads) {
            // What a thread was about to send is sent, or it would be missed below.
            thread.join(LAST_SEND_MS);
        }
        if (plan.settleMs > 0) {
            journal.awaitOutstanding(plan.settleMs);
        }
        Json.writeLine(journal.result());
    }

    /** Compiled code from the first record on: another producer sends first. */
    private void warmUp() {
        Map<String, Object> configs = new HashMap<>(plan.producer);
        configs.put("client.id", "warm-up");
        try (KafkaProducer<byte[], byte[]> other = new KafkaProducer<>(
                configs, new ByteArraySerializer(), new ByteArraySerializer())) {
            for (long number = 0; number < plan.warmUpRecords; number++) {
                other.send(new ProducerRecord<>(
                    plan.topic, plan.partition, plan.key(number), plan.value(number)));
            }
        }
    }

    /** Thread `first` of n sends the records first, first + n, first + 2n, … */
    private void load(int first) {
        long number = first;
        long dueNanos = System.nanoTime();
        while (!stopped && (plan.records == 0 || number < plan.records)) {
            dueNanos = awaitDue(dueNanos);
            if (stopped) {
                return;
            }
            send(number);
            number += plan.threads;
        }
    }

    private long awaitDue(long dueNanos) {
        double rate = recordsPerSecond;
        if (rate <= 0) {
            return System.nanoTime();
        }
        for (long now = System.nanoTime(); now < dueNanos; now = System.nanoTime()) {
            LockSupport.parkNanos(dueNanos - now);
        }
        long gapNanos = (long) (1e9 / rate * plan.threads);
        long earliest = plan.closed ? System.nanoTime() - CATCH_UP_NANOS : Long.MIN_VALUE;
        return Math.max(dueNanos + gapNanos, earliest);
    }

    private void send(long number) {
        ProducerRecord<byte[], byte[]> record = new ProducerRecord<>(
            plan.topic, plan.partition, plan.key(number), plan.value(number));
        Journal.Sending sending = journal.beginSend(number);
        try {
            producer.send(record, sending);
        } catch (RuntimeException thrown) {
            sending.thrown(thrown);
        }
        journal.endSend(sending);
    }

    private void startCommands() {
        Thread reader = new Thread(() -> {
            try {
                for (String line = Json.readLine(); line != null; line = Json.readLine()) {
                    obey(Json.parse(line).asText());
                }
            } catch (Exception problem) {
                problem.printStackTrace();
            }
        }, "commands");
        reader.setDaemon(true);
        reader.start();
    }

    private void obey(String command) {
        if (command.equals("stop")) {
            stopped = true;
        } else if (command.startsWith("rate ")) {
            recordsPerSecond = Double.parseDouble(command.substring(5));
        } else if (command.startsWith("mark ")) {
            journal.mark(command.substring(5));
        }
    }

    /** What the driver asks for; every member but `producer` and `topic` may be absent. */
    static final class Plan {
        /** Configuration of the producer, by Kafka's names. */
        final Map<String, Object> producer;
        final String topic;
        /** Partition of every record; absent lets the producer choose. */
        final Integer partition;
        /** Application threads; together they send `rate` records/s, 0 is as fast as possible. */
        final int threads;
        final double recordsPerSecond;
        /** `closed` forgets the time that send() blocked, `open` catches up with it. */
        final boolean closed;
        /** The load ends after this many records (0: never) or this many seconds. */
        final long records;
        final long durationMs;
        /** After the load, how long to wait for callbacks that are still due. */
        final long settleMs;
        /** `{n}` becomes 1 + number mod `key_count`; absent means no key. */
        final String keyPattern;
        final long keyCount;
        /** `{n}` becomes the record's number; then padded with `.` up to `value_bytes`. */
        final String valuePattern;
        final int valueBytes;
        /** Ask for the topic's metadata before the clock starts. */
        final boolean warmUp;
        /** Records that this producer sends before the clock starts, each awaited. */
        final int preludeRecords;
        /** Records that another producer sends before. */
        final long warmUpRecords;
        /** A send() that takes at least this long counts as blocked. */
        final long blockedMs;
        /** Latencies count only for records sent from this moment on. */
        final long measureFromMs;
        /** Metrics of group `producer-metrics` to sample each second. */
        final List<String> metrics = new ArrayList<>();
        /** Whether each record's outcome goes into the result, and each second onto the output. */
        final boolean everyRecord;
        final boolean saySeconds;

        Plan(JsonNode json) {
            producer = Json.configs(json.get("producer"));
            topic = json.get("topic").asText();
            partition = json.hasNonNull("partition") ? json.get("partition").asInt() : null;
            threads = json.path("threads").asInt(1);
            recordsPerSecond = json.path("rate").asDouble(0);
            closed = json.path("pacing").asText("closed").equals("closed");
            records = json.path("records").asLong(0);
            durationMs = Math.round(json.path("seconds").asDouble(3600) * 1000);
            settleMs = Math.round(json.path("settle_seconds").asDouble(0) * 1000);
            keyPattern = json.hasNonNull("key_pattern") ? json.get("key_pattern").asText() : null;
            keyCount = json.path("key_count").asLong(Long.MAX_VALUE);
            valuePattern = json.path("value_pattern").asText("");
            valueBytes = json.path("value_bytes").asInt(0);
            preludeRecords = json.path("prelude_records").asInt(0);
            warmUpRecords = json.path("warm_up_records").asLong(0);
            warmUp = json.path("warm_up").asBoolean(true);
            blockedMs = json.path("blocked_ms").asLong(50);
            measureFromMs = Math.round(json.path("measure_from_seconds").asDouble(0) * 1000);
            json.path("metrics").forEach(name -> metrics.add(name.asText()));
            everyRecord = json.path("every_record").asBoolean(false);
            saySeconds = json.path("say_seconds").asBoolean(false);
        }

        byte[] key(long number) {
            if (keyPattern == null) {
                return null;
            }
            return keyPattern.replace("{n}", Long.toString(1 + number % keyCount)).getBytes();
        }

        byte[] value(long number) {
            byte[] text = valuePattern.replace("{n}", Long.toString(number)).getBytes();
            byte[] value = new byte[Math.max(valueBytes, text.length)];
            Arrays.fill(value, (byte) '.');
            System.arraycopy(text, 0, value, 0, text.length);
            return value;
        }
    }
}
