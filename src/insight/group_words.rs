//! Facts about consumers and their groups as whole sentences.

use super::names;
use super::sentence::count;
use crate::sim::command::{Command, ResetTo};
use crate::sim::config::Config;
use crate::sim::fact::{Fact, MemberLoss};

/// What happened to a consumer or a group; nothing for other facts.
pub(super) fn of_group(fact: &Fact, config: &Config) -> String {
    let group = |index| names::group(config, index);
    match *fact {
        Fact::GroupRebalancing {
            group: index,
            members,
        } => format!(
            "group {} rebalances: {} to join",
            group(index),
            match members {
                1 => "1 member has".to_owned(),
                more => format!("{more} members have"),
            },
        ),
        Fact::GroupStable {
            group: index,
            generation,
            members,
            idle,
            assignor,
        } => {
            let idle = match idle {
                0 => String::new(),
                1 => ", 1 of them idle: there are no partitions left for it".to_owned(),
                more => format!(", {more} of them idle: there are no partitions left for them"),
            };
            format!(
                "group {} is stable in generation {generation}: {} by {}{idle}",
                group(index),
                count(u64::from(members), "member"),
                assignor.name(),
            )
        }
        Fact::GroupEmpty { group: index } => format!("group {} has no members", group(index)),
        _ => of_consumer(fact, config),
    }
}

fn of_consumer(fact: &Fact, config: &Config) -> String {
    let name = |consumer| names::consumer(config, consumer);
    match fact {
        Fact::ConsumerStarted { consumer } => format!("consumer {} starts", name(*consumer)),
        Fact::ConsumerExited { consumer } => format!("consumer {} ended", name(*consumer)),
        Fact::ConsumerFailed {
            consumer,
            exception,
        } => format!(
            "consumer {}: poll() threw {}: {}",
            name(*consumer),
            exception.class.name(),
            exception.text,
        ),
        Fact::MemberLeft { consumer, why } => {
            format!("consumer {} {}", name(*consumer), loss_words(*why))
        }
        Fact::PartitionsDiscovered {
            consumer,
            topic,
            partitions,
        } => format!(
            "consumer {} learns that topic {} has {}",
            name(*consumer),
            names::topic(config, *topic),
            count(u64::from(*partitions), "partition"),
        ),
        Fact::OffsetReset {
            consumer,
            partition,
            offset,
        } => format!(
            "consumer {} has no committed offset for {} and begins at {offset} \
             (auto.offset.reset)",
            name(*consumer),
            names::partition(config, *partition),
        ),
        Fact::CommitFailed { consumer, error } => format!(
            "consumer {} could not commit ({}): records read since will be read again",
            name(*consumer),
            error.name(),
        ),
        Fact::OutOfOrderRead {
            consumer,
            key,
            partition,
            offset,
            overtaken_on,
            by,
        } => format!(
            "consumer {} reads key {} out of order: offset {offset} of {} was written {by} before \
             what its group has already read on partition {}",
            name(*consumer),
            names::key(key),
            names::partition(config, *partition),
            overtaken_on.name().number,
        ),
        _ => String::new(),
    }
}

fn loss_words(why: MemberLoss) -> &'static str {
    match why {
        MemberLoss::Left => "left its group",
        MemberLoss::SessionTimeout => "is out of its group: no heartbeat within session.timeout.ms",
        MemberLoss::PollInterval => {
            "left its group by itself: poll() was not called within max.poll.interval.ms"
        }
        MemberLoss::RebalanceTimeout => {
            "is out of its group: it did not join within max.poll.interval.ms"
        }
    }
}

/// What somebody does to a group with Kafka's tool.
pub(super) fn of_tool(command: &Command, config: &Config) -> String {
    match command {
        Command::ResetOffsets(reset) => {
            let to = match reset.to {
                ResetTo::Earliest => "to the first kept".to_owned(),
                ResetTo::Latest => "to the latest".to_owned(),
                ResetTo::Current => "to what they are".to_owned(),
                ResetTo::ShiftBy(by) => format!("by {by}"),
                ResetTo::Offset(offset) => format!("to {offset}"),
            };
            let group = names::group(config, reset.group);
            format!("somebody sets the offsets of group {group} {to}")
        }
        Command::DeleteOffsets { group, .. } => {
            format!(
                "somebody deletes offsets of group {}",
                names::group(config, *group)
            )
        }
        Command::DeleteGroup(group) => {
            format!("somebody deletes group {}", names::group(config, *group))
        }
        _ => String::new(),
    }
}
