//! Commands in words: what somebody did to the world.

use super::names;
use crate::kafka::quota::{QuotaEntity, QuotaName};
use crate::sim::command::{
    AbortTransaction, BrokerFault, Command, ConsumerFault, CoordinatorKill, ElectionType,
    HangingScope, Inquiry, LinkFault, ProducerFault, Reassign, TransactionToAbort,
    TransactionsInquiry,
};
use crate::sim::config::Config;
use crate::sim::time::SimSpan;

/// What `command` does, in a sentence without a full stop.
pub fn words(command: &Command, config: &Config) -> String {
    match command {
        Command::Broker(broker, fault) => {
            format!(
                "broker {} {}",
                names::broker(config, *broker),
                broker_words(*fault)
            )
        }
        Command::KillCoordinator(kill) => coordinator_words(kill, config),
        Command::Link(a, b, fault) => format!(
            "the link between {} and {} {}",
            names::peer(config, *a),
            names::peer(config, *b),
            link_words(*fault),
        ),
        Command::SwallowResponses { broker, count } => format!(
            "the next {} of broker {} to producers vanish",
            super::sentence::count(u64::from(*count), "answer"),
            names::broker(config, *broker),
        ),
        Command::Inject {
            error,
            partition,
            count,
        } => format!(
            "the next {} for {} will be answered with {}",
            if *count == 1 {
                "batch".to_owned()
            } else {
                format!("{count} batches")
            },
            names::topic_partition(config, *partition),
            error.name(),
        ),
        Command::Producer(producer, fault) => {
            format!(
                "producer {} {}",
                names::producer(config, *producer),
                producer_words(*fault)
            )
        }
        Command::Consumer(..) | Command::Group(..) | Command::SetConsumerRate { .. } => {
            to_consumers(command, config)
        }
        Command::SetClient {
            producer,
            key,
            value,
        } => {
            format!(
                "producer {} sets {key}={value}",
                names::producer(config, *producer)
            )
        }
        Command::SetRate {
            producer,
            micro_records_per_second,
        } => format!(
            "producer {} sends {} records/s",
            names::producer(config, *producer),
            *micro_records_per_second as f64 / 1e6,
        ),
        _ => by_tool(command, config),
    }
}

/// What somebody does with one of Kafka's tools.
fn by_tool(command: &Command, config: &Config) -> String {
    match command {
        Command::PlacePartitions { topic, replicas } => {
            let name = names::topic(config, *topic);
            format!("{name} gets {} partitions", replicas.len())
        }
        Command::AddPartitions { topic, partitions } => {
            let name = names::topic(config, *topic);
            format!("{name} gets {partitions} partitions")
        }
        Command::Inquire(inquiry) => looking(inquiry, config),
        Command::ElectLeaders {
            election,
            partition,
        } => {
            let kind = match election {
                ElectionType::Preferred => "a preferred",
                ElectionType::Unclean => "an unclean",
            };
            let of = partition.map_or_else(
                || "all partitions".to_owned(),
                |name| names::topic_partition(config, name),
            );
            format!("somebody asks for {kind} election of {of}")
        }
        Command::Reassign(reassign) => moving(reassign, config),
        Command::AbortTransaction(abort) => aborting(abort, config),
        Command::ForceTerminate(id) => format!(
            "somebody takes transactional id {} from its owner",
            names::shown(id)
        ),
        Command::Follow { key, .. } => following(key),
        Command::ResetOffsets(_) | Command::DeleteOffsets { .. } | Command::DeleteGroup(_) => {
            super::group_words::of_tool(command, config)
        }
        _ => configured(command, config),
    }
}

