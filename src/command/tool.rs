//! What Kafka's tools print, in their own formats (`TopicCommand`).
//!
//! Simplifications: topics are described in the order of the scenario, where the real tool walks a
//! hash map; `TopicId` is made of the name and the seed; `Configs` shows what differs from the
//! defaults, whoever set it.

use crate::kafka::message::TOPICS_COMMAND_ERROR;
use crate::kafka::settings::{CleanupPolicy, TopicSettings};
use crate::sim::Simulation;
use crate::sim::command::{Command, Inquiry, TopicFilter};
use crate::sim::ids::{BrokerIndex, TopicIndex};
use crate::sim::view::PartitionView;

use super::configs_tool::{describe_quotas, describe_topic};
use super::problem::CommandProblem;
use super::text::append;
use super::{election, groups_printed, offsets, reassign, transactions};

/// The tool refused what the `line` asks for.
pub fn refusal(text: &str, line: &str) -> CommandProblem {
    CommandProblem::new(
        format!("{TOPICS_COMMAND_ERROR}{text}"),
        0..line.trim_end().len(),
    )
}

/// What a tool that acts, or may fail, prints now; refusals as problems of its `line`. Nothing for
/// other commands.
pub fn outcome(
    command: &Command,
    line: &str,
    simulation: &Simulation,
) -> Option<Result<String, CommandProblem>> {
    let said = match command {
        Command::ElectLeaders {
            election,
            partition,
        } => election::outcome((*election, *partition), simulation),
        Command::Reassign(reassign) => reassign::outcome(reassign, simulation),
        Command::AbortTransaction(abort) => transactions::outcome(abort, simulation),
        Command::Inquire(Inquiry::Transactions(inquiry)) => {
            transactions::answer(inquiry, simulation)
        }
        Command::Inquire(Inquiry::Groups(inquiry)) => groups_printed::answer(inquiry, simulation),
        _ => groups_printed::outcome(command, simulation)?,
    };
    let whole = 0..line.trim_end().len();
    Some(said.map_err(|text| CommandProblem::new(text.trim_end(), whole)))
}

/// What the tool prints.
pub fn answer(inquiry: &Inquiry, simulation: &Simulation) -> String {
    let topics = simulation.config().topics.len();
    let existing = (0..topics)
        .map(|place| TopicIndex(place as u16))
        .filter(|&topic| simulation.partitions_of(topic) > 0);
    match inquiry {
        Inquiry::ListTopics => {
            let mut names: Vec<&str> = existing.map(|topic| name_of(simulation, topic)).collect();
            names.sort_unstable();
            let mut text = names.join("\n");
            text.push('\n');
            text
        }
        Inquiry::DescribeTopics(None) => {
            existing.map(|topic| describe(simulation, topic)).collect()
        }
        Inquiry::DescribeTopics(Some(topic)) => describe(simulation, *topic),
        Inquiry::DescribeTopicConfigs(topic) => describe_topic(*topic, simulation),
        Inquiry::DescribeQuotas(entity) => describe_quotas(entity, simulation),
        Inquiry::ListReassignments => reassign::list(simulation),
        Inquiry::Transactions(inquiry) => {
            transactions::answer(inquiry, simulation).unwrap_or_else(|text| text)
        }
        Inquiry::FilterTopics(topic, filter) => existing
            .filter(|other| topic.is_none_or(|topic| topic == *other))
            .map(|topic| filtered(simulation, topic, *filter))
            .collect(),
        Inquiry::Groups(inquiry) => {
            groups_printed::answer(inquiry, simulation).unwrap_or_else(|text| text)
        }
        Inquiry::Offsets(inquiry) => offsets::answer(inquiry, simulation),
    }
}

fn name_of(simulation: &Simulation, topic: TopicIndex) -> &str {
    &simulation.config().topics[topic.index()].name
}

/// What of a topic a filter lets through.
fn filtered(simulation: &Simulation, topic: TopicIndex, filter: TopicFilter) -> String {
    if filter == TopicFilter::WithOverrides {
        let described = describe(simulation, topic);
        let head = described.split_inclusive('\n').next();
        return head.unwrap_or_default().to_owned();
    }
    let is_shown = |view: &PartitionView| match filter {
        TopicFilter::WithOverrides => false,
        TopicFilter::UnderReplicated => view.isr.len() < view.replicas.len(),
        TopicFilter::Unavailable => view.leader.is_none(),
        TopicFilter::UnderMinIsr => view.isr.len() < view.min_isr,
        TopicFilter::AtMinIsr => view.isr.len() == view.min_isr,
    };
    let partitions = simulation.partitions();
    let views = partitions
        .filter(|partition| partition.name().topic == topic)
        .map(|partition| simulation.partition(partition));
    let mut text = String::new();
    for view in views.filter(is_shown) {
        describe_partition(simulation, (name_of(simulation, topic), &view), &mut text);
    }
    text
}

