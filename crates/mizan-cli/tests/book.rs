//! The book: every page and link exists, and every command block runs and prints what the page
//! says. `docs/book/SUMMARY.md` lists the pages; README is the first.
//!
//! - A block marked `sh` runs with `mizan` on the path. The blocks of a page run one after the
//!   other in one shell, which stops at the first command that fails, in a folder that was
//!   empty; those of README in one for each section.
//! - A block marked `text` right after it is its output. Lines are compared after runs of
//!   spaces, of rules and of bars are shortened to one. `…` stands for one or more characters
//!   other than a space, such as the digits of noise; a line of `…` alone stands for any lines.
//! - Blocks marked `sh,postgres` run if `MIZAN_TEST_POSTGRES` is set: `CLINIC` is the address of
//!   an empty database then. Blocks marked `sh,norun` do not run; a comment before them says why.
//! - Port 8917 is replaced by a free one.
#![cfg(unix)]

use std::fs;
use std::net::TcpListener;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;

const SUMMARY: &str = "docs/book/SUMMARY.md";

/// A page that takes longer is stopped.
const SECONDS: &str = "240";

/// How many blocks may be marked `norun`: the book is executed, with a handful of exceptions.
const NOT_RUN: usize = 4;

fn root() -> PathBuf {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    crates.parent().unwrap().to_owned()
}

fn read(page: &str) -> String {
    fs::read_to_string(root().join(page)).unwrap_or_else(|error| panic!("{page}: {error}"))
}

