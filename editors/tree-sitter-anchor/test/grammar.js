// Prints what a `grammar.js` says, as `tree-sitter generate` writes it to `src/grammar.json`: `node test/grammar.js FILE`.
// Only what the grammars beside it use of Tree-sitter's functions is here.

const { resolve } = require('node:path');

const normal = rule => {
  if (typeof rule === 'string') return { type: 'STRING', value: rule };
  if (rule instanceof RegExp) return { type: 'PATTERN', value: rule.source };
  return rule;
};
const all = rules => rules.map(normal);
// `f(rule)` or `f(value, rule)`.
const precedence = type => (...args) => {
  const [value, rule] = args.length > 1 ? args : [0, args[0]];
  return { type, value, content: normal(rule) };
};
const wrap = type => rule => ({ type, content: normal(rule) });

Object.assign(globalThis, {
  seq: (...members) => ({ type: 'SEQ', members: all(members) }),
  choice: (...members) => ({ type: 'CHOICE', members: all(members) }),
  optional: rule => choice(rule, { type: 'BLANK' }),
  repeat: wrap('REPEAT'),
  repeat1: wrap('REPEAT1'),
  field: (name, rule) => ({ type: 'FIELD', name, content: normal(rule) }),
  alias: (rule, as) => {
    const named = typeof as !== 'string';
    return { type: 'ALIAS', content: normal(rule), named, value: named ? as.name : as };
  },
  token: Object.assign(wrap('TOKEN'), { immediate: wrap('IMMEDIATE_TOKEN') }),
  prec: Object.assign(precedence('PREC'), {
    left: precedence('PREC_LEFT'), right: precedence('PREC_RIGHT'), dynamic: precedence('PREC_DYNAMIC'),
  }),
  reserved: (context_name, rule) => ({ type: 'RESERVED', content: normal(rule), context_name }),
  grammar: said => {
    const $ = new Proxy({}, { get: (_, name) => ({ type: 'SYMBOL', name }) });
    const each = rules => Object.fromEntries(Object.entries(rules).map(([name, rule]) => [name, rule($)]));
    const names = list => list?.($).map(symbol => symbol.name) ?? [];
    const reserved = Object.entries(said.reserved ?? {}).map(([name, words]) => [name, all(words($))]);
    return {
      name: said.name,
      ...said.word && { word: said.word($).name },
      rules: Object.fromEntries(Object.entries(each(said.rules)).map(([name, rule]) => [name, normal(rule)])),
      extras: all(said.extras($)),
      conflicts: (said.conflicts?.($) ?? []).map(set => set.map(symbol => symbol.name)),
      precedences: [],
      externals: all(said.externals?.($) ?? []),
      inline: names(said.inline),
      supertypes: names(said.supertypes),
      reserved: Object.fromEntries(reserved),
    };
  },
});

process.stdout.write(JSON.stringify(require(resolve(process.argv[2]))));
