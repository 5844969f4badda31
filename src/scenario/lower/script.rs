//! The scripted application thread: exact calls.

use std::ops::Range;

use crate::command::units;
use crate::command::words::{self, Word};
use crate::command::{CommandProblem, text};
use crate::kafka::settings::DeliveryReports;
use crate::scenario::read::Fields;
use crate::sim::config::{AwaitAcks, Call, ScriptRecord, ScriptStep};
use crate::sim::ids::{GroupIndex, TopicIndex, TopicPartition};
use crate::sim::time::{SimSpan, SimTime};

use super::dialect::Dialect;
use super::timeline::pointed_at;
use super::{World, rdkafka};

const CALLS: [&str; 11] = [
    "produce",
    "poll",
    "flush",
    "close",
    "new_producer",
    "exit",
    "init_transactions",
    "begin_transaction",
    "send_offsets_to_transaction",
    "commit_transaction",
    "abort_transaction",
];
const OFFSETS_USAGE: &str = "send_offsets_to_transaction GROUP TOPIC-N=OFFSET …";
const USAGE: &str = "produce TOPIC [key=K] [value=V] [partition=N] [await=true]";

/// The `[[producer.script]]` tables, in order.
pub(super) fn script(
    world: &mut World<'_>,
    producer: &Fields<'_>,
    dialect: Dialect,
) -> Vec<ScriptStep> {
    let mut steps = Vec::new();
    for fields in producer.tables("script") {
        let at = world.moment(&fields, "at").unwrap_or(SimTime::ZERO);
        let Some(line) = fields.text("do") else {
            continue;
        };
        match call(world, line, &fields, dialect) {
            Ok(call) => steps.push(ScriptStep {
                at,
                call,
                text: line.to_owned(),
            }),
            Err(problem) => {
                let problem = pointed_at(&problem, line, fields.place_of("do"), world.sources);
                world.problem(problem);
            }
        }
    }
    steps
}

fn call(
    world: &mut World<'_>,
    line: &str,
    fields: &Fields<'_>,
    dialect: Dialect,
) -> Result<Call, CommandProblem> {
    let words = words::split(line)
        .map_err(|open| CommandProblem::new("a quote is not closed", open.range))?;
    let Some((verb, rest)) = words.split_first() else {
        let hint = format!("it can be {}", text::listed(&CALLS, "or"));
        return Err(CommandProblem::new("an empty call", 0..line.len()).hint(hint));
    };
    let call = match verb.text.as_str() {
        "produce" => {
            let topic = topic(world, verb, rest, (fields, dialect))?;
            return Ok(Call::Produce(record(topic, rest, dialect)?));
        }
        "poll" if dialect == Dialect::Java => {
            let message = "a Java client is not polled: its own thread calls back";
            let problem = CommandProblem::new(message, verb.range.clone());
            return Err(problem.hint("leave it out, or use client = \"librdkafka\""));
        }
        "poll" => return Ok(Call::Poll(timeout(rest)?.unwrap_or(SimSpan::ZERO))),
        "flush" => Call::Flush,
        "close" => return Ok(Call::Close(timeout(rest)?)),
        "new_producer" => Call::NewProducer,
        "exit" => Call::Exit,
        name if name.ends_with("_transaction") || name == "init_transactions" => {
            return transactional(world, verb, rest, dialect);
        }
        other => return Err(unknown(other, verb)),
    };
    nothing_more(rest)?;
    Ok(call)
}

/// A transactional call. librdkafka's can be given a time, as `timeout=5s`; the Java client's take
/// `max.block.ms`.
fn transactional(
    world: &World<'_>,
    verb: &Word,
    rest: &[Word],
    dialect: Dialect,
) -> Result<Call, CommandProblem> {
    let begins = verb.text == "begin_transaction";
    let given = rest.last().filter(|word| word.text.starts_with("timeout="));
    let (rest, limit) = match given {
        Some(word) if dialect == Dialect::Java => {
            let message = "a Java client's transactional calls take max.block.ms";
            let problem = CommandProblem::new(message, word.range.clone());
            return Err(problem.hint("leave it out, and set config.max.block.ms"));
        }
        Some(word) if !begins => {
            let (last, before) = (std::slice::from_ref(word), &rest[..rest.len() - 1]);
            (before, timeout(last)?)
        }
        _ => (rest, None),
    };
    let call = match verb.text.as_str() {
        "init_transactions" => Call::InitTransactions,
        "begin_transaction" => Call::BeginTransaction,
        "commit_transaction" => Call::CommitTransaction,
        "abort_transaction" => Call::AbortTransaction,
        "send_offsets_to_transaction" => {
            let call = offsets(world, verb, rest)?;
            return Ok(within(call, limit));
        }
        other => return Err(unknown(other, verb)),
    };
    nothing_more(rest)?;
    Ok(within(call, limit))
}

