//! Byte-rate quotas: who is over, and for how long brokers do not read what it sends.
//!
//! Every broker counts by itself, the whole request, when it is handled; a client that is over is
//! answered at once, with the time for which its connection stays unread (KIP-219).
//!
//! Source: `KafkaApis.handleProduceRequest`, `ClientQuotaManager`. Simplifications: a quota reaches
//! all brokers at once; everybody is `ANONYMOUS`, since nobody logs in.

use std::sync::Arc;

use crate::kafka::quota::{ANONYMOUS, Quota, QuotaEntity, QuotaSensor, QuotaShare, quota_of};
use crate::sim::cluster::Cluster;
use crate::sim::config::Config;
use crate::sim::context::Context;
use crate::sim::ids::{BrokerIndex, ProducerIndex};
use crate::sim::request::{ApiKey, RequestId};
use crate::sim::time::SimSpan;

/// Bytes of a request in front of what a broker counts: its length.
const LENGTH_BYTES: u32 = 4;

/// The cluster's quotas, and what clients call themselves.
#[derive(Clone, Debug)]
pub struct Quotas {
    given: Vec<Quota>,
    /// By producer.
    client_ids: Vec<Arc<str>>,
}

/// Whose bytes are counted together at one broker.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ShareKey {
    /// Everybody's with this `client.id`.
    ClientId(Arc<str>),
    /// The only user's.
    User,
}

impl Quotas {
    /// Those of the scenario.
    pub fn new(config: &Config) -> Self {
        let producers = config.producers.iter();
        Self {
            given: config.quotas.clone(),
            client_ids: producers
                .map(|producer| producer.client.client_id().into())
                .collect(),
        }
    }

    /// Another limit for an entity, or none any more.
    fn set(&mut self, entity: &QuotaEntity, producer_byte_rate: Option<u64>) {
        self.given.retain(|quota| quota.entity != *entity);
        self.given
            .extend(producer_byte_rate.map(|producer_byte_rate| Quota {
                entity: entity.clone(),
                producer_byte_rate,
            }));
    }
}

impl Cluster {
    /// The quotas that were given, in the order in which they were.
    pub fn quotas(&self) -> &[Quota] {
        &self.quotas.given
    }

    /// `kafka-configs.sh --alter` of users or clients.
    pub fn set_quota(&mut self, entity: &QuotaEntity, producer_byte_rate: Option<u64>) {
        self.quotas.set(entity, producer_byte_rate);
    }

    /// A producer's clients call themselves differently from now on.
    pub fn name_client(&mut self, producer: ProducerIndex, client_id: &str) {
        self.quotas.client_ids[producer.index()] = client_id.into();
    }

    /// Counts a produce request that is done, and says how long its client is throttled for it.
    pub(super) fn throttle_ms(&mut self, ctx: &Context<'_>, at: BrokerIndex, id: RequestId) -> u32 {
        let request = ctx.requests.get(id);
        if self.quotas.given.is_empty() || request.api != ApiKey::Produce {
            return 0;
        }
        let client_id = &self.quotas.client_ids[request.channel.producer.index()];
        let Some(quota) = quota_of(&self.quotas.given, ANONYMOUS, client_id) else {
            return 0;
        };
        let key = match quota.entity.share() {
            QuotaShare::ClientId => ShareKey::ClientId(Arc::clone(client_id)),
            QuotaShare::User => ShareKey::User,
        };
        let broker = &mut self.brokers[at.index()];
        let windows = broker.settings.requests;
        let sensor = broker.quota_sensors.entry(key).or_insert_with(|| {
            QuotaSensor::new(windows.quota_window_num, windows.quota_window_size_seconds)
        });
        let now_ms = ctx.now.as_millis();
        sensor.record(request.bytes.saturating_sub(LENGTH_BYTES), now_ms);
        let throttle_ms = sensor.throttle_ms(quota.producer_byte_rate, now_ms);
        broker.throttled += SimSpan::from_millis(u64::from(throttle_ms));
        throttle_ms
    }
}
