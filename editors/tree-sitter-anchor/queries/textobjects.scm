; Neovim asks for `outer` and `inner`, Helix for `around` and `inside`.

; An item with statements or steps is a function, a test a test, every other item a class.
(item [
  (fn_item) (walk_item) (symbols_item) (checker_item) (chain_item) (steps_item) (action_item) (pass_item) (lint_item)
]) @function.outer @function.around
(fn_item body: (_) @function.inner @function.inside)
(item (_ (body) @function.inner @function.inside))

(item [
  (set_item) (table_item) (attr_item) (note_item) (option_item) (enum_item) (attribute_item) (never_item) (always_item)
  (default_item) (skip_item) (matrix_item) (order_item) (pipeline_item) (measure_item)
]) @class.outer @class.around
(set_item (elements) @class.inner @class.inside)
(enum_item (name_set) @class.inner @class.inside)

(item (test_item)) @test.outer @test.around
(test_item (expect) @test.inner @test.inside)

(param) @parameter.outer @parameter.inner @parameter.around @parameter.inside
(role) @parameter.outer @parameter.inner @parameter.around @parameter.inside
(args (_) @parameter.outer @parameter.inner @parameter.around @parameter.inside)

(row) @entry.outer @entry.inner @entry.around @entry.inside
(cells) @entry.outer @entry.inner @entry.around @entry.inside
(first_case) @entry.outer @entry.inner @entry.around @entry.inside
(match_arm) @entry.outer @entry.inner @entry.around @entry.inside
(step) @entry.outer @entry.inner @entry.around @entry.inside
(require) @entry.outer @entry.inner @entry.around @entry.inside

[(comment) (doc_comment) (file_doc)] @comment.outer @comment.inner @comment.around @comment.inside
