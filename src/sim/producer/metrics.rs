//! The client's own metrics, by Kafka's names and windows.
//!
//! Reading never changes a sensor. Source: `SenderMetricsRegistry`, `KafkaProducerMetrics`,
//! `BufferPool`, `Selector`. Simplification: the sender thread costs no time, so its `select` and
//! `io` metrics have nothing to show and read as absent.

use crate::kafka::metric_name::{ProducerMetric, ProducerNodeMetric, ProducerTopicMetric};
use crate::kafka::metric_window::{Avg, Max, Meter, MetricWindow, Ratio, Total};
use crate::kafka::settings::JavaProducerSettings;
use crate::kafka::size::upper_bound_estimate;
use crate::sim::producer::batch::Batch;

/// All sensors of one client.
#[derive(Clone, Debug)]
pub struct ClientMetrics {
    window: MetricWindow,
    record_send: Meter,
    records_per_request: Avg,
    batch_size: Sized,
    record_size: Sized,
    record_queue_time: Sized,
    request_latency: Sized,
    throttle_time: Sized,
    record_retry: Meter,
    record_error: Meter,
    wait_ratio: Ratio,
    wait_total: Total,
    buffer_exhausted: Meter,
    flush_time: Total,
    metadata_wait: Total,
    connection_creation: Meter,
    connection_close: Meter,
    wire: Wire,
    topics: Vec<Option<Box<TopicMetrics>>>,
    nodes: Vec<Option<Box<NodeMetrics>>>,
}

/// An average and a maximum of the same values.
#[derive(Clone, Debug)]
struct Sized {
    avg: Avg,
    max: Max,
}

/// Batches of one topic that one request takes along, recorded together.
#[derive(Clone, Copy, Debug, Default)]
pub struct Drained {
    batches: u64,
    /// Records in them.
    pub records: u64,
    bytes: Group,
    record_bytes: Group,
    queue_time_ms: Group,
}

/// Values that are recorded together: their sum and the largest.
#[derive(Clone, Copy, Debug, Default)]
struct Group {
    sum: f64,
    max: f64,
}

impl Group {
    fn add(&mut self, value: f64) {
        self.sum += value;
        self.max = self.max.max(value);
    }
}

impl Drained {
    /// Takes one more batch.
    pub fn add(&mut self, batch: &Batch, now_ms: u64) {
        self.batches += 1;
        self.records += u64::from(batch.records);
        self.bytes.add(f64::from(batch.written));
        self.record_bytes
            .add(f64::from(upper_bound_estimate(batch.payload_max)));
        self.queue_time_ms.add(batch.age_ms(now_ms) as f64);
    }
}

/// What a `Selector` counts, for one node or for all.
#[derive(Clone, Debug)]
struct Wire {
    request: Meter,
    response: Meter,
    request_size: Sized,
    outgoing: Meter,
    incoming: Meter,
}

#[derive(Clone, Debug)]
struct TopicMetrics {
    record_send: Meter,
    bytes: Meter,
    record_retry: Meter,
    record_error: Meter,
}

#[derive(Clone, Debug)]
struct NodeMetrics {
    wire: Wire,
    request_latency: Sized,
}

impl Sized {
    fn new(window: MetricWindow) -> Self {
        Self {
            avg: Avg::new(window),
            max: Max::new(window),
        }
    }

    fn record(&mut self, value: f64, now_ms: u64) {
        self.avg.record(value, now_ms);
        self.max.record(value, now_ms);
    }

    fn record_group(&mut self, group: Group, events: u64, now_ms: u64) {
        self.avg.record_all(group.sum, events, now_ms);
        self.max.record(group.max, now_ms);
    }
}

impl Wire {
    fn new(window: MetricWindow) -> Self {
        Self {
            request: Meter::new(window),
            response: Meter::new(window),
            request_size: Sized::new(window),
            outgoing: Meter::new(window),
            incoming: Meter::new(window),
        }
    }

    fn sent(&mut self, bytes: f64, now_ms: u64) {
        self.request.record(1.0, now_ms);
        self.request_size.record(bytes, now_ms);
        self.outgoing.record(bytes, now_ms);
    }

