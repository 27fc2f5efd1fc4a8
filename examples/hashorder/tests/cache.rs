//! Properties that hold in any order.

use hashorder::Cache;

#[test]
fn a_name_is_fetched_once() {
    let mut cache = Cache::new(100, 60);
    assert!(!cache.request("a", 10, 0));
    assert!(cache.request("a", 10, 1));
    assert_eq!((cache.bytes(), cache.hits(), cache.useless()), (10, 1, 0));
}

#[test]
fn what_was_not_asked_for_the_longest_is_evicted() {
    let mut cache = Cache::new(100, 60);
    cache.request("a", 50, 0);
    cache.request("b", 50, 1);
    cache.request("a", 50, 2);
    cache.request("c", 40, 3);
    assert_eq!(cache.names(), ["a", "c"]);
    assert_eq!(cache.popular(1), ["a"]);
    assert_eq!((cache.largest(), cache.oldest(4)), (50, 4));
}

#[test]
fn an_answer_is_fetched_again_after_its_lifetime() {
    let mut cache = Cache::new(100, 60);
    cache.request("a", 10, 0);
    assert!(!cache.request("a", 10, 60));
}
