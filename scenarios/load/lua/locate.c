#include "scenarios/load/lua/locate.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/array.h"

enum { DEPTH_MAX = 64, NAME_MAX_BYTES = 128, PATH_BYTES = 512 };

enum token_kind { TOKEN_END, TOKEN_NAME, TOKEN_STRING, TOKEN_NUMBER, TOKEN_SIGN };

struct token {
    enum token_kind kind;
    char text[NAME_MAX_BYTES]; /* Cut if too long; strings without their quotes. */
    int line;
    size_t offset;
};

struct lexer {
    const char *source;
    size_t bytes, at;
    int line;
};

enum scope_kind { SCOPE_BRACE, SCOPE_PAREN, SCOPE_BLOCK };

/* An open bracket or block. */
struct scope {
    enum scope_kind kind;
    bool returned;           /* BRACE: it is inside the table of the top-level return. */
    size_t path_bytes;       /* Length of the path that this scope's elements extend. */
    int elements;            /* BRACE: number of elements without a key so far. */
    bool fresh;              /* BRACE: the next token starts an element. */
    char around[PATH_BYTES]; /* BLOCK: the path outside; tables inside start a new one. */
};

struct search {
    const char *wanted;
    size_t wanted_bytes;
    struct kvc_location best;
    int best_rank;
    int return_line;
    size_t return_offset;
};

static int peek(const struct lexer *lexer, size_t ahead)
{
    return lexer->at + ahead < lexer->bytes ? (unsigned char)lexer->source[lexer->at + ahead] : -1;
}

static void step(struct lexer *lexer)
{
    if (peek(lexer, 0) == '\n') {
        lexer->line++;
    }
    lexer->at++;
}

/* Returns the level of the long bracket ([[, [=[, ...) that opens here, or -1. */
static int long_bracket(const struct lexer *lexer)
{
    size_t level = 0;
    if (peek(lexer, 0) != '[') {
        return -1;
    }
    while (peek(lexer, 1 + level) == '=') {
        level++;
    }
    return peek(lexer, 1 + level) == '[' ? (int)level : -1;
}

static void append(struct token *token, size_t *used, int c)
{
    if (*used + 1 < sizeof(token->text)) {
        token->text[(*used)++] = (char)c;
    }
    token->text[*used] = '\0';
}

static void skip_long(struct lexer *lexer, int level, struct token *token)
{
    size_t used = 0;
    lexer->at += (size_t)level + 2;
    while (peek(lexer, 0) >= 0) {
        int closing = 0;
        if (peek(lexer, 0) == ']') {
            while (peek(lexer, 1 + (size_t)closing) == '=') {
                closing++;
            }
        }
        if (peek(lexer, 0) == ']' && closing == level && peek(lexer, 1 + (size_t)level) == ']') {
            lexer->at += (size_t)level + 2;
            return;
        }
        if (token != NULL) {
            append(token, &used, peek(lexer, 0));
        }
        step(lexer);
    }
}

static void skip_blank_and_comments(struct lexer *lexer)
{
    for (;;) {
        while (isspace(peek(lexer, 0))) {
            step(lexer);
        }
        if (peek(lexer, 0) != '-' || peek(lexer, 1) != '-') {
            return;
        }
        lexer->at += 2;
        int level = long_bracket(lexer);
        if (level >= 0) {
            skip_long(lexer, level, NULL);
            continue;
        }
        while (peek(lexer, 0) >= 0 && peek(lexer, 0) != '\n') {
            step(lexer);
        }
    }
}

static void read_quoted(struct lexer *lexer, struct token *token)
{
    size_t used = 0;
    int quote = peek(lexer, 0);
    step(lexer);
    while (peek(lexer, 0) >= 0 && peek(lexer, 0) != quote && peek(lexer, 0) != '\n') {
        if (peek(lexer, 0) == '\\') {
            step(lexer);
        }
        append(token, &used, peek(lexer, 0));
        step(lexer);
    }
    step(lexer);
}

static struct token next_token(struct lexer *lexer)
{
    struct token token = {.kind = TOKEN_END};
    size_t used = 0;
    skip_blank_and_comments(lexer);
    token.line = lexer->line;
    token.offset = lexer->at;
    int c = peek(lexer, 0);
    if (c < 0) {
        return token;
    }
    if (isalpha(c) || c == '_') {
        token.kind = TOKEN_NAME;
        for (; isalnum(peek(lexer, 0)) || peek(lexer, 0) == '_'; step(lexer)) {
            append(&token, &used, peek(lexer, 0));
        }
    } else if (isdigit(c) || (c == '.' && isdigit(peek(lexer, 1)))) {
        token.kind = TOKEN_NUMBER;
        for (int last = 0;
             isalnum(peek(lexer, 0)) || peek(lexer, 0) == '.' ||
             (strchr("eEpP", last) != NULL && last != 0 && strchr("+-", peek(lexer, 0)) != NULL);
             step(lexer)) {
            append(&token, &used, last = peek(lexer, 0));
        }
    } else if (c == '"' || c == '\'') {
        token.kind = TOKEN_STRING;
        read_quoted(lexer, &token);
    } else if (long_bracket(lexer) >= 0) {
        token.kind = TOKEN_STRING;
        skip_long(lexer, long_bracket(lexer), &token);
    } else {
        token.kind = TOKEN_SIGN;
        append(&token, &used, c);
        step(lexer);
        if (strchr("=~<>", c) != NULL && peek(lexer, 0) == '=') {
            append(&token, &used, '=');
            step(lexer);
        }
    }
    return token;
}

