//! How a key becomes the bytes that are hashed.
//!
//! The serializer decides the partition as much as the partitioner does: the text "42" is two
//! bytes, the number 42 four or eight others.
//!
//! Sources: `StringSerializer` (UTF-8), `IntegerSerializer`, `LongSerializer` (big-endian); JSON as
//! Jackson's default generator writes a string, which is what Java's JSON serializers use.

/// A serializer of keys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum KeySerializer {
    /// `StringSerializer`: UTF-8.
    #[default]
    String,
    /// `IntegerSerializer`: four bytes, the highest first.
    Int32,
    /// `LongSerializer`: eight bytes, the highest first.
    Int64,
    /// A JSON string, quotes included.
    Json,
    /// `ByteArraySerializer`: any bytes, written down as hexadecimal digits.
    Hex,
}

/// Why a text is no key for its serializer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unfit {
    /// No UTF-8.
    NotText,
    /// No whole number.
    NotWhole,
    /// A whole number outside of the type.
    OutOfRange(KeySerializer),
    /// No pairs of hexadecimal digits.
    NotHex,
}

impl std::fmt::Display for Unfit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NotText => f.write_str("is not UTF-8"),
            Self::NotWhole => f.write_str("is not a whole number"),
            Self::OutOfRange(KeySerializer::Int32) => {
                write!(f, "does not fit into int32: {} to {}", i32::MIN, i32::MAX)
            }
            Self::OutOfRange(_) => {
                write!(f, "does not fit into int64: {} to {}", i64::MIN, i64::MAX)
            }
            Self::NotHex => f.write_str("is not made of pairs of hexadecimal digits"),
        }
    }
}

impl std::error::Error for Unfit {}

impl KeySerializer {
    /// The word for it on the command line and in scenarios.
    pub const fn name(self) -> &'static str {
        match self {
            Self::String => "string",
            Self::Int32 => "int32",
            Self::Int64 => "int64",
            Self::Json => "json",
            Self::Hex => "hex",
        }
    }

    /// Appends the key that `text` writes down to `key`. An unfit text leaves `key` as it was.
    pub fn serialize(self, text: &[u8], key: &mut Vec<u8>) -> Result<(), Unfit> {
        if self == Self::Hex {
            return hex(text, key);
        }
        let text = std::str::from_utf8(text).map_err(|_invalid| Unfit::NotText)?;
        match self {
            Self::String | Self::Hex => key.extend_from_slice(text.as_bytes()),
            Self::Int32 => {
                let number: i32 = text.parse().map_err(|error| self.no_number(&error))?;
                key.extend_from_slice(&number.to_be_bytes());
            }
            Self::Int64 => {
                let number: i64 = text.parse().map_err(|error| self.no_number(&error))?;
                key.extend_from_slice(&number.to_be_bytes());
            }
            Self::Json => json(text, key),
        }
        Ok(())
    }

    fn no_number(self, error: &std::num::ParseIntError) -> Unfit {
        use std::num::IntErrorKind::{NegOverflow, PosOverflow};
        match error.kind() {
            PosOverflow | NegOverflow => Unfit::OutOfRange(self),
            _ => Unfit::NotWhole,
        }
    }
}

/// A JSON string with Jackson's escapes: short ones where they exist, else `\u00` and two digits
/// in capitals; everything that is not ASCII stays as it is.
fn json(text: &str, key: &mut Vec<u8>) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    key.push(b'"');
    for &byte in text.as_bytes() {
        let short = match byte {
            b'"' | b'\\' => byte,
            0x08 => b'b',
            b'\t' => b't',
            b'\n' => b'n',
            0x0c => b'f',
            b'\r' => b'r',
            0x00..=0x1f => {
                let (high, low) = (usize::from(byte >> 4), usize::from(byte & 15));
                key.extend_from_slice(&[b'\\', b'u', b'0', b'0', DIGITS[high], DIGITS[low]]);
                continue;
            }
            _ => {
                key.push(byte);
                continue;
            }
        };
        key.extend_from_slice(&[b'\\', short]);
    }
    key.push(b'"');
}

fn hex(text: &[u8], key: &mut Vec<u8>) -> Result<(), Unfit> {
    let digit = |byte: u8| char::from(byte).to_digit(16).map(|digit| digit as u8);
    let (pairs, rest) = text.as_chunks::<2>();
    let before = key.len();
    for [high, low] in pairs {
        let (Some(high), Some(low)) = (digit(*high), digit(*low)) else {
            key.truncate(before);
            return Err(Unfit::NotHex);
        };
        key.push(high << 4 | low);
    }
    if rest.is_empty() {
        Ok(())
    } else {
        key.truncate(before);
        Err(Unfit::NotHex)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(serializer: KeySerializer, text: &str) -> Result<Vec<u8>, Unfit> {
        let mut key = Vec::new();
        serializer
            .serialize(text.as_bytes(), &mut key)
            .map(|()| key)
    }

    #[test]
    fn forty_two_is_four_different_keys() {
        assert_eq!(key(KeySerializer::String, "42"), Ok(b"42".to_vec()));
        assert_eq!(key(KeySerializer::Int32, "42"), Ok(vec![0, 0, 0, 42]));
        let long = vec![0, 0, 0, 0, 0, 0, 0, 42];
        assert_eq!(key(KeySerializer::Int64, "42"), Ok(long));
        assert_eq!(key(KeySerializer::Json, "42"), Ok(b"\"42\"".to_vec()));
    }

    #[test]
    fn negative_numbers_are_twos_complement() {
        assert_eq!(key(KeySerializer::Int32, "-1"), Ok(vec![255; 4]));
        assert_eq!(key(KeySerializer::Int64, "-2").map(|key| key[7]), Ok(254));
    }

    #[test]
    fn what_does_not_fit_says_why() {
        let large = key(KeySerializer::Int32, "2147483648");
        assert_eq!(large, Err(Unfit::OutOfRange(KeySerializer::Int32)));
        assert_eq!(key(KeySerializer::Int64, "user-1"), Err(Unfit::NotWhole));
        assert_eq!(key(KeySerializer::Int64, ""), Err(Unfit::NotWhole));
        assert_eq!(key(KeySerializer::Hex, "abc"), Err(Unfit::NotHex));
        let mut left = b"before".to_vec();
        let not_text = KeySerializer::String.serialize(b"\xff", &mut left);
        assert_eq!((not_text, left), (Err(Unfit::NotText), b"before".to_vec()));
    }

    #[test]
    fn json_escapes_as_jackson_does_and_leaves_letters_alone() {
        let written = key(KeySerializer::Json, "a\"b\\\n\u{1f}/é").unwrap();
        assert_eq!(written, "\"a\\\"b\\\\\\n\\u001F/é\"".as_bytes());
    }

    #[test]
    fn hexadecimal_digits_are_any_bytes() {
        assert_eq!(key(KeySerializer::Hex, "00fFa1"), Ok(vec![0, 255, 0xa1]));
        assert_eq!(key(KeySerializer::Hex, ""), Ok(vec![]));
    }
}
