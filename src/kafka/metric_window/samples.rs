//! The ring of samples that every windowed metric is made of.
//!
//! Invariants: as many samples exist as were opened, up to the number that the window keeps;
//! the default of two windows needs no heap.

use super::super::version::KafkaVersion;

/// Samples kept without a heap: enough for the default of two.
const INLINE_SAMPLES: usize = 3;

/// The shape of a windowed metric.
///
/// Source: `MetricConfig`, from `metrics.num.samples` and `metrics.sample.window.ms`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MetricWindow {
    num_samples: u32,
    window_ms: u64,
    staleness: Staleness,
}

/// From when on a sample is too old to count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Staleness {
    /// From its start, and as many samples are kept as configured (before 3.8).
    SinceStart,
    /// From its last event, and one sample more is kept: it overlaps the window's edge.
    SinceLastEvent,
}

impl MetricWindow {
    /// The windows of a client since 3.8; no samples count as one.
    pub fn new(num_samples: u32, window_ms: u64) -> Self {
        let staleness = Staleness::SinceLastEvent;
        Self {
            num_samples: num_samples.max(1),
            window_ms,
            staleness,
        }
    }

    /// The windows of a client of this version.
    pub fn of_version(version: KafkaVersion, num_samples: u32, window_ms: u64) -> Self {
        let mut window = Self::new(num_samples, window_ms);
        if !version.at_least(3, 8) {
            window.staleness = Staleness::SinceStart;
        }
        window
    }

    fn kept_samples(&self) -> usize {
        match self.staleness {
            Staleness::SinceStart => self.num_samples as usize,
            Staleness::SinceLastEvent => (self.num_samples as usize).saturating_add(1),
        }
    }

    fn is_stale(&self, sample: &Sample, now_ms: u64) -> bool {
        let dated_ms = match self.staleness {
            Staleness::SinceStart => sample.start_ms,
            Staleness::SinceLastEvent => sample.last_event_ms,
        };
        let expire_age_ms = self.window_ms.saturating_mul(self.num_samples.into());
        now_ms.saturating_sub(dated_ms) >= expire_age_ms
    }

    /// The divisor of a rate, given how long ago the oldest sample began: as if at least all
    /// windows but one were full, and never 0 (`Rate.windowSize`).
    fn span_ms(&self, elapsed_ms: u64) -> u64 {
        let full_windows = elapsed_ms.checked_div(self.window_ms).unwrap_or(u64::MAX);
        let missing = u64::from(self.num_samples - 1).saturating_sub(full_windows);
        elapsed_ms
            .saturating_add(missing.saturating_mul(self.window_ms))
            .max(1)
    }
}

/// One window's worth of events.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Sample {
    start_ms: u64,
    last_event_ms: u64,
    pub(super) events: u64,
    pub(super) value: f64,
}

/// A ring of samples.
///
/// Source: `SampledStat`.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Samples {
    window: MetricWindow,
    current: usize,
    inline_len: usize,
    inline: [Sample; INLINE_SAMPLES],
    /// In place of `inline` where more samples than that are kept; grows as they are opened.
    spilled: Vec<Sample>,
}

impl Samples {
    pub(super) fn new(window: MetricWindow) -> Self {
        let inline = [Sample::default(); INLINE_SAMPLES];
        Self {
            window,
            current: 0,
            inline_len: 0,
            inline,
            spilled: Vec::new(),
        }
    }

    /// The sample that an event at `now_ms` belongs to, opened at the value `initial` if need be.
    pub(super) fn record(&mut self, now_ms: u64, initial: f64) -> &mut Sample {
        let kept = self.window.kept_samples();
        let complete = match self.opened_samples().get(self.current) {
            Some(sample) => now_ms.saturating_sub(sample.start_ms) >= self.window.window_ms,
            None => true,
        };
        if complete {
            let opened = Sample {
                start_ms: now_ms,
                last_event_ms: now_ms,
                events: 0,
                value: initial,
            };
            self.open(opened, kept);
        }
        let sample = if kept <= INLINE_SAMPLES {
            &mut self.inline[self.current]
        } else {
            &mut self.spilled[self.current]
        };
        sample.events += 1;
        sample.last_event_ms = sample.last_event_ms.max(now_ms);
        sample
    }

    fn open(&mut self, sample: Sample, kept: usize) {
        let opened = self.opened_samples().len();
        self.current = if opened == 0 {
            0
        } else {
            (self.current + 1) % kept
        };
        if kept > INLINE_SAMPLES {
            if self.current < opened {
                self.spilled[self.current] = sample;
            } else {
                self.spilled.push(sample);
            }
        } else {
            self.inline[self.current] = sample;
            self.inline_len = opened.max(self.current + 1);
        }
    }

    fn opened_samples(&self) -> &[Sample] {
        if self.window.kept_samples() <= INLINE_SAMPLES {
            &self.inline[..self.inline_len]
        } else {
            &self.spilled
        }
    }

    /// How many samples exist.
    #[cfg(test)]
    pub(super) fn opened(&self) -> usize {
        self.opened_samples().len()
    }

    /// The samples that count at `now_ms`.
    pub(super) fn live(&self, now_ms: u64) -> impl Iterator<Item = &Sample> {
        self.opened_samples()
            .iter()
            .filter(move |sample| !self.window.is_stale(sample, now_ms))
    }

    /// The sum of the values that count at `now_ms`.
    pub(super) fn sum(&self, now_ms: u64) -> f64 {
        self.live(now_ms).map(|sample| sample.value).sum()
    }

    /// The divisor of a rate at `now_ms`, in ms.
    pub(super) fn span_ms(&self, now_ms: u64) -> f64 {
        let oldest_ms = self.live(now_ms).map(|sample| sample.start_ms).min();
        self.window
            .span_ms(now_ms.saturating_sub(oldest_ms.unwrap_or(now_ms))) as f64
    }
}
