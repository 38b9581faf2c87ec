; No name is captured by two patterns, so it is all one whether an editor lets the first pattern win or the last.

[(comment) (doc_comment) (file_doc)] @comment

; ---- words

[
  "set" "table" "attr" "note" "option" "enum" "fn" "walk" "symbols" "attribute" "never" "always" "default" "skip"
  "checker" "matrix" "chain" "steps" "action" "pass" "lint" "order" "pipeline" "measure" "test"
] @keyword

["extend" "override" "remove"] @keyword.modifier

["and" "or" "not" "in" "is"] @keyword.operator

["if" "then" "else" "match" "first" "when" "where" "otherwise"] @keyword.conditional

["for" "over" "all" "any" "count" "find" "sweep"] @keyword.repeat
(repeat) @keyword.repeat

["stop" "give"] @keyword.return

["fail" "halt" "attempt"] @keyword.exception

[
  "let" "do" "use" "at" "require" "report" "found" "isolate" "insert" "delete" "connect" "cut" "link" "unlink" "join"
  "unite" "clear" "sort" "apply" "resolve" "track" "merge"
] @keyword

[
  "on" "alias" "from" "env" "list" "doc" "with" "because" "last" "group" "level" "help" "before" "after" "mode" "ignore"
  "edges" "input" "output" "node" "graph" "except" "answered" "to" "into" "as" "unit" "has_attr" "has" "conflicts"
  "counter"
] @keyword

["expect" "kept" "done" "unknown" "that" "no" "edge" "control" "error" "warn" "by" "named"] @keyword
[(twice) (nothing)] @keyword

[(true) (false)] @boolean
["none" "some"] @constant.builtin

; ---- names

(fn_item name: (name) @function)
(walk_item name: (name) @function)
(symbols_item name: (name) @function)
(matrix_item name: (name) @function)
(chain_item name: (name) @function)
(steps_item name: (name) @function)
(action_item name: (name) @function)
(pass_item name: (name) @function)
(lint_item name: (name) @function)
(order_item name: (name) @function)
(pipeline_item name: (name) @function)
(measure_item name: (name) @function)
(checker_item name: (name) @function)
(skip_item name: (name) @function)

(call function: (name) @function.call)
(do_statement name: (name) @function.call)
(use_step name: (name) @function.call)
(apply_statement . (name) @function.call)
(sort_statement (name) @function.call)
(resolve_statement . (name) @function.call)
(track_statement . (name) @function.call)
(symbols_args . (name) @function.call)
(pipe_step (name) @function.call)
(test_for (name) @function.call)

(access member: (member) @function.method.call arguments: (_))
(access member: (member) @variable.member !arguments
  (#not-match? @variable.member "^[A-Z]"))
(access member: (member) @constant !arguments
  (#match? @constant "^[A-Z]"))

(param name: (name) @variable.parameter)
(role name: (name) @variable.parameter)
(let_in name: (name) @variable)
(let_statement name: (name) @variable)
(quantifier name: (name) @variable)
(step name: (name) @variable)
(for_statement name: (name) @variable)
(each_step name: (name) @variable)
(sweep_statement name: (name) @variable)
(resolve_statement name: (name) @variable)
(order_first name: (name) @variable)
(order_ignore name: (name) @variable)

(attr_item name: (dotted) @property)
(aliases (dotted) @property)
(option_item name: (dotted) @property)
(test_option (dotted) @property)
(removed (dotted) @property)
(attr_name (dotted) @property)
(note_item name: (name) @property)
(note_access (mark_name (name) @property))
(counter_value (mark_name (name) @property))
(field name: (name) @property)

(case_name (name) @label)
(require name: (dotted) @label)
(attempt_step name: (dotted) @label)
(by (dotted) @label)

; Types, operators of a graph, sets, variants: what is known of them, only the language server tells.
((name) @type
  (#match? @type "^_?[A-Z]")
  (#not-match? @type "^_?[A-Z][A-Z0-9]*(_[A-Z0-9]+)+$"))
((name) @constant
  (#match? @constant "^_?[A-Z][A-Z0-9]*(_[A-Z0-9]+)+$"))
; `bool`, `int`: those without a capital.
(ty ((name) @type.builtin (#match? @type.builtin "^[a-z]")))

; ---- literals

(string "\"" @string)
(text "\"" @string)
(inner_string "\\\"" @string)
(content) @string
(raw_string) @string
(escape) @string.escape
[(int) (float)] @number

; ---- marks

["==" "!=" "<=" ">=" "<" ">" "??" ".." "+" "-" "*" "/" "%" "=" "=>" "->" "?" "|"] @operator
["(" ")" "[" "]" "{" "}"] @punctuation.bracket
["." "," ":" ";"] @punctuation.delimiter
