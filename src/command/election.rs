//! `kafka-leader-election.sh`: what its flags ask for, and what it prints
//! (`LeaderElectionCommand`).
//!
//! Simplification: of an election that fails the count of failures and the stack trace are left
//! out.

use crate::kafka::transaction::TRANSACTION_STATE_TOPIC;
use crate::sim::Simulation;
use crate::sim::command::{Command, ElectionType};
use crate::sim::config::Config;
use crate::sim::ids::TopicPartition;
use crate::sim::view::ElectionOutcome;

use super::grammar::KafkaLeaderElection;
use super::names::Names;
use super::parse::Resolver;
use super::problem::CommandProblem;
use super::text::append;

const USAGE: &str = "usage: kafka-leader-election.sh --election-type preferred|unclean \
                     (--topic TOPIC --partition N | --all-topic-partitions)";

impl Resolver<'_> {
    pub(super) fn kafka_leader_election(
        &self,
        tool: &KafkaLeaderElection,
    ) -> Result<Command, CommandProblem> {
        let election = match tool.election_type.as_deref() {
            None => return Err(self.end("--election-type is missing", USAGE)),
            Some(word) if word.eq_ignore_ascii_case("preferred") => ElectionType::Preferred,
            Some(word) if word.eq_ignore_ascii_case("unclean") => ElectionType::Unclean,
            Some(word) => {
                let message = format!(
                    "Failed to convert '{word}' to an ElectionType: it can be preferred or unclean"
                );
                return Err(CommandProblem::new(message, self.place.of(word)).hint(USAGE));
            }
        };
        let partition = match (&tool.topic, tool.number, tool.all_topic_partitions) {
            (None, None, true) => None,
            (Some(topic), Some(number), false) => {
                Some(self.partition_to_elect(election, topic, number)?)
            }
            (Some(_), None, false) => return Err(self.end("--partition is missing", USAGE)),
            (None, Some(_), false) => return Err(self.end("--topic is missing", USAGE)),
            _ => {
                let message = "One and only one of the following options is required: topic, \
                               all-topic-partitions, path-to-json-file";
                return Err(self.end(message, USAGE));
            }
        };
        Ok(Command::ElectLeaders {
            election,
            partition,
        })
    }

    fn partition_to_elect(
        &self,
        election: ElectionType,
        topic: &str,
        number: u32,
    ) -> Result<TopicPartition, CommandProblem> {
        let name = format!("{topic}-{number}");
        self.names.partition(&name).ok_or_else(|| {
            let why = if self.names.topic(topic).is_some() {
                format!("No such partition as {name}")
            } else {
                format!("No such topic as {topic}")
            };
            let class = "org.apache.kafka.common.errors.UnknownTopicOrPartitionException";
            let message = failure(election, &name, &format!("{class}: {why}"));
            CommandProblem::new(message, self.place.of(topic))
        })
    }

    /// Something is missing at the end of the line.
    pub(super) fn end(&self, message: &str, usage: &str) -> CommandProblem {
        let end = self.place.end;
        CommandProblem::new(message, end..end).hint(usage)
    }
}

/// The line that asks for an election.
pub(super) fn line(
    election: ElectionType,
    partition: Option<TopicPartition>,
    names: &Names,
) -> String {
    let word = match election {
        ElectionType::Preferred => "preferred",
        ElectionType::Unclean => "unclean",
    };
    let which = match partition {
        None => "--all-topic-partitions".to_owned(),
        Some(TopicPartition { topic, number }) => {
            format!("--topic {} --partition {number}", names.topic_name(topic))
        }
    };
    format!("kafka-leader-election.sh --election-type {word} {which}")
}

/// What the tool prints about an election that comes now, and whether it fails.
pub(super) fn outcome(
    (election, partition): (ElectionType, Option<TopicPartition>),
    simulation: &Simulation,
) -> Result<String, String> {
    let planned = simulation.plan_election(election, partition);
    let with = |wanted: ElectionOutcome| {
        let found = planned
            .iter()
            .filter(move |(_, outcome)| *outcome == wanted);
        let mut names: Vec<_> = found.map(|(p, _)| shown(*p, simulation.config())).collect();
        names.sort_unstable();
        names.join(", ")
    };
    let mut text = String::new();
    let elected = with(ElectionOutcome::Elected);
    if !elected.is_empty() {
        let kind = kind(election);
        append(
            &mut text,
            format_args!(
                "Successfully completed leader election ({kind}) for partitions {elected}\n"
            ),
        );
    }
    let noop = with(ElectionOutcome::NotNeeded);
    if !noop.is_empty() {
        append(
            &mut text,
            format_args!("Valid replica already elected for partitions {noop}\n"),
        );
    }
    let failed: Vec<_> = planned
        .iter()
        .filter_map(|(partition, outcome)| Some((*partition, outcome.error()?)))
        .collect();
    let failures = failed.iter().map(|(partition, error)| {
        let name = shown(*partition, simulation.config());
        let class = error.exception().qualified_name();
        failure(
            election,
            &name,
            &format!("{class}: {}", error.default_message()),
        )
    });
    let failures: Vec<_> = failures.collect();
    if failures.is_empty() {
        return Ok(text);
    }
    if text.is_empty() {
        return Err(failures.join("; "));
    }
    append(
        &mut text,
        format_args!(
            "{}\n{} replica(s) could not be elected\n",
            failures.join("\n"),
            failures.len()
        ),
    );
    Ok(text)
}

fn failure(election: ElectionType, partition: &str, words: &str) -> String {
    format!(
        "Error completing leader election ({}) for partition: {partition}: {words}",
        kind(election)
    )
}

const fn kind(election: ElectionType) -> &'static str {
    match election {
        ElectionType::Preferred => "PREFERRED",
        ElectionType::Unclean => "UNCLEAN",
    }
}

/// `TOPIC-N`.
fn shown(partition: TopicPartition, config: &Config) -> String {
    let topic = config.topics.get(partition.topic.index());
    let topic = topic.map_or(TRANSACTION_STATE_TOPIC, |topic| &topic.name);
    format!("{topic}-{}", partition.number)
}
