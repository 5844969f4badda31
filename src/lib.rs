//! kdrill rehearses Kafka producer incidents: a deterministic simulation with live panes.

pub mod insight;
pub mod kafka;
pub mod sim;
