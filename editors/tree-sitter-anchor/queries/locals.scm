; Names that an item or a block declares, and where they hold. In the words of Helix: Tree-sitter's own tools do not know them.

[
  (item)
  (body)
  (block_expr)
  (quantifier)
  (step)
  (for_statement)
  (sweep_statement)
  (resolve_statement)
  (each_step)
  (order_first)
  (order_ignore)
] @local.scope

(param name: (name) @local.definition.variable.parameter)
(role name: (name) @local.definition.variable.parameter)
(let_in name: (name) @local.definition.variable)
(let_statement name: (name) @local.definition.variable)
(quantifier name: (name) @local.definition.variable)
(step name: (name) @local.definition.variable)
(for_statement name: (name) @local.definition.variable)
(sweep_statement name: (name) @local.definition.variable)
(resolve_statement name: (name) @local.definition.variable)
(each_step name: (name) @local.definition.variable)
(order_first name: (name) @local.definition.variable)
(order_ignore name: (name) @local.definition.variable)

(name) @local.reference
