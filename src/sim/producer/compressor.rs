//! What compression makes of a client's batches: their size while they fill, and once closed.
//!
//! Simplification: compressing costs the client no time. A real one compresses while `send()`
//! appends, on the application's thread.

use std::sync::Arc;

use crate::kafka::compression::{Codec, Curve, Estimate, RatioEstimate};
use crate::kafka::settings::CompressionType;
use crate::kafka::size::BATCH_OVERHEAD;
use crate::sim::config::Config;
use crate::sim::ids::{ProducerIndex, TopicIndex};
use crate::sim::payload;

/// How batches of each topic are compressed; nothing at all without a codec.
#[derive(Clone, Debug, Default)]
pub struct Compressor {
    /// By topic; none where the producer sends nothing.
    topics: Vec<Option<Topic>>,
}

#[derive(Clone, Debug)]
struct Topic {
    codec: CompressionType,
    ratio: RatioEstimate,
    curve: Arc<Curve>,
}

impl Compressor {
    /// How a producer with this codec compresses what it sends to each topic.
    pub fn new(config: &Config, me: ProducerIndex, codec: Codec) -> Self {
        if codec.compression.codec == CompressionType::None {
            return Self::default();
        }
        let topic = |index| {
            Some(Topic {
                codec: codec.compression.codec,
                ratio: RatioEstimate::INITIAL,
                curve: payload::curve(config, me, TopicIndex(index), codec)?,
            })
        };
        let topics = 0..config.topics.len() as u16;
        Self {
            topics: topics.map(topic).collect(),
        }
    }

    /// Goes on with the ratios of an earlier client of the same process, which shares them
    /// (`CompressionRatioEstimator` is static).
    pub fn follow(&mut self, earlier: &Self) {
        for (topic, earlier) in self.topics.iter_mut().zip(&earlier.topics) {
            if let (Some(topic), Some(earlier)) = (topic, earlier)
                && topic.codec == earlier.codec
            {
                topic.ratio = earlier.ratio;
            }
        }
    }

    /// How a batch that is opened now estimates its bytes.
    pub fn estimate(&self, topic: TopicIndex) -> Estimate {
        self.topic(topic)
            .map_or(Estimate::EXACT, |topic| topic.ratio.estimate())
    }

    /// A batch with so many bytes before compression, header included, is closed: gives its bytes,
    /// and learns how well it compressed.
    pub fn close(&mut self, topic: TopicIndex, plain: u32) -> u32 {
        let Some(topic) = self.topics.get_mut(topic.index()).and_then(Option::as_mut) else {
            return plain;
        };
        let records = plain.saturating_sub(BATCH_OVERHEAD);
        let compressed = topic.curve.compressed(records);
        topic.ratio.learn(compressed as f32 / records.max(1) as f32);
        BATCH_OVERHEAD.saturating_add(compressed)
    }

    /// A batch was too large for its broker: batches of this topic are taken not to shrink at all,
    /// until they are seen to (`CompressionRatioEstimator.resetEstimation`).
    pub fn forget(&mut self, topic: TopicIndex) {
        if let Some(topic) = self.topics.get_mut(topic.index()).and_then(Option::as_mut) {
            topic.ratio = RatioEstimate::INITIAL;
        }
    }

    /// What a batch with so many bytes before compression comes to, header included, without
    /// learning from it.
    pub fn compressed(&self, topic: TopicIndex, plain: u32) -> u32 {
        self.topic(topic).map_or(plain, |topic| {
            let records = plain.saturating_sub(BATCH_OVERHEAD);
            BATCH_OVERHEAD.saturating_add(topic.curve.compressed(records))
        })
    }

    fn topic(&self, topic: TopicIndex) -> Option<&Topic> {
        self.topics.get(topic.index())?.as_ref()
    }
}
