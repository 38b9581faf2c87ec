(fn_item name: (name) @name) @definition.function
(walk_item name: (name) @name) @definition.function
(symbols_item name: (name) @name) @definition.function
(matrix_item name: (name) @name) @definition.function
(steps_item name: (name) @name) @definition.function
(action_item name: (name) @name) @definition.function
(checker_item name: (name) @name) @definition.function
(chain_item name: (name) @name) @definition.function
(pass_item name: (name) @name) @definition.function
(lint_item name: (name) @name) @definition.function
(skip_item name: (name) @name) @definition.function
(order_item name: (name) @name) @definition.function
(pipeline_item name: (name) @name) @definition.function
(measure_item name: (name) @name) @definition.function
(enum_item name: (name) @name) @definition.enum
(set_item name: (name) @name) @definition.constant
(table_item name: (name) @name) @definition.constant
(attribute_item name: (name) @name) @definition.constant
(attr_item name: (dotted) @name) @definition.field
(note_item name: (name) @name) @definition.field
(option_item name: (dotted) @name) @definition.field
(test_item name: (string) @name) @definition.test

(call function: (name) @name) @reference.call
(do_statement name: (name) @name) @reference.call
(use_step name: (name) @name) @reference.call
(apply_statement . (name) @name) @reference.call
(pipe_step (name) @name) @reference.call
(attr_name (dotted) @name) @reference.field
