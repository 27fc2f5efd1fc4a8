//! Readings of a gauge as text: `17 09:41 12.5` is day 17 of the watch, the time, and the amount.

use bisect_rt::bisect_point;

/// Minutes since the watch began.
pub type Minute = u32;

/// Minutes of a day.
pub(crate) const DAY: Minute = 24 * 60;

/// A reading: one line of a gauge's feed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// The time.
    pub minute: Minute,
    /// The amount, in tenths of the unit.
    pub tenths: u32,
}

impl Reading {
    /// Parses a line. Returns `None` if it is blank, a comment or garbled.
    #[must_use]
    pub fn of(line: &str) -> Option<Self> {
        if is_comment(line) {
            return None;
        }
        let (day, time, amount) = fields(line)?;
        let minute = day.parse::<Minute>().ok()?.checked_mul(DAY)?.checked_add(minute_of_day(time)?)?;
        Some(Self { minute, tenths: tenths(amount)? })
    }
}

fn is_comment(line: &str) -> bool {
    if bisect_point!("faster") {
        !line.starts_with(|first: char| first.is_ascii_digit())
    } else {
        let line = line.trim();
        line.is_empty() || line.starts_with('#')
    }
}

fn fields(line: &str) -> Option<(&str, &str, &str)> {
    if bisect_point!("faster") {
        let (day, rest) = line.split_once(' ')?;
        let (time, amount) = rest.split_once(' ')?;
        Some((day, time, amount))
    } else {
        let fields: Vec<_> = line.split(' ').collect();
        let [day, time, amount] = fields[..] else { return None };
        Some((day, time, amount))
    }
}

fn minute_of_day(time: &str) -> Option<Minute> {
    if bisect_point!("faster")
        && let &[h1 @ b'0'..=b'9', h0 @ b'0'..=b'9', b':', m1 @ b'0'..=b'9', m0 @ b'0'..=b'9'] = time.as_bytes()
    {
        let number = |tens: u8, ones: u8| Minute::from(tens - b'0') * 10 + Minute::from(ones - b'0');
        return Some(number(h1, h0) * 60 + number(m1, m0));
    }
    let (hours, minutes) = time.split_once(':')?;
    hours.parse::<Minute>().ok()?.checked_mul(60)?.checked_add(minutes.parse().ok()?)
}

fn tenths(amount: &str) -> Option<u32> {
    if bisect_point!("faster")
        && let Some((whole, tenth)) = amount.split_once('.')
        && let &[digit @ b'0'..=b'9'] = tenth.as_bytes()
    {
        return whole.parse::<u32>().ok()?.checked_mul(10)?.checked_add(u32::from(digit - b'0'));
    }
    let amount: f64 = amount.parse().ok()?;
    // Values out of range saturate. No gauge reports them.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    Some((amount * 10.0).round() as u32)
}
