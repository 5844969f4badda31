//! Batches of a topic that names a codec of its own: the leader compresses them anew.
//!
//! Source: `LogValidator.validateMessagesAndAssignOffsets`: a batch with the topic's codec stays as
//! it came, whatever its level; any other is decompressed and, unless the topic is `uncompressed`,
//! compressed again, by the request handler, before it is written.
//!
//! Simplification: checking the records of a batch that stays as it is takes no time.

use std::sync::Arc;

use crate::kafka::compression::{Codec, Curve, Writer, compression_time_ns, decompression_time_ns};
use crate::kafka::settings::{Compression, CompressionType, StoredCompression};
use crate::kafka::size::BATCH_OVERHEAD;
use crate::sim::cluster::Cluster;
use crate::sim::config::Config;
use crate::sim::context::Context;
use crate::sim::ids::{BrokerIndex, ProducerIndex, TopicIndex};
use crate::sim::payload;
use crate::sim::request::{Part, RequestId};
use crate::sim::time::SimSpan;

/// What brokers make of batches, as far as they met them.
#[derive(Clone, Debug, Default)]
pub(super) struct Recompression {
    met: Vec<Met>,
}

/// Batches of one producer for one topic, with the topic's codec.
#[derive(Clone, Debug)]
struct Met {
    from: (ProducerIndex, TopicIndex),
    compression: Compression,
    /// None where it is not known what they are made of: they stay as large as they are.
    curve: Option<Arc<Curve>>,
}

impl Cluster {
    /// Works out how the batches of a produce request that this broker leads will be stored: their
    /// bytes, and how long that takes before they can be written.
    pub(super) fn recompress(
        &mut self,
        ctx: &mut Context<'_>,
        at: BrokerIndex,
        id: RequestId,
    ) -> (u64, SimSpan) {
        let producer = ctx.requests.get(id).channel.producer;
        let (mut bytes, mut took) = (0, SimSpan::ZERO);
        for part in &mut ctx.requests.get_mut(id).parts {
            let partition = &self.partitions[part.partition.index()];
            if !partition.leads(at) {
                continue;
            }
            if let StoredCompression::With(compression) = partition.settings.compression
                && compression.codec != part.codec
            {
                let from = (producer, partition.topic);
                let stored = self
                    .recompression
                    .stored(ctx.config, from, compression, part);
                part.stored_bytes = stored;
                took += recompression_time(compression.codec, part);
            }
            bytes += u64::from(part.stored_bytes);
        }
        (bytes, took)
    }
}

fn recompression_time(to: CompressionType, part: &Part) -> SimSpan {
    let plain = u64::from(part.plain_bytes);
    let nanos = decompression_time_ns(part.codec, plain) + compression_time_ns(to, plain);
    SimSpan::from_nanos(nanos)
}

impl Recompression {
    /// Bytes of a batch once it is compressed as its topic wants, header included.
    fn stored(
        &mut self,
        config: &Config,
        from: (ProducerIndex, TopicIndex),
        compression: Compression,
        part: &Part,
    ) -> u32 {
        if compression.codec == CompressionType::None {
            return part.plain_bytes;
        }
        let curve = self.curve(config, from, compression);
        curve.map_or(part.plain_bytes, |curve| {
            let records = part.plain_bytes.saturating_sub(BATCH_OVERHEAD);
            BATCH_OVERHEAD.saturating_add(curve.compressed(records))
        })
    }

    fn curve(
        &mut self,
        config: &Config,
        from: (ProducerIndex, TopicIndex),
        compression: Compression,
    ) -> Option<&Curve> {
        let is_it = |met: &Met| met.from == from && met.compression == compression;
        let place = self.met.iter().position(is_it).unwrap_or_else(|| {
            let codec = Codec {
                compression,
                writer: Writer::Java,
            };
            self.met.push(Met {
                from,
                compression,
                curve: payload::curve(config, from.0, from.1, codec),
            });
            self.met.len() - 1
        });
        self.met[place].curve.as_deref()
    }
}
