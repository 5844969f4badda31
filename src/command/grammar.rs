//! The clap definition: what can be said, with its help.
//!
//! Names stay strings here; `parse` looks them up. An argument's id says what it names, which is
//! how completion knows what to offer.

mod groups;
mod topics;

use clap::{Parser, Subcommand};

use crate::sim::time::SimSpan;

use super::units;

pub(super) use groups::{KafkaConsumerGroups, KafkaGetOffsets};
pub(super) use topics::KafkaTopics;

/// One line.
#[derive(Debug, Parser)]
#[command(
    name = "kdrill",
    no_binary_name = true,
    disable_help_flag = true,
    disable_help_subcommand = true,
    allow_negative_numbers = true,
    color = clap::ColorChoice::Never
)]
pub(super) struct Line {
    #[command(subcommand)]
    pub(super) verb: Verb,
}

#[derive(Debug, Subcommand)]
pub(super) enum Verb {
    /// Faults and cures of one broker
    #[command(subcommand)]
    Broker(BrokerVerb),
    /// Faults of a transaction coordinator, whichever broker that is
    #[command(subcommand)]
    Coordinator(CoordinatorVerb),
    /// Faults and cures between two ends: a producer, a consumer group or one of its members
    /// (`GROUP/2`), a broker id, `controller` or `*`
    #[command(subcommand)]
    Link(LinkVerb),
    /// Answers that get lost
    #[command(subcommand)]
    Responses(ResponsesVerb),
    /// Faults and cures of one broker's disk
    #[command(subcommand)]
    Disk(DiskVerb),
    /// Answer the next batches for a partition with an error
    Inject {
        /// A broker's error: `NOT_ENOUGH_REPLICAS`
        #[arg(value_name = "ERROR")]
        error: String,
        /// Which partition: TOPIC-N
        #[arg(long, value_name = "TOPIC-N")]
        partition: String,
        /// How many batches
        #[arg(long, value_name = "N", default_value_t = 1, value_parser = count)]
        count: u32,
    },
    /// What befalls an application process
    #[command(subcommand)]
    Producer(ProducerVerb),
    /// What befalls a consumer's process, or every member of a group
    #[command(subcommand)]
    Consumer(ConsumerVerb),
    /// Change a configuration
    #[command(subcommand)]
    Set(SetVerb),
    /// Change how many records per second a producer's loads send
    Rate {
        /// Which producer
        #[arg(value_name = "PRODUCER")]
        producer: String,
        /// Records per second, or `max`
        #[arg(value_name = "N", value_parser = units::record_rate, allow_negative_numbers = true)]
        rate: u64,
    },
    /// Follow the records of a key from `send()` to their last copies, where they are remembered
    Follow {
        /// The key; bytes that are no text as 0x…
        #[arg(value_name = "KEY")]
        key: String,
        /// Which of its records, from 1; by default all, and the one with the longest story
        #[arg(long, value_name = "N", value_parser = count)]
        record: Option<u32>,
    },
    /// Kafka's own tool: see topics, or give one more partitions
    #[command(name = "kafka-topics.sh")]
    KafkaTopics(KafkaTopics),
    /// Kafka's own tool: elect leaders, preferred ones or whoever is alive
    #[command(name = "kafka-leader-election.sh")]
    KafkaLeaderElection(KafkaLeaderElection),
    /// Kafka's own tool: move partitions to other brokers
    #[command(name = "kafka-reassign-partitions.sh")]
    KafkaReassignPartitions(KafkaReassignPartitions),
    /// Kafka's own tool: quotas of clients and configurations of topics
    #[command(name = "kafka-configs.sh")]
    KafkaConfigs(KafkaConfigs),
    /// Kafka's own tool: see transactions, find those that hang, and end them
    #[command(name = "kafka-transactions.sh")]
    KafkaTransactions(KafkaTransactions),
    /// Kafka's own tool: offsets, lag and members of consumer groups, and moving their offsets
    #[command(name = "kafka-consumer-groups.sh")]
    KafkaConsumerGroups(KafkaConsumerGroups),
    /// Kafka's own tool: the first and last offsets of partitions
    #[command(name = "kafka-get-offsets.sh")]
    KafkaGetOffsets(KafkaGetOffsets),
}

