//! Properties that hold with all constants.

use tuned::Recording;

#[test]
fn a_lively_recording_comes_back() {
    let wave = || (0..10_000_i16).map(|tenth| tenth % 97 * 50);
    let mut recording = Recording::default();
    wave().for_each(|sample| recording.push(sample));
    assert!(recording.samples().into_iter().eq(wave()));
    assert!(recording.bytes() < 20_000);
}