    fn received(&mut self, bytes: f64, now_ms: u64) {
        self.response.record(1.0, now_ms);
        self.incoming.record(bytes, now_ms);
    }
}

impl ClientMetrics {
    /// Sensors without events.
    pub fn new(settings: &JavaProducerSettings, topics: usize, brokers: usize) -> Self {
        let metrics = settings.metrics;
        let (samples, millis) = (metrics.num_samples, metrics.sample_window_ms);
        let window = MetricWindow::of_version(settings.version, samples, millis);
        Self {
            window,
            record_send: Meter::new(window),
            records_per_request: Avg::new(window),
            batch_size: Sized::new(window),
            record_size: Sized::new(window),
            record_queue_time: Sized::new(window),
            request_latency: Sized::new(window),
            throttle_time: Sized::new(window),
            record_retry: Meter::new(window),
            record_error: Meter::new(window),
            wait_ratio: Ratio::new(window),
            wait_total: Total::new(),
            buffer_exhausted: Meter::new(window),
            flush_time: Total::new(),
            metadata_wait: Total::new(),
            connection_creation: Meter::new(window),
            connection_close: Meter::new(window),
            wire: Wire::new(window),
            topics: vec![None; topics],
            nodes: vec![None; brokers * 2],
        }
    }

    /// A thread slept in the pool for this long, up to now.
    pub fn pool_wait(&mut self, slept_ns: u64, now_ms: u64) {
        self.wait_ratio.record(slept_ns as f64, now_ms);
        self.wait_total.record(slept_ns as f64, now_ms);
    }

    /// The windowed wait ratio as it would read if `unfinished_ns` of waiting ended now: the truth
    /// behind `bufferpool-wait-ratio`.
    pub fn true_wait_ratio(&self, unfinished_ns: u64, now_ms: u64) -> Option<f64> {
        let mut ratio = self.wait_ratio.clone();
        if unfinished_ns > 0 {
            ratio.record(unfinished_ns as f64, now_ms);
        }
        ratio.read(now_ms)
    }

    /// A thread got no memory in time.
    pub fn buffer_exhausted(&mut self, now_ms: u64) {
        self.buffer_exhausted.record(1.0, now_ms);
    }

    /// A successful blocking metadata wait.
    pub fn metadata_wait(&mut self, waited_ns: u64, now_ms: u64) {
        self.metadata_wait.record(waited_ns as f64, now_ms);
    }

    /// A `flush()` returned.
    pub fn flushed(&mut self, took_ns: u64, now_ms: u64) {
        self.flush_time.record(took_ns as f64, now_ms);
    }

    /// `send()` itself failed.
    pub fn send_failed(&mut self, now_ms: u64) {
        self.record_error.record(1.0, now_ms);
    }

    /// Batches of one topic were put into a request.
    pub fn drained(&mut self, topic: usize, drained: &Drained, now_ms: u64) {
        if drained.batches == 0 {
            return;
        }
        self.batch_size
            .record_group(drained.bytes, drained.batches, now_ms);
        self.record_size
            .record_group(drained.record_bytes, drained.batches, now_ms);
        self.record_queue_time
            .record_group(drained.queue_time_ms, drained.batches, now_ms);
        let window = self.window;
        let topic = self.topics[topic].get_or_insert_with(|| Box::new(TopicMetrics::new(window)));
        topic.record_send.record(drained.records as f64, now_ms);
        topic.bytes.record(drained.bytes.sum, now_ms);
    }

    /// A ready node got a request with so many records, or none.
    pub fn node_drained(&mut self, records: u64, now_ms: u64) {
        self.records_per_request.record(records as f64, now_ms);
        if records > 0 {
            self.record_send.record(records as f64, now_ms);
        }
    }

    /// A batch goes back to be sent again.
    pub fn batch_retried(&mut self, topic: usize, records: u32, now_ms: u64) {
        self.record_retry.record(f64::from(records), now_ms);
        if let Some(topic) = &mut self.topics[topic] {
            topic.record_retry.record(f64::from(records), now_ms);
        }
    }

