/* Parsing by table. */
#include "cli/support/arguments.h"

#include "cli/support/report.h"

#include <float.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const option help_option = {"help", 'h', OPTION_FLAG, NULL, 0, 0, 0, "print this help"};

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

static void describe_range(const option *o, char *text, size_t size) {
    const char *kind = o->type == OPTION_INT ? "a whole number" : "a number";
    bool open = o->high >= (o->type == OPTION_INT ? INT_MAX : DBL_MAX);
    if (open)
        snprintf(text, size, "%s from %g up", kind, o->low);
    else
        snprintf(text, size, "%s from %g to %g", kind, o->low, o->high);
}

static bool set_number(const command *c, const option *o, void *member, const char *text) {
    const dls_field field = {.key = o->name,
                             .type = o->type == OPTION_INT ? DLS_FIELD_INT : DLS_FIELD_REAL,
                             .low = o->low,
                             .high = o->high};
    if (!dls_field_set(&field, 1, member, o->name, text, NULL)) return true;
    char range[96];
    describe_range(o, range, sizeof range);
    bool named = o->value[1] != '\0'; /* INCHES says more than N */
    report_error("%s: --%s '%s', expected %s%s%s%s", c->name, o->name, text, range, named ? " (" : "",
                 named ? o->value : "", named ? ")" : "");
    return false;
}

static bool set_value(const command *c, const option *o, char *values, const char *text) {
    char *member = values + o->offset;
    switch (o->type) {
    case OPTION_FLAG:
        *(bool *)member = true;
        return true;
    case OPTION_TEXT:
        *(const char **)member = text;
        return true;
    case OPTION_LIST:
        list_append((text_list *)member, text);
        return true;
    case OPTION_INT:
    case OPTION_REAL:
        return set_number(c, o, member, text);
    }
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
        if (strlen(c->options[i].name) == length && !strncmp(c->options[i].name, name, length))
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
    for (int i = 0; i < c->option_count; i++) dls_nearest_offer(&n, c->options[i].name);
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
    if (o->type == OPTION_FLAG) {
        if (inline_value)
            report_error("%s: --%s takes no value, expected it alone", p->command->name, o->name);
        return !inline_value && set_value(p->command, o, p->values, "");
    }
    if (!inline_value && p->at + 1 >= p->word_count) {
        report_error("%s: --%s stands without a value, expected %s", p->command->name, o->name, o->value);
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
        if (o->type != OPTION_LIST || !strchr(o->value, '=')) continue;
        const text_list *list = (const text_list *)(p->values + o->offset);
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
        report_error("%s: --%s without '=', expected %s as one word", c->name, torn->name, torn->value);
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
        if (p->command->options[i].type == OPTION_LIST)
            free(((text_list *)(p->values + p->command->options[i].offset))->items);
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

/* A number out of range stands for none. */
static void print_default(const option *o, const char *values) {
    const char *member = values + o->offset;
    if (o->type == OPTION_INT && *(const int *)member && *(const int *)member >= o->low)
        printf(" [%d]", *(const int *)member);
    else if (o->type == OPTION_REAL && *(const double *)member != 0 && *(const double *)member >= o->low)
        printf(" [%g]", *(const double *)member);
    else if (o->type == OPTION_TEXT && *(const char *const *)member)
        printf(" [%s]", *(const char *const *)member);
}

enum { HELP_COLUMN = 32 };

static void print_option(const option *o, const void *values) {
    char left[96];
    int written = o->letter ? snprintf(left, sizeof left, "  -%c, --%s", o->letter, o->name)
                            : snprintf(left, sizeof left, "      --%s", o->name);
    if (o->value) snprintf(left + written, sizeof left - (size_t)written, " %s", o->value);
    int width = text_width(left);
    if (width + 2 > HELP_COLUMN)
        printf("%s\n%*s", left, HELP_COLUMN, "");
    else
        printf("%s%*s", left, HELP_COLUMN - width, "");
    printf("%s", o->help);
    if (values) print_default(o, values);
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
