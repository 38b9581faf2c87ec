/**
 * The rule language of anchorwatch, rule by rule as in `grammar/anchor.pest` and under the same names.
 *
 * Other than there, a file is one text, not cut into items at the left margin, and an operator's operands are a tree
 * by precedence. What the program's own parser refuses only after the grammar (a clause given twice, comparisons in a
 * row, two statements on one line) is no error here.
 *
 * Few words of the language are reserved, so a word is a keyword only where one may stand. Where a name may stand
 * too, `_soft`, `_item_word` and `_following_word` tell which keywords are names; the conflicts below are the places
 * where one word more decides, and `src/scanner.c` decides about `not in`.
 */
/// <reference types="tree-sitter-cli/dsl" />
// @ts-check

// How tight an operator binds: `tightness` in `src/lang/syntax/expr.rs`.
const WHERE = 1, OR = 2, AND = 3, NOT = 4, COMPARE = 5, COALESCE = 6, RANGE = 7, ADD = 8, MULTIPLY = 9, NEGATE = 10,
  POSTFIX = 11;

// Words that begin an item, and may still be names where an item may begin.
const ITEM_WORDS = [
  'set', 'extend', 'override', 'remove', 'table', 'attr', 'note', 'option', 'enum', 'fn', 'walk', 'symbols', 'attribute',
  'never', 'always', 'default', 'skip', 'checker', 'matrix', 'chain', 'steps', 'action', 'pass', 'lint', 'order',
  'pipeline', 'measure', 'test',
];

const commas = rule => seq(rule, repeat(seq(',', rule)));
const list = rule => seq(commas(rule), optional(','));
const maybe_list = rule => optional(list(rule));

// Words that may follow an expression, and may still be names where one may end.
const FOLLOWING_WORDS = [
  ...ITEM_WORDS, 'after', 'alias', 'all', 'answered', 'any', 'apply', 'as', 'at', 'attempt', 'because', 'clear', 'conflicts',
  'connect', 'count', 'counter', 'cut', 'delete', 'do', 'doc', 'except', 'expect', 'fail', 'find', 'first', 'for', 'found',
  'from', 'give', 'graph', 'halt', 'help', 'ignore', 'insert', 'into', 'isolate', 'join', 'level', 'link', 'merge', 'mode',
  'named', 'on', 'otherwise', 'repeat', 'report', 'require', 'resolve', 'sort', 'stop', 'sweep', 'to', 'track', 'twice', 'unite',
  'unlink', 'use', 'when', 'with',
];

// The bracket of a call or an index touches what it follows.
const touching = bracket => alias(token.immediate(bracket), bracket);
const quoted = inner => seq('"', repeat(inner), alias(token.immediate('"'), '"'));

