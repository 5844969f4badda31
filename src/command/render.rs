//! From a command to its canonical line.

use std::borrow::Cow;

use crate::kafka::quota::{QuotaEntity, QuotaName};
use crate::sim::command::{
    BrokerFault, Command, ConsumerFault, CoordinatorKill, Inquiry, LinkFault, ProducerFault,
    TopicFilter,
};
use crate::sim::ids::{BrokerIndex, TopicIndex};

use super::names::Names;
use super::units::{show_byte_rate, show_duration, show_millionths};
use super::{election, groups, offsets, proposal, reassign, transactions};

/// The line that [`super::parse`] reads as this command.
pub fn render(command: &Command, names: &Names) -> String {
    match command {
        Command::Broker(broker, fault) => broker_line(&names.broker_name(*broker), *fault),
        Command::KillCoordinator(kill) => coordinator_line(kill),
        Command::Link(a, b, fault) => {
            let ends = format!("{} {}", names.peer_name(*a), names.peer_name(*b));
            link_line(&ends, *fault)
        }
        Command::SwallowResponses { broker, count } => {
            format!(
                "responses swallow {} --count {count}",
                names.broker_name(*broker)
            )
        }
        Command::Inject {
            error,
            partition,
            count,
        } => format!(
            "inject {} --partition {} --count {count}",
            error.name(),
            names.partition_name(*partition)
        ),
        Command::AddPartitions { .. }
        | Command::PlacePartitions { .. }
        | Command::Inquire(_)
        | Command::ElectLeaders { .. }
        | Command::Reassign(_)
        | Command::AbortTransaction(_)
        | Command::ForceTerminate(_)
        | Command::ResetOffsets(_)
        | Command::DeleteOffsets { .. }
        | Command::DeleteGroup(_)
        | Command::SetQuota { .. }
        | Command::SetTopic { .. } => tool_line(command, names),
        Command::Follow { key, record } => follow_line(key, *record),
        Command::Producer(producer, fault) => producer_line(*fault, names.producer_name(*producer)),
        Command::Consumer(consumer, fault) => {
            consumer_line(*fault, &names.consumer_name(*consumer))
        }
        Command::Group(group, fault) => consumer_line(*fault, names.group_name(*group)),
        Command::SetConsumerRate {
            group,
            micro_records_per_second,
        } => format!(
            "consumer rate {} {}",
            names.group_name(*group),
            show_millionths(*micro_records_per_second)
        ),
        Command::SetClient {
            producer,
            key,
            value,
        } => {
            let setting = format!("{key}={value}");
            format!(
                "set producer {} {}",
                names.producer_name(*producer),
                quoted(&setting)
            )
        }
        Command::SetRate {
            producer,
            micro_records_per_second,
        } => format!(
            "rate {} {}",
            names.producer_name(*producer),
            show_millionths(*micro_records_per_second)
        ),
    }
}

/// The line of one of Kafka's tools.
fn tool_line(command: &Command, names: &Names) -> String {
    match command {
        Command::PlacePartitions { topic, replicas } => {
            let ids = |replicas: &Vec<BrokerIndex>| {
                let ids = replicas.iter().map(|broker| names.broker_name(*broker));
                ids.collect::<Vec<_>>().join(":")
            };
            let assignment: Vec<String> = replicas.iter().map(ids).collect();
            format!(
                "kafka-topics.sh --alter --topic {} --partitions {} --replica-assignment {}",
                names.topic_name(*topic),
                replicas.len(),
                assignment.join(",")
            )
        }
        Command::AddPartitions { topic, partitions } => format!(
            "kafka-topics.sh --alter --topic {} --partitions {partitions}",
            names.topic_name(*topic)
        ),
        Command::Inquire(inquiry) => inquiry_line(inquiry, names),
        Command::ElectLeaders {
            election,
            partition,
        } => election::line(*election, *partition, names),
        Command::Reassign(reassign) => reassign::line(reassign, names),
        Command::AbortTransaction(abort) => transactions::abort_line(abort, names),
        Command::ForceTerminate(id) => transactions::terminate_line(id),
        _ => configs_line(command, names),
    }
}

