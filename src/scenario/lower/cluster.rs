//! Brokers and links.

use crate::command::text::{listed, nearest};
use crate::kafka::config;
use crate::kafka::settings::BrokerSettings;
use crate::kafka::transaction::TransactionVersion;
use crate::scenario::fields::CLUSTER;
use crate::scenario::problem::Problem;
use crate::scenario::read::Fields;
use crate::scenario::shape::written;
use crate::scenario::tree::Table;
use crate::sim::config::{
    BROKERS_MAX, BrokerConfig, LATENCY_MIN, LinkConfig, LinkOverride, MovedLeader, Peer,
    TransactionConfig,
};
use crate::sim::ids::{BrokerIndex, GroupIndex, ProducerIndex};
use crate::sim::time::SimSpan;

use super::settings::Settings;
use super::{World, too_many};

/// `[cluster] brokers` and the `[[broker]]` tables.
pub(super) fn brokers(world: &mut World<'_>, root: Fields<'_>) {
    let nothing = Table::default();
    let absent = Fields {
        spec: &CLUSTER,
        table: &nothing,
        place: root.place,
    };
    let cluster = root.table("cluster").unwrap_or(absent);
    let own = root.tables("broker");
    let count = cluster.whole::<u32>("brokers");
    let mut ids: Vec<u32> = count.map(|count| (1..=count).collect()).unwrap_or_default();
    for broker in &own {
        let Some(id) = broker.whole::<u32>("id") else {
            continue;
        };
        if count.is_none() && !ids.contains(&id) {
            ids.push(id);
        } else if !ids.contains(&id) {
            let count = ids.len();
            world.problem(
                Problem::new(format!("there is no broker {id}"))
                    .at(
                        broker.place_of("id"),
                        format!("the cluster has 1 to {count}"),
                    )
                    .at(cluster.place_of("brokers"), "because of this")
                    .hint("raise `brokers`, or leave it out and write a [[broker]] for each"),
            );
        }
    }
    if ids.is_empty() && root.has("cluster") {
        let problem = Problem::new("the cluster has no brokers");
        world.problem(
            problem
                .at(cluster.place, "`brokers` is missing")
                .hint("brokers = 3"),
        );
    }
    if ids.is_empty() {
        ids.push(1); // Stands in, so that the rest can be checked.
    }
    if ids.len() > BROKERS_MAX {
        world.problem(too_many("brokers", BROKERS_MAX, own[own.len() - 1].place));
        ids.truncate(BROKERS_MAX);
    }
    for id in ids {
        let fields = own
            .iter()
            .find(|broker| broker.whole::<u32>("id") == Some(id));
        let broker = broker(world, cluster, fields, id);
        world.brokers.push(broker);
    }
}

fn broker(
    world: &mut World<'_>,
    cluster: Fields<'_>,
    own: Option<&Fields<'_>>,
    id: u32,
) -> BrokerConfig {
    // The broker's own value where it has one, else the cluster's.
    let of = |name: &str| own.filter(|own| own.has(name)).copied().unwrap_or(cluster);
    let rate = of("append-rate");
    let append_rate = rate.byte_rate("append-rate");
    if append_rate == Some(0) {
        let problem = Problem::new("`append-rate` is zero");
        world.problem(problem.at(rate.place_of("append-rate"), "expected more than nothing"));
    }
    let mut settings = Settings::default();
    settings.put_table(&cluster);
    if let Some(own) = own {
        settings.put_table(own);
    }
    let checked = config::broker::validate(world.kafka, &settings.pairs());
    let effective = match checked {
        Ok((effective, notes)) => {
            settings.noted(notes, cluster.place, world.findings);
            effective
        }
        Err(problems) => {
            settings.refused(problems, cluster.place, world.findings);
            BrokerSettings::defaults(world.kafka)
        }
    };
    BrokerConfig {
        id,
        rack: own.and_then(|own| own.text("rack")).map(str::to_owned),
        append_rate,
        request_time: of("request-time")
            .duration("request-time")
            .unwrap_or(SimSpan::ZERO),
        settings: effective,
    }
}

/// `[cluster] controllers`.
pub(super) fn controllers(world: &mut World<'_>, root: Fields<'_>) -> Vec<BrokerIndex> {
    let Some(cluster) = root.table("cluster") else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for item in cluster.items("controllers") {
        let id = written(&item.value);
        let known = world.brokers.iter();
        let at = known
            .map(|broker| broker.id.to_string())
            .position(|known| known == id);
        let Some(at) = at.map(|at| BrokerIndex(at as u16)) else {
            let problem = Problem::new(format!("there is no broker {id}"));
            world.problem(
                problem
                    .at(item.place, "a controller here is a broker, too")
                    .hint("without `controllers` they are machines of their own that never fail"),
            );
            continue;
        };
        if found.contains(&at) {
            let problem = Problem::new(format!("broker {id} is twice in `controllers`"));
            world.problem(problem.at(item.place, "once is enough"));
            continue;
        }
        found.push(at);
    }
    found
}

/// `[cluster] moved-leader`.
pub(super) fn moved_leader(root: Fields<'_>) -> MovedLeader {
    let cluster = root.table("cluster");
    match cluster.and_then(|cluster| cluster.text("moved-leader")) {
        Some("unnamed") => MovedLeader::Unnamed,
        _ => MovedLeader::Named,
    }
}

