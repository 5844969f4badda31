//! Generated loads in transactions: the loop that begins one, sends, commits, and starts again.
//!
//! A client has one transaction at a time, so all loads of a transactional producer share it: the
//! thread that finds it due ends it, and the others wait. What goes wrong with any record spoils
//! the transaction, which is then aborted, as the documentation of `KafkaProducer` shows; an abort
//! that fails is the end of the client.

use std::sync::Arc;

use crate::kafka::transaction_message::AwaitedOperation;
use crate::sim::config::{Call, LoadConfig, LoadTransaction, OnFenced, TransactionEnd};
use crate::sim::context::Context;
use crate::sim::exception::Remedy;
use crate::sim::fact::{BlockedOn, Exception, Fact};
use crate::sim::producer::application::thread::Waiting;
use crate::sim::producer::application::{Application, Wish};
use crate::sim::producer::dialect::Dialect;
use crate::sim::producer::transaction::{Outcome, Transacted};
use crate::sim::time::SimTime;

/// The transactions of all loads of one application.
#[derive(Clone, Copy, Debug)]
pub struct TransactionLoop {
    config: LoadTransaction,
    phase: Phase,
}

/// How far the loop is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// The client is new: `initTransactions()` comes first.
    New,
    /// A thread is in one of these calls.
    Calling(AwaitedOperation),
    /// The same call has to be made again, as librdkafka says.
    Again(AwaitedOperation),
    /// The next record begins a transaction.
    Ready,
    /// A transaction is open.
    Open {
        records: u32,
        since: SimTime,
        state: Open,
    },
    /// The client is fenced, or broken for good: another one comes at this moment, or none.
    Broken(SimTime),
}

/// Whether an open transaction can be committed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Open {
    Whole,
    /// A record of it failed.
    Spoiled,
}

impl TransactionLoop {
    /// The loop of these loads, if any of them is in transactions.
    pub fn of(loads: &[LoadConfig]) -> Option<Self> {
        let mut configs = loads.iter().filter_map(|load| load.transaction);
        configs.next().map(|config| Self {
            config,
            phase: Phase::New,
        })
    }

    /// When an open transaction is due, whatever comes in between.
    fn due_at(&self) -> SimTime {
        match (self.phase, self.config.ends) {
            (Phase::Open { since, records, .. }, TransactionEnd::Every(span)) if records > 0 => {
                since + span
            }
            _ => SimTime::NEVER,
        }
    }

    fn is_due(&self, now: SimTime) -> bool {
        match (self.phase, self.config.ends) {
            (Phase::Open { records, .. }, TransactionEnd::Records(most)) => records >= most,
            (Phase::Open { .. }, TransactionEnd::Every(_)) => self.due_at() <= now,
            _ => false,
        }
    }
}

