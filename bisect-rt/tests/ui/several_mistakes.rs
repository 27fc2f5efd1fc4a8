use bisect_rt::bisect_toggle;

#[bisect_toggle("new sort", off = 3, by = "me", depth = 0, what = 3, off = old)]
const fn sort(#[cfg(unix)] _: u32) {}

fn main() {
    // The function is still there, and these are all the errors.
    sort(3);
}
