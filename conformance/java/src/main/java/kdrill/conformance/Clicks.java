package kdrill.conformance;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;

/**
 * Makes the sample of 20,000 click events that ships with kdrill.
 *
 * <p>Argument: the file to write, `scenarios/samples/clicks.ndjson`. Run it again only to change
 * the sample: every compressed size in the goldens depends on it.
 */
public final class Clicks {
    static final int COUNT = 20_000;
    private static final long SEED = 20_260_101;
    private static final String[] ACTIONS = {"view", "view", "view", "search", "cart", "buy"};
    private static final String[] PAGES = {"/", "/product/", "/category/", "/search", "/basket"};
    private static final String[] DEVICES = {"mobile", "mobile", "desktop", "tablet"};
    private static final String[] COUNTRIES = {"DE", "FR", "ES", "PL", "NL", "SE", "IT", "AT"};

    private Clicks() {
    }

    public static void main(String[] args) throws Exception {
        StringBuilder lines = new StringBuilder();
        for (String click : generate()) {
            lines.append(click).append('\n');
        }
        Path file = Path.of(args[0]);
        Files.createDirectories(file.toAbsolutePath().getParent());
        Files.writeString(file, lines);
    }

    public static byte[][] read(String file) throws Exception {
        return Files.readString(Path.of(file)).lines()
            .map(line -> line.getBytes(StandardCharsets.UTF_8)).toArray(byte[][]::new);
    }

    private static List<String> generate() {
        SplitMix64 random = new SplitMix64(SEED);
        List<String> clicks = new ArrayList<>();
        long atMs = Instant.parse("2026-01-01T00:00:00Z").toEpochMilli();
        for (int i = 0; i < COUNT; i++) {
            atMs += random.below(9);
            // Drawing twice makes small numbers more likely: busy users and popular pages.
            int user = 1 + random.below(1 + random.below(50_000));
            String page = PAGES[random.below(PAGES.length)];
            if (page.endsWith("/") && page.length() > 1) {
                page += 1 + random.below(1 + random.below(4_000));
            }
            clicks.add("{\"at\":\"" + Instant.ofEpochMilli(atMs) + "\",\"user\":\"u-" + user
                + "\",\"session\":\"" + HexFormat.of().toHexDigits((int) random.next())
                + "\",\"action\":\"" + ACTIONS[random.below(ACTIONS.length)]
                + "\",\"page\":\"" + page
                + "\",\"device\":\"" + DEVICES[random.below(DEVICES.length)]
                + "\",\"country\":\"" + COUNTRIES[random.below(1 + random.below(8))]
                + "\",\"ms\":" + (5 + random.below(1 + random.below(800))) + "}");
        }
        return clicks;
    }
}
