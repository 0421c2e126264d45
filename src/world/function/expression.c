/* Expressions in t: text to a flat program, and its value and derivatives.
 *
 *   choice  = binary [ "?" choice ":" choice ]
 *   binary  = signed { operator signed }          by precedence, from the left
 *   signed  = [ "-" | "+" ] power                 so that -2^2 = -(2^2)
 *   power   = operand [ "^" signed ]              so that 2^3^2 = 2^(3^2) and 2^-1 = 1/2
 *   operand = number | name | function "(" choice { "," choice } ")" | "(" choice ")"
 *
 * Both sides of a choice are computed: nothing has side effects, and the program has no jumps. What is
 * constant is computed when it is read. Nothing here depends on the locale. */
#include "world/function/expression.h"

#include "base/error.h"
#include "base/memory.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Values that wait on the stack when a level opens another: left sides of || && < + * ^, or of a call. */
enum { WAITING = 7, STACK = WAITING * DLS_EXPRESSION_LEVELS, WORD = 60 };

typedef struct parser {
    const char *text, *at;
    const dls_constants *constants;
    dls_expression *expression;
    int level;
    dls_error *error;
} parser;

/* ---- characters, apart from any locale ---- */

static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

static int word_length(const char *at) {
    int length = 0;
    if (is_letter(*at))
        while (is_letter(at[length]) || is_digit(at[length])) length++;
    return length;
}

static bool is_word(const char *at, int length, const char *name) {
    return !strncmp(at, name, (size_t)length) && !name[length];
}

static const char *behind_blanks(const char *at) {
    while (*at == ' ' || (*at >= '\t' && *at <= '\r')) at++;
    return at;
}

static void skip_blanks(parser *p) { p->at = behind_blanks(p->at); }

static bool accept(parser *p, char c) {
    skip_blanks(p);
    if (*p->at != c) return false;
    p->at++;
    return true;
}

/* ---- names ---- */

typedef struct function_row {
    const char *name;
    dls_operation operation;
    int arguments; /* 0: one or more, taken in pairs from the left */
} function_row;

static const function_row functions[] = {
    {"sin", DLS_OP_SIN, 1},     {"cos", DLS_OP_COS, 1},     {"tan", DLS_OP_TAN, 1},
    {"asin", DLS_OP_ASIN, 1},   {"acos", DLS_OP_ACOS, 1},   {"atan", DLS_OP_ATAN, 1},
    {"atan2", DLS_OP_ATAN2, 2}, {"sinh", DLS_OP_SINH, 1},   {"cosh", DLS_OP_COSH, 1},
    {"tanh", DLS_OP_TANH, 1},   {"asinh", DLS_OP_ASINH, 1}, {"acosh", DLS_OP_ACOSH, 1},
    {"atanh", DLS_OP_ATANH, 1}, {"exp", DLS_OP_EXP, 1},     {"ln", DLS_OP_LN, 1},
    {"log", DLS_OP_LN, 1},      {"log2", DLS_OP_LOG2, 1},   {"log10", DLS_OP_LOG10, 1},
    {"sqrt", DLS_OP_SQRT, 1},   {"abs", DLS_OP_ABS, 1},     {"sign", DLS_OP_SIGN, 1},
    {"rint", DLS_OP_RINT, 1},   {"min", DLS_OP_MIN, 0},     {"max", DLS_OP_MAX, 0},
    {"sum", DLS_OP_ADD, 0},     {"avg", DLS_OP_ADD, 0},
};
enum { FUNCTIONS = sizeof functions / sizeof *functions };

static const dls_constants everywhere = {2, (const char *const[]){"pi", "e"},
                                         (const double[]){3.14159265358979323846, 2.71828182845904523536}};

static const function_row *find_function(const char *at, int length) {
    for (int k = 0; k < FUNCTIONS; k++)
        if (is_word(at, length, functions[k].name)) return &functions[k];
    return NULL;
}

static const double *find_constant(const dls_constants *constants, const char *at, int length) {
    for (int k = constants->count - 1; k >= 0; k--)
        if (is_word(at, length, constants->names[k])) return &constants->values[k];
    return constants == &everywhere ? NULL : find_constant(&everywhere, at, length);
}

static bool is_called(const char *at, int length) { return *behind_blanks(at + length) == '('; }