/// A path without `..`: the target of a link in a page.
fn target(page: &str, link: &str) -> String {
    let mut parts: Vec<&str> = page.split('/').collect();
    parts.pop();
    for part in link.split('/') {
        match part {
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

/// The lines of a page that are not in fenced blocks, without inline code.
fn prose(text: &str) -> String {
    let mut fenced = false;
    let mut prose = String::new();
    for line in text.lines() {
        if line.starts_with("```") {
            fenced = !fenced;
        } else if !fenced && !line.starts_with("    ") {
            prose.extend(line.split('`').step_by(2));
            prose.push('\n');
        }
    }
    prose
}

fn links(text: &str) -> Vec<String> {
    let prose = prose(text);
    let ends = prose.split("](").skip(1);
    ends.filter_map(|rest| rest.split_once(')'))
        .map(|(link, _)| link.to_owned())
        .collect()
}

/// The pages of the book, as paths below the root.
fn pages() -> Vec<String> {
    let links = links(&read(SUMMARY)).into_iter();
    links.map(|link| target(SUMMARY, &link)).collect()
}

/// The anchors of the headings of a page, as GitHub and mdBook make them.
fn anchors(text: &str) -> Vec<String> {
    let headings = text.lines().filter(|line| line.starts_with('#'));
    let anchor = |heading: &str| {
        let title = heading.trim_start_matches('#').trim().to_lowercase();
        let kept = title
            .chars()
            .filter(|&c| c.is_alphanumeric() || " -_".contains(c));
        kept.collect::<String>().replace(' ', "-")
    };
    headings.map(anchor).collect()
}

fn markdown(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            markdown(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "md") {
            found.push(path);
        }
    }
}

#[test]
fn every_page_is_in_the_book_and_every_link_resolves() {
    let (root, pages) = (root(), pages());
    let mut files = Vec::new();
    markdown(&root.join("docs"), &mut files);
    for file in files {
        let name = file.strip_prefix(&root).unwrap().to_str().unwrap();
        let in_book = name == SUMMARY || pages.iter().any(|page| page == name);
        assert!(in_book, "{SUMMARY} does not name {name}");
    }
    let mut checked = 0;
    for page in pages.iter().map(String::as_str).chain([SUMMARY]) {
        for link in links(&read(page)) {
            if link.starts_with("http") {
                continue;
            }
            checked += 1;
            let (path, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let file = if path.is_empty() {
                page.to_owned()
            } else {
                target(page, path)
            };
            assert!(root.join(&file).is_file(), "{page} links to {link}");
            let linked = pages.contains(&file) || !file.ends_with(".md");
            assert!(linked, "{page} links to {file}, which is not in the book");
            let known = anchor.is_empty() || anchors(&read(&file)).iter().any(|one| one == anchor);
            assert!(known, "{page} links to {link}: no such heading");
        }
    }
    assert!(checked > 100, "{checked} links");
}

/// A command block, and the output that the page shows.
struct Block {
    place: String,
    mark: String,
    commands: String,
    output: Option<String>,
}

/// Blocks that run in one folder.
type Chapter = Vec<Block>;

/// The command blocks of a page, in one chapter; those of README in one for each section.
fn chapters(page: &str) -> Vec<Chapter> {
    let mut chapters = vec![Chapter::new()];
    // The line before, empty lines aside.
    let mut before = "";
    let text = read(page);
    let mut lines = text.lines().enumerate();
    while let Some((at, line)) = lines.next() {
        if line.starts_with("## ") && page == "README.md" {
            chapters.push(Chapter::new());
        }
        if let Some(mark) = line.strip_prefix("```") {
            let rest = lines.by_ref().map(|(_, line)| line);
            let body: Vec<_> = rest.take_while(|line| *line != "```").collect();
            let body = body.join("\n") + "\n";
            let blocks = chapters.last_mut().unwrap();
            if mark.starts_with("sh") {
                let place = format!("{page}, line {}", at + 1);
                let known = ["sh", "sh,postgres", "sh,norun"].contains(&mark);
                assert!(known, "{place}: {mark}");
                let has_reason = before.starts_with("<!-- not run: ");
                assert_eq!(has_reason, mark == "sh,norun", "{place}: the reason");
                blocks.push(Block {
                    place,
                    mark: mark.to_owned(),
                    commands: body,
                    output: None,
                });
            } else if mark == "text" && before.starts_with("```sh") {
                blocks.last_mut().unwrap().output = Some(body);
            }
        }
        if !line.trim().is_empty() {
            before = line;
        }
    }
    chapters.retain(|chapter| !chapter.is_empty());
    chapters
}

/// A line with runs of spaces, rules and bars shortened to one.
fn shortened(line: &str) -> String {
    let mut short = String::new();
    for c in line.trim().chars() {
        if !(" ─█░".contains(c) && short.ends_with(c)) {
            short.push(c);
        }
    }
    short
}

/// Whether a line is what the page shows: `…` stands for characters other than a space.
fn line_matches(shown: &str, printed: &str) -> bool {
    let Some((before, after)) = shown.split_once('…') else {
        return shown == printed;
    };
    let Some(rest) = printed.strip_prefix(before) else {
        return false;
    };
    let digits = rest.split(' ').next().unwrap_or_default();
    let ends = digits.char_indices().map(|(at, c)| at + c.len_utf8());
    ends.into_iter()
        .any(|end| line_matches(after, rest.split_at(end).1))
}

fn output_matches(shown: &[String], printed: &[String]) -> bool {
    match (shown, printed) {
        ([], []) => true,
        ([first, rest @ ..], _) if first == "…" => {
            (0..=printed.len()).any(|skipped| output_matches(rest, printed.split_at(skipped).1))
        }
        ([first, shown @ ..], [line, printed @ ..]) => {
            line_matches(first, line) && output_matches(shown, printed)
        }
        _ => false,
    }
}

fn shows(shown: &str, printed: &str) -> bool {
    let lines = |text: &str| text.trim_end().lines().map(shortened).collect::<Vec<_>>();
    output_matches(&lines(shown), &lines(printed))
}

#[test]
fn an_output_is_compared_but_for_noise() {
    assert!(shows(
        "n\n──\n… ± 60\n",
        "   n\n────\n39,126 ± 60\n".trim_start()
    ));
    assert!(!shows("… ± 60\n", "39,126 ± 61\n"));
    assert!(
        !shows("… left\n", "ε 2 left\n"),
        "a placeholder has no space"
    );
    assert!(shows("a\n…\nz\n", "a\nz\n") && shows("a\n…\nz\n", "a\nb\nc\nz\n"));
    assert!(!shows("a\n…\ny\n", "a\nb\nz\n"));
    assert!(!shows("a\n", "a\nb\n"));
}

/// A database of its own on the server of the tests.
struct Database {
    server: String,
    name: String,
}

impl Database {
    fn new() -> Option<Self> {
        let server = std::env::var("MIZAN_TEST_POSTGRES").ok()?;
        if cfg!(not(feature = "postgres")) {
            return None;
        }
        let name = format!("book_{}", std::process::id());
        let database = Self { server, name };
        database.run("CREATE DATABASE");
        Some(database)
    }

    fn run(&self, command: &str) {
        let sql = format!("{command} {}", self.name);
        let psql = Command::new("psql")
            .args([&self.server, "-qc", &sql])
            .status();
        assert!(psql.unwrap().success(), "{sql}");
    }

    fn address(&self) -> String {
        let (server, _) = self.server.rsplit_once('/').unwrap();
        format!("{server}/{}", self.name)
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        self.run("DROP DATABASE");
    }
}

/// Runs the blocks of a chapter; the first fault, if there is one.
fn run(chapter: &Chapter, number: usize) -> Result<(), String> {
    let scratch = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("book-{number}"));
    let _ = fs::remove_dir_all(&scratch);
    // The state directory of a ledger, below HOME, is not beside the ledger.
    let [folder, home, printed] = ["folder", "home", "printed"].map(|name| scratch.join(name));
    for new in [&folder, &home, &printed] {
        fs::create_dir_all(new).unwrap();
    }
    let needs_database = chapter.iter().any(|block| block.mark == "sh,postgres");
    let database = needs_database.then(Database::new).flatten();
    let runs = |block: &&Block| match block.mark.as_str() {
        "sh" => true,
        "sh,postgres" => database.is_some(),
        _ => false,
    };
    let blocks: Vec<_> = chapter.iter().filter(runs).collect();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port().to_string();
    drop(listener);
    let mut script = "set -e\n".to_owned();
    for (index, block) in blocks.iter().enumerate() {
        let output = printed.join(index.to_string());
        script.push_str(&format!("exec >'{}' 2>&1\n", output.display()));
        script.push_str(&block.commands.replace("8917", &port));
    }
    let programs = Path::new(env!("CARGO_BIN_EXE_mizan")).parent().unwrap();
    let path = std::env::var("PATH").unwrap();
    let mut shell = Command::new("timeout");
    shell.args([SECONDS, "sh", "-c", &script]);
    shell.current_dir(&folder).process_group(0).env_clear();
    shell.env("PATH", format!("{}:{path}", programs.display()));
    shell.env("HOME", &home).env("LANG", "C.UTF-8");
    if let Some(database) = &database {
        shell.env("CLINIC", database.address());
    }
    shell.stdin(Stdio::null()).stdout(Stdio::null());
    let mut shell = shell.spawn().unwrap();
    let status = shell.wait().unwrap();
    // A server that the chapter did not stop.
    let mut kill = Command::new("kill");
    kill.args(["-KILL", "--", &format!("-{}", shell.id())]);
    let _ = kill.stderr(Stdio::null()).status();
    let outputs: Vec<_> = (0..blocks.len())
        .map_while(|index| fs::read_to_string(printed.join(index.to_string())).ok())
        .collect();
    for (index, (block, output)) in blocks.iter().zip(&outputs).enumerate() {
        let place = &block.place;
        if index + 1 == outputs.len() && !status.success() {
            return Err(format!("{place} failed with {status}:\n{output}"));
        }
        let Some(shown) = &block.output else { continue };
        let shown = shown.replace("8917", &port);
        if !shows(&shown, output) {
            let printed = format!("--- the program printed\n{output}");
            return Err(format!("{place}\n--- the page shows\n{shown}{printed}"));
        }
    }
    if !status.success() {
        return Err(format!("the shell failed with {status}"));
    }
    let _ = fs::remove_dir_all(&scratch);
    Ok(())
}

#[test]
fn every_command_block_runs() {
    let all: Vec<_> = pages().iter().flat_map(|page| chapters(page)).collect();
    let count = |mark: &str| {
        let blocks = all.iter().flatten();
        blocks.filter(|block| block.mark == mark).count()
    };
    let [run_always, on_postgres, not_run] = ["sh", "sh,postgres", "sh,norun"].map(count);
    eprintln!("{run_always} blocks, {on_postgres} on PostgreSQL, {not_run} not run");
    assert!(run_always >= 40, "{run_always} blocks");
    assert!(not_run <= NOT_RUN, "{not_run} blocks are not run");
    let queue = Mutex::new(all.iter().enumerate());
    let worker = || {
        let next = || queue.lock().unwrap().next();
        let chapters = std::iter::from_fn(next);
        chapters
            .filter_map(|(number, chapter)| run(chapter, number).err())
            .collect::<Vec<_>>()
    };
    let faults: Vec<String> = std::thread::scope(|scope| {
        let other = scope.spawn(worker);
        let mut faults = worker();
        faults.extend(other.join().unwrap());
        faults
    });
    assert!(faults.is_empty(), "\n{}", faults.join("\n\n"));
}
