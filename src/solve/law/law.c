/* The table of local laws, their options, and one visit of one contact. */
#include "solve/law/law.h"
#include "base/error.h"
#include "base/field.h"
#include "base/memory.h"
#include "base/small.h"
#include "solve/fields.h"
#include "solve/registry.h"

#include <ctype.h>

enum { MAX_REGISTERED = 16, MAX_NAME = DLS_NAME_SIZE - 1, STACK_DATA = 64 };

static const dls_law *const built_in[] = {&dls_law_sbp,   &dls_law_sal,   &dls_law_ebp,  &dls_law_eal,
                                          &dls_law_epdas, &dls_law_ipdas, &dls_law_exact};
enum { BUILT_IN = sizeof built_in / sizeof built_in[0] };

static dls_law registered[MAX_REGISTERED]; /* free where there is no solve function */

/* Rows of users in the order of their places, which they keep; NULL beyond the last. Under the lock. */
static dls_law *registered_at(int index) {
    for (int k = 0; k < MAX_REGISTERED; k++)
        if (registered[k].solve && index-- == 0) return &registered[k];
    return NULL;
}

static const dls_law *find(const char *name) {
    for (int i = 0; i < BUILT_IN; i++)
        if (!strcmp(built_in[i]->name, name)) return built_in[i];
    for (int k = 0; k < MAX_REGISTERED; k++)
        if (registered[k].solve && !strcmp(registered[k].name, name)) return &registered[k];
    return NULL;
}

int dls_law_count(void) {
    int count = 0;
    dls_registry_lock();
    while (registered_at(count)) count++;
    dls_registry_unlock();
    return BUILT_IN + count;
}

const dls_law *dls_law_at(int index) {
    if (index < BUILT_IN) return index < 0 ? NULL : built_in[index];
    dls_registry_lock();
    const dls_law *law = registered_at(index - BUILT_IN);
    dls_registry_unlock();
    return law;
}

const dls_law *dls_law_find(const char *name) {
    if (!name) return NULL;
    dls_registry_lock();
    const dls_law *law = find(name);
    dls_registry_unlock();
    return law;
}

/* ---- registration ----------------------------------------------------------------------------------------
 */

static int no_data_size(int d) {
    (void)d;
    return 0;
}

static void no_prepare(const dls_law_options *options, int d, const double *W, double mu, double *data) {
    (void)options, (void)d, (void)W, (void)mu, (void)data;
}

/* Names are typed on command lines, in lists: lower-case letters, digits, '-' and '_'. */
static bool is_good_name(const char *name) {
    size_t length = name ? strlen(name) : 0;
    for (size_t i = 0; i < length; i++)
        if (!islower((unsigned char)name[i]) && !isdigit((unsigned char)name[i]) && !strchr("-_", name[i]))
            return false;
    return length > 0 && length <= MAX_NAME;
}

static dls_status check_row(const dls_law *law, dls_error *error) {
    if (!law || !law->solve) return dls_fail(error, DLS_ERROR_ARGUMENT, "law: a solve function is needed");
    if (!is_good_name(law->name))
        return dls_fail(error, DLS_ERROR_ARGUMENT,
                        "law: '%.40s' is no name; expected 1 to %d lower-case letters, digits, '-' or '_'",
                        law->name ? law->name : "", MAX_NAME);
    if (!law->cone_data_size != !law->solve_cone || !law->prepare_cone != !law->solve_cone)
        return dls_fail(error, DLS_ERROR_ARGUMENT,
                        "law '%s': cone_data_size, prepare_cone and solve_cone come together or not at all",
                        law->name);
    if (!law->data_size != !law->prepare)
        return dls_fail(error, DLS_ERROR_ARGUMENT,
                        "law '%s': data_size and prepare come together or not at all", law->name);
    return DLS_OK;
}

static dls_status add(const dls_law *law, dls_error *error) {
    dls_law *row = registered;
    if (find(law->name)) return dls_fail(error, DLS_ERROR_ARGUMENT, "law '%s': the name is taken", law->name);
    while (row < registered + MAX_REGISTERED && row->solve) row++;
    if (row == registered + MAX_REGISTERED)
        return dls_fail(error, DLS_ERROR_ARGUMENT, "law '%s': the table is full, %d laws are registered",
                        law->name, MAX_REGISTERED);
    *row = *law;
    if (!row->summary) row->summary = "";
    if (!row->data_size) {
        row->data_size = no_data_size;
        row->prepare = no_prepare;
    }
    return DLS_OK;
}

