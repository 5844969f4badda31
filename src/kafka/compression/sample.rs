//! Records as they stand in a batch, byte for byte: what a codec gets to see.

/// One record of a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SampleRecord<'a> {
    /// Its key.
    pub key: Option<&'a [u8]>,
    /// Its value.
    pub value: Option<&'a [u8]>,
}

/// Appends the records of one batch to `bytes`, each `interval_us` microseconds after the one
/// before.
///
/// Source: `DefaultRecord.writeTo`.
pub fn write_records(bytes: &mut Vec<u8>, records: &[SampleRecord<'_>], interval_us: u64) {
    let mut body = Vec::new();
    for (index, record) in (0_u64..).zip(records) {
        body.clear();
        // Attributes, which no record uses.
        body.push(0);
        let delta_ms = index.saturating_mul(interval_us) / 1_000;
        write_varlong(&mut body, i64::try_from(delta_ms).unwrap_or(i64::MAX));
        write_varlong(&mut body, index as i64);
        write_field(&mut body, record.key);
        write_field(&mut body, record.value);
        // Headers: none.
        write_varlong(&mut body, 0);
        write_varlong(bytes, body.len() as i64);
        bytes.extend_from_slice(&body);
    }
}

fn write_field(bytes: &mut Vec<u8>, field: Option<&[u8]>) {
    match field {
        None => write_varlong(bytes, -1),
        Some(field) => {
            write_varlong(bytes, field.len() as i64);
            bytes.extend_from_slice(field);
        }
    }
}

/// Zigzag, seven bits a byte. A varint is a varlong of a small number.
fn write_varlong(bytes: &mut Vec<u8>, value: i64) {
    let mut rest = ((value << 1) ^ (value >> 63)) as u64;
    while rest > 0x7f {
        bytes.push((rest & 0x7f) as u8 | 0x80);
        rest >>= 7;
    }
    bytes.push(rest as u8);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kafka::size::{payload_bytes, record_bytes};

    #[test]
    fn a_written_record_has_the_bytes_that_arithmetic_gives_it() {
        let (key, value) = ([7_u8; 70], [9_u8; 9_000]);
        let fields = [
            (None, None),
            (Some(&key[..]), None),
            (None, Some(&value[..])),
        ];
        for (key, value) in fields {
            let records = vec![SampleRecord { key, value }; 200];
            let mut bytes = Vec::new();
            write_records(&mut bytes, &records, 100);
            let length = |field: Option<&[u8]>| field.map(|field| field.len() as u32);
            let payload = payload_bytes(length(key), length(value), &[]);
            let expected: u32 = (0..200)
                .map(|index| record_bytes(index, i64::from(index) / 10, payload))
                .sum();
            assert_eq!(bytes.len() as u32, expected);
        }
    }

    #[test]
    fn the_smallest_record_is_a_length_and_six_bytes() {
        let mut bytes = Vec::new();
        let record = SampleRecord {
            key: None,
            value: None,
        };
        write_records(&mut bytes, &[record], 0);
        assert_eq!(bytes, [12, 0, 0, 0, 1, 1, 0]);
    }
}