/// What `kafka-configs.sh` changes; nothing for other commands.
fn configs_line(command: &Command, names: &Names) -> String {
    match command {
        Command::SetQuota {
            entity,
            producer_byte_rate,
        } => {
            let entity = entity_flags(entity);
            match producer_byte_rate {
                Some(rate) => format!(
                    "kafka-configs.sh --alter{entity} --add-config producer_byte_rate={rate}"
                ),
                None => {
                    format!("kafka-configs.sh --alter{entity} --delete-config producer_byte_rate")
                }
            }
        }
        Command::ResetOffsets(_) | Command::DeleteOffsets { .. } | Command::DeleteGroup(_) => {
            groups::line(command, names)
        }
        Command::SetTopic { topic, changes } => format!(
            "kafka-configs.sh --alter --topic {}{}",
            names.topic_name(*topic),
            change_flags(changes)
        ),
        _ => String::new(),
    }
}

fn follow_line(key: &str, record: Option<u32>) -> String {
    let record = record.map_or_else(String::new, |record| format!(" --record {record}"));
    // What looks like a flag is a key all the same.
    let dashes = if key.starts_with('-') { "-- " } else { "" };
    format!("follow{record} {dashes}{}", quoted(key))
}

fn inquiry_line(inquiry: &Inquiry, names: &Names) -> String {
    match inquiry {
        Inquiry::ListTopics => "kafka-topics.sh --list".to_owned(),
        Inquiry::DescribeTopics(None) => "kafka-topics.sh --describe".to_owned(),
        Inquiry::DescribeTopics(Some(topic)) => {
            format!(
                "kafka-topics.sh --describe --topic {}",
                names.topic_name(*topic)
            )
        }
        Inquiry::ProposeMoves { topics, brokers } => proposal::line(topics, brokers, names),
        Inquiry::ListReassignments => "kafka-reassign-partitions.sh --list".to_owned(),
        Inquiry::DescribeTopicConfigs(topic) => {
            format!(
                "kafka-configs.sh --describe --topic {}",
                names.topic_name(*topic)
            )
        }
        Inquiry::DescribeQuotas(entity) => {
            format!("kafka-configs.sh --describe{}", entity_flags(entity))
        }
        Inquiry::Transactions(inquiry) => transactions::line(inquiry, names),
        Inquiry::FilterTopics(topic, filter) => filter_line(*topic, *filter, names),
        Inquiry::Groups(_) => groups::line(&Command::Inquire(inquiry.clone()), names),
        Inquiry::Offsets(inquiry) => offsets::line(inquiry, names),
    }
}

fn filter_line(topic: Option<TopicIndex>, filter: TopicFilter, names: &Names) -> String {
    let topic = topic.map_or_else(String::new, |topic| {
        format!(" --topic {}", names.topic_name(topic))
    });
    let flag = match filter {
        TopicFilter::WithOverrides => "--topics-with-overrides",
        TopicFilter::UnderReplicated => "--under-replicated-partitions",
        TopicFilter::Unavailable => "--unavailable-partitions",
        TopicFilter::UnderMinIsr => "--under-min-isr-partitions",
        TopicFilter::AtMinIsr => "--at-min-isr-partitions",
    };
    format!("kafka-topics.sh --describe{topic} {flag}")
}

/// The flags that say whom a quota holds for, each with a blank before it.
fn entity_flags(entity: &QuotaEntity) -> String {
    let flag = |kind: &str, name: Option<&QuotaName>| match name {
        Some(QuotaName::Of(name)) => format!(" --{kind} {}", quoted(name)),
        Some(QuotaName::Default) => format!(" --{kind}-defaults"),
        None => String::new(),
    };
    flag("user", entity.user.as_ref()) + &flag("client", entity.client_id.as_ref())
}

