//! `anchorwatch watch` as its user sees it: a save, and what is printed of it. Nothing is timed; a line that does not come within
//! the deadline fails the test.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// Far more than a busy machine needs.
const DEADLINE: Duration = Duration::from_secs(120);

const RULES: &str = include_str!("watch/r.anchor");

struct Watched {
    folder: PathBuf,
    child: Child,
    lines: Receiver<String>,
}

impl Watched {
    fn start(folder: &Path) -> Watched {
        let mut child = Command::new(env!("CARGO_BIN_EXE_anchorwatch"))
            .current_dir(folder)
            .env("NO_COLOR", "1")
            .arg("watch")
            .stdout(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let out = BufReader::new(child.stdout.take().expect("its output is read"));
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            out.lines().map_while(Result::ok).take_while(|line| sender.send(line.clone()).is_ok()).count();
        });
        Watched { folder: folder.to_owned(), child, lines }
    }

    /// Saves at one stroke: half of a file is looked at only where the test says so.
    fn write(&self, name: &str, text: &str) {
        let half = self.folder.join("half");
        std::fs::write(&half, text).expect("a file can be written");
        std::fs::rename(&half, self.folder.join(name)).expect("a file can be renamed");
    }

    /// The lines up to the sum that ends with this text.
    fn until(&self, sum: &str) -> Vec<String> {
        let mut lines = Vec::new();
        loop {
            let line = self.lines.recv_timeout(DEADLINE);
            let line = line.unwrap_or_else(|_| panic!("no line `{sum}` after {lines:#?}"));
            if line == sum {
                return lines;
            }
            lines.push(line);
        }
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_save_tells_what_changed() {
    let folder = tempfile::tempdir().expect("a folder");
    let put = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).expect("a file");
    put("anchorwatch.toml", "rules = \"r.anchor\"\ngraphs = [\"g.graph\"]\n");
    put("r.anchor", RULES);
    put("g.graph", "a: Relu\n");
    let watched = Watched::start(folder.path());
    assert_eq!(watched.until("0 errors, 1 test passed, 0 failed, 1 verdict on 1 graph"), [""; 0]);

    // A verdict is lost and a test fails.
    watched.write(
        "r.anchor",
        &RULES
            .replace("n.type == Relu", "n.type == Copy")
            .replace("n.attr(marked) = false", "n.attr(marked) = true"),
    );
    let told = watched.until("0 errors, 0 tests passed, 1 failed, 0 verdicts on 1 graph");
    assert!(told.iter().any(|line| line.starts_with("FAIL  a mark is taken away  (r.anchor)")), "{told:#?}");
    assert!(told.ends_with(&["g.graph".to_owned(), "  - lonely at `a`: a is alone".to_owned()]), "{told:#?}");

    // Half a file: what is wrong is told, and nothing else.
    watched.write("r.anchor", &RULES[..RULES.len() - 20]);
    let told = watched.until("1 error, tests not run");
    assert!(told.iter().all(|line| line.starts_with("+ r.anchor:")), "{told:#?}");

    // Mended: the complaint is gone, the test passes, the verdict is back.
    watched.write("r.anchor", RULES);
    let told = watched.until("0 errors, 1 test passed, 0 failed, 1 verdict on 1 graph");
    assert!(told.iter().any(|line| line.starts_with("- r.anchor:")), "{told:#?}");
    assert!(told.contains(&"  ok  a mark is taken away  (r.anchor)".to_owned()), "{told:#?}");
    assert!(told.contains(&"  + lonely at `a`: a is alone".to_owned()), "{told:#?}");

    // A graph that is deleted, and comes back with one more verdict.
    std::fs::remove_file(folder.path().join("g.graph")).expect("a file can be deleted");
    let told = watched.until("0 errors, 1 test passed, 0 failed, 1 graph cannot be run");
    assert_eq!(told.len(), 2, "{told:#?}");
    assert!(told[1].starts_with("  it cannot be read: "), "{told:#?}");
    watched.write("g.graph", "a: Relu\nb: Relu\n");
    let told = watched.until("0 errors, 1 test passed, 0 failed, 2 verdicts on 1 graph");
    assert!(told.contains(&"  + lonely at `b`: b is alone".to_owned()), "{told:#?}");
}

#[test]
fn a_new_folder_gets_its_first_rule_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    let make = |name: &str| std::fs::create_dir(path(name)).expect("a folder");
    make("rules");
    // There before the start, and made while it runs.
    make("rules/early");
    std::fs::write(path("anchorwatch.toml"), "rules = \"rules\"\ngraphs = [\"g.graph\"]\n").expect("a file");
    std::fs::write(path("rules/r.anchor"), RULES).expect("a file");
    std::fs::write(path("g.graph"), "a: Relu\n").expect("a file");
    let watched = Watched::start(folder.path());
    watched.until("0 errors, 1 test passed, 0 failed, 1 verdict on 1 graph");
    watched.write("rules/early/a.anchor", "set = {\n");
    watched.until("1 error, tests not run");
    watched.write("rules/early/a.anchor", "");
    watched.until("0 errors, 1 test passed, 0 failed, 1 verdict on 1 graph");
    make("rules/late");
    watched.write("rules/late/b.anchor", "set = {\n");
    watched.until("1 error, tests not run");
}
