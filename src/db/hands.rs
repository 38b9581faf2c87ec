//! Two threads on one database.
//!
//! Promise: what a second hand on the database does is what the first would do, and the database remembers it; so only time depends on
//! it, never a result. Whoever asks for what is under way waits for it.

/// Nodes of a graph from which on what is asked of it is worth another thread.
pub const WORTH_A_THREAD: usize = 1 << 12;

/// Threads get the stack that a main thread has.
pub const STACK: usize = 8 << 20;

/// Does one thing and, if there is a thread for it, another meanwhile. If one ends by unwinding, so does the whole.
pub fn meanwhile<A>(one: impl FnOnce() -> A, other: impl FnOnce() + Send) -> A {
    std::thread::scope(|scope| {
        let other = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, other);
        let one = one();
        if let Ok(other) = other {
            other.join().unwrap_or_else(|why| std::panic::resume_unwind(why));
        }
        one
    })
}