impl Application {
    /// Whether a load's thread may send its next record now; if not, it makes the call that comes
    /// first, or waits for the thread that makes it.
    pub(super) fn is_in_transaction<C: Dialect>(
        &mut self,
        ctx: &mut Context<'_>,
        client: &mut C,
        place: usize,
    ) -> bool {
        if self.transactions.is_none() {
            return true;
        }
        let is_exhausted = self.is_exhausted(place);
        let are_all_exhausted = (0..self.threads.len()).all(|place| self.is_exhausted(place));
        let mut threads = self.threads.iter();
        let is_sending = threads.any(|thread| thread.load.is_some() && thread.call.is_some());
        let Some(of_loads) = &mut self.transactions else {
            return true;
        };
        match of_loads.phase {
            Phase::New => self.call_of_loads(ctx, client, place, &Call::InitTransactions),
            Phase::Again(operation) => {
                let call = call_of(operation);
                self.call_of_loads(ctx, client, place, &call);
            }
            Phase::Calling(_) => self.threads[place].next_at = SimTime::NEVER,
            Phase::Broken(at) if at <= ctx.now => {
                of_loads.phase = Phase::New;
                self.wish = Wish::NewClient;
                self.threads[place].next_at = ctx.now;
            }
            Phase::Broken(at) => self.threads[place].next_at = at,
            Phase::Ready if is_exhausted => return true,
            Phase::Ready => self.call_of_loads(ctx, client, place, &Call::BeginTransaction),
            Phase::Open { state, .. } => {
                let end = match state {
                    Open::Spoiled => Some(Call::AbortTransaction),
                    Open::Whole if are_all_exhausted || of_loads.is_due(ctx.now) => {
                        Some(Call::CommitTransaction)
                    }
                    Open::Whole => None,
                };
                let due_at = of_loads.due_at();
                let arrives_at = self.threads[place].arrives_at;
                let is_in_hand = self.threads[place].in_hand.is_some();
                match end {
                    // What is being sent belongs to this transaction: its thread ends it then.
                    Some(_) if is_sending => self.threads[place].next_at = SimTime::NEVER,
                    Some(call) => self.call_of_loads(ctx, client, place, &call),
                    // Somebody else sends on, and commits.
                    None if is_exhausted => return true,
                    None if arrives_at <= ctx.now || is_in_hand => return true,
                    None => self.threads[place].next_at = arrives_at.min(due_at),
                }
            }
        }
        false
    }

    /// Whether a thread has nothing to send, now and later.
    fn is_exhausted(&self, place: usize) -> bool {
        let thread = &self.threads[place];
        let load = thread.load.map(|at| &self.loads[at]);
        load.is_none_or(|load| load.left() == 0)
            && thread.backlog.is_empty()
            && thread.in_hand.is_none()
    }

    fn call_of_loads<C: Dialect>(
        &mut self,
        ctx: &mut Context<'_>,
        client: &mut C,
        place: usize,
        call: &Call,
    ) {
        let operation = match call {
            Call::InitTransactions => AwaitedOperation::InitProducerId,
            Call::CommitTransaction => AwaitedOperation::Commit,
            _ => AwaitedOperation::Abort,
        };
        match (client.transact(ctx, call), call) {
            (Transacted::Returned, Call::BeginTransaction) => {
                let phase = Phase::Open {
                    records: 0,
                    since: ctx.now,
                    state: Open::Whole,
                };
                self.enter_phase(ctx, phase);
            }
            (Transacted::Threw(thrown), Call::BeginTransaction) => {
                self.say_thrown(ctx, operation, &thrown);
                self.broken(ctx);
            }
            (Transacted::Returned, _) => self.after_call(ctx, operation, Ok(())),
            (Transacted::Threw(thrown), _) => self.after_call(ctx, operation, Err(thrown)),
            (Transacted::Waits(operation, deadline), _) => {
                if let Some(of_loads) = &mut self.transactions {
                    of_loads.phase = Phase::Calling(operation);
                }
                self.block(ctx, place, BlockedOn::Transaction(operation), deadline);
            }
        }
    }

    /// A call of the loop is over.
    pub(super) fn after_call(
        &mut self,
        ctx: &mut Context<'_>,
        operation: AwaitedOperation,
        outcome: Outcome,
    ) {
        match (outcome, operation) {
            (Ok(()), _) => self.enter_phase(ctx, Phase::Ready),
            (Err(thrown), operation) if thrown.remedy == Remedy::Retry => {
                self.say_thrown(ctx, operation, &thrown);
                self.enter_phase(ctx, Phase::Again(operation));
            }
            (Err(thrown), AwaitedOperation::Abort) if thrown.remedy == Remedy::Abort => {
                self.say_thrown(ctx, AwaitedOperation::Abort, &thrown);
                self.enter_phase(ctx, Phase::Again(AwaitedOperation::Abort));
            }
            (Err(thrown), AwaitedOperation::Commit) => {
                self.say_thrown(ctx, operation, &thrown);
                let phase = Phase::Open {
                    records: 0,
                    since: ctx.now,
                    state: Open::Spoiled,
                };
                self.enter_phase(ctx, phase);
            }
            (Err(thrown), operation) => {
                self.say_thrown(ctx, operation, &thrown);
                self.broken(ctx);
            }
        }
    }

