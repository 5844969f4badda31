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
struct Sample {
    start_ms: u64,
    last_event_ms: u64,
    events: u64,
    sum: f64,
    max: f64,
}

/// A ring of samples.
///
/// Source: `SampledStat`.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Samples {
    window: MetricWindow,
    current: u32,
    inline_len: u32,
    inline: [Sample; INLINE_SAMPLES],
    /// In place of `inline` where more samples than that are kept; grows as they are opened. Boxed,
    /// because a client has dozens of these and hardly any spills.
    #[expect(
        clippy::box_collection,
        reason = "eight bytes in every sensor instead of 24"
    )]
    spilled: Option<Box<Vec<Sample>>>,
}

impl Samples {
    pub(super) fn new(window: MetricWindow) -> Self {
        let inline = [Sample::default(); INLINE_SAMPLES];
        Self {
            window,
            current: 0,
            inline_len: 0,
            inline,
            spilled: None,
        }
    }

    /// Takes `events` that happened at `now_ms`: their sum and the largest of them.
    #[inline]
    pub(super) fn record(&mut self, now_ms: u64, events: u64, sum: f64, max: f64) {
        let complete = match self.opened_samples().get(self.current as usize) {
            Some(sample) => now_ms.saturating_sub(sample.start_ms) >= self.window.window_ms,
            None => true,
        };
        if complete {
            self.open(now_ms);
        }
        let current = self.current as usize;
        let sample = match &mut self.spilled {
            Some(spilled) => &mut spilled[current],
            None => &mut self.inline[current],
        };
        sample.events += events;
        sample.sum += sum;
        sample.max = sample.max.max(max);
        sample.last_event_ms = sample.last_event_ms.max(now_ms);
    }

    #[cold]
    fn open(&mut self, now_ms: u64) {
        let sample = Sample {
            start_ms: now_ms,
            last_event_ms: now_ms,
            events: 0,
            sum: 0.0,
            max: f64::NEG_INFINITY,
        };
        let kept = self.window.kept_samples();
        let opened = self.opened_samples().len();
        let place = if opened == 0 {
            0
        } else {
            (self.current as usize + 1) % kept
        };
        self.current = place as u32;
        if kept <= INLINE_SAMPLES {
            self.inline[place] = sample;
            self.inline_len = opened.max(place + 1) as u32;
            return;
        }
        let spilled = self.spilled.get_or_insert_default();
        match spilled.get_mut(place) {
            Some(oldest) => *oldest = sample,
            None => spilled.push(sample),
        }
    }

    fn opened_samples(&self) -> &[Sample] {
        match &self.spilled {
            Some(spilled) => spilled,
            None => &self.inline[..self.inline_len as usize],
        }
    }

    /// How many samples exist.
    #[cfg(test)]
    pub(super) fn opened(&self) -> usize {
        self.opened_samples().len()
    }

    /// The samples that count at `now_ms`.
    fn live(&self, now_ms: u64) -> impl Iterator<Item = &Sample> {
        self.opened_samples()
            .iter()
            .filter(move |sample| !self.window.is_stale(sample, now_ms))
    }

    /// The sum of the values that count at `now_ms`.
    pub(super) fn sum(&self, now_ms: u64) -> f64 {
        self.live(now_ms).map(|sample| sample.sum).sum()
    }

    /// How many events count at `now_ms`.
    pub(super) fn events(&self, now_ms: u64) -> u64 {
        self.live(now_ms).map(|sample| sample.events).sum()
    }

    /// The largest value that counts at `now_ms`; minus infinity for none.
    pub(super) fn max(&self, now_ms: u64) -> f64 {
        let values = self.live(now_ms).map(|sample| sample.max);
        values.fold(f64::NEG_INFINITY, f64::max)
    }

    /// The divisor of a rate at `now_ms`, in ms.
    pub(super) fn span_ms(&self, now_ms: u64) -> f64 {
        let oldest_ms = self.live(now_ms).map(|sample| sample.start_ms).min();
        self.window
            .span_ms(now_ms.saturating_sub(oldest_ms.unwrap_or(now_ms))) as f64
    }
}
