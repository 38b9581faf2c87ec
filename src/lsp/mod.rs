//! The language server: an editor asks, the query database answers.
//!
//! Promise: one database, the same as that of the command line, so an editor never says what `check` would not. An edit is a new
//! text of one file; what it does not touch is not looked at again. Edits that wait are taken together before anything is answered,
//! and end the work of older ones. Nothing that comes in ends the server but its own `exit` and the end of the stream. This room
//! knows no rule.
//!
//! The road: [`wire`] moves messages, [`files`] knows what texts count, [`Server`] keeps the database at them and tells
//! diagnostics, [`requests`] answers by way of [`index`] (what a word means), [`hover`], [`complete`] (what is [`wanted`] at a place), [`symbols`], [`tokens`],
//! [`actions`] and [`hints`]; [`work`] lints and counts behind the editor's back.

mod actions;
mod before;
mod complete;
mod files;
mod hints;
mod hover;
mod index;
mod place;
mod requests;
mod server;
mod symbols;
mod tokens;
mod wanted;
mod wire;
mod work;

use std::collections::BTreeMap;
use std::io::{BufRead, Write};
use std::sync::mpsc::channel;

use server::{End, Server};
use wire::{In, Out, read_all, write_all};

/// The client ended the server in order.
pub const ENDED: u8 = 0;
/// It ended it without `shutdown`, or went away.
pub const LOST: u8 = 1;

/// Serves the client at standard input and output; gives the exit code.
pub fn stdio(environment: BTreeMap<String, String>) -> u8 {
    serve(std::io::BufReader::new(std::io::stdin()), std::io::BufWriter::new(std::io::stdout()), environment)
}

/// Serves one client until it says `exit` or its stream ends; gives the exit code.
pub fn serve(
    input: impl BufRead + Send + 'static,
    output: impl Write + Send + 'static,
    environment: BTreeMap<String, String>,
) -> u8 {
    let (to, inbox) = channel();
    let (out, outbox) = Out::new();
    let from_client = to.clone();
    std::thread::spawn(move || read_all(input, &from_client));
    let writer = std::thread::spawn(move || write_all(output, &outbox));
    let end = match Server::start(out, &to, environment) {
        Ok(server) => run(server, &inbox),
        Err(_) => End::Lost,
    };
    // The server is gone, and with it the last that could send: the writer writes what is left.
    let _ = writer.join();
    match end {
        End::Ordered => ENDED,
        End::Lost => LOST,
    }
}

/// Takes what comes in, all that waits at a time, until the end.
fn run(mut server: Server, inbox: &std::sync::mpsc::Receiver<In>) -> End {
    while let Ok(first) = inbox.recv() {
        let mut waiting = vec![first];
        waiting.extend(inbox.try_iter());
        if let Some(end) = server.take(waiting) {
            return end;
        }
    }
    End::Lost
}
