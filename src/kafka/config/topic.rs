//! A topic's own configuration, checked as a broker checks it when the topic is made or altered.
//!
//! Invariants: names are those of the topic level (`retention.ms`, not `log.retention.ms`); an
//! unknown name is refused; what a topic does not say is the broker's default for it.
//!
//! Source: `TopicConfig`, `LogConfig`.

use super::super::exception::ExceptionClass;
use super::super::settings::{
    CleanupPolicy, Compression, CompressionType, StoredCompression, TimestampType, TopicSettings,
};
use super::super::version::KafkaVersion;
use super::definition::{ConfigKey, Valid, ValueKind};
use super::values::Values;
use super::{ConfigError, ConfigProblem, Note, RaisedIn, nearest, not_modelled};

use ValueKind::{Boolean, Double, Int, List, Long, String as Text};

/// The largest number of milliseconds, where a default means "never".
const FOREVER_MS: &str = "9223372036854775807";

const fn key(
    name: &'static str,
    kind: ValueKind,
    default: &'static str,
    help: &'static str,
) -> ConfigKey {
    ConfigKey::new(name, kind, default, help).medium()
}

const AT_LEAST_0: Valid = Valid::AtLeast(0);
const AT_LEAST_1: Valid = Valid::AtLeast(1);
const CODECS: Valid = Valid::OneOf(&["uncompressed", "zstd", "lz4", "snappy", "gzip", "producer"]);

const KEYS: &[ConfigKey] = &[
    key(
        "segment.bytes",
        Int,
        "1073741824",
        "The size at which a segment is closed.",
    )
    .valid(Valid::AtLeast(1_048_576)),
    key(
        "segment.ms",
        Long,
        "604800000",
        "The age at which a segment is closed.",
    )
    .valid(AT_LEAST_1),
    key(
        "flush.messages",
        Long,
        FOREVER_MS,
        "After how many records the log is flushed.",
    )
    .valid(AT_LEAST_1)
    .ignored(),
    key(
        "flush.ms",
        Long,
        FOREVER_MS,
        "After how long the log is flushed.",
    )
    .valid(AT_LEAST_0)
    .ignored(),
    key(
        "retention.bytes",
        Long,
        "-1",
        "The size above which old segments go; -1 is no limit.",
    )
    .valid(Valid::AtLeast(-1)),
    key(
        "retention.ms",
        Long,
        "604800000",
        "The age above which segments go; -1 is never.",
    )
    .valid(Valid::AtLeast(-1)),
    key(
        "max.message.bytes",
        Int,
        "1048588",
        "The largest batch that is taken, in bytes.",
    )
    .valid(AT_LEAST_0),
    key(
        "index.interval.bytes",
        Int,
        "4096",
        "How many bytes lie between entries of the index.",
    )
    .valid(AT_LEAST_0)
    .ignored(),
    key(
        "delete.retention.ms",
        Long,
        "86400000",
        "How long a tombstone outlives its cleaning.",
    )
    .valid(AT_LEAST_0),
    key(
        "min.compaction.lag.ms",
        Long,
        "0",
        "How long a record is safe from compaction.",
    )
    .valid(AT_LEAST_0),
    key(
        "max.compaction.lag.ms",
        Long,
        FOREVER_MS,
        "How long a record may wait for compaction.",
    )
    .valid(AT_LEAST_1),
    key(
        "file.delete.delay.ms",
        Long,
        "60000",
        "How long a removed file stays on the disk.",
    )
    .valid(AT_LEAST_0)
    .ignored(),
    key(
        "min.cleanable.dirty.ratio",
        Double,
        "0.5",
        "The share of dirty bytes that starts a cleaning.",
    )
    .valid(Valid::BetweenDoubles(0.0, 1.0)),
    key(
        "cleanup.policy",
        List,
        "delete",
        "Whether old segments go, old values go, or both.",
    )
    .valid(Valid::ItemsOf(&["compact", "delete"])),
    key(
        "unclean.leader.election.enable",
        Boolean,
        "false",
        "Whether a replica that fell behind may lead, at the price of lost records.",
    ),
    key(
        "min.insync.replicas",
        Int,
        "1",
        "How many replicas acks=all needs in sync.",
    )
    .valid(AT_LEAST_1),
    key(
        "compression.type",
        Text,
        "producer",
        "How batches are stored; producer is as they came.",
    )
    .valid(CODECS),
    key(
        "compression.gzip.level",
        Int,
        "-1",
        "How hard gzip tries, where batches are stored with it.",
    )
    .valid(Valid::GzipLevel)
    .since(3, 8),
    key(
        "compression.lz4.level",
        Int,
        "9",
        "How hard LZ4 tries, where batches are stored with it.",
    )
    .valid(Valid::Between(1, 17))
    .since(3, 8),
    key(
        "compression.zstd.level",
        Int,
        "3",
        "How hard Zstandard tries, where batches are stored with it.",
    )
    .valid(Valid::Between(-131_072, 22))
    .since(3, 8),
    key(
        "preallocate",
        Boolean,
        "false",
        "Whether segments take their space at once.",
    )
    .ignored(),
    key(
        "message.timestamp.type",
        Text,
        "CreateTime",
        "Whose clock stamps records.",
    )
    .valid(Valid::OneOf(&["CreateTime", "LogAppendTime"])),
    key(
        "message.timestamp.before.max.ms",
        Long,
        FOREVER_MS,
        "How far a timestamp may lie in the past.",
    )
    .valid(AT_LEAST_0),
    key(
        "message.timestamp.after.max.ms",
        Long,
        "3600000",
        "How far a timestamp may lie in the future.",
    )
    .valid(AT_LEAST_0),
];

