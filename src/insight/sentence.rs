//! Facts as whole sentences, with the names that the scenario gave.

use super::{names, transaction_words};
use crate::kafka::message::TOPICS_COMMAND_ERROR;
use crate::sim::command::{Command, Inquiry};
use crate::sim::config::Config;
use crate::sim::fact::{BlockedOn, BrokerState, Disconnect, Fact, Limit, LinkState, Retention};
use crate::sim::ids::{BrokerIndex, PartitionIndex, ProducerIndex};

use super::deed;

/// What happened, in a sentence without a full stop.
#[expect(clippy::too_many_lines, reason = "one list of all facts")]
pub fn sentence(fact: &Fact, config: &Config) -> String {
    match fact {
        Fact::CommandApplied(command) => deed::words(command, config),
        Fact::CommandRefused { command, reason } => refused(command, reason, config),
        Fact::LoadThrottled {
            producer,
            factor_ppm,
            ..
        } => throttled(*producer, *factor_ppm, config),
        Fact::BrokerChanged { broker, state } => {
            format!(
                "broker {} {}",
                names::broker(config, *broker),
                state_words(*state)
            )
        }
        Fact::LeaderChanged {
            partition,
            leader,
            epoch,
            unclean,
        } => leader_changed(*partition, *leader, (*epoch, *unclean), config),
        Fact::IsrChanged { partition, isr } => {
            let isr: Vec<String> = isr
                .iter()
                .map(|&broker| names::broker(config, broker))
                .collect();
            let partition = names::partition(config, *partition);
            if isr.is_empty() {
                return format!("{partition}: no replica is in sync");
            }
            format!("{partition}: in-sync replicas are now [{}]", isr.join(", "))
        }
        Fact::RecordsTruncated {
            partition,
            from_offset,
            records,
        } => format!(
            "{}: {} from offset {from_offset} on are gone",
            names::partition(config, *partition),
            count(*records, "record"),
        ),
        Fact::TailCut {
            partition,
            broker,
            from_offset,
            records,
        } => format!(
            "{}: broker {} cuts {} from offset {from_offset} on, which its leader does not have",
            names::partition(config, *partition),
            names::broker(config, *broker),
            count(*records, "record"),
        ),
        Fact::LinkChanged { a, b, state } => format!(
            "the link between {} and {} {}",
            names::peer(config, *a),
            names::peer(config, *b),
            link_words(*state),
        ),
        Fact::LimitReached { limit } => format!(
            "a limit of the simulation was reached: {}",
            limit_words(*limit)
        ),
        Fact::Ended => "the run is over".to_owned(),
        Fact::PoolExhausted { .. }
        | Fact::ThreadBlocked { .. }
        | Fact::ThreadUnblocked { .. }
        | Fact::RecordRefused { .. } => of_thread(fact, config),
        Fact::ClientStarted { .. }
        | Fact::ClientFailed { .. }
        | Fact::ClientClosed { .. }
        | Fact::ApplicationExited { .. }
        | Fact::CallReturned { .. }
        | Fact::ProducerIdAssigned { .. } => of_application(fact, config),
        Fact::BatchFailed { .. }
        | Fact::UnassignedFailed { .. }
        | Fact::BatchRetried { .. }
        | Fact::BatchSplit { .. } => of_batch(fact, config),
        Fact::Connected { .. }
        | Fact::Disconnected { .. }
        | Fact::MetadataUpdated { .. }
        | Fact::Rebootstrapped { .. } => of_connection(fact, config),
        Fact::ConsumerStarted { .. }
        | Fact::ConsumerExited { .. }
        | Fact::ConsumerFailed { .. }
        | Fact::MemberLeft { .. }
        | Fact::GroupRebalancing { .. }
        | Fact::GroupStable { .. }
        | Fact::GroupEmpty { .. }
        | Fact::PartitionsDiscovered { .. }
        | Fact::OffsetReset { .. }
        | Fact::OutOfOrderRead { .. }
        | Fact::CommitFailed { .. } => super::group_words::of_group(fact, config),
        Fact::PartitionsAdded { .. }
        | Fact::PartitionsLearned { .. }
        | Fact::LogCleaned { .. }
        | Fact::SegmentsDeleted { .. }
        | Fact::ProducerForgotten { .. }
        | Fact::KeySplit { .. } => of_topic(fact, config),
        Fact::TransactionChanged { .. }
        | Fact::MarkerWritten { .. }
        | Fact::TransactionsShown { .. }
        | Fact::TransactionCallFailed { .. }
        | Fact::TransactionFailed { .. } => super::transaction_words::of_transaction(fact, config),
    }
}

