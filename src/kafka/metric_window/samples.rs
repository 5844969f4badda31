//! The ring of samples that every windowed metric is made of.
//!
//! Invariants: as many samples exist as were opened, up to the number that the window keeps;
//! the first needs no heap.

use super::super::version::KafkaVersion;

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

impl Sample {
    fn empty(now_ms: u64) -> Self {
        Self {
            start_ms: now_ms,
            last_event_ms: now_ms,
            events: 0,
            sum: 0.0,
            max: f64::NEG_INFINITY,
        }
    }
}

/// The sample that takes events, and the sums since the start: all that recording touches. A client
/// has dozens of these and records with most of them at every request, so each is one cache line.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(align(64))]
struct Current {
    sample: Sample,
    /// From when on another sample is opened.
    ends_ms: u64,
    total: f64,
    event_total: u64,
}

const _: () = assert!(
    size_of::<Current>() == 64,
    "recording touches one cache line"
);

/// A ring of samples.
///
/// Source: `SampledStat`.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Samples {
    current: Current,
    /// The place of the current sample in the ring; none before the first event.
    place: Option<u32>,
    window: MetricWindow,
    /// The other samples, by their places; what stands at the current one's place is out of date.
    others: Vec<Sample>,
}

impl Samples {
    pub(super) fn new(window: MetricWindow) -> Self {
        Self {
            current: Current {
                sample: Sample::default(),
                ends_ms: 0,
                total: 0.0,
                event_total: 0,
            },
            place: None,
            window,
            others: Vec::new(),
        }
    }

    /// Takes `events` that happened at `now_ms`: their sum and the largest of them. A call of its
    /// own, because a client records in so many places that copies of it would be many, too.
    #[inline(never)]
    pub(super) fn record(&mut self, now_ms: u64, events: u64, sum: f64, max: f64) {
        if now_ms >= self.current.ends_ms {
            self.open(now_ms);
        }
        let current = &mut self.current;
        current.total += sum;
        current.event_total += events;
        let sample = &mut current.sample;
        sample.events += events;
        sample.sum += sum;
        sample.max = sample.max.max(max);
        sample.last_event_ms = sample.last_event_ms.max(now_ms);
    }

    #[cold]
    fn open(&mut self, now_ms: u64) {
        let next = match self.place {
            None => 0,
            Some(place) => {
                match self.others.get_mut(place as usize) {
                    Some(outdated) => *outdated = self.current.sample,
                    None => self.others.push(self.current.sample),
                }
                (place as usize + 1) % self.window.kept_samples()
            }
        };
        self.place = Some(next as u32);
        self.restart(now_ms);
    }

    /// Empties samples that are stale, and dates them from now on
    /// (`SampledStat.purgeObsoleteSamples`).
    pub(super) fn purge(&mut self, now_ms: u64) {
        let Some(place) = self.place else { return };
        let others = self.others.iter_mut().enumerate();
        for (_, sample) in others.filter(|(at, _)| *at != place as usize) {
            if self.window.is_stale(sample, now_ms) {
                *sample = Sample::empty(now_ms);
            }
        }
        if self.window.is_stale(&self.current.sample, now_ms) {
            self.restart(now_ms);
        }
    }

    /// Begins the first sample, if there is none.
    pub(super) fn begin(&mut self, now_ms: u64) {
        if self.place.is_none() {
            self.open(now_ms);
        }
    }

    /// The current sample is empty and begins now.
    fn restart(&mut self, now_ms: u64) {
        self.current.sample = Sample::empty(now_ms);
        // Without length a window ends at once, whatever the clock does.
        self.current.ends_ms = match self.window.window_ms {
            0 => 0,
            window_ms => now_ms.saturating_add(window_ms),
        };
    }

    /// How many samples exist.
    #[cfg(test)]
    pub(super) fn opened(&self) -> usize {
        self.opened_samples().count()
    }

    /// All samples in order of their places.
    fn opened_samples(&self) -> impl Iterator<Item = &Sample> {
        let place = self.place.map_or(usize::MAX, |place| place as usize);
        let before = self.others.iter().take(place);
        let current = self.place.map(|_| &self.current.sample);
        let after = self.others.iter().skip(place.saturating_add(1));
        before.chain(current).chain(after)
    }

    /// The samples that count at `now_ms`.
    fn live(&self, now_ms: u64) -> impl Iterator<Item = &Sample> {
        self.opened_samples()
            .filter(move |sample| !self.window.is_stale(sample, now_ms))
    }

    /// The sum of all values since the start.
    pub(super) fn total(&self) -> f64 {
        self.current.total
    }

    /// How many events there were since the start.
    pub(super) fn event_total(&self) -> u64 {
        self.current.event_total
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
