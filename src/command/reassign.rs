//! `kafka-reassign-partitions.sh`: what its flags ask for, and what it prints
//! (`ReassignPartitionsCommand`).
//!
//! The plan stands in the line itself, where the real tool takes a file's name.

use serde_json::Value;

use crate::kafka::message::REASSIGNMENT_EXISTS;
use crate::sim::Simulation;
use crate::sim::command::{Command, EarlierMoves, Inquiry, Placement, Reassign, Throttles};
use crate::sim::config::Config;
use crate::sim::ids::{BrokerIndex, TopicPartition};
use crate::sim::view::PartitionView;

use super::grammar::KafkaReassignPartitions;
use super::names::Names;
use super::parse::Resolver;
use super::problem::CommandProblem;
use super::text::append;

const USAGE: &str = "usage: kafka-reassign-partitions.sh (--execute [--throttle BYTES] | --verify | \
                     --cancel) --reassignment-json-file '{\"version\":1,\"partitions\":[{\"topic\":\
                     \"events\",\"partition\":0,\"replicas\":[1,2]}]}'";
/// Partitions that one plan moves at most.
const PARTITIONS_MAX: usize = 1_000;

impl Resolver<'_> {
    pub(super) fn kafka_reassign_partitions(
        &self,
        tool: &KafkaReassignPartitions,
    ) -> Result<Command, CommandProblem> {
        let actions = [
            tool.execute,
            tool.verify,
            tool.cancel,
            tool.list,
            tool.generate,
        ];
        if actions.iter().filter(|&&is_given| is_given).count() != 1 {
            let message = "Command must include exactly one action: --generate, --execute, \
                           --verify, --cancel, --list";
            return Err(self.end(message, USAGE));
        }
        if tool.generate {
            return self.proposal(tool);
        }
        if tool.list {
            return Ok(Command::Inquire(Inquiry::ListReassignments));
        }
        let Some(json) = &tool.reassignment_json_file else {
            return Err(self.end("--reassignment-json-file is missing", USAGE));
        };
        let plan = self.plan(json)?;
        let throttles = if tool.preserve_throttles {
            Throttles::Preserved
        } else {
            Throttles::Lifted
        };
        Ok(Command::Reassign(if tool.execute {
            Reassign::Execute {
                plan,
                throttle_bytes_per_second: tool.throttle,
                earlier: if tool.additional {
                    EarlierMoves::Continue
                } else {
                    EarlierMoves::Forbidden
                },
            }
        } else if tool.verify {
            Reassign::Verify { plan, throttles }
        } else {
            Reassign::Cancel { plan, throttles }
        }))
    }

    fn plan(&self, json: &str) -> Result<Vec<Placement>, CommandProblem> {
        let wrong = |message: &str| CommandProblem::new(message, self.place.of(json)).hint(USAGE);
        let value: Value = serde_json::from_str(json)
            .map_err(|error| wrong(&format!("the plan is no JSON: {error}")))?;
        let partitions = value.get("partitions").and_then(Value::as_array);
        let partitions = partitions.ok_or_else(|| wrong("the plan has no list `partitions`"))?;
        if partitions.is_empty() {
            return Err(wrong("Partition reassignment list cannot be empty"));
        }
        if partitions.len() > PARTITIONS_MAX {
            let message = format!("a plan has at most {PARTITIONS_MAX} partitions");
            return Err(wrong(&message));
        }
        let mut plan: Vec<Placement> = Vec::new();
        for partition in partitions {
            let placement = self.placement(partition, json)?;
            if plan.iter().any(|p| p.partition == placement.partition) {
                let name = self.names.partition_name(placement.partition);
                let message =
                    format!("Partition reassignment contains duplicate topic partitions: {name}");
                return Err(wrong(&message));
            }
            plan.push(placement);
        }
        Ok(plan)
    }

    fn placement(&self, value: &Value, json: &str) -> Result<Placement, CommandProblem> {
        let wrong = |message: String| CommandProblem::new(message, self.place.of(json)).hint(USAGE);
        let topic = value.get("topic").and_then(Value::as_str);
        let number = value.get("partition").and_then(Value::as_u64);
        let replicas = value.get("replicas").and_then(Value::as_array);
        let (Some(topic), Some(number), Some(replicas)) = (topic, number, replicas) else {
            let message = "each partition needs `topic`, `partition` and `replicas`";
            return Err(wrong(message.to_owned()));
        };
        let name = format!("{topic}-{number}");
        let partition = self.names.partition(&name).ok_or_else(|| {
            let message =
                format!("The proposed assignment contains non-existent partitions: [{name}]");
            wrong(message)
        })?;
        let mut brokers = Vec::new();
        for id in replicas {
            let broker = self.names.broker(&id.to_string());
            let broker = broker.ok_or_else(|| wrong(format!("Error: Unknown broker id {id}")))?;
            if brokers.contains(&broker) {
                let message =
                    format!("Partition replica lists may not contain duplicate entries: {name}");
                return Err(wrong(message));
            }
            brokers.push(broker);
        }
        if brokers.is_empty() {
            return Err(wrong(format!("{name} has no replicas in the plan")));
        }
        Ok(Placement {
            partition,
            replicas: brokers,
        })
    }
}