fn refused(command: &Command, reason: &str, config: &Config) -> String {
    if matches!(command, Command::AddPartitions { .. }) {
        return format!("kafka-topics.sh: {TOPICS_COMMAND_ERROR}{reason}");
    }
    if matches!(command, Command::ElectLeaders { .. }) {
        return format!("kafka-leader-election.sh: {reason}");
    }
    if matches!(command, Command::Reassign(_)) {
        return format!("kafka-reassign-partitions.sh: {reason}");
    }
    if matches!(
        command,
        Command::AbortTransaction(_) | Command::Inquire(Inquiry::Transactions(_))
    ) {
        return format!("kafka-transactions.sh: {reason}");
    }
    if matches!(
        command,
        Command::ResetOffsets(_) | Command::DeleteOffsets { .. } | Command::DeleteGroup(_)
    ) {
        return format!("kafka-consumer-groups.sh: {reason}");
    }
    format!("{}: nothing to do, {reason}", deed::words(command, config))
}

/// What happened to a topic, its logs or its keys.
fn of_topic(fact: &Fact, config: &Config) -> String {
    match fact {
        Fact::LogCleaned {
            partition,
            end_offset,
            removed,
            kept,
        } => format!(
            "{}: the cleaner looked at everything before offset {end_offset}, removed {} and kept \
             {kept}",
            names::partition(config, *partition),
            count(*removed, "record"),
        ),
        Fact::SegmentsDeleted {
            partition,
            log_start_offset,
            records,
            limit,
        } => format!(
            "{}: {} are deleted by {}, the log begins at offset {log_start_offset}",
            names::partition(config, *partition),
            count(*records, "record"),
            match limit {
                Retention::Bytes => "retention.bytes",
                Retention::Time => "retention.ms",
            },
        ),
        Fact::ProducerForgotten {
            partition,
            producer,
        } => format!(
            "{}: the leader forgets the sequences of {}, which has not written for \
             producer.id.expiration.ms",
            names::partition(config, *partition),
            names::producer(config, *producer),
        ),
        Fact::KeySplit {
            topic,
            key,
            partitions,
        } => format!(
            "key {} of {} has records on partitions {}",
            names::key(key),
            names::topic(config, *topic),
            names::numbers(partitions),
        ),
        Fact::PartitionsAdded { topic, from, to } => {
            let name = names::topic(config, *topic);
            format!("{name} grows from {from} to {to} partitions")
        }
        Fact::PartitionsLearned {
            producer,
            topic,
            from,
            to,
        } => format!(
            "{} learns that {} has {to} partitions, not {from}: its keys move",
            names::producer(config, *producer),
            names::topic(config, *topic),
        ),
        _ => String::new(),
    }
}

/// A number of things: `1 record`, `30720 records`.
pub fn count(number: u64, thing: &str) -> String {
    if number == 1 {
        format!("1 {thing}")
    } else {
        format!("{number} {thing}s")
    }
}

