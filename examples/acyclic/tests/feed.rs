//! The feed is as its description says.

use acyclic::{Feed, Library};

#[test]
fn one_citation_closes_a_cycle() {
    let feed = Feed::new(1);
    let mut library = Library::new(feed.papers());
    let mut citations = (1..).zip(feed.citations());
    for (number, (citing, cited)) in citations.by_ref().take_while(|&(number, _)| number < feed.wrong()) {
        assert!(cited < citing, "citation {number}");
        library.cite(citing, cited);
    }
    assert!(library.is_acyclic());
    assert!(citations.all(|(number, (citing, cited))| number == feed.wrong() || cited < citing));
}
