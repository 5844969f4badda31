//! Quantities as people write them: durations, sizes, byte rates, record rates and shares.
//!
//! Invariants: arithmetic is exact (decimal digits, no floats), a number without its unit is
//! refused rather than guessed, and nothing overflows. What is written is shown again by the
//! `show_*` functions in a form that reads back as the same quantity.

use std::fmt;

use crate::sim::config::RATE_MAX;
use crate::sim::time::SimSpan;

/// Millionths in one whole: rates and shares keep this many.
const MILLION: u128 = 1_000_000;

const DURATION_UNITS: &[(&str, u128)] = &[
    ("ns", 1),
    ("us", 1_000),
    ("µs", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("m", 60_000_000_000),
    ("min", 60_000_000_000),
    ("h", 3_600_000_000_000),
    ("d", 86_400_000_000_000),
];

const SIZE_UNITS: &[(&str, u128)] = &[
    ("B", 1),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("TiB", 1 << 40),
    ("KB", 1_000),
    ("kB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("TB", 1_000_000_000_000),
];

/// Bits per second, in bits.
const BIT_UNITS: &[(&str, u128)] = &[
    ("bit/s", 1),
    ("kbit/s", 1_000),
    ("Kbit/s", 1_000),
    ("Mbit/s", 1_000_000),
    ("Gbit/s", 1_000_000_000),
    ("Tbit/s", 1_000_000_000_000),
];

/// What a text was meant to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// A length of time.
    Duration,
    /// A number of bytes.
    Size,
    /// Bytes per second.
    ByteRate,
    /// Records per second.
    RecordRate,
    /// A part of the whole.
    Share,
}

impl Quantity {
    /// What to write, with examples.
    pub const fn expected(self) -> &'static str {
        match self {
            Self::Duration => {
                "a duration with its unit, such as \"5ms\", \"1.5s\", \"2m\" or \"1h\""
            }
            Self::Size => "a size with its unit, such as \"16KiB\", \"2MiB\" or \"64KB\"",
            Self::ByteRate => "a byte rate, such as \"2MiB/s\", \"100Mbit/s\" or \"1Gbit/s\"",
            Self::RecordRate => "records per second, such as 20000 or 0.5",
            Self::Share => "a share, such as 0.01 or \"1%\"",
        }
    }
}

/// Why a text is not the quantity it was meant to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flaw {
    /// No number at its start.
    NotANumber,
    /// Below zero.
    Negative,
    /// A number and nothing behind it.
    NoUnit,
    /// Something behind the number that is no unit of this quantity.
    UnknownUnit,
    /// More than can be simulated.
    TooLarge,
}

/// A text that is not the quantity it was meant to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QuantityError {
    /// What it was meant to be.
    pub quantity: Quantity,
    /// What is wrong.
    pub flaw: Flaw,
}

impl fmt::Display for QuantityError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let why = match self.flaw {
            Flaw::NotANumber => "not a number",
            Flaw::Negative => "cannot be negative",
            Flaw::NoUnit => "the unit is missing",
            Flaw::UnknownUnit => "unknown unit",
            Flaw::TooLarge => "too large",
        };
        write!(f, "{why}: expected {}", self.quantity.expected())
    }
}

impl std::error::Error for QuantityError {}

/// Reads a duration: one or more numbers, each with its unit (`90s`, `1m30s`).
pub fn duration(text: &str) -> Result<SimSpan, QuantityError> {
    let fail = |flaw| QuantityError {
        quantity: Quantity::Duration,
        flaw,
    };
    let mut rest = positive(text).map_err(fail)?;
    let mut nanos: u128 = 0;
    while !rest.is_empty() {
        let (number, after) = split_number(rest).map_err(fail)?;
        let unit_end = after
            .find(|c: char| c.is_ascii_digit())
            .unwrap_or(after.len());
        let (unit, next) = after.split_at(unit_end);
        let factor = find_unit(DURATION_UNITS, unit).map_err(fail)?;
        let part = scaled(number, factor).ok_or_else(|| fail(Flaw::TooLarge))?;
        nanos = nanos
            .checked_add(part)
            .ok_or_else(|| fail(Flaw::TooLarge))?;
        rest = next;
    }
    match u64::try_from(nanos) {
        Ok(nanos) => Ok(SimSpan::from_nanos(nanos)),
        Err(_) => Err(fail(Flaw::TooLarge)),
    }
}

/// Reads a size in bytes: `2MiB`, `64KB`, `512B`.
pub fn size(text: &str) -> Result<u64, QuantityError> {
    one_number(text, Quantity::Size, SIZE_UNITS).and_then(|bytes| whole(bytes, Quantity::Size))
}