/// What happened to an application thread.
fn of_thread(fact: &Fact, config: &Config) -> String {
    let name = |producer: &ProducerIndex| names::producer(config, *producer);
    match fact {
        Fact::PoolExhausted { producer } => {
            format!(
                "{}: buffer.memory is full, and send() waits",
                name(producer)
            )
        }
        Fact::ThreadBlocked {
            producer,
            thread,
            on,
            waited,
        } => {
            format!(
                "{} thread {thread} has waited for {} for {waited}",
                name(producer),
                blocked_words((*producer, *on), config)
            )
        }
        Fact::ThreadUnblocked {
            producer,
            thread,
            on,
            waited,
        } => format!(
            "{} thread {thread} goes on after {waited} of waiting for {}",
            name(producer),
            blocked_words((*producer, *on), config),
        ),
        Fact::RecordRefused {
            producer,
            exception,
            ..
        } => format!(
            "{}: a record was refused with {}: {}",
            name(producer),
            exception.class.name(),
            exception.text,
        ),
        _ => String::new(),
    }
}

/// What happened to an application and its client.
fn of_application(fact: &Fact, config: &Config) -> String {
    let name = |producer: &ProducerIndex| names::producer(config, *producer);
    match fact {
        Fact::ClientStarted {
            producer,
            client_id,
        } => {
            format!("{} has a client, {client_id}", name(producer))
        }
        Fact::ClientClosed { producer } => format!("{} closed its client", name(producer)),
        Fact::ClientFailed {
            producer,
            exception,
        } => format!(
            "{}: fatal error {}: {}",
            name(producer),
            exception.class.name(),
            exception.text,
        ),
        Fact::ApplicationExited {
            producer,
            records_lost: 0,
        } => {
            format!("{} ended; its client held nothing", name(producer))
        }
        Fact::ApplicationExited {
            producer,
            records_lost,
        } => {
            format!(
                "{} ended, and {} with it",
                name(producer),
                count(*records_lost, "record")
            )
        }
        Fact::CallReturned {
            producer,
            call,
            exception,
        } => match exception {
            None => format!("{}: call {} returned", name(producer), call + 1),
            Some(exception) => format!(
                "{}: call {} {} {}",
                name(producer),
                call + 1,
                transaction_words::verb(exception),
                transaction_words::error(exception),
            ),
        },
        Fact::ProducerIdAssigned {
            producer,
            producer_id,
            epoch,
        } => {
            format!(
                "{} has producer id {producer_id}, epoch {epoch}",
                name(producer)
            )
        }
        _ => String::new(),
    }
}

/// What happened to a batch.
fn of_batch(fact: &Fact, config: &Config) -> String {
    let name = |producer: &ProducerIndex| names::producer(config, *producer);
    let part = |partition: &PartitionIndex| names::partition(config, *partition);
    match fact {
        Fact::UnassignedFailed {
            producer,
            topic,
            records,
            exception,
        } => format!(
            "{}: {} for topic {}, of which no partition is known, failed with {}: {}",
            name(producer),
            count(u64::from(*records), "record"),
            names::topic(config, *topic),
            exception.class.name(),
            exception.text,
        ),
        Fact::BatchFailed {
            producer,
            partition,
            records,
            exception,
        } => format!(
            "{}: {} for {} failed with {}: {}",
            name(producer),
            count(u64::from(*records), "record"),
            part(partition),
            exception.class.name(),
            exception.text,
        ),
        Fact::BatchRetried {
            producer,
            partition,
            records,
            attempts,
            error,
        } => format!(
            "{}: {} for {} will be sent again after attempt {attempts}: {}",
            name(producer),
            count(u64::from(*records), "record"),
            part(partition),
            error.name(),
        ),
        Fact::BatchSplit {
            producer,
            partition,
            records,
            into,
        } => format!(
            "{}: a batch of {} for {} was too large and became {into} batches",
            name(producer),
            count(u64::from(*records), "record"),
            part(partition),
        ),
        _ => String::new(),
    }
}

