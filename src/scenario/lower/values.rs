//! The value sizes of a load.

use crate::scenario::problem::Problem;
use crate::scenario::read::Fields;
use crate::sim::config::ValueConfig;

use super::World;

/// `value`, in whichever form it is written.
pub(super) fn values(world: &mut World<'_>, load: &Fields<'_>) -> ValueConfig {
    /// What `fields::LOAD` says that a load has when it says nothing.
    const DEFAULT_BYTES: u32 = 1024;
    if load.has("value") && load.text("value") == Some("null") {
        return ValueConfig::Null;
    }
    let Some(fields) = load.table("value") else {
        return ValueConfig::Fixed(DEFAULT_BYTES);
    };
    let forms: Vec<&str> = ["bytes", "min", "sample"]
        .into_iter()
        .filter(|form| fields.has(form))
        .collect();
    match forms[..] {
        ["bytes"] if !fields.has("max") => {
            ValueConfig::Fixed(fields.whole("bytes").unwrap_or(DEFAULT_BYTES))
        }
        ["min"] if fields.has("max") => uniform(world, &fields),
        ["sample"] if !fields.has("max") => sample(world, &fields),
        _ => {
            let problem = Problem::new("`value` must say sizes in one way").at(fields.place, "");
            let hint = "{ bytes = 1024 }, { min = 100, max = 2000 } or { sample = \"file\" }";
            world.problem(problem.hint(hint));
            ValueConfig::Fixed(DEFAULT_BYTES)
        }
    }
}

fn uniform(world: &mut World<'_>, fields: &Fields<'_>) -> ValueConfig {
    let (least, most) = (
        fields.whole("min").unwrap_or(0),
        fields.whole("max").unwrap_or(0),
    );
    if least > most {
        let problem = Problem::new("`min` is above `max`");
        world.problem(
            problem
                .at(fields.place_of("min"), "")
                .at(fields.place_of("max"), "smaller than that"),
        );
        return ValueConfig::Fixed(0);
    }
    ValueConfig::Uniform(least, most)
}

/// The length of each line of real payloads.
fn sample(world: &mut World<'_>, fields: &Fields<'_>) -> ValueConfig {
    let place = fields.place_of("sample");
    let Some(text) = neighbour(world, fields, "sample") else {
        return ValueConfig::Fixed(0);
    };
    let sizes: Vec<u32> = text
        .lines()
        .filter(|line| !line.is_empty())
        .map(|line| line.len() as u32)
        .collect();
    if sizes.is_empty() {
        let problem = Problem::new("the sample is empty");
        world.problem(problem.at(place, "expected a payload in each line"));
        return ValueConfig::Fixed(0);
    }
    if !world.take_entries(sizes.len(), place) {
        return ValueConfig::Fixed(0);
    }
    ValueConfig::Sample(sizes)
}

/// The text of a file that a key names.
pub(super) fn neighbour(world: &mut World<'_>, fields: &Fields<'_>, name: &str) -> Option<String> {
    let place = fields.place_of(name);
    let home = world.home(place);
    match world.sources.follow(home, fields.text(name)?) {
        Ok(source) => Some(world.sources.text(source).to_owned()),
        Err(problem) => {
            world.problem(problem.at(place, ""));
            None
        }
    }
}
