package kdrill.conformance.live;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import kdrill.conformance.Json;
import org.apache.kafka.common.utils.Exit;
import org.apache.kafka.tools.DumpLogSegments;

/**
 * `kafka-dump-log.sh` again and again in one warm process.
 *
 * <p>Every line of standard input is a list of arguments; every line of standard output is `{"exit",
 * "output"}` with all that the tool printed.
 */
public final class DumpApp {
    private DumpApp() {
    }

    public static void main(String[] args) throws Exception {
        Exit.setExitProcedure((code, message) -> {
            throw new Ended(code);
        });
        for (String line = Json.readLine(); line != null; line = Json.readLine()) {
            List<String> arguments = new ArrayList<>();
            for (JsonNode argument : Json.parse(line)) {
                arguments.add(argument.asText());
            }
            Json.writeLine(dump(arguments.toArray(new String[0])));
        }
    }

    private static Object dump(String[] arguments) throws IOException {
        ByteArrayOutputStream printed = new ByteArrayOutputStream();
        PrintStream terminal = new PrintStream(printed, false, StandardCharsets.UTF_8);
        PrintStream out = System.out;
        PrintStream err = System.err;
        System.setOut(terminal);
        System.setErr(terminal);
        int code = 0;
        try {
            DumpLogSegments.main(arguments);
        } catch (Ended ended) {
            code = ended.code;
        } finally {
            System.setOut(out);
            System.setErr(err);
        }
        terminal.flush();
        return Json.object("exit", code, "output", printed.toString(StandardCharsets.UTF_8));
    }

    /** Stands for the end of the process. */
    private static final class Ended extends RuntimeException {
        private static final long serialVersionUID = 1;
        private final int code;

        private Ended(int code) {
            this.code = code;
        }
    }
}