static bool is_known(const parser *p, const char *at, int length) {
    if (is_word(at, length, "t") || find_constant(p->constants, at, length)) return true;
    return find_function(at, length) != NULL;
}

/* ---- refusals ---- */

static int column(const parser *p, const char *at) { return (int)(at - p->text) + 1; }

/* The word, or the character with all its bytes, that stands at a place. */
static void copy_found(const char *at, char *found) {
    int length = word_length(at);
    if (!length) length = 1;
    while (!is_letter(*at) && ((unsigned char)at[length] & 0xc0) == 0x80 && length < 4) length++;
    snprintf(found, WORD + 1, "%.*s", length, at);
}

static dls_status refuse_name(const parser *p, const char *at, int length) {
    char word[WORD + 1], hint[100];
    bool called = is_called(at, length);
    copy_found(at, word);
    dls_nearest nearest = dls_nearest_begin(word);
    for (int k = 0; !called && k < p->constants->count; k++)
        dls_nearest_offer(&nearest, p->constants->names[k]);
    for (int k = 0; !called && k < everywhere.count; k++) dls_nearest_offer(&nearest, everywhere.names[k]);
    for (int k = 0; called && k < FUNCTIONS; k++) dls_nearest_offer(&nearest, functions[k].name);
    return dls_fail(p->error, DLS_ERROR_INPUT, "no %s '%s' at column %d%s", called ? "function" : "variable",
                    word, column(p, at), dls_nearest_hint(&nearest, hint, sizeof hint));
}

static dls_status refuse(const parser *p, const char *expected) {
    const char *at = p->at;
    int length = word_length(at), c = (unsigned char)*at;
    char found[WORD + 1];
    if (length && !is_known(p, at, length)) return refuse_name(p, at, length);
    if (!c)
        return dls_fail(p->error, DLS_ERROR_INPUT, "unexpected end at column %d, expected %s", column(p, at),
                        expected);
    if (c < ' ' || c == 0x7f)
        return dls_fail(p->error, DLS_ERROR_INPUT, "unexpected byte 0x%02x at column %d, expected %s",
                        (unsigned)c, column(p, at), expected);
    copy_found(at, found);
    return dls_fail(p->error, DLS_ERROR_INPUT, "unexpected '%s' at column %d, expected %s", found,
                    column(p, at), expected);
}

/* Behind a whole operand. */
static dls_status refuse_more(const parser *p, const char *expected) {
    if (*p->at == '=')
        return dls_fail(p->error, DLS_ERROR_INPUT, "assignment at column %d, expected == to compare",
                        column(p, p->at));
    return refuse(p, expected);
}

static dls_status descend(parser *p) {
    if (++p->level <= DLS_EXPRESSION_LEVELS) return DLS_OK;
    return dls_fail(p->error, DLS_ERROR_INPUT, "more than %d levels at column %d", DLS_EXPRESSION_LEVELS,
                    column(p, p->at));
}

/* ---- the program ---- */

/* No text makes more instructions than it has characters, which is the room there is. */
static void put_number(parser *p, double number) {
    assert(p->expression->count <= DLS_EXPRESSION_LENGTH); /* an instruction takes a character or more */
    p->expression->program[p->expression->count++] = (dls_instruction){DLS_OP_NUMBER, number};
}

/* Instructions that only push, as many as there are arguments, are the arguments. */
static void put(parser *p, dls_operation operation) {
    dls_expression *e = p->expression;
    int arity = dls_operation_arity(operation);
    assert(arity <= 3 && e->count >= arity);
    double values[3];
    bool constant = arity > 0;
    for (int k = 0; k < arity; k++) {
        const dls_instruction *argument = &e->program[e->count - arity + k];
        constant = constant && argument->operation == DLS_OP_NUMBER;
        values[k] = argument->number;
    }
    if (constant) {
        e->count -= arity;
        put_number(p, dls_operation_value(operation, values));
    } else {
        e->program[e->count++] = (dls_instruction){operation, 0};
    }
}

/* ---- operands ---- */

static dls_status parse_choice(parser *p);
static dls_status parse_signed(parser *p);

static int digits_at(const char *at) {
    int count = 0;
    while (is_digit(at[count])) count++;
    return count;
}