    /// A batch failed.
    pub fn batch_failed(&mut self, topic: usize, records: u32, now_ms: u64) {
        self.record_error.record(f64::from(records), now_ms);
        if let Some(topic) = &mut self.topics[topic] {
            topic.record_error.record(f64::from(records), now_ms);
        }
    }

    /// A connection was opened, or closed.
    pub fn connection_opened(&mut self, now_ms: u64) {
        self.connection_creation.record(1.0, now_ms);
    }

    /// A connection was closed.
    pub fn connection_closed(&mut self, now_ms: u64) {
        self.connection_close.record(1.0, now_ms);
    }

    /// A request left for a node.
    pub fn request_sent(&mut self, slot: usize, bytes: u32, now_ms: u64) {
        self.wire.sent(f64::from(bytes), now_ms);
        let window = self.window;
        let node = self.nodes[slot].get_or_insert_with(|| Box::new(NodeMetrics::new(window)));
        node.wire.sent(f64::from(bytes), now_ms);
    }

    /// A response came from a node.
    pub fn response_received(&mut self, slot: usize, bytes: u32, now_ms: u64) {
        self.wire.received(f64::from(bytes), now_ms);
        self.throttle_time.record(0.0, now_ms);
        if let Some(node) = &mut self.nodes[slot] {
            node.wire.received(f64::from(bytes), now_ms);
        }
    }

    /// A Produce response came, so long after its request was created.
    pub fn produce_latency(&mut self, slot: usize, latency_ms: u64, now_ms: u64) {
        self.request_latency.record(latency_ms as f64, now_ms);
        if let Some(node) = &mut self.nodes[slot] {
            node.request_latency.record(latency_ms as f64, now_ms);
        }
    }

    /// A metric of the whole producer; gauges are not sensors and read as absent here.
    pub fn read(&self, metric: ProducerMetric, now_ms: u64) -> Option<f64> {
        use ProducerMetric as M;
        match metric {
            M::RecordSendRate => self.record_send.rate.read(now_ms),
            M::RecordSendTotal => self.record_send.total.read(now_ms),
            M::RecordsPerRequestAvg => self.records_per_request.read(now_ms),
            M::BatchSizeAvg => self.batch_size.avg.read(now_ms),
            M::BatchSizeMax => self.batch_size.max.read(now_ms),
            M::RecordSizeAvg => self.record_size.avg.read(now_ms),
            M::RecordSizeMax => self.record_size.max.read(now_ms),
            M::CompressionRateAvg => self.batch_size.avg.read(now_ms).map(|_| 1.0),
            M::RecordQueueTimeAvg => self.record_queue_time.avg.read(now_ms),
            M::RecordQueueTimeMax => self.record_queue_time.max.read(now_ms),
            M::RequestLatencyAvg => self.request_latency.avg.read(now_ms),
            M::RequestLatencyMax => self.request_latency.max.read(now_ms),
            M::ProduceThrottleTimeAvg => self.throttle_time.avg.read(now_ms),
            M::ProduceThrottleTimeMax => self.throttle_time.max.read(now_ms),
            M::RecordRetryRate => self.record_retry.rate.read(now_ms),
            M::RecordRetryTotal => self.record_retry.total.read(now_ms),
            M::RecordErrorRate => self.record_error.rate.read(now_ms),
            M::RecordErrorTotal => self.record_error.total.read(now_ms),
            M::BufferpoolWaitRatio => self.wait_ratio.read(now_ms),
            M::BufferpoolWaitTimeNsTotal => self.wait_total.read(now_ms),
            M::BufferExhaustedRate => self.buffer_exhausted.rate.read(now_ms),
            M::BufferExhaustedTotal => self.buffer_exhausted.total.read(now_ms),
            M::FlushTimeNsTotal => self.flush_time.read(now_ms),
            M::MetadataWaitTimeNsTotal => self.metadata_wait.read(now_ms),
            M::BatchSplitRate | M::BatchSplitTotal => Some(0.0),
            _ => self.read_wire(metric, now_ms),
        }
    }

