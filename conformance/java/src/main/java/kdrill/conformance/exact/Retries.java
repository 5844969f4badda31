package kdrill.conformance.exact;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import kdrill.conformance.Json;
import kdrill.conformance.exact.VirtualCluster.Fate;
import kdrill.conformance.exact.VirtualCluster.Verdict;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.protocol.Errors;

/** What is sent again, when, in which order and under which sequences, on virtual time. */
public final class Retries {
    private static final String TOPIC = "events";
    private static final long MILLISECOND = 1_000_000L;
    private static final long SECOND = 1_000_000_000L;
    private static final long SERVICE = 30 * MILLISECOND;
    private static final int RECORDS = 20;
    private static final long GAP = 10 * MILLISECOND;
    private static final long RTT = 2 * MILLISECOND;
    private static final int JITTER_RUNS = 1_000;

    private Retries() {
    }

    public static void main(String[] args) throws Exception {
        Map<String, Object> cases = new TreeMap<>();
        for (Setting setting : settings()) {
            faults(setting).forEach((fault, script) ->
                cases.put("exact-" + fault + "-" + setting.name(), story(setting, script)));
        }
        cases.putAll(expiries());
        cases.putAll(finalFailures());
        cases.put("exact-moved-leader-named", moved(true));
        cases.put("exact-moved-leader-unnamed", moved(false));
        cases.put("exact-split", split());
        cases.put("exact-backoff", backoff());
        Json.writeLine(Json.object("inputs", inputs(), "cases", cases));
    }

    private static Map<String, Object> inputs() {
        return Json.object(
            "load", RECORDS + " records with values r0, r1, … to partition 0, one every 10 ms, the "
                + "first at 0 ms; no key",
            "network", "1 broker, round trip 2 ms, no bandwidth limit, a Produce request takes the "
                + "broker 30 ms, one after the other on a connection",
            "configs", "defaults but acks, enable.idempotence, "
                + "max.in.flight.requests.per.connection as the name says, linger.ms 0, "
                + "request.timeout.ms 1000, retry.backoff.ms and .max.ms 100, "
                + "reconnect.backoff.ms and .max.ms 50 (both without jitter)",
            "start", "metadata, producer id and the connection are there",
            "faults", Json.object(
                "error", "requests 3 and 4 are refused: NOT_ENOUGH_REPLICAS with acks=all, "
                    + "NOT_LEADER_OR_FOLLOWER with acks=1 (the leader stays the same)",
                "swallow", "request 3 is done, its response and all later ones are lost until the "
                    + "connection closes",
                "reset-after", "request 3 is done, then every connection to the broker is reset",
                "reset-before", "every connection to the broker is reset when request 3 arrives",
                "expiry", "as swallow, and every later connection too until 5000 ms; "
                    + "delivery.timeout.ms 3000; 5 more records from 6000 ms on, one every 10 ms",
                "invalid", "request 3 is refused with INVALID_RECORD, which is not retried",
                "retries-1", "every request is refused with NOT_ENOUGH_REPLICAS; retries 1",
                "moved-leader", "2 brokers; at 105 ms broker 2 becomes the leader, and broker 1 "
                    + "refuses with NOT_LEADER_OR_FOLLOWER, naming the new leader or not; rows of "
                    + "requests have the broker as well; idempotent, in flight 5; metadata knows "
                    + "at once",
                "split", "batches above 5000 bytes are refused with MESSAGE_TOO_LARGE; 12 records "
                    + "of 1024 bytes at 0 ms, linger.ms 5",
                "backoff", "one record, every request is refused with NOT_ENOUGH_REPLICAS, retry "
                    + "backoff at its defaults; " + JITTER_RUNS + " runs, milliseconds from a "
                    + "refusal's arrival to the next attempt"),
            "requests", "rows of milliseconds of arrival at the broker, records, producer epoch, "
                + "base sequence, error",
            "log", "values in the partition's log in the end",
            "outcomes", "by record: milliseconds of its callback and its offset, or the "
                + "exception's class and text");
    }

    /** How a producer is set up. */
    private record Setting(String acks, boolean idempotent, int inFlight) {
        String name() {
            return (idempotent ? "idempotent" : "acks-" + acks) + "-in-flight-" + inFlight;
        }