/* 12.5e3 is read as 125e2: what strtod makes of a point depends on the locale. */
static dls_status parse_number(parser *p) {
    char digits[DLS_EXPRESSION_LENGTH + 16];
    const char *at = p->at;
    int whole = digits_at(at), fraction = at[whole] == '.' ? digits_at(at + whole + 1) : 0;
    memcpy(digits, at, (size_t)whole);
    memcpy(digits + whole, at + whole + 1, (size_t)fraction);
    p->at += whole + fraction + (at[whole] == '.');
    int sign = *p->at && strchr("eE", *p->at) && p->at[1] && strchr("+-", p->at[1]);
    int exponent_digits = *p->at && strchr("eE", *p->at) ? digits_at(p->at + 1 + sign) : 0;
    long exponent = exponent_digits ? strtol(p->at + 1, NULL, 10) : 0;
    exponent = exponent > 99999 ? 99999 : exponent < -99999 ? -99999 : exponent;
    if (exponent_digits) p->at += 1 + sign + exponent_digits;
    snprintf(digits + whole + fraction, 16, "e%ld", exponent - fraction);
    double number = strtod(digits, NULL);
    if (!isfinite(number))
        return dls_fail(p->error, DLS_ERROR_INPUT, "number too large at column %d, expected at most 1.8e308",
                        column(p, at));
    put_number(p, number);
    return DLS_OK;
}

static dls_status close_parenthesis(parser *p, const char *open, const char *expected) {
    if (accept(p, ')')) return p->level--, DLS_OK;
    if (!*p->at)
        return dls_fail(p->error, DLS_ERROR_INPUT, "missing ')' at column %d for the '(' at column %d",
                        column(p, p->at), column(p, open));
    return refuse_more(p, expected);
}

static dls_status parse_arguments(parser *p, const function_row *function) {
    char expected[80];
    const char *open = p->at - 1;
    int count = 0;
    dls_status status = descend(p);
    do {
        if (status || (status = parse_choice(p))) return status;
        if (++count > 1 && !function->arguments) put(p, function->operation);
    } while (count != function->arguments && accept(p, ','));
    snprintf(expected, sizeof expected, "%s: %s takes %d argument%s",
             count < function->arguments ? "','" : "')'", function->name, function->arguments,
             function->arguments == 1 ? "" : "s");
    if (count < function->arguments) return refuse_more(p, expected);
    if ((status = close_parenthesis(p, open, function->arguments ? expected : "an operator, ',' or ')'")))
        return status;
    if (function->arguments) put(p, function->operation);
    if (!strcmp(function->name, "avg")) put_number(p, count), put(p, DLS_OP_DIVIDE);
    return DLS_OK;
}

static dls_status parse_name(parser *p) {
    const char *at = p->at;
    int length = word_length(at);
    const function_row *function = find_function(at, length);
    const double *constant = find_constant(p->constants, at, length);
    if (function && is_called(at, length)) {
        p->at += length;
        accept(p, '(');
        return parse_arguments(p, function);
    }
    bool time = is_word(at, length, "t");
    if (!time && !constant && !function) return refuse_name(p, at, length);
    p->at += length;
    if (time) return put(p, DLS_OP_TIME), DLS_OK;
    if (constant) return put_number(p, *constant), DLS_OK;
    skip_blanks(p);
    char expected[40];
    snprintf(expected, sizeof expected, "'(' after %s", function->name);
    return refuse(p, expected);
}

static dls_status parse_operand(parser *p) {
    skip_blanks(p);
    const char *at = p->at;
    if (is_digit(*at) || (*at == '.' && is_digit(at[1]))) return parse_number(p);
    if (is_letter(*at)) return parse_name(p);
    if (!accept(p, '(')) return refuse(p, "a number, a name or '('");
    dls_status status = descend(p);
    if (!status) status = parse_choice(p);
    return status ? status : close_parenthesis(p, at, "an operator or ')'");
}

/* ---- operators ---- */

static dls_status parse_power(parser *p) {
    dls_status status = parse_operand(p);
    if (status || !accept(p, '^')) return status;
    if ((status = descend(p)) || (status = parse_signed(p))) return status;
    p->level--;
    put(p, DLS_OP_POWER);
    return DLS_OK;
}

