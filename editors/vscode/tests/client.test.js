// The client without an editor: both modules that it needs are played.

"use strict";

const assert = require("node:assert");
const Module = require("node:module");
const path = require("node:path");
const { test } = require("node:test");

/** The extension with played modules; what it did is in the lists. */
function load(settings, { fails = false } = {}) {
  const seen = { servers: [], stopped: 0, errors: [], commands: {}, changed: undefined };
  const vscode = {
    workspace: {
      getConfiguration: (section) => {
        assert.strictEqual(section, "anchorwatch");
        return { get: (key, otherwise) => settings[key] ?? otherwise };
      },
      createFileSystemWatcher: (glob) => glob,
      onDidChangeConfiguration: (listener) => {
        seen.changed = listener;
        return {};
      },
    },
    window: { showErrorMessage: (text) => seen.errors.push(text) },
    commands: {
      registerCommand: (name, run) => {
        seen.commands[name] = run;
        return {};
      },
    },
  };
  class LanguageClient {
    constructor(_id, _name, server, files) {
      seen.servers.push({ server, files });
    }
    async start() {
      if (fails) {
        throw new Error("spawn ENOENT");
      }
    }
    async stop() {
      seen.stopped += 1;
    }
  }
  const played = { vscode, "vscode-languageclient/node": { LanguageClient, TransportKind: { stdio: 0 } } };
  const real = Module._load;
  Module._load = (name, ...rest) => played[name] ?? real(name, ...rest);
  try {
    const file = path.join(__dirname, "..", "extension.js");
    delete require.cache[require.resolve(file)];
    return { seen, extension: require(file) };
  } finally {
    Module._load = real;
  }
}

test("the server is `anchorwatch lsp`, for both languages of package.json", async () => {
  const { seen, extension } = load({});
  await extension.activate({ subscriptions: [] });
  const { server, files } = seen.servers[0];
  assert.deepStrictEqual([server.command, server.args], ["anchorwatch", ["lsp"]]);
  const { contributes } = require("../package.json");
  const languages = contributes.languages.map(({ id }) => ({ language: id }));
  assert.deepStrictEqual(files.documentSelector, languages);
  assert.deepStrictEqual(
    Object.keys(seen.commands),
    contributes.commands.map(({ command }) => command),
  );
});

test("settings name the program and further words, or turn the server off", async () => {
  const given = load({ "server.path": "/opt/aw", "server.arguments": ["--x"] });
  await given.extension.activate({ subscriptions: [] });
  const { server } = given.seen.servers[0];
  assert.deepStrictEqual([server.command, server.args], ["/opt/aw", ["lsp", "--x"]]);
  const off = load({ "server.enable": false });
  await off.extension.activate({ subscriptions: [] });
  assert.deepStrictEqual(off.seen.servers, []);
});

test("a program that is not there is told, and nothing is stopped later", async () => {
  const { seen, extension } = load({}, { fails: true });
  await extension.activate({ subscriptions: [] });
  assert.match(seen.errors[0], /`anchorwatch lsp` could not be started: spawn ENOENT/);
  await extension.deactivate();
  assert.strictEqual(seen.stopped, 0);
});

test("a change of the settings starts the server anew, other changes do not", async () => {
  const { seen, extension } = load({});
  await extension.activate({ subscriptions: [] });
  await seen.changed({ affectsConfiguration: () => false });
  assert.deepStrictEqual([seen.servers.length, seen.stopped], [1, 0]);
  await seen.changed({ affectsConfiguration: (section) => section === "anchorwatch.server" });
  assert.deepStrictEqual([seen.servers.length, seen.stopped], [2, 1]);
  await seen.commands["anchorwatch.restart"]();
  assert.deepStrictEqual([seen.servers.length, seen.stopped], [3, 2]);
});

test("every setting that is read is declared, with the value that is taken without it", () => {
  const declared = require("../package.json").contributes.configuration.properties;
  const source = require("node:fs").readFileSync(path.join(__dirname, "..", "extension.js"), "utf8");
  const read = [...source.matchAll(/settings\.get\("([^"]+)", ([^)]+)\)/g)];
  assert.strictEqual(read.length, Object.keys(declared).length);
  for (const [, key, otherwise] of read) {
    assert.deepStrictEqual(declared[`anchorwatch.${key}`].default, JSON.parse(otherwise));
  }
});
