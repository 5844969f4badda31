//! Pure Kafka arithmetic: what the client and the brokers compute, without a clock.
//!
//! Nothing here waits, draws random numbers or remembers a run. Time and randomness arrive as
//! arguments (`now_ms`, `unit_draw`), so every answer is a function of what was passed in.
//!
//! Invariants:
//! - No type of this layer knows the engine, a file, a thread or the environment.
//! - No input makes a function panic: sums saturate, and impossible values have a stated answer.
//! - Names, texts, defaults and numbers are Kafka's own; whatever is an estimate says so.

pub mod backoff;
mod behavior;
pub mod compression;
pub mod config;
pub mod custom_partitioner;
pub mod error;
pub mod exception;
pub mod hash;
pub mod message;
pub mod metric_name;
pub mod metric_window;
pub mod partition_load;
pub mod properties;
pub mod quota;
pub mod rdkafka_error;
pub mod rdkafka_metric;
pub mod rdkafka_partitioner;
pub mod rdkafka_version;
pub mod rdkafka_window;
pub mod serializer;
pub mod settings;
pub mod size;
pub mod transaction;
pub mod transaction_message;
pub mod transactions_command;
pub mod version;
pub mod wire;
