//! Changes that are decided while compiling, in a package that another one uses.

use bisect_rt::bisect_build;

/// Three changes.
pub const FAST: [bool; 3] = [bisect_build!("fast"), bisect_build!("fast"), bisect_build!("fast")];
