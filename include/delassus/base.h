/* Status, errors, memory, option tables, and how files, text and time are treated everywhere: what every
 * other header builds on. */
#ifndef DELASSUS_BASE_H
#define DELASSUS_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#if defined(__GNUC__)
#define DLS_API __attribute__((visibility("default")))
#else
#define DLS_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define DLS_VERSION "0.1.0"

/* The version of the library that is running, for example "0.1.0". */
DLS_API const char *dls_version(void);

/* ---- failure ----------------------------------------------------------------------------------------
 * Misuse and bad input return a status and a message; broken invariants assert; a solver that does not
 * converge is no failure but an outcome (see solve.h). The library never exits, prints or jumps. */

typedef enum dls_status {
    DLS_OK = 0,
    DLS_ERROR_ARGUMENT, /* a call that makes no sense: unknown name, NULL where an object is needed */
    DLS_ERROR_INPUT,    /* data that cannot be a contact problem: wrong shape, NaN, negative friction */
    DLS_ERROR_FILE,     /* a file that cannot be opened, read, parsed or written */
    DLS_ERROR_MEMORY,   /* an allocation failed */
    DLS_ERROR_NUMERIC   /* a factorisation met a singular or indefinite matrix */
} dls_status;

/* One line for a person: what was wrong, where, and what was expected. The caller's own, and every function
 * takes NULL instead; a call clears it first and fills it in where it fails. */
typedef struct dls_error {
    dls_status status;
    char message[512];
} dls_error;

/* A file in memory. */
typedef struct dls_file {
    const char *name;
    const void *bytes;
    size_t size;
} dls_file;

/* ---- threads ----------------------------------------------------------------------------------------
 * Threads may use the library at once, each with objects of its own: worlds, simulations, scenes, results,
 * writers, checkpoints, workspaces. One object is for one thread at a time, except that problems and what was
 * read of an FCLib file never change and may be shared. A world and its simulation count as one. Files may be
 * read and written by all: what goes through HDF5 waits for each other. Laws and solvers of your own come and
 * go at any time (law.h, solve.h); the allocator is set before threads start; a program that calls HDF5
 * itself needs one that is thread-safe. */

/* ---- memory ----------------------------------------------------------------------------------------- */

/* allocate returns NULL where memory is out, else a block aligned as malloc's; release is never given NULL.
 * Any thread that uses the library calls them, also several at once. */
typedef struct dls_allocator {
    void *(*allocate)(size_t bytes, void *user);
    void (*release)(void *block, void *user);
    void *user;
} dls_allocator;

/* All memory of the library comes from here; NULL goes back to malloc and free. The struct is copied, and
 * what lies behind user must live until the last object is destroyed. Set it before anything else, and once:
 * a block goes back to the allocator that is set when it is released. */
DLS_API void dls_allocator_set(const dls_allocator *allocator);

/* Scratch memory that grows to what the largest solve so far needed and is then reused without allocation. */
typedef struct dls_workspace dls_workspace;

DLS_API dls_workspace *dls_workspace_create(void); /* NULL when memory is out */
DLS_API void dls_workspace_destroy(dls_workspace *workspace);

/* ---- option tables ----------------------------------------------------------------------------------
 * One table per options struct says all that is known of each option; help texts, `--set key=value`,
 * files and bindings are generated from it. */

/* Room of a name in options, with its end. */
#define DLS_NAME_SIZE 32

typedef enum dls_field_type {
    DLS_FIELD_INT,
    DLS_FIELD_REAL,
    DLS_FIELD_BOOL,
    DLS_FIELD_CHOICE, /* an enum */
    DLS_FIELD_NAME,   /* a char[DLS_NAME_SIZE] in the options: they are copied whole */
    DLS_FIELD_WHOLE,  /* a whole number in a double, as it may be far too large */
    DLS_FIELD_TEXT,   /* a const char *, to text that its owner keeps */
    DLS_FIELD_VECTOR, /* a double[3] */
    DLS_FIELD_OWN     /* what only its reader can set and print; choices say what it may be */
} dls_field_type;

