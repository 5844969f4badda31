//! Where in a log so many bytes are, however long ago its batches were folded.
//!
//! A long log remembers its tail only. Readers that are far behind still have to be told how many
//! bytes lie between two offsets, so a log keeps a bounded number of marks, pairs of an offset and
//! the bytes before it, at the ends of batches. Between two marks bytes are spread evenly over
//! records.
//!
//! Simplification: answers about folded batches may end within a batch, where Kafka's end at one.

/// Marks of one log at most; then every second one is given up and marks stand twice as far apart.
const MARKS_MAX: usize = 2048;

/// Sums over one log.
#[derive(Clone, Debug)]
pub struct LogSums {
    marks: Vec<Mark>,
    end: Mark,
    /// Records between two marks at least.
    spacing: u64,
}

/// So many bytes lie before an offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Mark {
    offset: u64,
    bytes: u64,
}

impl LogSums {
    /// An empty log that begins here.
    pub fn new(start_offset: u64) -> Self {
        let start = Mark {
            offset: start_offset,
            bytes: 0,
        };
        Self {
            marks: vec![start],
            end: start,
            spacing: 1,
        }
    }

    /// A batch was appended.
    pub fn append(&mut self, records: u32, bytes: u32) {
        self.extend(self.end.offset + u64::from(records), u64::from(bytes));
    }

    /// The log goes on to an offset, with so many bytes more.
    fn extend(&mut self, to_offset: u64, bytes: u64) {
        self.end.offset = to_offset.max(self.end.offset);
        self.end.bytes += bytes;
        let last = self.marks.last().map_or(0, |mark| mark.offset);
        if self.end.offset - last >= self.spacing {
            self.mark();
            self.thin();
        }
    }

    fn mark(&mut self) {
        if self.marks.last() != Some(&self.end) {
            self.marks.push(self.end);
        }
    }

    fn thin(&mut self) {
        while self.marks.len() > MARKS_MAX {
            let mut place = 0;
            self.marks.retain(|_| {
                place += 1;
                place % 2 == 1
            });
            self.spacing = (self.end.offset - self.marks[0].offset) / MARKS_MAX as u64 * 2;
            self.spacing = self.spacing.max(1);
        }
    }

    /// Everything from here on is gone, so many bytes.
    pub fn truncate(&mut self, offset: u64, gone_bytes: u64) {
        if offset >= self.end.offset {
            return;
        }
        let kept = self.marks.partition_point(|mark| mark.offset <= offset);
        self.marks.truncate(kept.max(1));
        let least = self.marks.last().map_or(0, |mark| mark.bytes);
        let bytes = self.end.bytes.saturating_sub(gone_bytes).max(least);
        self.end = Mark { offset, bytes };
    }

    /// Of everything before an offset, these records are left, each an offset and its bytes, in
    /// order.
    pub fn clean(&mut self, end_offset: u64, kept: &[(u64, u64)]) {
        let mut cleaned = Self {
            marks: Vec::new(),
            end: self.marks.first().copied().unwrap_or(self.end),
            spacing: self.spacing,
        };
        cleaned.marks.push(cleaned.end);
        for &(offset, bytes) in kept {
            // No bytes lie between this record and the one before.
            cleaned.extend(offset, 0);
            cleaned.extend(offset + 1, bytes);
        }
        cleaned.extend(end_offset, 0);
        cleaned.mark();
        let gone = self
            .bytes_before(end_offset)
            .saturating_sub(cleaned.end.bytes);
        let shifted = |mark: Mark| Mark {
            bytes: mark.bytes.saturating_sub(gone).max(cleaned.end.bytes),
            ..mark
        };
        let above = self.marks.partition_point(|mark| mark.offset <= end_offset);
        let end = shifted(self.end);
        cleaned
            .marks
            .extend(self.marks[above..].iter().copied().map(shifted));
        cleaned.end = if end.offset > end_offset {
            end
        } else {
            cleaned.end
        };
        cleaned.thin();
        *self = cleaned;
    }

    /// Bytes that a clone of these sums copies.
    pub fn bytes_copied(&self) -> usize {
        self.marks.len() * size_of::<Mark>()
    }

