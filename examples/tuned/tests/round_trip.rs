//! A recording of an hour: a quiet night with a few busy minutes.

use tuned::Recording;

fn hour() -> impl Iterator<Item = i16> {
    (0..36_000_i32).map(|tenth| match tenth / 600 {
        13 | 27 | 44 => i16::try_from(tenth * tenth % 997).expect("below 997"),
        _ => 20,
    })
}

#[test]
fn what_was_recorded_is_what_is_read() {
    let mut recording = Recording::default();
    hour().for_each(|sample| recording.push(sample));
    let samples = recording.samples();
    assert_eq!(samples.len(), 36_000, "number of samples");
    assert!(samples.into_iter().eq(hour()));
    assert!(recording.bytes() < 36_000);
}
