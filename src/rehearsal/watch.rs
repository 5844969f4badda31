//! A condition while time passes: since when it holds without a break.
//!
//! Invariant: what a watch knows depends on facts and samples only, not on how a run was sliced.

use std::collections::VecDeque;

use crate::insight::Insight;
use crate::insight::expectation::EventCheck;
use crate::insight::judge;
use crate::insight::metric::Metric;
use crate::insight::sampler::SeriesId;
use crate::sim::config::Config;
use crate::sim::fact::Stamped;
use crate::sim::time::{SimSpan, SimTime};

use super::plan::{Condition, Sustained};

/// Samples that a growth looks back at most: ten minutes of the usual ones.
const LOOKBACK_SAMPLES_MAX: u64 = 6_000;

/// One condition while time passes.
#[derive(Clone, Debug)]
pub(super) struct Watch {
    /// The series that it looks at; `None` for events and alerts, or when no more may be asked for.
    series: Option<SeriesId>,
    /// Values of the figure, oldest first, where its growth counts.
    values: VecDeque<f64>,
    values_max: usize,
    /// How often the event happened.
    events: u64,
    /// Since when it holds.
    since: Option<SimTime>,
    /// The last figure, or the number of events.
    seen: Option<f64>,
}

impl Watch {
    /// Asks for what the condition looks at.
    pub(super) fn new(sustained: &Sustained, insight: &mut Insight, config: &Config) -> Self {
        let (metric, growth): (Option<Metric>, _) = match &sustained.condition {
            Condition::Figure { metric, growth, .. } => (Some(*metric), *growth),
            Condition::Event(_) | Condition::Alert(_) => (None, None),
        };
        let samples = growth.map_or(0, |span| {
            (span.as_nanos() / config.sample.as_nanos().max(1)).clamp(1, LOOKBACK_SAMPLES_MAX)
        });
        Self {
            series: metric.and_then(|metric| insight.ask(metric, SimTime::ZERO).ok()),
            values: VecDeque::new(),
            values_max: samples as usize,
            events: 0,
            since: None,
            seen: None,
        }
    }

    /// Takes a fact.
    pub(super) fn observe(&mut self, sustained: &Sustained, stamped: &Stamped, config: &Config) {
        if let Condition::Event(check) = &sustained.condition
            && judge::is_event(check, &stamped.fact, config)
        {
            self.events += 1;
        }
    }

    /// Looks at `now`. `firing` says which alerts fire.
    pub(super) fn sample(
        &mut self,
        sustained: &Sustained,
        insight: &Insight,
        (now, firing): (SimTime, &[bool]),
    ) {
        let holds = match &sustained.condition {
            Condition::Figure { bound, .. } => {
                self.seen = self.figure(insight);
                self.seen.is_some_and(|value| bound.holds(value))
            }
            Condition::Event(check) => {
                self.seen = Some(self.events as f64);
                is_often_enough(check, self.events)
            }
            Condition::Alert(place) => firing.get(*place).copied().unwrap_or(false),
        };
        self.since = holds.then(|| self.since.unwrap_or(now));
    }

    /// The figure, or its growth.
    fn figure(&mut self, insight: &Insight) -> Option<f64> {
        let value = insight.sampler().value(self.series?)?;
        if self.values_max == 0 {
            return Some(value);
        }
        self.values.push_back(value);
        while self.values_max + 1 < self.values.len() {
            self.values.pop_front();
        }
        self.values.front().map(|first| value - first)
    }

    /// Since when it holds without a break.
    pub(super) fn since(&self) -> Option<SimTime> {
        self.since
    }

    /// Whether it has held for as long as it must, at `now`.
    pub(super) fn holds(&self, hold: SimSpan, now: SimTime) -> bool {
        self.since.is_some_and(|since| hold <= now.since(since))
    }

    /// The last figure, or the number of events.
    pub(super) fn seen(&self) -> Option<f64> {
        self.seen
    }
}

fn is_often_enough(check: &EventCheck, events: u64) -> bool {
    check.at_least <= events && check.at_most.is_none_or(|most| events <= most)
}