/// What `kafka-configs.sh` changes.
fn configured(command: &Command, config: &Config) -> String {
    match command {
        Command::SetQuota {
            entity,
            producer_byte_rate,
        } => {
            let who = whom(entity);
            match producer_byte_rate {
                Some(rate) => format!("{who} may send {rate} bytes/s to each broker"),
                None => format!("{who} may send as much as it likes"),
            }
        }
        Command::SetTopic { topic, changes } => {
            let name = names::topic(config, *topic);
            let changes = changes.iter().map(|(key, value)| match value {
                Some(value) => format!("{key}={value}"),
                None => format!("the default {key}"),
            });
            format!("{name} gets {}", changes.collect::<Vec<_>>().join(", "))
        }
        _ => String::new(),
    }
}

/// Whom a quota holds for.
fn whom(entity: &QuotaEntity) -> String {
    let part = |kind: &str, name: &QuotaName| match name {
        QuotaName::Of(name) => format!("{kind} {name}"),
        QuotaName::Default => format!("every other {kind}"),
    };
    let user = entity.user.iter().map(|name| part("user", name));
    let client = entity.client_id.iter().map(|name| part("client", name));
    user.chain(client).collect::<Vec<_>>().join(", ")
}

fn following(key: &str) -> String {
    format!("somebody follows the records of {}", names::shown(key))
}

fn looking(inquiry: &Inquiry, config: &Config) -> String {
    match inquiry {
        Inquiry::ListTopics => "somebody lists the topics".to_owned(),
        Inquiry::DescribeTopics(None) => "somebody looks at all topics".to_owned(),
        Inquiry::DescribeTopics(Some(topic)) => {
            format!("somebody looks at topic {}", names::topic(config, *topic))
        }
        Inquiry::DescribeTopicConfigs(topic) => {
            let name = names::topic(config, *topic);
            format!("somebody looks at the configuration of {name}")
        }
        Inquiry::DescribeQuotas(entity) => {
            format!("somebody looks at the quota of {}", whom(entity))
        }
        Inquiry::ProposeMoves { .. } => "somebody asks how partitions could move".to_owned(),
        Inquiry::ListReassignments => "somebody lists partitions that move".to_owned(),
        Inquiry::Transactions(inquiry) => looking_at_transactions(inquiry, config),
        Inquiry::FilterTopics(..) => "somebody looks for partitions in danger".to_owned(),
        Inquiry::Groups(_) => "somebody looks at consumer groups".to_owned(),
        Inquiry::Offsets(_) => "somebody looks at offsets".to_owned(),
    }
}

fn looking_at_transactions(inquiry: &TransactionsInquiry, config: &Config) -> String {
    match inquiry {
        TransactionsInquiry::List { .. } => "somebody lists transactions".to_owned(),
        TransactionsInquiry::Describe(id) => {
            format!("somebody looks at transactional id {}", names::shown(id))
        }
        TransactionsInquiry::DescribeProducers { partition, .. } => format!(
            "somebody looks at the producers of {}",
            names::topic_partition(config, *partition)
        ),
        TransactionsInquiry::FindHanging { scope, .. } => {
            let of = match *scope {
                HangingScope::Broker(broker) => format!("broker {}", names::broker(config, broker)),
                HangingScope::Topic(topic, _) => names::topic(config, topic).to_owned(),
                HangingScope::Partition(partition) => names::topic_partition(config, partition),
            };
            format!("somebody looks for hanging transactions of {of}")
        }
    }
}

fn aborting(abort: &AbortTransaction, config: &Config) -> String {
    let partition = names::topic_partition(config, abort.partition);
    match abort.which {
        TransactionToAbort::StartOffset(offset) => {
            format!("somebody aborts the transaction that begins at offset {offset} of {partition}")
        }
        TransactionToAbort::Producer((producer_id, epoch), _) => {
            format!("somebody aborts the transaction of {producer_id}/{epoch} in {partition}")
        }
    }
}

fn moving(reassign: &Reassign, config: &Config) -> String {
    let (plan, what) = match reassign {
        Reassign::Execute { plan, .. } => (plan, "moves"),
        Reassign::Verify { plan, .. } => (plan, "verifies the move of"),
        Reassign::Cancel { plan, .. } => (plan, "gives up the move of"),
    };
    let partitions: Vec<_> = plan
        .iter()
        .map(|placement| names::topic_partition(config, placement.partition))
        .collect();
    format!("somebody {what} {}", partitions.join(", "))
}

