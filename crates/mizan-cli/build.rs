//! Tells the program which commit it is built from, in the variable `MIZAN_COMMIT`, and for which
//! platform, in `MIZAN_TARGET`.
//!
//! The commit is the variable `MIZAN_COMMIT` of the build, for packagers, or that of the git
//! checkout, or the one that `git archive` wrote into `commit.txt`. Without any of them it is not
//! known.
//!
//! Cargo runs this script again only if the sources of the program or the commit change. The
//! program is compiled again then: after a change of the sources it would be in any case.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The digits of a commit that the program shows. Git's own choice depends on the clone.
const DIGITS: usize = 12;

const NOT_A_COMMIT: &str =
    "MIZAN_COMMIT is not a commit: 7 or more hexadecimal digits, perhaps with -dirty";

/// Parts of a crate that are not compiled into the program.
const NOT_COMPILED: [&str; 5] = [
    "tests",
    "examples",
    "benches",
    "fuzz",
    "proptest-regressions",
];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("cargo::rustc-env=MIZAN_TARGET={}", env::var("TARGET")?);
    // See names_without_nss.c.
    println!("cargo::rustc-check-cfg=cfg(names_without_nss)");
    println!("cargo::rerun-if-env-changed=MIZAN_COMMIT");
    println!("cargo::rerun-if-changed=commit.txt");
    let manifest = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").ok_or("no manifest")?);
    let root = manifest.join("../..");
    let given = env::var("MIZAN_COMMIT")
        .ok()
        .filter(|text| !text.is_empty());
    let given = given.map(|text| shortened(&text).ok_or(NOT_A_COMMIT));
    let commit = given
        .transpose()?
        .or_else(|| of_checkout(&root))
        .or_else(|| of_archive(&manifest));
    println!(
        "cargo::rustc-env=MIZAN_COMMIT={}",
        commit.unwrap_or_default()
    );
    Ok(())
}

/// The form in which the program shows a commit; none if the text is not a commit.
fn shortened(text: &str) -> Option<String> {
    let (digits, dirty) = match text.strip_suffix("-dirty") {
        Some(digits) => (digits, "-dirty"),
        None => (text, ""),
    };
    let is_commit = digits.len() >= 7 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_commit.then(|| digits.chars().take(DIGITS).collect::<String>() + dirty)
}

/// The commit of an archive: in a checkout, the file holds the format instead.
fn of_archive(manifest: &Path) -> Option<String> {
    let text = fs::read_to_string(manifest.join("commit.txt")).ok()?;
    shortened(text.trim())
}

/// The commit of a git checkout. A repository around an unpacked archive is not asked.
fn of_checkout(root: &Path) -> Option<String> {
    if !root.join(".git").exists() {
        return None;
    }
    let sources = sources(root);
    for path in sources.iter().map(|path| root.join(path)) {
        if path.exists() {
            println!("cargo::rerun-if-changed={}", path.display());
        }
    }
    watch_head(root);
    let commit = git(root, &["rev-parse", "HEAD"])?;
    let mut status = vec!["status", "--porcelain", "--untracked-files=normal", "--"];
    status.extend(sources.iter().map(String::as_str));
    let dirty = match git(root, &status)?.is_empty() {
        true => "",
        false => "-dirty",
    };
    shortened(&format!("{commit}{dirty}"))
}

/// The files and directories that the program is compiled from, below the root.
fn sources(root: &Path) -> Vec<String> {
    let names = |folder: &Path| -> Vec<String> {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
        names.collect()
    };
    let crates = root.join("crates");
    let parts = names(&crates).into_iter().flat_map(|krate| {
        let parts = names(&crates.join(&krate)).into_iter();
        let compiled = parts.filter(|part| !NOT_COMPILED.contains(&part.as_str()));
        compiled.map(move |part| format!("crates/{krate}/{part}"))
    });
    let whole = ["Cargo.toml", "Cargo.lock", ".cargo", "rust-toolchain.toml"].map(str::to_owned);
    let mut sources: Vec<_> = parts.chain(whole).collect();
    sources.sort();
    sources
}

/// Cargo runs this script again when `HEAD` changes or the branch that it names. A path that does
/// not exist would run it at every build, so a branch without a file of its own is watched by the
/// nearest directory, in which the next commit creates one.
fn watch_head(root: &Path) {
    let branch = git(root, &["symbolic-ref", "--quiet", "HEAD"]);
    let names = ["HEAD", "packed-refs", "reftable"];
    for name in names.into_iter().chain(branch.as_deref()) {
        let Some(path) = git(root, &["rev-parse", "--git-path", name]) else {
            continue;
        };
        let path = root.join(path);
        let is_branch = Some(name) == branch.as_deref();
        let found = match is_branch {
            true => path.ancestors().find(|path| path.exists()),
            false => Some(path.as_path()).filter(|path| path.exists()),
        };
        if let Some(found) = found {
            println!("cargo::rerun-if-changed={}", found.display());
        }
    }
}

/// What git prints, if it is installed and succeeds.
fn git(root: &Path, arguments: &[&str]) -> Option<String> {
    let mut git = Command::new("git");
    // In a hook of git, these variables may name another repository.
    for name in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX"] {
        git.env_remove(name);
    }
    git.env("GIT_OPTIONAL_LOCKS", "0");
    let output = git.arg("-C").arg(root).args(arguments).output().ok()?;
    let printed = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| printed.trim().to_owned())
}
