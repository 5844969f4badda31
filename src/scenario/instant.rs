//! Dates and times in UTC, as milliseconds since 1970, by the calendar's arithmetic alone.

/// Reads `2026-01-01T00:00:00Z`, with or without a fraction of a second.
pub(crate) fn parse(text: &str) -> Option<i64> {
    let text = text.trim().strip_suffix(['Z', 'z'])?;
    let (date, time) = text.split_once(['T', 't', ' '])?;
    let [year, month, day] = numbers(date, '-')?;
    let (clock, fraction) = time.split_once('.').unwrap_or((time, "0"));
    let [hour, minute, second] = numbers(clock, ':')?;
    let in_range = (1970..=9999).contains(&year)
        && (1..=12).contains(&month)
        && (1..=days_in_month(year, month)).contains(&day)
        && hour < 24
        && minute < 60
        && second < 60;
    if !in_range || fraction.is_empty() || !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let millis = format!("{fraction:0<3}").get(..3)?.parse::<i64>().ok()?;
    let seconds = ((days_since_1970(year, month, day) * 24 + hour) * 60 + minute) * 60 + second;
    Some(seconds * 1000 + millis)
}

/// Three numbers of decimal digits.
fn numbers(text: &str, separator: char) -> Option<[i64; 3]> {
    let parts: Vec<&str> = text.split(separator).collect();
    let [first, second, third] = parts[..] else {
        return None;
    };
    let number = |part: &str| {
        let digits =
            !part.is_empty() && part.len() <= 4 && part.bytes().all(|b| b.is_ascii_digit());
        digits.then(|| part.parse::<i64>().ok()).flatten()
    };
    Some([number(first)?, number(second)?, number(third)?])
}

const fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

const fn days_in_month(year: i64, month: i64) -> i64 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if is_leap(year) => 29,
        2 => 28,
        _ => 31,
    }
}

fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let leap_days = |year: i64| year / 4 - year / 100 + year / 400;
    let years = (year - 1970) * 365 + leap_days(year - 1) - leap_days(1969);
    let months: i64 = (1..month).map(|month| days_in_month(year, month)).sum();
    years + months + day - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_calendar_is_kept() {
        assert_eq!(parse("1970-01-01T00:00:00Z"), Some(0));
        assert_eq!(parse("2026-01-01T00:00:00Z"), Some(1_767_225_600_000));
        assert_eq!(parse("2024-02-29T12:30:01.5Z"), Some(1_709_209_801_500));
    }

    #[test]
    fn impossible_moments_are_refused() {
        for text in [
            "",
            "2026-13-01T00:00:00Z",
            "2023-02-29T00:00:00Z",
            "2026-01-01T24:00:00Z",
            "2026-01-01",
            "2026-01-01T00:00:00",
            "2026-01-01T00:00:00.Z",
            "é-01-01T00:00:00Z",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
