//! The engine: a deterministic discrete-event simulation of producers, brokers, the controller and
//! consumers.
//!
//! Invariants: nothing here knows a file, a thread, an environment, a wall clock, tokio, ratatui
//! or serde; `now` is an argument; all randomness comes from named streams of one seed; no order
//! comes from a hash. Outside may only enqueue commands; the engine says what happened as facts
//! and flows.

#![deny(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::disallowed_macros
)]
#![deny(clippy::iter_over_hash_type)]

#[cfg(test)]
mod anchors;
#[cfg(test)]
mod choice_stories;
mod cluster;
pub mod command;
mod compaction;
#[cfg(test)]
mod compression_stories;
pub mod config;
mod consumer;
mod context;
mod dispatch;
mod event;
mod exception;
pub mod fact;
mod flow;
#[cfg(test)]
mod growth_stories;
mod history;
pub mod ids;
pub mod key_places;
mod leader_epochs;
mod log_sums;
mod look;
mod metadata;
mod network;
mod output;
mod partition;
pub mod payload;
mod producer;
mod queue;
#[cfg(test)]
mod quorum_stories;
#[cfg(test)]
mod rdkafka_fault_stories;
#[cfg(test)]
mod rdkafka_stories;
#[cfg(test)]
mod rdkafka_transaction_stories;
pub mod read_order;
#[cfg(test)]
mod reader_stories;
pub mod records;
mod replay;
#[cfg(test)]
mod replica_stories;
mod request;
mod rng;
pub mod segments;
mod simulation;
#[cfg(test)]
mod stories;
#[cfg(test)]
pub(crate) mod testing;
pub mod time;
pub mod trace;
#[cfg(test)]
mod transaction_stories;
pub mod transactions;
pub mod view;
mod weight;
mod workload;

pub use output::{Cuts, Output};
pub use simulation::{Advance, Progress, Simulation};