module.exports = grammar({
  name: 'anchor',

  word: $ => $.name,
  extras: $ => [/[ \t\r\n]/, $.comment, $.doc_comment, $.file_doc],

  reserved: {
    global: _ => [
      'and', 'or', 'not', 'in', 'is', 'none', 'true', 'false', 'where', 'if', 'then', 'else', 'match', 'let',
    ],
    // After a `.` every word is a name.
    member: _ => [],
  },

  externals: $ => [$._not_before_in],

  supertypes: $ => [$.declaration, $.statement, $.expr, $.simple, $.primary],

  inline: $ => [$.clause, $.chain_step],

  conflicts: $ => [
    // `count x in xs: c`, or the name `count` before an `x`; `first { c => x }`, or the name `first` before a body.
    [$._soft, $.first_expr],
    [$._soft, $.quantifier],
    // A row called `default`, or the item behind; a step called `lint`, or the item behind a last comma.
    [$.matrix_item],
    [$.pipeline_item],
  ],

  rules: {
    source_file: $ => repeat($.item),

    // ---- tokens

    comment: _ => /\/\/([^\/!\n][^\n]*)?|\/\/\/\/[^\n]*/,
    doc_comment: _ => /\/\/\/([^\/\n][^\n]*)?/,
    file_doc: _ => /\/\/![^\n]*/,

    name: _ => /[A-Za-z_][A-Za-z0-9_]*/,
    _member: $ => choice(
      alias(reserved('member', $.name), $.member),
      prec(-1, alias(choice('attr', 'has_attr', 'has', 'note'), $.member)),
    ),
    dotted: _ => /[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*/,
    float: _ => /[0-9]+\.[0-9]+([eE][+-]?[0-9]+)?/,
    int: _ => /0x[0-9a-fA-F]+|[0-9]+/,

    // A text inserts values, a string does not.
    string: $ => quoted(choice($.content, $.escape)),
    content: _ => token.immediate(prec(1, /[^"\\\n]+/)),
    text: $ => quoted(choice(alias($._text_content, $.content), $.escape, $.inserted)),
    _text_content: _ => token.immediate(prec(1, /[^"\\{\n]+/)),
    escape: _ => token.immediate(/\\[n"\\{}]/),
    inserted: $ => seq(alias(token.immediate('{'), '{'), $.expr, '}'),
    // Strings inside `{…}` of a text: `\"…\"`. (Neither form of a string is refused in the place of the other.)
    inner_string: $ => seq('\\"', optional($.content), alias(token.immediate('\\"'), '\\"')),

    // ---- expressions, loosest first

    expr: $ => choice($.filter, $.simple),
    filter: $ => prec.left(WHERE, seq(field('list', $.expr), 'where', field('condition', $.simple))),

    simple: $ => choice($.infix, $.is_test, $.prefix, $.access, $.index, $.primary),
    infix: $ => choice(...[
      [OR, 'or'], [AND, 'and'],
      [COMPARE, '=='], [COMPARE, '!='], [COMPARE, '<='], [COMPARE, '>='], [COMPARE, '<'], [COMPARE, '>'],
      [COMPARE, 'in'], [COMPARE, $.not_in],
      [COALESCE, '??'], [RANGE, '..'], [ADD, '+'], [ADD, '-'], [MULTIPLY, '*'], [MULTIPLY, '/'], [MULTIPLY, '%'],
    ].map(([tightness, operator]) => prec.left(tightness, seq(
      field('left', $.simple), field('operator', operator), field('right', $.simple),
    )))),
    not_in: $ => seq(alias($._not_before_in, 'not'), 'in'),
    is_test: $ => prec.left(COMPARE, seq(field('value', $.simple), 'is', choice('none', 'some'))),
    prefix: $ => choice(
      prec(NOT, seq(field('operator', 'not'), field('value', $.simple))),
      prec(NEGATE, seq(field('operator', '-'), field('value', $.simple))),
    ),

    access: $ => prec(POSTFIX, seq(
      field('value', $.simple),
      '.',
      choice($.attr_access, $.has_access, $.note_access, seq(field('member', $._member), optional(field('arguments', $.args)))),
    )),
    attr_access: $ => seq(choice('attr', 'has_attr'), $.attr_name),
    attr_name: $ => seq(touching('('), $.dotted, ')'),
    has_access: $ => seq('has', $.mark_name),
    note_access: $ => seq('note', $.mark_name),
    mark_name: $ => seq(touching('('), $.name, ')'),
    args: $ => seq(touching('('), maybe_list($.expr), ')'),
    index: $ => prec(POSTFIX, seq(field('value', $.simple), touching('['), field('index', $.expr), ']')),

    primary: $ => choice(
      $.float, $.int, $.string, $.inner_string, $.true, $.false, $.none,
      $.paren, $.list, $.block_expr, $.set_literal,
      $.if_expr, $.match_expr, $.first_expr, $.quantifier,
      $.option_value, $.counter_value, $.symbols_value, $.conflicts_value, $.call, $._variable,
    ),
    true: _ => 'true',
    false: _ => 'false',
    none: _ => 'none',
    _variable: $ => choice($.name, $._soft),
    // Keywords that are names where they do not begin what they begin as keywords.
    _soft: $ => choice(
      alias(choice('first', 'all', 'any', 'count', 'find'), $.name),
      prec(-1, alias(choice('option', 'counter', 'symbols', 'conflicts'), $.name)),
    ),
    _any_name: $ => choice($.name, $._item_word),
    _item_word: $ => alias(choice(...ITEM_WORDS), $.name),
    _following_word: $ => alias(choice(...FOLLOWING_WORDS), $.name),
    paren: $ => seq('(', $.expr, ')'),
    list: $ => seq('[', maybe_list($.expr), ']'),
    block_expr: $ => seq(
      '{', repeat1(seq($.let_in, repeat(choice(';', ',')))), field('value', $.expr), repeat(';'), '}',
    ),
    let_in: $ => seq('let', field('name', $.name), '=', field('value', $.expr)),
    set_literal: $ => seq('{', maybe_list($.expr), '}'),
    if_expr: $ => prec.right(seq(
      'if', field('condition', $.simple), 'then', field('then', $.expr), 'else', field('else', $.simple),
    )),
    match_expr: $ => seq(
      'match', field('value', $.simple), '{', repeat1(seq($.match_arm, optional(','))), optional($.match_else), '}',
    ),
    match_arm: $ => seq(commas($.name), '=>', field('value', $.expr)),
    match_else: $ => seq('else', '=>', field('value', $.expr), optional(',')),
    first_expr: $ => seq('first', '{', repeat1(seq($.first_case, optional(','))), optional($.match_else), '}'),
    first_case: $ => seq(optional($.case_name), field('condition', $.expr), '=>', field('value', $.expr)),
    case_name: $ => seq($._variable, ':'),
    quantifier: $ => prec.right(seq(
      choice('all', 'any', 'count', 'find'),
      field('name', choice($.name, $._following_word)),
      'in', field('list', $.simple), ':',
      field('condition', $.simple),
    )),
    option_value: $ => seq('option', $.attr_name),
    counter_value: $ => seq('counter', $.mark_name),
    symbols_value: $ => seq('symbols', $.symbols_args),
    symbols_args: $ => seq(touching('('), $.name, ',', $.expr, ')'),
    conflicts_value: $ => seq('conflicts', $.conflicts_args),
    conflicts_args: $ => seq(touching('('), $.expr, ',', $.expr, optional(seq(',', $.expr)), ')'),
    call: $ => seq(field('function', $._variable), field('arguments', $.args)),

    // ---- types

    ty: $ => seq(choice($.list_type, $.name, alias('list', $.name)), repeat('?')),
    list_type: $ => seq('list', '<', $.ty, '>'),
    param: $ => seq(field('name', $.name), ':', $.ty),
    params: $ => seq('(', maybe_list($.param), ')'),
    one_param: $ => seq('(', $.param, ')'),
    names: $ => list($.name),
    name_set: $ => seq('{', optional($.names), '}'),

    // ---- items

    item: $ => choice(
      seq('override', $.declaration),
      seq('extend', $.set_item),
      seq('remove', $.removed),
      $.declaration,
    ),
    declaration: $ => choice(
      $.set_item, $.table_item, $.attr_item, $.note_item, $.option_item, $.enum_item, $.fn_item, $.walk_item,
      $.symbols_item, $.attribute_item, $.never_item, $.always_item, $.default_item, $.skip_item, $.checker_item,
      $.matrix_item, $.chain_item, $.steps_item, $.action_item, $.pass_item, $.lint_item, $.order_item, $.pipeline_item,
      $.measure_item, $.test_item,
    ),
    removed: $ => choice($.removed_pair, $.removed_test, seq($.kind, $.dotted)),
    removed_pair: $ => seq(choice('never', 'always'), $.name, 'with', $.mark),
    removed_test: $ => seq('test', $.string),
    kind: _ => choice(
      'set', 'table', 'attr', 'note', 'option', 'enum', 'fn', 'walk', 'symbols', 'attribute', 'skip', 'checker', 'matrix',
      'chain', 'steps', 'action', 'pass', 'lint', 'order', 'pipeline', 'measure',
    ),

    set_item: $ => seq('set', field('name', $.name), optional($.within), '=', $._set_term, repeat(seq('+', $._set_term))),
    within: $ => seq('in', $.name),
    _set_term: $ => choice($.elements, $.name),
    elements: $ => seq('{', maybe_list($.literal), '}'),
    literal: $ => choice(seq(optional('-'), choice($.float, $.int)), $.string, $.name),

    table_item: $ => seq(
      'table', field('name', $.name), ':', $.ty, '->', $.ty, '=', '{', repeat(seq($.row, optional(','))), '}',
    ),
    row: $ => seq(field('key', $.literal), '=>', field('value', $.expr)),

    attr_item: $ => seq('attr', field('name', $.dotted), ':', $.ty, 'on', commas($.place), optional($.aliases)),
    note_item: $ => seq('note', field('name', $.name), ':', $.ty, 'on', commas($.place)),
    place: _ => choice('node', 'graph', 'input', 'output'),
    aliases: $ => seq('alias', commas($.dotted)),

    option_item: $ => seq(
      'option', field('name', $.dotted), ':', $.option_type, optional($.initial), optional($.from_env),
    ),
    option_type: $ => choice($.name_set, $.ty),
    initial: $ => seq('=', $.expr),
    from_env: _ => seq('from', 'env'),

    enum_item: $ => seq('enum', field('name', $.name), $.name_set),
    fn_item: $ => seq('fn', field('name', $.name), $.params, '->', $.ty, '=', field('body', $.expr)),

    walk_item: $ => seq(
      'walk', field('name', $.name), $.one_param, '->', $.ty, '{', repeat(seq($.step, optional(','))), '}',
    ),
    step: $ => seq('at', field('name', $.name), optional($.condition), '=>', choice($.step_stop, $.expr)),
    step_stop: _ => 'stop',
    condition: $ => seq('where', $.simple),

    symbols_item: $ => seq('symbols', field('name', $.name), $.one_param, $.body),

    attribute_item: $ => seq(
      'attribute', field('name', $.name), 'on', $.side, choice($.condition, 'otherwise'), optional($.doc),
    ),
    side: _ => choice('input', 'output'),
    doc: $ => seq('doc', $.string),

    never_item: $ => seq('never', $.name, 'with', $.marks),
    always_item: $ => seq('always', $.name, 'with', $.marks, optional($.because)),
    marks: $ => commas($.mark),
    mark: $ => choice('any', $.name),
    default_item: $ => seq('default', 'always', 'isolate', $.simple),
    skip_item: $ => seq('skip', field('name', $.name), $.when, optional($.because)),
    when: $ => seq('when', $.simple),
    because: $ => seq('because', $.text),
    help: $ => seq('help', $.text),

    checker_item: $ => seq(
      'checker', field('name', $.name), choice($.over, $.pair), repeat($.clause), optional($.body),
    ),
    pair: $ => seq('for', optional('last'), $.role, ',', $.role),
    role: $ => seq(field('name', $.name), ':', $.name, repeat(seq('or', $.name))),
    over: $ => seq('over', 'group', 'with', $.mark_side, 'and', $.mark_side),
    mark_side: $ => choice(seq('(', $.name, repeat(seq('or', $.name)), ')'), $.name),
    clause: $ => choice($.when, $.isolate, $.because, $.help, $.level, $.doc),
    // `before` and `after` are no names here.
    isolate: $ => seq('isolate', optional($.position), $.simple),
    position: _ => choice('before', 'after'),
    level: _ => seq('level', choice('error', 'warn', 'note')),

    matrix_item: $ => seq(
      'matrix', field('name', $.name), '(', $.param, ',', $.param, ')', '->', $.matrix_result, $.header, repeat($.cells),
    ),
    matrix_result: $ => choice($.name_set, $.name),
    header: $ => repeat1(seq('|', $.name)),
    cells: $ => seq(
      field('row', $._any_name), repeat1(seq('|', $.name)),
    ),

    subject: $ => seq('for', $.param, optional($.in_list), optional($.condition)),
    in_list: $ => seq('in', $.simple),

    chain_item: $ => seq(
      'chain', field('name', $.name), $.subject, '{', repeat(seq($.chain_step, repeat(';'))), optional($.chain_then), '}',
    ),
    steps_item: $ => seq('steps', field('name', $.name), $.params, '{', repeat(seq($.chain_step, repeat(';'))), '}'),
    chain_step: $ => choice($.let_in, $.require, $.attempt_step, $.each_step, $.use_step),
    each_step: $ => seq(
      'for', field('name', $.name), 'in', field('list', $.simple), optional($.condition),
      '{', repeat(seq($.chain_step, repeat(';'))), '}',
    ),
    use_step: $ => seq('use', field('name', $.name), $.args, optional($.when)),
    require: $ => seq('require', field('name', $.dotted), ':', $.simple, optional($.reason), optional($.help)),
    attempt_step: $ => seq('attempt', field('name', $.dotted), $.body, optional($.reason), optional($.help)),
    reason: $ => seq('else', optional($.refusal), $.text),
    refusal: _ => choice('warn', 'fail'),
    chain_then: $ => seq('then', $.body),

    action_item: $ => seq('action', field('name', $.name), $.params, optional($.result), $.body),
    result: $ => seq('->', $.ty),
    pass_item: $ => seq('pass', field('name', $.name), optional($.subject), optional($.repeat), $.body),
    repeat: _ => 'repeat',
    lint_item: $ => seq(
      'lint', field('name', $.name), field('code', $.name), $.lint_level, optional($.subject), $.body,
    ),
    lint_level: _ => choice('error', 'warn', 'note'),

    order_item: $ => seq(
      'order', field('name', $.name), '{', repeat(choice($.order_mode, $.order_first, $.order_ignore)), '}',
    ),
    order_mode: $ => seq('mode', '=', $.expr),
    order_first: $ => seq('first', field('name', $.name), $.condition),
    order_ignore: $ => seq('ignore', 'edges', 'from', field('name', $.name), $.condition),

    pipeline_item: $ => seq(
      'pipeline', field('name', $.name), optional(choice($.as_pass, $.as_default)), '=', list($.pipe_step),
    ),
    as_pass: _ => seq('as', 'pass'),
    as_default: _ => seq('as', 'default'),
    pipe_step: $ => seq($._any_name, optional($.when), optional($.tolerant)),
    tolerant: _ => seq('otherwise', 'warn'),

    measure_item: $ => seq(
      'measure', field('name', $.name), $.string, optional($.unit), $.subject, optional(seq('=', $.expr)),
    ),
    unit: $ => seq('unit', $.name),

    // ---- statements

    body: $ => seq('{', repeat(choice($.statement, ';')), '}'),
    statement: $ => choice(
      $.let_statement, $.if_statement, $.for_statement, $.stop_statement, $.do_statement, $.give_statement,
      $.isolate_statement, $.found_statement, $.join_statement, $.unite_statement, $.fail_statement, $.halt_statement,
      $.report_statement, $.insert, $.clear_statement, $.delete_statement, $.connect_statement, $.cut_statement,
      $.link_statement, $.unlink_statement, $.set_statement, $.sort_statement, $.apply_statement, $.resolve_statement,
      $.attempt_statement, $.sweep_statement, $.track_statement, $.merge_statement,
    ),
    let_statement: $ => seq(
      'let', field('name', $.name), '=', field('value', choice($.do_statement, $.insert, $.expr)),
    ),
    if_statement: $ => seq($.if_arm, repeat(seq('else', $.if_arm)), optional(seq('else', $.body))),
    if_arm: $ => seq('if', field('condition', $.simple), $.body),
    for_statement: $ => seq(
      'for', field('name', $.name), 'in', field('list', $.simple), optional($.condition), $.body,
    ),
    stop_statement: _ => 'stop',
    do_statement: $ => seq('do', field('name', $.name), $.args),
    give_statement: $ => seq('give', $.expr),
    isolate_statement: $ => seq($.isolate, optional($.because)),
    found_statement: $ => seq('found', $.simple),
    join_statement: $ => seq('join', $.simple, 'to', $.simple),
    unite_statement: $ => seq('unite', $.simple, 'with', $.simple),
    fail_statement: $ => seq('fail', $.text),
    halt_statement: $ => seq('halt', $.text),
    report_statement: $ => seq('report', commas($.simple), $.text, repeat(choice($.level, $.help, $.answered_by))),
    answered_by: $ => seq('answered', 'by', $.simple),
    insert: $ => seq('insert', $.simple, optional($.named), optional($.fields)),
    named: $ => seq('named', $.text),
    fields: $ => seq('{', repeat(seq($.field, optional(choice(',', ';')))), '}'),
    field: $ => seq(field('name', $.name), '=', field('value', $.expr)),
    clear_statement: $ => seq('clear', $.simple, 'except', $.name),
    delete_statement: $ => seq('delete', $.simple),
    connect_statement: $ => seq('connect', $.simple, '->', $.simple),
    cut_statement: $ => seq('cut', $.simple),
    link_statement: $ => seq('link', $.simple, '=>', $.simple),
    unlink_statement: $ => seq('unlink', $.simple, '=>', $.simple),
    set_statement: $ => seq('set', choice($.access, $.index, $.primary), '=', $.expr),
    sort_statement: $ => seq('sort', 'with', $.name),
    apply_statement: $ => seq('apply', $.name, 'to', $.simple),
    attempt_statement: $ => seq('attempt', $.body, optional(seq('else', $.body))),
    sweep_statement: $ => seq(
      'sweep', field('name', $.name), 'in', field('list', $.simple), optional($.condition), $.body,
    ),
    track_statement: $ => seq('track', $.name, 'in', $.simple, optional(seq('else', $.body))),
    merge_statement: $ => seq('merge', $.simple, 'into', $.simple),
    resolve_statement: $ => seq('resolve', $.name, 'in', $.simple, 'as', field('name', $.name), $.body),

    // ---- tests

    test_item: $ => seq(
      'test', field('name', $.string), repeat(choice($.test_for, $.on, $.twice)),
      '{', repeat(choice($.test_option, $.on, $.twice, $.test_graph, $.expect)), '}',
    ),
    test_for: $ => seq('for', commas($.name)),
    on: $ => seq('on', choice($.string, $.name)),
    twice: _ => 'twice',
    test_option: $ => seq('option', $.dotted, '=', $.expr),
    test_graph: $ => seq('graph', $.raw_graph),
    // The graph notation is a language of its own; only its brackets, strings and comments matter here.
    raw_graph: $ => seq('{', optional($.raw), '}'),
    raw: $ => repeat1($._raw_piece),
    _raw_piece: $ => choice($._raw_word, $.raw_string, $.raw_brackets),
    raw_brackets: $ => choice(...['{}', '()', '[]'].map(([open, close]) => seq(open, repeat($._raw_piece), close))),
    raw_string: _ => /"(\\[^\n]|[^"\\\n])*"/,
    _raw_word: _ => /([^{}()\[\]"\/ \t\r\n]|\/[^\/{}()\[\]" \t\r\n])+|\//,

    expect: $ => seq('expect', choice(
      $.nothing, $.expect_insert, $.expect_edge, $.expect_control, $.expect_no, $.expect_error, $.expect_warn,
      $.expect_kept, $.expect_done, $.expect_measure, $.expect_graph, $.expect_that,
    )),
    nothing: _ => 'nothing',
    expect_insert: $ => seq('insert', $.position, choice($.anchors, $.anchor), optional($.by), optional($.expect_named)),
    anchors: $ => seq('[', list($.anchor), ']'),
    anchor: $ => seq($.node_name, ':', $.int),
    node_name: $ => choice($.string, $.node_word),
    node_word: _ => /[A-Za-z0-9_]+([.\/-][A-Za-z0-9_]+)*/,
    by: $ => seq('by', $.dotted),
    expect_named: $ => seq('named', $.string),
    expect_edge: $ => seq('edge', $.anchor, '->', $.anchor),
    expect_control: $ => seq('control', $.node_name, '=>', $.node_name),
    expect_no: $ => seq('no', choice($.expect_edge, $.expect_control, $.expect_warn)),
    expect_error: $ => seq('error', $.string),
    expect_warn: $ => seq('warn', $.name, optional($.string)),
    expect_kept: $ => seq('kept', $.node_name, optional($.by)),
    expect_done: $ => seq('done', $.node_name),
    expect_measure: $ => seq('measure', $.name, $.amount, optional(seq('->', $.amount))),
    amount: $ => seq($.int, optional(seq('and', $.unknown))),
    unknown: $ => seq($.int, 'unknown'),
    expect_graph: $ => seq('graph', $.raw_graph),
    expect_that: $ => seq('that', $.expr),
  },
});
