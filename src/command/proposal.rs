//! `kafka-reassign-partitions.sh --generate`: what its flags ask for, and what it prints.
//!
//! Source: `ReassignPartitionsCommand.generateAssignment`, `AdminUtils.assignReplicasToBrokers`.
//!
//! Simplifications: a proposal begins with the first broker of the list, where a real one draws
//! where it begins; racks are not looked at; the folder of a broker is `/tmp/kafka-logs-` with its
//! id.

use serde_json::Value;

use crate::sim::Simulation;
use crate::sim::command::{Command, Inquiry};
use crate::sim::ids::{BrokerIndex, TopicIndex};

use super::grammar::KafkaReassignPartitions;
use super::names::Names;
use super::parse::Resolver;
use super::problem::CommandProblem;

const USAGE: &str = "usage: kafka-reassign-partitions.sh --generate --broker-list 1,2,3 \
                     --topics-to-move-json-file '{\"version\":1,\"topics\":[{\"topic\":\
                     \"events\"}]}'";

impl Resolver<'_> {
    pub(super) fn proposal(
        &self,
        tool: &KafkaReassignPartitions,
    ) -> Result<Command, CommandProblem> {
        let missing = |flag: &str| self.end(&format!("{flag} is missing"), USAGE);
        let json = tool.topics_to_move_json_file.as_deref();
        let json = json.ok_or_else(|| missing("--topics-to-move-json-file"))?;
        let list = tool.broker_list.as_deref();
        let list = list.ok_or_else(|| missing("--broker-list"))?;
        let topics = self.topics_to_move(json)?;
        let mut brokers = Vec::new();
        for id in list.split(',') {
            let broker = self.names.broker(id.trim()).ok_or_else(|| {
                let message = format!("there is no broker `{}`", id.trim());
                CommandProblem::new(message, self.place.of(list)).hint(USAGE)
            })?;
            if brokers.contains(&broker) {
                let message = format!("Broker list contains duplicate entries: {id}");
                return Err(CommandProblem::new(message, self.place.of(list)));
            }
            brokers.push(broker);
        }
        brokers.sort_unstable();
        Ok(Command::Inquire(Inquiry::ProposeMoves { topics, brokers }))
    }

    /// `{"version":1,"topics":[{"topic":"events"}]}`
    fn topics_to_move(&self, json: &str) -> Result<Vec<TopicIndex>, CommandProblem> {
        let wrong = |message: &str| CommandProblem::new(message, self.place.of(json)).hint(USAGE);
        let value: Value = serde_json::from_str(json)
            .map_err(|error| wrong(&format!("the topics are no JSON: {error}")))?;
        let listed = value.get("topics").and_then(Value::as_array);
        let listed = listed.ok_or_else(|| wrong("there is no list `topics`"))?;
        let mut topics = Vec::new();
        for entry in listed {
            let name = entry.get("topic").and_then(Value::as_str);
            let name = name.ok_or_else(|| wrong("each entry of `topics` needs a `topic`"))?;
            let found = self.names.topic(name);
            let topic = found.filter(|topic| self.names.partitions_of(*topic) > 0);
            let topic = topic.ok_or_else(|| wrong(&format!("there is no topic `{name}`")))?;
            if !topics.contains(&topic) {
                topics.push(topic);
            }
        }
        if topics.is_empty() {
            return Err(wrong("the list `topics` is empty"));
        }
        Ok(topics)
    }
}

/// The line that asks for this.
pub(super) fn line(topics: &[TopicIndex], brokers: &[BrokerIndex], names: &Names) -> String {
    let topics = topics
        .iter()
        .map(|topic| format!("{{\"topic\":\"{}\"}}", names.topic_name(*topic)));
    let topics = topics.collect::<Vec<_>>().join(",");
    let ids = brokers.iter().map(|broker| names.broker_name(*broker));
    format!(
        "kafka-reassign-partitions.sh --generate --topics-to-move-json-file \
         '{{\"version\":1,\"topics\":[{topics}]}}' --broker-list {}",
        ids.collect::<Vec<_>>().join(",")
    )
}