        Map<String, Object> configs() {
            Map<String, Object> configs = new TreeMap<>();
            configs.put("acks", acks);
            configs.put("enable.idempotence", idempotent);
            configs.put("max.in.flight.requests.per.connection", inFlight);
            configs.put("linger.ms", 0);
            configs.put("request.timeout.ms", 1000);
            configs.put("retry.backoff.ms", 100);
            configs.put("retry.backoff.max.ms", 100);
            configs.put("reconnect.backoff.ms", 50);
            configs.put("reconnect.backoff.max.ms", 50);
            return configs;
        }
    }

    private static List<Setting> settings() {
        List<Setting> settings = new ArrayList<>();
        for (int inFlight : new int[] {1, 5}) {
            settings.add(new Setting("all", true, inFlight));
            for (String acks : List.of("all", "1", "0")) {
                settings.add(new Setting(acks, false, inFlight));
            }
        }
        return settings;
    }

    private static Map<String, VirtualCluster.Script> faults(Setting setting) {
        Map<String, VirtualCluster.Script> faults = new TreeMap<>();
        faults.put("swallow", at(3, 3, new Verdict(Errors.NONE, Fate.SWALLOWED, SERVICE)));
        faults.put("reset-after", at(3, 3, new Verdict(Errors.NONE, Fate.RESET_AFTER, SERVICE)));
        faults.put("reset-before", at(3, 3, new Verdict(Errors.NONE, Fate.RESET_BEFORE, 0)));
        if (!setting.acks.equals("0")) {
            Errors error = setting.acks.equals("all")
                ? Errors.NOT_ENOUGH_REPLICAS : Errors.NOT_LEADER_OR_FOLLOWER;
            faults.put("error", at(3, 4, new Verdict(error, Fate.SENT, SERVICE)));
        }
        return faults;
    }

    private static VirtualCluster.Script at(int first, int last, Verdict verdict) {
        return arrival -> arrival.number() >= first && arrival.number() <= last
            ? verdict : Verdict.ok(SERVICE);
    }

    // === Stories

    private static Map<String, Object> story(Setting setting, VirtualCluster.Script script) {
        Story story = new Story(setting.configs(), script);
        story.load(0, RECORDS, 0);
        return story.end(10 * SECOND);
    }

    private static Map<String, Object> expiries() {
        Map<String, Object> cases = new TreeMap<>();
        for (Setting setting : settings()) {
            if (setting.acks.equals("0")) {
                continue;
            }
            Map<String, Object> configs = setting.configs();
            configs.put("delivery.timeout.ms", 3000);
            Story story = new Story(configs, null);
            story.script(arrival -> {
                boolean lost = arrival.number() >= 3
                    && arrival.nanos() - story.start < 5 * SECOND;
                return new Verdict(Errors.NONE, lost ? Fate.SWALLOWED : Fate.SENT, SERVICE);
            });
            story.load(0, RECORDS, 0);
            story.load(RECORDS, 5, 6 * SECOND);
            cases.put("exact-expiry-" + setting.name(), story.end(12 * SECOND));
        }
        return cases;
    }

    private static Map<String, Object> finalFailures() {
        Map<String, Object> cases = new TreeMap<>();
        for (Setting setting : settings()) {
            if (!setting.acks.equals("all")) {
                continue;
            }
            cases.put("exact-invalid-" + setting.name(), story(setting,
                at(3, 3, new Verdict(Errors.INVALID_RECORD, Fate.SENT, SERVICE))));
            Map<String, Object> configs = setting.configs();
            configs.put("retries", 1);
            Story story = new Story(configs,
                arrival -> new Verdict(Errors.NOT_ENOUGH_REPLICAS, Fate.SENT, SERVICE));
            story.load(0, RECORDS, 0);
            cases.put("exact-retries-1-" + setting.name(), story.end(10 * SECOND));
        }
        return cases;
    }

    private static Map<String, Object> moved(boolean named) {
        Story story = new Story(
            new Setting("all", true, 5).configs(), arrival -> Verdict.ok(SERVICE), 2);
        story.virtual.agenda.at(story.start + 105 * MILLISECOND,
            () -> story.virtual.cluster.move(TOPIC, 2, named));
        story.load(0, RECORDS, 0);
        return story.end(10 * SECOND);
    }

    private static Map<String, Object> split() {
        Map<String, Object> configs = new Setting("all", true, 5).configs();
        configs.put("linger.ms", 5);
        Story story = new Story(configs, arrival -> new Verdict(
            arrival.bytes() > 5000 ? Errors.MESSAGE_TOO_LARGE : Errors.NONE, Fate.SENT, SERVICE));
        for (int i = 0; i < 12; i++) {
            story.send(i, 0, 1024);
        }
        return story.end(10 * SECOND);
    }

