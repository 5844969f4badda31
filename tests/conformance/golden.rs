//! What the real clients and brokers did, as `conformance/run` recorded it.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::LazyLock;

use serde_json::Value;

/// One probe's recording.
pub struct Golden {
    /// The probe.
    pub probe: String,
    /// By name: each case's results.
    pub cases: BTreeMap<String, Value>,
}

/// All recordings, in order of their names.
pub fn all() -> Vec<Golden> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/real");
    let files = std::fs::read_dir(&folder).expect("there is a folder of recordings");
    let mut names: Vec<_> = files
        .map(|file| file.expect("a readable folder").path())
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "json")
        })
        .collect();
    names.sort();
    names.iter().map(|path| read(path)).collect()
}

/// One recording.
pub fn of(probe: &str) -> Golden {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/real");
    read(&folder.join(format!("{probe}.json")))
}

fn read(path: &Path) -> Golden {
    let text =
        std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let value: Value =
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let cases = value["cases"].as_object().expect("a recording has cases");
    Golden {
        probe: value["probe"]
            .as_str()
            .expect("a recording names its probe")
            .to_string(),
        cases: cases
            .iter()
            .map(|(name, case)| (name.clone(), case.clone()))
            .collect(),
    }
}

impl Golden {
    /// A case's name in the words of the lists: `probe/case`.
    pub fn path(&self, case: &str) -> String {
        format!("{}/{case}", self.probe)
    }
}

/// The sample of click events that ships with kdrill, one in each line.
pub fn clicks() -> &'static str {
    static CLICKS: LazyLock<String> = LazyLock::new(|| {
        let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios/samples/clicks.ndjson");
        std::fs::read_to_string(sample).expect("the sample is shipped")
    });
    &CLICKS
}
