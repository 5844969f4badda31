//! The effective settings of clients, brokers and topics, typed and ready for the engine.
//!
//! Invariants: a value here is what the real component runs with after its own adjustments
//! (idempotence silently off, a raised delivery timeout, a constant backoff …), never what
//! somebody typed; the configuration tables lead from the one to the other. Times are milliseconds
//! unless a name says otherwise. Nothing implements `Default`: defaults depend on the version.

mod broker;
mod consumer;
mod producer;
mod rdkafka_producer;
mod topic;

pub use broker::{
    BrokerSettings, ControllerSettings, GroupSettings, ReplicationSettings, RequestSettings,
    TransactionSettings,
};
pub use consumer::{
    Assignor, ConsumerSettings, FetchSettings, IsolationLevel, OffsetReset, TopicCreation,
};
pub use producer::{
    Acks, Compression, CompressionType, JavaProducerSettings, MetadataSettings, MetricsSettings,
    PartitionerClass, PartitionerSettings, RecoveryStrategy,
};
pub use rdkafka_producer::{
    DeliveryReports, MissingTopics, QueuingStrategy, RdkafkaConnectionSettings, RdkafkaIdempotence,
    RdkafkaMetadataSettings, RdkafkaProducerSettings, RdkafkaQueueSettings, RequiredAcks,
};
pub use topic::{CleanupPolicy, StoredCompression, TimestampType, TopicSettings};
