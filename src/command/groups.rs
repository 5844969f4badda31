//! `kafka-consumer-groups.sh`: what its flags ask for (`ConsumerGroupCommand`).

use crate::sim::command::{
    Command, DryRun, GroupDetail, GroupScope, GroupsInquiry, Inquiry, ResetOffsets, ResetTo,
};
use crate::sim::ids::{GroupIndex, TopicIndex, TopicPartition};

use super::grammar::KafkaConsumerGroups;
use super::names::Names;
use super::parse::Resolver;
use super::problem::CommandProblem;

const USAGE: &str = "usage: kafka-consumer-groups.sh --list | --describe --group GROUP \
                     [--members [--verbose] | --state] | --reset-offsets --group GROUP \
                     --topic TOPIC --to-earliest --execute";

impl Resolver<'_> {
    pub(super) fn kafka_consumer_groups(
        &self,
        tool: &KafkaConsumerGroups,
    ) -> Result<Command, CommandProblem> {
        let actions = [
            tool.list,
            tool.describe,
            tool.reset_offsets,
            tool.delete_offsets,
            tool.delete,
        ];
        if actions.iter().filter(|&&is_given| is_given).count() != 1 {
            let message = "Command must include exactly one action: --list, --describe, \
                           --delete, --reset-offsets, --delete-offsets";
            return Err(self.end(message, USAGE));
        }
        if tool.list {
            return Ok(inquire(GroupsInquiry::List));
        }
        if tool.describe {
            return self.describe_groups(tool);
        }
        let group = self.the_group(tool)?;
        if tool.delete {
            return Ok(Command::DeleteGroup(group));
        }
        let scope = self.scope(tool)?;
        if tool.delete_offsets {
            return Ok(Command::DeleteOffsets { group, scope });
        }
        let to = self.target(tool)?;
        let reset = ResetOffsets { group, scope, to };
        Ok(match (tool.execute, tool.dry_run) {
            (true, false) => Command::ResetOffsets(reset),
            (false, true) => inquire(GroupsInquiry::PlanReset(reset, DryRun::Asked)),
            (false, false) => inquire(GroupsInquiry::PlanReset(reset, DryRun::Assumed)),
            (true, true) => {
                let message = "Option [execute] can't be used with option [dry-run]";
                return Err(self.end(message, USAGE));
            }
        })
    }

    fn describe_groups(&self, tool: &KafkaConsumerGroups) -> Result<Command, CommandProblem> {
        let details = [tool.offsets, tool.members, tool.state];
        if details.iter().filter(|&&is_given| is_given).count() > 1 {
            let message = "Option [describe] takes at most one of these options: [members], \
                           [offsets], [state]";
            return Err(self.end(message, USAGE));
        }
        let detail = match (tool.members, tool.verbose, tool.state) {
            (true, false, _) => GroupDetail::Members,
            (true, true, _) => GroupDetail::MembersVerbose,
            (_, _, true) => GroupDetail::State,
            _ => GroupDetail::Offsets,
        };
        let group = if tool.all_groups {
            None
        } else {
            Some(self.the_group(tool)?)
        };
        Ok(inquire(GroupsInquiry::Describe(group, detail)))
    }

    fn the_group(&self, tool: &KafkaConsumerGroups) -> Result<GroupIndex, CommandProblem> {
        let Some(name) = &tool.group else {
            return Err(self.end("--group is missing", USAGE));
        };
        self.names.group(name).ok_or_else(|| {
            let known: Vec<String> = self.names.groups().map(str::to_owned).collect();
            self.unknown("consumer group", name, &known)
        })
    }

    fn scope(&self, tool: &KafkaConsumerGroups) -> Result<GroupScope, CommandProblem> {
        if tool.all_topics && tool.topic.is_empty() {
            return Ok(GroupScope::AllTopics);
        }
        if tool.all_topics || tool.topic.is_empty() {
            let message = "One of the reset scopes should be defined: --all-topics, --topic.";
            return Err(self.end(message, USAGE));
        }
        if tool.topic.iter().all(|name| !name.contains(':')) {
            let topics: Result<Vec<TopicIndex>, CommandProblem> = tool
                .topic
                .iter()
                .map(|name| self.some_topic(name))
                .collect();
            return Ok(GroupScope::Topics(topics?));
        }
        let mut partitions = Vec::new();
        for part in &tool.topic {
            let (name, numbers) = part.split_once(':').unwrap_or((part, ""));
            let topic = self.some_topic(name)?;
            partitions.extend(self.numbers(topic, numbers)?);
        }
        Ok(GroupScope::Partitions(partitions))
    }

    /// A topic that the cluster has.
    pub(super) fn some_topic(&self, name: &str) -> Result<TopicIndex, CommandProblem> {
        let found = self.names.topic(name);
        let exists = |&topic: &TopicIndex| self.names.partitions_of(topic) > 0;
        found.filter(exists).ok_or_else(|| {
            let known: Vec<String> = self.names.topics().map(str::to_owned).collect();
            self.unknown("topic", name, &known)
        })
    }

    /// Partitions of a topic by numbers between commas; all where there are none.
    pub(super) fn numbers(
        &self,
        topic: TopicIndex,
        numbers: &str,
    ) -> Result<Vec<TopicPartition>, CommandProblem> {
        let count = self.names.partitions_of(topic);
        if numbers.is_empty() {
            let all = 0..count;
            return Ok(all.map(|number| TopicPartition { topic, number }).collect());
        }
        let partitions = numbers.split(',').map(|text| {
            let number = text.trim().parse::<u32>().ok().filter(|n| *n < count);
            number
                .map(|number| TopicPartition { topic, number })
                .ok_or_else(|| {
                    let name = self.names.topic_name(topic);
                    let message = format!("there is no partition `{text}` of {name}");
                    CommandProblem::new(message, self.place.of(numbers))
                        .hint(format!("{name} has partitions 0 to {}", count.max(1) - 1))
                })
        });
        partitions.collect()
    }

    fn target(&self, tool: &KafkaConsumerGroups) -> Result<ResetTo, CommandProblem> {
        let given = [
            tool.to_earliest.then_some(ResetTo::Earliest),
            tool.to_latest.then_some(ResetTo::Latest),
            tool.to_current.then_some(ResetTo::Current),
            tool.shift_by.map(ResetTo::ShiftBy),
            tool.to_offset.map(ResetTo::Offset),
        ];
        let mut given = given.into_iter().flatten();
        if let (Some(only), None) = (given.next(), given.next()) {
            return Ok(only);
        }
        let message = "--reset-offsets takes one of --to-earliest, --to-latest, --to-current, \
                       --to-offset and --shift-by";
        Err(self.end(message, USAGE))
    }
}

