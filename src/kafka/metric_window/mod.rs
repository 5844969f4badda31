//! The sliding windows behind the Java client's own metrics.
//!
//! A windowed metric keeps a few samples; recording fills the current one and opens the next
//! when it is old enough. Reading combines the samples that are not stale.
//!
//! Invariants: only `record` changes anything, so reading, at whatever rate, leaves no trace;
//! time is an argument in milliseconds, and a clock that steps back counts as standing still;
//! a figure that is not a number reads as nothing.
//!
//! Simplification: the client throws stale samples away *when somebody reads*, and dates the
//! emptied ones from that moment. Here stale samples are passed over at reading time and
//! replaced at recording time. The figures differ only after a pause of all windows, by at most
//! one window in the divisor of a rate.

mod samples;

pub use samples::MetricWindow;
use samples::Samples;

/// Nanoseconds in a millisecond.
const NS_PER_MS: f64 = 1e6;
/// Milliseconds in a second.
const MS_PER_SECOND: f64 = 1e3;

/// The mean of the recorded values; nothing while no event counts.
///
/// Source: `Avg`.
#[derive(Clone, Debug, PartialEq)]
pub struct Avg(Samples);

impl Avg {
    /// An average without events.
    pub fn new(window: MetricWindow) -> Self {
        Self(Samples::new(window))
    }

    /// Adds one value.
    pub fn record(&mut self, value: f64, now_ms: u64) {
        self.record_all(value, 1, now_ms);
    }

    /// Adds `events` values that make `sum` together, as if one by one at the same time.
    pub fn record_all(&mut self, sum: f64, events: u64, now_ms: u64) {
        if events > 0 {
            let sample = self.0.record(now_ms, 0.0);
            sample.value += sum;
            sample.events += events - 1;
        }
    }

    /// The figure at `now_ms`.
    pub fn read(&self, now_ms: u64) -> Option<f64> {
        let events: u64 = self.0.live(now_ms).map(|sample| sample.events).sum();
        number(self.0.sum(now_ms) / events as f64)
    }
}

/// The largest recorded value; nothing while no event counts.
///
/// Source: `Max`.
#[derive(Clone, Debug, PartialEq)]
pub struct Max(Samples);

impl Max {
    /// A maximum without events.
    pub fn new(window: MetricWindow) -> Self {
        Self(Samples::new(window))
    }

    /// Adds one value.
    pub fn record(&mut self, value: f64, now_ms: u64) {
        let sample = self.0.record(now_ms, f64::NEG_INFINITY);
        sample.value = sample.value.max(value);
    }

    /// The figure at `now_ms`.
    pub fn read(&self, now_ms: u64) -> Option<f64> {
        number(
            self.0
                .live(now_ms)
                .map(|sample| sample.value)
                .fold(f64::NEG_INFINITY, f64::max),
        )
    }
}

/// What was recorded per second; 0 while no event counts.
///
/// With two windows of 30 s, `t` seconds after the first event (below 30) the divisor is
/// `t + 30`; later it saws between 60 and 90 seconds (between 30 and 60 before 3.8).
///
/// Source: `Rate` over `WindowedSum`.
#[derive(Clone, Debug, PartialEq)]
pub struct Rate(Samples);

impl Rate {
    /// A rate without events.
    pub fn new(window: MetricWindow) -> Self {
        Self(Samples::new(window))
    }

    /// Adds one amount; 1 counts an occurrence.
    pub fn record(&mut self, amount: f64, now_ms: u64) {
        self.0.record(now_ms, 0.0).value += amount;
    }

    /// The figure at `now_ms`, per second.
    pub fn read(&self, now_ms: u64) -> Option<f64> {
        number(self.0.sum(now_ms) / (self.0.span_ms(now_ms) / MS_PER_SECOND))
    }
}

/// The recorded nanoseconds per nanosecond; several threads can push it above 1.
///
/// A wait is recorded when it *ends*, so the figure climbs late.
///
/// Source: `Rate` in nanoseconds, as within `Meter(TimeUnit.NANOSECONDS, …)`.
#[derive(Clone, Debug, PartialEq)]
pub struct Ratio(Samples);

