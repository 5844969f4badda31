package kdrill.conformance.exact;

import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import kdrill.conformance.Json;
import org.apache.kafka.clients.producer.ProducerRecord;

/** Where records with given keys land when they are sent by the whole producer. */
final class ProducerPath {
    private static final long SECOND = 1_000_000_000L;

    private ProducerPath() {
    }

    static Map<String, Object> partitions(List<byte[]> keys, int partitions) {
        VirtualCluster cluster = new VirtualCluster(1);
        cluster.topic("keys", IntStream.range(0, partitions).map(i -> 1).toArray());
        VirtualProducer virtual = new VirtualProducer(cluster, Map.of(), 1_000_000, 0, 1);
        virtual.warmUp("keys", SECOND, 1);
        int[] landed = new int[keys.size()];
        long start = virtual.clock.nanoseconds();
        for (int i = 0; i < landed.length; i++) {
            int number = i;
            virtual.at(start + i * 100_000L, () -> virtual.producer.send(
                new ProducerRecord<>("keys", keys.get(number), new byte[1]),
                (metadata, failure) -> landed[number] = metadata.partition()));
        }
        virtual.runUntil(start + 10 * SECOND);
        return Json.object(
            "partitions", IntStream.of(landed).mapToObj(Integer::toString)
                .collect(Collectors.joining(" ")));
    }
}
