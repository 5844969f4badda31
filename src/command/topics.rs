//! `kafka-topics.sh`: what its flags ask for.

use crate::kafka::message::TOPICS_COMMAND_ERROR;
use crate::sim::command::{Command, Inquiry, TopicFilter};
use crate::sim::ids::{BrokerIndex, TopicIndex};

use super::grammar::KafkaTopics;
use super::parse::Resolver;
use super::problem::CommandProblem;

impl Resolver<'_> {
    pub(super) fn kafka_topics(&self, tool: &KafkaTopics) -> Result<Command, CommandProblem> {
        let actions = [
            tool.list,
            tool.describe,
            tool.create,
            tool.alter,
            tool.delete,
        ];
        if actions.iter().filter(|&&is_given| is_given).count() != 1 {
            let message = "Command must include exactly one action: --list, --describe, --create, \
                           --alter or --delete";
            return Err(self.at_end(message));
        }
        if tool.create || tool.delete {
            let flag = if tool.create { "--create" } else { "--delete" };
            let message = format!("`kafka-topics.sh {flag}` is not yet in this version");
            return Err(CommandProblem::new(message, self.place.of(flag)));
        }
        let topic = match &tool.topic {
            Some(name) => Some(self.topic(name)?),
            None => None,
        };
        if tool.list {
            return Ok(Command::Inquire(Inquiry::ListTopics));
        }
        if tool.describe {
            let inquiry = match self.filter(tool)? {
                None => Inquiry::DescribeTopics(topic),
                Some(filter) => Inquiry::FilterTopics(topic, filter),
            };
            return Ok(Command::Inquire(inquiry));
        }
        let Some(topic) = topic else {
            return Err(self.at_end("--topic is missing"));
        };
        let Some(partitions) = tool.partitions else {
            return Err(self.at_end("--partitions is missing"));
        };
        match &tool.replica_assignment {
            None => Ok(Command::AddPartitions { topic, partitions }),
            Some(text) => {
                let replicas = self.replica_assignment(text, partitions)?;
                Ok(Command::PlacePartitions { topic, replicas })
            }
        }
    }

    /// `1:2,2:3`: the brokers of all partitions, those that exist included.
    fn replica_assignment(
        &self,
        text: &str,
        partitions: u32,
    ) -> Result<Vec<Vec<BrokerIndex>>, CommandProblem> {
        let wrong = |message: String| CommandProblem::new(message, self.place.of(text));
        let mut assignment: Vec<Vec<BrokerIndex>> = Vec::new();
        for (number, ids) in text.split(',').enumerate() {
            let mut replicas = Vec::new();
            for id in ids.split(':') {
                let broker = self.names.broker(id.trim()).ok_or_else(|| {
                    let known: Vec<_> = self.names.brokers().map(|id| id.to_string()).collect();
                    wrong(format!("there is no broker `{}`", id.trim()))
                        .hint(format!("there are {}", known.join(", ")))
                })?;
                if replicas.contains(&broker) {
                    return Err(wrong(format!(
                        "Partition replica lists may not contain duplicate entries: {id}"
                    )));
                }
                replicas.push(broker);
            }
            let first = assignment.first().map_or(replicas.len(), Vec::len);
            if replicas.len() != first {
                return Err(wrong(format!(
                    "Partition {number} has different replication factor: {ids}"
                )));
            }
            assignment.push(replicas);
        }
        if assignment.len() != partitions as usize {
            return Err(wrong(format!(
                "--replica-assignment names the brokers of {} partitions, and --partitions says \
                 {partitions}",
                assignment.len()
            )));
        }
        Ok(assignment)
    }

    /// Which partitions are described, where not all are.
    fn filter(&self, tool: &KafkaTopics) -> Result<Option<TopicFilter>, CommandProblem> {
        let filters = [
            (tool.topics_with_overrides, TopicFilter::WithOverrides),
            (
                tool.under_replicated_partitions,
                TopicFilter::UnderReplicated,
            ),
            (tool.unavailable_partitions, TopicFilter::Unavailable),
            (tool.under_min_isr_partitions, TopicFilter::UnderMinIsr),
            (tool.at_min_isr_partitions, TopicFilter::AtMinIsr),
        ];
        let mut given = filters.into_iter().filter(|(is_given, _)| *is_given);
        match (given.next(), given.next()) {
            (first, None) => Ok(first.map(|(_, filter)| filter)),
            (_, Some(_)) => Err(self.at_end("--describe takes one filter at most")),
        }
    }

    /// A topic that the cluster has.
    fn topic(&self, name: &str) -> Result<TopicIndex, CommandProblem> {
        let found = self.names.topic(name);
        let exists = |&topic: &TopicIndex| self.names.partitions_of(topic) > 0;
        found.filter(exists).ok_or_else(|| {
            let message =
                format!("{TOPICS_COMMAND_ERROR}Topic '{name}' does not exist as expected");
            let known: Vec<String> = self.names.topics().map(str::to_owned).collect();
            let hint = self.unknown("topic", name, &known).hint;
            let problem = CommandProblem::new(message, self.place.of(name));
            hint.into_iter().fold(problem, CommandProblem::hint)
        })
    }

    fn at_end(&self, message: &str) -> CommandProblem {
        let end = self.place.end;
        CommandProblem::new(message, end..end)
            .hint("usage: kafka-topics.sh --alter --topic TOPIC --partitions N")
    }
}
