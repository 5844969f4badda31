//! What only producers with librdkafka have: their configuration, and the application's part in
//! serving delivery reports. Everything here is refused for a Java client, with the reason.

use crate::kafka::config::rdkafka;
use crate::kafka::settings::{DeliveryReports, RdkafkaProducerSettings};
use crate::scenario::problem::Problem;
use crate::scenario::read::Fields;
use crate::sim::config::{OnRefused, Polling};
use crate::sim::time::SimSpan;

use super::World;
use super::dialect::{Dialect, rdkafka_version};
use super::settings::Settings;

/// The client's effective configuration and what was given for it, or what it says against it.
pub(super) fn client(
    world: &mut World<'_>,
    fields: &Fields<'_>,
    settings: &Settings,
) -> (RdkafkaProducerSettings, Vec<(String, String)>) {
    let version = rdkafka_version(world, fields);
    if fields.has("rack") {
        let note = Problem::new("`rack` has no effect: only librdkafka's consumers have a rack");
        let place = fields.place_of("rack");
        world.findings.note(note.at(place, "client.rack"));
    }
    let pairs = settings.pairs();
    let mut effective = match rdkafka::validate(version, &pairs) {
        Ok((effective, notes)) => {
            settings.noted(notes, fields.place, world.findings);
            effective
        }
        Err(problems) => {
            settings.refused(problems, fields.place, world.findings);
            RdkafkaProducerSettings::defaults(version)
        }
    };
    if fields.text("delivery-report") == Some("none") {
        effective.delivery_reports = DeliveryReports::None;
    }
    (effective, pairs)
}

/// `delivery-report` of a client that has no such thing.
pub(super) fn no_delivery_report(world: &mut World<'_>, fields: &Fields<'_>) {
    if fields.has("delivery-report") {
        let problem = Problem::new("a Java client always calls back");
        let place = fields.place_of("delivery-report");
        world.problem(
            problem
                .at(place, "for librdkafka only")
                .hint("leave it out"),
        );
    }
}

/// Who serves a load's delivery reports, and when.
pub(super) fn polling(world: &mut World<'_>, fields: &Fields<'_>, dialect: Dialect) -> Polling {
    let place = fields.place_of("poll");
    if dialect == Dialect::Java {
        if fields.has("poll") {
            let problem = Problem::new("a Java client is not polled: its own thread calls back");
            world.problem(
                problem
                    .at(place, "for librdkafka only")
                    .hint("leave it out"),
            );
        }
        return Polling::Never;
    }
    if let Some(every) = fields.table("poll").and_then(|table| table.whole("every")) {
        return Polling::Calls(every);
    }
    match fields.duration("poll") {
        Some(SimSpan::ZERO) => {
            let problem = Problem::new("`poll` is nothing").at(place, "expected some time");
            world.problem(problem.hint("poll = { every = 1 } polls after every call"));
            Polling::Never
        }
        Some(span) => Polling::Interval(span),
        None if fields.text("poll") == Some("never") => Polling::Never,
        None => Polling::Calls(1),
    }
}

/// Says what does not fit together in a load: waiting for reports that never come, or for a
/// `send()` that waits by itself.
pub(super) fn check_load(
    world: &mut World<'_>,
    fields: &Fields<'_>,
    dialect: Dialect,
    (polling, on_refused): (Polling, OnRefused),
) {
    let Dialect::Librdkafka(reports) = dialect else {
        if on_refused == OnRefused::Block {
            let problem = Problem::new("a Java client's send() waits by itself");
            let label = "RD_KAFKA_MSG_F_BLOCK is librdkafka's";
            let problem = problem.at(fields.place_of("on-refused"), label);
            world.problem(problem.hint("it waits for config.max.block.ms, and then refuses"));
        }
        return;
    };
    if on_refused == OnRefused::Block
        && reports != DeliveryReports::None
        && !matches!(polling, Polling::Interval(_))
    {
        let note = Problem::new("nobody polls while `produce()` waits for room");
        let note = note.at(
            fields.place_of("on-refused"),
            "once it waits, it waits for ever",
        );
        world
            .findings
            .note(note.hint("poll = \"100ms\" polls by another thread"));
    }
    if fields.has("throttle") {
        let problem = Problem::new("`throttle` looks at a Java client's metrics");
        let place = fields.place_of("throttle");
        world.problem(
            problem
                .at(place, "librdkafka has none")
                .hint("leave it out"),
        );
    }
    for (name, harmless, label) in [
        ("await", "none", "would wait for ever"),
        ("on-failed", "count", "would never do so"),
    ] {
        let is_asked = fields.has(name) && fields.text(name) != Some(harmless);
        // A failed message is reported in any case, if there is somebody to hear it.
        let is_heard = match reports {
            DeliveryReports::All => true,
            DeliveryReports::OnlyErrors => name == "on-failed",
            DeliveryReports::None => false,
        };
        if is_asked && !is_heard {
            let problem = Problem::new(unheard(reports));
            world.problem(problem.at(fields.place_of(name), label));
        }
    }
}

/// What is wrong with waiting for a report that is not given.
pub(super) const fn unheard(reports: DeliveryReports) -> &'static str {
    match reports {
        DeliveryReports::None => {
            "nobody hears what becomes of messages: `delivery-report` is \"none\""
        }
        _ => "nobody hears of delivered messages: delivery.report.only.error is true",
    }
}
