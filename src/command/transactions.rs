//! `kafka-transactions.sh`: what its flags ask for, and what it prints (`TransactionsCommand`).

use crate::sim::Simulation;
use crate::sim::command::{
    AbortTransaction, Command, HangingScope, Inquiry, TransactionToAbort, TransactionsInquiry,
};
use crate::sim::ids::TopicPartition;

use super::grammar::{AbortFlags, TransactionsVerb};
use super::names::Names;
use super::parse::Resolver;
use super::problem::CommandProblem;

const ABORT_USAGE: &str =
    "usage: kafka-transactions.sh abort --topic TOPIC --partition N --start-offset OFFSET";
const HANGING_USAGE: &str = "usage: kafka-transactions.sh find-hanging (--broker-id BROKER | --topic TOPIC [--partition N])";

impl Resolver<'_> {
    pub(super) fn kafka_transactions(
        &self,
        verb: &TransactionsVerb,
    ) -> Result<Command, CommandProblem> {
        let inquiry = match verb {
            TransactionsVerb::List { duration_filter } => TransactionsInquiry::List {
                longer_than_ms: u64::try_from(*duration_filter).ok(),
            },
            TransactionsVerb::Describe { transactional_id } => {
                TransactionsInquiry::Describe(transactional_id.clone())
            }
            TransactionsVerb::DescribeProducers {
                broker,
                topic,
                number,
            } => TransactionsInquiry::DescribeProducers {
                partition: self.partition_of(topic, *number)?,
                broker: broker.as_deref().map(|id| self.broker(id)).transpose()?,
            },
            TransactionsVerb::FindHanging {
                broker,
                max_transaction_timeout,
                topic,
                number,
            } => TransactionsInquiry::FindHanging {
                scope: self.hanging_scope(broker.as_deref(), topic.as_deref(), *number)?,
                max_transaction_timeout_minutes: *max_transaction_timeout,
            },
            TransactionsVerb::Abort(flags) => return self.abort(flags),
            TransactionsVerb::ForceTerminateTransaction { transactional_id } => {
                return Ok(Command::ForceTerminate(transactional_id.clone()));
            }
        };
        Ok(Command::Inquire(Inquiry::Transactions(inquiry)))
    }

    fn partition_of(&self, topic: &str, number: u32) -> Result<TopicPartition, CommandProblem> {
        let known = self.names.topic(topic).ok_or_else(|| {
            let known: Vec<String> = self.names.topics().map(str::to_owned).collect();
            self.unknown("topic", topic, &known)
        })?;
        let partitions = self.names.partitions_of(known);
        if number < partitions {
            let topic = known;
            return Ok(TopicPartition { topic, number });
        }
        let message = format!("there is no partition `{topic}-{number}`");
        let problem = CommandProblem::new(message, self.place.of(&number.to_string()));
        Err(match partitions {
            0 => problem,
            count => problem.hint(format!("{topic} has partitions 0 to {}", count - 1)),
        })
    }

    fn hanging_scope(
        &self,
        broker: Option<&str>,
        topic: Option<&str>,
        number: Option<u32>,
    ) -> Result<HangingScope, CommandProblem> {
        match (broker, topic, number) {
            (None, None, _) => {
                let message = "The `find-hanging` command requires either --topic or --broker-id \
                               to limit the scope of the search";
                Err(self.end(message, HANGING_USAGE))
            }
            (Some(_), None, Some(_)) => {
                let message = "The --partition argument requires --topic to be provided";
                Err(self.end(message, HANGING_USAGE))
            }
            (Some(broker), None, None) => Ok(HangingScope::Broker(self.broker(broker)?)),
            (None, Some(topic), Some(number)) => {
                Ok(HangingScope::Partition(self.partition_of(topic, number)?))
            }
            (Some(_), Some(_), Some(_)) => {
                let message = "a partition has one leader, which is asked: leave --broker-id out";
                Err(self.end(message, HANGING_USAGE))
            }
            (broker, Some(topic), None) => {
                let first = self.partition_of(topic, 0)?;
                let broker = broker.map(|id| self.broker(id)).transpose()?;
                Ok(HangingScope::Topic(first.topic, broker))
            }
        }
    }

    fn abort(&self, flags: &AbortFlags) -> Result<Command, CommandProblem> {
        let missing = |message: &str| self.end(message, ABORT_USAGE);
        let which = match (flags.start_offset, flags.producer_id) {
            (None, None) => {
                let message = "The transaction to abort must be identified either with \
                               --start-offset (for brokers on 3.0 or above) or with --producer-id, \
                               --producer-epoch, and --coordinator-epoch (for older brokers)";
                return Err(missing(message));
            }
            (Some(offset), _) => TransactionToAbort::StartOffset(offset),
            (None, Some(producer_id)) => {
                let epoch = flags.producer_epoch;
                let epoch =
                    epoch.ok_or_else(|| missing("Missing required argument --producer-epoch"))?;
                let coordinator = flags.coordinator_epoch;
                let coordinator = coordinator
                    .ok_or_else(|| missing("Missing required argument --coordinator-epoch"))?;
                // One that `describe-producers` shows as -1 is taken for 0.
                let coordinator = u32::try_from(coordinator).unwrap_or(0);
                TransactionToAbort::Producer((producer_id, epoch), coordinator)
            }
        };
        let partition = self.partition_of(&flags.topic, flags.number)?;
        Ok(Command::AbortTransaction(AbortTransaction {
            partition,
            which,
        }))
    }
}

