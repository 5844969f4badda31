//! The `[[quota]]` tables.

use crate::kafka::quota::{Quota, QuotaEntity, QuotaName};
use crate::scenario::problem::Problem;
use crate::scenario::read::Fields;

use super::World;

/// What stands for everybody who has no quota by name.
const DEFAULT: &str = "<default>";

/// Quotas in the order of the file; of two for the same client the later one holds.
pub(super) fn quotas(world: &mut World<'_>, root: Fields<'_>) -> Vec<Quota> {
    let mut quotas: Vec<Quota> = Vec::new();
    for fields in root.tables("quota") {
        let name = |key: &str| {
            fields.text(key).map(|name| match name {
                DEFAULT => QuotaName::Default,
                name => QuotaName::Of(name.to_owned()),
            })
        };
        let entity = QuotaEntity {
            user: name("user"),
            client_id: name("client-id"),
        };
        if entity.user.is_none() && entity.client_id.is_none() {
            let problem = Problem::new("a quota of nobody").at(fields.place, "");
            world.problem(problem.hint("client-id = \"NAME\", or \"<default>\" for all others"));
            continue;
        }
        let Some(producer_byte_rate) = fields.byte_rate("producer-byte-rate") else {
            continue;
        };
        if producer_byte_rate == 0 {
            let problem = Problem::new("`producer-byte-rate` is zero");
            let place = fields.place_of("producer-byte-rate");
            world.problem(problem.at(place, "expected more than nothing"));
            continue;
        }
        quotas.retain(|quota| quota.entity != entity);
        quotas.push(Quota {
            entity,
            producer_byte_rate,
        });
    }
    quotas
}
