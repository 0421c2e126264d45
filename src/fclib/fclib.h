/* Inside FCLib files: what the reader finds, and what is kept of it. */
#ifndef FCLIB_FCLIB_H
#define FCLIB_FCLIB_H

#include <delassus/fclib.h>

#include "base/sparse.h"
#include "fclib/h5.h"

#include <stdio.h>

/* The path of a member of a group. */
typedef struct member {
    char path[96];
} member;

static inline member in(const char *group, const char *name) {
    member m;
    snprintf(m.path, sizeof m.path, "%.60s/%.32s", group, name);
    return m;
}

/* The contacts that FCLib has words for: rows in the order n, tangential, rolling. */
typedef struct dls_fclib_layout {
    uint8_t parts; /* DLS_PARTS */
    int rows;      /* of each contact: spacedim */
    bool is_rolling, is_planar;
} dls_fclib_layout;

extern const dls_fclib_layout dls_fclib_layouts[4];
enum { DLS_FCLIB_LAYOUTS = sizeof dls_fclib_layouts / sizeof *dls_fclib_layouts };

/* "/fclib_local", "/fclib_global_rolling", … */
const char *dls_fclib_root(dls_fclib_form form, bool is_rolling);

/* The numbers of a file as they are stored.
 *   local:   u = W r + V l + q,   Vᵀ r + R l + s = 0
 *   global:  M v = H r + G l + f,  u = Hᵀ v + w,  Gᵀ v + b = 0 */
typedef struct dls_fclib_data {
    dls_fclib_form form;
    const dls_fclib_layout *layout;
    const char *root; /* the group that holds it */
    int contact_rows, equality_rows, freedoms;
    dls_triplets main, coupling, equality; /* W V R, or M H G */
    double *mu, *mu_rolling;               /* the latter of rolling layouts only */
    double *free_velocity;                 /* [q; s], or [w; b] */
    double *force;                         /* f of a global problem */
    double reference_velocity;
} dls_fclib_data;

void dls_fclib_data_free(dls_fclib_data *data);

/* v = M⁻¹ (A r + f) with A = [H G]: what a global problem keeps beyond its condensed form. */
typedef struct dls_fclib_motion {
    dls_factor *factor;
    dls_sparse A;
    double *force;
} dls_fclib_motion;

struct dls_fclib {
    dls_image image; /* the file itself, so that a rewritten one keeps all that it holds */
    dls_file_name name;
    dls_fclib_form form;
    const char *root;
    dls_problem *problem;
    int contact_rows, freedoms, bodies;
    bool as_stored;    /* asked for */
    bool has_triangle; /* one of M, and no more of it */
    char *title, *description, *math_info;
    double *solution;
    double **guesses;
    int guess_count;
    dls_fclib_motion motion;
};

/* Reads the numbers of an open file. */
dls_status dls_fclib_data_read(const dls_h5 *h5, dls_fclib_data *data);
/* Impulses and multipliers of the group where, in the order of the problem's rows; NULL where it has no r. */
dls_status dls_fclib_impulses_read(const dls_h5 *h5, const char *where, const dls_fclib_data *data,
                                   double **impulses);

/* Makes file->problem, condensing a global one; fills motion, freedoms and bodies. */
dls_status dls_fclib_build(dls_fclib *file, dls_fclib_data *data, dls_error *error);

/* The bytes of a file with this content. */
dls_status dls_fclib_encode(const dls_fclib_content *content, const char *name, dls_image *image,
                            dls_error *error);
/* The bytes of file with another solution. */
dls_status dls_fclib_encode_again(const dls_fclib *file, const double *r, const double *u, dls_image *image,
                                  dls_error *error);

#endif
