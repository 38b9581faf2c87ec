// Starts `anchorwatch lsp` and talks to it about rules and graphs. Everything that it knows about them is the
// server's; this file knows where the program is and when to start it again.

"use strict";

const vscode = require("vscode");
const { LanguageClient, TransportKind } = require("vscode-languageclient/node");

const LANGUAGES = ["anchor", "anchor-graph"];

let client;

/** Starts the server as the settings say; tells where it cannot. */
async function start() {
  const settings = vscode.workspace.getConfiguration("anchorwatch");
  if (!settings.get("server.enable", true)) {
    return;
  }
  const command = settings.get("server.path", "anchorwatch");
  const server = {
    command,
    args: ["lsp", ...settings.get("server.arguments", [])],
    transport: TransportKind.stdio,
  };
  const files = {
    documentSelector: LANGUAGES.map((language) => ({ language })),
    synchronize: { fileEvents: vscode.workspace.createFileSystemWatcher("**/{*.anchor,anchorwatch.toml}") },
  };
  const starting = new LanguageClient("anchorwatch", "anchorwatch", server, files);
  client = starting;
  try {
    await starting.start();
  } catch (error) {
    if (client === starting) {
      client = undefined;
    }
    const reason = error instanceof Error ? error.message : String(error);
    vscode.window.showErrorMessage(
      `anchorwatch: \`${command} lsp\` could not be started: ${reason}. The setting \`anchorwatch.server.path\` names the program.`,
    );
  }
}

/** Ends the server, if there is one. */
async function stop() {
  const running = client;
  client = undefined;
  await running?.stop();
}

async function restart() {
  await stop();
  await start();
}

async function activate(context) {
  context.subscriptions.push(
    vscode.commands.registerCommand("anchorwatch.restart", restart),
    vscode.workspace.onDidChangeConfiguration((change) =>
      change.affectsConfiguration("anchorwatch.server") ? restart() : undefined,
    ),
  );
  await start();
}

module.exports = { activate, deactivate: stop };
