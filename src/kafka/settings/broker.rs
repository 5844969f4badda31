//! What a broker, its controller role and its coordinators run with.
//!
//! Simplification: the defaults of the lines 4.0 to 4.4 do not differ in anything kept here, so
//! [`BrokerSettings::defaults`] takes the version for the caller's sake only.

use super::super::version::KafkaVersion;
use super::topic::TopicSettings;

/// The effective settings of one broker.
///
/// Source: `AbstractKafkaConfig` and the `*Config` classes that it gathers.
#[derive(Clone, Debug, PartialEq)]
pub struct BrokerSettings {
    /// `num.partitions` of a topic that is created without a number.
    pub num_partitions: u32,
    /// `default.replication.factor`.
    pub default_replication_factor: u16,
    /// `auto.create.topics.enable`.
    pub auto_create_topics: bool,
    /// `controlled.shutdown.enable`: a stopping broker hands its leaderships over first.
    pub controlled_shutdown: bool,
    /// How requests are taken and served.
    pub requests: RequestSettings,
    /// How followers follow.
    pub replication: ReplicationSettings,
    /// How the controller watches brokers and elects leaders.
    pub controller: ControllerSettings,
    /// How transactions are coordinated.
    pub transactions: TransactionSettings,
    /// How consumer groups are coordinated.
    pub groups: GroupSettings,
    /// `log.retention.check.interval.ms`: how often old segments are looked for.
    pub retention_check_interval_ms: u64,
    /// What topics get that do not say otherwise.
    pub topic_defaults: TopicSettings,
}

/// How a broker takes and serves requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestSettings {
    /// `num.network.threads` of a listener.
    pub num_network_threads: u32,
    /// `num.io.threads`.
    pub num_io_threads: u32,
    /// `queued.max.requests`.
    pub queued_max_requests: u32,
    /// `socket.request.max.bytes`.
    pub socket_request_max_bytes: u32,
    /// `request.timeout.ms` of the broker as a client.
    pub request_timeout_ms: u64,
    /// `connections.max.idle.ms`.
    pub connections_max_idle_ms: u64,
    /// `quota.window.num`.
    pub quota_window_num: u32,
    /// `quota.window.size.seconds`.
    pub quota_window_size_seconds: u32,
}

/// How followers follow their leaders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReplicationSettings {
    /// `replica.lag.time.max.ms`: who is behind for longer leaves the in-sync set.
    pub lag_time_max_ms: u64,
    /// `replica.fetch.wait.max.ms`: how long an empty fetch waits for data.
    pub fetch_wait_max_ms: u64,
    /// `replica.fetch.min.bytes`.
    pub fetch_min_bytes: u32,
    /// `replica.fetch.max.bytes` of one partition.
    pub fetch_max_bytes: u32,
    /// `replica.fetch.response.max.bytes`.
    pub fetch_response_max_bytes: u32,
    /// `replica.fetch.backoff.ms`.
    pub fetch_backoff_ms: u64,
    /// `num.replica.fetchers` for each source broker.
    pub num_fetchers: u32,
    /// `replica.high.watermark.checkpoint.interval.ms`.
    pub high_watermark_checkpoint_interval_ms: u64,
}

/// How the controller watches brokers and elects leaders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ControllerSettings {
    /// `broker.heartbeat.interval.ms`.
    pub broker_heartbeat_interval_ms: u64,
    /// `broker.session.timeout.ms`: a broker silent for longer is fenced.
    pub broker_session_timeout_ms: u64,
    /// `auto.leader.rebalance.enable`: leadership returns to preferred replicas.
    pub auto_leader_rebalance: bool,
    /// `leader.imbalance.check.interval.seconds`.
    pub leader_imbalance_check_interval_seconds: u64,
    /// `unclean.leader.election.interval.ms` (internal).
    pub unclean_leader_election_interval_ms: u64,
    /// `controller.quorum.append.linger.ms`.
    pub append_linger_ms: u64,
    /// `controller.quorum.election.timeout.ms`.
    pub election_timeout_ms: u64,
    /// `controller.quorum.fetch.timeout.ms`.
    pub fetch_timeout_ms: u64,
}

