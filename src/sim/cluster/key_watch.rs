//! Keys on their way into logs, in topics whose records are remembered one by one.

use std::sync::Arc;

use crate::sim::context::Context;
use crate::sim::fact::Fact;
use crate::sim::ids::{BrokerIndex, ProducerIndex};
use crate::sim::key_places::KeyPosition;
use crate::sim::queue::Rank;
use crate::sim::request::Part;

/// Notes where the keys of a batch are now, and says which ones are on several partitions.
pub(super) fn remember_keys(
    ctx: &mut Context<'_>,
    (at, base_offset): (BrokerIndex, u64),
    producer: ProducerIndex,
    part: &Part,
) {
    let partition = part.partition;
    let topic = partition.name().topic;
    if !ctx.records.notes(topic) {
        return;
    }
    for place in 0..u64::from(part.records) {
        let noted = ctx
            .records
            .find(producer, partition, part.first_ordinal + place);
        let Some(id) = noted.and_then(|noted| noted.key) else {
            continue;
        };
        let position = KeyPosition {
            partition,
            offset: base_offset + place,
            at: ctx.now,
        };
        ctx.read_order
            .append(partition, (position.offset, id), ctx.now);
        let key = Arc::clone(ctx.records.key(id));
        if let Some(partitions) = ctx.key_places.append((id, &key), position) {
            let partitions = partitions.iter().map(|index| index.name().number).collect();
            let fact = Fact::KeySplit {
                topic,
                key,
                partitions,
            };
            ctx.note(Rank::broker(at), fact);
        }
    }
}

/// Whether a batch has a record without a key, which a compacted topic does not take
/// (`LogValidator`: the whole batch is refused).
pub(super) fn lacks_key(ctx: &Context<'_>, producer: ProducerIndex, part: &Part) -> bool {
    let mut ordinals = part.first_ordinal..part.first_ordinal + u64::from(part.records);
    ordinals.any(|ordinal| {
        let noted = ctx.records.find(producer, part.partition, ordinal);
        noted.is_some_and(|noted| noted.key.is_none())
    })
}
