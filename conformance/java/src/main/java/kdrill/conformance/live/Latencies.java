package kdrill.conformance.live;

import java.util.Arrays;
import java.util.Map;
import kdrill.conformance.Json;

/** All latencies of a run, kept whole so that percentiles are exact. */
final class Latencies {
    private double[] values = new double[1024];
    private int count;

    void add(double value) {
        if (count == values.length) {
            values = Arrays.copyOf(values, 2 * count);
        }
        values[count++] = value;
    }

    Map<String, Object> result() {
        double[] sorted = Arrays.copyOf(values, count);
        Arrays.sort(sorted);
        if (count == 0) {
            return Json.object("count", 0);
        }
        return Json.object(
            "count", count,
            "mean", rounded(Arrays.stream(sorted).average().orElseThrow()),
            "min", rounded(sorted[0]),
            "p50", rounded(sorted[count / 2]),
            "p95", rounded(sorted[(int) (count * 0.95)]),
            "p99", rounded(sorted[(int) (count * 0.99)]),
            "max", rounded(sorted[count - 1]));
    }

    private static double rounded(double value) {
        return Math.round(value * 1000) / 1000.0;
    }
}