typedef struct dls_field {
    const char *key;
    dls_field_type type;
    size_t offset;       /* of the member in the options struct: int, double, bool, or int for a choice */
    double low, high;    /* range of numbers, both ends allowed; DBL_TRUE_MIN: above 0 */
    const char *choices; /* of a choice: names separated by '|', in the order of the enum's values */
    const char *unit;    /* SI unit, "1" for pure numbers */
    const char *help;    /* one line */
    /* Of a name: the index-th row of the table that it is looked for in and a line about it, NULL behind the
     * last; NULL for any name. */
    const char *(*row_at)(int index, const char **summary);
} dls_field;

/* Sets one option from text; the message names the key, the range or the choices, and the nearest key. */
DLS_API dls_status dls_field_set(const dls_field *fields, int field_count, void *options, const char *key,
                                 const char *value, dls_error *error);
/* Writes the option's present value as text that dls_field_set reads back to the same bits. */
DLS_API void dls_field_print(const dls_field *field, const void *options, char *text, size_t text_size);
/* What may be given, into text, which is returned: in messages "a whole number from 1 up", in tables
 * "whole number ≥ 1". */
DLS_API const char *dls_field_expected(const dls_field *field, char *text, size_t text_size);
DLS_API const char *dls_field_allowed(const dls_field *field, char *text, size_t text_size);

/* ---- files ------------------------------------------------------------------------------------------
 * What is written appears whole or not at all: it grows beside its place and is renamed into it. */

typedef struct dls_aside dls_aside;

/* Whatever is at path stays as it was until the new file is committed. A link stays a link: the file that it
 * names is replaced. Devices and pipes are written directly. */
DLS_API dls_status dls_aside_open(const char *path, dls_aside **aside, dls_error *error);
/* What is written goes here. Nothing has to be checked on the way: the first failure is kept. */
DLS_API FILE *dls_aside_stream(dls_aside *aside);
/* Puts the file in its place if all of it could be written, and frees aside in any case. What is_lasting
 * outlives a power cut, for which the disk is waited for. */
DLS_API dls_status dls_aside_commit(dls_aside *aside, bool is_lasting, dls_error *error);
/* Forgets what was written. */
DLS_API void dls_aside_abandon(dls_aside *aside);

/* Opens a regular file for reading, to be closed by fclose. It never waits for anybody: folders, devices and
 * named pipes are refused. expected ends the message: "a table of numbers". */
DLS_API dls_status dls_file_open(const char *path, const char *expected, FILE **stream, dls_error *error);

/* Makes a folder that can be written to, and those above it; fine where it is there. */
DLS_API dls_status dls_folder_make(const char *path, dls_error *error);

/* ---- text ------------------------------------------------------------------------------------------- */

/* Bytes of the UTF-8 character at text; 0 at its end and where there is none: stray, overlong or too large.
 */
DLS_API size_t dls_utf8_length(const char *text);
/* With & < > " replaced for XML, and what XML cannot hold by '?'. */
DLS_API void dls_put_xml(FILE *stream, const char *text);
/* As a field of comma-separated values (RFC 4180): quoted where it must be. */
DLS_API void dls_put_csv(FILE *stream, const char *text);
/* 64 bits that tell texts apart, the same on every machine. */
DLS_API uint64_t dls_hash_text(const char *text);

/* ---- time ------------------------------------------------------------------------------------------- */

DLS_API double dls_clock_wall(void); /* s, from any origin */
DLS_API double dls_clock_cpu(void);  /* s of all threads of the process */

/* ---- names ------------------------------------------------------------------------------------------ */

/* The known name that is meant by one that is not known: begun by it, or different in few of its letters. */
typedef struct dls_nearest {
    const char *wanted;
    const char *best; /* NULL as long as nothing near was offered */
    int distance;
} dls_nearest;

DLS_API dls_nearest dls_nearest_begin(const char *wanted);
DLS_API void dls_nearest_offer(dls_nearest *nearest, const char *candidate);
/* ", did you mean 'radius'?" into text, or "" where nothing is near; returns text. */
DLS_API const char *dls_nearest_hint(const dls_nearest *nearest, char *text, size_t text_size);

#ifdef __cplusplus
}
#endif
#endif