/// `[cluster] transaction-version` and `next-producer-id`.
pub(super) fn transactions(root: Fields<'_>) -> TransactionConfig {
    let cluster = root.table("cluster");
    let version = cluster.and_then(|cluster| cluster.whole::<u8>("transaction-version"));
    let next = cluster.and_then(|cluster| cluster.whole::<i64>("next-producer-id"));
    TransactionConfig {
        version: match version {
            Some(1) => TransactionVersion::One,
            _ => TransactionVersion::Two,
        },
        next_producer_id: next.unwrap_or(0),
    }
}

/// `[cluster] link`.
pub(super) fn default_link(world: &mut World<'_>, root: Fields<'_>) -> LinkConfig {
    let default = LinkConfig {
        latency: SimSpan::from_micros(500),
        jitter: SimSpan::ZERO,
        bandwidth: Some(125_000_000),
        loss_ppm: 0,
    };
    match root
        .table("cluster")
        .and_then(|cluster| cluster.table("link"))
    {
        Some(fields) => link(world, fields, default),
        None => default,
    }
}

/// The `[[link]]` tables.
pub(super) fn links(
    world: &mut World<'_>,
    root: Fields<'_>,
    default: LinkConfig,
) -> Vec<LinkOverride> {
    let mut links = Vec::new();
    for fields in root.tables("link") {
        let link = link(world, fields, default);
        let ends = fields.items("between");
        let [a, b] = ends else {
            let problem = Problem::new("a link is between two ends");
            world.problem(problem.at(fields.place_of("between"), "expected [A, B]"));
            continue;
        };
        let ends = [
            peers(world, fields, &written(&a.value)),
            peers(world, fields, &written(&b.value)),
        ];
        for a in &ends[0] {
            for b in &ends[1] {
                links.push(LinkOverride { a: *a, b: *b, link });
            }
        }
    }
    links
}

fn link(world: &mut World<'_>, fields: Fields<'_>, default: LinkConfig) -> LinkConfig {
    let latency = match fields.duration("rtt").filter(|_| fields.has("rtt")) {
        Some(rtt) => SimSpan::from_nanos(rtt.as_nanos() / 2),
        None => default.latency,
    };
    if latency < LATENCY_MIN {
        let least = crate::command::units::show_duration(LATENCY_MIN.times(2));
        world.problem(
            Problem::new("`rtt` is too short")
                .at(fields.place_of("rtt"), format!("expected at least {least}")),
        );
    }
    let bandwidth = fields
        .byte_rate("bandwidth")
        .filter(|_| fields.has("bandwidth"));
    if bandwidth == Some(0) {
        world.problem(
            Problem::new("`bandwidth` is zero")
                .at(fields.place_of("bandwidth"), "expected more than nothing")
                .hint("a link that passes nothing is a command: link cut A B"),
        );
    }
    LinkConfig {
        latency: latency.max(LATENCY_MIN),
        jitter: fields.duration("jitter").unwrap_or(default.jitter),
        bandwidth: bandwidth.or(default.bandwidth),
        loss_ppm: fields.share("loss").unwrap_or(default.loss_ppm),
    }
}

/// One end of a link; a producer with a `count` stands for all of them.
fn peers(world: &mut World<'_>, fields: Fields<'_>, name: &str) -> Vec<Peer> {
    let id = name.parse::<u32>().ok();
    let broker = id.and_then(|id| world.brokers.iter().position(|broker| broker.id == id));
    let numbered = |known: &str| {
        let number = known
            .strip_prefix(name)
            .and_then(|rest| rest.strip_prefix('-'));
        number.is_some_and(|number| number.parse::<u32>().is_ok())
    };
    let producers = |fits: &dyn Fn(&str) -> bool| -> Vec<Peer> {
        let known = world.producers.iter().enumerate();
        let fitting = known.filter(|(_, known)| fits(known));
        fitting
            .map(|(at, _)| Peer::Producer(ProducerIndex(at as u16)))
            .collect()
    };
    match (name, broker) {
        ("*", _) => return vec![Peer::Any],
        ("controller", _) => return vec![Peer::Controller],
        (_, Some(at)) => return vec![Peer::Broker(BrokerIndex(at as u16))],
        _ => {}
    }
    if let Some(at) = world.groups.iter().position(|(group, _)| group == name) {
        return vec![Peer::Group(GroupIndex(at as u16))];
    }
    if let Some(member) = member(world, name) {
        return vec![member];
    }
    let mut found = producers(&|known| known == name);
    if found.is_empty() {
        found = producers(&numbered);
    }
    if found.is_empty() {
        let ids: Vec<String> = world
            .brokers
            .iter()
            .map(|broker| broker.id.to_string())
            .collect();
        let producers = world.producers.iter().map(String::as_str);
        let groups = world.groups.iter().map(|(group, _)| group.as_str());
        let ids = ids.iter().map(String::as_str);
        let known: Vec<&str> = producers.chain(groups).chain(ids).collect();
        let near = nearest(name, known.iter().copied()).filter(|near| near.len() > 1);
        let problem = Problem::new(format!("a link cannot end at `{name}`"))
            .at(
                fields.place_of("between"),
                "no producer, no consumer group, no broker, not \"controller\" or \"*\"",
            )
            .maybe(near);
        let few = known.len() <= 12;
        let hint = format!("there are {}", listed(&known, "and"));
        world.problem(if few { problem.hint(hint) } else { problem });
    }
    found
}

/// One member of a consumer group: `timelines/2`.
fn member(world: &World<'_>, name: &str) -> Option<Peer> {
    let (group, number) = name.rsplit_once('/')?;
    let at = world.groups.iter().position(|(known, _)| known == group)?;
    let number = number.parse::<u16>().ok()?;
    (1..=world.groups[at].1)
        .contains(&number)
        .then_some(Peer::Member(GroupIndex(at as u16), number))
}
