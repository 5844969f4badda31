//! Files: missing, unreadable, huge, and those that a scenario refers to.

use std::fs;
use std::path::Path;

use super::*;
use crate::sim::config::ValueConfig;

fn refused_path(folder: &Path, path: &Path) -> String {
    let problems = load(Source::Path(path.into()), &Overrides::default()).unwrap_err();
    problems
        .render(Paint::Plain)
        .replace(&format!("{}/", folder.display()), "")
}

#[test]
fn files_that_cannot_be_read_say_why() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::create_dir(path("inner.toml")).unwrap();
    fs::write(path("bytes.toml"), b"[scenario]\ntitle = \"\xff\"").unwrap();
    fs::File::create(path("huge.toml"))
        .unwrap()
        .set_len(100 << 20)
        .unwrap();
    let names = [
        "full-bufer.toml",
        "inner.toml",
        "bytes.toml",
        "huge.toml",
        "nowhere/x.toml",
    ];
    let shown: Vec<String> = names
        .iter()
        .map(|name| refused_path(folder.path(), &path(name)))
        .collect();
    golden("files_that_cannot_be_read_say_why", &shown.join("\n"));
}

#[test]
fn an_imported_client_file_wins_over_nothing_and_hides_its_secrets() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let properties = "# exported\nlinger.ms=7\nbatch.size=9\nssl.key.password=\\\n  swordfish\n\
        sasl.jaas.config = swordfish\nretries = -7\n";
    let own =
        "name = \"trips\"\nconfig-file = \"trips.properties\"\nconfig.batch.size = 5\ncount = 2";
    fs::write(path("trips.properties"), properties).unwrap();
    fs::write(path("a.toml"), SMALL.replace("name = \"trips\"", own)).unwrap();
    let text = refused_path(folder.path(), &path("a.toml"));
    assert!(!text.contains("swordfish"), "{text}");
    golden(
        "an_imported_client_file_wins_over_nothing_and_hides_its_secrets",
        &text,
    );
    fs::write(path("trips.properties"), properties.replace("-7", "7")).unwrap();
    let scenario = load(Source::Path(path("a.toml")), &Overrides::default()).unwrap();
    let settings = scenario.config.producers[1]
        .client
        .java()
        .expect("a Java client");
    assert_eq!(
        (settings.linger_ms, settings.batch_size, settings.retries),
        (7, 5, 7)
    );
}

#[test]
fn keys_and_samples_come_from_neighbours() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::write(path("keys.txt"), "a\nb\n\n").unwrap();
    fs::write(path("clicks.ndjson"), "{}\n{\"a\":1}\n").unwrap();
    let more = "key = { file = \"keys.txt\" }\nvalue = { sample = \"clicks.ndjson\" }\n";
    fs::write(path("a.toml"), small_and(more)).unwrap();
    let scenario = load(Source::Path(path("a.toml")), &Overrides::default()).unwrap();
    let load = &scenario.config.producers[0].loads[0];
    assert_eq!(load.keys.keys, [b"a", b"b"]);
    let ValueConfig::Sample(values) = &load.values else {
        panic!("{:?}", load.values);
    };
    assert_eq!(
        values.iter().map(|value| value.len()).collect::<Vec<_>>(),
        [2, 7]
    );
}

#[test]
fn a_folder_is_checked_file_by_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::create_dir(path("inner")).unwrap();
    fs::write(path("b.toml"), SMALL).unwrap();
    fs::write(path("inner/a.toml"), SMALL.replace("[cluster]", "[cluser]")).unwrap();
    fs::write(path("notes.txt"), "x").unwrap();
    let checked = check(&[folder.path().to_owned()], Paint::Plain);
    assert_eq!(checked.verdict, Verdict::Faulty);
    let shown = checked
        .text
        .replace(&format!("{}/", folder.path().display()), "");
    golden("a_folder_is_checked_file_by_file", &shown);
}
