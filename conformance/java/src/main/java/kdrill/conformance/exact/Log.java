package kdrill.conformance.exact;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.record.internal.Record;
import org.apache.kafka.common.record.internal.RecordBatch;

/** One partition's log, with the sequence check of an idempotent producer. */
final class Log {
    /** Brokers remember so many batches of a producer. */
    private static final int REMEMBERED = 5;

    private final List<String> values = new ArrayList<>();
    private final Map<Long, Producer> producers = new HashMap<>();
    private boolean keepsValues;
    private long end;

    /** A batch in the log: where it begins, its records, and the producer's state that wrote it. */
    record Batch(long baseOffset, int records, int epoch, int baseSequence) {
    }

    private static final class Producer {
        private int epoch = -1;
        private int nextSequence;
        private final List<Batch> last = new ArrayList<>();
    }

    void keepValues() {
        keepsValues = true;
    }

    /** Base offset of the batch, the old one if it is a duplicate; -1 if it is out of order. */
    long append(RecordBatch batch) {
        if (batch.producerId() < 0) {
            return write(batch).baseOffset;
        }
        Producer producer = producers.computeIfAbsent(batch.producerId(), id -> new Producer());
        for (Batch known : producer.last) {
            if (known.epoch == batch.producerEpoch()
                    && known.baseSequence == batch.baseSequence()) {
                return known.baseOffset;
            }
        }
        boolean newEpoch = producer.epoch != batch.producerEpoch();
        int expected = newEpoch ? 0 : producer.nextSequence;
        if (batch.baseSequence() != expected) {
            return -1;
        }
        producer.epoch = batch.producerEpoch();
        producer.nextSequence = expected + batch.countOrNull();
        Batch written = write(batch);
        producer.last.add(written);
        if (producer.last.size() > REMEMBERED) {
            producer.last.remove(0);
        }
        return written.baseOffset;
    }

    private Batch write(RecordBatch batch) {
        Batch written = new Batch(
            end, batch.countOrNull(), batch.producerEpoch(), batch.baseSequence());
        end += batch.countOrNull();
        if (keepsValues) {
            for (Record record : batch) {
                values.add(StandardCharsets.UTF_8.decode(record.value()).toString());
            }
        }
        return written;
    }

    /** The values in order of offset, if they were asked for. */
    List<String> values() {
        return values;
    }
}
