//! Delivery reports: the queue that `rd_kafka_poll()` serves, and what a served report means.
//!
//! A message gives up its place in the client's queue when its report is served, not when it is
//! acknowledged: an application that does not poll fills the queue of a healthy client.
//!
//! Source: `rd_kafka_dr_msgq`, `rd_kafka_poll_cb`, `rd_kafka_msg_destroy`.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::kafka::settings::DeliveryReports;
use crate::sim::context::Context;
use crate::sim::fact::{Acknowledged, Exception, Fact, Flow, UnassignedEnd};
use crate::sim::ids::{PartitionIndex, TopicIndex};
use crate::sim::producer::append::Route;
use crate::sim::producer::dialect::Receipt;
use crate::sim::producer::rdkafka::toppar::Message;
use crate::sim::producer::rdkafka::{Rdkafka, Woken};
use crate::sim::trace::{Trace, TraceStep};

/// Reports that wait, and who waits for which message.
#[derive(Clone, Debug, Default)]
pub struct Reports {
    waiting: VecDeque<Report>,
    tickets: Vec<Ticket>,
    next_ticket: u64,
}

/// What became of messages in a row.
#[derive(Clone, Debug)]
pub struct Report {
    /// Whether it shares the operation of the one before.
    pub operation: Operation,
    /// Their partition's place and the number of the first, where they have one.
    pub at: Option<(u32, u64)>,
    /// How many.
    pub records: u32,
    /// Bytes of their values.
    pub value_bytes: u64,
    /// What became of them.
    pub outcome: Outcome,
}

/// `poll()` counts operations: one for the messages of one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// One of its own.
    Own,
    /// The one before.
    Same,
}

/// What became of messages.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// They are acknowledged.
    Delivered(Acknowledged),
    /// They failed for good.
    Failed {
        /// To which topic.
        topic: TopicIndex,
        /// Where, if that was decided.
        partition: Option<(PartitionIndex, u32)>,
        /// The largest of them: payload and value, in bytes.
        largest: (u32, u32),
        /// Why.
        exception: Arc<Exception>,
    },
}

/// A message that the application waits for.
#[derive(Clone, Copy, Debug)]
struct Ticket {
    number: u64,
    at: (u32, u64),
}

impl Reports {
    /// `replyq`: operations that wait for `poll()`.
    pub fn operations(&self) -> u64 {
        let own = |report: &&Report| report.operation == Operation::Own;
        self.waiting.iter().filter(own).count() as u64
    }

    /// Messages whose report waits.
    pub fn messages(&self) -> u64 {
        let records = |report: &Report| u64::from(report.records);
        self.waiting.iter().map(records).sum()
    }

    /// Whether nothing waits for `poll()`.
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// All that waits, taken away.
    pub fn take(&mut self) -> VecDeque<Report> {
        std::mem::take(&mut self.waiting)
    }

    /// Remembers that the application waits for a message.
    pub fn open_ticket(&mut self, at: (u32, u64)) -> Receipt {
        self.next_ticket += 1;
        self.tickets.push(Ticket {
            number: self.next_ticket,
            at,
        });
        (0, self.next_ticket)
    }

    /// Whether the application still waits for it.
    pub fn is_open(&self, (_, number): Receipt) -> bool {
        self.tickets.iter().any(|ticket| ticket.number == number)
    }

    /// A message is somewhere else now, or done.
    pub fn move_ticket(&mut self, from: (u32, u64), to: Option<(u32, u64)>) {
        let Some(place) = self.tickets.iter().position(|ticket| ticket.at == from) else {
            return;
        };
        match to {
            Some(at) => self.tickets[place].at = at,
            None => {
                self.tickets.swap_remove(place);
            }
        }
    }

    fn close_tickets(&mut self, (place, first): (u32, u64), records: u32) {
        let range = first..first + u64::from(records);
        self.tickets
            .retain(|ticket| ticket.at.0 != place || !range.contains(&ticket.at.1));
    }
}

impl Rdkafka {
    /// The fate of messages is known: a report waits for `poll()`, or nobody wants one.
    pub(super) fn report(&mut self, ctx: &mut Context<'_>, report: Report) {
        let is_failure = matches!(report.outcome, Outcome::Failed { .. });
        match self.settings.delivery_reports {
            DeliveryReports::All => self.reports.waiting.push_back(report),
            DeliveryReports::OnlyErrors if is_failure => self.reports.waiting.push_back(report),
            DeliveryReports::OnlyErrors | DeliveryReports::None => self.serve_report(ctx, report),
        }
    }

    /// `rd_kafka_poll()`: every report that waits is served, in order.
    pub(super) fn serve_reports(&mut self, ctx: &mut Context<'_>) {
        for report in self.reports.take() {
            self.serve_report(ctx, report);
        }
    }

