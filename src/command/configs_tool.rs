//! What `kafka-configs.sh` prints (`ConfigCommand`).
//!
//! Simplifications: what differs from the brokers' defaults counts as set on the topic;
//! `min.insync.replicas` also has a cluster-wide dynamic default, as every cluster with eligible
//! leader replicas has.

use crate::kafka::quota::{Quota, QuotaEntity, QuotaName};
use crate::kafka::settings::TopicSettings;
use crate::sim::Simulation;
use crate::sim::command::Command;
use crate::sim::config::Config;
use crate::sim::ids::TopicIndex;

use super::text::append;

/// What the tool prints when it has changed something; nothing for other commands.
pub fn completed(command: &Command, config: &Config) -> Option<String> {
    let of = match command {
        Command::SetTopic { topic, .. } => {
            format!("config for topic {}", config.topics[topic.index()].name)
        }
        Command::SetQuota { entity, .. } => {
            let (kind, name) = match (&entity.user, &entity.client_id) {
                (Some(name), _) => ("user", name),
                (None, Some(name)) => ("client", name),
                (None, None) => return None,
            };
            match name {
                QuotaName::Of(name) => format!("config for {kind} {name}"),
                QuotaName::Default => format!("default config for {kind}s in the cluster"),
            }
        }
        _ => return None,
    };
    Some(format!("Completed updating {of}."))
}

/// `--describe` of users and clients: the quotas that this entity matches exactly.
pub(super) fn describe_quotas(entity: &QuotaEntity, simulation: &Simulation) -> String {
    let quotas = simulation.quotas().iter();
    let lines = quotas
        .filter(|quota| quota.entity == *entity)
        .map(|quota| format!("Quota configs for {} are {}\n", who(entity), limits(quota)));
    lines.collect::<Vec<_>>().concat()
}

/// `producer_byte_rate=1048576.0`: the tool shows every limit as a double.
fn limits(quota: &Quota) -> String {
    format!("producer_byte_rate={:?}", quota.producer_byte_rate as f64)
}

fn who(entity: &QuotaEntity) -> String {
    let part = |kind: &str, name: &QuotaName| match name {
        QuotaName::Of(name) => format!("{kind} '{name}'"),
        QuotaName::Default => format!("the default {kind}"),
    };
    let user = entity.user.iter().map(|name| part("user-principal", name));
    let client = entity.client_id.iter().map(|name| part("client-id", name));
    user.chain(client).collect::<Vec<_>>().join(", ")
}

/// `--describe` of a topic.
pub(super) fn describe_topic(topic: TopicIndex, simulation: &Simulation) -> String {
    let config = simulation.config();
    let name = &config.topics[topic.index()].name;
    let (Some(settings), Some(broker)) = (simulation.topic_settings(topic), config.brokers.first())
    else {
        return format!("The topic '{name}' doesn't exist and doesn't have dynamic config.\n");
    };
    let mut text = format!("Dynamic configs for topic {name} are:\n");
    let defaults = shown(&broker.settings.topic_defaults);
    let set = shown(settings).into_iter().zip(defaults).zip(BROKER_NAMES);
    for (((key, value), (_, default)), broker_key) in set {
        if value == default {
            continue;
        }
        let default = match broker_key {
            Some(name @ "min.insync.replicas") => format!(
                ", DYNAMIC_DEFAULT_BROKER_CONFIG:{name}={default}, DEFAULT_CONFIG:{name}={default}"
            ),
            Some(name) => format!(", DEFAULT_CONFIG:{name}={default}"),
            None => String::new(),
        };
        append(
            &mut text,
            format_args!(
                "  {key}={value} sensitive=false synonyms={{DYNAMIC_TOPIC_CONFIG:{key}={value}\
                 {default}}}\n"
            ),
        );
    }
    text
}

/// A topic's settings by name, in the order of the tool, which sorts them.
fn shown(settings: &TopicSettings) -> [(&'static str, String); 9] {
    let limit = |limit: Option<u64>| limit.map_or_else(|| "-1".to_owned(), |it| it.to_string());
    [
        (
            "delete.retention.ms",
            settings.delete_retention_ms.to_string(),
        ),
        ("max.message.bytes", settings.max_message_bytes.to_string()),
        (
            "min.compaction.lag.ms",
            settings.min_compaction_lag_ms.to_string(),
        ),
        (
            "min.insync.replicas",
            settings.min_insync_replicas.to_string(),
        ),
        ("retention.bytes", limit(settings.retention_bytes)),
        ("retention.ms", limit(settings.retention_ms)),
        ("segment.bytes", settings.segment_bytes.to_string()),
        ("segment.ms", settings.segment_ms.to_string()),
        (
            "unclean.leader.election.enable",
            settings.unclean_leader_election.to_string(),
        ),
    ]
}

/// The brokers' names for the same. Times that a broker says in hours have no default of their own.
const BROKER_NAMES: [Option<&str>; 9] = [
    Some("log.cleaner.delete.retention.ms"),
    Some("message.max.bytes"),
    Some("log.cleaner.min.compaction.lag.ms"),
    Some("min.insync.replicas"),
    Some("log.retention.bytes"),
    None,
    Some("log.segment.bytes"),
    None,
    Some("unclean.leader.election.enable"),
];
