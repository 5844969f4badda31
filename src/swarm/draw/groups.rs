//! Consumer groups that read everything from the beginning.

use super::super::dice::Dice;
use super::super::plan::Part;
use super::{Lines, World};

/// None to two groups.
pub(super) fn draw(dice: &mut Dice, world: &mut World) -> Vec<Part> {
    let count = dice.pick(&[0, 1, 1, 2]);
    (1..=count)
        .map(|number| group(dice, world, number))
        .collect()
}

fn group(dice: &mut Dice, world: &mut World, number: u64) -> Part {
    let name = format!("g-{number}");
    let topics: Vec<String> = if dice.chance(50) {
        world
            .topics
            .iter()
            .map(|topic| topic.name.clone())
            .collect()
    } else {
        let place = dice.below(world.topics.len() as u64) as usize;
        vec![world.topics[place].name.clone()]
    };
    let members = dice.pick(&[1, 2, 2, 3]);
    let mut lines = Lines::default();
    lines.push("[[consumer]]");
    lines.text("group", &name);
    lines.set("topic", format!("{topics:?}"));
    lines.set("members", members);
    if dice.chance(60) {
        lines.set("rate", dice.pick(&[300, 1_000, 5_000]));
    }
    if dice.chance(50) {
        lines.text("isolation", "read_committed");
    }
    lines.text("config.auto.offset.reset", "earliest");
    lines.set("config.session.timeout.ms", dice.pick(&[6_000, 10_000]));
    lines.set("config.heartbeat.interval.ms", dice.pick(&[500, 2_000]));
    lines.set("config.max.poll.interval.ms", dice.pick(&[8_000, 15_000]));
    lines.set("config.max.poll.records", dice.pick(&[1, 50, 500]));
    lines.set("config.auto.commit.interval.ms", dice.pick(&[500, 5_000]));
    lines.set("config.metadata.max.age.ms", dice.pick(&[2_000, 10_000]));
    if dice.chance(30) {
        let assignor = dice.pick(&["RangeAssignor", "RoundRobinAssignor", "StickyAssignor"]);
        let class = format!("org.apache.kafka.clients.consumer.{assignor}");
        lines.text("config.partition.assignment.strategy", class);
    }
    let part = lines.part(&name);
    world.groups.push((name, members));
    part
}
