//! The Java client's own words for what went wrong while sending.
//!
//! Invariants: texts are verbatim, including their slips; a text that changed between releases
//! takes the version. Times are whole milliseconds, partitions print as `topic-partition`.

use super::version::KafkaVersion;

/// What `kafka-topics.sh` puts before the words of an exception (`TopicCommand`).
pub const TOPICS_COMMAND_ERROR: &str = "Error while executing topic command : ";

/// What `kafka-reassign-partitions.sh --execute` says while partitions move
/// (`ReassignPartitionsCommand`).
pub const REASSIGNMENT_EXISTS: &str = "Cannot execute because there is an existing partition \
    assignment.  Use --additional to override this and create a new partition assignment in \
    addition to the existing one. The --additional flag can also be used to change the throttle by \
    resubmitting the current reassignment.";

/// `KafkaException` of `send()` after a fatal error of an idempotent producer
/// (`TransactionManager.maybeFailWithError`).
pub const IN_ERROR_STATE: &str =
    "Cannot execute transactional method because we are in an error state";

/// `ClusterAuthorizationException` of a batch (`Sender.failBatch`).
pub const NOT_IDEMPOTENT: &str = "The producer is not authorized to do idempotent sends";

/// `TopicAuthorizationException` of a batch, with its topic.
pub fn topic_not_authorized(topic: &str) -> String {
    format!("Not authorized to access topics: [{topic}]")
}

/// `IllegalStateException` of any call after `close()` (`KafkaProducer.throwIfProducerClosed`).
pub const PRODUCER_CLOSED: &str = "Cannot perform operation after producer has been closed";
/// `KafkaException` of a `send()` that the closing interrupted (`RecordAccumulator.append`,
/// `KafkaProducer.waitOnMetadata`).
pub const CLOSED_WHILE_SENDING: &str = "Producer closed while send in progress";
/// `KafkaException` of a thread that waited for memory (`BufferPool.allocate`).
pub const CLOSED_WHILE_ALLOCATING: &str = "Producer closed while allocating memory";
/// `KafkaException` of the batches left over when the time for closing has passed
/// (`Sender.run`).
pub const CLOSED_FORCEFULLY: &str = "Producer is closed forcefully.";
/// `KafkaException` of pending transactional calls in the same case (`TransactionManager.close`).
pub const TRANSACTION_CLOSED_FORCEFULLY: &str = "The producer closed forcefully";
/// `KafkaException` of `flush()` within a callback, since 4.1 (`KafkaProducer.flush`).
pub const FLUSH_IN_CALLBACK: &str = "KafkaProducer.flush() invocation inside a callback is not \
     permitted because it may lead to deadlock.";
/// `ClusterAuthorizationException` of a produce answer (`Sender.failBatch`).
pub const IDEMPOTENT_NOT_AUTHORIZED: &str = "The producer is not authorized to do idempotent sends";
/// `KafkaException` of the sound records in a batch with an unsound one (`Sender.failBatch`).
pub const BATCH_HAD_INVALID_RECORDS: &str = "Failed to append record because it was part of a \
     batch which had one more more invalid records";
/// `IllegalArgumentException` of a record without topic (`ProducerRecord`).
pub const TOPIC_NULL: &str = "Topic cannot be null.";

/// `BufferExhaustedException` of a wait for memory (`BufferPool.allocate`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BufferExhausted {
    /// The allocation asked for, in bytes.
    pub size_bytes: u64,
    /// What `send()` had left of `max.block.ms`, in ms; less than the setting after a wait for
    /// metadata.
    pub max_block_ms: u64,
    /// `buffer.memory`, in bytes.
    pub total_bytes: u64,
    /// Free bytes, without those that this waiter had gathered.
    pub available_bytes: u64,
    /// `batch.size`, in bytes.
    pub poolable_bytes: u64,
}

impl BufferExhausted {
    /// The exception's text.
    pub fn text(&self) -> String {
        let Self {
            size_bytes,
            max_block_ms,
            total_bytes,
            available_bytes,
            poolable_bytes,
        } = self;
        format!(
            "Failed to allocate {size_bytes} bytes within the configured max blocking time \
             {max_block_ms} ms. Total memory: {total_bytes} bytes. Available memory: \
             {available_bytes} bytes. Poolable size: {poolable_bytes} bytes"
        )
    }
}

/// `IllegalArgumentException` of an allocation above `buffer.memory` (`BufferPool.allocate`).
pub fn hard_limit_on_memory(size_bytes: u64, total_bytes: u64) -> String {
    format!(
        "Attempt to allocate {size_bytes} bytes, but there is a hard limit of {total_bytes} on \
         memory allocations."
    )
}

/// `TimeoutException` of a topic that metadata never listed (`KafkaProducer.waitOnMetadata`).
///
/// The number is the whole of `max.block.ms`.
pub fn topic_not_present(topic: &str, max_block_ms: u64) -> String {
    format!("Topic {topic} not present in metadata after {max_block_ms} ms.")
}