static bool is_sign(const struct token *token, char sign)
{
    return token->kind == TOKEN_SIGN && token->text[0] == sign && token->text[1] == '\0';
}

static bool is_word(const struct token *token, const char *word)
{
    return token->kind == TOKEN_NAME && strcmp(token->text, word) == 0;
}

/* Returns how many bytes of the wanted path `path` covers, if it is that path or an ancestor, else 0. */
static size_t covers(const struct search *search, const char *path)
{
    size_t bytes = strlen(path);
    if (bytes == 0 || bytes > search->wanted_bytes || strncmp(path, search->wanted, bytes) != 0) {
        return 0;
    }
    return bytes == search->wanted_bytes || search->wanted[bytes] == '.' ? bytes : 0;
}

/* Considers a key at `path`. The longest match wins, then one inside the returned table, then the last one.
 */
static void consider(struct search *search, const char *path, bool returned, const struct token *token)
{
    size_t covered = covers(search, path);
    const char *below = strchr(path, '.');
    if (covered == 0 && !returned && below != NULL) {
        covered = covers(search, below + 1);
    }
    int rank = (int)covered * 2 + returned;
    if (covered == 0 || rank < search->best_rank) {
        return;
    }
    search->best_rank = rank;
    search->best.line = token->line;
    search->best.offset = token->offset;
    search->best.exact = covered == search->wanted_bytes;
}

struct walk {
    struct lexer lexer;
    struct search *search;
    struct scope scope[DEPTH_MAX];
    int depth, skipped; /* `skipped` counts the scopes beyond DEPTH_MAX. */
    char path[PATH_BYTES];
    char chain[NAME_MAX_BYTES * 2]; /* Outside tables: the a.b.c that is assigned. */
    bool assigning;                 /* The next token starts the value of `chain`. */
    bool returning;                 /* The last token was a `return` outside functions. */
};

static struct scope *top(struct walk *walk)
{
    return walk->depth > 0 ? &walk->scope[walk->depth - 1] : NULL;
}

static bool in_brace(struct walk *walk)
{
    return walk->depth > 0 && top(walk)->kind == SCOPE_BRACE;
}

/* Replaces what follows the path of the innermost brace by `name`. */
static void set_path(struct walk *walk, const char *name)
{
    size_t base = walk->depth > 0 ? top(walk)->path_bytes : 0;
    snprintf(walk->path + base, sizeof(walk->path) - base, "%s%s", base > 0 ? "." : "", name);
}

static void push(struct walk *walk, enum scope_kind kind)
{
    if (walk->depth == DEPTH_MAX) {
        walk->skipped++;
        return;
    }
    struct scope scope = {.kind = kind, .fresh = true};
    if (kind == SCOPE_BLOCK) {
        snprintf(scope.around, sizeof(scope.around), "%s", walk->path);
    }
    if (kind == SCOPE_BRACE) {
        if (in_brace(walk)) {
            scope.returned = top(walk)->returned;
        } else if (walk->depth == 0 && walk->returning) {
            scope.returned = true;
            walk->path[0] = '\0';
        } else if (walk->depth == 0 || top(walk)->kind == SCOPE_BLOCK) {
            snprintf(walk->path, sizeof(walk->path), "%s", walk->assigning ? walk->chain : "");
        } else { /* A table that is an argument of a call belongs to the key that receives the result. */
            scope.returned = top(walk)->returned;
        }
        scope.path_bytes = strlen(walk->path);
    } else if (kind == SCOPE_PAREN && walk->depth > 0) {
        scope.path_bytes = strlen(walk->path);
        scope.returned = top(walk)->returned;
    }
    walk->scope[walk->depth++] = scope;
    walk->assigning = walk->returning = false;
}

static void pop(struct walk *walk)
{
    if (walk->skipped > 0) {
        walk->skipped--;
        return;
    }
    if (walk->depth > 0 && top(walk)->kind == SCOPE_BLOCK) {
        snprintf(walk->path, sizeof(walk->path), "%s", top(walk)->around);
    }
    if (walk->depth > 0) {
        walk->depth--;
    }
    walk->path[walk->depth > 0 ? top(walk)->path_bytes : 0] = '\0';
}

