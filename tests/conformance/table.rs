//! The table in `docs/conformance.md`: a row for each mechanism and probe, with the figure that is
//! furthest apart.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use crate::comparison::{Comparison, Figure};

/// The page is what the comparisons make it; with `KDRILL_UPDATE` set it is written.
pub fn assert_current(comparisons: &[Comparison]) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/conformance.md");
    let page = page(comparisons);
    if std::env::var_os("KDRILL_UPDATE").is_some() {
        std::fs::write(&path, page).expect("the page can be written");
        return;
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        written == page,
        "docs/conformance.md is not what the comparisons say: \
         KDRILL_UPDATE=1 cargo test --test conformance writes it"
    );
}

fn page(comparisons: &[Comparison]) -> String {
    let mut groups: BTreeMap<(&str, &str), Vec<&Comparison>> = BTreeMap::new();
    let agreeing = comparisons.iter().filter(|comparison| comparison.holds());
    for comparison in agreeing {
        let probe = comparison.case.split('/').next().unwrap_or_default();
        groups
            .entry((probe, comparison.mechanism))
            .or_default()
            .push(comparison);
    }
    let mut page = String::from(
        "# Real and simulated\n\n\
         Written by `KDRILL_UPDATE=1 cargo test --test conformance` from the recordings in\n\
         `tests/golden/real` and from the simulation; do not edit. A row is a mechanism in one probe,\n\
         with the figure of all its cases that is furthest apart in relation to what is allowed.\n\
         Recorded cases that the simulation does not follow yet stand, each with its reason, in\n\
         `tests/conformance/not_yet_modelled.rs`.\n\n\
         | mechanism | probe | cases | furthest apart | real | simulated | difference | allowed |\n\
         |---|---|---:|---|---:|---:|---:|---|\n",
    );
    for ((probe, mechanism), group) in groups {
        let cases = group.len();
        let figures = group.iter().flat_map(|comparison| {
            comparison
                .figures
                .iter()
                .map(|figure| (comparison.case.as_str(), figure))
        });
        let furthest = figures.max_by(|a, b| a.1.strain().total_cmp(&b.1.strain()));
        let Some((case, figure)) = furthest else {
            continue;
        };
        let row = if figure.real == figure.simulated {
            format!("| {mechanism} | {probe} | {cases} | nothing | | | none | |")
        } else {
            let case = case.split_once('/').map_or(case, |(_, case)| case);
            row_of((mechanism, probe, cases), case, figure)
        };
        let _written = writeln!(page, "{row}");
    }
    page
}

fn row_of(group: (&str, &str, usize), case: &str, figure: &Figure) -> String {
    use crate::comparison::Tolerance;
    let (mechanism, probe, cases) = group;
    let allowed = match figure.tolerance {
        Tolerance::Exact => "nothing".to_string(),
        Tolerance::Share(share, why) => format!("{:.1} %: {why}", share * 100.0),
        Tolerance::Absolute(most, why) => format!("{most}: {why}"),
    };
    format!(
        "| {mechanism} | {probe} | {cases} | {case}: {} | {} | {} | {} | {allowed} |",
        figure.name,
        figure.real,
        figure.simulated,
        figure.difference(),
    )
}