/// What happened on a client's connections.
fn of_connection(fact: &Fact, config: &Config) -> String {
    let name = |producer: &ProducerIndex| names::producer(config, *producer);
    match fact {
        Fact::Connected { producer, node } => {
            format!(
                "{} is connected to node {}",
                name(producer),
                names::node(config, *node)
            )
        }
        Fact::Disconnected {
            producer,
            node,
            why,
        } => format!(
            "{} lost node {}: {}",
            name(producer),
            names::node(config, *node),
            disconnect_words(*why),
        ),
        Fact::MetadataUpdated { producer, topics } => {
            format!(
                "{} has new metadata, of {}",
                name(producer),
                count(u64::from(*topics), "topic")
            )
        }
        Fact::Rebootstrapped { producer } => {
            format!(
                "{} forgot its topics and starts again from bootstrap.servers",
                name(producer)
            )
        }
        _ => String::new(),
    }
}

fn throttled(producer: ProducerIndex, factor_ppm: u32, config: &Config) -> String {
    let name = names::producer(config, producer);
    if factor_ppm == 1_000_000 {
        format!("{name} sends at its full rate again")
    } else {
        format!(
            "{name} throttles itself to {} % of its rate",
            f64::from(factor_ppm) / 10_000.0
        )
    }
}

fn leader_changed(
    partition: PartitionIndex,
    leader: Option<BrokerIndex>,
    (epoch, unclean): (u32, bool),
    config: &Config,
) -> String {
    let partition = names::partition(config, partition);
    match leader {
        None => format!("{partition} has no leader (epoch {epoch})"),
        Some(leader) => {
            let how = if unclean { ", by unclean election" } else { "" };
            format!(
                "{partition} is led by broker {}{how} (epoch {epoch})",
                names::broker(config, leader)
            )
        }
    }
}

fn blocked_words((producer, on): (ProducerIndex, BlockedOn), config: &Config) -> String {
    match on {
        BlockedOn::Memory { bytes } => format!("{bytes} bytes of buffer.memory"),
        BlockedOn::Metadata { topic } => {
            format!("metadata of topic {}", names::topic(config, topic))
        }
        BlockedOn::Acks => "acknowledgements".to_owned(),
        BlockedOn::Flush => "flush()".to_owned(),
        BlockedOn::Close => "close()".to_owned(),
        BlockedOn::Room => "room in the queue".to_owned(),
        BlockedOn::Reports => "delivery reports".to_owned(),
        BlockedOn::Transaction(operation) => {
            format!(
                "{}()",
                names::transactional_call(config, producer, operation)
            )
        }
    }
}

/// A broker's state, as the end of a sentence about it.
pub fn state_words(state: BrokerState) -> &'static str {
    match state {
        BrokerState::Running => "serves",
        BrokerState::Paused => "hangs",
        BrokerState::ShuttingDown => "shuts down in order",
        BrokerState::Dead => "died; the controller has not noticed yet",
        BrokerState::Fenced => "is fenced by the controller",
        BrokerState::Starting => "starts",
    }
}

fn link_words(state: LinkState) -> &'static str {
    match state {
        LinkState::Up => "is as configured again",
        LinkState::Cut => "is cut: what is sent is never answered",
        LinkState::Refusing => "resets and refuses connections",
        LinkState::Degraded => "is slower than configured",
    }
}

fn disconnect_words(why: Disconnect) -> &'static str {
    match why {
        Disconnect::Reset => "the connection was reset",
        Disconnect::Refused => "the connection was refused",
        Disconnect::SetupTimeout => "socket.connection.setup.timeout.ms passed",
        Disconnect::RequestTimeout => "request.timeout.ms passed",
        Disconnect::Idle => "connections.max.idle.ms passed",
        Disconnect::Local => "the client closed the connection",
    }
}

fn limit_words(limit: Limit) -> &'static str {
    match limit {
        Limit::OutsideQueue => "records that wait outside of send()",
        Limit::SpillQueue => "records in an application's local queue",
        Limit::Records => "records remembered one by one",
        Limit::History => "batches remembered of one partition",
        Limit::EventsAtOneMoment => "events at one moment",
    }
}
