//! A recorded day of requests, played again.

use hashorder::Cache;

/// Asks for 40 names in bursts, so that many requests fall into the same second.
fn replay() -> (Cache, usize) {
    let mut cache = Cache::new(2_000, 600);
    let mut hits = 0;
    for request in 0_u64..4_000 {
        // Quadratic residues: some names are asked for often, others seldom.
        let name = request * request % 41;
        let size = 60 + usize::try_from(name).unwrap() * 7 % 90;
        hits += usize::from(cache.request(&format!("host{name}.example"), size, request / 8));
    }
    (cache, hits)
}

#[test]
fn the_day_has_as_many_hits_as_it_had() {
    let (cache, hits) = replay();
    assert!(cache.bytes() <= 2_000);
    assert!(cache.largest() < 150);
    assert!(cache.oldest(500) <= 600);
    assert!(cache.useless() < cache.names().len());
    assert_eq!(cache.popular(3).len(), 3);
    assert!(cache.hits() > 0);
    assert_eq!(hits, 3_289, "requests that the cache answered");
}
