//! What goes wrong, and how it is cured.

use super::super::dice::Dice;
use super::super::plan::{Episode, HEALED_MS, Step};
use super::{Client, Pace, World};

/// When the first fault may begin, in ms.
const FIRST_MS: u64 = 800;
/// Between two faults of a run in which only one thing fails at a time, in ms: a broker starts in
/// 3 s, and its followers are in sync again soon after.
const APART_MS: u64 = 6_500;

/// A slow producer's records a second: two loads of the longest kind still end before the run.
const SLOW_RATE: u64 = 60;

/// Answers that a broker may give instead of appending.
const ERRORS: [&str; 9] = [
    "NOT_LEADER_OR_FOLLOWER",
    "NOT_ENOUGH_REPLICAS",
    "CORRUPT_MESSAGE",
    "KAFKA_STORAGE_ERROR",
    "UNKNOWN_TOPIC_OR_PARTITION",
    "OUT_OF_ORDER_SEQUENCE_NUMBER",
    "UNKNOWN_PRODUCER_ID",
    "TOPIC_AUTHORIZATION_FAILED",
    "REQUEST_TIMED_OUT",
];

/// Faults in order of their beginning: none, a few at any time, or one after the other.
pub(super) fn draw(dice: &mut Dice, world: &World) -> Vec<Episode> {
    if dice.chance(8) {
        return Vec::new();
    }
    if world.pace == Pace::Quick && dice.chance(35) {
        return one_at_a_time(dice, world);
    }
    let count = dice.pick(&[1, 1, 2, 2, 3, 4, 6]);
    let mut episodes: Vec<Episode> = (0..count)
        .map(|_| {
            let from = dice.between(FIRST_MS, HEALED_MS - 2_000);
            let span = dice.pick(&[150, 800, 2_500, 6_000]);
            let to = (from + dice.between(span / 2, span)).min(HEALED_MS);
            episode(dice, world, (from, to))
        })
        .collect();
    episodes.sort_by_key(|episode| episode.steps.first().map_or(0, |step| step.at_ms));
    episodes
}

/// Each fault is cured, and its traces are gone, before the next begins.
fn one_at_a_time(dice: &mut Dice, world: &World) -> Vec<Episode> {
    let mut from = dice.between(FIRST_MS, 3_000);
    let mut episodes = Vec::new();
    while from + 1_000 < HEALED_MS {
        let to = (from + dice.between(100, 3_500)).min(HEALED_MS);
        episodes.push(episode(dice, world, (from, to)));
        from = to + APART_MS;
    }
    episodes
}

/// One fault from a moment to another, both in ms.
fn episode(dice: &mut Dice, world: &World, (from, to): (u64, u64)) -> Episode {
    match dice.below(20) {
        0..=3 => kill(dice, world, (from, to)),
        4 | 5 => broker(dice, world, (from, to), ("stop", "start")),
        6 | 7 => broker(dice, world, (from, to), ("pause", "resume")),
        8 => slow(dice, world, (from, to)),
        9 => disk(dice, world, (from, to)),
        10..=13 => link(dice, world, (from, to)),
        14 => at_once(dice, world, from),
        15 => inject(dice, world, from),
        16 | 17 => of_producer(dice, world, (from, to)),
        18 => of_consumer(dice, world, (from, to)),
        _ => grow(dice, world, from),
    }
}

fn steps(about: &[&str], steps: &[(u64, String)]) -> Episode {
    let steps = steps.iter().map(|(at_ms, line)| Step {
        at_ms: *at_ms,
        line: line.clone(),
    });
    Episode {
        about: about.iter().map(ToString::to_string).collect(),
        steps: steps.collect(),
    }
}

fn any_broker(dice: &mut Dice, world: &World) -> u64 {
    dice.between(1, world.brokers)
}

fn kill(dice: &mut Dice, world: &World, (from, to): (u64, u64)) -> Episode {
    let broker = any_broker(dice, world);
    let kill = if dice.chance(40) {
        let records = dice.pick(&[1, 10, 200]);
        format!("broker kill {broker} --lose-tail {records}")
    } else {
        format!("broker kill {broker}")
    };
    steps(&[], &[(from, kill), (to, format!("broker start {broker}"))])
}

/// The cure comes once more in the end: a broker that still shuts down cannot start.
fn broker(
    dice: &mut Dice,
    world: &World,
    (from, to): (u64, u64),
    (fault, cure): (&str, &str),
) -> Episode {
    let broker = any_broker(dice, world);
    let cure = format!("broker {cure} {broker}");
    let fault = format!("broker {fault} {broker}");
    steps(
        &[],
        &[(from, fault), (to, cure.clone()), (HEALED_MS + 1_000, cure)],
    )
}

fn slow(dice: &mut Dice, world: &World, (from, to): (u64, u64)) -> Episode {
    let broker = any_broker(dice, world);
    let by = dice.pick(&["20ms", "300ms", "2s"]);
    let fault = format!("broker slow {broker} {by}");
    steps(
        &[],
        &[(from, fault), (to, format!("broker slow {broker} 0s"))],
    )
}