    /// `max.block.ms` is over for a call of the loop: the application makes the same call again,
    /// which waits for the same outcome.
    pub(super) fn call_timed_out<C: Dialect>(
        &mut self,
        ctx: &mut Context<'_>,
        client: &mut C,
        place: usize,
        operation: AwaitedOperation,
    ) {
        let thrown = client.transaction_timed_out(operation);
        self.say_thrown(ctx, operation, &thrown);
        let call = call_of(operation);
        self.call_of_loads(ctx, client, place, &call);
    }

    fn say_thrown(
        &self,
        ctx: &mut Context<'_>,
        operation: AwaitedOperation,
        exception: &Arc<Exception>,
    ) {
        let fact = Fact::TransactionCallFailed {
            producer: self.me,
            operation,
            exception: Arc::clone(exception),
        };
        ctx.fact(self.rank, fact);
    }

    /// Nothing more can be done with this client.
    fn broken(&mut self, ctx: &Context<'_>) {
        let Some(of_loads) = &self.transactions else {
            return;
        };
        match of_loads.config.on_fenced {
            OnFenced::Exit => {
                self.enter_phase(ctx, Phase::Broken(SimTime::NEVER));
                self.wish = Wish::Exit;
            }
            OnFenced::Rebuild(after) => {
                self.enter_phase(ctx, Phase::Broken(ctx.now + after));
            }
        }
    }

    /// Another phase: everybody who waited for it looks again. Who pauses goes on pausing.
    fn enter_phase(&mut self, ctx: &Context<'_>, phase: Phase) {
        if let Some(of_loads) = &mut self.transactions {
            of_loads.phase = phase;
        }
        for thread in &mut self.threads {
            if thread.load.is_some() && thread.waiting == Waiting::Working {
                thread.next_at = ctx.now;
            }
        }
    }

    /// A record of a load was taken.
    pub(super) fn count_in_transaction(&mut self) {
        if let Some(of_loads) = &mut self.transactions
            && let Phase::Open { records, .. } = &mut of_loads.phase
        {
            *records += 1;
        }
    }

    /// A record failed, or was not taken: its transaction can only be aborted.
    pub(super) fn spoil_transaction(&mut self, ctx: &Context<'_>) {
        let Some(of_loads) = &mut self.transactions else {
            return;
        };
        if let Phase::Open { state, .. } = &mut of_loads.phase
            && *state == Open::Whole
        {
            *state = Open::Spoiled;
            let phase = of_loads.phase;
            self.enter_phase(ctx, phase);
        }
    }

    /// A thread of a load has its next record at some moment: not after its transaction is due.
    pub(super) fn wake_for_commit(&mut self, ctx: &Context<'_>, place: usize) {
        let Some(of_loads) = &self.transactions else {
            return;
        };
        let due_at = if of_loads.is_due(ctx.now) {
            ctx.now
        } else {
            of_loads.due_at()
        };
        let thread = &mut self.threads[place];
        if thread.load.is_some() && thread.waiting == Waiting::Working {
            thread.next_at = thread.next_at.min(due_at);
        }
    }

    /// The client was replaced: its transactions begin anew.
    pub(in crate::sim::producer) fn renew_transactions(&mut self) {
        if let Some(of_loads) = &mut self.transactions {
            of_loads.phase = Phase::New;
        }
    }
}

/// The call that waits for an operation.
const fn call_of(operation: AwaitedOperation) -> Call {
    match operation {
        AwaitedOperation::InitProducerId => Call::InitTransactions,
        AwaitedOperation::Commit => Call::CommitTransaction,
        _ => Call::AbortTransaction,
    }
}