/// Reads a byte rate: a size per second, or bits per second.
pub fn byte_rate(text: &str) -> Result<u64, QuantityError> {
    let quantity = Quantity::ByteRate;
    if let Some(bytes) = text
        .trim()
        .strip_suffix("/s")
        .filter(|size| !size.ends_with("bit"))
    {
        let size = one_number(bytes, quantity, SIZE_UNITS)?;
        return whole(size, quantity);
    }
    let bits = one_number(text, quantity, BIT_UNITS)?;
    whole(bits / 8, quantity)
}

/// Reads records per second, in millionths; `max` is the highest rate there is.
pub fn record_rate(text: &str) -> Result<u64, QuantityError> {
    let fail = |flaw| QuantityError {
        quantity: Quantity::RecordRate,
        flaw,
    };
    if text.trim() == "max" {
        return Ok(RATE_MAX * MILLION as u64);
    }
    let number = positive(text).map_err(fail)?;
    let (number, unit) = split_number(number).map_err(fail)?;
    if !unit.is_empty() {
        return Err(fail(Flaw::UnknownUnit));
    }
    let micro = scaled(number, MILLION).ok_or_else(|| fail(Flaw::TooLarge))?;
    match u64::try_from(micro) {
        Ok(micro) if micro <= RATE_MAX * MILLION as u64 => Ok(micro),
        _ => Err(fail(Flaw::TooLarge)),
    }
}

/// Reads a share of the whole in parts per million: `0.01` or `1%`, at most all of it.
pub fn share(text: &str) -> Result<u32, QuantityError> {
    let fail = |flaw| QuantityError {
        quantity: Quantity::Share,
        flaw,
    };
    let number = positive(text).map_err(fail)?;
    let (number, unit) = split_number(number).map_err(fail)?;
    let factor = match unit {
        "" => MILLION,
        "%" => MILLION / 100,
        _ => return Err(fail(Flaw::UnknownUnit)),
    };
    match scaled(number, factor) {
        Some(ppm) if ppm <= MILLION => Ok(ppm as u32),
        _ => Err(fail(Flaw::TooLarge)),
    }
}

/// A duration in its largest whole unit: `90s`, `1500us`.
pub fn show_duration(span: SimSpan) -> String {
    let nanos = u128::from(span.as_nanos());
    let unit = [
        ("h", 3_600_000_000_000),
        ("m", 60_000_000_000),
        ("s", 1_000_000_000),
    ];
    let small = [("ms", 1_000_000), ("us", 1_000), ("ns", 1)];
    for (name, factor) in unit.into_iter().chain(small) {
        // Minutes and hours only where they are round, and never for nothing at all.
        if nanos >= factor && nanos.is_multiple_of(factor) {
            return format!("{}{name}", nanos / factor);
        }
    }
    "0s".to_owned()
}

/// A byte rate in its largest whole unit: `2MiB/s`.
pub fn show_byte_rate(bytes: u64) -> String {
    for (name, factor) in [
        ("GiB", 1 << 30),
        ("MiB", 1 << 20),
        ("KiB", 1 << 10),
        ("MB", 1_000_000),
    ] {
        if bytes >= factor && bytes.is_multiple_of(factor) {
            return format!("{}{name}/s", bytes / factor);
        }
    }
    format!("{bytes}B/s")
}

/// A number of millionths with as many decimals as it needs: `20000`, `0.5`.
pub fn show_millionths(micro: u64) -> String {
    let (whole, part) = (micro / MILLION as u64, micro % MILLION as u64);
    if part == 0 {
        return whole.to_string();
    }
    let digits = format!("{part:06}");
    format!("{whole}.{}", digits.trim_end_matches('0'))
}

/// The text without surrounding blanks, unless it is negative.
fn positive(text: &str) -> Result<&str, Flaw> {
    let text = text.trim();
    match text.strip_prefix('-') {
        Some(rest) if rest.starts_with(|c: char| c.is_ascii_digit()) => Err(Flaw::Negative),
        _ if text.is_empty() => Err(Flaw::NotANumber),
        _ => Ok(text),
    }
}

/// The decimal number at the start, and what follows it without blanks.
fn split_number(text: &str) -> Result<(&str, &str), Flaw> {
    let end = text
        .find(|c: char| !c.is_ascii_digit() && c != '.' && c != '_')
        .unwrap_or(text.len());
    let (number, rest) = text.split_at(end);
    let digits = number.starts_with(|c: char| c.is_ascii_digit());
    if !digits || number.matches('.').count() > 1 {
        return Err(Flaw::NotANumber);
    }
    Ok((number, rest.trim_start()))
}

fn find_unit(units: &[(&str, u128)], written: &str) -> Result<u128, Flaw> {
    let written = written.trim_end();
    match units.iter().find(|(name, _)| *name == written) {
        Some((_, factor)) => Ok(*factor),
        None if written.is_empty() => Err(Flaw::NoUnit),
        None => Err(Flaw::UnknownUnit),
    }
}