fn inquire(inquiry: GroupsInquiry) -> Command {
    Command::Inquire(Inquiry::Groups(inquiry))
}

/// The line that a command of the tool is.
pub(super) fn line(command: &Command, names: &Names) -> String {
    let of = |group: GroupIndex| format!(" --group {}", names.group_name(group));
    let rest = match command {
        Command::ResetOffsets(reset) => format!("{} --execute", reset_flags(reset, names)),
        Command::DeleteOffsets { group, scope } => {
            format!(
                " --delete-offsets{}{}",
                of(*group),
                scope_flags(scope, names)
            )
        }
        Command::DeleteGroup(group) => format!(" --delete{}", of(*group)),
        Command::Inquire(Inquiry::Groups(inquiry)) => match inquiry {
            GroupsInquiry::List => " --list".to_owned(),
            GroupsInquiry::Describe(group, detail) => {
                let whose = group.map_or_else(|| " --all-groups".to_owned(), of);
                let detail = match detail {
                    GroupDetail::Offsets => "",
                    GroupDetail::Members => " --members",
                    GroupDetail::MembersVerbose => " --members --verbose",
                    GroupDetail::State => " --state",
                };
                format!(" --describe{whose}{detail}")
            }
            GroupsInquiry::PlanReset(reset, dry_run) => {
                let dry_run = match dry_run {
                    DryRun::Asked => " --dry-run",
                    DryRun::Assumed => "",
                };
                format!("{}{dry_run}", reset_flags(reset, names))
            }
        },
        _ => String::new(),
    };
    format!("kafka-consumer-groups.sh{rest}")
}

fn reset_flags(reset: &ResetOffsets, names: &Names) -> String {
    let to = match reset.to {
        ResetTo::Earliest => "--to-earliest".to_owned(),
        ResetTo::Latest => "--to-latest".to_owned(),
        ResetTo::Current => "--to-current".to_owned(),
        ResetTo::ShiftBy(by) => format!("--shift-by {by}"),
        ResetTo::Offset(offset) => format!("--to-offset {offset}"),
    };
    let group = names.group_name(reset.group);
    let scope = scope_flags(&reset.scope, names);
    format!(" --reset-offsets --group {group}{scope} {to}")
}

fn scope_flags(scope: &GroupScope, names: &Names) -> String {
    match scope {
        GroupScope::AllTopics => " --all-topics".to_owned(),
        GroupScope::Topics(topics) => {
            let flags = topics
                .iter()
                .map(|topic| format!(" --topic {}", names.topic_name(*topic)));
            flags.collect()
        }
        GroupScope::Partitions(partitions) => {
            let flags = partitions.iter().map(|partition| {
                let topic = names.topic_name(partition.topic);
                format!(" --topic {topic}:{}", partition.number)
            });
            flags.collect()
        }
    }
}
