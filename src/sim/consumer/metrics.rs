//! A consumer's own metrics, by Kafka's names and windows.
//!
//! Simplification: what `poll()` returns is recorded when it returns it, where Kafka records a
//! fetch's records and bytes when the last of them was returned.

use crate::kafka::metric_name::ConsumerMetric;
use crate::kafka::metric_window::{MetricWindow, Sensor};
use crate::kafka::settings::ConsumerSettings;
use crate::sim::time::{SimSpan, SimTime};

/// All sensors of one client.
#[derive(Clone, Debug)]
pub(super) struct Metrics {
    lag: Sensor,
    records: Sensor,
    bytes: Sensor,
    fetch_records: Sensor,
    fetch_bytes: Sensor,
    fetch_latency: Sensor,
    commit: Sensor,
    heartbeat: Sensor,
    join: Sensor,
    rebalance: Sensor,
    poll: Sensor,
}

impl Metrics {
    pub(super) fn new(settings: &ConsumerSettings) -> Self {
        let metrics = settings.metrics;
        let (samples, window_ms) = (metrics.num_samples, metrics.sample_window_ms);
        let window = MetricWindow::of_version(settings.version, samples, window_ms);
        let sensor = || Sensor::new(window);
        Self {
            lag: sensor(),
            records: sensor(),
            bytes: sensor(),
            fetch_records: sensor(),
            fetch_bytes: sensor(),
            fetch_latency: sensor(),
            commit: sensor(),
            heartbeat: sensor(),
            join: sensor(),
            rebalance: sensor(),
            poll: sensor(),
        }
    }

    /// `poll()` returned records of a partition, and left some unread there.
    pub(super) fn consumed(&mut self, records: u64, bytes: u64, lag: u64, now: SimTime) {
        let now_ms = now.as_millis();
        self.records.record(records as f64, now_ms);
        self.bytes.record(bytes as f64, now_ms);
        self.lag.record(lag as f64, now_ms);
    }

    /// A fetch was answered.
    pub(super) fn fetched(&mut self, records: u64, bytes: u64, took: SimSpan, now: SimTime) {
        let now_ms = now.as_millis();
        self.fetch_latency.record(millis(took), now_ms);
        self.fetch_records.record(records as f64, now_ms);
        self.fetch_bytes.record(bytes as f64, now_ms);
    }

    /// A commit was answered.
    pub(super) fn committed(&mut self, took: SimSpan, now: SimTime) {
        self.commit.record(millis(took), now.as_millis());
    }

    /// A heartbeat was answered.
    pub(super) fn heartbeat(&mut self, took: SimSpan, now: SimTime) {
        self.heartbeat.record(millis(took), now.as_millis());
    }

    /// `JoinGroup` was answered.
    pub(super) fn joined(&mut self, took: SimSpan, now: SimTime) {
        self.join.record(millis(took), now.as_millis());
    }

    /// A rebalance is over for this member.
    pub(super) fn rebalanced(&mut self, took: SimSpan, now: SimTime) {
        self.rebalance.record(millis(took), now.as_millis());
    }

    /// The application called `poll()` again.
    pub(super) fn polled(&mut self, between: SimSpan, now: SimTime) {
        self.poll.record(millis(between), now.as_millis());
    }

    /// A metric that a sensor holds.
    pub(super) fn read(&self, metric: ConsumerMetric, now: SimTime) -> Option<f64> {
        use ConsumerMetric as M;
        let now_ms = now.as_millis();
        match metric {
            M::RecordsLagMax => self.lag.max(now_ms),
            M::RecordsConsumedRate => self.records.rate(now_ms),
            M::RecordsConsumedTotal => self.records.total(),
            M::BytesConsumedRate => self.bytes.rate(now_ms),
            M::BytesConsumedTotal => self.bytes.total(),
            M::RecordsPerRequestAvg => self.fetch_records.avg(now_ms),
            M::FetchSizeAvg => self.fetch_bytes.avg(now_ms),
            M::FetchSizeMax => self.fetch_bytes.max(now_ms),
            M::FetchRate => self.fetch_latency.event_rate(now_ms),
            M::FetchTotal => self.fetch_latency.event_total(),
            M::FetchLatencyAvg => self.fetch_latency.avg(now_ms),
            M::FetchLatencyMax => self.fetch_latency.max(now_ms),
            M::CommitRate => self.commit.event_rate(now_ms),
            M::CommitTotal => self.commit.event_total(),
            M::CommitLatencyAvg => self.commit.avg(now_ms),
            M::CommitLatencyMax => self.commit.max(now_ms),
            M::HeartbeatRate => self.heartbeat.event_rate(now_ms),
            M::HeartbeatTotal => self.heartbeat.event_total(),
            M::JoinRate => self.join.event_rate(now_ms),
            M::JoinTotal => self.join.event_total(),
            M::JoinTimeAvg => self.join.avg(now_ms),
            M::JoinTimeMax => self.join.max(now_ms),
            M::RebalanceTotal => self.rebalance.event_total(),
            M::RebalanceLatencyAvg => self.rebalance.avg(now_ms),
            M::RebalanceLatencyMax => self.rebalance.max(now_ms),
            M::TimeBetweenPollAvg => self.poll.avg(now_ms),
            M::TimeBetweenPollMax => self.poll.max(now_ms),
            M::AssignedPartitions | M::LastHeartbeatSecondsAgo | M::LastPollSecondsAgo => None,
        }
    }
}

fn millis(span: SimSpan) -> f64 {
    span.as_nanos() as f64 / 1e6
}