/// The line that says this.
pub(super) fn line(reassign: &Reassign, names: &Names) -> String {
    let preserved = |throttles: &Throttles| match throttles {
        Throttles::Lifted => "",
        Throttles::Preserved => " --preserve-throttles",
    };
    let (action, plan, more) = match reassign {
        Reassign::Execute {
            plan,
            throttle_bytes_per_second,
            earlier,
        } => {
            let throttle = throttle_bytes_per_second;
            let throttle =
                throttle.map_or_else(String::new, |bytes| format!(" --throttle {bytes}"));
            let additional = match earlier {
                EarlierMoves::Forbidden => "",
                EarlierMoves::Continue => " --additional",
            };
            ("--execute", plan, format!("{throttle}{additional}"))
        }
        Reassign::Verify { plan, throttles } => ("--verify", plan, preserved(throttles).to_owned()),
        Reassign::Cancel { plan, throttles } => ("--cancel", plan, preserved(throttles).to_owned()),
    };
    let partitions: Vec<String> = plan
        .iter()
        .map(|placement| {
            let ids = placement.replicas.iter().map(|&b| names.broker_name(b));
            format!(
                "{{\"topic\":\"{}\",\"partition\":{},\"replicas\":[{}]}}",
                names.topic_name(placement.partition.topic),
                placement.partition.number,
                ids.collect::<Vec<_>>().join(","),
            )
        })
        .collect();
    let json = format!(
        "{{\"version\":1,\"partitions\":[{}]}}",
        partitions.join(",")
    );
    format!(
        "kafka-reassign-partitions.sh {action} --reassignment-json-file {}{more}",
        shell_words::quote(&json)
    )
}

/// What the tool prints, and whether it refuses.
pub(super) fn outcome(reassign: &Reassign, simulation: &Simulation) -> Result<String, String> {
    match reassign {
        Reassign::Execute {
            plan,
            throttle_bytes_per_second,
            earlier,
        } => {
            let moving = simulation.moving_partitions();
            if *earlier == EarlierMoves::Forbidden && !moving.is_empty() {
                return Err(REASSIGNMENT_EXISTS.to_owned());
            }
            Ok(executed(plan, *throttle_bytes_per_second, simulation))
        }
        Reassign::Verify { plan, throttles } => Ok(verified(plan, *throttles, simulation)),
        Reassign::Cancel { plan, throttles } => Ok(cancelled(plan, *throttles, simulation)),
    }
}

/// `--list`.
pub(super) fn list(simulation: &Simulation) -> String {
    let moving = simulation.moving_partitions();
    if moving.is_empty() {
        return "No partition reassignments found.\n".to_owned();
    }
    let mut text = "Current partition reassignments:\n".to_owned();
    for index in moving {
        let view = simulation.partition(index);
        let config = simulation.config();
        append(
            &mut text,
            format_args!(
                "{}: replicas: {}.",
                shown(view.name(), config),
                ids(&view.replicas, config)
            ),
        );
        for (word, brokers) in [("adding", &view.adding), ("removing", &view.removing)] {
            if !brokers.is_empty() {
                append(
                    &mut text,
                    format_args!(" {word}: {}.", ids(brokers, config)),
                );
            }
        }
        text.push('\n');
    }
    text
}