/// Flags of `TransactionsCommand`.
#[derive(Debug, clap::Args)]
pub(super) struct KafkaTransactions {
    /// Where the real tool finds the cluster; here there is one
    #[arg(long, value_name = "HOST:PORT")]
    pub(super) bootstrap_server: Option<String>,
    #[command(subcommand)]
    pub(super) verb: TransactionsVerb,
}

#[derive(Debug, Subcommand)]
pub(super) enum TransactionsVerb {
    /// Show every transactional id with its coordinator, producer id and state
    List {
        /// Only transactions that began longer ago, in milliseconds; below 0 all
        #[arg(long, value_name = "MS", default_value_t = -1, allow_negative_numbers = true)]
        duration_filter: i64,
    },
    /// Show one transactional id
    Describe {
        /// Which one
        #[arg(long, value_name = "ID")]
        transactional_id: String,
    },
    /// Show the producers that a partition knows
    DescribeProducers {
        /// On which replica; by default on the leader
        #[arg(id = "broker", long = "broker-id", value_name = "BROKER")]
        broker: Option<String>,
        /// Which topic
        #[arg(long, value_name = "TOPIC")]
        topic: String,
        /// Which of its partitions
        #[arg(long = "partition", value_name = "N", value_parser = number)]
        number: u32,
    },
    /// Show open transactions that no coordinator knows of
    FindHanging {
        /// In partitions that have a replica there
        #[arg(id = "broker", long = "broker-id", value_name = "BROKER")]
        broker: Option<String>,
        /// Only those whose last record is older, in minutes
        #[arg(long, value_name = "MINUTES", default_value_t = 15, value_parser = number)]
        max_transaction_timeout: u32,
        /// In this topic only
        #[arg(long, value_name = "TOPIC")]
        topic: Option<String>,
        /// In one of its partitions only
        #[arg(long = "partition", value_name = "N", value_parser = number)]
        number: Option<u32>,
    },
    /// End a hanging transaction in one partition
    Abort(AbortFlags),
    /// Take an id from its owner, and abort what is open
    #[command(name = "forceTerminateTransaction")]
    ForceTerminateTransaction {
        /// Which one
        #[arg(
            long = "transactionalId",
            alias = "transactional-id",
            value_name = "ID"
        )]
        transactional_id: String,
    },
}

/// Flags of `TransactionsCommand abort`.
#[derive(Debug, clap::Args)]
pub(super) struct AbortFlags {
    /// Which topic
    #[arg(long, value_name = "TOPIC")]
    pub(super) topic: String,
    /// Which of its partitions
    #[arg(long = "partition", value_name = "N", value_parser = number)]
    pub(super) number: u32,
    /// First offset of the transaction
    #[arg(long, value_name = "OFFSET", value_parser = whole)]
    pub(super) start_offset: Option<u64>,
    /// For brokers before 3.0: whose transaction
    #[arg(long, value_name = "ID", allow_negative_numbers = true)]
    pub(super) producer_id: Option<i64>,
    /// For brokers before 3.0: its epoch
    #[arg(long, value_name = "EPOCH", allow_negative_numbers = true)]
    pub(super) producer_epoch: Option<i16>,
    /// For brokers before 3.0: as `describe-producers` shows it
    #[arg(long, value_name = "EPOCH", allow_negative_numbers = true)]
    pub(super) coordinator_epoch: Option<i32>,
}