    /** Waits before the first six retries, with jitter. */
    private static Map<String, Object> backoff() {
        Map<String, List<Double>> waits = new TreeMap<>();
        for (int run = 0; run < JITTER_RUNS; run++) {
            Map<String, Object> configs = new Setting("all", true, 5).configs();
            configs.remove("retry.backoff.ms");
            configs.remove("retry.backoff.max.ms");
            Story story = new Story(configs,
                arrival -> new Verdict(Errors.NOT_ENOUGH_REPLICAS, Fate.SENT, 0));
            story.load(0, 1, 0);
            story.virtual.runUntil(story.start + 8 * SECOND);
            List<VirtualCluster.Produce> attempts = story.virtual.cluster.produces;
            for (int retry = 1; retry <= 6; retry++) {
                long between = attempts.get(retry).nanos() - attempts.get(retry - 1).nanos();
                waits.computeIfAbsent("retry-" + retry, name -> new ArrayList<>())
                    .add((between - RTT) / 1e6);
            }
        }
        Map<String, Object> figures = new TreeMap<>();
        waits.forEach((retry, all) -> {
            double[] sorted = all.stream().mapToDouble(Double::doubleValue).sorted().toArray();
            figures.put(retry, Json.object(
                "min", sorted[0],
                "p10", sorted[sorted.length / 10],
                "median", sorted[sorted.length / 2],
                "p90", sorted[sorted.length * 9 / 10],
                "max", sorted[sorted.length - 1],
                "mean", Arrays.stream(sorted).average().orElseThrow()));
        });
        return figures;
    }

    /** One producer, one partition, one script. */
    private static final class Story {
        private final VirtualProducer virtual;
        private final int brokers;
        private final long start;
        private final Map<Integer, List<Object>> outcomes = new TreeMap<>();

        Story(Map<String, Object> configs, VirtualCluster.Script script) {
            this(configs, script, 1);
        }

        Story(Map<String, Object> configs, VirtualCluster.Script script, int brokers) {
            this.brokers = brokers;
            VirtualCluster cluster = new VirtualCluster(brokers);
            cluster.topic(TOPIC, 1);
            cluster.log(TOPIC, 0).keepValues();
            virtual = new VirtualProducer(cluster, configs, RTT, 0, 1);
            virtual.warmUp(TOPIC, SECOND, brokers);
            start = virtual.clock.nanoseconds();
            if (script != null) {
                script(script);
            }
        }

        void script(VirtualCluster.Script script) {
            virtual.cluster.script(script);
        }

        void load(int first, int count, long afterNanos) {
            for (int i = 0; i < count; i++) {
                send(first + i, afterNanos + i * GAP, 0);
            }
        }

        void send(int number, long afterNanos, int bytes) {
            byte[] text = ("r" + number).getBytes();
            byte[] value = Arrays.copyOf(text, Math.max(text.length, bytes));
            virtual.at(start + afterNanos, () -> virtual.producer.send(
                new ProducerRecord<>(TOPIC, 0, null, value),
                (metadata, failure) -> outcomes.put(number, failure == null
                    ? List.of(milliseconds(virtual.clock.nanoseconds()), metadata.offset())
                    : List.of(milliseconds(virtual.clock.nanoseconds()),
                        failure.getClass().getName(), String.valueOf(failure.getMessage())))));
        }

        Map<String, Object> end(long afterNanos) {
            virtual.runUntil(start + afterNanos);
            List<Object> requests = new ArrayList<>();
            for (VirtualCluster.Produce produce : virtual.cluster.produces) {
                VirtualCluster.Batch batch = produce.batches().get(0);
                List<Object> row = new ArrayList<>(List.of(
                    milliseconds(produce.nanos()), batch.records(), batch.epoch(),
                    batch.baseSequence(), produce.error().name()));
                if (brokers > 1) {
                    row.add(produce.broker());
                }
                requests.add(row);
            }
            Map<String, Object> metrics = new TreeMap<>();
            for (String name : List.of("record-send-total", "record-retry-total",
                    "record-error-total", "batch-split-total", "buffer-available-bytes")) {
                metrics.put(name, virtual.metric(name));
            }
            return Json.object(
                "requests", requests,
                "log", virtual.cluster.log(TOPIC, 0).values().stream()
                    .map(value -> value.replace("\0", "")).toList(),
                "outcomes", outcomes.values(),
                "metrics", metrics);
        }

        private double milliseconds(long nanos) {
            return (nanos - start) / 1e6;
        }
    }
}
