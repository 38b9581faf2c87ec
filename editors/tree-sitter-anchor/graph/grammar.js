/**
 * The graph notation of anchorwatch, rule by rule as in `grammar/graph.pest`: files named `.graph`, and the graphs of tests.
 *
 * Other than there, a text is not cut into lines first, so an entry may stand where its line ended too early. Where a line may go
 * on with one word more, the sign behind that word decides; these places are the conflicts below.
 */
/// <reference types="tree-sitter-cli/dsl" />
// @ts-check

const KEYWORDS = ['subgraph', 'graph', 'model', 'of', 'tensor', 'desc', 'expr', 'hex'];

const list = rule => seq(rule, repeat(seq(',', rule)), optional(','));

module.exports = grammar({
  name: 'anchor_graph',

  word: $ => $.word,
  extras: $ => [/[ \t\r\n]/, $.comment],

  conflicts: $ => [
    // `-> float32[2]`, then a layout or the name of the next line.
    [$.desc],
    [$.origin],
  ],

  rules: {
    source_file: $ => repeat($._item),

    comment: _ => /\/\/[^\n]*/,
    word: _ => /[A-Za-z_][A-Za-z0-9_]*([.\/-][A-Za-z0-9_]+)*/,
    string: $ => seq('"', repeat(choice($.content, $.escape)), alias(token.immediate('"'), '"')),
    content: _ => token.immediate(prec(1, /[^"\\\n]+/)),
    escape: _ => token.immediate(/\\[^\n]/),
    nat: _ => /[0-9]+/,
    number: _ => /-inf|-?(0x[0-9a-fA-F]+|[0-9]+(\.[0-9]*)?([eE][+-]?[0-9]+)?)/,

    // ---- nodes and graphs

    _item: $ => choice($.node, $.about, ';'),
    // What is said about the graph, or the model, that the line stands in.
    about: $ => seq(choice('graph', 'model'), $.entries),
    node: $ => seq(
      field('name', $.name), ':', field('type', $.kind), optional($.slots), repeat($.control), optional($.outputs),
      optional(field('attributes', $.entries)), optional($.outputs),
    ),
    name: $ => choice($.string, $._word),
    _word: $ => choice($.word, alias(choice(...KEYWORDS), $.word)),
    kind: $ => $.name,
    slots: $ => seq('(', optional(list($.slot)), ')'),
    slot: $ => seq($.name, optional($.source), optional($.index), optional($.rank)),
    source: $ => seq('=', $.name),
    index: $ => seq(':', $.nat),
    rank: $ => seq('@', $.nat),
    control: $ => seq('^', $.name, optional($.rank)),
    outputs: $ => prec.right(seq('->', list($.output))),
    output: $ => seq(optional($.label), $.desc),
    label: $ => seq($.name, ':'),
    subgraph: $ => seq('subgraph', field('name', $.name), field('body', $.items)),
    items: $ => seq('{', repeat($._item), '}'),

    // ---- tensors

    desc: $ => seq($.dtype, optional($.shape), optional($.layout), optional($.origin)),
    origin: $ => seq('of', $.shape, optional($.layout)),
    dtype: $ => $.word,
    shape: $ => seq('[', optional(choice('?', list($.number))), ']'),
    layout: $ => choice($.string, seq($.word, optional(seq(token.immediate(':'), alias(token.immediate(/[0-9]+/), $.nat))))),

    // ---- attributes

    entries: $ => seq('{', repeat(choice($.entry, $.subgraph, ',', ';')), '}'),
    entry: $ => seq($.target, choice(seq('=', field('value', $._value)), seq(':', $.desc))),
    target: $ => choice(
      $.string,
      $.field,
      seq($._word, optional(choice(
        seq(token.immediate('.@'), $.word),
        seq(token.immediate('.'), $.string),
      ))),
    ),
    field: $ => seq('@', $.word),

    _value: $ => choice($.list, $.tensor, $.port, $.graph_value, $.bytes, $.expr, $.number, $.call),
    list: $ => prec.right(seq('[', optional(list($._value)), ']', optional($.list_type))),
    list_type: $ => seq(':', choice($.word, $.nat)),
    tensor: $ => seq('tensor', optional($._described), $.bytes),
    port: $ => prec.right(seq('desc', $._described)),
    graph_value: $ => seq('graph', $.bytes),
    expr: $ => seq('expr', $.string),
    bytes: $ => seq('hex', $.string),
    _described: $ => prec.right(seq($.desc, optional(field('attributes', $.entries)))),
    // A string, a word that stands for a value, or either with attributes of its own.
    call: $ => prec.right(seq($._plain, optional(field('attributes', $.entries)))),
    _plain: $ => choice($.string, $.word),
  },
});