/// How transactions are coordinated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TransactionSettings {
    /// `transaction.state.log.num.partitions`.
    pub state_log_num_partitions: u32,
    /// `transaction.state.log.replication.factor`.
    pub state_log_replication_factor: u16,
    /// `transaction.state.log.min.isr`.
    pub state_log_min_isr: u32,
    /// `transaction.max.timeout.ms`: the longest `transaction.timeout.ms` of a producer.
    pub max_timeout_ms: u64,
    /// `transactional.id.expiration.ms`.
    pub id_expiration_ms: u64,
    /// `transaction.abort.timed.out.transaction.cleanup.interval.ms`: how often overdue
    /// transactions are looked for.
    pub abort_timed_out_interval_ms: u64,
    /// `transaction.remove.expired.transaction.cleanup.interval.ms`.
    pub remove_expired_interval_ms: u64,
    /// `transaction.partition.verification.enable` (KIP-890).
    pub partition_verification: bool,
    /// `add.partitions.to.txn.retry.backoff.ms` within the broker.
    pub add_partitions_retry_backoff_ms: u64,
    /// `add.partitions.to.txn.retry.backoff.max.ms` within the broker.
    pub add_partitions_retry_backoff_max_ms: u64,
    /// `producer.id.expiration.ms`.
    pub producer_id_expiration_ms: u64,
    /// `producer.id.expiration.check.interval.ms` (internal).
    pub producer_id_expiration_check_interval_ms: u64,
}

/// How consumer groups are coordinated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupSettings {
    /// `offsets.topic.num.partitions`.
    pub offsets_num_partitions: u32,
    /// `offsets.topic.replication.factor`.
    pub offsets_replication_factor: u16,
    /// `group.initial.rebalance.delay.ms`.
    pub initial_rebalance_delay_ms: u64,
}

impl BrokerSettings {
    /// What a broker of this version runs with when nothing was configured.
    pub const fn defaults(_version: KafkaVersion) -> Self {
        Self {
            num_partitions: 1,
            default_replication_factor: 1,
            auto_create_topics: true,
            controlled_shutdown: true,
            requests: RequestSettings::defaults(),
            replication: ReplicationSettings::defaults(),
            controller: ControllerSettings::defaults(),
            transactions: TransactionSettings::defaults(),
            groups: GroupSettings {
                offsets_num_partitions: 50,
                offsets_replication_factor: 3,
                initial_rebalance_delay_ms: 3000,
            },
            retention_check_interval_ms: 300_000,
            topic_defaults: TopicSettings::defaults(),
        }
    }
}

impl RequestSettings {
    const fn defaults() -> Self {
        Self {
            num_network_threads: 3,
            num_io_threads: 8,
            queued_max_requests: 500,
            socket_request_max_bytes: 104_857_600,
            request_timeout_ms: 30_000,
            connections_max_idle_ms: 600_000,
            quota_window_num: 11,
            quota_window_size_seconds: 1,
        }
    }
}

impl ReplicationSettings {
    const fn defaults() -> Self {
        Self {
            lag_time_max_ms: 30_000,
            fetch_wait_max_ms: 500,
            fetch_min_bytes: 1,
            fetch_max_bytes: 1_048_576,
            fetch_response_max_bytes: 10_485_760,
            fetch_backoff_ms: 1000,
            num_fetchers: 1,
            high_watermark_checkpoint_interval_ms: 5000,
        }
    }
}

impl ControllerSettings {
    const fn defaults() -> Self {
        Self {
            broker_heartbeat_interval_ms: 2000,
            broker_session_timeout_ms: 9000,
            auto_leader_rebalance: true,
            leader_imbalance_check_interval_seconds: 300,
            unclean_leader_election_interval_ms: 300_000,
            append_linger_ms: 25,
            election_timeout_ms: 1000,
            fetch_timeout_ms: 2000,
        }
    }
}

impl TransactionSettings {
    const fn defaults() -> Self {
        Self {
            state_log_num_partitions: 50,
            state_log_replication_factor: 3,
            state_log_min_isr: 2,
            max_timeout_ms: 900_000,
            id_expiration_ms: 604_800_000,
            abort_timed_out_interval_ms: 10_000,
            remove_expired_interval_ms: 3_600_000,
            partition_verification: true,
            add_partitions_retry_backoff_ms: 20,
            add_partitions_retry_backoff_max_ms: 100,
            producer_id_expiration_ms: 86_400_000,
            producer_id_expiration_check_interval_ms: 600_000,
        }
    }
}