/// Every key of a topic.
pub fn table() -> impl Iterator<Item = &'static ConfigKey> {
    KEYS.iter()
}

/// The key with this name.
pub fn find(name: &str) -> Option<&'static ConfigKey> {
    table().find(|key| key.name == name)
}

/// Checks a topic's configuration; what it does not set comes from `broker_defaults`.
///
/// Refusals are `InvalidConfigurationException`s, as an operator's tool meets them.
pub fn validate(
    version: KafkaVersion,
    broker_defaults: &TopicSettings,
    pairs: &[(String, String)],
) -> Result<(TopicSettings, Vec<Note>), Vec<ConfigProblem>> {
    let (values, mut problems) = Values::read(table(), version, pairs);
    problems.extend(
        pairs
            .iter()
            .filter(|(key, _)| find(key).is_none())
            .map(|(key, _)| {
                let mut problem =
                    ConfigProblem::new(key, format!("Unknown topic config name: {key}"));
                problem.hint = nearest(key, table()).map(|known| format!("did you mean {known}?"));
                problem
            }),
    );
    for problem in &mut problems {
        problem.error = ConfigError::Exception {
            class: ExceptionClass::InvalidConfiguration,
            raised_in: RaisedIn::Configuration,
        };
    }
    if problems.is_empty() {
        Ok((
            settings(&values, broker_defaults),
            not_modelled(pairs, find),
        ))
    } else {
        Err(problems)
    }
}

/// A topic's settings after some of them changed; those without a value are the broker's default
/// again.
pub fn altered(
    version: KafkaVersion,
    current: &TopicSettings,
    broker_defaults: &TopicSettings,
    changes: &[(String, Option<String>)],
) -> Result<TopicSettings, Vec<ConfigProblem>> {
    let mut base = current.clone();
    for (key, _) in changes.iter().filter(|(_, value)| value.is_none()) {
        reset(&mut base, key, broker_defaults);
    }
    let set = changes.iter().filter_map(|(key, value)| {
        let value = value.clone()?;
        Some((key.clone(), value))
    });
    let set: Vec<(String, String)> = set.collect();
    validate(version, &base, &set).map(|(settings, _)| settings)
}

/// Takes one setting from another topic, or from the brokers' defaults.
fn reset(settings: &mut TopicSettings, key: &str, from: &TopicSettings) {
    match key {
        "min.insync.replicas" => settings.min_insync_replicas = from.min_insync_replicas,
        "unclean.leader.election.enable" => {
            settings.unclean_leader_election = from.unclean_leader_election;
        }
        "max.message.bytes" => settings.max_message_bytes = from.max_message_bytes,
        "cleanup.policy" => settings.cleanup_policy = from.cleanup_policy,
        "retention.ms" => settings.retention_ms = from.retention_ms,
        "retention.bytes" => settings.retention_bytes = from.retention_bytes,
        "segment.bytes" => settings.segment_bytes = from.segment_bytes,
        "segment.ms" => settings.segment_ms = from.segment_ms,
        "message.timestamp.type" => settings.timestamp_type = from.timestamp_type,
        "message.timestamp.before.max.ms" => {
            settings.timestamp_before_max_ms = from.timestamp_before_max_ms;
        }
        "message.timestamp.after.max.ms" => {
            settings.timestamp_after_max_ms = from.timestamp_after_max_ms;
        }
        "min.cleanable.dirty.ratio" => {
            settings.min_cleanable_dirty_ratio = from.min_cleanable_dirty_ratio;
        }
        "delete.retention.ms" => settings.delete_retention_ms = from.delete_retention_ms,
        "min.compaction.lag.ms" => settings.min_compaction_lag_ms = from.min_compaction_lag_ms,
        "max.compaction.lag.ms" => settings.max_compaction_lag_ms = from.max_compaction_lag_ms,
        "compression.type" => settings.compression = from.compression,
        key => {
            if let StoredCompression::With(compression) = &mut settings.compression
                && key == level_key(compression.codec)
            {
                compression.level = level_of(from.compression, compression.codec);
            }
        }
    }
}