fn executed(plan: &[Placement], throttle: Option<u64>, simulation: &Simulation) -> String {
    let config = simulation.config();
    let id = |broker: &BrokerIndex| config.brokers[broker.index()].id;
    let folder = |broker: &BrokerIndex| format!("\"/tmp/kafka-logs-{}\"", id(broker));
    let mut views = views(plan, simulation);
    views.sort_by_key(|view| (shown(view.name(), config), view.number));
    let current = views.iter().map(|view| {
        let folders: Vec<_> = view.replicas.iter().map(folder).collect();
        format!(
            "{{\"topic\":\"{}\",\"partition\":{},\"replicas\":[{}],\"log_dirs\":[{}]}}",
            config.topics[view.topic.index()].name,
            view.number,
            ids(&view.replicas, config),
            folders.join(","),
        )
    });
    let current: Vec<_> = current.collect();
    let mut text = format!(
        "Current partition replica assignment\n\n{{\"version\":1,\"partitions\":[{}]}}\n\n\
         Save this to use as the --reassignment-json-file option during rollback\n",
        current.join(",")
    );
    if let Some(bytes) = throttle {
        append(
            &mut text,
            format_args!(
                "Warning: You must run --verify periodically, until the reassignment completes, \
                 to ensure the throttle is removed.\n\
                 The inter-broker throttle limit was set to {bytes} B/s\n"
            ),
        );
    }
    let names: Vec<_> = views.iter().map(|v| shown(v.name(), config)).collect();
    let plural = if names.len() == 1 { "" } else { "s" };
    append(
        &mut text,
        format_args!(
            "Successfully started partition reassignment{plural} for {}\n",
            names.join(",")
        ),
    );
    text
}

fn verified(plan: &[Placement], throttles: Throttles, simulation: &Simulation) -> String {
    let config = simulation.config();
    let moving = simulation.moving_partitions();
    let mut text = "Status of partition reassignment:\n".to_owned();
    let mut lines = Vec::new();
    let mut is_ongoing = false;
    for placement in plan {
        let name = shown(placement.partition, config);
        let index = simulation.find_partition(placement.partition);
        let replicas = index.map(|index| simulation.partition(index).replicas);
        let replicas = replicas.unwrap_or_default();
        let moves = index.is_some_and(|index| moving.contains(&index));
        is_ongoing |= moves;
        lines.push(if moves {
            format!("Reassignment of partition {name} is still in progress.")
        } else if replicas == placement.replicas {
            format!("Reassignment of partition {name} is completed.")
        } else {
            format!(
                "There is no active reassignment of partition {name}, but replica set is {} rather \
                 than {}.",
                ids(&replicas, config),
                ids(&placement.replicas, config)
            )
        });
    }
    append(&mut text, format_args!("{}\n\n", lines.join("\n")));
    if !is_ongoing && throttles == Throttles::Lifted {
        text.push_str(&cleared(plan, config));
    }
    text
}

fn cancelled(plan: &[Placement], throttles: Throttles, simulation: &Simulation) -> String {
    let config = simulation.config();
    let moving = simulation.moving_partitions();
    let found = plan.iter().filter(|placement| {
        let index = simulation.find_partition(placement.partition);
        index.is_some_and(|index| moving.contains(&index))
    });
    let names: Vec<_> = found.map(|p| shown(p.partition, config)).collect();
    let mut text = if names.is_empty() {
        "None of the specified partition reassignments are active.\n".to_owned()
    } else {
        let plural = if names.len() == 1 { "" } else { "s" };
        format!(
            "Successfully cancelled partition reassignment{plural} for: {}\n",
            names.join(",")
        )
    };
    text.push_str("None of the specified partition moves are active.");
    if throttles == Throttles::Lifted {
        text.push_str(&cleared(plan, config));
    }
    text
}

/// Which throttles the tool lifts.
fn cleared(plan: &[Placement], config: &Config) -> String {
    let mut brokers: Vec<_> = config.brokers.iter().map(|broker| broker.id).collect();
    brokers.sort_unstable();
    let brokers: Vec<_> = brokers.iter().map(ToString::to_string).collect();
    let mut topics: Vec<_> = plan
        .iter()
        .map(|p| config.topics[p.partition.topic.index()].name.as_str())
        .collect();
    topics.sort_unstable();
    topics.dedup();
    let plural = if topics.len() == 1 { "" } else { "s" };
    format!(
        "Clearing broker-level throttles on brokers {}\n\
         Clearing topic-level throttles on topic{plural} {}\n",
        brokers.join(","),
        topics.join(",")
    )
}

fn views(plan: &[Placement], simulation: &Simulation) -> Vec<PartitionView> {
    let found = plan
        .iter()
        .filter_map(|placement| simulation.find_partition(placement.partition));
    found.map(|index| simulation.partition(index)).collect()
}

fn ids(brokers: &[BrokerIndex], config: &Config) -> String {
    let id = |broker: &BrokerIndex| config.brokers[broker.index()].id.to_string();
    brokers.iter().map(id).collect::<Vec<_>>().join(",")
}

fn shown(partition: TopicPartition, config: &Config) -> String {
    let topic = &config.topics[partition.topic.index()].name;
    format!("{topic}-{}", partition.number)
}
