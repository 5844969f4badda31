//! `kdrill lint`: what a real client configuration means.
//!
//! The file is read as a scenario's `config-file` is, so refusals and notes are the client's own,
//! with carets. What it means is then worked out for a load: seconds of buffer, memory of
//! partitions, how long calls block and records are tried, and what is promised.

mod java;
mod rdkafka;

use std::path::PathBuf;

use crate::command::text::{append, escaped};
use crate::headless::{Exit, complain, paint_for};
use crate::report::output::Destination;
use crate::scenario::{Overrides, Scenario, Source, load};
use crate::sim::config::ClientConfig;

/// What is looked at, and for which load.
#[derive(Clone, Debug)]
pub struct Request {
    /// A `.properties` file.
    pub file: PathBuf,
    /// Whose configuration it is: `java` or `librdkafka`.
    pub client: &'static str,
    /// The client's release; its latest one where none is named.
    pub version: Option<String>,
    /// Records per second, above 0.
    pub rate: u64,
    /// Bytes of a record's value.
    pub value_bytes: u32,
    /// Partitions that are written to.
    pub partitions: u32,
}

/// The load that a configuration is judged by.
#[derive(Clone, Copy, Debug)]
struct Load {
    rate: u64,
    value_bytes: u32,
    partitions: u32,
}

/// One thing that a configuration means.
struct Meaning {
    /// What it is about, in a word or two.
    topic: &'static str,
    /// In sentences.
    text: String,
}

/// Cells of a line at most, and of what stands before its text.
const LINE_CELLS: usize = 100;
const TOPIC_CELLS: usize = 12;

/// Says what is refused, what silently changes, and what the rest means.
pub fn run(request: &Request) -> Exit {
    let scenario = match read(request) {
        Ok(scenario) => scenario,
        Err(problems) => {
            complain(&problems);
            return Exit::Usage;
        }
    };
    match Destination::stdout().write(&text(&scenario, request)) {
        Ok(()) => Exit::Held,
        Err(error) => {
            complain(&format!("error: {error}"));
            Exit::Unwritten
        }
    }
}

/// The smallest scenario with this client.
fn read(request: &Request) -> Result<Scenario, String> {
    let shown = escaped(&request.file.to_string_lossy());
    let file = request
        .file
        .canonicalize()
        .map_err(|error| format!("error: {shown} cannot be read: {error}"))?;
    let string = |text: &str| toml::Value::String(text.to_owned()).to_string();
    let version = request.version.as_deref().map_or(String::new(), |version| {
        format!("version = {}\n", string(version))
    });
    let text = format!(
        "# What does this configuration mean?\n[scenario]\nformat = 1\ntitle = \"lint\"\n\
         duration = \"1s\"\n[cluster]\nbrokers = 1\n[[topic]]\nname = \"events\"\n\
         [[producer]]\nname = \"client\"\nclient = \"{}\"\n{version}config-file = {}\n\
         [[producer.load]]\ntopic = \"events\"\nrate = 1\n",
        request.client,
        string(&file.to_string_lossy()),
    );
    let name = request.file.to_string_lossy().into_owned();
    load(Source::Text { name, text }, &Overrides::default())
        .map_err(|problems| problems.render(paint_for(&std::io::stderr())))
}

fn text(scenario: &Scenario, request: &Request) -> String {
    let load = Load {
        rate: request.rate,
        value_bytes: request.value_bytes,
        partitions: request.partitions,
    };
    let (client, meanings) = match &scenario.config.producers[0].client {
        ClientConfig::Java(settings) => (
            format!("the Java client {}", settings.version),
            java::meanings(settings, load),
        ),
        ClientConfig::Rdkafka(settings) => (
            format!("librdkafka {}", settings.version),
            rdkafka::meanings(settings, load),
        ),
    };
    let mut text = String::new();
    for note in &scenario.notes {
        text.push_str(note.rendered.trim_end());
        text.push_str("\n\n");
    }
    append(
        &mut text,
        format_args!(
            "{} with {client}, for {} records/s with values of {} bytes to {} partitions:\n\n",
            escaped(&request.file.to_string_lossy()),
            load.rate,
            load.value_bytes,
            load.partitions,
        ),
    );
    for meaning in meanings {
        paragraph(&meaning, &mut text);
    }
    text
}

/// A topic, and beside it the text in lines that fit.
fn paragraph(meaning: &Meaning, text: &mut String) {
    let mut line = format!("{:<TOPIC_CELLS$}", meaning.topic);
    for word in meaning.text.split(' ') {
        if line.chars().count() + 1 + word.chars().count() > LINE_CELLS {
            text.push_str(line.trim_end());
            text.push('\n');
            line = " ".repeat(TOPIC_CELLS);
        }
        line.push_str(word);
        line.push(' ');
    }
    text.push_str(line.trim_end());
    text.push('\n');
}

fn meaning(topic: &'static str, text: String) -> Meaning {
    Meaning { topic, text }
}

/// Seconds for people: two digits that count.
fn seconds(seconds: f64) -> String {
    if seconds >= 10.0 {
        format!("{seconds:.0} s")
    } else if seconds >= 1.0 {
        format!("{seconds:.1} s")
    } else {
        format!("{:.0} ms", seconds * 1e3)
    }
}

/// Milliseconds of a configuration for people.
fn span(milliseconds: u64) -> String {
    if milliseconds >= u64::MAX / 2 {
        return "for ever".to_owned();
    }
    seconds(milliseconds as f64 / 1e3)
}

/// Bytes for people.
fn bytes(bytes: u64) -> String {
    const KIB: f64 = 1024.0;
    let bytes = bytes as f64;
    if bytes >= KIB * KIB {
        format!("{:.1} MiB", bytes / KIB / KIB)
    } else if bytes >= KIB {
        format!("{:.1} KiB", bytes / KIB)
    } else {
        format!("{bytes:.0} bytes")
    }
}
