package kdrill.conformance.live;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import kdrill.conformance.Json;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.serialization.StringSerializer;

/**
 * Single calls on named producers, each producer with an application thread of its own.
 *
 * <p>Every line of standard input is `{"id", "producer", "do", …}`; every line of standard output
 * is `{"id", "ok", "took_ms", …}` with `error` when the call failed. Calls of one producer run one
 * after another, those of different producers side by side. `do` is one of
 *
 * <ul>
 *   <li>`new` with `config`, `close` (with `ms`), `forget` (drop it without closing)
 *   <li>`init_transactions`, `begin_transaction`, `commit_transaction`, `abort_transaction`,
 *       `flush`
 *   <li>`produce` with `topic`, `key`, `value`, `partition`, `timestamp`: returns when send() does;
 *       `wait` makes it return the outcome
 *   <li>`await`: the outcome of the produce whose id is `of`
 *   <li>`partitions_for` with `topic`, `metric` with `name`, `exit` (halts the process)
 * </ul>
 */
public final class CallsApp {
    private final Map<String, KafkaProducer<String, String>> producers = new HashMap<>();
    private final Map<String, ExecutorService> threads = new HashMap<>();
    private final Map<String, Future<RecordMetadata>> sends = new HashMap<>();

    public static void main(String[] args) throws Exception {
        new CallsApp().run();
        Runtime.getRuntime().halt(0);
    }

    private void run() throws Exception {
        for (String line = Json.readLine(); line != null; line = Json.readLine()) {
            JsonNode call = Json.parse(line);
            if (call.get("do").asText().equals("exit")) {
                return;
            }
            threads.computeIfAbsent(call.path("producer").asText(), CallsApp::thread)
                .submit(() -> answer(call));
        }
    }

    private static ExecutorService thread(String name) {
        return Executors.newSingleThreadExecutor(work -> {
            Thread thread = new Thread(work, "application-" + name);
            thread.setDaemon(true);
            return thread;
        });
    }

    private void answer(JsonNode call) {
        Map<String, Object> answer = new TreeMap<>();
        answer.put("id", call.path("id").asText());
        long beganNanos = System.nanoTime();
        try {
            answer.putAll(perform(call));
            answer.put("ok", true);
        } catch (ExecutionException failed) {
            answer.put("ok", false);
            answer.put("error", Json.exception(failed.getCause()));
        } catch (Throwable thrown) {
            answer.put("ok", false);
            answer.put("error", Json.exception(thrown));
        }
        answer.put("took_ms", (System.nanoTime() - beganNanos) / 1e6);
        try {
            Json.writeLine(answer);
        } catch (Exception problem) {
            problem.printStackTrace();
        }
    }

    private Map<String, Object> perform(JsonNode call) throws Exception {
        String name = call.path("producer").asText();
        String verb = call.get("do").asText();
        if (verb.equals("new")) {
            KafkaProducer<String, String> producer = new KafkaProducer<>(
                Json.configs(call.get("config")), new StringSerializer(), new StringSerializer());
            synchronized (producers) {
                producers.put(name, producer);
            }
            return Map.of();
        }
        KafkaProducer<String, String> producer;
        synchronized (producers) {
            producer = verb.equals("forget") ? producers.remove(name) : producers.get(name);
        }
        switch (verb) {
            case "forget" -> { }
            case "init_transactions" -> producer.initTransactions();
            case "begin_transaction" -> producer.beginTransaction();
            case "commit_transaction" -> producer.commitTransaction();
            case "abort_transaction" -> producer.abortTransaction();
            case "flush" -> producer.flush();
            case "close" -> producer.close(
                java.time.Duration.ofMillis(call.path("ms").asLong(Long.MAX_VALUE)));
            case "produce" -> {
                return produce(producer, call);
            }
            case "await" -> {
                return outcome(call.get("of").asText());
            }
            case "partitions_for" -> {
                return Map.of("partitions",
                    producer.partitionsFor(call.get("topic").asText()).size());
            }
            case "metric" -> {
                return metric(producer, call.get("name").asText());
            }
            default -> throw new IllegalArgumentException("unknown call: " + verb);
        }
        return Map.of();
    }

    private Map<String, Object> produce(KafkaProducer<String, String> producer, JsonNode call)
            throws Exception {
        ProducerRecord<String, String> record = new ProducerRecord<>(
            call.get("topic").asText(),
            call.hasNonNull("partition") ? call.get("partition").asInt() : null,
            call.hasNonNull("timestamp") ? call.get("timestamp").asLong() : null,
            call.hasNonNull("key") ? call.get("key").asText() : null,
            call.hasNonNull("value") ? call.get("value").asText() : null);
        String id = call.path("id").asText();
        Future<RecordMetadata> send = producer.send(record);
        synchronized (sends) {
            sends.put(id, send);
        }
        return call.path("wait").asBoolean(false) ? outcome(id) : Map.of();
    }

    private Map<String, Object> outcome(String id) throws Exception {
        Future<RecordMetadata> send;
        synchronized (sends) {
            send = sends.get(id);
        }
        RecordMetadata metadata = send.get();
        return Json.object("partition", metadata.partition(), "offset", metadata.offset());
    }

    private static Map<String, Object> metric(KafkaProducer<?, ?> producer, String name) {
        return producer.metrics().entrySet().stream()
            .filter(entry -> entry.getKey().group().equals("producer-metrics"))
            .filter(entry -> entry.getKey().name().equals(name))
            .findFirst()
            .map(entry -> Json.object("value", entry.getValue().metricValue()))
            .orElseThrow();
    }
}
