//! A broker's configuration.
//!
//! Invariants: every key of the table is checked by its kind and range, with the words of
//! Kafka's `ConfigException`; an unknown name is refused with the nearest known one.
//!
//! Simplifications: a real broker accepts unknown names and ignores them, which in a scenario
//! would hide a slip; listeners, paths and security do not exist here.
//!
//! Source: `AbstractKafkaConfig` and the `*Config` classes that it gathers.

mod table;

use super::super::settings::{
    BrokerSettings, ControllerSettings, GroupSettings, ReplicationSettings, RequestSettings,
    TopicSettings, TransactionSettings,
};
use super::super::version::KafkaVersion;
use super::definition::ConfigKey;
use super::topic::{cleanup_policy, stored_compression, timestamp_type};
use super::values::Values;
use super::{ConfigProblem, Note, nearest, not_modelled};

/// Milliseconds in an hour.
const MS_PER_HOUR: u64 = 3_600_000;

/// Every key of a broker.
pub fn table() -> impl Iterator<Item = &'static ConfigKey> {
    table::KEYS.iter()
}

/// The key with this name.
pub fn find(name: &str) -> Option<&'static ConfigKey> {
    table().find(|key| key.name == name)
}

/// Checks a broker's configuration.
pub fn validate(
    version: KafkaVersion,
    pairs: &[(String, String)],
) -> Result<(BrokerSettings, Vec<Note>), Vec<ConfigProblem>> {
    let (values, mut problems) = Values::read(table(), version, pairs);
    problems.extend(
        pairs
            .iter()
            .filter(|(key, _)| find(key).is_none())
            .map(|(key, _)| {
                let mut problem =
                    ConfigProblem::new(key, format!("{key} is no broker configuration"));
                problem.hint = nearest(key, table()).map(|known| format!("did you mean {known}?"));
                problem
            }),
    );
    if problems.is_empty() {
        Ok((settings(&values), not_modelled(pairs, find)))
    } else {
        Err(problems)
    }
}

fn settings(values: &Values) -> BrokerSettings {
    BrokerSettings {
        num_partitions: values.or_zero("num.partitions"),
        default_replication_factor: values.or_zero("default.replication.factor"),
        auto_create_topics: values.is_true("auto.create.topics.enable"),
        controlled_shutdown: values.is_true("controlled.shutdown.enable"),
        requests: requests(values),
        replication: replication(values),
        controller: controller(values),
        transactions: transactions(values),
        groups: GroupSettings {
            offsets_num_partitions: values.or_zero("offsets.topic.num.partitions"),
            offsets_replication_factor: values.or_zero("offsets.topic.replication.factor"),
            initial_rebalance_delay_ms: values.or_zero("group.initial.rebalance.delay.ms"),
        },
        retention_check_interval_ms: values.or_zero("log.retention.check.interval.ms"),
        topic_defaults: topic_defaults(values),
    }
}

fn requests(values: &Values) -> RequestSettings {
    RequestSettings {
        num_network_threads: values.or_zero("num.network.threads"),
        num_io_threads: values.or_zero("num.io.threads"),
        queued_max_requests: values.or_zero("queued.max.requests"),
        socket_request_max_bytes: values.or_zero("socket.request.max.bytes"),
        request_timeout_ms: values.or_zero("request.timeout.ms"),
        connections_max_idle_ms: values
            .unsigned("connections.max.idle.ms")
            .unwrap_or(u64::MAX),
        quota_window_num: values.or_zero("quota.window.num"),
        quota_window_size_seconds: values.or_zero("quota.window.size.seconds"),
    }
}

fn replication(values: &Values) -> ReplicationSettings {
    ReplicationSettings {
        lag_time_max_ms: values.or_zero("replica.lag.time.max.ms"),
        fetch_wait_max_ms: values.or_zero("replica.fetch.wait.max.ms"),
        fetch_min_bytes: values.or_zero("replica.fetch.min.bytes"),
        fetch_max_bytes: values.or_zero("replica.fetch.max.bytes"),
        fetch_response_max_bytes: values.or_zero("replica.fetch.response.max.bytes"),
        fetch_backoff_ms: values.or_zero("replica.fetch.backoff.ms"),
        num_fetchers: values.or_zero("num.replica.fetchers"),
        high_watermark_checkpoint_interval_ms: values
            .or_zero("replica.high.watermark.checkpoint.interval.ms"),
    }
}

fn controller(values: &Values) -> ControllerSettings {
    ControllerSettings {
        broker_heartbeat_interval_ms: values.or_zero("broker.heartbeat.interval.ms"),
        broker_session_timeout_ms: values.or_zero("broker.session.timeout.ms"),
        auto_leader_rebalance: values.is_true("auto.leader.rebalance.enable"),
        leader_imbalance_check_interval_seconds: values
            .or_zero("leader.imbalance.check.interval.seconds"),
        unclean_leader_election_interval_ms: values.or_zero("unclean.leader.election.interval.ms"),
        append_linger_ms: values.or_zero("controller.quorum.append.linger.ms"),
        election_timeout_ms: values.or_zero("controller.quorum.election.timeout.ms"),
        fetch_timeout_ms: values.or_zero("controller.quorum.fetch.timeout.ms"),
    }
}

