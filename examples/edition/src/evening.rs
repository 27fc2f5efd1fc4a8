//! The wishes of an evening as text, one a line: `ann B3 full`.

use crate::{
    hall::{Seat, Ticket},
    office::Office,
};

/// Serves all guests in turn. Returns the number of guests who got a seat.
///
/// # Errors
/// Returns the first line that is not a wish. The wishes before it are served.
pub fn serve(office: &Office, wishes: &str) -> Result<usize, String> {
    let mut served = 0;
    for line in wishes.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let (name, seat, ticket) = wish(line).ok_or_else(|| line.to_owned())?;
        served += usize::from(office.sell(name, seat, ticket).is_some());
    }
    Ok(served)
}

fn wish(line: &str) -> Option<(&str, Seat, Ticket)> {
    let mut words = line.split_whitespace();
    let (name, seat, ticket) = (words.next()?, Seat::parse(words.next()?)?, words.next()?);
    let ticket = match ticket {
        "full" => Ticket::Full,
        "reduced" => Ticket::Reduced,
        "wheelchair" => Ticket::Wheelchair,
        _ => return None,
    };
    words.next().is_none().then_some((name, seat, ticket))
}
