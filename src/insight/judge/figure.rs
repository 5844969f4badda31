//! Expectations about sampled figures.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::{Decision, Outcome};
use crate::insight::expectation::{Bound, MetricCheck, Reduce, Window};
use crate::insight::path;
use crate::insight::sampler::{Sampler, SeriesId};
use crate::insight::series::Bucket;
use crate::sim::config::Config;
use crate::sim::time::{SimSpan, SimTime};

/// Values that a 99th percentile keeps at most: exact for windows of 100 times as many samples.
const TOP_VALUES_MAX: u64 = 1_000_000;

/// What an expectation about a figure has seen.
#[derive(Clone, Debug)]
pub(super) struct FigureState {
    series: SeriesId,
    sample: SimSpan,
    seen: Bucket,
    /// The largest values, for the 99th percentile.
    top: BinaryHeap<Reverse<Ordered>>,
    top_max: usize,
}

/// A figure that can be ordered.
#[derive(Clone, Copy, Debug)]
struct Ordered(f64);

impl PartialEq for Ordered {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Ordered {}

impl PartialOrd for Ordered {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Ordered {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl FigureState {
    /// Asks for the series; in words why that is impossible.
    pub(super) fn open(
        check: &MetricCheck,
        sampler: &mut Sampler,
        config: &Config,
    ) -> Result<Self, String> {
        let metric = path::parse(&check.path, config).map_err(|problem| problem.to_string())?;
        let series = sampler
            .ask(metric, SimTime::ZERO, config)
            .map_err(|_too_many| "too many figures are asked for".to_owned())?;
        let top_max = match check.window {
            Window::Reduced {
                from,
                to,
                reduce: Reduce::P99,
            } => {
                let samples = to.since(from).as_nanos() / config.sample.as_nanos().max(1) + 1;
                (samples / 100 + 1).min(TOP_VALUES_MAX)
            }
            _ => 0,
        };
        Ok(Self {
            series,
            sample: config.sample,
            seen: Bucket::EMPTY,
            top: BinaryHeap::new(),
            top_max: top_max as usize,
        })
    }

    /// Takes the sample of `now`; a decision when it decides.
    pub(super) fn sample(
        &mut self,
        check: &MetricCheck,
        sampler: &Sampler,
        now: SimTime,
    ) -> Option<Decision> {
        let next = now + self.sample;
        match check.window {
            Window::At(at) => {
                if next <= at {
                    return None;
                }
                let value = sampler.value(self.series);
                Some(decision(check.bound, value, &format!("at {at}")))
            }
            Window::Reduced { from, to, reduce } => {
                if from <= now && now <= to {
                    self.take(sampler.value(self.series));
                }
                if to < next {
                    return Some(self.decided(check));
                }
                self.decided_early(check.bound, reduce)
            }
        }
    }

    /// The run goes no further, and the window is still open.
    pub(super) fn finish(&self, check: &MetricCheck) -> Decision {
        let mut decision = self.decided(check);
        decision.outcome = Outcome::Inconclusive;
        decision.observed = format!("the run ended first; so far: {}", decision.observed);
        decision
    }

    fn take(&mut self, value: Option<f64>) {
        self.seen.push(value);
        if let Some(value) = value
            && 0 < self.top_max
        {
            self.top.push(Reverse(Ordered(value)));
            if self.top_max < self.top.len() {
                self.top.pop();
            }
        }
    }

    /// The samples so far, reduced.
    fn reduced(&self, reduce: Reduce) -> Option<f64> {
        let seen = (!self.seen.is_empty()).then_some(self.seen)?;
        match reduce {
            Reduce::Min => Some(seen.min),
            Reduce::Max => Some(seen.max),
            Reduce::Mean => seen.mean(),
            Reduce::Last => Some(seen.last),
            Reduce::Sum => Some(seen.sum),
            Reduce::P99 => {
                // Nearest rank: the smallest value that 99 % of the samples do not exceed.
                let from_top = (seen.count / 100) as usize;
                let mut top: Vec<f64> = self.top.iter().map(|value| value.0.0).collect();
                top.sort_by(f64::total_cmp);
                top.iter().rev().nth(from_top).or(top.first()).copied()
            }
        }
    }

    fn decided(&self, check: &MetricCheck) -> Decision {
        match check.window {
            Window::At(at) => decision(check.bound, None, &format!("at {at}")),
            Window::Reduced { from, to, reduce } => {
                let what = format!("as {} from {from} to {to}", reduce_word(reduce));
                decision(check.bound, self.reduced(reduce), &what)
            }
        }
    }

    /// What no later sample can change.
    fn decided_early(&self, bound: Bound, reduce: Reduce) -> Option<Decision> {
        let value = self.reduced(reduce)?;
        let outcome = match (reduce, bound) {
            (Reduce::Max, Bound::Below(limit)) if limit <= value => Outcome::Failed,
            (Reduce::Max, Bound::Between(_, limit)) if limit < value => Outcome::Failed,
            (Reduce::Min, Bound::Above(limit)) if value <= limit => Outcome::Failed,
            (Reduce::Min, Bound::Between(limit, _)) if value < limit => Outcome::Failed,
            (Reduce::Max, Bound::Above(limit)) if limit < value => Outcome::Held,
            (Reduce::Min, Bound::Below(limit)) if value < limit => Outcome::Held,
            _ => return None,
        };
        let observed = format!("{} as {} so far", number(value), reduce_word(reduce));
        Some(Decision { outcome, observed })
    }
}

fn decision(bound: Bound, value: Option<f64>, what: &str) -> Decision {
    let Some(value) = value else {
        return Decision {
            outcome: Outcome::Failed,
            observed: format!("no value {what}"),
        };
    };
    let outcome = if bound.holds(value) {
        Outcome::Held
    } else {
        Outcome::Failed
    };
    Decision {
        outcome,
        observed: format!("{} {what}", number(value)),
    }
}

const fn reduce_word(reduce: Reduce) -> &'static str {
    match reduce {
        Reduce::Min => "minimum",
        Reduce::Max => "maximum",
        Reduce::Mean => "mean",
        Reduce::Last => "last sample",
        Reduce::P99 => "99th percentile",
        Reduce::Sum => "sum",
    }
}

/// A figure for people: whole numbers whole, others with four decimals at most.
pub(super) fn number(value: f64) -> String {
    if value.fract() == 0.0 && value.abs() < 1e15 {
        return format!("{value:.0}");
    }
    let text = format!("{value:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_means_to_within_rounding_of_the_last_digit_written() {
        assert!(Bound::Equals(0.4).holds(0.449));
        assert!(!Bound::Equals(0.4).holds(0.451));
        assert!(Bound::Equals(30_720.0).holds(30_720.0));
        assert!(!Bound::Equals(30_720.0).holds(30_721.0));
    }

    #[test]
    fn below_and_above_are_strict_and_between_has_both_ends() {
        assert!(!Bound::Below(1.0).holds(1.0) && !Bound::Above(1.0).holds(1.0));
        let both = Bound::Between(1.0, 2.0);
        assert!(both.holds(1.0) && both.holds(2.0));
    }

    #[test]
    fn numbers_read_without_noise() {
        let texts = [16_384.0, 0.4, 0.123_456, -0.0, 1e18].map(number);
        assert_eq!(
            texts,
            ["16384", "0.4", "0.1235", "-0", "1000000000000000000"]
        );
    }
}
