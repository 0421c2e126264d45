/* Paper 002 (Abide, Barboteu, Cherkaoui, Dumont): its methods as settings of a scene, and what its four
 * experiments share.
 *
 * The paper's parameters γ, ρ and ε belong to forces and to the formal velocity (u⁺ + e u⁻)/(1 + e); the
 * solver's to impulses and to u⁺ + e u⁻. So γ and ρ are divided by (1 + e) and multiplied by the step, and ε
 * by the step. */
#ifndef EXPERIMENTS_ABIDE_ABIDE_H
#define EXPERIMENTS_ABIDE_ABIDE_H

#include "experiments/case.h"

typedef enum abide_method {
    ABIDE_EPDAS,
    ABIDE_IPDAS,
    ABIDE_SAL,
    ABIDE_IBP,
    ABIDE_METHODS,
    ABIDE_OURS = ABIDE_METHODS, /* the scene's own solver and scheme */
    ABIDE_ALL,
    ABIDE_OURS_CLOSED = ABIDE_ALL, /* the scene's own solver on the paper's scheme */
    ABIDE_EVERY
} abide_method;

const char *abide_name(int method); /* "EPDAS", …, "auto", "auto (closed)" */
const char *abide_key(int method);  /* "epdas", …, "auto": names of cases */

/* Expressions in the variables of the scene. */
typedef struct abide_parameters {
    const char *rho;       /* kg, of SAL and IBP; NULL: from each block, times rho_scale */
    double rho_scale;      /* of 1/λmax(W_cc) */
    const char *gamma_n;   /* kg, of EPDAS and IPDAS; NULL: 1/W_nn and 1/λmax(W_tt) */
    const char *gamma_t;   /* kg */
    const char *increment; /* N s: where |Δp_n| + |Δp_t| ends the sweeps */
} abide_parameters;

enum { ABIDE_MOST_SETTINGS = 24 };

typedef struct abide_settings {
    int count;
    char text[ABIDE_MOST_SETTINGS][96];
    const char *list[ABIDE_MOST_SETTINGS];
} abide_settings;

void abide_set(abide_settings *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The method as the paper has it: plain sweeps from zero impulses that stop on increments, with restitution
 * in every step. Nothing for ABIDE_OURS, restitution alone for ABIDE_OURS_CLOSED. */
void abide_choose(abide_settings *s, int method, const abide_parameters *p);

/* What a run of quick steps takes when nothing else runs: its fastest whole row, times rows. */
double abide_undisturbed(const case_history *h, int own_column);

/* What each of the paper's methods took, seed by seed. */
typedef struct abide_costs {
    double of[ABIDE_METHODS][EXPERIMENT_MOST_SEEDS];
} abide_costs;

/* Claims on the order of times: PDAS is the mean of EPDAS and IPDAS, whose difference in the paper is less
 * than times repeat to. */
void abide_claim_times(claim_list *list, const char *text, const double paper[ABIDE_METHODS],
                       const abide_costs *ours, int seeds);
/* The same of numbers of sweeps. */
void abide_claim_sweeps(claim_list *list, const char *text, const double paper[ABIDE_METHODS],
                        const abide_costs *ours, int seeds);

/* The same of exponents with which times grow. */
void abide_claim_growth(claim_list *list, const char *text, const double paper[ABIDE_METHODS],
                        const abide_costs *ours, int seeds);

/* A column of a history against its time, each row added to those before where cumulative; for figures.
 * count values in x and y, which are freed by the caller. */
void abide_curve(const case_history *h, int column, bool cumulative, double **x, double **y);

#endif
