//! Records that their application sent again, as other records, after a callback brought an error:
//! no idempotence covers them. The record and all those in its place are one group, and every
//! member of it that a log holds beyond the first is a duplicate.

use std::collections::BTreeMap;

use super::entry::Entry;

/// Groups at most; of more, duplicates by the application are not counted.
const GROUPS_MAX: usize = 200_000;

/// All groups of a run.
#[derive(Clone, Debug, Default)]
pub(super) struct Resent {
    groups: Vec<Group>,
    /// By entry: the group of each ordinal that is a member of one.
    members: Vec<BTreeMap<u64, u32>>,
    /// Groups to be looked at.
    dirty: Vec<u32>,
}

/// One record and those that were sent in its place.
#[derive(Clone, Debug, Default)]
struct Group {
    /// Entry and ordinal of each, in the order in which they were sent.
    members: Vec<(u32, u64)>,
    /// Duplicates counted so far, and in which entry.
    counted: (u32, u64),
}

impl Resent {
    /// The record `new` is sent in place of `old`.
    pub(super) fn note(&mut self, old: (u32, u64), new: (u32, u64)) {
        let known = self.members.get(old.0 as usize);
        let known = known.and_then(|members| members.get(&old.1)).copied();
        let group = match known {
            Some(group) => group,
            None if self.groups.len() >= GROUPS_MAX => return,
            None => {
                let group = self.groups.len() as u32;
                self.groups.push(Group::default());
                self.join(old, group);
                group
            }
        };
        self.join(new, group);
        self.dirty.push(group);
    }

    /// Records of an entry came into a log, or went out of it.
    pub(super) fn touch(&mut self, entry: u32, first: u64, records: u64) {
        if let Some(members) = self.members.get(entry as usize)
            && !members.is_empty()
        {
            let range = first..first.saturating_add(records);
            self.dirty
                .extend(members.range(range).map(|(_, group)| *group));
        }
    }

    /// Counts what is to be looked at anew; gives the entries whose counts changed.
    pub(super) fn count(&mut self, entries: &mut [Entry]) -> Vec<u32> {
        let mut changed = Vec::new();
        for place in std::mem::take(&mut self.dirty) {
            let group = &mut self.groups[place as usize];
            let mut present = 0_u64;
            for &(entry, ordinal) in &group.members {
                let entry = &entries[entry as usize];
                if entry.is_settled(ordinal) {
                    // What is settled stays counted as it was.
                    present = u64::MAX;
                    break;
                }
                present += u64::from(entry.is_present(ordinal));
            }
            if present == u64::MAX {
                continue;
            }
            let duplicates = present.saturating_sub(1);
            let at = group.members.last().map_or(0, |member| member.0);
            let (before_at, before) = std::mem::replace(&mut group.counted, (at, duplicates));
            if (before_at, before) == (at, duplicates) {
                continue;
            }
            entries[before_at as usize].resent -= before.min(entries[before_at as usize].resent);
            entries[at as usize].resent += duplicates;
            changed.extend([before_at, at]);
        }
        changed
    }

    fn join(&mut self, (entry, ordinal): (u32, u64), group: u32) {
        if self.members.len() <= entry as usize {
            self.members.resize_with(entry as usize + 1, BTreeMap::new);
        }
        self.members[entry as usize].insert(ordinal, group);
        self.groups[group as usize].members.push((entry, ordinal));
    }
}
