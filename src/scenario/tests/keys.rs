//! Keys as bytes, salted, split, and read from files.

use super::*;
use crate::sim::config::{KeyChoice, KeyConfig};

/// The keys of a load.
fn keys(key: &str) -> KeyConfig {
    let scenario = load_text(&small_and(&format!("key = {key}\n"))).unwrap();
    KeyConfig::clone(&scenario.config.producers[0].loads[0].keys)
}

/// What is wrong with the keys of a load.
fn problem(key: &str) -> String {
    refused(&small_and(&format!("key = {key}\n")))
}

#[test]
fn salt_divides_the_hottest_keys_and_leaves_the_others() {
    let keys = keys("{ zipf = 1, count = 3, format = \"t{n}\", salt = { hottest = 1, over = 2 } }");
    assert_eq!(keys.keys, [&b"t1#0"[..], b"t1#1", b"t2", b"t3"]);
    let weights = KeyChoice::Weighted(vec![0.5, 0.5, 0.5, 1.0 / 3.0]);
    assert_eq!(keys.choice, weights);
}

#[test]
fn sub_keys_are_numbered_from_1_and_salt_comes_after_them() {
    let spread = keys(
        "{ weighted = [\"a\", { key = \"b\", weight = 6 }], \
         sub-keys = { hottest = 1, count = 2, format = \"{key}/{n}\" }, \
         salt = { hottest = 1, over = 2, format = \"{n}:{key}\" } }",
    );
    assert_eq!(spread.keys, [&b"a"[..], b"0:b/1", b"1:b/1", b"b/2"]);
    let weights = KeyChoice::Weighted(vec![1.0, 1.5, 1.5, 3.0]);
    assert_eq!(spread.choice, weights);
    let even = keys("{ uniform = 2, sub-keys = { count = 2 } }");
    assert_eq!(even.choice, KeyChoice::Uniform);
    assert_eq!(even.keys[3], b"key-2/2");
}

#[test]
fn a_salted_key_is_serialized_with_its_salt() {
    let json = keys("{ weighted = [\"a\"], as = \"json\", salt = { hottest = 1, over = 2 } }");
    assert_eq!(json.keys[1], b"\"a#1\"");
}

#[test]
fn numbers_are_bytes_and_out_of_range_they_are_told() {
    let long = keys("{ weighted = [\"-1\"], as = \"int64\" }");
    assert_eq!(long.keys[0], [255; 8]);
    let text = problem("{ weighted = [\"2147483648\"], as = \"int32\" }");
    assert!(
        text.contains("`2147483648` does not fit into int32"),
        "{text}"
    );
}

#[test]
fn what_cannot_be_divided_says_why() {
    for (key, why) in [
        (
            "{ cycle = 5, salt = { hottest = 1, over = 8 } }",
            "`salt` does not go with `cycle`",
        ),
        (
            "{ uniform = 5, as = \"int64\", sub-keys = { count = 8 } }",
            "`sub-keys` makes text of keys",
        ),
        (
            "{ uniform = 5, salt = { hottest = 1, over = 8, format = \"{key}\" } }",
            "the `format` of `salt` makes different keys the same",
        ),
        (
            "{ uniform = 5, salt = { hottest = 1, over = 8, format = \"#{n}\" } }",
            "the `format` of `salt` makes different keys the same",
        ),
        (
            "{ uniform = 1000, sub-keys = { count = 1001 } }",
            "`sub-keys` makes too many keys",
        ),
        ("{ uniform = 5, salt = { hottest = 1 } }", "`over`"),
    ] {
        let text = problem(key);
        assert!(text.contains(why), "{key}: {text}");
    }
}

#[test]
fn a_file_has_a_key_in_each_line_and_its_weight_behind_a_tab() {
    let folder = tempfile::tempdir().unwrap();
    let load_with_keys = |lines: &str| {
        std::fs::write(folder.path().join("keys.tsv"), lines).unwrap();
        let path = folder.path().join("scenario.toml");
        std::fs::write(&path, small_and("key = { file = \"keys.tsv\" }\n")).unwrap();
        load(Source::Path(path), &Overrides::default())
    };
    let weighted = load_with_keys("hot\t9\n\ncold item\t1.5\nplain\n").unwrap();
    let keys = &weighted.config.producers[0].loads[0].keys;
    assert_eq!(keys.keys, [&b"hot"[..], b"cold item", b"plain"]);
    assert_eq!(keys.choice, KeyChoice::Weighted(vec![9.0, 1.5, 1.0]));
    let even = load_with_keys("a\nb\n").unwrap();
    let choice = &even.config.producers[0].loads[0].keys.choice;
    assert_eq!(*choice, KeyChoice::Uniform);
    let text = load_with_keys("a\t1\n\nb\tx\n").unwrap_err();
    let text = text.render(Paint::Plain);
    assert!(text.contains("line 3 of the file has no weight"), "{text}");
}