/// `TimeoutException` of an explicit partition that metadata never listed
/// (`KafkaProducer.waitOnMetadata`).
pub fn partition_not_present(
    topic: &str,
    partition: u32,
    partitions: u32,
    max_block_ms: u64,
) -> String {
    format!(
        "Partition {partition} of topic {topic} with partition count {partitions} is not present \
         in metadata after {max_block_ms} ms."
    )
}

/// `TimeoutException` of a batch older than `delivery.timeout.ms`
/// (`Sender.getExpiredInflightBatches`, `ProducerBatch`); since 4.3 it says what is not known.
pub fn expiring(
    version: KafkaVersion,
    records: u32,
    topic_partition: &str,
    elapsed_ms: u64,
) -> String {
    let more = if version.at_least(4, 3) {
        ". The request has not been sent, or no server response has been received yet."
    } else {
        ""
    };
    format!(
        "Expiring {records} record(s) for {topic_partition}:{elapsed_ms} ms has passed since \
         batch creation{more}"
    )
}

/// `RecordTooLargeException` of a record above `max.request.size`
/// (`KafkaProducer.ensureValidRecordSize`).
///
/// `size_bytes` is the upper-bound estimate, not the true size.
pub fn larger_than_max_request_size(size_bytes: u64, max_request_size: u64) -> String {
    format!(
        "The message is {size_bytes} bytes when serialized which is larger than \
         {max_request_size}, which is the value of the max.request.size configuration."
    )
}

/// `RecordTooLargeException` of a record above `buffer.memory`
/// (`KafkaProducer.ensureValidRecordSize`).
pub fn larger_than_buffer_memory(size_bytes: u64) -> String {
    format!(
        "The message is {size_bytes} bytes when serialized which is larger than the total memory \
         buffer you have configured with the buffer.memory configuration."
    )
}

/// `NetworkException` of a request whose connection closed (`Sender.completeBatch`).
pub fn disconnected(node: i32) -> String {
    format!("Disconnected from node {node}")
}

/// `TimeoutException` of a request that `request.timeout.ms` ended, and with it its connection
/// (`Sender.completeBatch`).
pub fn disconnected_due_to_timeout(node: i32) -> String {
    format!("Disconnected from node {node} due to timeout")
}

/// `IllegalArgumentException` of a negative partition in a record (`ProducerRecord`).
pub fn invalid_partition(partition: i64) -> String {
    format!(
        "Invalid partition: {partition}. Partition number should always be non-negative or null."
    )
}

/// `IllegalArgumentException` of a negative timestamp in a record (`ProducerRecord`).
pub fn invalid_timestamp(timestamp_ms: i64) -> String {
    format!("Invalid timestamp: {timestamp_ms}. Timestamp should always be non-negative or null.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_pool_is_reported_with_all_its_sizes() {
        let exhausted = BufferExhausted {
            size_bytes: 16_384,
            max_block_ms: 60_000,
            total_bytes: 33_554_432,
            available_bytes: 0,
            poolable_bytes: 16_384,
        };
        assert_eq!(
            exhausted.text(),
            "Failed to allocate 16384 bytes within the configured max blocking time 60000 ms. \
             Total memory: 33554432 bytes. Available memory: 0 bytes. Poolable size: 16384 bytes"
        );
    }

    #[test]
    fn metadata_that_never_comes_names_the_whole_budget() {
        assert_eq!(
            topic_not_present("events", 60_000),
            "Topic events not present in metadata after 60000 ms."
        );
        assert_eq!(
            partition_not_present("events", 12, 6, 60_000),
            "Partition 12 of topic events with partition count 6 is not present in metadata \
             after 60000 ms."
        );
    }

    #[test]
    fn since_4_3_an_expired_batch_says_what_is_not_known() {
        let old = expiring(KafkaVersion::new(4, 2, 0), 15, "events-3", 120_000);
        let new = expiring(KafkaVersion::new(4, 3, 0), 15, "events-3", 120_000);
        assert_eq!(
            old,
            "Expiring 15 record(s) for events-3:120000 ms has passed since batch creation"
        );
        assert_eq!(
            new.strip_prefix(&old),
            Some(". The request has not been sent, or no server response has been received yet.")
        );
    }

    #[test]
    fn records_are_too_large_for_a_request_or_for_the_whole_pool() {
        assert_eq!(
            larger_than_max_request_size(1_048_577, 1_048_576),
            "The message is 1048577 bytes when serialized which is larger than 1048576, which is \
             the value of the max.request.size configuration."
        );
        assert!(larger_than_buffer_memory(40).ends_with("with the buffer.memory configuration."));
        assert_eq!(
            hard_limit_on_memory(65_536, 32_768),
            "Attempt to allocate 65536 bytes, but there is a hard limit of 32768 on memory \
             allocations."
        );
    }

    #[test]
    fn a_timed_out_request_differs_from_a_lost_connection() {
        assert_eq!(disconnected(2), "Disconnected from node 2");
        assert_eq!(
            disconnected_due_to_timeout(2),
            "Disconnected from node 2 due to timeout"
        );
    }
}
