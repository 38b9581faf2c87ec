; No name is captured by two patterns, so it is all one whether an editor lets the first pattern win or the last.

(comment) @comment

["subgraph" "graph" "model" "of" "tensor" "desc" "expr" "hex"] @keyword

(node name: (name (word) @label))
(kind (name (word) @type))
(slot (name (word) @variable))
(source (name (word) @variable))
(control (name (word) @variable))
(label (name (word) @variable.parameter))
(subgraph name: (name (word) @module))

(dtype) @type.builtin
(layout (word) @constant)
(list_type (word) @type.builtin)

(target (word) @property)
(field (word) @property)

(call (word) @boolean
  (#match? @boolean "^(true|false)$"))
(call (word) @constant
  (#not-match? @constant "^(true|false)$"))

(string "\"" @string)
(content) @string
(escape) @string.escape
[(number) (nat)] @number

["->" "=" "^" "@" ".@" "?"] @operator
["(" ")" "[" "]" "{" "}"] @punctuation.bracket
["," ":" ";" "."] @punctuation.delimiter