    fn serve_report(&mut self, ctx: &mut Context<'_>, report: Report) {
        let records = report.records;
        if let Some(at) = report.at {
            self.reports.close_tickets(at, records);
        }
        self.say(Woken::Completed);
        match report.outcome {
            Outcome::Delivered(mut acknowledged) => {
                acknowledged.at = ctx.now;
                self.counts.acked += u64::from(records);
                ctx.flow(self.rank, Flow::Acknowledged(acknowledged));
            }
            Outcome::Failed {
                topic,
                partition,
                largest,
                exception,
            } => {
                let route = partition.map_or(Route::Sticky, |(_, number)| Route::Partition(number));
                let at = (topic, partition.map(|(partition, _)| partition));
                let first = partition.zip(report.at);
                let first = first.map(|((partition, _), (_, ordinal))| (partition, ordinal));
                self.say_failed(ctx, at, (report.at, records), exception);
                if self.settings.delivery_reports != DeliveryReports::None {
                    self.woken.push(Woken::Failed {
                        topic,
                        route,
                        records,
                        payload: largest.0,
                        value: largest.1,
                        first,
                    });
                }
            }
        }
        self.give_up_places(u64::from(records), report.value_bytes);
    }

    /// The application hears of messages that failed, with or without a partition.
    fn say_failed(
        &mut self,
        ctx: &mut Context<'_>,
        (topic, partition): (TopicIndex, Option<PartitionIndex>),
        (at, records): (Option<(u32, u64)>, u32),
        exception: Arc<Exception>,
    ) {
        let producer = self.me;
        let (flow, fact) = if let (Some(partition), Some((_, first_ordinal))) = (partition, at) {
            self.counts.failed += u64::from(records);
            ctx.trace(Trace {
                at: ctx.now,
                producer,
                partition,
                first_ordinal,
                records,
                step: TraceStep::Failed {
                    error: exception.class,
                },
            });
            let flow = Flow::Failed {
                producer,
                partition,
                first_ordinal,
                records,
            };
            let fact = Fact::BatchFailed {
                producer,
                partition,
                records,
                exception,
            };
            (flow, fact)
        } else {
            self.counts.failed += u64::from(records);
            let flow = Flow::Unassigned {
                producer,
                topic,
                records,
                end: UnassignedEnd::Failed,
            };
            let fact = Fact::UnassignedFailed {
                producer,
                topic,
                records,
                exception,
            };
            (flow, fact)
        };
        ctx.flow(self.rank, flow);
        ctx.fact(self.rank, fact);
    }

    /// Messages of one partition fail for good, stretch by stretch.
    pub(super) fn fail(
        &mut self,
        ctx: &mut Context<'_>,
        place: u32,
        messages: &[(u64, Message)],
        exception: &Arc<Exception>,
    ) {
        let toppar = &self.toppars[place as usize];
        let (topic, partition) = (toppar.topic, Some((toppar.partition, toppar.number)));
        if let Some(own) = &mut self.transactions {
            own.count_failed(messages.len() as u64);
        }
        let mut operation = Operation::Own;
        for run in messages.chunk_by(|(one, _), (two, _)| one + 1 == *two) {
            let Some((first, _)) = run.first() else {
                continue;
            };
            let values = run.iter().map(|(_, message)| message);
            let report = Report {
                operation,
                at: Some((place, *first)),
                records: run.len() as u32,
                value_bytes: values.clone().map(|message| u64::from(message.value)).sum(),
                outcome: Outcome::Failed {
                    topic,
                    partition,
                    largest: largest(values),
                    exception: Arc::clone(exception),
                },
            };
            self.report(ctx, report);
            operation = Operation::Same;
        }
    }

    /// Messages that never had a partition fail.
    pub(super) fn fail_unassigned(
        &mut self,
        ctx: &mut Context<'_>,
        topic: TopicIndex,
        messages: &[Message],
        exception: Arc<Exception>,
    ) {
        if messages.is_empty() {
            return;
        }
        if let Some(own) = &mut self.transactions {
            own.count_failed(messages.len() as u64);
        }
        let report = Report {
            operation: Operation::Own,
            at: None,
            records: messages.len() as u32,
            value_bytes: messages.iter().map(|m| u64::from(m.value)).sum(),
            outcome: Outcome::Failed {
                topic,
                partition: None,
                largest: largest(messages.iter()),
                exception,
            },
        };
        self.report(ctx, report);
    }
}

fn largest<'a>(messages: impl Iterator<Item = &'a Message>) -> (u32, u32) {
    messages
        .max_by_key(|message| message.payload())
        .map_or((0, 0), |message| (message.payload(), message.value))
}
