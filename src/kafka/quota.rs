//! Byte-rate quotas of clients: whom one holds for, and how long a broker throttles.
//!
//! Invariant: of several quotas that fit a client, the most specific one holds, in Kafka's order.
//!
//! Source: `ClientQuotaManager`, `DefaultQuotaCallback`, `QuotaUtils`, KIP-124, KIP-219, KIP-546.

use super::metric_window::{MetricWindow, Sensor};

/// The user of a connection that nobody logged in on (`KafkaPrincipal.ANONYMOUS`).
pub const ANONYMOUS: &str = "ANONYMOUS";

/// A name, or everybody who has no quota by name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum QuotaName {
    /// This user, or this `client.id`.
    Of(String),
    /// `<default>`.
    Default,
}

/// Whom a quota holds for. At least one of both is there.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct QuotaEntity {
    /// `--entity-type users`; nothing where the user does not matter.
    pub user: Option<QuotaName>,
    /// `--entity-type clients`; nothing where the `client.id` does not matter.
    pub client_id: Option<QuotaName>,
}

/// A limit of the bytes that producers may send to one broker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quota {
    /// For whom.
    pub entity: QuotaEntity,
    /// `producer_byte_rate`, in bytes per second for each broker, at least 1.
    pub producer_byte_rate: u64,
}

/// Who shares the bytes that count towards a quota, at one broker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuotaShare {
    /// All connections with one `client.id`.
    ClientId,
    /// All connections of one user.
    User,
}

impl QuotaEntity {
    /// How specific it is for a client, 0 being the most; nothing where it does not fit.
    ///
    /// Source: `DefaultQuotaCallback.quotaMetricTags`.
    fn precedence(&self, user: &str, client_id: &str) -> Option<u8> {
        let fits = |name: &QuotaName, own: &str| match name {
            QuotaName::Of(name) => (name == own).then_some(0),
            QuotaName::Default => Some(1),
        };
        match (&self.user, &self.client_id) {
            (Some(user_name), Some(client)) => {
                let by_user: u8 = fits(user_name, user)?;
                Some(by_user * 3 + fits(client, client_id)?)
            }
            (Some(user_name), None) => Some(fits(user_name, user)? * 3 + 2),
            (None, Some(client)) => Some(6 + fits(client, client_id)?),
            (None, None) => None,
        }
    }

    /// Who counts together under a quota of this entity.
    pub const fn share(&self) -> QuotaShare {
        match self.client_id {
            Some(_) => QuotaShare::ClientId,
            None => QuotaShare::User,
        }
    }
}

/// The quota that holds for a client.
pub fn quota_of<'a>(quotas: &'a [Quota], user: &str, client_id: &str) -> Option<&'a Quota> {
    let fitting = quotas.iter().filter_map(|quota| {
        let precedence = quota.entity.precedence(user, client_id)?;
        Some((precedence, quota))
    });
    fitting
        .min_by_key(|(precedence, _)| *precedence)
        .map(|(_, quota)| quota)
}

/// The bytes that one broker saw of those who share a quota.
#[derive(Clone, Debug)]
pub struct QuotaSensor {
    rate: Sensor,
}

impl QuotaSensor {
    /// Nothing seen yet, with `quota.window.num` windows of `quota.window.size.seconds`.
    pub fn new(window_num: u32, window_size_seconds: u32) -> Self {
        let window = MetricWindow::new(window_num, u64::from(window_size_seconds) * 1_000);
        Self {
            rate: Sensor::new(window),
        }
    }

    /// A request of so many bytes was handled.
    pub fn record(&mut self, bytes: u32, now_ms: u64) {
        self.rate.record(f64::from(bytes), now_ms);
    }

    /// How long whoever sent the latest bytes is throttled, in milliseconds; 0 within the quota.
    ///
    /// `(observed − quota) / quota × window`: as long as it takes for the rate over the window to
    /// fall to the quota. There is no upper limit.
    ///
    /// Source: `QuotaUtils.throttleTime`.
    pub fn throttle_ms(&self, producer_byte_rate: u64, now_ms: u64) -> u32 {
        let quota = producer_byte_rate.max(1) as f64;
        let observed = self.rate.rate(now_ms).unwrap_or(0.0);
        if observed <= quota {
            return 0;
        }
        let throttle = (observed - quota) / quota * self.rate.span_ms(now_ms);
        // `Math.round`: halves go up.
        (throttle + 0.5).min(f64::from(u32::MAX)) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entity(user: Option<&str>, client_id: Option<&str>) -> QuotaEntity {
        let name = |name: &str| match name {
            "<default>" => QuotaName::Default,
            name => QuotaName::Of(name.to_owned()),
        };
        QuotaEntity {
            user: user.map(name),
            client_id: client_id.map(name),
        }
    }

    #[test]
    fn the_most_specific_quota_holds_in_kafkas_order() {
        let order = [
            (Some("ann"), Some("shop")),
            (Some("ann"), Some("<default>")),
            (Some("ann"), None),
            (Some("<default>"), Some("shop")),
            (Some("<default>"), Some("<default>")),
            (Some("<default>"), None),
            (None, Some("shop")),
            (None, Some("<default>")),
        ];
        let quotas = (1..).zip(order).map(|(rate, (user, client_id))| Quota {
            entity: entity(user, client_id),
            producer_byte_rate: rate,
        });
        let mut left: Vec<Quota> = quotas.collect();
        left.reverse();
        let mut held = Vec::new();
        while let Some(best) = quota_of(&left, "ann", "shop") {
            held.push(best.producer_byte_rate);
            left.pop();
        }
        assert_eq!(held, [1, 2, 3, 4, 5, 6, 7, 8]);
    }

    #[test]
    fn a_quota_of_others_does_not_hold() {
        let quotas = [Quota {
            entity: entity(None, Some("shop")),
            producer_byte_rate: 1,
        }];
        assert_eq!(quota_of(&quotas, ANONYMOUS, "trips"), None);
    }

    #[test]
    fn a_broker_that_has_seen_little_counts_ten_full_windows() {
        // 15 MB in one second against 1 MB/s: 1.5 MB/s over the ten seconds that are taken to
        // have passed, and 5 seconds until they are paid for.
        let mut sensor = QuotaSensor::new(11, 1);
        sensor.record(15_000_000, 1_000);
        assert_eq!(sensor.throttle_ms(1_000_000, 1_000), 5_000);
        assert_eq!(sensor.throttle_ms(2_000_000, 1_000), 0);
    }

    #[test]
    fn the_first_bytes_weigh_until_their_window_is_over() {
        let mut sensor = QuotaSensor::new(11, 1);
        sensor.record(15_000_000, 1_000);
        assert_eq!(sensor.throttle_ms(1_000_000, 6_000), 5_000);
        assert_eq!(sensor.throttle_ms(1_000_000, 11_500), 4_500);
        assert_eq!(sensor.throttle_ms(1_000_000, 12_000), 0);
    }
}
