//! Messages in and out.
//!
//! Promise: whatever bytes come, the server lives on or ends in order: a message that is none is told and skipped, a length that
//! nobody can hold is read and thrown away, the end of the stream is the end. Writing happens on a thread of its own, so that a
//! slow client stops nobody.

use std::io::{BufRead, Read, Write};
use std::sync::mpsc::{Receiver, Sender, channel};

use lsp_server::{ErrorCode, Message, Notification, Request, RequestId, Response};
use lsp_types::notification;
use serde::Serialize;
use serde_json::{Value, json};

/// Bytes of a message, at most.
const LARGEST: u64 = 256 << 20;
/// Bytes of a line of a header, at most.
const LONGEST_LINE: u64 = 8 << 10;

/// What comes in.
#[derive(Debug)]
pub enum In {
    Message(Message),
    /// Something that is no message, with what is wrong.
    Broken(String),
    Closed,
    /// Something that was done behind the editor's back.
    Worked(super::work::Work),
}

/// Reads one message. `None`: the stream is at its end.
///
/// # Errors
/// The stream cannot be read.
pub fn read(input: &mut impl BufRead) -> std::io::Result<Option<Result<Message, String>>> {
    let mut length = None;
    loop {
        let mut line = Vec::new();
        let read = input.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line)?;
        if read == 0 {
            return Ok(None);
        }
        let line = String::from_utf8_lossy(&line);
        let line = line.trim_end();
        if line.is_empty() {
            break;
        }
        if let Some((key, value)) = line.split_once(':')
            && key.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse::<u64>().ok();
        }
    }
    let Some(length) = length else { return Ok(Some(Err("a message without its length".to_owned()))) };
    if length > LARGEST {
        std::io::copy(&mut input.take(length), &mut std::io::sink())?;
        return Ok(Some(Err(format!("a message of {length} bytes"))));
    }
    let mut body = Vec::new();
    input.take(length).read_to_end(&mut body)?;
    if (body.len() as u64) < length {
        return Ok(None);
    }
    Ok(Some(serde_json::from_slice(&body).map_err(|error| error.to_string())))
}

/// Reads messages until the stream ends or the client says `exit`.
pub fn read_all(mut input: impl BufRead, to: &Sender<In>) {
    while let Ok(Some(message)) = read(&mut input) {
        let is_exit = matches!(&message, Ok(Message::Notification(one)) if one.method == "exit");
        if to.send(message.map_or_else(In::Broken, In::Message)).is_err() || is_exit {
            return;
        }
    }
    // If nobody listens any more, nobody needs to know.
    let _ = to.send(In::Closed);
}

/// Where messages go. Once nobody reads them they are dropped.
#[derive(Clone, Debug)]
pub struct Out(Sender<Value>);

impl Out {
    /// The sink, and what a writer takes from it.
    pub fn new() -> (Out, Receiver<Value>) {
        let (sender, receiver) = channel();
        (Out(sender), receiver)
    }

    fn send(&self, mut message: Value) {
        message["jsonrpc"] = Value::from("2.0");
        let _ = self.0.send(message);
    }

    pub fn notify<N: notification::Notification>(&self, params: impl Serialize) {
        let message = Notification::new(N::METHOD.to_owned(), params);
        self.send(json!({"method": message.method, "params": message.params}));
    }

    /// Asks the client; what it answers does not matter.
    pub fn ask(&self, id: i32, method: &str, params: impl Serialize) {
        let request = Request::new(RequestId::from(id), method.to_owned(), params);
        self.send(serde_json::to_value(request).unwrap_or_default());
    }

    pub fn respond(&self, response: Response) {
        self.send(serde_json::to_value(response).unwrap_or_default());
    }

    /// The answer to what is no message: nobody knows to which.
    pub fn refuse(&self, why: &str) {
        let error = json!({"code": ErrorCode::ParseError as i32, "message": why});
        self.send(json!({"id": null, "error": error}));
    }
}

/// Writes messages until nobody can send one any more, or nobody reads them.
pub fn write_all(mut output: impl Write, from: &Receiver<Value>) {
    for message in from {
        let body = message.to_string();
        let written = write!(output, "Content-Length: {}\r\n\r\n{body}", body.len());
        if written.and_then(|()| output.flush()).is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_message_is_told_and_skipped() {
        let good = r#"{"jsonrpc":"2.0","method":"a"}"#;
        let good = format!("Content-Length: {}\r\n\r\n{good}", good.len());
        let text = format!(
            "X: y\r\n\r\nContent-Length: 3\r\n\r\n{{]]content-length: 2\r\n\r\n[]{good}Content-Length: 9\r\n\r\n{{"
        );
        let mut input = text.as_bytes();
        let mut found = Vec::new();
        while let Some(message) = read(&mut input).expect("bytes can be read") {
            found.push(message.map(|message| matches!(message, Message::Notification(_))).ok());
        }
        assert_eq!(found, [None, None, None, Some(true)]);
        let mut endless = b"Content-Length: 99999999999999\r\n\r\nab".as_slice();
        assert!(matches!(read(&mut endless), Ok(Some(Err(_)))));
        assert!(matches!(read(&mut endless), Ok(None)));
    }
}
