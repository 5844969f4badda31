//! Every scenario of the library, headless at its own seed: its expectations hold, its records add
//! up, and its report is the reviewed one in `tests/golden/scenarios`.

use crate::support::{assert_kept, embedded, report_of, run_to_end};
use kdrill::scenario::library;

#[test]
fn every_scenario_of_the_library_keeps_its_word() {
    for name in library::names() {
        let session = run_to_end(embedded(&name));
        assert_kept(&session);
        let mut settings = insta::Settings::clone_current();
        settings.set_snapshot_path("../golden/scenarios");
        settings.set_prepend_module_to_snapshot(false);
        settings.set_description("a reviewed run of the simulation");
        settings.set_omit_expression(true);
        settings.bind(|| insta::assert_snapshot!(name, report_of(&session)));
    }
}
