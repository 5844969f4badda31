//! The house stays in order: layers, lengths, banned words, scenarios that ask a question.

#![expect(
    clippy::unwrap_used,
    reason = "a file that cannot be read fails the test"
)]

use std::fs;
use std::path::{Path, PathBuf};

/// What each layer may use, besides itself. `docs/architecture.md` has the picture.
const LAYERS: &[(&str, &[&str])] = &[
    ("kafka", &[]),
    ("sim", &["kafka"]),
    ("insight", &["sim", "kafka"]),
    ("command", &["sim", "kafka"]),
    ("rehearsal", &["insight", "command", "sim", "kafka"]),
    (
        "scenario",
        &["command", "rehearsal", "insight", "sim", "kafka"],
    ),
    (
        "session",
        &[
            "scenario",
            "command",
            "rehearsal",
            "insight",
            "sim",
            "kafka",
        ],
    ),
    (
        "report",
        &["session", "scenario", "command", "insight", "sim", "kafka"],
    ),
    (
        "headless",
        &[
            "cli",
            "report",
            "session",
            "scenario",
            "command",
            "rehearsal",
            "insight",
            "sim",
            "kafka",
        ],
    ),
    (
        "keys",
        &["headless", "report", "scenario", "command", "kafka"],
    ),
    (
        "swarm",
        &[
            "headless", "report", "scenario", "command", "insight", "sim", "kafka",
        ],
    ),
    (
        "tui",
        &[
            "session",
            "scenario",
            "command",
            "rehearsal",
            "insight",
            "sim",
            "kafka",
        ],
    ),
    (
        "recording",
        &[
            "still", "tui", "headless", "report", "session", "scenario", "command", "insight",
            "sim",
        ],
    ),
    (
        "still",
        &["tui", "headless", "report", "session", "scenario", "sim"],
    ),
    (
        "scaffold",
        &["headless", "report", "scenario", "command", "kafka"],
    ),
    (
        "lint",
        &["headless", "report", "scenario", "command", "sim", "kafka"],
    ),
    (
        "diff",
        &[
            "headless", "report", "session", "scenario", "command", "sim",
        ],
    ),
    (
        "cli",
        &["session", "scenario", "command", "insight", "sim", "kafka"],
    ),
];
/// What engine and arithmetic must not know.
const FENCED: &[&str] = &[
    "std::fs",
    "std::thread",
    "std::env",
    "std::net",
    "std::process",
    "Instant",
    "SystemTime",
    "tokio",
    "ratatui",
    "crossterm",
    "serde",
    "toml::",
];
/// Lines of a source file at most. A file with two subjects is longer.
const FILE_LINES_MAX: usize = 620;
/// Characters of a line at most; only literal messages may be longer, since they do not break.
const LINE_CHARS_MAX: usize = 100;
/// Words with their replacements.
const BANNED: &[(&str, &str)] = &[
    (
        "todo!",
        "build it, or say in docs/fidelity.md that it is absent",
    ),
    ("unimplemented!", "build it"),
    ("#[ignore", "a test that does not run proves nothing"),
    ("#[allow(", "use #[expect(…, reason)]"),
    ("FIXME", "mend it"),
    ("thread_rng", "draw from a named stream"),
];

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path, ending));
        } else if path.extension().is_some_and(|e| e == ending) {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// The top-level module that a source file belongs to.
fn layer_of(path: &Path) -> String {
    let inside = path.strip_prefix(root().join("src")).unwrap();
    let first = inside
        .components()
        .next()
        .unwrap()
        .as_os_str()
        .to_string_lossy()
        .into_owned();
    first.trim_end_matches(".rs").to_string()
}

fn report(problems: &[String]) {
    assert!(
        problems.is_empty(),
        "{} problems:\n{}",
        problems.len(),
        problems.join("\n")
    );
}

fn lines(path: &Path) -> Vec<(usize, String)> {
    let text = fs::read_to_string(path).unwrap();
    text.lines()
        .enumerate()
        .map(|(place, line)| (place + 1, line.to_string()))
        .collect()
}

#[test]
fn layers_use_only_what_is_below_them() {
    let mut problems = Vec::new();
    for path in files(&root().join("src"), "rs") {
        let layer = layer_of(&path);
        let Some((_, below)) = LAYERS.iter().find(|(name, _)| *name == layer) else {
            continue;
        };
        for (number, line) in lines(&path) {
            let code = line.split("//").next().unwrap_or("");
            for (at, _) in code.match_indices("crate::") {
                let rest = &code[at + "crate::".len()..];
                let used: String = rest
                    .chars()
                    .take_while(|c| c.is_alphanumeric() || *c == '_')
                    .collect();
                let is_layer = LAYERS.iter().any(|(name, _)| *name == used);
                if is_layer && used != layer && !below.contains(&used.as_str()) {
                    problems.push(format!("{}:{number}: {layer} uses {used}", path.display()));
                }
            }
        }
    }
    report(&problems);
}

#[test]
fn the_engine_knows_no_files_threads_clocks_or_screens() {
    let mut problems = Vec::new();
    for layer in ["sim", "kafka"] {
        for path in files(&root().join("src").join(layer), "rs") {
            for (number, line) in lines(&path) {
                let code = line.split("//").next().unwrap_or("");
                for word in FENCED.iter().filter(|word| code.contains(**word)) {
                    problems.push(format!("{}:{number}: {word}", path.display()));
                }
            }
        }
    }
    report(&problems);
}

#[test]
fn files_have_one_subject_and_lines_fit_a_screen() {
    let mut problems = Vec::new();
    for path in files(&root().join("src"), "rs") {
        let lines = lines(&path);
        if lines.len() > FILE_LINES_MAX {
            problems.push(format!("{}: {} lines", path.display(), lines.len()));
        }
        for (number, line) in lines {
            let is_literal = line.contains('"');
            if line.chars().count() > LINE_CHARS_MAX && !is_literal {
                problems.push(format!("{}:{number}: over 100 characters", path.display()));
            }
        }
    }
    report(&problems);
}

#[test]
fn nothing_is_left_for_later() {
    let mut problems = Vec::new();
    for folder in ["src", "benches"] {
        for path in files(&root().join(folder), "rs") {
            for (number, line) in lines(&path) {
                for (word, instead) in BANNED.iter().filter(|(word, _)| line.contains(word)) {
                    problems.push(format!("{}:{number}: {word}: {instead}", path.display()));
                }
            }
        }
    }
    report(&problems);
}

#[test]
fn every_module_says_what_it_is_for() {
    let undocumented: Vec<_> = files(&root().join("src"), "rs")
        .into_iter()
        .filter(|path| !fs::read_to_string(path).unwrap().starts_with("//!"))
        .map(|path| path.display().to_string())
        .collect();
    report(&undocumented);
}

#[test]
fn every_scenario_opens_with_the_question_that_it_answers() {
    let mut problems = Vec::new();
    for path in files(&root().join("scenarios"), "toml") {
        let text = fs::read_to_string(&path).unwrap();
        let first = text.lines().next().unwrap_or("");
        if !first.starts_with("# ") || !first.ends_with('?') {
            problems.push(format!("{}: {first}", path.display()));
        }
    }
    report(&problems);
}

#[test]
fn the_map_names_every_room() {
    let map = fs::read_to_string(root().join("docs/architecture.md")).unwrap();
    let missing: Vec<_> = LAYERS
        .iter()
        .map(|(layer, _)| *layer)
        .filter(|layer| !map.contains(&format!("src/{layer}")))
        .map(ToString::to_string)
        .collect();
    report(&missing);
}
