//! `kdrill new`: a commented scenario to start from, or one of a real client and real topics.
//!
//! What is printed is a scenario that kdrill accepts: it was loaded before it is shown.

mod topics;

use std::fs;
use std::path::{Path, PathBuf};

use crate::command::text::{append, escaped};
use crate::headless::{Exit, complain, paint_for};
use crate::report::output::Destination;
use crate::scenario::{Overrides, Source, load};

use topics::{Topic, described};

/// What the new scenario is made of.
#[derive(Clone, Debug)]
pub struct Request {
    /// A client's configuration file (`--properties`).
    pub properties: Option<PathBuf>,
    /// Whose configuration it is: `java` or `librdkafka`.
    pub client: &'static str,
    /// What `kafka-topics.sh --describe` printed (`--describe`).
    pub describe: Option<PathBuf>,
    /// Where it goes; `None` is standard output.
    pub output: Option<PathBuf>,
}

/// Writes a new scenario.
pub fn run(request: &Request) -> Exit {
    let text = match text(request) {
        Ok(text) => text,
        Err(problem) => {
            complain(&problem);
            return Exit::Usage;
        }
    };
    let destination = match &request.output {
        None => Ok(Destination::stdout()),
        Some(path) if path.exists() => {
            let shown = escaped(&path.to_string_lossy());
            complain(&format!(
                "error: {shown} is there already\n\ngive it another name, or remove it first"
            ));
            return Exit::Usage;
        }
        Some(path) => Destination::file(path),
    };
    match destination.and_then(|destination| destination.write(&text)) {
        Ok(()) => Exit::Held,
        Err(error) => {
            complain(&format!("error: {error}"));
            Exit::Unwritten
        }
    }
}

/// The scenario, or why there is none.
fn text(request: &Request) -> Result<String, String> {
    let topics = match &request.describe {
        None => vec![Topic::usual()],
        Some(path) => {
            let shown = escaped(&path.to_string_lossy());
            described(&read(path)?).map_err(|why| format!("error: {shown}: {why}"))?
        }
    };
    let properties = match &request.properties {
        None => None,
        Some(path) => Some(
            path.canonicalize()
                .map_err(|error| unreadable(path, &error))?,
        ),
    };
    let text = scenario(&topics, properties.as_deref(), request.client);
    let source = Source::Text {
        name: "the new scenario".to_owned(),
        text: text.clone(),
    };
    match load(source, &Overrides::default()) {
        Ok(_) => Ok(text),
        Err(problems) => Err(problems.render(paint_for(&std::io::stderr()))),
    }
}

fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| unreadable(path, &error))
}

fn unreadable(path: &Path, error: &std::io::Error) -> String {
    let shown = escaped(&path.to_string_lossy());
    format!("error: {shown} cannot be read: {error}")
}

const HEAD: &str = r#"# What happens when the link from the application to one broker is cut for half a minute?
#
# The first line is the question that this scenario answers. Change anything, then:
#   kdrill check FILE    all problems at once      kdrill FILE               watch it
#   kdrill schema        every key there is        kdrill FILE --headless    a report

[scenario]
format = 1
title = "A link is cut"
duration = "120s"
seed = 1                                # another seed, other random draws
"#;

const CLUSTER: &str = r#"# link = { rtt = "1ms", bandwidth = "1Gbit/s" }   # between every pair; [[link]] overrides one
# append-rate = "20MiB/s"               # what one broker's disk takes; without it a disk holds nothing up
# config.replica.lag.time.max.ms = 30000          # broker configuration by its real names
"#;

const LOAD: &str = r#"rate = 1000                             # records/s; or "max", or [{ from = "60s", rate = 5000 }]
key = { uniform = 5000, format = "rider-{n}" }    # or { zipf = 1.1, count = 5000, format = "tenant-{n}" }
value = { bytes = 1024 }
"#;

const REST: &str = r#"
# [[consumer]]
# group = "timelines"
# topic = "TOPIC"
# rate = 2000                           # records/s that one member can process

[[timeline]]                            # the same words as at the ':' prompt: broker kill 2
at = "30s"
do = "link cut app BROKER"

[[timeline]]
at = "60s"
do = "link heal app BROKER"

[[expect]]                              # what must hold; a headless run ends with 1 if it does not
name = "nothing that was acknowledged is lost"
no = ["acknowledged-loss"]
"#;

fn scenario(topics: &[Topic], properties: Option<&Path>, client: &str) -> String {
    let mut text = HEAD.to_owned();
    let mut brokers: Vec<u32> = topics
        .iter()
        .flat_map(|topic| topic.replicas.iter().flatten().copied())
        .collect();
    brokers.sort_unstable();
    brokers.dedup();
    let is_usual = brokers.iter().copied().eq(1..=brokers.len() as u32);
    text.push_str("\n[cluster]\n");
    if is_usual {
        append(&mut text, format_args!("brokers = {}\n", brokers.len()));
    }
    text.push_str(CLUSTER);
    if !is_usual {
        for broker in &brokers {
            append(&mut text, format_args!("\n[[broker]]\nid = {broker}\n"));
        }
    }
    for topic in topics {
        topic.write(&mut text);
    }
    append(
        &mut text,
        format_args!("\n[[producer]]\nname = \"app\"\nclient = \"{client}\"\n"),
    );
    match properties {
        Some(path) => append(
            &mut text,
            format_args!("config-file = {}\n", quoted(&path.to_string_lossy())),
        ),
        None => text.push_str(
            "config.linger.ms = 5                    # client configuration by its real names\n",
        ),
    }
    let first = topics.first().map_or("events", |topic| topic.name.as_str());
    append(
        &mut text,
        format_args!("\n[[producer.load]]\ntopic = {}\n{LOAD}", quoted(first)),
    );
    let victim = topics.first().and_then(|topic| topic.replicas.first());
    let victim = victim.and_then(|replicas| replicas.first()).unwrap_or(&1);
    let rest = REST.replace("BROKER", &victim.to_string());
    text.push_str(&rest.replace("\"TOPIC\"", &quoted(first)));
    text
}

/// A string as TOML writes it.
fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}
