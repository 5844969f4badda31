//! A wheel of incidents: which one is rehearsed where none is named.

use crate::scenario::{Level, Overrides, Scenario, Source, library, load};

/// The folder of the library that is picked from.
const FOLDER: &str = "incidents";

/// An incident of the library, drawn by `seed` among those of `level` (1 is the easiest); the one
/// that came `last` only where there is no other.
pub fn pick(seed: u64, level: Option<u8>, last: Option<&str>) -> Option<Source> {
    let entries = library::list().into_iter();
    let incidents = entries.filter(|entry| entry.category == FOLDER);
    let mut names: Vec<String> = incidents
        .map(|entry| entry.name)
        .filter(|name| level.is_none_or(|level| level_of(name) == Some(level)))
        .collect();
    if 1 < names.len() {
        names.retain(|name| Some(name.as_str()) != last);
    }
    let count = names.len() as u64;
    // The same numbers vary the incident by the same seed: this draw must not be one of those.
    let place = mixed(seed).checked_rem(count)? as usize;
    names.get(place).cloned().map(Source::Embedded)
}

/// 1 to 3.
fn level_of(name: &str) -> Option<u8> {
    let source = Source::Embedded(name.to_owned());
    let scenario = load(source, &Overrides::default()).ok()?;
    number(&scenario)
}

fn number(scenario: &Scenario) -> Option<u8> {
    Some(match scenario.level? {
        Level::Beginner => 1,
        Level::Intermediate => 2,
        Level::Advanced => 3,
    })
}

/// The finalizer of `SplitMix64`: neighbouring seeds lead to different incidents.
const fn mixed(seed: u64) -> u64 {
    let mut bits = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(source: Option<Source>) -> Option<String> {
        match source? {
            Source::Embedded(name) => Some(name),
            _ => None,
        }
    }

    #[test]
    fn every_incident_comes_up_and_the_last_one_does_not_come_twice() {
        let drawn: std::collections::BTreeSet<_> = (0..40)
            .filter_map(|seed| name(pick(seed, None, None)))
            .collect();
        let all = library::list().into_iter();
        let all = all.filter(|entry| entry.category == FOLDER).count();
        assert!(3 <= drawn.len() && drawn.len() <= all);
        let last = name(pick(7, None, None)).unwrap();
        assert_ne!(name(pick(7, None, Some(&last))), Some(last));
    }

    #[test]
    fn a_level_is_kept() {
        for seed in 0..10 {
            let drawn = name(pick(seed, Some(1), None)).unwrap();
            assert_eq!(level_of(&drawn), Some(1), "{drawn}");
        }
    }
}
