/* Parsing by table. */
#include "cli/support/arguments.h"

#include "cli/support/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const option help_option = OPTION("help", 'h', OPTION_FLAG, NULL, 0, "print this help");

/* ---- lists -------------------------------------------------------------------------------------------- */

static void list_append(text_list *list, const char *text) {
    list->items = report_grow(list->items, (size_t)list->count, sizeof *list->items);
    list->items[list->count++] = text;
}

bool list_split(const char *text, text_list *list) {
    *list = (text_list){0, NULL};
    size_t size = strlen(text) + 1;
    char *copy = report_allocate(size, 1);
    memcpy(copy, text, size);
    bool good = true;
    for (char *at = copy; at;) {
        char *comma = strchr(at, ',');
        if (comma) *comma = '\0';
        good = good && *at;
        list_append(list, at);
        at = comma ? comma + 1 : NULL;
    }
    if (!good) list_free_split(list);
    return good;
}

void list_free_split(text_list *list) {
    if (list->count) free((char *)(uintptr_t)list->items[0]);
    free(list->items);
    *list = (text_list){0, NULL};
}

/* ---- values ------------------------------------------------------------------------------------------- */

static bool is_list(const option *o) { return o->field.type == DLS_FIELD_OWN; }

static bool set_value(const command *c, const option *o, char *values, const char *text) {
    const dls_field *field = &o->field;
    if (is_list(o)) {
        list_append((text_list *)(void *)(values + field->offset), text);
        return true;
    }
    if (!dls_field_set(field, 1, values, field->key, text, NULL)) return true;
    char expected[96];
    bool named = field->unit[1] != '\0'; /* INCHES says more than N */
    report_error("%s: --%s '%s', expected %s%s%s%s", c->name, field->key, text,
                 dls_field_expected(field, expected, sizeof expected), named ? " (" : "",
                 named ? field->unit : "", named ? ")" : "");
    return false;
}

/* ---- words -------------------------------------------------------------------------------------------- */

typedef struct parse {
    const command *command;
    char *values;
    text_list operands;
    int word_count, at;
    char **words;
    bool help;
} parse;

static const option *find_long(const command *c, const char *name, size_t length) {
    for (int i = 0; i < c->option_count; i++)
        if (strlen(c->options[i].field.key) == length && !strncmp(c->options[i].field.key, name, length))
            return &c->options[i];
    return length == 4 && !strncmp(name, "help", 4) ? &help_option : NULL;
}

static const option *find_letter(const command *c, char letter) {
    for (int i = 0; i < c->option_count; i++)
        if (c->options[i].letter && c->options[i].letter == letter) return &c->options[i];
    return letter == 'h' ? &help_option : NULL;
}

static bool refuse_unknown(const command *c, const char *word) {
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(word, "="), word);
    dls_nearest n = dls_nearest_begin(name + strspn(name, "-"));
    for (int i = 0; i < c->option_count; i++) dls_nearest_offer(&n, c->options[i].field.key);
    dls_nearest_offer(&n, "help");
    n.wanted = name; /* with its dashes */
    char what[64], lister[64];
    snprintf(what, sizeof what, "%s: no option", c->name);
    snprintf(lister, sizeof lister, "delassus help %s", c->name);
    report_unknown(what, &n, "--", lister);
    return false;
}

/* inline_value: what follows '=' or a short letter in the same word, or NULL. */
static bool take_option(parse *p, const option *o, const char *inline_value) {
    if (o == &help_option) return p->help = true;
    if (o->field.type == DLS_FIELD_BOOL) {
        if (inline_value)
            report_error("%s: --%s takes no value, expected it alone", p->command->name, o->field.key);
        return !inline_value && set_value(p->command, o, p->values, "yes");
    }
    if (!inline_value && p->at + 1 >= p->word_count) {
        report_error("%s: --%s stands without a value, expected %s", p->command->name, o->field.key,
                     o->field.unit);
        return false;
    }
    return set_value(p->command, o, p->values, inline_value ? inline_value : p->words[++p->at]);
}

static bool take_word(parse *p) {
    const char *word = p->words[p->at];
    const command *c = p->command;
    if (word[0] != '-' || !word[1]) {
        list_append(&p->operands, word);
        return true;
    }
    if (word[1] == '-') {
        const char *name = word + 2;
        size_t length = strcspn(name, "=");
        const option *o = find_long(c, name, length);
        return o ? take_option(p, o, name[length] ? name + length + 1 : NULL) : refuse_unknown(c, word);
    }
    const option *o = find_letter(c, word[1]);
    return o ? take_option(p, o, word[2] ? word + 2 : NULL) : refuse_unknown(c, word);
}

