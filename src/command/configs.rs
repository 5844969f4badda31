//! `kafka-configs.sh`: what its flags ask for.

use crate::kafka::config::topic;
use crate::kafka::quota::{QuotaEntity, QuotaName};
use crate::kafka::settings::TopicSettings;
use crate::kafka::version::KafkaVersion;
use crate::sim::command::{Command, Inquiry};
use crate::sim::ids::TopicIndex;

use super::grammar::KafkaConfigs;
use super::parse::Resolver;
use super::problem::CommandProblem;

/// What `kafka-configs.sh` puts before the words of an exception (`ConfigCommand`).
const ERROR: &str = "Error while executing config command: ";
/// The quota that is simulated.
const PRODUCER_BYTE_RATE: &str = "producer_byte_rate";
/// Quotas that Kafka has, too.
const OTHER_QUOTAS: [&str; 3] = [
    "consumer_byte_rate",
    "request_percentage",
    "controller_mutation_rate",
];
const USAGE: &str = "usage: kafka-configs.sh --alter|--describe --entity-type \
                     topics|clients|users --entity-name NAME [--add-config K=V,…] \
                     [--delete-config K,…]";

/// Whose configuration it is about.
enum Entity {
    Topic(TopicIndex),
    Quota(QuotaEntity),
}