dls_status dls_law_register(const dls_law *law, dls_error *error) {
    dls_error_clear(error);
    dls_status status = check_row(law, error);
    if (status) return status;
    dls_registry_lock();
    status = add(law, error);
    dls_registry_unlock();
    return status;
}

static dls_status take_out(const char *name, dls_error *error) {
    const dls_law *law = find(name);
    if (!law) return dls_fail(error, DLS_ERROR_ARGUMENT, "no law '%.60s' is registered", name);
    int place = 0;
    while (place < MAX_REGISTERED && law != &registered[place]) place++;
    if (place == MAX_REGISTERED)
        return dls_fail(error, DLS_ERROR_ARGUMENT, "law '%s' is built in and stays", name);
    if (dls_registry_is_solving())
        return dls_fail(error, DLS_ERROR_ARGUMENT, "law '%s' cannot go while a solve runs", name);
    registered[place] = (dls_law){.name = NULL};
    return DLS_OK;
}

dls_status dls_law_unregister(const char *name, dls_error *error) {
    dls_error_clear(error);
    if (!name) return dls_fail(error, DLS_ERROR_ARGUMENT, "the name of a law is needed");
    dls_registry_lock();
    dls_status status = take_out(name, error);
    dls_registry_unlock();
    return status;
}

/* ---- options ----------------------------------------------------------------------------------------------
 */

dls_law_options dls_default_law_options(void) {
    return (dls_law_options){
        .rho_scale = 1,
        .local_tolerance = 1e-12,
        .local_iterations = 15,
        .pdas_iterations = 1,
        .safeguard = true,
    };
}

static const dls_field fields[] = {DLS_LAW_FIELDS(dls_law_options, )};

enum { FIELD_COUNT = sizeof fields / sizeof fields[0] };

const dls_field *dls_law_fields(int *count) {
    if (count) *count = FIELD_COUNT;
    return fields;
}

dls_status dls_law_options_check(const dls_law_options *options, dls_error *error) {
    return dls_field_check(fields, FIELD_COUNT, options, error);
}

/* λmax of the symmetric part of A = q I + p C: 2 × 2 by its characteristic polynomial, 3 × 3 by the angle of
 * det C/2 (C has trace 0 and |C|² = 6), larger ones by rotations. */
double dls_law_max_eigenvalue(int d, const double *A, int lead) {
    double S[3][3], q = 0, spread = 0;
    if (d > 3) return small_max_eigenvalue(d, A, lead);
    for (int i = 0; i < d; i++) q += A[i + lead * i] / d;
    for (int i = 0; i < d; i++)
        for (int j = 0; j < d; j++) {
            S[i][j] = 0.5 * (A[i + lead * j] + A[j + lead * i]) - (i == j ? q : 0);
            spread += S[i][j] * S[i][j];
        }
    if (d < 3) return q + sqrt(spread / 2);
    double p = sqrt(spread / 6);
    if (!(p > 0)) return q;
    double det = S[0][0] * (S[1][1] * S[2][2] - S[1][2] * S[1][2]) -
                 S[0][1] * (S[0][1] * S[2][2] - S[1][2] * S[0][2]) +
                 S[0][2] * (S[0][1] * S[1][2] - S[1][1] * S[0][2]);
    return q + 2 * p * cos(acos(fmax(-1, fmin(1, det / (2 * p * p * p)))) / 3);
}

double dls_law_rho(const dls_law_options *options, int d, const double *W) {
    return options->rho > 0 ? options->rho : options->rho_scale / dls_law_max_eigenvalue(d, W, d);
}

int dls_law_rho_size(int d) {
    (void)d;
    return 1;
}

void dls_law_rho_prepare(const dls_law_options *options, int d, const double *W, double mu, double *data) {
    (void)mu;
    data[0] = dls_law_rho(options, d, W);
}

/* ---- one visit --------------------------------------------------------------------------------------------
 */

static dls_status check_numbers(const char *name, int count, const double *x, dls_error *error) {
    if (!x) return dls_fail(error, DLS_ERROR_ARGUMENT, "law: %s is NULL, expected %d numbers", name, count);
    for (int i = 0; i < count; i++)
        if (!isfinite(x[i]))
            return dls_fail(error, DLS_ERROR_INPUT, "law: %s[%d] is %g, expected a finite number", name, i,
                            x[i]);
    return DLS_OK;
}