fn disk(dice: &mut Dice, world: &World, (from, to): (u64, u64)) -> Episode {
    let broker = any_broker(dice, world);
    let fault = if dice.chance(50) {
        format!("disk full {broker}")
    } else {
        let rate = dice.pick(&["16KiB/s", "100KiB/s"]);
        format!("disk slow {broker} {rate}")
    };
    steps(&[], &[(from, fault), (to, format!("disk heal {broker}"))])
}

/// Somebody whom a link leads to, and the part that it is, if it is one.
fn end(dice: &mut Dice, world: &World) -> (String, Option<String>) {
    let producers = world.producers.len() as u64;
    match dice.below(5) {
        0 | 1 => {
            let place = dice.below(producers) as usize;
            let name = world.producers[place].name.clone();
            (name.clone(), Some(name))
        }
        2 if !world.groups.is_empty() => {
            let place = dice.below(world.groups.len() as u64) as usize;
            let name = world.groups[place].0.clone();
            (name.clone(), Some(name))
        }
        3 => ("controller".to_owned(), None),
        _ => ("*".to_owned(), None),
    }
}

fn link(dice: &mut Dice, world: &World, (from, to): (u64, u64)) -> Episode {
    let (one, part) = if world.brokers > 1 && dice.chance(30) {
        (any_broker(dice, world).to_string(), None)
    } else {
        end(dice, world)
    };
    let mut other = any_broker(dice, world).to_string();
    if one == other {
        "*".clone_into(&mut other);
    }
    let fault = match dice.below(8) {
        0..=2 => format!("link cut {one} {other}"),
        3 | 4 => format!("link refuse {one} {other}"),
        5 => format!("link delay {one} {other} {}", dice.pick(&["30ms", "700ms"])),
        6 => format!(
            "link limit {one} {other} {}",
            dice.pick(&["20KiB/s", "200KiB/s"])
        ),
        _ => format!("link loss {one} {other} {}", dice.pick(&["5%", "30%"])),
    };
    let about: Vec<&str> = part.as_deref().into_iter().collect();
    steps(
        &about,
        &[(from, fault), (to, format!("link heal {one} {other}"))],
    )
}

/// What needs no cure.
fn at_once(dice: &mut Dice, world: &World, at: u64) -> Episode {
    let broker = any_broker(dice, world);
    let line = if dice.chance(60) {
        let count = dice.pick(&[1, 2, 5]);
        format!("responses swallow {broker} --count {count}")
    } else {
        format!("broker fence {broker}")
    };
    steps(&[], &[(at, line)])
}

fn inject(dice: &mut Dice, world: &World, at: u64) -> Episode {
    let topic = &world.topics[dice.below(world.topics.len() as u64) as usize];
    let partition = dice.below(topic.partitions);
    let (error, count) = (dice.pick(&ERRORS), dice.pick(&[1, 1, 2, 8]));
    let line = format!(
        "inject {error} --partition {}-{partition} --count {count}",
        topic.name
    );
    steps(&[&topic.name], &[(at, line)])
}

fn of_producer(dice: &mut Dice, world: &World, (from, to): (u64, u64)) -> Episode {
    let place = dice.below(world.producers.len() as u64) as usize;
    let producer = &world.producers[place];
    let name = producer.name.as_str();
    let commands = match dice.below(5) {
        0 => vec![(from, format!("producer restart {name}"))],
        1 => vec![
            (from, format!("producer crash {name}")),
            (to, format!("producer restart {name}")),
        ],
        2 if producer.client == Client::Java => {
            let setting = dice.pick(&["linger.ms=50", "batch.size=1000", "max.block.ms=1000"]);
            vec![(from, format!("set producer {name} {setting}"))]
        }
        3 => vec![(
            from,
            format!("rate {name} {}", dice.pick(&[SLOW_RATE, 400])),
        )],
        _ => vec![
            (from, format!("producer pause {name}")),
            (to, format!("producer resume {name}")),
        ],
    };
    steps(&[name], &commands)
}

fn of_consumer(dice: &mut Dice, world: &World, (from, to): (u64, u64)) -> Episode {
    if world.groups.is_empty() {
        return at_once(dice, world, from);
    }
    let place = dice.below(world.groups.len() as u64) as usize;
    let (name, members) = &world.groups[place];
    let member = format!("{name}/{}", dice.between(1, *members));
    let (fault, cure) = dice.pick(&[
        ("pause", "resume"),
        ("crash", "restart"),
        ("close", "restart"),
        ("restart", "resume"),
    ]);
    let commands = [
        (from, format!("consumer {fault} {member}")),
        (to, format!("consumer {cure} {member}")),
    ];
    steps(&[name], &commands)
}

fn grow(dice: &mut Dice, world: &World, at: u64) -> Episode {
    let topic = &world.topics[dice.below(world.topics.len() as u64) as usize];
    let partitions = topic.partitions + dice.between(1, 3);
    let name = &topic.name;
    let line = format!("kafka-topics.sh --alter --topic {name} --partitions {partitions}");
    steps(&[name], &[(at, line)])
}
