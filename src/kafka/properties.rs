//! `.properties` text, in the grammar of `java.util.Properties`.
//!
//! Invariants: any text is read to its end; entries come in the order of the file, each with the
//! line it begins on; a later entry of the same key does not remove the earlier one here.
//!
//! Source: `Properties.load`.

/// One entry of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Property {
    /// The key, escapes resolved.
    pub key: String,
    /// The value, escapes resolved; empty where there is none.
    pub value: String,
    /// The line that the entry begins on, from 1.
    pub line: u32,
}

/// An entry with a `\u` that is not followed by four hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MalformedEscape {
    /// The line that the entry begins on, from 1.
    pub line: u32,
}

impl MalformedEscape {
    /// The text of Java's `IllegalArgumentException`.
    pub const TEXT: &str = "Malformed \\uxxxx encoding.";
}

/// Reads a whole text: its entries, or every entry that Java would stop at.
pub fn parse(text: &str) -> Result<Vec<Property>, Vec<MalformedEscape>> {
    let mut properties = Vec::new();
    let mut malformed = Vec::new();
    for (line, logical) in logical_lines(text) {
        match property(&logical, line) {
            Ok(property) => properties.push(property),
            Err(error) => malformed.push(error),
        }
    }
    if malformed.is_empty() {
        Ok(properties)
    } else {
        Err(malformed)
    }
}

/// Joins continued lines and drops blanks and comments; each comes with its first line's number.
fn logical_lines(text: &str) -> Vec<(u32, String)> {
    let mut logical: Vec<(u32, String)> = Vec::new();
    let mut continues = false;
    for (number, natural) in (1_u32..).zip(natural_lines(text)) {
        let trimmed = natural.trim_start_matches(is_blank);
        if !continues && (trimmed.is_empty() || trimmed.starts_with(['#', '!'])) {
            continue;
        }
        let backslashes = trimmed.len() - trimmed.trim_end_matches('\\').len();
        let will_continue = backslashes % 2 == 1;
        let content = if will_continue {
            &trimmed[..trimmed.len() - 1]
        } else {
            trimmed
        };
        match logical.last_mut() {
            Some((_, line)) if continues => line.push_str(content),
            _ => logical.push((number, content.to_owned())),
        }
        continues = will_continue;
    }
    logical
}

/// Lines end with a line feed, a carriage return, or both in that order.
fn natural_lines(text: &str) -> impl Iterator<Item = &str> {
    text.split('\n')
        .flat_map(|line| line.strip_suffix('\r').unwrap_or(line).split('\r'))
}

/// Divides a logical line at the first unescaped separator.
fn property(line: &str, number: u32) -> Result<Property, MalformedEscape> {
    let is_separator =
        |character: char| character == '=' || character == ':' || is_blank(character);
    let mut escaped = false;
    let key_end = line
        .char_indices()
        .find(|(_, character)| {
            let ends = !escaped && is_separator(*character);
            escaped = !escaped && *character == '\\';
            ends
        })
        .map_or(line.len(), |(place, _)| place);
    let (key, rest) = line.split_at(key_end);
    let rest = rest.trim_start_matches(is_blank);
    let value = rest
        .strip_prefix(['=', ':'])
        .unwrap_or(rest)
        .trim_start_matches(is_blank);
    let resolve = |text| unescape(text).ok_or(MalformedEscape { line: number });
    Ok(Property {
        key: resolve(key)?,
        value: resolve(value)?,
        line: number,
    })
}

/// Resolves escapes, in UTF-16 as Java does, since two of them may form one character; nothing
/// for a malformed one.
fn unescape(text: &str) -> Option<String> {
    let mut units: Vec<u16> = Vec::with_capacity(text.len());
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        let resolved = match character {
            '\\' => match characters.next() {
                Some('u') => {
                    units.push(code_unit(&mut characters)?);
                    continue;
                }
                Some('t') => '\t',
                Some('n') => '\n',
                Some('r') => '\r',
                Some('f') => '\x0c',
                Some(other) => other,
                None => break,
            },
            other => other,
        };
        units.extend_from_slice(resolved.encode_utf16(&mut [0; 2]));
    }
    Some(String::from_utf16_lossy(&units))
}

fn code_unit(characters: &mut std::str::Chars) -> Option<u16> {
    (0..4).try_fold(0, |unit: u16, _| {
        let digit = characters.next()?.to_digit(16)?;
        Some((unit << 4) | digit as u16)
    })
}

fn is_blank(character: char) -> bool {
    matches!(character, ' ' | '\t' | '\x0c')
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The entries as `line key=value`.
    fn read(text: &str) -> Vec<String> {
        let entries = parse(text).unwrap();
        entries
            .iter()
            .map(|p| format!("{} {}={}", p.line, p.key, p.value))
            .collect()
    }

    #[test]
    fn three_separators_divide_key_and_value() {
        assert_eq!(
            read("acks=all\nretries : 3\nlinger.ms 20\nclient.id\n"),
            [
                "1 acks=all",
                "2 retries=3",
                "3 linger.ms=20",
                "4 client.id="
            ]
        );
        assert_eq!(read("a==b\nc = = d"), ["1 a==b", "2 c== d"]);
    }

    #[test]
    fn comments_and_blank_lines_are_passed_over() {
        assert_eq!(
            read("# one\n  ! two\n\n \t \nacks=1 # not a comment"),
            ["5 acks=1 # not a comment"]
        );
    }

    #[test]
    fn a_line_goes_on_behind_an_odd_number_of_backslashes() {
        assert_eq!(
            read("bootstrap.servers=a:9092,\\\r\n   # b:9092\npath=c\\\\\nacks=1"),
            [
                "1 bootstrap.servers=a:9092,# b:9092",
                "3 path=c\\",
                "4 acks=1"
            ]
        );
        assert_eq!(read("acks=a\\"), ["1 acks=a"]);
    }

    #[test]
    fn escapes_are_resolved_in_keys_and_values() {
        assert_eq!(
            read(r"a\:b\ c=\u0041\t\q\=\uD83D\uDE00"),
            ["1 a:b c=A\tq=\u{1f600}"]
        );
    }

    #[test]
    fn every_malformed_escape_is_reported_with_its_line() {
        let malformed = parse("a=1\nb=\\u12\nc=\\uXYZW\n").unwrap_err();
        assert_eq!(
            malformed.iter().map(|error| error.line).collect::<Vec<_>>(),
            [2, 3]
        );
    }

    #[test]
    fn carriage_returns_alone_end_lines_too() {
        assert_eq!(read("a=1\rb=2\r\nc=3"), ["1 a=1", "2 b=2", "3 c=3"]);
    }

    #[test]
    fn values_keep_their_trailing_blanks() {
        assert_eq!(parse("a= b  ").unwrap()[0].value, "b  ");
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read_to_its_end(text in "(?s).{0,60}", plain in "[a-z]{1,8}") {
            let _ = parse(&text);
            let whole = parse(&format!("# {}\n{plain}=1", text.replace(['\n', '\r'], "")));
            proptest::prop_assert_eq!(&whole.unwrap()[0].key, &plain);
        }
    }
}
