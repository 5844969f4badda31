//! Numbers as C reads them from text and prints them.
//!
//! Invariant: reading stops where the number ends, as `strtol` and `strtod` do; what is left is
//! told apart, because nobody means it to be ignored.
//!
//! Simplifications: floating-point numbers in hexadecimal have no fraction and no exponent here.

/// A number at the beginning of a text, and how much of the text it took.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Read<T> {
    pub(super) number: T,
    pub(super) length: usize,
}

/// `(int)strtol(text, …, 0)`: decimal, `0x` hexadecimal or `0` octal; too large numbers saturate
/// at 64 bits and are cut to 32. Nothing where no digit comes.
pub(super) fn integer(text: &str) -> Option<Read<i32>> {
    let (is_negative, start) = sign(text);
    let rest = &text[start..];
    let (radix, prefix) = match rest.as_bytes() {
        [b'0', b'x' | b'X', digit, ..] if digit.is_ascii_hexdigit() => (16, 2),
        [b'0', ..] => (8, 0),
        _ => (10, 0),
    };
    let digits = digits(&rest[prefix..], radix);
    if digits == 0 {
        return None;
    }
    let text = &rest[prefix..prefix + digits];
    let magnitude = i128::from_str_radix(text, radix).unwrap_or(i128::MAX);
    let number = if is_negative { -magnitude } else { magnitude };
    let saturated = number.clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i64;
    Some(Read {
        number: saturated as i32,
        length: start + prefix + digits,
    })
}

/// `strtod`. Nothing where no number comes.
pub(super) fn float(text: &str) -> Option<Read<f64>> {
    let (is_negative, start) = sign(text);
    let rest = &text[start..];
    let (number, length) = unsigned(rest)?;
    Some(Read {
        number: if is_negative { -number } else { number },
        length: start + length,
    })
}

fn unsigned(text: &str) -> Option<(f64, usize)> {
    for (word, number) in [
        ("infinity", f64::INFINITY),
        ("inf", f64::INFINITY),
        ("nan", f64::NAN),
    ] {
        let is_word = |start: &str| start.eq_ignore_ascii_case(word);
        if text.get(..word.len()).is_some_and(is_word) {
            return Some((number, word.len()));
        }
    }
    if let [b'0', b'x' | b'X', digit, ..] = text.as_bytes()
        && digit.is_ascii_hexdigit()
    {
        let length = digits(&text[2..], 16);
        let number = text[2..2 + length].bytes().fold(0.0, |number, digit| {
            number * 16.0 + f64::from(char::from(digit).to_digit(16).unwrap_or(0))
        });
        return Some((number, 2 + length));
    }
    let length = decimal(text);
    text[..length].parse().ok().map(|number| (number, length))
}

/// The length of `digits[.digits][e[±]digits]`, 0 where there is no such thing.
fn decimal(text: &str) -> usize {
    let whole = digits(text, 10);
    let after = &text[whole..];
    let fraction = after.strip_prefix('.').map_or(0, |rest| digits(rest, 10));
    let mantissa = match (whole, after.starts_with('.')) {
        (0, _) if fraction == 0 => return 0,
        (_, true) => whole + 1 + fraction,
        (_, false) => whole,
    };
    let exponent = text[mantissa..]
        .strip_prefix(['e', 'E'])
        .map(|rest| (rest.len() - rest.trim_start_matches(['+', '-']).len(), rest))
        .filter(|(signs, _)| *signs <= 1)
        .map_or((0, 0), |(signs, rest)| (signs, digits(&rest[signs..], 10)));
    match exponent {
        (_, 0) => mantissa,
        (signs, digits) => mantissa + 1 + signs + digits,
    }
}

/// Blanks and a sign: whether it is minus, and where the number begins.
fn sign(text: &str) -> (bool, usize) {
    let blank = text.len() - text.trim_start_matches(is_space).len();
    match text.as_bytes().get(blank) {
        Some(b'-') => (true, blank + 1),
        Some(b'+') => (false, blank + 1),
        _ => (false, blank),
    }
}

/// How many digits a text begins with.
fn digits(text: &str, radix: u32) -> usize {
    let rest = text.trim_start_matches(|digit: char| digit.is_digit(radix));
    text.len() - rest.len()
}

/// `isspace` in the C locale.
pub(super) fn is_space(character: char) -> bool {
    matches!(character, ' ' | '\t' | '\n' | '\x0b' | '\x0c' | '\r')
}

/// `printf("%g")`: six significant digits, trailing zeros gone, powers of ten where they are
/// shorter.
pub(super) fn general(number: f64) -> String {
    if !number.is_finite() {
        return number.to_string().to_lowercase();
    }
    let scientific = format!("{number:.5e}");
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if !(-4..6).contains(&exponent) {
        let sign = if exponent < 0 { '-' } else { '+' };
        let mantissa = without_zeros(mantissa);
        return format!("{mantissa}e{sign}{:02}", exponent.unsigned_abs());
    }
    let decimals = usize::try_from(5 - exponent).unwrap_or(0);
    without_zeros(&format!("{number:.decimals$}")).to_owned()
}

fn without_zeros(number: &str) -> &str {
    if number.contains('.') {
        number.trim_end_matches('0').trim_end_matches('.')
    } else {
        number
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole(text: &str) -> Option<(i32, usize)> {
        integer(text).map(|read| (read.number, read.length))
    }

    fn real(text: &str) -> Option<(f64, usize)> {
        float(text).map(|read| (read.number, read.length))
    }

    #[test]
    fn whole_numbers_come_in_three_bases_and_end_where_they_end() {
        assert_eq!(whole(" 16384 "), Some((16_384, 6)));
        assert_eq!(whole("0x4000"), Some((16_384, 6)));
        assert_eq!(whole("010"), Some((8, 3)));
        assert_eq!(whole("0x"), Some((0, 1)));
        assert_eq!(whole("-16k"), Some((-16, 3)));
        assert_eq!(whole("k"), None);
        assert_eq!(whole("+"), None);
    }

    #[test]
    fn too_large_whole_numbers_are_cut_to_32_bits() {
        assert_eq!(whole("2147483648"), Some((i32::MIN, 10)));
        assert_eq!(whole("4294967297"), Some((1, 10)));
        assert_eq!(whole("99999999999999999999"), Some((-1, 20)));
        assert_eq!(whole(&"9".repeat(50)), Some((-1, 50)));
    }

    #[test]
    fn fractions_and_powers_are_read_as_far_as_they_go() {
        assert_eq!(real("7.9"), Some((7.9, 3)));
        assert_eq!(real(" 5ms"), Some((5.0, 2)));
        assert_eq!(real("1e3"), Some((1000.0, 3)));
        assert_eq!(real("1e"), Some((1.0, 1)));
        assert_eq!(real(".5"), Some((0.5, 2)));
        assert_eq!(real("5."), Some((5.0, 2)));
        assert_eq!(real("0x10"), Some((16.0, 4)));
        assert_eq!(real("-inf"), Some((f64::NEG_INFINITY, 4)));
        assert_eq!(real("."), None);
        assert_eq!(real("ms"), None);
    }

    #[test]
    fn numbers_are_printed_with_six_digits() {
        for (number, printed) in [
            (900_001.0, "900001"),
            (900_000.5, "900000"),
            (1_234_567.0, "1.23457e+06"),
            (-0.001, "-0.001"),
            (0.000_01, "1e-05"),
            (1e300, "1e+300"),
            (999_999.9, "1e+06"),
            (0.0, "0"),
            (f64::INFINITY, "inf"),
        ] {
            assert_eq!(general(number), printed);
        }
    }
}
