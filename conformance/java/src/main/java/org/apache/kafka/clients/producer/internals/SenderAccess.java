package org.apache.kafka.clients.producer.internals;

import java.util.function.IntSupplier;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.utils.LogContext;
import org.apache.kafka.common.utils.Time;

/** Lives in Kafka's package for what is visible only there. */
public final class SenderAccess {
    private SenderAccess() {
    }

    /** One pass of the sender's loop. */
    public static void runOnce(Sender sender) {
        sender.runOnce();
    }

    /** The real partitioner, its random draws taken from a seeded generator. */
    public static BuiltInPartitioner seededPartitioner(
            String topic, int stickyBatchSize, IntSupplier draws) {
        return new BuiltInPartitioner(new LogContext(), topic, stickyBatchSize) {
            @Override
            int randomPartition() {
                return draws.getAsInt() & Integer.MAX_VALUE;
            }
        };
    }

    /** The real accumulator, the draws of its sticky partitioner taken from a seeded generator. */
    public static RecordAccumulator seededAccumulator(
            int batchSize,
            Compression compression,
            int lingerMs,
            long retryBackoffMs,
            long retryBackoffMaxMs,
            int deliveryTimeoutMs,
            RecordAccumulator.PartitionerConfig partitionerConfig,
            Metrics metrics,
            Time time,
            TransactionManager transactionManager,
            BufferPool pool,
            IntSupplier draws) {
        return new RecordAccumulator(
                new LogContext(), batchSize, compression, lingerMs, retryBackoffMs,
                retryBackoffMaxMs, deliveryTimeoutMs, partitionerConfig, metrics,
                "producer-metrics", time, transactionManager, pool) {
            @Override
            BuiltInPartitioner createBuiltInPartitioner(
                    LogContext logContext, String topic, int stickyBatchSize) {
                return seededPartitioner(topic, stickyBatchSize, draws);
            }
        };
    }

    /** The partition that the next record without a key goes to. */
    public static int stickyPartition(BuiltInPartitioner partitioner, Cluster cluster) {
        return partitioner.peekCurrentPartitionInfo(cluster).partition();
    }
}
