//! Flags of the tool that shows topics and lets them grow.

use clap::Args;

/// Flags of `TopicCommand`.
#[derive(Debug, Args)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "the actions of Kafka's tool are flags, and it counts them itself"
)]
pub(in crate::command) struct KafkaTopics {
    /// Where the real tool finds the cluster; here there is one
    #[arg(long, value_name = "HOST:PORT")]
    pub(in crate::command) bootstrap_server: Option<String>,
    /// Change how many partitions a topic has
    #[arg(long)]
    pub(in crate::command) alter: bool,
    /// Show partitions, leaders and replicas
    #[arg(long)]
    pub(in crate::command) describe: bool,
    /// Show the names of all topics
    #[arg(long)]
    pub(in crate::command) list: bool,
    /// With `--describe`: only topics with settings of their own, without their partitions
    #[arg(long)]
    pub(in crate::command) topics_with_overrides: bool,
    /// With `--describe`: only partitions with replicas that are not in sync
    #[arg(long)]
    pub(in crate::command) under_replicated_partitions: bool,
    /// With `--describe`: only partitions without a leader that is alive
    #[arg(long)]
    pub(in crate::command) unavailable_partitions: bool,
    /// With `--describe`: only partitions with fewer in-sync replicas than configured
    #[arg(long)]
    pub(in crate::command) under_min_isr_partitions: bool,
    /// With `--describe`: only partitions with just as many in-sync replicas as configured
    #[arg(long)]
    pub(in crate::command) at_min_isr_partitions: bool,
    /// Without the cluster's own topics, which are never shown here
    #[arg(long)]
    pub(in crate::command) exclude_internal: bool,
    #[arg(long, hide = true)]
    pub(in crate::command) create: bool,
    #[arg(long, hide = true)]
    pub(in crate::command) delete: bool,
    /// Which topic
    #[arg(long, value_name = "TOPIC")]
    pub(in crate::command) topic: Option<String>,
    /// How many partitions it shall have
    #[arg(long, value_name = "N")]
    pub(in crate::command) partitions: Option<u32>,
    /// The brokers of all its partitions, 1:2,2:3
    #[arg(long, value_name = "B:B,…")]
    pub(in crate::command) replica_assignment: Option<String>,
}
