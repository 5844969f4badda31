//! `kafka-topics.sh`: what its flags ask for.

use crate::kafka::message::TOPICS_COMMAND_ERROR;
use crate::sim::command::{Command, Inquiry, TopicFilter};
use crate::sim::ids::TopicIndex;

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
        Ok(Command::AddPartitions { topic, partitions })
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
