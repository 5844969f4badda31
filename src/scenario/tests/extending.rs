//! `extends`, between files and within the library.

use std::fs;

use super::*;

/// A folder with files, and what loading the first of them gives.
fn load_files(files: &[(&str, &str)]) -> Result<Scenario, String> {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        fs::write(folder.path().join(name), text).unwrap();
    }
    let path = folder.path().join(files[0].0);
    load(Source::Path(path), &Overrides::default()).map_err(|problems| {
        let shown = folder.path().display().to_string();
        problems
            .render(Paint::Plain)
            .replace(&format!("{shown}/"), "")
    })
}

#[test]
fn a_child_changes_its_parent_by_name() {
    let child = "extends = \"parent\"\n[scenario]\ntitle = \"Child\"\n\
        [[producer]]\nname = \"trips\"\nconfig.\"batch.size\" = 1\n\
        [[producer]]\nname = \"fares\"\n[[producer.load]]\ntopic = \"events\"\nrate = 1\n\
        [[timeline]]\nat = \"1s\"\ndo = \"broker stop 1\"\n";
    let parent = small_and("\n[[timeline]]\nat = \"2s\"\ndo = \"broker stop 2\"\n").replace(
        "name = \"trips\"",
        "name = \"trips\"\nconfig.batch.size = 9\nconfig.linger.ms = 7",
    );
    let parent = format!("# Which question?\n{parent}");
    let scenario = load_files(&[("child.toml", child), ("parent.toml", &parent)]).unwrap();
    assert_eq!(
        (scenario.title.as_str(), scenario.name.as_str()),
        ("Child", "child")
    );
    assert_eq!(scenario.question, "Which question?");
    assert_eq!(scenario.config.producers.len(), 2);
    assert_eq!(scenario.config.timeline.len(), 1);
    let settings = scenario.config.producers[0]
        .client
        .java()
        .expect("a Java client");
    assert_eq!((settings.batch_size, settings.linger_ms), (1, 7));
    assert_eq!(
        scenario.config.producers[0].loads.len(),
        1,
        "the load is inherited"
    );
}

#[test]
fn a_file_extends_an_embedded_scenario_by_its_name() {
    let child = "[scenario]\nextends = \"full-buffer\"\n[[producer]]\nname = \"trips\"\n\
        config.buffer.memory = 67108864\n";
    let scenario = load_files(&[("bigger.toml", child)]).unwrap();
    let settings = scenario.config.producers[0]
        .client
        .java()
        .expect("a Java client");
    assert_eq!(settings.buffer_memory, 64 << 20);
}

#[test]
fn circles_and_depth_are_refused_by_name() {
    let circle = [
        ("a.toml", "extends = \"b\"\n"),
        ("b.toml", "extends = \"./c.toml\"\n"),
        ("c.toml", "extends = \"a\"\n"),
    ];
    let deep: Vec<(String, String)> = (0..12)
        .map(|n| (format!("{n}.toml"), format!("extends = \"{}\"\n", n + 1)))
        .collect();
    let deep: Vec<(&str, &str)> = deep.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
    let missing = [("a.toml", "extends = \"full-bufer\"\n")];
    let shown = |files: &[(&str, &str)]| {
        let text = load_files(files).unwrap_err();
        text.lines()
            .take_while(|line| !line.is_empty())
            .collect::<Vec<_>>()
            .join("\n")
    };
    let all = [shown(&circle), shown(&deep), shown(&missing)];
    golden("circles_and_depth_are_refused_by_name", &all.join("\n\n"));
}

#[test]
fn a_problem_points_into_the_file_that_has_it() {
    let child = "extends = \"parent\"\n[scenario]\ntitle = \"Child\"\n";
    let parent = SMALL.replace("rate = 100", "rate = 0");
    golden(
        "a_problem_points_into_the_file_that_has_it",
        &load_files(&[("child.toml", child), ("parent.toml", &parent)]).unwrap_err(),
    );
}