fn describe(simulation: &Simulation, topic: TopicIndex) -> String {
    let partitions = simulation
        .partitions()
        .filter(|partition| partition.name().topic == topic);
    let views: Vec<_> = partitions
        .map(|index| simulation.partition(index))
        .collect();
    let (Some(first), Some(settings)) = (views.first(), simulation.topic_settings(topic)) else {
        return String::new();
    };
    let name = name_of(simulation, topic);
    let mut text = format!(
        "Topic: {name}\tTopicId: {}\tPartitionCount: {}\tReplicationFactor: {}\tConfigs: {}\n",
        topic_id(name, simulation.config().seed),
        views.len(),
        first.replicas.len(),
        configs(settings),
    );
    for view in &views {
        describe_partition(simulation, (name, view), &mut text);
    }
    text
}

fn describe_partition(
    simulation: &Simulation,
    (name, view): (&str, &PartitionView),
    text: &mut String,
) {
    let id = |broker: &BrokerIndex| simulation.config().brokers[broker.index()].id.to_string();
    let ids = |brokers: &[BrokerIndex]| brokers.iter().map(id).collect::<Vec<_>>().join(",");
    let leader = view.leader.as_ref().map_or_else(|| "none".to_owned(), id);
    let last_known: Vec<_> = view.last_known_leader.into_iter().collect();
    append(
        text,
        format_args!(
            "\tTopic: {name}\tPartition: {}\tLeader: {leader}\tReplicas: {}\tIsr: {}",
            view.number,
            ids(&view.replicas),
            ids(&view.isr),
        ),
    );
    if !(view.adding.is_empty() && view.removing.is_empty()) {
        append(
            text,
            format_args!(
                "\tAdding Replicas: {}\tRemoving Replicas: {}",
                ids(&view.adding),
                ids(&view.removing)
            ),
        );
    }
    append(
        text,
        format_args!(
            "\tElr: {}\tLastKnownElr: {}\n",
            ids(&view.elr),
            ids(&last_known)
        ),
    );
}

/// What differs from the defaults; `min.insync.replicas` always (it is set on every cluster with
/// eligible leader replicas).
fn configs(settings: &TopicSettings) -> String {
    let defaults = TopicSettings::defaults();
    let policy = match settings.cleanup_policy {
        CleanupPolicy::Delete => "delete",
        CleanupPolicy::Compact => "compact",
        CleanupPolicy::CompactAndDelete => "compact,delete",
        CleanupPolicy::Keep => "",
    };
    let mut shown = Vec::new();
    let mut show = |key: &str, value: String, default: String| {
        if value != default {
            shown.push(format!("{key}={value}"));
        }
    };
    show("cleanup.policy", policy.to_owned(), "delete".to_owned());
    let numbers = |settings: &TopicSettings| {
        [
            ("max.message.bytes", u64::from(settings.max_message_bytes)),
            ("segment.bytes", u64::from(settings.segment_bytes)),
            ("segment.ms", settings.segment_ms),
            ("delete.retention.ms", settings.delete_retention_ms),
            ("min.compaction.lag.ms", settings.min_compaction_lag_ms),
            ("max.compaction.lag.ms", settings.max_compaction_lag_ms),
        ]
    };
    for ((key, value), (_, default)) in numbers(settings).into_iter().zip(numbers(&defaults)) {
        show(key, value.to_string(), default.to_string());
    }
    let ratio = |settings: &TopicSettings| settings.min_cleanable_dirty_ratio.to_string();
    show(
        "min.cleanable.dirty.ratio",
        ratio(settings),
        ratio(&defaults),
    );
    let unclean = |settings: &TopicSettings| settings.unclean_leader_election.to_string();
    show(
        "unclean.leader.election.enable",
        unclean(settings),
        unclean(&defaults),
    );
    shown.push(format!(
        "min.insync.replicas={}",
        settings.min_insync_replicas
    ));
    shown.join(",")
}

/// 128 bits in Kafka's form of a `Uuid`: base64 for addresses, without padding.
fn topic_id(name: &str, seed: u64) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    // FNV-1a over the seed and the name: an identity, no secret.
    let bytes = seed.to_le_bytes().into_iter().chain(name.bytes());
    let mut bits = bytes.fold(
        0x6c62_272e_07bb_0142_62b8_2175_6295_c58d_u128,
        |hash, byte| {
            (hash ^ u128::from(byte)).wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b)
        },
    );
    let mut text = String::new();
    for _ in 0..22 {
        text.push(char::from(DIGITS[(bits & 63) as usize]));
        bits >>= 6;
    }
    text
}
