/* What a run should be warned of while it goes on: bodies that are born into others, deep penetrations,
 * driven bodies that go through each other, and friction that gives energy instead of taking it. */
#ifndef CLI_RUN_WATCH_H
#define CLI_RUN_WATCH_H

#include <delassus/collide.h>
#include <delassus/integrate.h>

enum { MOST_BORN_INTO = 5, WATCHED_NAME = 80 };

/* Two bodies that lie in each other: when, and how deep then. */
typedef struct watched_overlap {
    double t, depth;
    char a[WATCHED_NAME], b[WATCHED_NAME];
} watched_overlap;

typedef struct run_watch {
    double smallest; /* radius of a moving body, INFINITY where none moves */
    int bodies;      /* that took part in the step before */
    int waiting_count;
    int known;            /* bodies that were looked at */
    dls_body_id *waiting; /* for their birth */
    int born_count;       /* bodies that were born into others; the first of them are kept */
    watched_overlap born[MOST_BORN_INTO];
    bool deep;
    watched_overlap first; /* the first that was deep */
    dls_body_id *given;    /* bodies whose motions are given: nothing keeps them apart */
    int given_count;
    dls_body_id (*inside)[2]; /* pairs of them that lay in each other from the start */
    int inside_count;
    watched_overlap through;   /* the first pair that did not, and does; depth 0: none */
    int64_t impacts, most;     /* struck in their order: all, and of one step */
    int left;                  /* steps that had more of them than they may */
    double kinetic, potential; /* largest energies, J */
    double friction, impact;   /* that they took until the step before */
    double taken, lost;        /* by friction and blows, and the most of that so far */
    double fed;                /* the most of what was taken and given back */
} run_watch;

/* 'name' or "body 7", of WATCHED_NAME letters at most. */
void watched_name(const dls_world *world, dls_body_id id, char *text);
void run_watch_begin(run_watch *watch, const dls_simulation *simulation);
void run_watch_step(run_watch *watch, const dls_step_report *step, const dls_simulation *simulation);
/* Lines on stderr; penetration: the worst of the run. */
void run_watch_tell(const run_watch *watch, double penetration);
void run_watch_release(run_watch *watch);

#endif
