//! Topics: how they are spread, and what they promise.

use super::super::dice::Dice;
use super::super::plan::Part;
use super::{Lines, Topic, World};

/// One to three topics.
pub(super) fn draw(dice: &mut Dice, world: &mut World) -> Vec<Part> {
    let count = dice.pick(&[1, 1, 2, 3]);
    (1..=count)
        .map(|number| topic(dice, world, number))
        .collect()
}

fn topic(dice: &mut Dice, world: &mut World, number: u64) -> Part {
    let name = format!("t-{number}");
    let partitions = dice.pick(&[1, 2, 3, 4, 6]);
    let replicas_max = world.brokers.min(3);
    // Most topics are as in production: three replicas, two of which must be in sync.
    let replicas = if dice.chance(65) {
        replicas_max
    } else {
        dice.between(1, replicas_max)
    };
    let min_isr = if dice.chance(65) {
        replicas.min(2)
    } else {
        dice.between(1, replicas)
    };
    let mut lines = Lines::default();
    lines.push("[[topic]]");
    lines.text("name", &name);
    lines.set("partitions", partitions);
    lines.set("replication-factor", replicas);
    lines.text("history", dice.pick(&["batches", "batches", "records"]));
    lines.set("config.min.insync.replicas", min_isr);
    if dice.chance(20) {
        lines.set("config.unclean.leader.election.enable", true);
    }
    if dice.chance(10) {
        let offset = dice.pick(&[1, 40, 1_000_000]);
        lines.set("start-offsets", format!("{{ 0 = {offset} }}"));
    }
    let part = lines.part(&name);
    world.topics.push(Topic { name, partitions });
    part
}