impl Ratio {
    /// A ratio without events.
    pub fn new(window: MetricWindow) -> Self {
        Self(Samples::new(window))
    }

    /// Adds a time that has passed, in ns.
    pub fn record(&mut self, spent_ns: f64, now_ms: u64) {
        self.0.record(now_ms, 0.0).value += spent_ns;
    }

    /// The figure at `now_ms`, without dimension.
    pub fn read(&self, now_ms: u64) -> Option<f64> {
        number(self.0.sum(now_ms) / (self.0.span_ms(now_ms) * NS_PER_MS))
    }
}

/// All that was ever recorded.
///
/// Source: `CumulativeSum`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Total(f64);

impl Total {
    /// A total of nothing.
    pub const fn new() -> Self {
        Self(0.0)
    }

    /// Adds one amount, at whatever time.
    pub fn record(&mut self, amount: f64, _now_ms: u64) {
        self.0 += amount;
    }

    /// The figure, which no time changes.
    pub fn read(&self, _now_ms: u64) -> Option<f64> {
        number(self.0)
    }
}

/// The value that was recorded last; nothing before the first.
///
/// Source: `Value`; also stands for a gauge that its owner sets.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Value(Option<f64>);

impl Value {
    /// No value yet.
    pub const fn new() -> Self {
        Self(None)
    }

    /// Replaces the value.
    pub fn record(&mut self, value: f64, _now_ms: u64) {
        self.0 = Some(value);
    }

    /// The figure, which no time changes.
    pub fn read(&self, _now_ms: u64) -> Option<f64> {
        self.0.and_then(number)
    }
}

/// A rate and the total of the same amounts, as most counters come.
///
/// Source: `Meter`.
#[derive(Clone, Debug, PartialEq)]
pub struct Meter {
    /// Per second.
    pub rate: Rate,
    /// Since the start.
    pub total: Total,
}

impl Meter {
    /// A meter without events.
    pub fn new(window: MetricWindow) -> Self {
        Self {
            rate: Rate::new(window),
            total: Total::new(),
        }
    }

    /// Adds one amount to both.
    pub fn record(&mut self, amount: f64, now_ms: u64) {
        self.rate.record(amount, now_ms);
        self.total.record(amount, now_ms);
    }
}

fn number(figure: f64) -> Option<f64> {
    figure.is_finite().then_some(figure)
}

#[cfg(test)]
mod tests {
    use super::super::version::KafkaVersion;
    use super::*;

    const DEFAULT_MS: u64 = 30_000;

    fn window() -> MetricWindow {
        MetricWindow::new(2, DEFAULT_MS)
    }

    fn before_3_8() -> MetricWindow {
        MetricWindow::of_version(KafkaVersion::new(3, 7, 0), 2, DEFAULT_MS)
    }

    /// Records 1 every second from 0 on, up to and without `until_s`, and reads there.
    fn steady_rate(window: MetricWindow, until_s: u64) -> f64 {
        let mut rate = Rate::new(window);
        (0..until_s).for_each(|second| rate.record(1.0, second * 1000));
        rate.read(until_s * 1000).unwrap()
    }

    #[test]
    fn nothing_recorded_means_no_average_no_maximum_and_a_rate_of_zero() {
        assert_eq!(Avg::new(window()).read(5000), None);
        assert_eq!(Max::new(window()).read(5000), None);
        assert_eq!(Rate::new(window()).read(5000), Some(0.0));
        assert_eq!(Value::new().read(5000), None);
        assert_eq!(Total::new().read(5000), Some(0.0));
    }

    #[test]
    fn averages_and_maxima_span_all_kept_samples() {
        let (mut avg, mut max) = (Avg::new(window()), Max::new(window()));
        for (value, now_ms) in [(10.0, 0), (2.0, 31_000), (3.0, 62_000)] {
            avg.record(value, now_ms);
            max.record(value, now_ms);
        }
        assert_eq!(avg.read(59_999), Some(5.0));
        // The first sample had its last event at 0, which is two windows ago.
        assert_eq!((avg.read(62_000), max.read(62_000)), (Some(2.5), Some(3.0)));
    }