fn one_number(
    text: &str,
    quantity: Quantity,
    units: &[(&str, u128)],
) -> Result<u128, QuantityError> {
    let fail = |flaw| QuantityError { quantity, flaw };
    let text = positive(text).map_err(fail)?;
    let (number, unit) = split_number(text).map_err(fail)?;
    let factor = find_unit(units, unit).map_err(fail)?;
    scaled(number, factor).ok_or_else(|| fail(Flaw::TooLarge))
}

fn whole(amount: u128, quantity: Quantity) -> Result<u64, QuantityError> {
    u64::try_from(amount).map_err(|_| QuantityError {
        quantity,
        flaw: Flaw::TooLarge,
    })
}

/// `number × factor` in decimal, rounded down; `None` where it does not fit.
fn scaled(number: &str, factor: u128) -> Option<u128> {
    /// Finer digits are below every unit's resolution.
    const DECIMALS_MAX: usize = 15;
    let (whole, part) = number.split_once('.').unwrap_or((number, ""));
    let part: String = part
        .chars()
        .filter(char::is_ascii_digit)
        .take(DECIMALS_MAX)
        .collect();
    let scale = 10_u128.pow(part.len() as u32);
    let whole = digits(whole)?.checked_mul(factor)?;
    let part = digits(&part)?.checked_mul(factor)? / scale;
    whole.checked_add(part)
}

fn digits(text: &str) -> Option<u128> {
    text.chars()
        .filter_map(|c| c.to_digit(10))
        .try_fold(0_u128, |sum, digit| {
            sum.checked_mul(10)?.checked_add(u128::from(digit))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_carry_units_and_add_up() {
        let nanos = |text| duration(text).unwrap().as_nanos();
        assert_eq!(nanos("5ms"), 5_000_000);
        assert_eq!(nanos("1.5s"), 1_500_000_000);
        assert_eq!(nanos("1m30s"), nanos("90s"));
        assert_eq!(nanos("2 h"), 7_200_000_000_000);
        assert_eq!(nanos("250µs"), nanos("0.25ms"));
    }

    #[test]
    fn a_duration_says_what_is_wrong_with_it() {
        let flaw = |text| duration(text).unwrap_err().flaw;
        assert_eq!(flaw("5"), Flaw::NoUnit);
        assert_eq!(flaw("5 sec"), Flaw::UnknownUnit);
        assert_eq!(flaw("-5s"), Flaw::Negative);
        assert_eq!(flaw("soon"), Flaw::NotANumber);
        assert_eq!(flaw(""), Flaw::NotANumber);
        assert_eq!(flaw("1.2.3s"), Flaw::NotANumber);
        assert_eq!(flaw("99999999999999h"), Flaw::TooLarge);
        assert_eq!(flaw(&format!("{}s", "9".repeat(400))), Flaw::TooLarge);
    }

    #[test]
    fn sizes_are_binary_or_decimal_by_their_unit() {
        assert_eq!(size("2MiB"), Ok(2_097_152));
        assert_eq!(size("64KB"), Ok(64_000));
        assert_eq!(size("1.5 KiB"), Ok(1_536));
        assert_eq!(size("99999999999TiB").unwrap_err().flaw, Flaw::TooLarge);
    }

    #[test]
    fn byte_rates_count_bytes_or_bits() {
        assert_eq!(byte_rate("2MiB/s"), Ok(2_097_152));
        assert_eq!(byte_rate("1Gbit/s"), Ok(125_000_000));
        assert_eq!(byte_rate("100Mbit/s"), Ok(12_500_000));
        assert_eq!(byte_rate("2MiB").unwrap_err().flaw, Flaw::UnknownUnit);
    }

    #[test]
    fn rates_and_shares_keep_millionths() {
        assert_eq!(record_rate("0.5"), Ok(500_000));
        assert_eq!(record_rate("max"), Ok(RATE_MAX * 1_000_000));
        assert_eq!(record_rate("10000001").unwrap_err().flaw, Flaw::TooLarge);
        assert_eq!(share("1%"), share("0.01"));
        assert_eq!(share("101%").unwrap_err().flaw, Flaw::TooLarge);
    }

    #[test]
    fn what_is_shown_reads_back() {
        for nanos in [
            0,
            1,
            1_500,
            1_500_000,
            90_000_000_000,
            7_200_000_000_000,
            u64::MAX,
        ] {
            let span = SimSpan::from_nanos(nanos);
            assert_eq!(duration(&show_duration(span)), Ok(span));
        }
        for bytes in [1, 1_000, 2_097_152, 12_500_000, 3 << 30] {
            assert_eq!(byte_rate(&show_byte_rate(bytes)), Ok(bytes));
        }
        for micro in [0, 1, 500_000, 20_000_000_000] {
            assert_eq!(record_rate(&show_millionths(micro)), Ok(micro));
        }
    }
}
