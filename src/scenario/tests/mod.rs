//! Stories of loading: what a file becomes, and what is said against a broken one.

mod extending;
mod files;
mod keys;
mod loading;
mod problems;
mod rdkafka;
mod rubbish;
mod secrets;

use super::*;

/// A scenario that has what it must have, and nothing else.
const SMALL: &str = "\
[scenario]
title = \"Small\"
duration = \"60s\"

[cluster]
brokers = 3

[[topic]]
name = \"events\"
partitions = 6

[[producer]]
name = \"trips\"

[[producer.load]]
topic = \"events\"
rate = 100
";

/// [`SMALL`] with more text behind it.
fn small_and(more: &str) -> String {
    format!("{SMALL}{more}")
}

fn load_text(text: &str) -> Result<Scenario, Problems> {
    load_with(text, &[])
}

fn load_with(text: &str, set: &[&str]) -> Result<Scenario, Problems> {
    let set = set.iter().map(|set| (*set).to_owned()).collect();
    let overrides = Overrides {
        set,
        ..Overrides::default()
    };
    load(
        Source::Text {
            name: "small.toml".into(),
            text: text.into(),
        },
        &overrides,
    )
}

/// What is said against a text.
fn refused(text: &str) -> String {
    match load_text(text) {
        Ok(_) => "nothing is wrong".to_owned(),
        Err(problems) => problems.render(Paint::Plain),
    }
}

/// The notes of a text that loads.
fn noted(text: &str) -> String {
    let scenario = load_text(text).unwrap();
    scenario
        .notes
        .iter()
        .map(|note| note.rendered.as_str())
        .collect::<Vec<_>>()
        .join("\n\n")
}

/// Compares with a reviewed text, kept in a file of this name.
fn golden(name: &str, text: &str) {
    insta::with_settings!({ omit_expression => true, prepend_module_to_snapshot => false }, {
        insta::assert_snapshot!(name, text);
    });
}
