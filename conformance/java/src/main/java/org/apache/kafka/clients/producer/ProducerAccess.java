package org.apache.kafka.clients.producer;

import java.util.List;
import java.util.Optional;
import org.apache.kafka.clients.producer.internals.ProducerInterceptors;
import org.apache.kafka.clients.producer.internals.ProducerMetadata;
import org.apache.kafka.clients.producer.internals.RecordAccumulator;
import org.apache.kafka.clients.producer.internals.Sender;
import org.apache.kafka.clients.producer.internals.TransactionManager;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.utils.LogContext;
import org.apache.kafka.common.utils.Time;

/** Lives in Kafka's package for its constructor of a producer from parts. */
public final class ProducerAccess {
    private ProducerAccess() {
    }

    /** A real producer whose sender is driven by somebody else: its I/O thread never starts. */
    public static KafkaProducer<byte[], byte[]> assemble(
            ProducerConfig config,
            Metrics metrics,
            ProducerMetadata metadata,
            RecordAccumulator accumulator,
            TransactionManager transactionManager,
            Sender sender,
            Partitioner partitioner,
            Time time) {
        return new KafkaProducer<>(
            config,
            new LogContext(),
            metrics,
            new ByteArraySerializer(),
            new ByteArraySerializer(),
            metadata,
            accumulator,
            transactionManager,
            sender,
            new ProducerInterceptors<>(List.of(), metrics),
            partitioner,
            time,
            new Sender.SenderThread("never started", () -> { }, true),
            Optional.empty());
    }
}
