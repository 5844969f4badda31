//! Producers: both clients, what they promise, and how patient they are.

use super::super::dice::Dice;
use super::super::plan::Part;
use super::{Batches, Client, Habits, Lines, Producer, Transactions, World, load};

/// One to three producers.
pub(super) fn draw(dice: &mut Dice, world: &mut World) -> Vec<Part> {
    let count = dice.pick(&[1, 1, 2, 2, 3]);
    (1..=count)
        .map(|number| producer(dice, world, number))
        .collect()
}

fn producer(dice: &mut Dice, world: &mut World, number: u64) -> Part {
    let client = if dice.chance(60) {
        Client::Java
    } else {
        Client::Librdkafka
    };
    let name = match client {
        Client::Java => format!("java-{number}"),
        Client::Librdkafka => format!("rdkafka-{number}"),
    };
    let mut lines = Lines::default();
    lines.push("[[producer]]");
    lines.text("name", &name);
    let (batches, transactions) = match client {
        Client::Java => java(dice, &mut lines),
        Client::Librdkafka => rdkafka(dice, &mut lines),
    };
    let transactional_id = match transactions {
        Transactions::Some => Some(transactional_id(dice, world, number)),
        Transactions::None => None,
    };
    let (of_loads, transaction_records) = match &transactional_id {
        Some(id) => in_transactions(dice, &mut lines, world, id),
        None => (Vec::new(), None),
    };
    if dice.chance(25) {
        lines.text("start", dice.pick(&["10ms", "700ms", "2s"]));
    }
    let habits = Habits {
        client,
        batches,
        loads: dice.pick(&[1, 1, 1, 2]),
        transaction_records,
    };
    for number in 0..habits.loads {
        load::draw(dice, &mut lines, world, &habits);
        if number == 0 {
            for line in &of_loads {
                lines.push(line);
            }
        }
    }
    let part = lines.part(&name);
    world.producers.push(Producer {
        name,
        client,
        transactional_id,
    });
    part
}

/// Now and then one that another producer has already: one of the two is a zombie.
fn transactional_id(dice: &mut Dice, world: &World, number: u64) -> String {
    let mut known = world.producers.iter();
    let known = known.find_map(|producer| producer.transactional_id.clone());
    known
        .filter(|_| dice.chance(40))
        .unwrap_or_else(|| format!("txn-{number}"))
}

/// Of two owners of one id at most one comes back when it is fenced, or they would take turns for
/// ever.
fn in_transactions(
    dice: &mut Dice,
    lines: &mut Lines,
    world: &World,
    id: &String,
) -> (Vec<String>, Option<u64>) {
    lines.text("config.transactional.id", id);
    let timeout = dice.pick(&[1_500, 4_000, 10_000]);
    lines.set("config.transaction.timeout.ms", timeout);
    let (ends, records) = match dice.below(5) {
        place @ 0..=2 => {
            let records = [1, 7, 60][place as usize];
            (format!("{{ records = {records} }}"), Some(records))
        }
        3 => ("{ every = \"100ms\" }".to_owned(), None),
        _ => ("{ every = \"900ms\" }".to_owned(), None),
    };
    let mut of_loads = vec![format!("transaction = {ends}")];
    let mut owners = world.producers.iter();
    let is_shared = owners.any(|producer| producer.transactional_id.as_ref() == Some(id));
    if !is_shared {
        let after = dice.pick(&["10ms", "700ms"]);
        of_loads.push(format!("on-fenced = {{ rebuild-after = \"{after}\" }}"));
    }
    (of_loads, records)
}

fn java(dice: &mut Dice, lines: &mut Lines) -> (Batches, Transactions) {
    lines.text("client", "java");
    let versions = [
        "4.3", "4.3", "4.3", "4.0", "3.9", "3.5", "3.2", "2.8", "2.1",
    ];
    let version = dice.pick(&versions);
    lines.text("version", version);
    let is_idempotent = dice.chance(55);
    lines.set("config.enable.idempotence", is_idempotent);
    let acks = if is_idempotent {
        "all"
    } else {
        dice.pick(&["0", "1", "all", "all"])
    };
    lines.text("config.acks", acks);
    in_flight(dice, lines);
    let transactions = if is_idempotent && version != "2.1" && dice.chance(45) {
        Transactions::Some
    } else {
        Transactions::None
    };
    if transactions == Transactions::None && dice.chance(15) {
        let least = u64::from(is_idempotent);
        lines.set("config.retries", dice.between(least, 3));
    }
    let request = dice.pick(&[1_000, 2_000, 4_000]);
    lines.set("config.request.timeout.ms", request);
    lines.set(
        "config.delivery.timeout.ms",
        dice.pick(&[5_000, 10_000, 20_000]),
    );
    lines.set("config.max.block.ms", dice.pick(&[300, 2_000, 5_000]));
    lines.set("config.linger.ms", dice.pick(&[0, 0, 5, 20, 100]));
    let batch_size = dice.pick(&[0, 400, 2_000, 16_384, 16_384]);
    lines.set("config.batch.size", batch_size);
    lines.set(
        "config.buffer.memory",
        dice.pick(&[65_536, 262_144, 33_554_432]),
    );
    if dice.chance(25) {
        lines.set("config.metadata.max.age.ms", dice.pick(&[1_000, 5_000]));
    }
    if dice.chance(20) {
        lines.set("config.retry.backoff.ms", dice.pick(&[0, 10, 1_000]));
    }
    // 2.1 does not know it.
    if dice.chance(10) && version != "2.1" {
        let class = "org.apache.kafka.clients.producer.RoundRobinPartitioner";
        lines.text("config.partitioner.class", class);
    }
    compression(dice, lines);
    let batches = match batch_size {
        // Most values fill a batch of 400 bytes.
        0 | 400 => Batches::Single,
        _ => Batches::Deep,
    };
    (batches, transactions)
}

