//! The sliding windows behind the Java client's own metrics.
//!
//! A windowed metric keeps a few samples; recording fills the current one and opens the next
//! when it is old enough. Reading combines the samples that are not stale.
//!
//! Invariants: only `record` and `look` change anything, so reading, at whatever rate, leaves no
//! trace;
//! time is an argument in milliseconds, and a clock that steps back counts as standing still;
//! a figure that is not a number reads as nothing.
//!
//! The client throws stale samples away *when somebody reads*, and dates the emptied ones from
//! that moment. Here [`Sensor::look`] does so, for those who read within the run. For all others
//! stale samples are passed over at reading time and replaced at recording time: the figures
//! differ only after a pause of all windows, by at most one window in the divisor of a rate.
//! Simplification: figures of one sensor begin their first window together, a mean's with the
//! rate's.

mod samples;

pub use samples::MetricWindow;
use samples::Samples;

/// Nanoseconds in a millisecond.
const NS_PER_MS: f64 = 1e6;
/// Milliseconds in a second.
const MS_PER_SECOND: f64 = 1e3;

/// What one sensor of the client knows of the values that were recorded with it. Its figures share
/// their windows, because every one of them is told every value.
///
/// Source: `Sensor` with `Avg`, `Max`, `Rate` and `CumulativeSum`, or any of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Sensor {
    samples: Samples,
}

/// Values that are recorded at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Group {
    /// How many.
    pub events: u64,
    /// Their sum.
    pub sum: f64,
    /// The largest of them; none is negative.
    pub max: f64,
}

/// What is read of a sensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Figures {
    /// Means and maxima.
    OfValues,
    /// A rate, perhaps with others beside it.
    WithRate,
}

impl Group {
    /// Takes one more value.
    pub fn add(&mut self, value: f64) {
        self.events += 1;
        self.sum += value;
        self.max = self.max.max(value);
    }
}

impl Sensor {
    /// A sensor that nothing was recorded with.
    pub fn new(window: MetricWindow) -> Self {
        Self {
            samples: Samples::new(window),
        }
    }

    /// Records one value.
    pub fn record(&mut self, value: f64, now_ms: u64) {
        self.samples.record(now_ms, 1, value, value);
    }

    /// Records several values, as if one by one at the same time.
    pub fn record_group(&mut self, group: &Group, now_ms: u64) {
        if group.events > 0 {
            self.samples
                .record(now_ms, group.events, group.sum, group.max);
        }
    }

    /// Somebody in the run reads the figures: what is stale is thrown away and dated from now on,
    /// and a rate that nothing was recorded with begins its first window.
    ///
    /// Source: `SampledStat.measure`, `Rate.windowSize`.
    pub fn look(&mut self, now_ms: u64, figures: Figures) {
        self.samples.purge(now_ms);
        if figures == Figures::WithRate {
            self.samples.begin(now_ms);
        }
    }

    /// The mean of the values; nothing while none counts.
    ///
    /// Source: `Avg`.
    pub fn avg(&self, now_ms: u64) -> Option<f64> {
        number(self.samples.sum(now_ms) / self.samples.events(now_ms) as f64)
    }

    /// The largest value; nothing while none counts.
    ///
    /// Source: `Max`.
    pub fn max(&self, now_ms: u64) -> Option<f64> {
        number(self.samples.max(now_ms))
    }

    /// The sum of the values per second; 0 while none counts.
    ///
    /// With two windows of 30 s, `t` seconds after the first event (below 30) the divisor is
    /// `t + 30`; later it saws between 60 and 90 seconds (between 30 and 60 before 3.8).
    ///
    /// Source: `Rate` over `WindowedSum`.
    pub fn rate(&self, now_ms: u64) -> Option<f64> {
        number(self.samples.sum(now_ms) / (self.samples.span_ms(now_ms) / MS_PER_SECOND))
    }

