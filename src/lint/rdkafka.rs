//! What a configuration of librdkafka means.

use super::{Load, Meaning, bytes, meaning, seconds, span};
use crate::kafka::settings::{Acks, DeliveryReports, RdkafkaProducerSettings, RequiredAcks};

pub(super) fn meanings(settings: &RdkafkaProducerSettings, load: Load) -> Vec<Meaning> {
    vec![
        promise(settings),
        queue(settings, load),
        reports(settings),
        batches(settings, load),
        delivery(settings),
        in_flight(settings),
    ]
}

fn promise(settings: &RdkafkaProducerSettings) -> Meaning {
    let acks = match settings.acks {
        RequiredAcks::Valid(Acks::None) => "acks=0: nobody hears of what brokers refuse",
        RequiredAcks::Valid(Acks::Leader) => {
            "acks=1: a message counts as written when its leader has it, and can be lost with it"
        }
        RequiredAcks::Valid(Acks::All) => {
            "acks=all: a message counts as written when every in-sync replica has it"
        }
        RequiredAcks::Refused(_) => "acks that every broker refuses",
    };
    let order = if settings.idempotence.is_on() {
        "idempotent: no duplicates and no reordering by retries"
    } else if settings.max_in_flight == 1 {
        "not idempotent, one request in flight: retries can duplicate, and do not reorder"
    } else {
        "not idempotent: retries can duplicate and reorder"
    };
    meaning("promise", format!("{acks}; {order}."))
}

fn queue(settings: &RdkafkaProducerSettings, load: Load) -> Meaning {
    let by_bytes = settings.queue.value_bytes_max / u64::from(load.value_bytes.max(1));
    let by_number = settings.queue.messages_max.map_or(u64::MAX, u64::from);
    let records = by_bytes.min(by_number);
    let limit = if by_number <= by_bytes {
        format!("queue.buffering.max.messages, {by_number}")
    } else {
        format!(
            "queue.buffering.max.kbytes, {} of values",
            bytes(settings.queue.value_bytes_max)
        )
    };
    let text = format!(
        "{records} messages ({limit}): {} of this load once nothing is acknowledged. Then \
         produce() answers _QUEUE_FULL at once: poll(), and try again.",
        seconds(records as f64 / load.rate as f64),
    );
    meaning("queue", text)
}

fn reports(settings: &RdkafkaProducerSettings) -> Meaning {
    let text = match settings.delivery_reports {
        DeliveryReports::All => {
            "a message keeps its place in the queue until poll() has served its report: a loop \
             that never polls fills the queue although everything is delivered."
        }
        DeliveryReports::OnlyErrors => {
            "only failures are reported; what is delivered frees its \
             place at once."
        }
        DeliveryReports::None => "nothing is reported: what fails is lost in silence.",
    };
    meaning("reports", text.to_owned())
}

fn batches(settings: &RdkafkaProducerSettings, load: Load) -> Meaning {
    let by_bytes = settings.batch_size_bytes / load.value_bytes.max(1);
    let records = by_bytes.min(settings.batch_messages_max).max(1);
    let linger = settings.linger_us as f64 / 1e6;
    let waiting = (linger * load.rate as f64 / f64::from(load.partitions)).max(1.0);
    let text = format!(
        "at most about {records} messages; after {} of linger.ms about {waiting:.0} are there for \
         each partition. A request carries one partition's batch.",
        seconds(linger),
    );
    meaning("batches", text)
}

fn delivery(settings: &RdkafkaProducerSettings) -> Meaning {
    let limit = settings
        .message_timeout_ms
        .map_or("for ever".to_owned(), |limit| {
            format!("for {}", span(limit))
        });
    let retries = match settings.retries {
        retries if retries >= i32::MAX as u32 => "as often as there is time for".to_owned(),
        retries => format!("{retries} retries at most"),
    };
    let text = format!(
        "a message is tried {limit} (message.timeout.ms) after produce(), {retries}; a broker may \
         wait {} for its replicas (request.timeout.ms).",
        span(settings.request_timeout_ms),
    );
    meaning("delivery", text)
}

fn in_flight(settings: &RdkafkaProducerSettings) -> Meaning {
    let text = format!(
        "{} requests to each broker at once; a message above {} (message.max.bytes) is refused \
         by produce() itself.",
        settings.max_in_flight,
        bytes(u64::from(settings.message_max_bytes)),
    );
    meaning("in flight", text)
}
