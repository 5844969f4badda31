//! The statistics as they would be read now. Nothing here changes anything.

use crate::kafka::rdkafka_metric::{
    RdkafkaBrokerMetric, RdkafkaMetric, RdkafkaPartitionMetric, RdkafkaTopicMetric, WindowField,
};
use crate::kafka::rdkafka_window::RdkafkaWindowFigures;
use crate::sim::ids::{BrokerIndex, TopicIndex, TopicPartition};
use crate::sim::producer::connections::Slot;
use crate::sim::producer::rdkafka::Rdkafka;
use crate::sim::producer::rdkafka::statistics::{BrokerStatistics, api_place, micros};
use crate::sim::request::{ApiKey, RequestId, Requests};
use crate::sim::time::SimTime;

impl Rdkafka {
    /// A figure of the whole client.
    pub fn figure(&self, metric: RdkafkaMetric, now: SimTime) -> f64 {
        use RdkafkaMetric as M;
        let sum = |of: fn(&BrokerStatistics) -> u64| -> f64 {
            self.statistics.brokers.iter().map(of).sum::<u64>() as f64
        };
        let (producer_id, epoch) = self.producer_ids.current().unwrap_or((-1, -1));
        match metric {
            M::MsgCnt => self.queue.messages as f64,
            M::MsgSize => self.queue.value_bytes as f64,
            M::MsgMax => f64::from(self.settings.queue.messages_max.unwrap_or(0)),
            M::MsgSizeMax => self.settings.queue.value_bytes_max as f64,
            M::Replyq => self.reports.operations() as f64,
            M::Tx => sum(|broker| broker.tx.0),
            M::TxBytes => sum(|broker| broker.tx.1),
            M::Rx => sum(|broker| broker.rx.0),
            M::RxBytes => sum(|broker| broker.rx.1),
            M::Txmsgs => self.statistics.messages.0 as f64,
            M::TxmsgBytes => self.statistics.messages.1 as f64,
            M::Age => micros(now.since(self.start)) as f64,
            M::EosIdempStateage => now.since(self.producer_ids.since).as_millis() as f64,
            M::EosProducerId => producer_id as f64,
            M::EosProducerEpoch => f64::from(epoch),
            M::EosEpochCnt => self.producer_ids.epochs as f64,
            M::FatalCnt => f64::from(u8::from(self.fatal.is_some())),
        }
    }

    /// A figure of one broker's connection.
    pub fn broker_figure(
        &self,
        requests: &Requests,
        (broker, metric): (BrokerIndex, RdkafkaBrokerMetric),
        now: SimTime,
    ) -> Option<f64> {
        use RdkafkaBrokerMetric as M;
        let statistics = self.statistics.brokers.get(broker.index())?;
        let slot: Slot = self.connections.slot_of(broker);
        let outbufs = &self.threads[broker.index()].outbufs;
        let in_flight = &self.connections.get(slot).in_flight;
        let messages = |id: RequestId| -> u64 {
            let parts = &requests.get(id).parts;
            parts.iter().map(|part| u64::from(part.records)).sum()
        };
        let idle = |last: Option<SimTime>| last.map_or(-1.0, |at| micros(now.since(at)) as f64);
        Some(match metric {
            M::Stateage => micros(now.since(statistics.state_since)) as f64,
            M::OutbufCnt => outbufs.len() as f64,
            M::OutbufMsgCnt => outbufs.iter().map(|out| messages(out.request)).sum::<u64>() as f64,
            M::WaitrespCnt => in_flight.len() as f64,
            M::WaitrespMsgCnt => in_flight
                .iter()
                .map(|sent| messages(sent.request))
                .sum::<u64>() as f64,
            M::Tx => statistics.tx.0 as f64,
            M::Txbytes => statistics.tx.1 as f64,
            M::Txretries => 0.0,
            M::Txidle => idle(statistics.last_tx),
            M::ReqTimeouts => statistics.request_timeouts as f64,
            M::Rx => statistics.rx.0 as f64,
            M::Rxbytes => statistics.rx.1 as f64,
            M::Rxcorriderrs => statistics.rx_unmatched as f64,
            M::Rxidle => idle(statistics.last_rx),
            M::ReqProduce => requests_of(statistics, ApiKey::Produce),
            M::ReqMetadata => requests_of(statistics, ApiKey::Metadata),
            M::ReqApiVersion => requests_of(statistics, ApiKey::ApiVersions),
            M::ReqInitProducerId => requests_of(statistics, ApiKey::InitProducerId),
            M::Wakeups => statistics.wakeups as f64,
            M::Connects => statistics.connects as f64,
            M::Disconnects => statistics.disconnects as f64,
            M::IntLatency(field) => window(statistics.int_latency.emitted(), field),
            M::OutbufLatency(field) => window(statistics.outbuf_latency.emitted(), field),
            M::Rtt(field) => window(statistics.rtt.emitted(), field),
            M::Throttle(field) => window(statistics.throttle.emitted(), field),
        })
    }

