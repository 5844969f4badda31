package kdrill.conformance.exact;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.lang.reflect.Field;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import kdrill.conformance.Json;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.internals.RecordAccumulator;
import org.apache.kafka.common.config.types.Password;

/** What `new KafkaProducer` makes of a configuration: values, warnings, or its refusal. */
public final class Configs {
    /** Log lines of the classes that judge a configuration. */
    private static final Pattern LOG_LINE = Pattern.compile(
        "\\[.*?\\] (INFO|WARN|ERROR) "
            + "org\\.apache\\.kafka\\.clients\\.(?:producer\\.|)"
            + "(?:ProducerConfig|KafkaProducer|CommonClientConfigs|ClientUtils) - (.*)");
    private static final List<String> NOISE = List.of(
        "ProducerConfig values", "Instantiated", "Closing the Kafka producer", "Proceeding to");

    private Configs() {
    }

    /** Input: `{"cases": {NAME: {CONFIG: VALUE}}}`; a value of null leaves the name out. */
    public static void main(String[] args) throws Exception {
        System.setProperty("org.slf4j.simpleLogger.log.org.apache.kafka.clients", "info");
        JsonNode wanted = Json.readNode().get("cases");
        Map<String, String> defaults = values(new ProducerConfig(base()));
        Map<String, Object> cases = new TreeMap<>();
        for (Iterator<String> names = wanted.fieldNames(); names.hasNext();) {
            String name = names.next();
            cases.put(name, construct(Json.configs(wanted.get(name)), defaults));
        }
        cases.put("defaults", Json.object("effective", defaults));
        Json.writeLine(cases);
    }

    private static Map<String, Object> base() {
        Map<String, Object> base = new TreeMap<>();
        base.put("bootstrap.servers", "127.0.0.1:1");
        base.put("client.id", "probe");
        String serializer = "org.apache.kafka.common.serialization.StringSerializer";
        base.put("key.serializer", serializer);
        base.put("value.serializer", serializer);
        return base;
    }

    private static Map<String, Object> construct(
            Map<String, Object> configs, Map<String, String> defaults) throws Exception {
        Map<String, Object> all = base();
        configs.forEach((name, value) -> {
            if (value == null) {
                all.remove(name);
            } else {
                all.put(name, value);
            }
        });
        Map<String, Object> outcome = Json.object("configs", configs);
        PrintStream standardError = System.err;
        ByteArrayOutputStream log = new ByteArrayOutputStream();
        System.setErr(new PrintStream(log, true, StandardCharsets.UTF_8));
        try (KafkaProducer<?, ?> producer = new KafkaProducer<>(all)) {
            outcome.put("changed", changed(producer, defaults));
            RecordAccumulator accumulator = field(producer, "accumulator");
            outcome.put("delivery_timeout_ms", accumulator.getDeliveryTimeoutMs());
            outcome.put("idempotent", field(producer, "transactionManager") != null);
            producer.close(Duration.ZERO);
        } catch (Exception refusal) {
            outcome.put("exception", Json.exception(refusal));
        } finally {
            System.setErr(standardError);
        }
        List<String> lines = said(log.toString(StandardCharsets.UTF_8));
        if (!lines.isEmpty()) {
            outcome.put("log", lines);
        }
        return outcome;
    }

    /** Effective values that are not the defaults. */
    private static Map<String, String> changed(
            KafkaProducer<?, ?> producer, Map<String, String> defaults) throws Exception {
        Map<String, String> changed = values(field(producer, "producerConfig"));
        changed.entrySet().removeIf(
            entry -> entry.getValue().equals(defaults.get(entry.getKey())));
        return changed;
    }

    private static Map<String, String> values(ProducerConfig config) {
        Map<String, String> values = new TreeMap<>();
        config.values().forEach((name, value) -> {
            if (value instanceof Class<?> type) {
                values.put(name, type.getName());
            } else if (value instanceof List<?> list) {
                values.put(name, String.join(",", list.stream().map(String::valueOf).toList()));
            } else if (value instanceof Password) {
                values.put(name, Password.HIDDEN);
            } else {
                values.put(name, String.valueOf(value));
            }
        });
        return values;
    }

    private static List<String> said(String log) {
        List<String> said = new ArrayList<>();
        for (String line : log.split("\n")) {
            Matcher matcher = LOG_LINE.matcher(line);
            if (matcher.matches() && NOISE.stream().noneMatch(matcher.group(2)::contains)) {
                said.add(matcher.group(1) + " " + matcher.group(2));
            }
        }
        return said;
    }

    @SuppressWarnings("unchecked")
    private static <T> T field(KafkaProducer<?, ?> producer, String name) throws Exception {
        Field field = KafkaProducer.class.getDeclaredField(name);
        field.setAccessible(true);
        return (T) field.get(producer);
    }
}