    fn read_wire(&self, metric: ProducerMetric, now_ms: u64) -> Option<f64> {
        use ProducerMetric as M;
        match metric {
            M::ConnectionCreationRate => self.connection_creation.rate.read(now_ms),
            M::ConnectionCreationTotal => self.connection_creation.total.read(now_ms),
            M::ConnectionCloseRate => self.connection_close.rate.read(now_ms),
            M::ConnectionCloseTotal => self.connection_close.total.read(now_ms),
            M::OutgoingByteRate => self.wire.outgoing.rate.read(now_ms),
            M::OutgoingByteTotal => self.wire.outgoing.total.read(now_ms),
            M::IncomingByteRate => self.wire.incoming.rate.read(now_ms),
            M::IncomingByteTotal => self.wire.incoming.total.read(now_ms),
            M::RequestRate => self.wire.request.rate.read(now_ms),
            M::RequestTotal => self.wire.request.total.read(now_ms),
            M::ResponseRate => self.wire.response.rate.read(now_ms),
            M::ResponseTotal => self.wire.response.total.read(now_ms),
            M::RequestSizeAvg => self.wire.request_size.avg.read(now_ms),
            M::RequestSizeMax => self.wire.request_size.max.read(now_ms),
            M::NetworkIoRate => {
                let sent = self.wire.request.rate.read(now_ms)?;
                Some(sent + self.wire.response.rate.read(now_ms)?)
            }
            M::NetworkIoTotal => {
                let sent = self.wire.request.total.read(now_ms)?;
                Some(sent + self.wire.response.total.read(now_ms)?)
            }
            _ => None,
        }
    }

    /// A metric of one topic; absent before its first batch was put into a request.
    pub fn read_topic(
        &self,
        topic: usize,
        metric: ProducerTopicMetric,
        now_ms: u64,
    ) -> Option<f64> {
        use ProducerTopicMetric as M;
        let topic = self.topics.get(topic)?.as_deref()?;
        match metric {
            M::RecordSendRate => topic.record_send.rate.read(now_ms),
            M::RecordSendTotal => topic.record_send.total.read(now_ms),
            M::ByteRate => topic.bytes.rate.read(now_ms),
            M::ByteTotal => topic.bytes.total.read(now_ms),
            // Nothing is compressed: every batch's rate is 1.
            M::CompressionRate => topic.bytes.rate.read(now_ms).map(|_| 1.0),
            M::RecordRetryRate => topic.record_retry.rate.read(now_ms),
            M::RecordRetryTotal => topic.record_retry.total.read(now_ms),
            M::RecordErrorRate => topic.record_error.rate.read(now_ms),
            M::RecordErrorTotal => topic.record_error.total.read(now_ms),
        }
    }

    /// A metric of one connection, by its place; absent before its first request.
    pub fn read_node(&self, slot: usize, metric: ProducerNodeMetric, now_ms: u64) -> Option<f64> {
        use ProducerNodeMetric as M;
        let node = self.nodes.get(slot)?.as_deref()?;
        match metric {
            M::RequestRate => node.wire.request.rate.read(now_ms),
            M::RequestTotal => node.wire.request.total.read(now_ms),
            M::RequestSizeAvg => node.wire.request_size.avg.read(now_ms),
            M::RequestSizeMax => node.wire.request_size.max.read(now_ms),
            M::OutgoingByteRate => node.wire.outgoing.rate.read(now_ms),
            M::OutgoingByteTotal => node.wire.outgoing.total.read(now_ms),
            M::ResponseRate => node.wire.response.rate.read(now_ms),
            M::ResponseTotal => node.wire.response.total.read(now_ms),
            M::IncomingByteRate => node.wire.incoming.rate.read(now_ms),
            M::IncomingByteTotal => node.wire.incoming.total.read(now_ms),
            M::RequestLatencyAvg => node.request_latency.avg.read(now_ms),
            M::RequestLatencyMax => node.request_latency.max.read(now_ms),
        }
    }
}

impl TopicMetrics {
    fn new(window: MetricWindow) -> Self {
        Self {
            record_send: Meter::new(window),
            bytes: Meter::new(window),
            record_retry: Meter::new(window),
            record_error: Meter::new(window),
        }
    }
}

impl NodeMetrics {
    fn new(window: MetricWindow) -> Self {
        Self {
            wire: Wire::new(window),
            request_latency: Sized::new(window),
        }
    }
}
