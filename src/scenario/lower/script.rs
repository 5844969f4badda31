//! The scripted application thread: exact calls.

use std::ops::Range;

use crate::command::units;
use crate::command::words::{self, Word};
use crate::command::{CommandProblem, text};
use crate::kafka::settings::DeliveryReports;
use crate::scenario::read::Fields;
use crate::sim::config::{AwaitAcks, Call, ScriptRecord, ScriptStep};
use crate::sim::ids::TopicIndex;
use crate::sim::time::{SimSpan, SimTime};

use super::dialect::Dialect;
use super::timeline::pointed_at;
use super::{World, rdkafka};

const CALLS: [&str; 6] = ["produce", "poll", "flush", "close", "new_producer", "exit"];
const LATER: [&str; 5] = [
    "init_transactions",
    "begin_transaction",
    "send_offsets_to_transaction",
    "commit_transaction",
    "abort_transaction",
];
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
        later if LATER.contains(&later) => {
            let message = format!("`{later}` is not yet in this version");
            return Err(CommandProblem::new(message, verb.range.clone()));
        }
        other => {
            let problem =
                CommandProblem::new(format!("unknown call `{other}`"), verb.range.clone());
            let near = text::nearest(other, CALLS);
            return Err(problem.maybe(near, || format!("it can be {}", text::listed(&CALLS, "or"))));
        }
    };
    nothing_more(rest)?;
    Ok(call)
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
