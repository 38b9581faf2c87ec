//! A client of the language server, for tests: starts the program and talks to it over its standard streams.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// How long an answer may take: the machine of a test may be busy.
pub const PATIENCE: Duration = Duration::from_secs(60);

pub struct Client {
    child: Child,
    stdin: Option<ChildStdin>,
    inbox: Receiver<Value>,
    next: i64,
    /// Notifications and requests of the server that nobody has looked at yet.
    pub heard: Vec<Value>,
}

impl Client {
    pub fn start() -> Client {
        let mut child = Command::new(env!("CARGO_BIN_EXE_anchorwatch"))
            .arg("lsp")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .expect("the program starts");
        let mut output = BufReader::new(child.stdout.take().expect("its output"));
        let (to, inbox) = channel();
        std::thread::spawn(move || {
            loop {
                let mut length = 0;
                loop {
                    let mut line = String::new();
                    if output.read_line(&mut line).expect("a header") == 0 {
                        return;
                    }
                    if line.trim().is_empty() {
                        break;
                    }
                    if let Some(text) = line.strip_prefix("Content-Length: ") {
                        length = text.trim().parse().expect("a length");
                    }
                }
                let mut body = vec![0; length];
                output.read_exact(&mut body).expect("a body");
                if to.send(serde_json::from_slice(&body).expect("JSON")).is_err() {
                    return;
                }
            }
        });
        let stdin = child.stdin.take();
        Client { child, stdin, inbox, next: 0, heard: Vec::new() }
    }

    /// The number of the server's process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    pub fn raw(&mut self, bytes: &[u8]) {
        let stdin = self.stdin.as_mut().expect("the stream is open");
        stdin.write_all(bytes).and_then(|()| stdin.flush()).expect("the server reads");
    }

    pub fn framed(message: &Value) -> Vec<u8> {
        let body = message.to_string();
        format!("Content-Length: {}\r\n\r\n{body}", body.len()).into_bytes()
    }

    pub fn notify(&mut self, method: &str, params: Value) {
        self.raw(&Client::framed(&json!({"jsonrpc": "2.0", "method": method, "params": params})));
    }

    /// Sends a request; gives its number.
    pub fn send(&mut self, method: &str, params: Value) -> i64 {
        self.next += 1;
        self.raw(&Client::framed(
            &json!({"jsonrpc": "2.0", "id": self.next, "method": method, "params": params}),
        ));
        self.next
    }

    /// The next message that satisfies a condition; the others are kept as heard.
    pub fn wait(&mut self, wanted: impl Fn(&Value) -> bool) -> Option<Value> {
        self.wait_for(PATIENCE, wanted)
    }

    /// [`Client::wait`], for some other time.
    pub fn wait_for(&mut self, patience: Duration, wanted: impl Fn(&Value) -> bool) -> Option<Value> {
        if let Some(at) = self.heard.iter().position(&wanted) {
            return Some(self.heard.remove(at));
        }
        let end = Instant::now() + patience;
        while let Some(left) = end.checked_duration_since(Instant::now()) {
            let message = self.inbox.recv_timeout(left).ok()?;
            if wanted(&message) {
                return Some(message);
            }
            self.heard.push(message);
        }
        None
    }

    /// The answer to a request.
    pub fn answer(&mut self, id: i64) -> Value {
        self.wait(|message| message["id"] == id && message.get("method").is_none()).expect("an answer")
    }

    pub fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.send(method, params);
        self.answer(id)
    }

    pub fn initialize(&mut self, root: Option<&str>, capabilities: Value) -> Value {
        let folders = root.map(|uri| json!([{"uri": uri, "name": "w"}]));
        let params = json!({"processId": null, "rootUri": root, "workspaceFolders": folders, "capabilities": capabilities});
        let answer = self.ask("initialize", params);
        self.notify("initialized", json!({}));
        answer
    }

    /// Closes the stream.
    pub fn hang_up(&mut self) {
        self.stdin = None;
    }

    /// Ends the session in order; the exit code.
    pub fn end(&mut self) -> Option<i32> {
        self.ask("shutdown", Value::Null);
        self.notify("exit", Value::Null);
        self.code()
    }

    /// The exit code of a server that is about to end.
    pub fn code(&mut self) -> Option<i32> {
        let end = Instant::now() + PATIENCE;
        while Instant::now() < end {
            if let Some(status) = self.child.try_wait().expect("a child") {
                return status.code();
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        None
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