/// The level of a codec where it is the one that is stored; else its own choice.
fn level_of(stored: StoredCompression, codec: CompressionType) -> Option<i32> {
    match stored {
        StoredCompression::With(compression) if compression.codec == codec => compression.level,
        StoredCompression::With(_) | StoredCompression::AsSent => None,
    }
}

/// What a topic says where it says something, and the broker's default elsewhere.
fn settings(values: &Values, default: &TopicSettings) -> TopicSettings {
    let set_ms = |name: &str, default_ms| unsigned_if_set(values, name).unwrap_or(default_ms);
    let limit = |name: &str, default: Option<u64>| {
        if values.is_set(name) {
            values.unsigned(name)
        } else {
            default
        }
    };
    TopicSettings {
        min_insync_replicas: unsigned_if_set(values, "min.insync.replicas")
            .unwrap_or(default.min_insync_replicas),
        unclean_leader_election: values
            .flag("unclean.leader.election.enable")
            .filter(|_| values.is_set("unclean.leader.election.enable"))
            .unwrap_or(default.unclean_leader_election),
        max_message_bytes: unsigned_if_set(values, "max.message.bytes")
            .unwrap_or(default.max_message_bytes),
        cleanup_policy: if values.is_set("cleanup.policy") {
            cleanup_policy(values.list("cleanup.policy"))
        } else {
            default.cleanup_policy
        },
        retention_ms: limit("retention.ms", default.retention_ms),
        retention_bytes: limit("retention.bytes", default.retention_bytes),
        segment_bytes: unsigned_if_set(values, "segment.bytes").unwrap_or(default.segment_bytes),
        segment_ms: set_ms("segment.ms", default.segment_ms),
        timestamp_type: if values.is_set("message.timestamp.type") {
            timestamp_type(values.text("message.timestamp.type"))
        } else {
            default.timestamp_type
        },
        timestamp_before_max_ms: set_ms(
            "message.timestamp.before.max.ms",
            default.timestamp_before_max_ms,
        ),
        timestamp_after_max_ms: set_ms(
            "message.timestamp.after.max.ms",
            default.timestamp_after_max_ms,
        ),
        min_cleanable_dirty_ratio: values
            .double("min.cleanable.dirty.ratio")
            .filter(|_| values.is_set("min.cleanable.dirty.ratio"))
            .unwrap_or(default.min_cleanable_dirty_ratio),
        delete_retention_ms: set_ms("delete.retention.ms", default.delete_retention_ms),
        min_compaction_lag_ms: set_ms("min.compaction.lag.ms", default.min_compaction_lag_ms),
        max_compaction_lag_ms: set_ms("max.compaction.lag.ms", default.max_compaction_lag_ms),
        compression: compression(values, default.compression),
    }
}

/// A topic that names no codec has the brokers'; one that does takes its level from what it says
/// itself, or from that codec's own.
fn compression(values: &Values, default: StoredCompression) -> StoredCompression {
    if values.is_set("compression.type") {
        return stored_compression(values);
    }
    match default {
        StoredCompression::With(mut compression) => {
            let name = level_key(compression.codec);
            if values.is_set(&name) {
                compression.level = level(values, &name);
            }
            StoredCompression::With(compression)
        }
        StoredCompression::AsSent => default,
    }
}

/// What `compression.type` and its codec's level mean together, of a topic or a broker.
pub(super) fn stored_compression(values: &Values) -> StoredCompression {
    let codec = match values.text("compression.type") {
        None | Some("producer") => return StoredCompression::AsSent,
        Some("uncompressed") => CompressionType::None,
        Some(name) => CompressionType::from_name(name).unwrap_or(CompressionType::None),
    };
    let level = level(values, &level_key(codec));
    StoredCompression::With(Compression { codec, level })
}

