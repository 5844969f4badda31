package kdrill.conformance.exact;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.IntUnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import kdrill.conformance.Digest;
import kdrill.conformance.Json;
import kdrill.conformance.SplitMix64;
import org.apache.kafka.clients.producer.internals.BuiltInPartitioner;
import org.apache.kafka.common.utils.Utils;

/** Hash and partition of 10,000 keys by the Java client. */
public final class Keys {
    static final int COUNT = 10_000;
    static final long SEED = 42;
    private static final int PARTITIONS_MAX = 64;
    private static final int[] IN_FULL = {1, 2, 3, 6, 12, 64};
    private static final String[] LETTERS = {"ä", "ß", "é", "Ω", "Ж", "漢", "字", "🙂"};

    private Keys() {
    }

    public static void main(String[] args) throws Exception {
        List<byte[]> keys = keys();
        Map<String, Object> cases = new TreeMap<>();
        cases.put("murmur2", Json.object("hashes", joined(i -> Utils.murmur2(keys.get(i)))));
        Map<String, Object> digests = new TreeMap<>();
        for (int partitions = 1; partitions <= PARTITIONS_MAX; partitions++) {
            int count = partitions;
            IntUnaryOperator partition =
                i -> BuiltInPartitioner.partitionForKey(keys.get(i), count);
            Digest digest = new Digest();
            IntStream.range(0, COUNT).forEach(i -> digest.add(partition.applyAsInt(i)));
            digests.put(Integer.toString(partitions), digest.toString());
            if (IntStream.of(IN_FULL).anyMatch(full -> full == count)) {
                cases.put("partitions-" + partitions, Json.object("partitions", joined(partition)));
            }
        }
        cases.put("digests", Json.object("fnv1a64", digests));
        cases.put("producer-12", ProducerPath.partitions(keys, 12));
        Json.writeLine(Json.object("inputs", inputs(keys), "cases", cases));
    }

    /**
     * One generator makes all keys in order. Key i is, by i mod 500 first and then by i mod 5:
     * 499: 128 draws, 8 bytes each, the highest first; 498: empty; 0: `user-i`; 1: 1 + below(32)
     * bytes of 33 + below(94) each; 2: 1 + below(16) letters; 3: the low 4 bytes of a draw, the
     * highest first; 4: all 8 bytes of a draw, the highest first.
     */
    static List<byte[]> keys() {
        SplitMix64 random = new SplitMix64(SEED);
        List<byte[]> keys = new ArrayList<>();
        for (int i = 0; i < COUNT; i++) {
            keys.add(key(i, random));
        }
        return keys;
    }

    private static byte[] key(int i, SplitMix64 random) {
        if (i % 500 == 499) {
            ByteBuffer key = ByteBuffer.allocate(1024);
            while (key.hasRemaining()) {
                key.putLong(random.next());
            }
            return key.array();
        }
        if (i % 500 == 498) {
            return new byte[0];
        }
        return switch (i % 5) {
            case 0 -> ("user-" + i).getBytes(StandardCharsets.UTF_8);
            case 1 -> {
                ByteArrayOutputStream key = new ByteArrayOutputStream();
                for (int left = 1 + random.below(32); left > 0; left--) {
                    key.write(33 + random.below(94));
                }
                yield key.toByteArray();
            }
            case 2 -> {
                StringBuilder key = new StringBuilder();
                for (int left = 1 + random.below(16); left > 0; left--) {
                    key.append(LETTERS[random.below(LETTERS.length)]);
                }
                yield key.toString().getBytes(StandardCharsets.UTF_8);
            }
            case 3 -> ByteBuffer.allocate(4).putInt((int) random.next()).array();
            default -> ByteBuffer.allocate(8).putLong(random.next()).array();
        };
    }

    private static String joined(IntUnaryOperator figure) {
        return IntStream.range(0, COUNT).map(figure)
            .mapToObj(Integer::toString).collect(Collectors.joining(" "));
    }

    private static Map<String, Object> inputs(List<byte[]> keys) {
        Digest digest = new Digest();
        for (byte[] key : keys) {
            digest.addInt(key.length);
            digest.add(key);
        }
        return Json.object(
            "keys", COUNT,
            "generator", "SplitMix64, one for all keys in order; below(n) is an unsigned remainder",
            "seed", SEED,
            "key", List.of(
                "i mod 500 = 499: 128 draws, 8 bytes each, highest first",
                "i mod 500 = 498: empty",
                "i mod 5 = 0: user-i",
                "i mod 5 = 1: 1 + below(32) bytes, 33 + below(94) each",
                "i mod 5 = 2: 1 + below(16) letters, letters[below(8)] each, as UTF-8",
                "i mod 5 = 3: low 4 bytes of a draw, highest first",
                "i mod 5 = 4: 8 bytes of a draw, highest first"),
            "letters", List.of(LETTERS),
            "keys_digest", digest.toString(),
            "digests", List.of(
                "keys: FNV-1a 64 over each key's length (4 bytes, highest first) and bytes",
                "partitions: FNV-1a 64 over one byte for each key's partition"));
    }
}