fn transactions(values: &Values) -> TransactionSettings {
    TransactionSettings {
        state_log_num_partitions: values.or_zero("transaction.state.log.num.partitions"),
        state_log_replication_factor: values.or_zero("transaction.state.log.replication.factor"),
        state_log_min_isr: values.or_zero("transaction.state.log.min.isr"),
        max_timeout_ms: values.or_zero("transaction.max.timeout.ms"),
        id_expiration_ms: values.or_zero("transactional.id.expiration.ms"),
        abort_timed_out_interval_ms: values
            .or_zero("transaction.abort.timed.out.transaction.cleanup.interval.ms"),
        remove_expired_interval_ms: values
            .or_zero("transaction.remove.expired.transaction.cleanup.interval.ms"),
        partition_verification: values.is_true("transaction.partition.verification.enable"),
        add_partitions_retry_backoff_ms: values.or_zero("add.partitions.to.txn.retry.backoff.ms"),
        add_partitions_retry_backoff_max_ms: values
            .or_zero("add.partitions.to.txn.retry.backoff.max.ms"),
        producer_id_expiration_ms: values.or_zero("producer.id.expiration.ms"),
        producer_id_expiration_check_interval_ms: values
            .or_zero("producer.id.expiration.check.interval.ms"),
    }
}

/// The topic defaults; of two keys for one time, that in milliseconds counts first.
fn topic_defaults(values: &Values) -> TopicSettings {
    let hours_ms = |name: &str| {
        values
            .unsigned::<u64>(name)
            .map(|hours| hours * MS_PER_HOUR)
    };
    let retention_ms = match values.integer("log.retention.ms") {
        Some(ms) => u64::try_from(ms).ok(),
        None => hours_ms("log.retention.hours"),
    };
    TopicSettings {
        min_insync_replicas: values.or_zero("min.insync.replicas"),
        unclean_leader_election: values.is_true("unclean.leader.election.enable"),
        max_message_bytes: values.or_zero("message.max.bytes"),
        cleanup_policy: cleanup_policy(values.list("log.cleanup.policy")),
        retention_ms,
        retention_bytes: values.unsigned("log.retention.bytes"),
        segment_bytes: values.or_zero("log.segment.bytes"),
        segment_ms: values
            .unsigned("log.roll.ms")
            .or_else(|| hours_ms("log.roll.hours"))
            .unwrap_or_default(),
        timestamp_type: timestamp_type(values.text("log.message.timestamp.type")),
        timestamp_before_max_ms: values.or_zero("log.message.timestamp.before.max.ms"),
        timestamp_after_max_ms: values.or_zero("log.message.timestamp.after.max.ms"),
        min_cleanable_dirty_ratio: values
            .double("log.cleaner.min.cleanable.ratio")
            .unwrap_or_default(),
        delete_retention_ms: values.or_zero("log.cleaner.delete.retention.ms"),
        min_compaction_lag_ms: values.or_zero("log.cleaner.min.compaction.lag.ms"),
        max_compaction_lag_ms: values.or_zero("log.cleaner.max.compaction.lag.ms"),
        compression: stored_compression(values),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(pairs: &[(&str, &str)]) -> Result<(BrokerSettings, Vec<Note>), Vec<ConfigProblem>> {
        let pairs: Vec<_> = pairs
            .iter()
            .map(|(key, value)| (key.to_string(), value.to_string()))
            .collect();
        validate(KafkaVersion::DEFAULT, &pairs)
    }

    #[test]
    fn an_empty_configuration_yields_the_defaults_of_every_line() {
        for minor in 0..=4 {
            let version = KafkaVersion::new(4, minor, 0);
            let (settings, notes) = validate(version, &[]).unwrap();
            assert_eq!(settings, BrokerSettings::defaults(version));
            assert_eq!(notes, []);
        }
    }

    #[test]
    fn of_two_keys_for_one_time_the_finer_counts() {
        let retention =
            |pairs: &[(&str, &str)]| check(pairs).unwrap().0.topic_defaults.retention_ms;
        assert_eq!(retention(&[("log.retention.hours", "1")]), Some(3_600_000));
        let both = [("log.retention.hours", "1"), ("log.retention.ms", "-1")];
        assert_eq!(retention(&both), None);
    }

    #[test]
    fn values_out_of_range_and_unknown_names_are_refused_together() {
        let problems = check(&[("num.io.threads", "0"), ("num.io.thread", "8")]).unwrap_err();
        assert_eq!(
            problems[0].text,
            "Invalid value 0 for configuration num.io.threads: Value must be at least 1"
        );
        assert_eq!(problems[1].text, "num.io.thread is no broker configuration");
        assert_eq!(
            problems[1].hint.as_deref(),
            Some("did you mean num.io.threads?")
        );
    }

    #[test]
    fn keys_without_effect_are_accepted_with_a_note() {
        let (_, notes) = check(&[("log.cleaner.threads", "2")]).unwrap();
        assert_eq!(notes.len(), 1);
        assert_eq!(notes[0].key, "log.cleaner.threads");
    }
}