    /// Bytes before an offset.
    pub fn bytes_before(&self, offset: u64) -> u64 {
        let after = self.marks.partition_point(|mark| mark.offset <= offset);
        let low = self.marks[after.max(1) - 1];
        let high = self.marks.get(after).copied().unwrap_or(self.end);
        let records = high.offset.saturating_sub(low.offset).max(1);
        let into = offset.saturating_sub(low.offset).min(records);
        low.bytes + scaled(high.bytes - low.bytes, into, records)
    }

    /// The offset up to which so many bytes lie in the log.
    fn offset_at(&self, bytes: u64) -> u64 {
        let after = self.marks.partition_point(|mark| mark.bytes <= bytes);
        let low = self.marks[after.max(1) - 1];
        let high = self.marks.get(after).copied().unwrap_or(self.end);
        let span = (high.bytes - low.bytes).max(1);
        let into = bytes.saturating_sub(low.bytes).min(span);
        low.offset + scaled(high.offset - low.offset, into, span)
    }

    /// The offset that `limit_bytes` reach to from `from`, at least one record, at most `to`; and
    /// the bytes.
    pub fn reach(&self, from: u64, to: u64, limit_bytes: u64) -> (u64, u64) {
        if from >= to {
            return (from, 0);
        }
        let before = self.bytes_before(from);
        let end = self.offset_at(before.saturating_add(limit_bytes));
        let end = end.max(from + 1).min(to);
        (end, self.bytes_before(end) - before)
    }
}

/// `amount` · `part` / `whole`, without overflow.
fn scaled(amount: u64, part: u64, whole: u64) -> u64 {
    (u128::from(amount) * u128::from(part) / u128::from(whole)) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn bytes_are_exact_at_the_ends_of_batches() {
        let mut sums = LogSums::new(40);
        sums.append(10, 1000);
        sums.append(5, 200);
        let at = |offset| sums.bytes_before(offset);
        assert_eq!([at(40), at(45), at(50), at(55)], [0, 500, 1000, 1200]);
    }

    #[test]
    fn a_limit_reaches_as_far_as_its_bytes_and_never_less_than_a_record() {
        let mut sums = LogSums::new(0);
        sums.append(100, 10_000);
        assert_eq!(sums.reach(10, 100, 1000), (20, 1000));
        assert_eq!(sums.reach(10, 100, 0), (11, 100));
        assert_eq!(sums.reach(10, 15, 1000), (15, 500));
        assert_eq!(sums.reach(15, 15, 1000), (15, 0));
    }

    #[test]
    fn what_is_cut_off_does_not_count() {
        let mut sums = LogSums::new(0);
        sums.append(10, 1000);
        sums.append(10, 5000);
        sums.truncate(10, 5000);
        sums.append(10, 1000);
        assert_eq!(sums.bytes_before(20), 2000);
    }

    #[test]
    fn what_the_cleaner_removed_does_not_count_and_what_is_behind_it_stays() {
        let mut sums = LogSums::new(0);
        sums.append(10, 1000);
        sums.append(10, 500);
        sums.append(10, 3000);
        sums.clean(20, &[(3, 100), (17, 50)]);
        let at = |offset| sums.bytes_before(offset);
        assert_eq!(
            [at(3), at(4), at(17), at(18), at(20)],
            [0, 100, 100, 150, 150]
        );
        assert_eq!(at(30), 3150);
        assert_eq!(sums.reach(0, 30, 100), (17, 100));
    }

    proptest! {
        #[test]
        fn however_long_the_log_its_sums_never_go_back_and_end_right(
            batches in prop::collection::vec((1_u32..500, 61_u32..20_000), 1..6000),
        ) {
            let mut sums = LogSums::new(7);
            for (records, bytes) in &batches {
                sums.append(*records, *bytes);
            }
            let total: u64 = batches.iter().map(|(_, bytes)| u64::from(*bytes)).sum();
            let end = 7 + batches.iter().map(|(records, _)| u64::from(*records)).sum::<u64>();
            prop_assert_eq!(sums.bytes_before(end), total);
            prop_assert!(sums.marks.len() <= MARKS_MAX + 1);
            let mut last = 0;
            for step in 0..100 {
                let bytes = sums.bytes_before(7 + (end - 7) * step / 99);
                prop_assert!(bytes >= last);
                last = bytes;
            }
        }
    }
}