static dls_status parse_signed(parser *p) {
    bool minus = accept(p, '-');
    if (!minus) accept(p, '+');
    dls_status status = parse_power(p);
    if (!status && minus) put(p, DLS_OP_NEGATE);
    return status;
}

typedef struct operator_row {
    const char *symbol;
    int precedence;
    dls_operation operation;
} operator_row;

/* Long symbols before those that they begin with. */
static const operator_row operators[] = {
    {"||", 1, DLS_OP_OR},         {"&&", 2, DLS_OP_AND},
    {"<=", 3, DLS_OP_LESS_EQUAL}, {">=", 3, DLS_OP_GREATER_EQUAL},
    {"==", 3, DLS_OP_EQUAL},      {"!=", 3, DLS_OP_UNEQUAL},
    {"<", 3, DLS_OP_LESS},        {">", 3, DLS_OP_GREATER},
    {"+", 4, DLS_OP_ADD},         {"-", 4, DLS_OP_SUBTRACT},
    {"*", 5, DLS_OP_MULTIPLY},    {"/", 5, DLS_OP_DIVIDE},
};

static const operator_row *operator_at(parser *p) {
    skip_blanks(p);
    for (size_t k = 0; k < sizeof operators / sizeof *operators; k++)
        if (!strncmp(p->at, operators[k].symbol, strlen(operators[k].symbol))) return &operators[k];
    return NULL;
}

static dls_status parse_binary(parser *p, int lowest) {
    dls_status status = parse_signed(p);
    const operator_row *row;
    while (!status && (row = operator_at(p)) && row->precedence >= lowest) {
        p->at += strlen(row->symbol);
        status = parse_binary(p, row->precedence + 1);
        if (!status) put(p, row->operation);
    }
    return status;
}

static dls_status parse_choice(parser *p) {
    dls_status status = parse_binary(p, 1);
    if (status || !accept(p, '?')) return status;
    if ((status = descend(p)) || (status = parse_choice(p))) return status;
    if (!accept(p, ':')) return refuse_more(p, "an operator or ':' with what is else");
    if ((status = parse_choice(p))) return status;
    p->level--;
    put(p, DLS_OP_CHOOSE);
    return DLS_OK;
}

static dls_status parse_all(parser *p) {
    dls_status status = parse_choice(p);
    skip_blanks(p);
    return status || !*p->at ? status : refuse_more(p, "an operator or the end");
}

/* ---- what others call ---- */

dls_status dls_expression_compile(const char *text, const dls_constants *constants,
                                  dls_expression *expression, dls_error *error) {
    *expression = (dls_expression){0};
    size_t length = strlen(text);
    if (length > DLS_EXPRESSION_LENGTH)
        return dls_fail(error, DLS_ERROR_INPUT, "%zu characters, expected at most %d", length,
                        DLS_EXPRESSION_LENGTH);
    expression->program = DLS_NEW(dls_instruction, length + 1);
    if (!expression->program) return dls_fail_memory(error);
    parser p = {text, text, constants, expression, 0, error};
    return parse_all(&p);
}

void dls_expression_release(dls_expression *expression) {
    dls_free(expression->program);
    *expression = (dls_expression){0};
}

double dls_expression_value(const dls_expression *expression, double t) {
    double stack[STACK], *end = stack;
    for (int k = 0; k < expression->count; k++) {
        const dls_instruction *i = &expression->program[k];
        int arity = dls_operation_arity(i->operation);
        end -= arity;
        assert(end >= stack && end < stack + STACK);
        *end = arity ? dls_operation_value(i->operation, end) : i->operation == DLS_OP_NUMBER ? i->number : t;
        end++;
    }
    assert(end == stack + 1);
    return stack[0];
}

dls_jet dls_expression_jet(const dls_expression *expression, double t) {
    dls_jet stack[STACK], *end = stack;
    for (int k = 0; k < expression->count; k++) {
        const dls_instruction *i = &expression->program[k];
        int arity = dls_operation_arity(i->operation);
        end -= arity;
        assert(end >= stack && end < stack + STACK);
        *end = arity                           ? dls_operation_jet(i->operation, end)
               : i->operation == DLS_OP_NUMBER ? (dls_jet){.v = i->number, .still = true}
                                               : (dls_jet){.v = t, .d = 1};
        end++;
    }
    return stack[0];
}
