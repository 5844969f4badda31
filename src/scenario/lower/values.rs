//! The values of a load: their sizes, and what they are made of.

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;

use crate::scenario::problem::Problem;
use crate::scenario::read::Fields;
use crate::scenario::tree::SourceId;
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
    for name in ["as", "compresses-to"] {
        fits(world, &fields, name);
    }
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

/// What values without content shrink to in compression, in parts per million.
pub(super) fn compresses_to_ppm(load: &Fields<'_>) -> Option<u32> {
    let share = load.table("value")?.number("compresses-to")?;
    Some((share * 1e6).round() as u32)
}

/// A sample says itself how it compresses, and nothing else has lines to decode.
fn fits(world: &mut World<'_>, fields: &Fields<'_>, name: &str) {
    let has_sample = fields.has("sample");
    let (is_misplaced, label) = match name {
        "compresses-to" => (has_sample, "a sample is compressed as it is"),
        _ => (!has_sample, "only a sample's lines are decoded"),
    };
    if fields.has(name) && is_misplaced {
        let problem = Problem::new(format!("`{name}` has no meaning here"));
        world.problem(problem.at(fields.place_of(name), label));
    }
}

/// How a line of a sample stands for its payload.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Line {
    Text,
    Base64,
}

/// A file of payloads.
pub(super) struct ReadSample {
    source: SourceId,
    line: Line,
    values: Arc<[Box<[u8]>]>,
}

/// Real payloads, one a line.
fn sample(world: &mut World<'_>, fields: &Fields<'_>) -> ValueConfig {
    let Some(source) = source(world, fields, "sample") else {
        return ValueConfig::Fixed(0);
    };
    let line = match fields.text("as") {
        Some("base64") => Line::Base64,
        _ => Line::Text,
    };
    let is_it = |read: &&ReadSample| read.source == source && read.line == line;
    if let Some(read) = world.samples.iter().find(is_it) {
        return ValueConfig::Sample(Arc::clone(&read.values));
    }
    match read(world, source, line) {
        Ok(values) if !world.take_entries(values.len(), fields.place_of("sample")) => {
            ValueConfig::Fixed(0)
        }
        Ok(values) => {
            world.samples.push(ReadSample {
                source,
                line,
                values: Arc::clone(&values),
            });
            ValueConfig::Sample(values)
        }
        Err(problem) => {
            world.problem(problem.at(fields.place_of("sample"), "expected a payload in each line"));
            ValueConfig::Fixed(0)
        }
    }
}

fn read(world: &World<'_>, source: SourceId, line: Line) -> Result<Arc<[Box<[u8]>]>, Problem> {
    let lines = (1..).zip(world.sources.text(source).lines());
    let values = lines.filter(|(_, text)| !text.is_empty());
    let values = values.map(|(number, text)| match line {
        Line::Text => Ok(text.as_bytes().into()),
        Line::Base64 => BASE64
            .decode(text)
            .map(Vec::into_boxed_slice)
            .map_err(|error| {
                Problem::new(format!("line {number} of the sample is no Base64: {error}"))
            }),
    });
    let values = values.collect::<Result<Vec<Box<[u8]>>, _>>()?;
    if values.is_empty() {
        return Err(Problem::new("the sample is empty"));
    }
    Ok(values.into())
}

/// The text of a file that a key names.
pub(super) fn neighbour(world: &mut World<'_>, fields: &Fields<'_>, name: &str) -> Option<String> {
    let source = source(world, fields, name)?;
    Some(world.sources.text(source).to_owned())
}

fn source(world: &mut World<'_>, fields: &Fields<'_>, name: &str) -> Option<SourceId> {
    let place = fields.place_of(name);
    let home = world.home(place);
    match world.sources.follow(home, fields.text(name)?) {
        Ok(source) => Some(source),
        Err(problem) => {
            world.problem(problem.at(place, ""));
            None
        }
    }
}