    /// The time that a rate is divided by, in milliseconds.
    ///
    /// Source: `Rate.windowSize`.
    pub fn span_ms(&self, now_ms: u64) -> f64 {
        self.samples.span_ms(now_ms)
    }

    /// How many values per second; 0 while none counts.
    ///
    /// Source: `Rate` over `WindowedCount`.
    pub fn event_rate(&self, now_ms: u64) -> Option<f64> {
        let events = self.samples.events(now_ms) as f64;
        number(events / (self.samples.span_ms(now_ms) / MS_PER_SECOND))
    }

    /// The recorded nanoseconds per nanosecond; several threads can push it above 1.
    ///
    /// A wait is recorded when it *ends*, so the figure climbs late.
    ///
    /// Source: `Rate` in nanoseconds, as within `Meter(TimeUnit.NANOSECONDS, …)`.
    pub fn ratio_of_ns(&self, now_ms: u64) -> Option<f64> {
        number(self.samples.sum(now_ms) / (self.samples.span_ms(now_ms) * NS_PER_MS))
    }

    /// The sum of all values since the start.
    ///
    /// Source: `CumulativeSum`.
    pub fn total(&self) -> Option<f64> {
        number(self.samples.total())
    }

    /// How many values there were since the start.
    ///
    /// Source: `CumulativeCount`.
    pub fn event_total(&self) -> Option<f64> {
        number(self.samples.event_total() as f64)
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

    fn recorded(window: MetricWindow, values: &[(f64, u64)]) -> Sensor {
        let mut sensor = Sensor::new(window);
        for &(value, now_ms) in values {
            sensor.record(value, now_ms);
        }
        sensor
    }

    /// The rate of 1 every second from 0 on, up to and without `until_s`, read there.
    fn steady_rate(window: MetricWindow, until_s: u64) -> f64 {
        let values: Vec<_> = (0..until_s).map(|second| (1.0, second * 1000)).collect();
        recorded(window, &values).rate(until_s * 1000).unwrap()
    }

    #[test]
    fn nothing_recorded_means_no_average_no_maximum_and_a_rate_of_zero() {
        let sensor = Sensor::new(window());
        assert_eq!((sensor.avg(5000), sensor.max(5000)), (None, None));
        assert_eq!(sensor.rate(5000), Some(0.0));
        assert_eq!(sensor.event_rate(5000), Some(0.0));
        assert_eq!(
            (sensor.total(), sensor.event_total()),
            (Some(0.0), Some(0.0))
        );
    }

    #[test]
    fn averages_and_maxima_span_all_kept_samples() {
        let sensor = recorded(window(), &[(10.0, 0), (2.0, 31_000), (3.0, 62_000)]);
        assert_eq!(sensor.avg(59_999), Some(5.0));
        // The first sample had its last event at 0, which is two windows ago.
        assert_eq!(
            (sensor.avg(62_000), sensor.max(62_000)),
            (Some(2.5), Some(3.0))
        );
    }

    #[test]
    fn a_group_counts_as_its_values_one_by_one() {
        let mut group = Group::default();
        let mut sensor = Sensor::new(window());
        sensor.record_group(&group, 1000);
        for value in [2.0, 7.0, 3.0] {
            group.add(value);
        }
        sensor.record_group(&group, 1000);
        let singly = recorded(window(), &[(2.0, 1000), (7.0, 1000), (3.0, 1000)]);
        assert_eq!(sensor, singly);
        assert_eq!((sensor.avg(1000), sensor.max(1000)), (Some(4.0), Some(7.0)));
    }

    #[test]
    fn in_the_first_window_a_rate_divides_by_thirty_seconds_more_than_have_passed() {
        let sensor = recorded(window(), &[(100.0, 1000)]);
        assert_eq!(sensor.rate(1000), Some(100.0 / 30.0));
        assert_eq!(sensor.rate(11_000), Some(100.0 / 40.0));
        assert_eq!(sensor.event_rate(11_000), Some(1.0 / 40.0));
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
        let values = [(45.0, 0), (45.0, 29_000)];
        let (new, old) = (recorded(window(), &values), recorded(before_3_8(), &values));
        assert_eq!(old.rate(59_999), new.rate(59_999));
        assert_eq!((old.rate(60_000), new.rate(60_000)), (Some(0.0), Some(1.5)));
        assert_eq!(new.rate(88_999), Some(90.0 / 88.999));
        assert_eq!(new.rate(89_000), Some(0.0));
    }

    #[test]
    fn a_wait_that_ends_after_a_minute_jumps_above_one() {
        let mut waits = Sensor::new(window());
        assert_eq!(waits.ratio_of_ns(60_000), Some(0.0));
        waits.record(60e9, 60_000);
        assert_eq!(waits.ratio_of_ns(60_000), Some(2.0));
        assert_eq!(waits.ratio_of_ns(89_999), Some(60.0 / 59.999));
        // One window is full now, so none is made up any more.
        assert_eq!(waits.ratio_of_ns(90_000), Some(2.0));
        assert_eq!(waits.ratio_of_ns(119_999), Some(60.0 / 59.999));
        assert_eq!(waits.ratio_of_ns(120_000), Some(0.0));
    }

    #[test]
    fn reading_at_any_rate_leaves_no_trace() {
        let mut read_often = Sensor::new(window());
        let mut read_never = Sensor::new(window());
        for now_ms in (0..400_000)
            .step_by(7000)
            .filter(|ms| !(90_000..250_000).contains(ms))
        {
            (now_ms..now_ms + 7000).step_by(100).for_each(|ms| {
                read_often.rate(ms);
            });
            read_often.record(1.0, now_ms);
            read_never.record(1.0, now_ms);
        }
        assert_eq!(read_often, read_never);
    }

    #[test]
    fn a_first_look_begins_the_window_of_a_rate_and_not_of_a_mean() {
        let (mut rate, mut mean) = (Sensor::new(window()), Sensor::new(window()));
        rate.look(1000, Figures::WithRate);
        mean.look(1000, Figures::OfValues);
        for sensor in [&mut rate, &mut mean] {
            sensor.record(60.0, 11_000);
        }
        assert_eq!(rate.rate(16_000), Some(60.0 / 45.0));
        assert_eq!(mean.rate(16_000), Some(60.0 / 35.0));
    }

    #[test]
    fn a_look_after_a_pause_dates_all_windows_anew() {
        let mut sensor = recorded(window(), &[(60.0, 0)]);
        sensor.look(70_000, Figures::WithRate);
        sensor.record(60.0, 80_000);
        assert_eq!(sensor.rate(90_000), Some(60.0 / 50.0));
        let unseen = recorded(window(), &[(60.0, 0), (60.0, 80_000)]);
        assert_eq!(unseen.rate(90_000), Some(60.0 / 40.0));
    }

    #[test]
    fn many_samples_work_like_few() {
        let values: Vec<_> = (0..300).map(|tenth| (1.0, tenth * 100)).collect();
        let sensor = recorded(MetricWindow::new(10, 1000), &values);
        assert!((sensor.rate(30_000).unwrap() - 10.0).abs() < 0.1);
        assert!(sensor.samples.opened() <= 11);
    }

    #[test]
    fn odd_settings_and_clocks_do_no_harm() {
        let sensor = recorded(MetricWindow::new(0, 0), &[(1.0, u64::MAX), (1.0, 0)]);
        assert_eq!(sensor.rate(0), Some(0.0));
        let sensor = recorded(MetricWindow::new(u32::MAX, u64::MAX), &[(f64::NAN, 5)]);
        assert_eq!(sensor.avg(3), None);
    }

    #[test]
    fn totals_outlive_the_windows() {
        let sensor = recorded(window(), &[(15.0, 0), (15.0, 200_000)]);
        assert_eq!(sensor.total(), Some(30.0));
        assert_eq!(sensor.rate(200_000), Some(0.5));
    }
}
