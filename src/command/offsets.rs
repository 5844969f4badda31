//! `kafka-get-offsets.sh`: what its flags ask for, and what it prints (`GetOffsetShell`).
//!
//! Simplification: `--time` takes no timestamp, and topic names are no regular expressions.

use crate::kafka::error::ErrorCode;
use crate::sim::Simulation;
use crate::sim::command::{Command, Inquiry, OffsetTime, OffsetsInquiry};
use crate::sim::ids::TopicPartition;

use super::grammar::KafkaGetOffsets;
use super::names::Names;
use super::parse::Resolver;
use super::problem::CommandProblem;
use super::text::append;

const USAGE: &str = "usage: kafka-get-offsets.sh [--topic TOPIC [--partitions N,…] | \
                     --topic-partitions T:N-M,…] [--time earliest|latest]";
const NO_MATCH: &str = "Error occurred: Could not match any topic-partitions with the specified \
                        filters";

impl Resolver<'_> {
    pub(super) fn kafka_get_offsets(
        &self,
        tool: &KafkaGetOffsets,
    ) -> Result<Command, CommandProblem> {
        let time = match tool.time.as_deref() {
            None | Some("latest" | "-1") => OffsetTime::Latest,
            Some("earliest" | "-2") => OffsetTime::Earliest,
            Some(other) => {
                let message = format!("`--time {other}` is not simulated: records have no clock");
                let problem = CommandProblem::new(message, self.place.of(other));
                return Err(problem.hint(USAGE));
            }
        };
        let partitions = match (&tool.topic, &tool.topic_partitions) {
            (Some(_), Some(_)) => {
                let message = "--topic-partitions cannot be used with --topic or --partitions";
                return Err(self.end(message, USAGE));
            }
            (Some(name), None) => {
                let topic = self.matched(name)?;
                let numbers = tool.partitions.as_deref().unwrap_or("");
                self.numbers(topic, numbers)?
            }
            (None, Some(parts)) => self.ranges(parts)?,
            (None, None) => Vec::new(),
        };
        let inquiry = OffsetsInquiry { partitions, time };
        Ok(Command::Inquire(Inquiry::Offsets(inquiry)))
    }

    fn matched(&self, name: &str) -> Result<crate::sim::ids::TopicIndex, CommandProblem> {
        self.some_topic(name).map_err(|unknown| {
            let problem = CommandProblem::new(NO_MATCH, self.place.of(name));
            unknown.hint.into_iter().fold(problem, CommandProblem::hint)
        })
    }

    /// `T:0-3,U:1,V`: the end of a range is not in it.
    fn ranges(&self, parts: &str) -> Result<Vec<TopicPartition>, CommandProblem> {
        let mut partitions = Vec::new();
        for part in parts.split(',') {
            let (name, range) = part.split_once(':').unwrap_or((part, ""));
            let topic = self.matched(name)?;
            let count = self.names.partitions_of(topic);
            let (from, to) = match range.split_once('-') {
                None if range.is_empty() => (0, count),
                None => {
                    partitions.extend(self.numbers(topic, range)?);
                    continue;
                }
                Some((from, to)) => {
                    let number = |text: &str, absent: u32| match text {
                        "" => Some(absent),
                        text => text.parse::<u32>().ok(),
                    };
                    let bounds = number(from, 0).zip(number(to, count));
                    bounds.ok_or_else(|| {
                        let message = format!("Invalid partition rule: {part}");
                        CommandProblem::new(message, self.place.of(parts)).hint(USAGE)
                    })?
                }
            };
            let numbers = from..to.min(count);
            partitions.extend(numbers.map(|number| TopicPartition { topic, number }));
        }
        if partitions.is_empty() {
            return Err(CommandProblem::new(NO_MATCH, self.place.of(parts)));
        }
        Ok(partitions)
    }
}

/// The line that asks for this.
pub(super) fn line(inquiry: &OffsetsInquiry, names: &Names) -> String {
    let time = match inquiry.time {
        OffsetTime::Latest => "",
        OffsetTime::Earliest => " --time earliest",
    };
    let part = |p: &TopicPartition| format!("{}:{}", names.topic_name(p.topic), p.number);
    let parts: Vec<String> = inquiry.partitions.iter().map(part).collect();
    if parts.is_empty() {
        return format!("kafka-get-offsets.sh{time}");
    }
    format!(
        "kafka-get-offsets.sh --topic-partitions {}{time}",
        parts.join(",")
    )
}

/// What the tool prints: `TOPIC:N:OFFSET`, by topic and number.
pub(super) fn answer(inquiry: &OffsetsInquiry, simulation: &Simulation) -> String {
    let wanted =
        |name: &TopicPartition| inquiry.partitions.is_empty() || inquiry.partitions.contains(name);
    let topics = &simulation.config().topics;
    let of_topics = simulation
        .partitions()
        .filter(|partition| partition.name().topic.index() < topics.len());
    let mut found: Vec<_> = of_topics.filter(|p| wanted(&p.name())).collect();
    found.sort_by_key(|partition| {
        let name = partition.name();
        (&topics[name.topic.index()].name, name.number)
    });
    let mut text = String::new();
    for partition in found {
        let view = simulation.partition(partition);
        let topic = &topics[view.topic.index()].name;
        let number = view.number;
        if view.leader.is_none() {
            let why = ErrorCode::LeaderNotAvailable.default_message();
            let line = format_args!(
                "Skip getting offsets for topic-partition {topic}-{number} due to error: {why}\n"
            );
            append(&mut text, line);
            continue;
        }
        let offset = match inquiry.time {
            OffsetTime::Earliest => view.log_start_offset,
            OffsetTime::Latest => view.high_watermark,
        };
        append(&mut text, format_args!("{topic}:{number}:{offset}\n"));
    }
    text
}
