//! What an application sends, and what it does when it is refused or told of a failure.

use super::super::dice::Dice;
use super::{Batches, Client, Habits, Lines, World};

/// Records of a load that waits for each of them, or sends each by itself, at most.
const SINGLY_MAX: u64 = 100;
/// Transactions of a load at most: each takes several round trips.
const TRANSACTIONS_MAX: u64 = 60;

/// The lines of one `[[producer.load]]`: at most ten seconds of sending.
pub(super) fn draw(dice: &mut Dice, lines: &mut Lines, world: &World, habits: &Habits) {
    lines.push("\n[[producer.load]]");
    let topic = dice.below(world.topics.len() as u64) as usize;
    lines.text("topic", &world.topics[topic].name);
    let rate = dice.pick(&[15, 40, 80, 150]);
    lines.set("rate", rate);
    let mut records = rate * dice.pick(&[1, 3, 6, 9]);
    if dice.chance(30) {
        lines.text("pacing", "open");
    }
    if dice.chance(30) {
        lines.text("arrival", "poisson");
    }
    if dice.chance(20) {
        lines.set("threads", 2);
    }
    key(dice, lines);
    lines.set("value", value(dice));
    let awaits = dice.below(10);
    match awaits {
        0 => lines.text("await", "each"),
        1 => lines.set("await", "{ every = 10 }"),
        _ => {}
    }
    if awaits == 0 || habits.batches == Batches::Single {
        // One at a time takes its time.
        records = records.min(SINGLY_MAX);
    }
    if let Some(most) = habits.transaction_records {
        records = records.min(most * TRANSACTIONS_MAX);
    }
    lines.set("records", records);
    lines.text(
        "on-failed",
        dice.pick(&["count", "count", "resend", "spill"]),
    );
    end(dice, lines, (habits.client, habits.loads));
}

fn key(dice: &mut Dice, lines: &mut Lines) {
    match dice.below(4) {
        0 => {}
        1 => lines.set("key", "{ cycle = 6, format = \"user-{n}\" }"),
        2 => lines.set("key", "{ uniform = 40, format = \"rider-{n}\" }"),
        _ => lines.set("key", "{ zipf = 1.1, count = 20, format = \"tenant-{n}\" }"),
    }
}

fn value(dice: &mut Dice) -> String {
    match dice.below(6) {
        0 => "\"null\"".to_owned(),
        1 => "{ min = 10, max = 1500 }".to_owned(),
        _ => format!("{{ bytes = {} }}", dice.pick(&[10, 100, 400, 1_000])),
    }
}

/// What the application does when it is refused, who serves reports, and how it ends. Reports of
/// librdkafka are served by somebody to the end, or what became of records would stay unknown; and
/// by another thread where a call may wait for room, or it would wait for ever. A client that
/// several loads share is closed by none of them.
fn end(dice: &mut Dice, lines: &mut Lines, (client, loads): (Client, u32)) {
    let refused = dice.below(6);
    let waits = client == Client::Librdkafka && refused == 3;
    match refused {
        0 => lines.text("on-refused", "spill"),
        1 => lines.set("on-refused", "{ pause = \"200ms\" }"),
        2 => lines.text("on-refused", "retry"),
        3 if waits => lines.text("on-refused", "block"),
        _ => lines.text("on-refused", "drop"),
    }
    match (client, dice.below(4)) {
        (Client::Librdkafka, 0) if !waits => {
            lines.set("poll", "{ every = 5 }");
            lines.text("at-end", "flush");
        }
        (Client::Librdkafka, 1) if !waits && loads == 1 => lines.text("at-end", "close"),
        (Client::Librdkafka, _) => lines.text("poll", "50ms"),
        (Client::Java, 0) => lines.text("at-end", "flush"),
        (Client::Java, 1) if loads == 1 => lines.text("at-end", "close"),
        (Client::Java, _) => {}
    }
}
