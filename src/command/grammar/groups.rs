//! Flags of the tools that show and move the offsets of consumer groups.

use clap::Args;

/// Flags of `ConsumerGroupCommand`.
#[derive(Debug, Args)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "the actions of Kafka's tool are flags, and it counts them itself"
)]
pub(in crate::command) struct KafkaConsumerGroups {
    /// Where the real tool finds the cluster; here there is one
    #[arg(long, value_name = "HOST:PORT")]
    pub(in crate::command) bootstrap_server: Option<String>,
    /// Show the names of all groups
    #[arg(long)]
    pub(in crate::command) list: bool,
    /// Show offsets and lag of a group, its members, or its state
    #[arg(long)]
    pub(in crate::command) describe: bool,
    /// Set the offsets of a group without members
    #[arg(long)]
    pub(in crate::command) reset_offsets: bool,
    /// Forget offsets of a group without members
    #[arg(long)]
    pub(in crate::command) delete_offsets: bool,
    /// Forget a group without members
    #[arg(long)]
    pub(in crate::command) delete: bool,
    /// Which group
    #[arg(long, value_name = "GROUP")]
    pub(in crate::command) group: Option<String>,
    /// Every group
    #[arg(long)]
    pub(in crate::command) all_groups: bool,
    /// Which topic: T, or some of its partitions: T:0,1
    #[arg(long, value_name = "TOPIC")]
    pub(in crate::command) topic: Vec<String>,
    /// All topics that the group has offsets of
    #[arg(long)]
    pub(in crate::command) all_topics: bool,
    /// With `--describe`: offsets, which is the default
    #[arg(long)]
    pub(in crate::command) offsets: bool,
    /// With `--describe`: members
    #[arg(long)]
    pub(in crate::command) members: bool,
    /// With `--members`: what each of them reads
    #[arg(long)]
    pub(in crate::command) verbose: bool,
    /// With `--describe`: coordinator, assignor, state
    #[arg(long)]
    pub(in crate::command) state: bool,
    /// With `--reset-offsets`: do it
    #[arg(long)]
    pub(in crate::command) execute: bool,
    /// With `--reset-offsets`: only show it
    #[arg(long)]
    pub(in crate::command) dry_run: bool,
    /// To the first offset kept
    #[arg(long)]
    pub(in crate::command) to_earliest: bool,
    /// To the high watermark
    #[arg(long)]
    pub(in crate::command) to_latest: bool,
    /// To what is committed
    #[arg(long)]
    pub(in crate::command) to_current: bool,
    /// So many records on, or back
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(in crate::command) shift_by: Option<i64>,
    /// To this offset
    #[arg(long, value_name = "OFFSET")]
    pub(in crate::command) to_offset: Option<u64>,
}

/// Flags of `GetOffsetShell`.
#[derive(Debug, Args)]
pub(in crate::command) struct KafkaGetOffsets {
    /// Where the real tool finds the cluster; here there is one
    #[arg(long, value_name = "HOST:PORT")]
    pub(in crate::command) bootstrap_server: Option<String>,
    /// Which topic
    #[arg(long, value_name = "TOPIC")]
    pub(in crate::command) topic: Option<String>,
    /// Which of its partitions: 0,2
    #[arg(long, value_name = "N,…")]
    pub(in crate::command) partitions: Option<String>,
    /// T, T:0 or T:0-3 (without 3), and more of these behind commas
    #[arg(long, value_name = "T:N-M,…")]
    pub(in crate::command) topic_partitions: Option<String>,
    /// `latest` (-1) or `earliest` (-2)
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(in crate::command) time: Option<String>,
}
