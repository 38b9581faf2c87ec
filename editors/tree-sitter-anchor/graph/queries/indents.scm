; Neovim asks for `indent.begin`, `indent.branch` and `indent.end`, Helix for `indent` and `outdent`, Zed for `indent` and `end`.

[(items) (entries) (slots) (list)] @indent @indent.begin

["}" "]" ")"] @outdent @indent.branch @indent.end @end