static dls_status check_mu(double mu, dls_error *error) {
    if (mu >= 0 && isfinite(mu)) return DLS_OK;
    return dls_fail(error, DLS_ERROR_INPUT, "law: mu is %g, expected a number of at least 0", mu);
}

static dls_status check_diagonal(int d, const double *W, dls_error *error) {
    for (int i = 0; i < d; i++)
        if (!(W[i + d * i] > 0))
            return dls_fail(error, DLS_ERROR_INPUT, "law: W[%d][%d] is %g, expected a positive number", i, i,
                            W[i + d * i]);
    return DLS_OK;
}

/* A visit with W prepared: of Coulomb's law where that is given, of a cone with parts else. */
static dls_status visit(const dls_law *law, const dls_law_options *options, const dls_cone *cone, bool plain,
                        const double *W, const double *b, double *r, dls_contact_state *reached,
                        dls_error *error) {
    double stack[STACK_DATA], *data = stack;
    int size = plain ? law->data_size(cone->d) : law->cone_data_size(cone->d);
    if (size > STACK_DATA && !(data = DLS_NEW(double, size))) return dls_fail_memory(error);
    if (plain) {
        law->prepare(options, cone->d, W, cone->mu[0], data);
        *reached = law->solve(options, cone->d, W, cone->mu[0], data, b, r);
    } else {
        law->prepare_cone(options, cone, W, data);
        *reached = law->solve_cone(options, cone, W, data, b, r);
    }
    if (data != stack) dls_free(data);
    return DLS_OK;
}

static dls_status apply(const dls_law *law, const dls_law_options *options, const dls_cone *cone, bool plain,
                        const double *W, const double *b, double *r, double *u, dls_contact_state *state,
                        dls_error *error) {
    dls_law_options chosen = options ? *options : dls_default_law_options();
    dls_contact_state reached = DLS_UNSOLVED;
    int d = cone->d;
    chosen.user = law->user;
    dls_status status = dls_law_options_check(&chosen, error);
    if (!status) status = check_numbers("W", d * d, W, error);
    if (!status) status = check_numbers("b", d, b, error);
    if (!status) status = check_numbers("r", d, r, error);
    if (!status) status = check_diagonal(d, W, error);
    if (!status) status = visit(law, &chosen, cone, plain, W, b, r, &reached, error);
    if (status) return status;
    if (state) *state = reached;
    if (u) {
        memcpy(u, b, sizeof(double) * (size_t)d);
        small_multiply_add(d, W, r, u);
    }
    return DLS_OK;
}

dls_status dls_law_apply(const dls_law *law, const dls_law_options *options, int d, const double *W,
                         double mu, const double *b, double *r, double *u, dls_contact_state *state,
                         dls_error *error) {
    dls_error_clear(error);
    if (!law || !law->solve) return dls_fail(error, DLS_ERROR_ARGUMENT, "law: none given, see dls_law_find");
    if (d < 2 || d > LAW_MAX)
        return dls_fail(error, DLS_ERROR_ARGUMENT, "law: a contact of %d rows, expected 2, 3 or 4", d);
    dls_cone cone = {d, 1, {d - 1, 0, 0}, {mu, 0, 0}};
    dls_status status = check_mu(mu, error);
    return status ? status : apply(law, options, &cone, true, W, b, r, u, state, error);
}

dls_status dls_law_apply_cone(const dls_law *law, const dls_law_options *options, const dls_cone *cone,
                              const double *W, const double *b, double *r, double *u,
                              dls_contact_state *state, dls_error *error) {
    dls_error_clear(error);
    if (!law || !law->solve) return dls_fail(error, DLS_ERROR_ARGUMENT, "law: none given, see dls_law_find");
    if (!law->solve_cone)
        return dls_fail(error, DLS_ERROR_ARGUMENT,
                        "law '%s' knows contacts with one tangential part of friction", law->name);
    int rows = 1;
    dls_status status = DLS_OK;
    for (int k = 0; cone && k < 3 && k < cone->count && !status; k++) {
        rows += cone->size[k];
        status = check_mu(cone->mu[k], error);
    }
    if (!status && (!cone || cone->count < 1 || cone->count > 3 || cone->d != rows || rows > DLS_MAX_BLOCK))
        return dls_fail(
            error, DLS_ERROR_ARGUMENT,
            "law: a cone of %d rows in %d parts, expected 1 to 3 parts and one row more than theirs",
            cone ? cone->d : 0, cone ? cone->count : 0);
    return status ? status : apply(law, options, cone, false, W, b, r, u, state, error);
}
