//! The sampled series as rows, for spreadsheets and plots.

use super::{Outcome, SeriesRow};

/// The columns.
const COLUMNS: [&str; 8] = [
    "scenario",
    "path",
    "from_seconds",
    "to_seconds",
    "last",
    "min",
    "mean",
    "max",
];

/// All series of all runs, a row a bucket.
pub(super) fn render(outcomes: &[Outcome]) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    // Writing to memory cannot fail, and every row has the same length.
    let _written = writer.write_record(COLUMNS);
    for outcome in outcomes {
        let Outcome::Ran(report) = outcome else {
            continue;
        };
        for row in &report.series {
            let _written = writer.write_record(cells(&report.scenario, row));
        }
    }
    let bytes = writer.into_inner().unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}

fn cells(scenario: &str, row: &SeriesRow) -> [String; 8] {
    let figure = |value: Option<f64>| value.map(|value| value.to_string()).unwrap_or_default();
    [
        scenario.to_owned(),
        row.path.clone(),
        row.from_seconds.to_string(),
        row.to_seconds.to_string(),
        figure(row.values.last.get()),
        figure(row.values.min.get()),
        figure(row.values.mean.get()),
        figure(row.values.max.get()),
    ]
}
