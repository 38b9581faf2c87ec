//! What an edit of a rule costs.

use anchorwatch::engine::Session;
use divan::Bencher;

/// Changes a text of a shipped rule file back and forth, and runs after each change, as who expects edits does.
pub fn bench_edit(
    bencher: Bencher,
    mut session: Session,
    (path, from, to): (&str, &str, &str),
    run: impl Fn(&Session),
) {
    session.expect_edits();
    run(&session);
    let old = session.file_text(path).expect("a shipped file").to_string();
    assert!(old.contains(from), "the edited text is in {path}");
    let new = old.replacen(from, to, 1);
    let mut flip = false;
    bencher.bench_local(|| {
        flip = !flip;
        session.set_text(path, if flip { &new } else { &old });
        run(&session)
    });
}
