([(comment) (doc_comment) (file_doc)] @injection.content
  (#set! injection.language "comment"))

((raw) @injection.content
  (#set! injection.language "anchor_graph")
  (#set! injection.include-children))
