//! `kdrill keys` on the 10,000 recorded keys: what it prints is what the real clients did.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::process::{Command, Stdio};

use crate::golden;
use crate::keys::{digest_of_partitions, keys, numbers};

/// The CSV columns of all keys, by partitioner.
fn columns(partitions: &str) -> BTreeMap<String, Vec<String>> {
    let mut lines = String::new();
    for key in keys() {
        for byte in key {
            write!(lines, "{byte:02x}").expect("text takes text");
        }
        lines.push('\n');
    }
    let folder = tempfile::tempdir().expect("a folder for the keys");
    let path = folder.path().join("keys.hex");
    std::fs::write(&path, lines).expect("a file for the keys");
    let output = Command::new(env!("CARGO_BIN_EXE_kdrill"))
        .args(["keys", "--serializer", "hex", "--format", "csv"])
        .args(["--partitions", partitions, "--file"])
        .arg(&path)
        .stdin(Stdio::null())
        .output()
        .expect("kdrill runs");
    assert!(output.status.success(), "{output:?}");
    let mut rows = csv::Reader::from_reader(&*output.stdout);
    let names = rows.headers().expect("a heading").clone();
    let mut columns: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for row in rows.records() {
        for (name, cell) in names.iter().zip(&row.expect("a row")) {
            let column = columns.entry(name.to_string()).or_default();
            column.push(cell.to_string());
        }
    }
    columns
}

/// A column of partitions as numbers; what is drawn is none.
fn numbers_of(column: &[String]) -> Vec<u32> {
    let number = |cell: &String| cell.parse().unwrap_or(u32::MAX);
    column.iter().map(number).collect()
}

#[test]
fn the_java_clients_partitions_stand_in_the_column_of_murmur2_random() {
    let golden = golden::of("keys");
    for partitions in ["1", "2", "3", "6", "12", "64"] {
        let case = format!("partitions-{partitions}");
        let real: Vec<u32> = numbers(&golden.cases[&case]["partitions"]);
        assert_eq!(real.len(), 10_000);
        assert_eq!(
            numbers_of(&columns(partitions)["murmur2_random"]),
            real,
            "{case}"
        );
    }
}

#[test]
fn librdkafkas_partitions_stand_in_the_columns_of_its_partitioners() {
    let golden = golden::of("keys-rdkafka");
    let keys = keys();
    for partitions in ["7", "12", "29"] {
        let columns = columns(partitions);
        for name in ["consistent", "murmur2", "fnv1a"] {
            let (plain, random) = (&columns[name], &columns[&format!("{name}_random")]);
            let real = golden.cases[name]["digests"][partitions].as_str();
            let ours = digest_of_partitions(&numbers_of(plain));
            assert_eq!(Some(&*ours), real, "{name} of {partitions}");
            // The others differ only where `choices/consistent_random/empty` says so.
            for ((plain, random), key) in plain.iter().zip(random).zip(&keys) {
                let is_drawn = name == "consistent" && key.is_empty();
                assert_eq!(random, if is_drawn { "random" } else { plain }, "{name}");
            }
        }
        assert!(columns["random"].iter().all(|cell| cell == "random"));
    }
}
