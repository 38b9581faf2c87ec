// The one decision of the language that needs two words: `first { a => b  not c => d }` against `b not in xs`.
// A `not` before `in` is a token of its own. Nothing is remembered between tokens.

#include "tree_sitter/parser.h"

enum TokenType { NOT_BEFORE_IN };

void *tree_sitter_anchor_external_scanner_create(void) { return NULL; }
void tree_sitter_anchor_external_scanner_destroy(void *payload) { (void)payload; }
unsigned tree_sitter_anchor_external_scanner_serialize(void *payload, char *buffer) {
  (void)payload;
  (void)buffer;
  return 0;
}
void tree_sitter_anchor_external_scanner_deserialize(void *payload, const char *buffer, unsigned length) {
  (void)payload;
  (void)buffer;
  (void)length;
}

static bool is_space(int32_t c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

static bool is_word(int32_t c) {
  return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

// Whether exactly this word is next; goes over it.
static bool word(TSLexer *lexer, const char *letters) {
  for (; *letters; letters++) {
    if (lexer->lookahead != *letters) return false;
    lexer->advance(lexer, false);
  }
  return !is_word(lexer->lookahead);
}

// Goes over white space and comments.
static void gap(TSLexer *lexer) {
  while (!lexer->eof(lexer)) {
    if (is_space(lexer->lookahead)) {
      lexer->advance(lexer, false);
      continue;
    }
    if (lexer->lookahead != '/') return;
    lexer->advance(lexer, false);
    if (lexer->lookahead != '/') return;
    while (!lexer->eof(lexer) && lexer->lookahead != '\n') lexer->advance(lexer, false);
  }
}

bool tree_sitter_anchor_external_scanner_scan(void *payload, TSLexer *lexer, const bool *valid_symbols) {
  (void)payload;
  if (!valid_symbols[NOT_BEFORE_IN]) return false;
  while (is_space(lexer->lookahead)) lexer->advance(lexer, true);
  if (!word(lexer, "not")) return false;
  lexer->mark_end(lexer);
  gap(lexer);
  if (!word(lexer, "in")) return false;
  lexer->result_symbol = NOT_BEFORE_IN;
  return true;
}
