//! The version of a program: its number, the commit that it was built from and its features.

use serde::Serialize;

/// What a program was built from. The command line prints it; the server's metrics have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Version {
    /// The number of the release.
    pub version: &'static str,
    /// The first 12 digits of the commit. `-dirty` follows where the sources had changes that were
    /// not committed. None if the build knew no commit.
    pub commit: Option<&'static str>,
    /// The cargo features, in alphabetical order.
    pub features: &'static [&'static str],
    /// The platform, as Rust names it.
    pub target: &'static str,
    /// Whether the program contains its C library.
    #[serde(rename = "static")]
    pub is_static: bool,
}

impl Version {
    /// The commit, or `unknown`.
    #[must_use]
    pub fn commit_text(&self) -> &'static str {
        self.commit.unwrap_or("unknown")
    }

    /// For people, in four lines, without the name of the program.
    #[must_use]
    pub fn text(&self) -> String {
        let Self { version, .. } = self;
        let features = match self.features {
            [] => "none".to_owned(),
            features => features.join(", "),
        };
        let linked = if self.is_static { "static" } else { "dynamic" };
        format!(
            "{version}\ncommit: {}\nfeatures: {features}\ntarget: {} ({linked})",
            self.commit_text(),
            self.target
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_text_and_json() {
        let known = Version {
            version: "1.2.3",
            commit: Some("0123456789ab-dirty"),
            features: &["ballista", "postgres"],
            target: "x86_64-unknown-linux-gnu",
            is_static: false,
        };
        assert_eq!(
            known.text(),
            "1.2.3\ncommit: 0123456789ab-dirty\nfeatures: ballista, postgres\n\
             target: x86_64-unknown-linux-gnu (dynamic)"
        );
        let json = serde_json::json!({
            "version": "1.2.3", "commit": "0123456789ab-dirty",
            "features": ["ballista", "postgres"],
            "target": "x86_64-unknown-linux-gnu", "static": false,
        });
        assert_eq!(serde_json::to_value(known).ok(), Some(json));
        let unknown = Version {
            commit: None,
            features: &[],
            is_static: true,
            ..known
        };
        assert_eq!(
            unknown.text(),
            "1.2.3\ncommit: unknown\nfeatures: none\ntarget: x86_64-unknown-linux-gnu (static)"
        );
    }
}
