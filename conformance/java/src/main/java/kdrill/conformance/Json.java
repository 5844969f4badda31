package kdrill.conformance;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import java.io.BufferedReader;
import java.io.FileOutputStream;
import java.io.FileDescriptor;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.TreeMap;

/** JSON in on standard input, JSON lines out on standard output. */
public final class Json {
    private static final ObjectMapper MAPPER = new ObjectMapper()
        .configure(SerializationFeature.ORDER_MAP_ENTRIES_BY_KEYS, true);

    /** The real standard output; `System.out` is pointed at standard error, where logs may go. */
    private static final PrintStream OUT =
        new PrintStream(new FileOutputStream(FileDescriptor.out), false, StandardCharsets.UTF_8);

    private static final BufferedReader IN =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));

    static {
        System.setOut(System.err);
    }

    private Json() {
    }

    /** The next line of standard input, or null at its end. */
    public static String readLine() throws IOException {
        return IN.readLine();
    }

    /** The next line of standard input as a JSON value; an empty object at the end of input. */
    public static JsonNode readNode() throws IOException {
        String line = IN.readLine();
        return line == null || line.isBlank() ? MAPPER.createObjectNode() : MAPPER.readTree(line);
    }

    public static JsonNode parse(String text) throws IOException {
        return MAPPER.readTree(text);
    }

    /** One JSON value, one line, flushed. Threads may call this at the same time. */
    public static void writeLine(Object value) throws IOException {
        byte[] line = (MAPPER.writeValueAsString(value) + "\n").getBytes(StandardCharsets.UTF_8);
        synchronized (OUT) {
            OUT.write(line);
            OUT.flush();
        }
    }

    /** Sorted names and values: `object("a", 1, "b", 2)`. */
    public static Map<String, Object> object(Object... namesAndValues) {
        Map<String, Object> object = new TreeMap<>();
        for (int i = 0; i < namesAndValues.length; i += 2) {
            object.put((String) namesAndValues[i], namesAndValues[i + 1]);
        }
        return object;
    }

    /** The members of a JSON object as configuration texts; JSON null becomes null. */
    public static Map<String, Object> configs(JsonNode object) {
        Map<String, Object> configs = new TreeMap<>();
        if (object != null) {
            object.properties().forEach(field -> {
                JsonNode value = field.getValue();
                configs.put(field.getKey(), value.isNull() ? null : value.asText());
            });
        }
        return configs;
    }

    /** Class, text and cause of an exception, verbatim. */
    public static Map<String, Object> exception(Throwable exception) {
        Map<String, Object> described = object(
            "class", exception.getClass().getName(),
            "text", exception.getMessage());
        Throwable cause = exception.getCause();
        if (cause != null && cause != exception) {
            described.put("cause", exception(cause));
        }
        return described;
    }
}
