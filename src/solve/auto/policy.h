/* The numbers by which auto decides, each with what it was measured on:
 *   public    the 24 public FCLib problems at 1e-4, 1e-6 and 1e-8
 *   heaps     10,000 random heaps of up to 30 bodies at 1e-8
 *   packings  generated discs and packings of up to 1,800 contacts, μ of 0.2 to 1.3
 *   filling   the template: 1000 spheres that come to rest in a container, at 1e-4
 *   stack     the template and six like it: a wall of boxes that a ball knocks over, 7,000 steps at 1e-6
 *   rolling   generated ones of 230 to 490 blocks with several parts of friction, μ of 0.5 and 0.8, at 1e-8
 *   towers    10 to 20 cubes at rest
 * Costs are flops, so that decisions are the same on every machine. */
#ifndef SOLVE_AUTO_POLICY_H
#define SOLVE_AUTO_POLICY_H

typedef struct auto_policy {
    /* from which number of blocks on sweeps and quasi-Newton go side by side */
    int many_alone; /* packings: below, the interior point is quicker */
    int many_step;  /* filling */

    /* sweeps */
    int first_check; /* public: sweeps before their rate is judged, and again each time they have doubled */
    double step_sweeps; /* stack: what sweeps of a step that make no progress count as */

    /* At rest the errors of a step come back three times: in the next velocities, in the gaps and in the warm
     * start. A mode of which solves leave the share ρ dies out by z³ = ρ(3z² − 3z + 1), that is for ρ < ½
     * only: sweeps of a step aim at a share of what the warm start left. */
    double aim_share;    /* towers */
    double aim_least;    /* towers: but at no less of the tolerance */
    double aim_rounding; /* towers: nor at less than this */

    /* sweeps and quasi-Newton side by side */
    int round_check;     /* filling: sweeps of the first round; each further one doubles them */
    int rounds;          /* filling */
    double round_sweeps; /* filling: sweeps that seem to need so many more are left to quasi-Newton */
    int pqn_iterations;  /* filling: of one round */
    int pqn_patience;    /* filling: iterations without progress */
    int lane_check;      /* filling: sweeps of the first round by lanes */
    int lane_rounds;     /* filling: of these */
    double lane_near;    /* filling: tolerances from which quasi-Newton finishes what lanes began */
    int lane_polish;     /* filling: its iterations */
    int starts;          /* filling: further ones, where lanes went round and round */
    double round_spent;  /* packings: what sweeps and quasi-Newton cost together, in sweeps */

    /* when to factor */
    double factorisations;      /* public: what the interior point and its polish usually take */
    double step_factorisations; /* stack: what Newton takes in a step, with what comes where it fails */
    double step_share; /* filling: in a step factorisations may cost so many times what sweeps have cost */

    /* the interior point */
    double ipm_accuracy; /* public: beyond it Newton is cheaper */
    double ipm_flops;    /* packings, uneven piles: beyond `factorisations` no more is spent on its path */
    int ipm_iterations;  /* packings: nor are more iterations */
    double near;         /* public: from here Newton is tried before it */

    /* Newton: the proximal parameter, and iterations */
    double alpha, alpha_polish; /* heaps; public: where the interior point, or many sweeps, came near */
    int polish, first, last;    /* public; stack: before the interior point in a step; public: after it */

    /* rising friction, where Newton was caught */
    double eased;                /* rolling: how well problems with a share of it are solved */
    double stride, least_stride; /* rolling: shares that it rises by */

    /* other starts, likewise */
    double restart_flops; /* stack: of all of them together */
    int restarts;         /* stack */
    int fresh_sweeps;     /* stack: of a start from r = 0, and so many more of each further one */
    double shaken_error;  /* packings: blocks are shaken whose error is more than that of the worst */
    double gentle, wild, progress; /* heaps: shares of the size of impulses; progress goes on unshaken */
} auto_policy;

static const auto_policy POLICY = {
    .many_alone = 1000,
    .many_step = 256,
    .first_check = 64,
    .step_sweeps = 3000,
    .aim_share = 0.1,
    .aim_least = 1e-3,
    .aim_rounding = 1e-12,
    .round_check = 128,
    .rounds = 7,
    .round_sweeps = 100,
    .pqn_iterations = 60,
    .pqn_patience = 4,
    .lane_check = 500,
    .lane_rounds = 3,
    .lane_near = 1.8,
    .lane_polish = 6,
    .starts = 24,
    .round_spent = 4,
    .factorisations = 25,
    .step_factorisations = 100,
    .step_share = 10,
    .ipm_accuracy = 1e-6,
    .ipm_flops = 2e11,
    .ipm_iterations = 100,
    .near = 2e-7,
    .alpha = 1e-2,
    .alpha_polish = 1e-3,
    .polish = 60,
    .first = 150,
    .last = 400,
    .eased = 1e-9,
    .stride = 0.25,
    .least_stride = 0.01,
    .restart_flops = 1e11,
    .restarts = 60,
    .fresh_sweeps = 64,
    .shaken_error = 0.1,
    .gentle = 0.2,
    .wild = 1,
    .progress = 0.2,
};

#endif
