//! What came lately for one entry, not yet entered: batches that follow each other are one range,
//! so a healthy partition costs one entry a look, however many batches it takes.

use super::cause::Identity;
use super::entry::Entry;
use crate::sim::time::SimTime;

/// Ranges of ordinals, end excluded; an empty one starts where it ends.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Pending {
    appended: (u64, u64),
    acknowledged: (u64, u64),
    /// The end of what the entry's log holds: appends below are no mere continuation.
    reached: u64,
    /// Whether anything came since the last count.
    pub(super) is_changed: bool,
}

impl Pending {
    /// A batch was appended. One that does not go on where the log ended is entered at once,
    /// because whether it is a duplicate or out of order depends on what stands there.
    pub(super) fn append(
        &mut self,
        entry: &mut Entry,
        (first, records): (u64, u64),
        at: SimTime,
        identity: &Identity,
    ) {
        let end = first.saturating_add(records);
        let is_empty = self.appended.0 == self.appended.1;
        if !is_empty && first == self.appended.1 {
            self.appended.1 = end;
        } else if is_empty && self.reached <= first {
            self.appended = (first, end);
        } else {
            self.enter_appended(entry);
            entry.append_again((first, records), at, identity);
            self.reached = entry.log_end();
        }
    }

    /// A batch was acknowledged.
    pub(super) fn acknowledge(&mut self, entry: &mut Entry, first: u64, records: u64) {
        let end = first.saturating_add(records);
        if self.acknowledged.1 == first {
            self.acknowledged.1 = end;
        } else {
            self.enter_acknowledged(entry);
            self.acknowledged = (first, end);
        }
    }

    /// Records were cut off the log.
    pub(super) fn truncate(&mut self, entry: &mut Entry, first: u64, records: u64) {
        self.enter_appended(entry);
        entry.truncate(first, records);
        self.reached = entry.log_end();
    }

    /// Enters everything.
    pub(super) fn enter(&mut self, entry: &mut Entry) {
        self.is_changed = false;
        self.enter_appended(entry);
        self.enter_acknowledged(entry);
    }

    fn enter_appended(&mut self, entry: &mut Entry) {
        let (start, end) = std::mem::take(&mut self.appended);
        if start < end {
            entry.append(start, end - start);
            self.reached = entry.log_end();
        }
    }

    fn enter_acknowledged(&mut self, entry: &mut Entry) {
        let (start, end) = self.acknowledged;
        if start < end {
            entry.acknowledge(start, end - start);
        }
        self.acknowledged = (end, end);
    }
}