/// Flags of `ConfigCommand`.
#[derive(Debug, clap::Args)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "the actions of Kafka's tool are flags, and it counts them itself"
)]
pub(super) struct KafkaConfigs {
    /// Where the real tool finds the cluster; here there is one
    #[arg(long, value_name = "HOST:PORT")]
    pub(super) bootstrap_server: Option<String>,
    /// Change a configuration
    #[arg(long)]
    pub(super) alter: bool,
    /// Show configurations
    #[arg(long)]
    pub(super) describe: bool,
    /// `topics`, `clients` or `users`; the last two can stand together
    #[arg(long, value_name = "TYPE")]
    pub(super) entity_type: Vec<String>,
    /// Which one
    #[arg(long, value_name = "NAME")]
    pub(super) entity_name: Vec<String>,
    /// All that have no quota by name
    #[arg(long)]
    pub(super) entity_default: bool,
    /// Short for `--entity-type topics --entity-name`
    #[arg(long, value_name = "TOPIC")]
    pub(super) topic: Option<String>,
    /// Short for `--entity-type clients --entity-name`
    #[arg(long, value_name = "CLIENT_ID")]
    pub(super) client: Option<String>,
    /// Short for `--entity-type clients --entity-default`
    #[arg(long)]
    pub(super) client_defaults: bool,
    /// Short for `--entity-type users --entity-name`; who does not log in is `ANONYMOUS`
    #[arg(long, value_name = "USER")]
    pub(super) user: Option<String>,
    /// Short for `--entity-type users --entity-default`
    #[arg(long)]
    pub(super) user_defaults: bool,
    /// `producer_byte_rate=1048576`, or `retention.ms=3600000,max.message.bytes=2000000`
    #[arg(long, value_name = "KEY=VALUE,…")]
    pub(super) add_config: Option<String>,
    /// What shall be as if it had never been set
    #[arg(long, value_name = "KEY,…")]
    pub(super) delete_config: Option<String>,
}

/// Flags of `LeaderElectionCommand`.
#[derive(Debug, clap::Args)]
pub(super) struct KafkaLeaderElection {
    /// Where the real tool finds the cluster; here there is one
    #[arg(long, value_name = "HOST:PORT")]
    pub(super) bootstrap_server: Option<String>,
    /// Whom to elect
    #[arg(long, value_name = "preferred|unclean")]
    pub(super) election_type: Option<String>,
    /// Which topic
    #[arg(long, value_name = "TOPIC")]
    pub(super) topic: Option<String>,
    /// Which of its partitions
    #[arg(long = "partition", value_name = "N")]
    pub(super) number: Option<u32>,
    /// All partitions of all topics
    #[arg(long)]
    pub(super) all_topic_partitions: bool,
}

/// Flags of `ReassignPartitionsCommand`.
#[derive(Debug, clap::Args)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "the actions of Kafka's tool are flags, and it counts them itself"
)]
pub(super) struct KafkaReassignPartitions {
    /// Where the real tool finds the cluster; here there is one
    #[arg(long, value_name = "HOST:PORT")]
    pub(super) bootstrap_server: Option<String>,
    /// Begin to move partitions
    #[arg(long)]
    pub(super) execute: bool,
    /// Show how far they are, and lift throttles when all are there
    #[arg(long)]
    pub(super) verify: bool,
    /// Give moves up
    #[arg(long)]
    pub(super) cancel: bool,
    /// Show what moves
    #[arg(long)]
    pub(super) list: bool,
    /// Show where partitions are, and propose where they could be
    #[arg(long)]
    pub(super) generate: bool,
    /// The topics to propose for, as JSON in place of a file's name
    #[arg(long, value_name = "JSON")]
    pub(super) topics_to_move_json_file: Option<String>,
    /// The brokers to propose: 1,2,3
    #[arg(long, value_name = "B,…")]
    pub(super) broker_list: Option<String>,
    /// The plan, as JSON in place of a file's name
    #[arg(long, value_name = "JSON")]
    pub(super) reassignment_json_file: Option<String>,
    /// Bytes per second that each broker may copy
    #[arg(long, value_name = "BYTES", value_parser = count_bytes)]
    pub(super) throttle: Option<u64>,
    /// Beside moves that are under way
    #[arg(long)]
    pub(super) additional: bool,
    /// Leave throttles as they are
    #[arg(long)]
    pub(super) preserve_throttles: bool,
}