fn rdkafka(dice: &mut Dice, lines: &mut Lines) -> (Batches, Transactions) {
    lines.text("client", "librdkafka");
    let is_idempotent = dice.chance(55);
    let transactions = if is_idempotent && dice.chance(45) {
        Transactions::Some
    } else {
        Transactions::None
    };
    lines.set("config.enable.idempotence", is_idempotent);
    if is_idempotent {
        lines.text("config.acks", "all");
        if dice.chance(10) {
            lines.set("config.enable.gapless.guarantee", true);
        }
    } else {
        lines.text("config.acks", dice.pick(&["0", "1", "all", "all"]));
    }
    in_flight(dice, lines);
    if dice.chance(20) {
        let least = u64::from(is_idempotent);
        lines.set("config.retries", dice.between(least, 3));
    }
    lines.set("config.request.timeout.ms", dice.pick(&[1_000, 4_000]));
    patience(dice, lines, transactions);
    lines.set("config.linger.ms", dice.pick(&[0, 5, 50, 200]));
    let messages = dice.pick(&[20, 200, 100_000]);
    lines.set("config.queue.buffering.max.messages", messages);
    let batch_messages = dice.pick(&[1, 10, 10_000]);
    lines.set("config.batch.num.messages", batch_messages);
    lines.set("config.reconnect.backoff.max.ms", dice.pick(&[500, 2_000]));
    if dice.chance(25) {
        let refresh = dice.pick(&[1_000, 5_000]);
        lines.set("config.topic.metadata.refresh.interval.ms", refresh);
    }
    if dice.chance(30) {
        let partitioner = dice.pick(&["murmur2_random", "random", "consistent", "fnv1a_random"]);
        lines.text("config.partitioner", partitioner);
    }
    compression(dice, lines);
    let batches = match batch_messages {
        1 => Batches::Single,
        _ => Batches::Deep,
    };
    (batches, transactions)
}

/// How long librdkafka waits for answers and for a message's end: in a transaction never longer
/// than the transaction may take, which is also what is left unsaid.
fn patience(dice: &mut Dice, lines: &mut Lines, transactions: Transactions) {
    let (sockets, messages): (&[u64], &[u64]) = match transactions {
        Transactions::None => (&[1_000, 2_000, 4_000], &[5_000, 10_000, 20_000]),
        Transactions::Some => (&[0, 1_000], &[0, 0, 1_000, 1_500]),
    };
    let timeouts = [
        ("config.socket.timeout.ms", dice.pick(sockets)),
        ("config.message.timeout.ms", dice.pick(messages)),
    ];
    for (key, timeout) in timeouts.into_iter().filter(|(_, timeout)| *timeout > 0) {
        lines.set(key, timeout);
    }
}

fn in_flight(dice: &mut Dice, lines: &mut Lines) {
    let in_flight = dice.pick(&[1, 1, 2, 3, 5, 5]);
    lines.set("config.max.in.flight.requests.per.connection", in_flight);
}

fn compression(dice: &mut Dice, lines: &mut Lines) {
    if dice.chance(25) {
        let codec = dice.pick(&["gzip", "snappy", "lz4", "zstd"]);
        lines.text("config.compression.type", codec);
    }
}

#[cfg(test)]
mod tests {
    use super::super::draw;

    #[test]
    fn both_clients_are_drawn_with_transactions() {
        let producers = (0..100).flat_map(|seed| draw(seed).producers);
        let transactional: Vec<_> = producers
            .filter(|part| part.toml.contains("config.transactional.id"))
            .map(|part| part.name)
            .collect();
        for client in ["java-", "rdkafka-"] {
            let own = transactional.iter().filter(|name| name.starts_with(client));
            assert!(own.count() > 5, "{client}: {transactional:?}");
        }
    }
}