    /// A figure of one topic; nothing before it was used.
    pub fn topic_figure(
        &self,
        topic: TopicIndex,
        metric: RdkafkaTopicMetric,
        now: SimTime,
    ) -> Option<f64> {
        use RdkafkaTopicMetric as M;
        let state = self.topics.get(topic.index())?;
        let first_used = state.first_used?;
        let statistics = &self.statistics.topics[topic.index()];
        Some(match metric {
            M::Age => now.since(first_used).as_millis() as f64,
            M::MetadataAge => now.since(state.told?).as_millis() as f64,
            M::Batchsize(field) => window(statistics.batch_size.emitted(), field),
            M::Batchcnt(field) => window(statistics.batch_count.emitted(), field),
        })
    }

    /// A figure of one partition; nothing before it is known.
    pub fn partition_figure(
        &self,
        partition: TopicPartition,
        metric: RdkafkaPartitionMetric,
    ) -> Option<f64> {
        use RdkafkaPartitionMetric as M;
        let places = &self.topics[partition.topic.index()].toppars;
        let &place = places.get(partition.number as usize)?;
        let toppar = &self.toppars[place as usize];
        let sequences = &toppar.sequences;
        Some(match metric {
            M::LeaderEpoch => f64::from(toppar.leader_epoch),
            M::MsgqCnt => toppar.arrived.messages as f64,
            M::MsgqBytes => toppar.arrived.bytes as f64,
            M::XmitMsgqCnt | M::XmitMsgqBytes => 0.0,
            M::Msgs => toppar.totals.0 as f64,
            M::Txmsgs => toppar.totals.1 as f64,
            M::Txbytes => toppar.totals.2 as f64,
            M::MsgsInflight => toppar.in_flight as f64,
            M::NextAckSeq => f64::from(sequences.next_ack),
            M::NextErrSeq => f64::from(sequences.next_err),
            M::AckedMsgid => sequences.acked.map_or(0.0, |acked| (acked + 1) as f64),
        })
    }
}

fn requests_of(statistics: &BrokerStatistics, api: ApiKey) -> f64 {
    statistics.requests[api_place(api)] as f64
}

fn window(figures: &RdkafkaWindowFigures, field: WindowField) -> f64 {
    use WindowField as F;
    match field {
        F::Min => figures.min as f64,
        F::Max => figures.max as f64,
        F::Avg => figures.avg as f64,
        F::Sum => figures.sum as f64,
        F::Cnt => figures.cnt as f64,
        F::Stddev => figures.stddev,
        F::P50 => figures.quantiles[0] as f64,
        F::P75 => figures.quantiles[1] as f64,
        F::P90 => figures.quantiles[2] as f64,
        F::P95 => figures.quantiles[3] as f64,
        F::P99 => figures.quantiles[4] as f64,
        F::P9999 => figures.quantiles[5] as f64,
    }
}