#[derive(Debug, Subcommand)]
pub(super) enum BrokerVerb {
    /// The process dies
    Kill {
        /// Which broker, by id
        #[arg(value_name = "BROKER")]
        broker: String,
        /// Unflushed records that are lost at the tail of each log
        #[arg(long, value_name = "N", default_value_t = 0, value_parser = whole)]
        lose_tail: u64,
    },
    /// Controlled shutdown
    Stop {
        /// Which broker, by id
        #[arg(value_name = "BROKER")]
        broker: String,
    },
    /// The process starts again
    Start {
        /// Which broker, by id
        #[arg(value_name = "BROKER")]
        broker: String,
    },
    /// The process hangs; connections stay open
    Pause {
        /// Which broker, by id
        #[arg(value_name = "BROKER")]
        broker: String,
    },
    /// The process goes on
    Resume {
        /// Which broker, by id
        #[arg(value_name = "BROKER")]
        broker: String,
    },
    /// Every request takes this much longer; 0s ends it
    Slow {
        /// Which broker, by id
        #[arg(value_name = "BROKER")]
        broker: String,
        /// How much longer
        #[arg(value_name = "DURATION", value_parser = units::duration)]
        by: SimSpan,
    },
    /// The controller fences it until its next heartbeat
    Fence {
        /// Which broker, by id
        #[arg(value_name = "BROKER")]
        broker: String,
    },
}

#[derive(Debug, Subcommand)]
pub(super) enum CoordinatorVerb {
    /// The process of the broker that coordinates a transactional id dies
    Kill {
        /// Whose coordinator
        #[arg(value_name = "TRANSACTIONAL_ID")]
        transactional_id: String,
        /// Unflushed records that are lost at the tail of each log
        #[arg(long, value_name = "N", default_value_t = 0, value_parser = whole)]
        lose_tail: u64,
    },
}

#[derive(Debug, Subcommand)]
pub(super) enum LinkVerb {
    /// A black hole: nothing arrives, connections stay open
    Cut(Ends),
    /// As configured again
    Heal(Ends),
    /// Connections are reset and new ones refused
    Refuse(Ends),
    /// Clients' connections are reset, once, at both ends
    Reset(Ends),
    /// More delay on each way
    Delay {
        #[command(flatten)]
        ends: Ends,
        /// How much more
        #[arg(value_name = "DURATION", value_parser = units::duration)]
        by: SimSpan,
    },
    /// Less bandwidth; `none` lifts the limit
    Limit {
        #[command(flatten)]
        ends: Ends,
        /// Bytes or bits per second
        #[arg(value_name = "RATE", value_parser = limit)]
        rate: Limit,
    },
    /// Messages that TCP has to send again, and are late
    Loss {
        #[command(flatten)]
        ends: Ends,
        /// Which share of them: 1% or 0.01
        #[arg(value_name = "SHARE", value_parser = units::share)]
        share: u32,
    },
}

/// The two ends of a link.
#[derive(Debug, clap::Args)]
pub(super) struct Ends {
    /// One end
    #[arg(value_name = "A")]
    pub(super) a: String,
    /// The other end
    #[arg(value_name = "B")]
    pub(super) b: String,
}

#[derive(Debug, Subcommand)]
pub(super) enum ResponsesVerb {
    /// The next answers to producers vanish, and later ones with them until the connection closes
    Swallow {
        /// Which broker, by id
        #[arg(value_name = "BROKER")]
        broker: String,
        /// How many answers
        #[arg(long, value_name = "N", default_value_t = 1, value_parser = count)]
        count: u32,
    },
}

