//! Brokers and what lies between.

use super::super::dice::Dice;
use super::{Lines, Pace, World};

/// The lines of `[cluster]`.
pub(super) fn draw(dice: &mut Dice, world: &World) -> String {
    let mut lines = Lines::default();
    lines.set("brokers", world.brokers);
    let rtt = dice.pick(&["200us", "1ms", "1ms", "5ms", "20ms"]);
    let jitter = dice.pick(&["0s", "0s", "100us", "2ms"]);
    let bandwidth = dice.pick(&["1Gbit/s", "1Gbit/s", "100Mbit/s", "20Mbit/s"]);
    let loss = dice.pick(&["0", "0", "0", "0.1%", "1%"]);
    let link = format!(
        "{{ rtt = \"{rtt}\", jitter = \"{jitter}\", bandwidth = \"{bandwidth}\", loss = \"{loss}\" }}"
    );
    lines.set("link", link);
    if dice.chance(40) {
        // A batch of 1 MiB gets onto two disks within the request timeouts that are drawn: what
        // always comes too late is sent again for ever.
        let rate = dice.pick(&["2MiB/s", "4MiB/s", "8MiB/s"]);
        lines.text("append-rate", rate);
    }
    if dice.chance(40) {
        lines.text("request-time", dice.pick(&["0s", "1ms", "5ms"]));
    }
    if world.pace == Pace::Quick {
        lines.set(
            "config.broker.session.timeout.ms",
            dice.pick(&[1_500, 2_500]),
        );
        lines.set(
            "config.broker.heartbeat.interval.ms",
            dice.pick(&[300, 500]),
        );
        let lag = dice.pick(&[1_500, 3_000]);
        lines.set("config.replica.lag.time.max.ms", lag);
        let check = dice.pick(&[5, 300]);
        lines.set("config.leader.imbalance.check.interval.seconds", check);
    }
    lines.set("transaction-version", dice.pick(&[1, 2, 2]));
    let replicas = world.brokers.min(3);
    let of_log = "config.transaction.state.log";
    lines.set(&format!("{of_log}.replication.factor"), replicas);
    lines.set(&format!("{of_log}.min.isr"), replicas.min(2));
    let delay = dice.pick(&[0, 500, 3_000]);
    lines.set("config.group.initial.rebalance.delay.ms", delay);
    lines.0.trim_end().to_owned()
}