/// What the tool prints, and whether it fails.
pub(super) fn answer(
    topics: &[TopicIndex],
    brokers: &[BrokerIndex],
    simulation: &Simulation,
) -> Result<String, String> {
    let (mut current, mut proposed) = (Vec::new(), Vec::new());
    let mut topics = topics.to_vec();
    topics.sort_by_key(|topic| &simulation.config().topics[topic.index()].name);
    for topic in topics {
        let of_topic = simulation.partitions();
        let of_topic = of_topic.filter(|index| index.name().topic == topic);
        let views: Vec<_> = of_topic.map(|index| simulation.partition(index)).collect();
        let factor = views.first().map_or(0, |view| view.replicas.len());
        if factor > brokers.len() {
            return Err(format!(
                "Error: org.apache.kafka.common.errors.InvalidReplicationFactorException: \
                 Replication factor: {factor} larger than available brokers: {}",
                brokers.len()
            ));
        }
        let name = &simulation.config().topics[topic.index()].name;
        for view in &views {
            let entry = |replicas: &[BrokerIndex], folder: &dyn Fn(u32) -> String| {
                partition((name, view.number), replicas, folder, simulation)
            };
            current.push(entry(&view.replicas, &|id| format!("/tmp/kafka-logs-{id}")));
            let replicas = spread(view.number as usize, factor, brokers);
            proposed.push(entry(&replicas, &|_| "any".to_owned()));
        }
    }
    let plan = |partitions: &[String]| {
        format!(
            "{{\"version\":1,\"partitions\":[{}]}}",
            partitions.join(",")
        )
    };
    Ok(format!(
        "Current partition replica assignment\n{}\n\nProposed partition reassignment \
         configuration\n{}\n",
        plan(&current),
        plan(&proposed)
    ))
}

/// Leaders go round the brokers; with each round the other replicas move on by one.
fn spread(number: usize, factor: usize, brokers: &[BrokerIndex]) -> Vec<BrokerIndex> {
    let count = brokers.len();
    let shift = number / count;
    let leader = number % count;
    let follower = |place: usize| (leader + 1 + (shift + place) % (count - 1)) % count;
    let followers = (0..factor.saturating_sub(1)).map(follower);
    let places = std::iter::once(leader).chain(followers);
    places.map(|place| brokers[place]).collect()
}

fn partition(
    (topic, number): (&str, u32),
    replicas: &[BrokerIndex],
    folder: &dyn Fn(u32) -> String,
    simulation: &Simulation,
) -> String {
    let id = |broker: &BrokerIndex| simulation.config().brokers[broker.index()].id;
    let ids: Vec<String> = replicas.iter().map(|b| id(b).to_string()).collect();
    let folders = replicas.iter().map(|b| format!("\"{}\"", folder(id(b))));
    let folders: Vec<String> = folders.collect();
    format!(
        "{{\"topic\":\"{topic}\",\"partition\":{number},\"replicas\":[{}],\"log_dirs\":[{}]}}",
        ids.join(","),
        folders.join(",")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn followers_move_on_with_each_round_over_the_brokers() {
        let brokers: Vec<BrokerIndex> = (0..3).map(BrokerIndex).collect();
        let spread = |number| -> Vec<u16> {
            let replicas = spread(number, 2, &brokers).into_iter();
            replicas.map(|broker| broker.0).collect()
        };
        assert_eq!(
            (0..3).map(spread).collect::<Vec<_>>(),
            [[0, 1], [1, 2], [2, 0]]
        );
        assert_eq!(
            (3..6).map(spread).collect::<Vec<_>>(),
            [[0, 2], [1, 0], [2, 1]]
        );
    }

    #[test]
    fn one_broker_takes_all() {
        assert_eq!(super::spread(5, 1, &[BrokerIndex(0)]), [BrokerIndex(0)]);
    }
}