fn broker_words(fault: BrokerFault) -> String {
    match fault {
        BrokerFault::Kill {
            lose_tail_records: 0,
        } => "is killed".to_owned(),
        BrokerFault::Kill { lose_tail_records } => {
            format!("is killed and loses the last {lose_tail_records} records of each log")
        }
        BrokerFault::Stop => "is stopped in order".to_owned(),
        BrokerFault::Start => "is started".to_owned(),
        BrokerFault::Pause => "hangs".to_owned(),
        BrokerFault::Resume => "goes on".to_owned(),
        BrokerFault::DiskRate(Some(rate)) => format!("has a disk that takes {rate} bytes/s"),
        BrokerFault::DiskRate(None) => "has a disk without limit".to_owned(),
        BrokerFault::DiskFull => "has a full disk".to_owned(),
        BrokerFault::DiskHeal => "has its disk healed".to_owned(),
        BrokerFault::Slow(SimSpan::ZERO) => "takes as long as usual for a request".to_owned(),
        BrokerFault::Slow(span) => format!("takes {} longer for every request", millis(span)),
        BrokerFault::Fence => "is fenced".to_owned(),
    }
}

fn coordinator_words(kill: &CoordinatorKill, config: &Config) -> String {
    let lose_tail_records = kill.lose_tail_records;
    let dies = broker_words(BrokerFault::Kill { lose_tail_records });
    let of = format!(
        "the coordinator of {}",
        names::shown(&kill.transactional_id)
    );
    match kill.found {
        Some(broker) => format!("{of}, broker {}, {dies}", names::broker(config, broker)),
        None => format!("{of} {dies}"),
    }
}

fn link_words(fault: LinkFault) -> String {
    match fault {
        LinkFault::Cut => "is cut".to_owned(),
        LinkFault::Refuse => "refuses".to_owned(),
        LinkFault::Reset => "has its connections reset".to_owned(),
        LinkFault::Heal => "is healed".to_owned(),
        LinkFault::Delay(SimSpan::ZERO) => "takes as long as usual".to_owned(),
        LinkFault::Delay(span) => format!("takes {} longer", millis(span)),
        LinkFault::Limit(Some(rate)) => format!("takes {rate} bytes/s"),
        LinkFault::Limit(None) => "has no limit".to_owned(),
        LinkFault::Loss(ppm) => format!("loses {} % of its packets", f64::from(ppm) / 10_000.0),
    }
}

fn producer_words(fault: ProducerFault) -> &'static str {
    match fault {
        ProducerFault::Pause => "is stopped",
        ProducerFault::Resume => "goes on",
        ProducerFault::Crash => "crashes",
        ProducerFault::Restart => "is restarted",
    }
}

/// What befalls consumers; nothing for other commands.
fn to_consumers(command: &Command, config: &Config) -> String {
    match command {
        Command::Consumer(consumer, fault) => format!(
            "consumer {} {}",
            names::consumer(config, *consumer),
            consumer_words(*fault),
        ),
        Command::Group(group, fault) => format!(
            "every member of group {} {}",
            names::group(config, *group),
            consumer_words(*fault),
        ),
        Command::SetConsumerRate {
            group,
            micro_records_per_second,
        } => format!(
            "every member of group {} can process {} records/s",
            names::group(config, *group),
            *micro_records_per_second as f64 / 1e6,
        ),
        _ => String::new(),
    }
}

fn consumer_words(fault: ConsumerFault) -> &'static str {
    match fault {
        ConsumerFault::Pause => "is stopped",
        ConsumerFault::Resume => "goes on",
        ConsumerFault::Crash => "crashes",
        ConsumerFault::Restart => "is restarted",
        ConsumerFault::Close => "closes its client",
    }
}

fn millis(span: SimSpan) -> String {
    format!("{} ms", span.as_nanos() as f64 / 1e6)
}
