//! Reads a feed: `acyclic [SCALE] [CHECKS]`. With CHECKS, searches for cycles at this number of citations, evenly spread.

use std::{env, time::Instant};

use acyclic::{Feed, Library};

fn main() {
    let number = |n| env::args().nth(n).and_then(|argument| argument.parse::<u32>().ok());
    let feed = Feed::new(number(1).unwrap_or(1));
    let checks = number(2).map(|checks| checks.clamp(1, feed.len()));
    let mut library = Library::new(feed.papers());
    let (mut spent, mut made) = (0.0, 0_u32);
    for (index, (citing, cited)) in (1..).zip(feed.citations()) {
        library.cite(citing, cited);
        if let Some(checks) = checks
            && index <= feed.wrong()
            && index % (feed.len() / checks).max(1) == 0
        {
            let started = Instant::now();
            let is_acyclic = library.is_acyclic();
            spent += started.elapsed().as_secs_f64();
            made += 1;
            if !is_acyclic {
                println!("a cycle at citation {index}");
            }
        }
    }
    if let Some((paper, count)) = library.most_cited() {
        println!("{} citations; paper {paper} has most of them: {count}", feed.len());
    }
    if made > 0 {
        println!("{made} checks took {spent:.3} s");
    }
}