/// `--add-config` and `--delete-config` with these changes, each with a blank before it.
fn change_flags(changes: &[(String, Option<String>)]) -> String {
    let set = changes.iter().filter_map(|(key, value)| {
        let value = value.as_ref()?;
        let list = if value.contains(',') {
            format!("[{value}]")
        } else {
            value.clone()
        };
        Some(format!("{key}={list}"))
    });
    let deleted = changes.iter().filter(|(_, value)| value.is_none());
    let lists = [
        ("add", set.collect::<Vec<_>>()),
        ("delete", deleted.map(|(key, _)| key.clone()).collect()),
    ];
    let given = lists.iter().filter(|(_, list)| !list.is_empty());
    let flags = given.map(|(flag, list)| format!(" --{flag}-config {}", quoted(&list.join(","))));
    flags.collect::<Vec<_>>().concat()
}

fn producer_line(fault: ProducerFault, name: &str) -> String {
    let verb = match fault {
        ProducerFault::Pause => "pause",
        ProducerFault::Resume => "resume",
        ProducerFault::Crash => "crash",
        ProducerFault::Restart => "restart",
    };
    format!("producer {verb} {name}")
}

fn consumer_line(fault: ConsumerFault, name: &str) -> String {
    let verb = match fault {
        ConsumerFault::Pause => "pause",
        ConsumerFault::Resume => "resume",
        ConsumerFault::Crash => "crash",
        ConsumerFault::Restart => "restart",
        ConsumerFault::Close => "close",
    };
    format!("consumer {verb} {name}")
}

fn broker_line(broker: &str, fault: BrokerFault) -> String {
    match fault {
        BrokerFault::Kill {
            lose_tail_records: 0,
        } => format!("broker kill {broker}"),
        BrokerFault::Kill { lose_tail_records } => {
            format!("broker kill {broker} --lose-tail {lose_tail_records}")
        }
        BrokerFault::Stop => format!("broker stop {broker}"),
        BrokerFault::Start => format!("broker start {broker}"),
        BrokerFault::Pause => format!("broker pause {broker}"),
        BrokerFault::Resume => format!("broker resume {broker}"),
        BrokerFault::Slow(by) => format!("broker slow {broker} {}", show_duration(by)),
        BrokerFault::Fence => format!("broker fence {broker}"),
        BrokerFault::DiskRate(rate) => format!("disk slow {broker} {}", limit(rate)),
        BrokerFault::DiskFull => format!("disk full {broker}"),
        BrokerFault::DiskHeal => format!("disk heal {broker}"),
    }
}

fn coordinator_line(kill: &CoordinatorKill) -> String {
    let tail = match kill.lose_tail_records {
        0 => String::new(),
        records => format!(" --lose-tail {records}"),
    };
    // What looks like a flag is an id all the same.
    let id = &kill.transactional_id;
    let dashes = if id.starts_with('-') { "-- " } else { "" };
    format!("coordinator kill{tail} {dashes}{}", quoted(id))
}

fn link_line(ends: &str, fault: LinkFault) -> String {
    match fault {
        LinkFault::Cut => format!("link cut {ends}"),
        LinkFault::Refuse => format!("link refuse {ends}"),
        LinkFault::Reset => format!("link reset {ends}"),
        LinkFault::Heal => format!("link heal {ends}"),
        LinkFault::Delay(by) => format!("link delay {ends} {}", show_duration(by)),
        LinkFault::Limit(rate) => format!("link limit {ends} {}", limit(rate)),
        LinkFault::Loss(ppm) => format!("link loss {ends} {}", show_millionths(u64::from(ppm))),
    }
}

fn limit(rate: Option<u64>) -> String {
    rate.map_or_else(|| "none".to_owned(), show_byte_rate)
}

fn quoted(word: &str) -> Cow<'_, str> {
    shell_words::quote(word)
}