fn level_key(codec: CompressionType) -> String {
    format!("compression.{}.level", codec.name())
}

/// A level; −1 is the codec's own choice.
fn level(values: &Values, name: &str) -> Option<i32> {
    let level = values.integer(name)?;
    i32::try_from(level).ok().filter(|level| *level != -1)
}

fn unsigned_if_set<T: TryFrom<i64>>(values: &Values, name: &str) -> Option<T> {
    values.unsigned(name).filter(|_| values.is_set(name))
}

/// What a list of policies means together.
pub(super) fn cleanup_policy(policies: &[String]) -> CleanupPolicy {
    let has = |policy: &str| policies.iter().any(|listed| listed == policy);
    match (has("compact"), has("delete")) {
        (true, true) => CleanupPolicy::CompactAndDelete,
        (true, false) => CleanupPolicy::Compact,
        (false, true) => CleanupPolicy::Delete,
        (false, false) => CleanupPolicy::Keep,
    }
}

/// Whose clock a name stands for.
pub(super) fn timestamp_type(name: Option<&str>) -> TimestampType {
    match name {
        Some("LogAppendTime") => TimestampType::LogAppendTime,
        _ => TimestampType::CreateTime,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const VERSION: KafkaVersion = KafkaVersion::DEFAULT;

    fn check(pairs: &[(&str, &str)]) -> Result<TopicSettings, Vec<ConfigProblem>> {
        let pairs: Vec<_> = pairs
            .iter()
            .map(|(key, value)| (key.to_string(), value.to_string()))
            .collect();
        validate(VERSION, &TopicSettings::defaults(), &pairs).map(|(settings, _)| settings)
    }

    #[test]
    fn the_table_and_the_settings_agree_about_every_default() {
        let pairs: Vec<(String, String)> = table()
            .filter_map(|key| match key.default(VERSION) {
                super::super::DefaultValue::Text(text) => Some((key.name.into(), text.into())),
                _ => None,
            })
            .collect();
        let (settings, _) = validate(VERSION, &TopicSettings::defaults(), &pairs).unwrap();
        assert_eq!(settings, TopicSettings::defaults());
    }

    #[test]
    fn a_codec_that_is_deleted_is_the_brokers_again_and_a_level_the_codecs_own() {
        let pairs = [
            ("compression.type", "zstd"),
            ("compression.zstd.level", "9"),
        ];
        let current = check(&pairs).unwrap();
        let without = |key: &str| {
            let defaults = TopicSettings::defaults();
            let changes = [(key.to_owned(), None)];
            let altered = altered(VERSION, &current, &defaults, &changes).unwrap();
            altered.compression
        };
        assert_eq!(without("compression.type"), StoredCompression::AsSent);
        let own = Compression {
            codec: CompressionType::Zstd,
            level: None,
        };
        assert_eq!(
            without("compression.zstd.level"),
            StoredCompression::With(own)
        );
    }

    #[test]
    fn what_a_topic_does_not_say_is_the_brokers_default() {
        let mut broker = TopicSettings::defaults();
        broker.min_insync_replicas = 2;
        let (settings, _) = validate(VERSION, &broker, &[]).unwrap();
        assert_eq!(settings, broker);
        let pairs = [("min.insync.replicas".to_owned(), "1".to_owned())];
        assert_eq!(
            validate(VERSION, &broker, &pairs)
                .unwrap()
                .0
                .min_insync_replicas,
            1
        );
    }

    #[test]
    fn retention_may_be_for_ever() {
        let settings = check(&[("retention.ms", "-1"), ("cleanup.policy", "compact")]).unwrap();
        assert_eq!(settings.retention_ms, None);
        assert!(settings.cleanup_policy.compacts() && !settings.cleanup_policy.deletes());
    }

    #[test]
    fn refusals_name_the_key_and_the_nearest_known_one() {
        let problems = check(&[
            ("min.insync.replica", "2"),
            ("cleanup.policy", "delete,shred"),
        ])
        .unwrap_err();
        assert_eq!(
            problems[0].text,
            "Invalid value shred for configuration cleanup.policy: String must be one of: \
             compact, delete"
        );
        assert_eq!(
            problems[1].text,
            "Unknown topic config name: min.insync.replica"
        );
        assert_eq!(
            problems[1].hint.as_deref(),
            Some("did you mean min.insync.replicas?")
        );
        assert_eq!(problems[1].error.name(), "InvalidConfigurationException");
    }
}
