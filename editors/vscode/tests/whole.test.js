// The grammar over whole files: what a text, a graph or a brace opens, it closes.

"use strict";

const assert = require("node:assert");
const fs = require("node:fs");
const path = require("node:path");
const { test } = require("node:test");
const oniguruma = require("vscode-oniguruma");
const textmate = require("vscode-textmate");

const root = path.join(__dirname, "..", "..", "..");

function registry() {
  const wasm = fs.readFileSync(require.resolve("vscode-oniguruma/release/onig.wasm"));
  const library = oniguruma.loadWASM(wasm.buffer.slice(wasm.byteOffset, wasm.byteOffset + wasm.length)).then(() => ({
    createOnigScanner: (patterns) => new oniguruma.OnigScanner(patterns),
    createOnigString: (text) => new oniguruma.OnigString(text),
  }));
  const { grammars } = require("../package.json").contributes;
  return new textmate.Registry({
    onigLib: library,
    loadGrammar: async (scope) => {
      const file = grammars.find(({ scopeName }) => scopeName === scope);
      const full = path.join(__dirname, "..", file.path);
      return textmate.parseRawGrammar(fs.readFileSync(full, "utf8"), full);
    },
  });
}

/** Files below a folder with an extension. */
function below(folder, extension) {
  const names = fs.readdirSync(path.join(root, folder), { recursive: true });
  return names.filter((name) => name.endsWith(extension)).map((name) => path.join(root, folder, name));
}

/** Calls `look` with each line, its tokens, and whether it is at the top. */
function tokenize(grammar, file, look) {
  let stack = textmate.INITIAL;
  for (const line of fs.readFileSync(file, "utf8").split("\n")) {
    const atTop = stack === textmate.INITIAL || stack.depth === 1;
    const { tokens, ruleStack } = grammar.tokenizeLine(line, stack);
    look(line, tokens, atTop);
    stack = ruleStack;
  }
  assert.ok(stack.depth === 1, `${file} ends inside something`);
}

const ITEM = new RegExp(
  "^(extend |override |remove )?(set|table|attr|option|enum|fn|walk|symbols|attribute|never|always|default|skip" +
    "|checker|matrix|chain|steps|action|pass|lint|order|pipeline|test|note) ",
);

test("every entry of the rules begins at the top, with its keyword", async () => {
  const grammar = await registry().loadGrammar("source.anchor");
  const files = [...below("rules", ".anchor"), ...below("tests/scenarios", ".anchor")];
  let entries = 0;
  for (const file of files) {
    tokenize(grammar, file, (line, tokens, atTop) => {
      if (ITEM.test(line)) {
        entries += 1;
        const scopes = tokens[0].scopes.join(" ");
        assert.ok(atTop, `${file}: inside something: ${line}`);
        assert.match(scopes, /keyword\.declaration|storage\.modifier/, `${file}: ${line}`);
      }
    });
  }
  assert.ok(files.length > 20 && entries > 500, `${files.length} files, ${entries} entries`);
});

test("every graph ends at the top", async () => {
  const grammar = await registry().loadGrammar("source.anchor-graph");
  const files = ["tests/overlays", "tests/cli", "tests/explain"].flatMap((folder) => below(folder, ".graph"));
  assert.ok(files.length > 3, `${files.length} files`);
  for (const file of files) {
    tokenize(grammar, file, () => {});
  }
});