/// The line that asks for this.
pub(super) fn line(inquiry: &TransactionsInquiry, names: &Names) -> String {
    let asked = match inquiry {
        TransactionsInquiry::List {
            longer_than_ms: None,
        } => "list".to_owned(),
        TransactionsInquiry::List {
            longer_than_ms: Some(filter),
        } => format!("list --duration-filter {filter}"),
        TransactionsInquiry::Describe(id) => {
            format!("describe --transactional-id={}", shell_words::quote(id))
        }
        TransactionsInquiry::DescribeProducers { partition, broker } => {
            let broker = broker.map_or_else(String::new, |broker| {
                format!(" --broker-id {}", names.broker_name(broker))
            });
            format!("describe-producers{broker}{}", flags(*partition, names))
        }
        TransactionsInquiry::FindHanging {
            scope,
            max_transaction_timeout_minutes,
        } => format!(
            "find-hanging{} --max-transaction-timeout {max_transaction_timeout_minutes}",
            scope_flags(*scope, names)
        ),
    };
    format!("kafka-transactions.sh {asked}")
}

fn scope_flags(scope: HangingScope, names: &Names) -> String {
    let of_broker = |broker| format!(" --broker-id {}", names.broker_name(broker));
    match scope {
        HangingScope::Broker(broker) => of_broker(broker),
        HangingScope::Topic(topic, broker) => {
            let broker = broker.map_or_else(String::new, of_broker);
            format!("{broker} --topic {}", names.topic_name(topic))
        }
        HangingScope::Partition(partition) => flags(partition, names),
    }
}

fn flags(partition: TopicPartition, names: &Names) -> String {
    let topic = names.topic_name(partition.topic);
    format!(" --topic {topic} --partition {}", partition.number)
}

/// The line that aborts this.
pub(super) fn abort_line(abort: &AbortTransaction, names: &Names) -> String {
    let which = match abort.which {
        TransactionToAbort::StartOffset(offset) => format!("--start-offset {offset}"),
        TransactionToAbort::Producer((producer_id, epoch), coordinator) => format!(
            "--producer-id {producer_id} --producer-epoch {epoch} --coordinator-epoch {coordinator}"
        ),
    };
    let partition = flags(abort.partition, names);
    format!("kafka-transactions.sh abort{partition} {which}")
}

/// The line that takes this id from its owner.
pub(super) fn terminate_line(transactional_id: &str) -> String {
    let id = shell_words::quote(transactional_id);
    // What looks like a flag is an id all the same.
    format!("kafka-transactions.sh forceTerminateTransaction --transactionalId={id}")
}

/// What `forceTerminateTransaction` prints when it acts now: nothing when all went well.
pub(super) fn terminated(id: &str, simulation: &Simulation) -> Result<String, String> {
    let checked = simulation.check_termination(id);
    checked.map_or_else(|why| Err(why.into_owned()), |()| Ok(String::new()))
}

/// What the tool prints, and whether it fails.
pub(super) fn answer(
    inquiry: &TransactionsInquiry,
    simulation: &Simulation,
) -> Result<String, String> {
    let answer = simulation.transactions_answer(inquiry)?;
    Ok(answer.table())
}

/// What `abort` prints when it acts now: nothing when all went well.
pub(super) fn outcome(abort: &AbortTransaction, simulation: &Simulation) -> Result<String, String> {
    let checked = simulation.check_abort(abort);
    checked.map_or_else(|why| Err(why.into_owned()), |()| Ok(String::new()))
}