impl Resolver<'_> {
    pub(super) fn kafka_configs(&self, tool: &KafkaConfigs) -> Result<Command, CommandProblem> {
        if tool.alter == tool.describe {
            let message = "Command must include exactly one action: --describe, --alter".to_owned();
            return Err(self.misused(message));
        }
        let entity = self.entity(tool)?;
        if tool.describe {
            return Ok(Command::Inquire(match entity {
                Entity::Topic(topic) => Inquiry::DescribeTopicConfigs(topic),
                Entity::Quota(entity) => Inquiry::DescribeQuotas(entity),
            }));
        }
        let changes = self.changes(tool)?;
        match entity {
            Entity::Topic(topic) => self.topic_changes(topic, changes),
            Entity::Quota(entity) => self.quota(entity, &changes),
        }
    }

    fn misused(&self, message: String) -> CommandProblem {
        let end = self.place.end;
        CommandProblem::new(message, end..end).hint(USAGE)
    }

    fn entity(&self, tool: &KafkaConfigs) -> Result<Entity, CommandProblem> {
        let (mut topic, mut quota) = (
            tool.topic.clone(),
            QuotaEntity {
                user: named(tool.user.as_ref(), tool.user_defaults),
                client_id: named(tool.client.as_ref(), tool.client_defaults),
            },
        );
        let mut names = tool.entity_name.iter();
        for kind in &tool.entity_type {
            let name = match (names.next(), tool.entity_default) {
                (Some(name), _) => QuotaName::Of(name.clone()),
                (None, true) => QuotaName::Default,
                (None, false) => {
                    let message = format!("--entity-type {kind} needs an --entity-name");
                    return Err(self.misused(message));
                }
            };
            match (kind.as_str(), name) {
                ("topics", QuotaName::Of(name)) => topic = Some(name),
                ("clients", name) => quota.client_id = Some(name),
                ("users", name) => quota.user = Some(name),
                (
                    "topics" | "brokers" | "broker-loggers" | "ips" | "client-metrics" | "groups",
                    _,
                ) => {
                    let message = format!("`--entity-type {kind}` is not yet in this version");
                    return Err(CommandProblem::new(message, self.place.of(kind)));
                }
                _ => {
                    let message = format!("Invalid entity type {kind}");
                    let problem = CommandProblem::new(message, self.place.of(kind));
                    return Err(problem.hint("it can be topics, clients or users"));
                }
            }
        }
        let has_quota = quota.user.is_some() || quota.client_id.is_some();
        match topic {
            Some(_) if has_quota => Err(self.misused(
                "Only 'users' and 'clients' entity types may be specified together".to_owned(),
            )),
            Some(name) => Ok(Entity::Topic(self.topic_of_configs(&name)?)),
            None if has_quota => Ok(Entity::Quota(quota)),
            None => Err(self.misused("At least one entity type must be specified".to_owned())),
        }
    }

    fn topic_of_configs(&self, name: &str) -> Result<TopicIndex, CommandProblem> {
        let found = self.names.topic(name);
        let exists = |&topic: &TopicIndex| self.names.partitions_of(topic) > 0;
        found.filter(exists).ok_or_else(|| {
            let message =
                format!("The topic '{name}' doesn't exist and doesn't have dynamic config.");
            let known: Vec<String> = self.names.topics().map(str::to_owned).collect();
            let hint = self.unknown("topic", name, &known).hint;
            let problem = CommandProblem::new(message, self.place.of(name));
            hint.into_iter().fold(problem, CommandProblem::hint)
        })
    }

    /// What is to be set, and what is to be deleted.
    fn changes(
        &self,
        tool: &KafkaConfigs,
    ) -> Result<Vec<(String, Option<String>)>, CommandProblem> {
        let mut changes = Vec::new();
        for setting in tool.add_config.iter().flat_map(|list| entries(list)) {
            let Some((key, value)) = setting.split_once('=') else {
                let message = format!(
                    "Invalid entity config: all configs to be added must be in \
                                       the format \"key=val\", and `{setting}` is not"
                );
                return Err(self.misused(message));
            };
            let value = value.trim().trim_start_matches('[').trim_end_matches(']');
            changes.push((key.trim().to_owned(), Some(value.to_owned())));
        }
        for key in tool.delete_config.iter().flat_map(|list| entries(list)) {
            changes.push((key.trim().to_owned(), None));
        }
        if changes.is_empty() {
            let message = "At least one of --add-config or --delete-config must be specified with \
                           --alter";
            return Err(self.misused(message.to_owned()));
        }
        Ok(changes)
    }

    fn topic_changes(
        &self,
        topic: TopicIndex,
        changes: Vec<(String, Option<String>)>,
    ) -> Result<Command, CommandProblem> {
        if changes.iter().any(|(key, _)| key == "cleanup.policy") {
            let message = "cleanup.policy cannot change during a run in this version";
            return Err(
                CommandProblem::new(message, self.place.of("cleanup.policy"))
                    .hint("say it in the topic's table"),
            );
        }
        let defaults = TopicSettings::defaults();
        let refused = topic::altered(KafkaVersion::DEFAULT, &defaults, &defaults, &changes);
        match refused.err().as_ref().and_then(|problems| problems.first()) {
            None => Ok(Command::SetTopic { topic, changes }),
            Some(refused) => {
                let name = refused.error.name();
                let message = format!("{ERROR}{name}: {}", refused.text);
                let problem = CommandProblem::new(message, 0..self.place.end);
                Err(match &refused.hint {
                    Some(hint) => problem.hint(hint.clone()),
                    None => problem,
                })
            }
        }
    }

    fn quota(
        &self,
        entity: QuotaEntity,
        changes: &[(String, Option<String>)],
    ) -> Result<Command, CommandProblem> {
        let refused = |text: String| {
            let message = format!("{ERROR}InvalidRequestException: {text}");
            CommandProblem::new(message, 0..self.place.end)
        };
        let mut producer_byte_rate = None;
        for (key, value) in changes {
            if OTHER_QUOTAS.contains(&key.as_str()) {
                let message = format!("`{key}` is not yet in this version");
                return Err(CommandProblem::new(message, 0..self.place.end));
            }
            if key != PRODUCER_BYTE_RATE {
                return Err(refused(format!("Invalid configuration key {key}"))
                    .hint("it can be producer_byte_rate"));
            }
            let Some(value) = value else {
                producer_byte_rate = None;
                continue;
            };
            let Ok(rate) = value.parse::<f64>() else {
                let message = format!("Cannot parse quota configuration value for {key}: {value}");
                return Err(CommandProblem::new(message, 0..self.place.end));
            };
            if !rate.is_finite() || rate.fract() != 0.0 || rate >= 1e18 {
                return Err(refused(format!("{key} must be a Long value")));
            }
            if rate <= 0.0 {
                return Err(refused(format!("Quota {key} must be greater than 0")));
            }
            producer_byte_rate = Some(rate as u64);
        }
        Ok(Command::SetQuota {
            entity,
            producer_byte_rate,
        })
    }
}

fn named(name: Option<&String>, is_default: bool) -> Option<QuotaName> {
    match name {
        Some(name) => Some(QuotaName::Of(name.clone())),
        None => is_default.then_some(QuotaName::Default),
    }
}

/// The entries of a list with commas, but for those within brackets.
fn entries(list: &str) -> Vec<&str> {
    let (mut entries, mut start, mut depth) = (Vec::new(), 0, 0_u32);
    for (place, letter) in list.char_indices() {
        match letter {
            '[' => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                entries.push(&list[start..place]);
                start = place + 1;
            }
            _ => {}
        }
    }
    entries.push(&list[start..]);
    entries.retain(|entry| !entry.trim().is_empty());
    entries
}
