//! Expectations about what happened, how often and when first.

use super::{Decision, Outcome, if_over};
use crate::insight::event_log::producer_of;
use crate::insight::expectation::{EventCheck, EventKind};
use crate::insight::kind::kind_name;
use crate::sim::config::{Call, Config};
use crate::sim::fact::{Exception, Fact, Stamped};
use crate::sim::time::SimTime;

/// What an expectation about events has seen.
#[derive(Clone, Debug, Default)]
pub(super) struct EventState {
    count: u64,
    first: Option<SimTime>,
}

impl EventState {
    /// Takes one fact; a decision when it decides.
    pub(super) fn observe(
        &mut self,
        check: &EventCheck,
        stamped: &Stamped,
        config: &Config,
    ) -> Option<Decision> {
        if !is_event(check, &stamped.fact, config) {
            return None;
        }
        self.count += 1;
        let is_first = self.first.is_none();
        let first = *self.first.get_or_insert(stamped.at);
        let is_late_or_early = check.first_at.is_some_and(|(wanted, within)| {
            within < wanted.since(first) || within < first.since(wanted)
        });
        if is_first && is_late_or_early {
            return Some(self.decision(Outcome::Failed));
        }
        if check.at_most.is_some_and(|most| most < self.count) {
            return Some(self.decision(Outcome::Failed));
        }
        let enough = check.at_least <= self.count && check.at_most.is_none();
        enough.then(|| self.decision(Outcome::Held))
    }

    /// Time has passed up to `now`; a decision when that decides.
    pub(super) fn passed(&self, check: &EventCheck, now: SimTime) -> Option<Decision> {
        let (wanted, within) = check.first_at?;
        let is_late = self.first.is_none() && wanted + within < now;
        is_late.then(|| self.decision(Outcome::Failed))
    }

    /// The run goes no further.
    pub(super) fn finish(&self, check: &EventCheck, is_over: bool) -> Decision {
        let is_missing = check.first_at.is_some() && self.first.is_none();
        let held = check.at_least <= self.count && !is_missing;
        if_over(
            self.decision(if held { Outcome::Held } else { Outcome::Failed }),
            is_over,
        )
    }

    /// What was seen so far, in words.
    pub(super) fn observed(&self) -> String {
        match (self.count, self.first) {
            (0, _) | (_, None) => "never".to_owned(),
            (1, Some(first)) => format!("once, at {first}"),
            (count, Some(first)) => format!("{count} times, first at {first}"),
        }
    }

    fn decision(&self, outcome: Outcome) -> Decision {
        Decision {
            outcome,
            observed: self.observed(),
        }
    }
}

/// Whether `fact` is what `check` counts.
pub fn is_event(check: &EventCheck, fact: &Fact, config: &Config) -> bool {
    if check.producer.is_some() && check.producer != producer_of(fact) {
        return false;
    }
    match &check.event {
        EventKind::Fact(name) => kind_name(fact) == name,
        EventKind::Exception(class) => {
            exception_of(fact, config).is_some_and(|exception| exception.class.is_a(*class))
        }
    }
}

/// The exception that the application received by this fact. A refused `send()` of a script is
/// told twice, as a refusal and as its call's return: the second does not count.
fn exception_of<'a>(fact: &'a Fact, config: &Config) -> Option<&'a Exception> {
    match fact {
        Fact::RecordRefused { exception, .. }
        | Fact::BatchFailed { exception, .. }
        | Fact::ConsumerFailed { exception, .. }
        | Fact::UnassignedFailed { exception, .. }
        | Fact::TransactionCallFailed { exception, .. }
        | Fact::TransactionFailed { exception, .. }
        | Fact::ClientFailed { exception, .. } => Some(exception),
        Fact::CallReturned {
            producer,
            call,
            exception: Some(exception),
        } => {
            let script = config
                .producers
                .get(producer.index())
                .map(|producer| &producer.script);
            let step = script.and_then(|script| script.get(*call as usize));
            let is_send = step.is_some_and(|step| matches!(step.call, Call::Produce(_)));
            (!is_send).then_some(exception)
        }
        _ => None,
    }
}
