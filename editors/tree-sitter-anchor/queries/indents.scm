; Neovim asks for `indent.begin`, `indent.branch` and `indent.end`, Helix for `indent` and `outdent`, Zed for `indent` and `end`.

[
  (body) (raw_graph) (raw_brackets) (elements) (set_literal) (name_set) (list) (args) (params) (paren) (block_expr) (first_expr)
  (match_expr) (fields) (each_step) (chain_item) (steps_item) (walk_item) (table_item) (order_item) (test_item)
] @indent @indent.begin

["}" "]" ")"] @outdent @indent.branch @indent.end @end
