//! Paths of metrics in a scenario: `insight` knows which exist, this says it with a caret.

use crate::insight::path;
use crate::scenario::problem::Problem;
use crate::scenario::tree::Place;
use crate::sim::config::Config;

/// Checks a path.
pub(super) fn check(written: &str, place: Place, config: &Config) -> Result<(), Problem> {
    if written.split('.').next() == Some("txn") {
        let title = "`txn` metrics are not yet in this version";
        return Err(Problem::new(title).at(place, ""));
    }
    path::check(written, config).map_err(|problem| {
        // Code stands between backticks in every message of a scenario.
        let title = problem.message.replace('\'', "`");
        Problem::new(title)
            .at(place, "")
            .maybe(problem.nearest.as_deref())
    })
}
