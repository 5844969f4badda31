//! What a configuration of the Java client means.

use super::{Load, Meaning, bytes, meaning, seconds, span};
use crate::kafka::settings::{Acks, CompressionType, JavaProducerSettings};
use crate::kafka::size::{FillingBatch, RecordSize, payload_bytes, upper_bound_estimate};

/// Records of a batch that are counted at most.
const RECORDS_MAX: u32 = 1_000_000;

pub(super) fn meanings(settings: &JavaProducerSettings, load: Load) -> Vec<Meaning> {
    let mut meanings = vec![
        promise(settings),
        buffer(settings, load),
        partitions(settings, load),
        batches(settings, load),
        blocking(settings),
        delivery(settings),
        in_flight(settings),
    ];
    meanings.extend(compression(settings));
    meanings.extend(transactions(settings));
    meanings
}

fn promise(settings: &JavaProducerSettings) -> Meaning {
    let acks = match settings.acks {
        Acks::None => {
            "acks=0: a record counts as sent once it is on the wire; nobody hears of what brokers \
             refuse, and offsets are -1"
        }
        Acks::Leader => {
            "acks=1: a record counts as written when its leader has it; if that one dies before a \
             follower fetched it, it is lost although it was acknowledged"
        }
        Acks::All => {
            "acks=all: a record counts as written when every in-sync replica has it; how many \
             that are at least, the topic's min.insync.replicas says, which is 1 by default"
        }
    };
    let order = if settings.idempotence {
        "idempotent: no duplicates and no reordering by retries, as long as the client lives"
    } else if settings.max_in_flight == 1 {
        "not idempotent, one request in flight: retries can duplicate, and do not reorder"
    } else {
        "not idempotent, several requests in flight: retries can duplicate and reorder"
    };
    meaning("promise", format!("{acks}; {order}."))
}

/// Records that fit into one batch.
fn records_in_batch(settings: &JavaProducerSettings, load: Load) -> u32 {
    let payload = payload_bytes(None, Some(load.value_bytes), &[]);
    let mut batch = FillingBatch::with_first(settings.batch_size, payload);
    while batch.records() < RECORDS_MAX && batch.append(0, RecordSize::new(payload)) {}
    batch.records()
}

/// Bytes of the pool that a batch takes.
fn batch_bytes(settings: &JavaProducerSettings, load: Load) -> u64 {
    let payload = payload_bytes(None, Some(load.value_bytes), &[]);
    u64::from(settings.batch_size.max(upper_bound_estimate(payload)))
}

fn buffer(settings: &JavaProducerSettings, load: Load) -> Meaning {
    let batches = settings.buffer_memory / batch_bytes(settings, load);
    let records = batches * u64::from(records_in_batch(settings, load));
    let lasts = records as f64 / load.rate as f64;
    let text = format!(
        "{} are {batches} batches of {}, or {records} records: {} of this load once nothing is \
         acknowledged any more. Memory is taken in whole batches, so half-empty ones count as \
         full.",
        bytes(settings.buffer_memory),
        bytes(batch_bytes(settings, load)),
        seconds(lasts),
    );
    meaning("buffer", text)
}

fn partitions(settings: &JavaProducerSettings, load: Load) -> Meaning {
    let batch = batch_bytes(settings, load);
    let open = batch * u64::from(load.partitions);
    let share = open as f64 / settings.buffer_memory as f64;
    let most = settings.buffer_memory / batch;
    let warning = if share > 0.5 {
        " Open batches alone take most of the pool: smaller batches, or more memory."
    } else {
        ""
    };
    let text = format!(
        "an open batch each for {} partitions takes {} ({:.1} % of the pool); with {most} \
         partitions it would take all of it.{warning}",
        load.partitions,
        bytes(open),
        share * 100.0,
    );
    meaning("partitions", text)
}

fn batches(settings: &JavaProducerSettings, load: Load) -> Meaning {
    let records = records_in_batch(settings, load);
    let fill = f64::from(records) * f64::from(load.partitions) / load.rate as f64;
    let linger = settings.linger_ms as f64 / 1e3;
    let goes = if fill <= linger {
        format!(
            "it is full before linger.ms ({}) is over",
            span(settings.linger_ms)
        )
    } else {
        let waited = (linger * load.rate as f64 / f64::from(load.partitions)).max(1.0);
        format!(
            "linger.ms ({}) is over first, with about {waited:.0} of them",
            span(settings.linger_ms)
        )
    };
    let text = format!(
        "a batch holds {records} of these records. With keys spread evenly it fills in {}: {goes}, \
         unless the broker is slower, when batches fill by themselves.",
        seconds(fill),
    );
    meaning("batches", text)
}

fn blocking(settings: &JavaProducerSettings) -> Meaning {
    let text = format!(
        "send() waits for metadata and for memory, {} (max.block.ms) at most for both together; \
         then the record is refused. In a request handler that is how long a request hangs.",
        span(settings.max_block_ms),
    );
    meaning("blocking", text)
}

fn delivery(settings: &JavaProducerSettings) -> Meaning {
    let attempts = settings.delivery_timeout_ms / settings.request_timeout_ms.max(1);
    let text = format!(
        "a batch is tried for {} (delivery.timeout.ms), with {} for each answer \
         (request.timeout.ms): {} attempts at brokers that do not answer, more at brokers that \
         refuse. Then its callbacks get a TimeoutException, and nobody knows whether the last \
         attempt was written.",
        span(settings.delivery_timeout_ms),
        span(settings.request_timeout_ms),
        attempts.clamp(1, u64::from(settings.retries).saturating_add(1)),
    );
    meaning("delivery", text)
}

fn in_flight(settings: &JavaProducerSettings) -> Meaning {
    let most = u64::from(settings.max_in_flight) * u64::from(settings.max_request_size);
    let text = format!(
        "{} requests to each broker at once, each {} at most (max.request.size), so {} to each; a \
         record above max.request.size is refused by send() itself.",
        settings.max_in_flight,
        bytes(u64::from(settings.max_request_size)),
        bytes(most),
    );
    meaning("in flight", text)
}

fn compression(settings: &JavaProducerSettings) -> Option<Meaning> {
    let codec = settings.compression.codec;
    (codec != CompressionType::None).then(|| {
        let text = format!(
            "{}: whole batches are compressed, so tiny batches gain little; the pool still holds \
             batch.size for each.",
            codec.name(),
        );
        meaning("compression", text)
    })
}

fn transactions(settings: &JavaProducerSettings) -> Option<Meaning> {
    let id = settings.transactional_id.as_ref()?;
    let text = format!(
        "transactional.id {}: a second process with it fences this one; an open transaction \
         is aborted after {} (transaction.timeout.ms, found by a scan every 10 s), and readers of \
         committed records wait so long.",
        id.escape_debug(),
        span(settings.transaction_timeout_ms),
    );
    Some(meaning("transactions", text))
}