fn within(call: Call, limit: Option<SimSpan>) -> Call {
    match limit {
        Some(limit) => Call::Within(Box::new(call), limit),
        None => call,
    }
}

fn unknown(name: &str, verb: &Word) -> CommandProblem {
    let problem = CommandProblem::new(format!("unknown call `{name}`"), verb.range.clone());
    let near = text::nearest(name, CALLS);
    problem.maybe(near, || format!("it can be {}", text::listed(&CALLS, "or")))
}

/// The offsets that a group commits in a transaction: the next one to read of each partition.
fn offsets(world: &World<'_>, verb: &Word, rest: &[Word]) -> Result<Call, CommandProblem> {
    let usage = format!("usage: {OFFSETS_USAGE}");
    let Some((group, partitions)) = rest.split_first() else {
        let end = verb.range.end..verb.range.end;
        return Err(CommandProblem::new("the group is missing", end).hint(usage));
    };
    let Some(at) = world
        .groups
        .iter()
        .position(|(name, _)| *name == group.text)
    else {
        let message = format!("there is no consumer group `{}`", group.text);
        return Err(CommandProblem::new(message, group.range.clone()).hint(usage));
    };
    let mut offsets = Vec::new();
    for word in partitions {
        let known = word.text.split_once('=').and_then(|(partition, offset)| {
            let (topic, number) = partition.rsplit_once('-')?;
            let topic = world.topics.iter().position(|known| known.name == topic)?;
            let (topic, number) = (TopicIndex(topic as u16), number.parse::<u32>().ok()?);
            Some((
                TopicPartition { topic, number },
                offset.parse::<u64>().ok()?,
            ))
        });
        let Some(known) = known else {
            let message = format!("`{}` is not TOPIC-N=OFFSET of a known topic", word.text);
            return Err(CommandProblem::new(message, word.range.clone()).hint(usage));
        };
        offsets.push(known);
    }
    Ok(Call::SendOffsets(GroupIndex(at as u16), offsets))
}

fn nothing_more(rest: &[Word]) -> Result<(), CommandProblem> {
    match rest.first() {
        Some(word) => {
            let message = format!("`{}` does not belong here", word.text);
            Err(CommandProblem::new(message, word.range.clone()))
        }
        None => Ok(()),
    }
}

/// The one time that some calls take.
fn timeout(rest: &[Word]) -> Result<Option<SimSpan>, CommandProblem> {
    let Some((first, more)) = rest.split_first() else {
        return Ok(None);
    };
    nothing_more(more)?;
    let timeout = first.text.strip_prefix("timeout=").unwrap_or(&first.text);
    units::duration(timeout)
        .map(Some)
        .map_err(|error| CommandProblem::new(error.to_string(), first.range.clone()))
}

fn topic(
    world: &mut World<'_>,
    verb: &Word,
    rest: &[Word],
    (fields, dialect): (&Fields<'_>, Dialect),
) -> Result<TopicIndex, CommandProblem> {
    let Some(topic) = rest.first() else {
        let end: Range<usize> = verb.range.end..verb.range.end;
        return Err(CommandProblem::new("the topic is missing", end).hint(USAGE));
    };
    Ok(world.topic(&topic.text, fields.place_of("do"), dialect))
}

fn record(
    topic: TopicIndex,
    rest: &[Word],
    dialect: Dialect,
) -> Result<ScriptRecord, CommandProblem> {
    let mut record = ScriptRecord {
        topic,
        key: None,
        value: None,
        partition: None,
        await_ack: AwaitAcks::None,
    };
    for option in rest.iter().skip(1) {
        let problem = |message: String| {
            Err(CommandProblem::new(message, option.range.clone()).hint(format!("usage: {USAGE}")))
        };
        match option.text.split_once('=') {
            Some(("key", key)) => record.key = Some(key.as_bytes().to_vec()),
            Some(("value", value)) => record.value = Some(value.as_bytes().to_vec()),
            Some(("partition", number)) => match number.parse::<u32>() {
                Ok(number) => record.partition = Some(number),
                Err(_) => return problem(format!("`{number}` is not a partition's number")),
            },
            Some(("await", "true")) => match dialect {
                Dialect::Librdkafka(reports) if reports != DeliveryReports::All => {
                    return problem(rdkafka::unheard(reports).to_owned());
                }
                _ => record.await_ack = AwaitAcks::Every(1),
            },
            Some(("await", "false")) => record.await_ack = AwaitAcks::None,
            _ => return problem(format!("`{}` does not belong here", option.text)),
        }
    }
    Ok(record)
}
