//! Numbers as people read them: units in one place, so that every pane agrees.

use crate::sim::time::{SimSpan, SimTime};

const KIB: f64 = 1024.0;

/// Bytes with a binary unit, in at most eight cells: `512 B`, `16.0 KiB`, `31.9 MiB`, `176 KiB`.
pub fn bytes(count: u64) -> String {
    bytes_f64(count as f64)
}

/// As [`bytes`], for computed figures.
pub fn bytes_f64(count: f64) -> String {
    let units = ["B", "KiB", "MiB", "GiB", "TiB"];
    let mut value = count.max(0.0);
    let mut unit = 0;
    while value >= 999.5 && unit + 1 < units.len() {
        value /= KIB;
        unit += 1;
    }
    let digits = usize::from(unit > 0 && value < 99.95);
    format!("{value:.digits$} {}", units[unit])
}

/// Bytes per second: `5.9 MiB/s`.
pub fn byte_rate(per_second: f64) -> String {
    format!("{}/s", bytes_f64(per_second))
}

/// A count in full with thousands set apart: `30,720`.
pub fn count(value: u64) -> String {
    let digits = value.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A count in at most six cells: `9,999`, `123.4k`, `12.3M`.
pub fn short(value: f64) -> String {
    let value = value.max(0.0);
    if value < 9_999.5 {
        count(value.round() as u64)
    } else if value < 999_950.0 {
        format!("{:.1}k", value / 1e3)
    } else if value < 999_950_000.0 {
        format!("{:.1}M", value / 1e6)
    } else {
        format!("{:.1}G", value / 1e9)
    }
}

/// Records per second: `6,000/s`.
pub fn rate(per_second: f64) -> String {
    if per_second < 1_000_000.0 {
        format!("{}/s", count(per_second.max(0.0).round() as u64))
    } else {
        format!("{}/s", short(per_second))
    }
}

/// A dimensionless figure: `0.40`.
pub fn ratio(value: f64) -> String {
    // Rounding noise must not read as a negative share.
    format!("{:.2}", if value.abs() < 0.005 { 0.0 } else { value })
}

/// A share of one: `40.2%`.
pub fn percent(share: f64) -> String {
    format!("{:.1}%", share * 100.0)
}

/// A length of time with a fitting unit: `850 ms`, `61.2 s`, `12 min 05 s`, `2 h 05 min`.
pub fn span(span: SimSpan) -> String {
    let nanos = span.as_nanos();
    if nanos < 1_000_000 {
        format!("{} us", nanos / 1_000)
    } else if nanos < 1_000_000_000 {
        format!("{} ms", span.as_millis())
    } else if nanos < 200_000_000_000 {
        format!("{:.1} s", span.as_seconds())
    } else {
        let seconds = span.as_millis() / 1000;
        if seconds < 7_200 {
            format!("{} min {:02} s", seconds / 60, seconds % 60)
        } else {
            format!("{} h {:02} min", seconds / 3600, seconds / 60 % 60)
        }
    }
}

/// A moment on an axis or in a list of events, as short as it is exact enough: `60s`, `7.7s`, `2m`.
pub fn moment(at: SimTime) -> String {
    let millis = at.as_millis();
    let (seconds, rest) = (millis / 1000, millis % 1000);
    if rest != 0 {
        let exact = format!("{seconds}.{rest:03}");
        format!("{}s", exact.trim_end_matches('0'))
    } else if seconds < 600 {
        format!("{seconds}s")
    } else if seconds < 36_000 && seconds % 60 == 0 {
        format!("{}m", seconds / 60)
    } else if seconds % 3600 == 0 {
        format!("{}h", seconds / 3600)
    } else {
        format!(
            "{}:{:02}:{:02}",
            seconds / 3600,
            seconds / 60 % 60,
            seconds % 60
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_carry_their_unit() {
        assert_eq!(bytes(512), "512 B");
        assert_eq!(bytes(16_384), "16.0 KiB");
        assert_eq!(bytes(33_554_432), "32.0 MiB");
        assert_eq!(bytes(1_048_575), "1.0 MiB");
        assert_eq!(byte_rate(2_097_152.0), "2.0 MiB/s");
    }

    #[test]
    fn counts_are_set_in_thousands() {
        assert_eq!(count(0), "0");
        assert_eq!(count(30_720), "30,720");
        assert_eq!(count(1_000_000), "1,000,000");
    }

    #[test]
    fn short_counts_fit_six_cells() {
        for value in [
            0.0, 999.4, 9_999.4, 10_000.0, 999_949.0, 999_951.0, 1e8, 9.9e8,
        ] {
            assert!(short(value).len() <= 6, "{}", short(value));
        }
    }

    #[test]
    fn spans_choose_their_unit() {
        assert_eq!(span(SimSpan::from_micros(42)), "42 us");
        assert_eq!(span(SimSpan::from_millis(850)), "850 ms");
        assert_eq!(span(SimSpan::from_millis(61_250)), "61.2 s");
        assert_eq!(span(SimSpan::from_seconds(725)), "12 min 05 s");
        assert_eq!(span(SimSpan::from_seconds(7_500)), "2 h 05 min");
    }

    #[test]
    fn moments_are_short() {
        assert_eq!(moment(SimTime::from_seconds(60)), "60s");
        assert_eq!(moment(SimTime::from_millis(7_700)), "7.7s");
        assert_eq!(moment(SimTime::from_seconds(1_200)), "20m");
        assert_eq!(moment(SimTime::from_seconds(7_200)), "120m");
        assert_eq!(moment(SimTime::from_seconds(3_661)), "1:01:01");
    }
}
