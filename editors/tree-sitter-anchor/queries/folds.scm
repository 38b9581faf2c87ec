[
  (item)
  (body)
  (raw_graph)
  (elements)
  (set_literal)
  (list)
  (block_expr)
  (first_expr)
  (match_expr)
  (fields)
  (each_step)
  (chain_then)
] @fold