static bool take_words(parse *p) {
    for (; p->at < p->word_count && !p->help; p->at++) {
        if (!strcmp(p->words[p->at], "--")) {
            while (++p->at < p->word_count) list_append(&p->operands, p->words[p->at]);
            return true;
        }
        if (!take_word(p)) return false;
    }
    return true;
}

/* `--set time.step 1e-3`: what is one too many is the value of a setting. */
static const option *find_torn_setting(const parse *p) {
    for (int i = 0; i < p->command->option_count; i++) {
        const option *o = &p->command->options[i];
        if (!is_list(o) || !strchr(o->field.unit, '=')) continue;
        const text_list *list = (const text_list *)(p->values + o->field.offset);
        for (int k = 0; k < list->count; k++)
            if (!strchr(list->items[k], '=')) return o;
    }
    return NULL;
}

static bool check_operands(const parse *p) {
    const command *c = p->command;
    int count = p->operands.count;
    const option *torn = count > c->most_operands ? find_torn_setting(p) : NULL;
    if (torn) {
        report_error("%s: --%s without '=', expected %s as one word", c->name, torn->field.key,
                     torn->field.unit);
        return false;
    }
    if (count < c->least_operands)
        report_error("%s: %d operand%s given, expected %s; see 'delassus help %s'", c->name, count,
                     plural(count), c->operands, c->name);
    else if (count > c->most_operands)
        report_error("%s: '%s' is one too many, expected %s; see 'delassus help %s'", c->name,
                     p->operands.items[c->most_operands], *c->operands ? c->operands : "no operand", c->name);
    return count >= c->least_operands && count <= c->most_operands;
}

static void release(parse *p) {
    for (int i = 0; i < p->command->option_count; i++)
        if (is_list(&p->command->options[i]))
            free(((text_list *)(p->values + p->command->options[i].field.offset))->items);
    free(p->operands.items);
    free(p->values);
}

int command_execute(const command *c, int word_count, char **words) {
    parse p = {c, report_allocate(c->values_size, 1), {0, NULL}, word_count, 0, words, false};
    memcpy(p.values, c->defaults, c->values_size);
    int code = EXIT_BAD_INPUT;
    if (take_words(&p)) {
        if (p.help) {
            command_help(c);
            code = EXIT_DONE;
        } else if (check_operands(&p)) {
            code = c->run(&p.operands, p.values);
        }
    }
    release(&p);
    return code;
}

/* ---- help --------------------------------------------------------------------------------------------- */

/* A number out of range stands for none, and so does 0. */
static void print_default(const dls_field *field, const void *values) {
    char text[128];
    dls_field_print(field, values, text, sizeof text);
    bool is_number = field->type == DLS_FIELD_INT || field->type == DLS_FIELD_REAL;
    double value = is_number ? strtod(text, NULL) : 0;
    if (is_number ? value != 0 && value >= field->low : field->type == DLS_FIELD_TEXT && *text)
        printf(" [%s]", text);
}

enum { HELP_COLUMN = 32 };

static void print_option(const option *o, const void *values) {
    char left[96];
    int written = o->letter ? snprintf(left, sizeof left, "  -%c, --%s", o->letter, o->field.key)
                            : snprintf(left, sizeof left, "      --%s", o->field.key);
    if (o->field.unit) snprintf(left + written, sizeof left - (size_t)written, " %s", o->field.unit);
    int width = text_width(left);
    if (width + 2 > HELP_COLUMN)
        printf("%s\n%*s", left, HELP_COLUMN, "");
    else
        printf("%s%*s", left, HELP_COLUMN - width, "");
    printf("%s", o->field.help);
    if (values) print_default(&o->field, values);
    putchar('\n');
}

void command_help(const command *c) {
    printf("usage: delassus %s%s%s [options]\n\n%s\n", c->name, *c->operands ? " " : "", c->operands,
           c->summary);
    if (c->details) printf("\n%s\n", c->details);
    printf("\noptions:\n");
    for (int i = 0; i < c->option_count; i++) print_option(&c->options[i], c->defaults);
    print_option(&help_option, NULL);
}
