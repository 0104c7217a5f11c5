//! The version of this program. `build.rs` provides the commit and the platform.

use std::sync::LazyLock;

use mizan_api::version::Version;

/// The commit that `build.rs` found; empty if it found none.
const COMMIT: &str = env!("MIZAN_COMMIT");

/// The version of this program.
pub(crate) const VERSION: Version = Version {
    version: env!("CARGO_PKG_VERSION"),
    commit: if COMMIT.is_empty() {
        None
    } else {
        Some(COMMIT)
    },
    features: match (cfg!(feature = "ballista"), cfg!(feature = "postgres")) {
        (true, true) => &["ballista", "postgres"],
        (true, false) => &["ballista"],
        (false, true) => &["postgres"],
        (false, false) => &[],
    },
    target: env!("MIZAN_TARGET"),
    is_static: cfg!(target_feature = "crt-static"),
};

/// What `--version` prints after the name of the program.
pub(crate) fn long() -> &'static str {
    static LONG: LazyLock<String> = LazyLock::new(|| VERSION.text());
    &LONG
}