#[derive(Debug, Subcommand)]
pub(super) enum DiskVerb {
    /// The disk takes only this much; `none` lifts the limit
    Slow {
        /// Which broker, by id
        #[arg(value_name = "BROKER")]
        broker: String,
        /// Bytes per second
        #[arg(value_name = "RATE", value_parser = limit)]
        rate: Limit,
    },
    /// The log directory is full: appends answer `KAFKA_STORAGE_ERROR`
    Full {
        /// Which broker, by id
        #[arg(value_name = "BROKER")]
        broker: String,
    },
    /// As configured again, with room enough
    Heal {
        /// Which broker, by id
        #[arg(value_name = "BROKER")]
        broker: String,
    },
}

#[derive(Debug, Subcommand)]
pub(super) enum ProducerVerb {
    /// The process stands still, as in a long garbage collection
    Pause {
        /// Which producer
        #[arg(value_name = "PRODUCER")]
        producer: String,
    },
    /// The process goes on
    Resume {
        /// Which producer
        #[arg(value_name = "PRODUCER")]
        producer: String,
    },
    /// The process dies; what it buffered is gone
    Crash {
        /// Which producer
        #[arg(value_name = "PRODUCER")]
        producer: String,
    },
    /// The process dies and starts again with an empty client
    Restart {
        /// Which producer
        #[arg(value_name = "PRODUCER")]
        producer: String,
    },
}

#[derive(Debug, Subcommand)]
pub(super) enum ConsumerVerb {
    /// The process stands still: it neither polls nor says that it lives
    Pause {
        /// A group, or one of its members: GROUP/2
        #[arg(value_name = "CONSUMER")]
        consumer: String,
    },
    /// The process goes on
    Resume {
        /// A group, or one of its members: GROUP/2
        #[arg(value_name = "CONSUMER")]
        consumer: String,
    },
    /// The process dies without leaving its group
    Crash {
        /// A group, or one of its members: GROUP/2
        #[arg(value_name = "CONSUMER")]
        consumer: String,
    },
    /// The process dies, if it lives, and starts again as a new member
    Restart {
        /// A group, or one of its members: GROUP/2
        #[arg(value_name = "CONSUMER")]
        consumer: String,
    },
    /// The client closes: it commits and leaves the group
    Close {
        /// A group, or one of its members: GROUP/2
        #[arg(value_name = "CONSUMER")]
        consumer: String,
    },
    /// Change how many records per second each member of a group can process
    Rate {
        /// Which group
        #[arg(value_name = "GROUP")]
        group: String,
        /// Records per second, above 0
        #[arg(value_name = "N", value_parser = units::record_rate, allow_negative_numbers = true)]
        rate: u64,
    },
}

#[derive(Debug, Subcommand)]
pub(super) enum SetVerb {
    /// A client configuration; restarts what the real one would have to restart
    Producer {
        /// Which producer
        #[arg(value_name = "PRODUCER")]
        producer: String,
        /// linger.ms=20
        #[arg(value_name = "KEY=VALUE")]
        setting: String,
    },
}

/// How many times: at least once.
fn count(text: &str) -> Result<u32, &'static str> {
    match text.parse() {
        Ok(count) if count > 0 => Ok(count),
        _ => Err("expected a whole number of at least 1"),
    }
}

/// Bytes per second, as Kafka's tool takes them: bare.
fn count_bytes(text: &str) -> Result<u64, &'static str> {
    match text.parse() {
        Ok(bytes) if bytes > 0 => Ok(bytes),
        _ => Err("expected bytes per second, at least 1"),
    }
}

fn whole(text: &str) -> Result<u64, &'static str> {
    text.parse().map_err(|_| "expected a whole number")
}

fn number(text: &str) -> Result<u32, &'static str> {
    text.parse().map_err(|_| "expected a whole number")
}

/// A byte rate, or none.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limit(pub(super) Option<u64>);

fn limit(text: &str) -> Result<Limit, units::QuantityError> {
    if text == "none" {
        Ok(Limit(None))
    } else {
        units::byte_rate(text).map(Some).map(Limit)
    }
}

/// Words that the format knows and this version does not simulate yet, longest first.
pub(super) const LATER: &[&[&str]] = &[
    &["producer", "clone"],
    &["broker", "config"],
    &["topic"],
    &["kafka-dump-log.sh"],
];