    #[test]
    fn in_the_first_window_a_rate_divides_by_thirty_seconds_more_than_have_passed() {
        let mut rate = Rate::new(window());
        rate.record(100.0, 1000);
        assert_eq!(rate.read(1000), Some(100.0 / 30.0));
        assert_eq!(rate.read(11_000), Some(100.0 / 40.0));
    }

    #[test]
    fn a_steady_rate_is_right_because_its_divisor_saws_with_its_samples() {
        for until_s in [60, 89, 90, 91, 119, 120, 600] {
            assert!(
                (steady_rate(window(), until_s) - 1.0).abs() < 0.02,
                "{until_s}"
            );
        }
    }

    #[test]
    fn since_3_8_a_sample_counts_until_its_last_event_is_two_windows_old() {
        let (mut new, mut old) = (Rate::new(window()), Rate::new(before_3_8()));
        for now_ms in [0, 29_000] {
            new.record(45.0, now_ms);
            old.record(45.0, now_ms);
        }
        assert_eq!(old.read(59_999), new.read(59_999));
        assert_eq!((old.read(60_000), new.read(60_000)), (Some(0.0), Some(1.5)));
        assert_eq!(new.read(88_999), Some(90.0 / 88.999));
        assert_eq!(new.read(89_000), Some(0.0));
    }

    #[test]
    fn a_wait_that_ends_after_a_minute_jumps_above_one() {
        let mut ratio = Ratio::new(window());
        assert_eq!(ratio.read(60_000), Some(0.0));
        ratio.record(60e9, 60_000);
        assert_eq!(ratio.read(60_000), Some(2.0));
        assert_eq!(ratio.read(89_999), Some(60.0 / 59.999));
        // One window is full now, so none is made up any more.
        assert_eq!(ratio.read(90_000), Some(2.0));
        assert_eq!(ratio.read(119_999), Some(60.0 / 59.999));
        assert_eq!(ratio.read(120_000), Some(0.0));
    }

    #[test]
    fn reading_at_any_rate_leaves_no_trace() {
        let mut read_often = Rate::new(window());
        let mut read_never = Rate::new(window());
        for now_ms in (0..400_000)
            .step_by(7000)
            .filter(|ms| !(90_000..250_000).contains(ms))
        {
            (now_ms..now_ms + 7000).step_by(100).for_each(|ms| {
                read_often.read(ms);
            });
            read_often.record(1.0, now_ms);
            read_never.record(1.0, now_ms);
        }
        assert_eq!(read_often, read_never);
    }

    #[test]
    fn many_samples_work_like_few() {
        let mut rate = Rate::new(MetricWindow::new(10, 1000));
        (0..300).for_each(|tenth| rate.record(1.0, tenth * 100));
        assert!((rate.read(30_000).unwrap() - 10.0).abs() < 0.1);
        assert!(rate.0.opened() <= 11);
    }

    #[test]
    fn odd_settings_and_clocks_do_no_harm() {
        let mut rate = Rate::new(MetricWindow::new(0, 0));
        rate.record(1.0, u64::MAX);
        rate.record(1.0, 0);
        assert_eq!(rate.read(0), Some(0.0));
        let mut avg = Avg::new(MetricWindow::new(u32::MAX, u64::MAX));
        avg.record(f64::NAN, 5);
        assert_eq!(avg.read(3), None);
    }

    #[test]
    fn a_meter_keeps_rate_and_total_of_the_same_amounts() {
        let mut meter = Meter::new(window());
        meter.record(15.0, 0);
        meter.record(15.0, 200_000);
        assert_eq!(meter.total.read(200_000), Some(30.0));
        assert_eq!(meter.rate.read(200_000), Some(0.5));
    }
}