/* Consumes a key and its `=` inside a brace if they come next. */
static bool take_key(struct walk *walk, const struct token *first)
{
    struct lexer saved = walk->lexer;
    struct token name = *first, after;
    if (is_sign(first, '[')) {
        name = next_token(&walk->lexer);
        after = next_token(&walk->lexer);
        if (!is_sign(&after, ']') || name.kind == TOKEN_NAME || name.kind == TOKEN_SIGN) {
            name.text[0] = '\0';
        }
    }
    if (name.text[0] != '\0' && (first->kind == TOKEN_NAME || is_sign(first, '['))) {
        after = next_token(&walk->lexer);
        if (is_sign(&after, '=')) {
            set_path(walk, name.text);
            consider(walk->search, walk->path, top(walk)->returned, first);
            return true;
        }
    }
    walk->lexer = saved;
    return false;
}

/* Starts an element of a table. Returns whether the token was consumed as part of a key. */
static bool start_element(struct walk *walk, const struct token *token)
{
    char number[16];
    top(walk)->fresh = false;
    if (take_key(walk, token)) {
        return true;
    }
    snprintf(number, sizeof(number), "%d", ++top(walk)->elements);
    set_path(walk, number);
    consider(walk->search, walk->path, top(walk)->returned, token);
    return false;
}

/* Follows `a.b.c =` and `return` outside tables. */
static void track_statement(struct walk *walk, const struct token *token, const struct token *before)
{
    if (token->kind == TOKEN_NAME) {
        size_t used = is_sign(before, '.') ? strlen(walk->chain) : 0;
        snprintf(walk->chain + used, sizeof(walk->chain) - used, "%s%s", used > 0 ? "." : "", token->text);
        walk->assigning = false;
        walk->returning = walk->depth == 0 && is_word(token, "return");
        if (walk->returning) {
            walk->search->return_line = token->line;
            walk->search->return_offset = token->offset;
        }
    } else if (is_sign(token, '=')) {
        walk->assigning = true;
        consider(walk->search, walk->chain, false, before);
    } else if (!is_sign(token, '.')) {
        walk->assigning = walk->returning = false;
    }
}

static bool opens_block(const struct token *token)
{
    return is_word(token, "function") || is_word(token, "if") || is_word(token, "do") ||
           is_word(token, "repeat");
}

static void walk_token(struct walk *walk, const struct token *token, const struct token *before)
{
    if (in_brace(walk) && is_sign(token, '}')) {
        pop(walk);
    } else if (in_brace(walk) && (is_sign(token, ',') || is_sign(token, ';'))) {
        top(walk)->fresh = true;
    } else {
        if (in_brace(walk) && top(walk)->fresh && start_element(walk, token)) {
            return;
        }
        if (is_sign(token, '{')) {
            push(walk, SCOPE_BRACE);
        } else if (is_sign(token, '(')) {
            push(walk, SCOPE_PAREN);
        } else if (opens_block(token)) {
            push(walk, SCOPE_BLOCK);
        } else if (is_sign(token, ')') || is_word(token, "end") || is_word(token, "until")) {
            pop(walk);
        } else if (walk->depth == 0 || top(walk)->kind == SCOPE_BLOCK) {
            track_statement(walk, token, before);
        }
    }
}

static void walk_source(const char *source, size_t bytes, struct search *search)
{
    struct walk walk = {.lexer = {source, bytes, 0, 1}, .search = search};
    struct token before = {.kind = TOKEN_END};
    for (struct token token = next_token(&walk.lexer); token.kind != TOKEN_END;
         token = next_token(&walk.lexer)) {
        walk_token(&walk, &token, &before);
        before = token;
    }
}

struct kvc_location kvc_locate(const char *source, size_t bytes, const char *path)
{
    struct search search = {.wanted = path, .wanted_bytes = strlen(path)};
    walk_source(source, bytes, &search);
    if (search.wanted_bytes == 0 || search.best_rank == 0) {
        return (struct kvc_location){search.return_line, search.return_offset, search.wanted_bytes == 0};
    }
    return search.best;
}

int kvc_locate_return(const char *source, size_t bytes)
{
    return kvc_locate(source, bytes, "").line;
}

int kvc_locate_line(const char *file, const char *path)
{
    enum { SOURCE_MAX = 1 << 20 };
    char *source = kvc_array_of(SOURCE_MAX, 1);
    FILE *in = fopen(file, "r");
    int line = 0;
    if (in != NULL) {
        line = kvc_locate(source, fread(source, 1, SOURCE_MAX, in), path).line;
        fclose(in);
    }
    free(source);
    return line;
}
