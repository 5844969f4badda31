//! Consumer groups: the client's configuration, and the application around it.

use crate::kafka::config;
use crate::kafka::settings::ConsumerSettings;
use crate::scenario::problem::Problem;
use crate::scenario::read::Fields;
use crate::sim::config::{CONSUMERS_MAX, ConsumerConfig, GroupConfig};
use crate::sim::ids::{GroupIndex, TopicIndex};
use crate::sim::time::SimTime;

use super::producer::import;
use super::settings::{Setting, Settings};
use super::{World, is_reserved, too_many};

/// The first member of a table in its group, by the place of the table: several can share one.
struct Plan<'a> {
    fields: Fields<'a>,
    group: usize,
    members: u16,
}

/// Names all groups.
pub(super) fn groups(world: &mut World<'_>, root: Fields<'_>) {
    for fields in root.tables("consumer") {
        let Some(name) = fields.text("group") else {
            continue;
        };
        if world.groups.iter().any(|(known, _)| known == name) {
            continue;
        }
        let place = fields.place_of("group");
        let title = format!("a consumer group cannot be called `{name}`");
        if is_reserved(name) {
            let label = "in commands this names a broker or the controller";
            world.problem(Problem::new(title).at(place, label));
        } else if world.producers.iter().any(|producer| producer == name) {
            let label = "in commands this names a producer";
            world.problem(Problem::new(title).at(place, label));
        }
        world.groups.push((name.to_owned(), 0));
    }
    let mut total = 0;
    for fields in root.tables("consumer") {
        let members = fields.whole::<u16>("members").unwrap_or(1);
        total += usize::from(members);
        if total > CONSUMERS_MAX {
            let place = fields.place_of("members");
            return world.problem(too_many("consumers", CONSUMERS_MAX, place));
        }
        let name = fields.text("group").unwrap_or("?");
        if let Some((_, count)) = world.groups.iter_mut().find(|(known, _)| known == name) {
            *count += members;
        }
    }
}

/// Lowers all consumers; the members of one group stand together.
pub(super) fn consumers(
    world: &mut World<'_>,
    root: Fields<'_>,
) -> (Vec<GroupConfig>, Vec<ConsumerConfig>) {
    let named = |(name, _): &(String, u16)| GroupConfig { name: name.clone() };
    let groups: Vec<GroupConfig> = world.groups.iter().map(named).collect();
    let mut plans: Vec<Plan<'_>> = Vec::new();
    for fields in root.tables("consumer") {
        let name = fields.text("group").unwrap_or("?");
        let Some(group) = groups.iter().position(|known| known.name == name) else {
            continue;
        };
        let members = fields.whole::<u16>("members").unwrap_or(1);
        plans.push(Plan {
            fields,
            group,
            members,
        });
    }
    plans.sort_by_key(|plan| plan.group);
    let mut consumers: Vec<ConsumerConfig> = Vec::new();
    for plan in &plans {
        let first = members(world, plan);
        let before = consumers
            .iter()
            .filter(|consumer| consumer.group == first.group)
            .count() as u16;
        let room = CONSUMERS_MAX - consumers.len();
        let numbers = (before + 1..=before + plan.members).take(room);
        consumers.extend(numbers.map(|number| ConsumerConfig {
            number,
            name: format!("{}-{number}", groups[plan.group].name),
            ..first.clone()
        }));
    }
    (groups, consumers)
}

/// The members of one table: they differ in nothing but their number.
fn members(world: &mut World<'_>, plan: &Plan<'_>) -> ConsumerConfig {
    let fields = plan.fields;
    let rate = fields.record_rate("rate").filter(|_| fields.has("rate"));
    if rate == Some(0) {
        let problem = Problem::new("`rate` is nothing");
        world.problem(
            problem
                .at(fields.place_of("rate"), "expected more than 0 records/s")
                .hint("a consumer that does not read is a command: consumer pause GROUP"),
        );
    }
    ConsumerConfig {
        group: GroupIndex(plan.group as u16),
        number: 1,
        name: String::new(),
        settings: client(world, &fields),
        topics: topics(world, &fields),
        micro_records_per_second: rate,
        start: world.moment(&fields, "start").unwrap_or(SimTime::ZERO),
    }
}

fn topics(world: &mut World<'_>, fields: &Fields<'_>) -> Vec<TopicIndex> {
    const WAITS: &str = "the consumer reads nothing until it is there";
    let place = fields.place_of("topic");
    let mut topics: Vec<TopicIndex> = match fields.text("topic") {
        Some(name) => vec![world.topic_that(name, place, WAITS)],
        None => fields
            .texts("topic")
            .into_iter()
            .map(|name| world.topic_that(name, place, WAITS))
            .collect(),
    };
    if topics.is_empty() && fields.has("topic") {
        let problem = Problem::new("the consumer has no topics");
        world.problem(problem.at(place, "expected at least one"));
    }
    topics.sort_unstable();
    topics.dedup();
    topics
}

/// The client's effective configuration, or what it says against it.
fn client(world: &mut World<'_>, fields: &Fields<'_>) -> ConsumerSettings {
    let version = fields.version("version").unwrap_or(world.kafka);
    let mut settings = Settings::default();
    import(world, fields, &mut settings);
    settings.put_table(fields);
    if let Some(rack) = fields.text("rack")
        && settings.get("client.rack").is_none()
    {
        let place = fields.place_of("rack");
        settings.put(Setting {
            key: "client.rack".to_owned(),
            value: rack.to_owned(),
            key_place: place,
            place,
        });
    }
    if let Some(isolation) = fields.text("isolation")
        && settings.get("isolation.level").is_none()
    {
        let place = fields.place_of("isolation");
        settings.put(Setting {
            key: "isolation.level".to_owned(),
            value: isolation.to_owned(),
            key_place: place,
            place,
        });
    }
    if let Some(id) = settings.get("group.id")
        && Some(id.value.as_str()) != fields.text("group")
    {
        let problem = Problem::new("`group.id` is not what `group` says");
        let label = "leave it out: `group` is group.id";
        world.problem(problem.at(id.place, label));
    }
    match config::consumer::validate(version, &settings.pairs()) {
        Ok((effective, notes)) => {
            settings.noted(notes, fields.place, world.findings);
            effective
        }
        Err(problems) => {
            settings.refused(problems, fields.place, world.findings);
            ConsumerSettings::defaults(version)
        }
    }
}
