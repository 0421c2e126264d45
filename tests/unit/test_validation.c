/* Everything that comes into a problem is checked; each refusal says what, where and what was expected. */
#include "support/allocator.h"
#include "support/sample.h"
#include "support/test.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Two contacts and a bilateral block of two rows, on two bodies; good until a case spoils it. */
enum { BLOCKS = 3, ROWS = 8, DOF = 3, BODIES = 2 };

typedef struct input {
    dls_problem_def def;
    int size[BLOCKS];
    uint8_t kind[BLOCKS];
    double mu[BLOCKS], b[ROWS];
    dls_csr W;
    int64_t start[ROWS + 1];
    int column[ROWS * ROWS];
    double value[ROWS * ROWS];
    dls_bodies bodies;
    double inverse_mass[BODIES * DOF * DOF], H[2 * ROWS * DOF];
    int body[2 * BLOCKS];
    const dls_problem_def *def_pointer;
    const dls_csr *W_pointer;
    const dls_bodies *bodies_pointer;
} input;

static void fill_input(input *in) {
    *in = (input){.size = {3, 3, 2}, .kind = {DLS_CONTACT, DLS_CONTACT, DLS_INTERVAL}, .mu = {0.5, 0, -1}};
    for (int i = 0; i < ROWS; i++) {
        in->b[i] = -1 - i;
        in->start[i + 1] = (i + 1) * ROWS;
        for (int j = 0; j < ROWS; j++) {
            in->column[i * ROWS + j] = j;
            in->value[i * ROWS + j] = i == j ? 4 : 0.25;
        }
    }
    for (int k = 0; k < BODIES; k++)
        for (int i = 0; i < DOF; i++) in->inverse_mass[k * DOF * DOF + i * (DOF + 1)] = 2;
    for (int k = 0; k < 2 * ROWS * DOF; k++) in->H[k] = sin(k + 1);
    const int body[] = {-1, 0, 0, 1, 1, -1};
    memcpy(in->body, body, sizeof body);
    in->def = (dls_problem_def){.block_count = BLOCKS,
                                .dimension = 3,
                                .block_size = in->size,
                                .block_kind = in->kind,
                                .mu = in->mu,
                                .b = in->b};
    in->W = (dls_csr){ROWS, ROWS, in->start, in->column, in->value};
    in->bodies = (dls_bodies){BODIES, DOF, in->inverse_mass, in->body, in->H};
    in->def_pointer = &in->def;
    in->W_pointer = &in->W;
    in->bodies_pointer = &in->bodies;
}

static dls_status create(const input *in, bool stored, dls_problem **problem, dls_error *error) {
    return stored ? dls_problem_create(in->def_pointer, in->W_pointer, problem, error)
                  : dls_problem_create_bodies(in->def_pointer, in->bodies_pointer, problem, error);
}

/* A case is a statement that spoils the input; both operators, or one. */
typedef struct spoiled {
    void (*spoil)(input *in);
    dls_status status;
    const char *said;
} spoiled;

#define SPOIL(name, ...)                                                                                     \
    static void name(input *in) { __VA_ARGS__; }

static void check_refusals(const spoiled *cases, int count, bool stored) {
    for (int i = 0; i < count; i++) {
        input in;
        dls_error error = {DLS_OK, ""};
        int unset;
        dls_problem *problem = (dls_problem *)(void *)&unset;
        fill_input(&in);
        cases[i].spoil(&in);
        counting_begin(0);
        dls_status status = create(&in, stored, &problem, &error);
        int leaked = counting_end();
        if (status != cases[i].status || !strstr(error.message, cases[i].said))
            fail_msg("expected status %d and '%s', got %d and '%s'", (int)cases[i].status, cases[i].said,
                     (int)status, error.message);
        assert_int_equal(error.status, status);
        assert_null(problem);
        assert_int_equal(leaked, 0);
        assert_null(strchr(error.message, '\n'));
        assert_int_equal(create(&in, stored, &problem, NULL), status); /* nobody has to listen */
    }
}

/* ---- what every problem has ---- */

SPOIL(no_def, in->def_pointer = NULL)
SPOIL(negative_count, in->def.block_count = -1)
SPOIL(dimension_0, in->def.block_size = NULL; in->def.dimension = 0)
SPOIL(dimension_5, in->def.block_size = NULL; in->def.dimension = 5)
SPOIL(no_mu, in->def.mu = NULL)
SPOIL(no_b, in->def.b = NULL)
SPOIL(kind_2, in->kind[1] = 2)
static const uint8_t parts_of_4[BLOCKS] = {DLS_PARTS(2, 1, 0), DLS_PARTS(2, 0, 0)};
static const uint8_t spun_twice[BLOCKS] = {DLS_PARTS(0, 0, 2), DLS_PARTS(2, 0, 0)};
static const uint8_t rolled_thrice[BLOCKS] = {DLS_PARTS(0, 3, 0), DLS_PARTS(2, 0, 0)};
static const uint8_t planar_rolling[BLOCKS] = {DLS_PARTS(1, 1, 0), DLS_PARTS(1, 0, 1)};
static const double lengths[BLOCKS] = {0.1, 0.1, 0}, negative_length[BLOCKS] = {-0.1, 0.1, 0},
                    no_length[BLOCKS] = {0.1, (double)NAN, 0};
static const double ones[ROWS] = {1, 1, 1, 1, 1, 1, 1, 1}, zeros[ROWS] = {0};
static const double no_bound[ROWS] = {0, 0, 0, 0, 0, 0, 0, (double)NAN};

SPOIL(too_many_rows_for_parts, in->def.block_parts = parts_of_4; in->def.mu_rolling = lengths)
SPOIL(two_spinning_rows, in->def.block_parts = spun_twice; in->def.mu_spinning = lengths)
SPOIL(three_rolling_rows, in->def.block_parts = rolled_thrice; in->def.mu_rolling = lengths)
SPOIL(no_mu_rolling, in->def.block_parts = planar_rolling; in->def.mu_spinning = lengths)
SPOIL(mu_rolling_negative, in->def.block_parts = planar_rolling; in->def.mu_rolling = negative_length;
      in->def.mu_spinning = lengths)
SPOIL(mu_spinning_nan, in->def.block_parts = planar_rolling; in->def.mu_rolling = lengths;
      in->def.mu_spinning = no_length)
SPOIL(bounds_swapped, in->def.low = ones; in->def.high = zeros)
SPOIL(bound_nan, in->def.high = no_bound)
SPOIL(contact_of_5, in->size[0] = 5)
SPOIL(contact_of_0, in->size[0] = 0)
SPOIL(contact_of_minus_3, in->size[0] = -3)
SPOIL(bilateral_of_0, in->size[2] = 0)
SPOIL(bilateral_of_7, in->size[2] = 7)
SPOIL(mu_negative, in->mu[1] = -0.1)
SPOIL(mu_nan, in->mu[0] = (double)NAN)
SPOIL(mu_infinite, in->mu[0] = (double)INFINITY)
SPOIL(b_nan, in->b[4] = (double)NAN)
SPOIL(b_infinite, in->b[7] = -(double)INFINITY)
SPOIL(reference_negative, in->def.reference_velocity = -1)
SPOIL(reference_nan, in->def.reference_velocity = (double)NAN)
SPOIL(reference_infinite, in->def.reference_velocity = (double)INFINITY)

/* Of each block: speeds, and inverse masses where it is bilateral. */
static const double backward[BLOCKS] = {1, -2, 3}, endless[BLOCKS] = {0, 0, (double)INFINITY},
                    weightless[BLOCKS] = {-1, 0, 0}, unknown[BLOCKS] = {1, 1, (double)NAN};

SPOIL(speed_negative, in->def.speed = backward)
SPOIL(speed_infinite, in->def.speed = endless)
SPOIL(inverse_mass_zero, in->def.block_inverse_mass = weightless)
SPOIL(inverse_mass_nan, in->def.block_inverse_mass = unknown)

static void definitions(void **state) {
    (void)state;
    static const spoiled cases[] = {
        {no_def, DLS_ERROR_ARGUMENT, "definition"},
        {negative_count, DLS_ERROR_INPUT, "block count is -1"},
        {dimension_0, DLS_ERROR_INPUT, "dimension is 0, expected 1, 2, 3 or 4"},
        {dimension_5, DLS_ERROR_INPUT, "dimension is 5"},
        {no_mu, DLS_ERROR_ARGUMENT, "friction coefficients"},
        {no_b, DLS_ERROR_ARGUMENT, "velocities"},
        {kind_2, DLS_ERROR_INPUT, "block 1 has kind 2"},
        {contact_of_5, DLS_ERROR_INPUT, "block 0, a contact, has 5 rows, expected 1 to 4"},
        {contact_of_0, DLS_ERROR_INPUT, "block 0, a contact, has 0 rows"},
        {contact_of_minus_3, DLS_ERROR_INPUT, "block 0, a contact, has -3 rows"},
        {too_many_rows_for_parts, DLS_ERROR_INPUT,
         "contact 0 has 3 rows and parts of 3, expected one row more"},
        {two_spinning_rows, DLS_ERROR_INPUT, "contact 0 has parts of 0, 0 and 2 rows, expected at most 3"},
        {three_rolling_rows, DLS_ERROR_INPUT, "contact 0 has parts of 0, 3 and 0 rows"},
        {no_mu_rolling, DLS_ERROR_ARGUMENT,
         "contact 0 has a part of friction that rolling friction is needed"},
        {mu_rolling_negative, DLS_ERROR_INPUT, "rolling friction of contact 0 is -0.1, expected 0 or more"},
        {mu_spinning_nan, DLS_ERROR_INPUT, "spinning friction of contact 1 is nan"},
        {bounds_swapped, DLS_ERROR_INPUT,
         "row 0 of interval block 2 has the bounds 1 and 0, expected low ≤ high"},
        {bound_nan, DLS_ERROR_INPUT, "row 1 of interval block 2 has the bounds -inf and nan"},
        {bilateral_of_0, DLS_ERROR_INPUT, "block 2 has 0 rows, expected 1 to 6"},
        {bilateral_of_7, DLS_ERROR_INPUT, "block 2 has 7 rows"},
        {mu_negative, DLS_ERROR_INPUT, "friction coefficient of contact 1 is -0.1, expected 0 or more"},
        {mu_nan, DLS_ERROR_INPUT, "contact 0 is nan"},
        {mu_infinite, DLS_ERROR_INPUT, "contact 0 is inf"},
        {b_nan, DLS_ERROR_INPUT, "b[4] is nan, expected a finite number"},
        {b_infinite, DLS_ERROR_INPUT, "b[7] is -inf"},
        {reference_negative, DLS_ERROR_INPUT, "reference velocity is -1"},
        {speed_negative, DLS_ERROR_INPUT, "speed of block 1 is -2, expected 0 or more"},
        {speed_infinite, DLS_ERROR_INPUT, "speed of block 2 is inf"},
        {inverse_mass_zero, DLS_ERROR_INPUT, "inverse mass of interval block 2 is 0, expected > 0"},
        {inverse_mass_nan, DLS_ERROR_INPUT, "inverse mass of interval block 2 is nan"},
        {reference_nan, DLS_ERROR_INPUT, "reference velocity is nan"},
        {reference_infinite, DLS_ERROR_INPUT, "reference velocity is inf"},
    };
    for (int stored = 0; stored < 2; stored++) check_refusals(cases, sizeof cases / sizeof *cases, stored);
}

/* ---- stored W ---- */

static void scale_block(input *in, int first, int size, double factor) {
    for (int i = first; i < first + size; i++)
        for (int j = first; j < first + size; j++) in->value[i * ROWS + j] *= factor;
}

SPOIL(no_W, in->W_pointer = NULL)
SPOIL(no_start, in->W.start = NULL)
SPOIL(no_column, in->W.column = NULL)
SPOIL(no_value, in->W.value = NULL)
SPOIL(wrong_rows, in->W.rows = ROWS - 1)
SPOIL(wrong_columns, in->W.columns = ROWS + 1)
SPOIL(start_not_0, in->start[0] = 1)
SPOIL(start_decreases, in->start[3] = 2)
SPOIL(column_negative, in->column[5] = -1)
SPOIL(column_beyond, in->column[ROWS * ROWS - 1] = ROWS)
SPOIL(entry_nan, in->value[10] = (double)NAN)
SPOIL(entry_infinite, in->value[0] = (double)INFINITY)
SPOIL(block_zero, scale_block(in, 3, 3, 0))
SPOIL(block_negative, scale_block(in, 0, 3, -1))
SPOIL(block_indefinite, in->value[1] = in->value[ROWS] = 9)
SPOIL(block_negative_direction, in->value[ROWS + 1] = -1)
SPOIL(bilateral_zero_row, scale_block(in, 7, 1, 0))
SPOIL(bilateral_indefinite, in->value[6 * ROWS + 7] = in->value[7 * ROWS + 6] = 5)
SPOIL(block_overflows, in->value[0] = in->value[ROWS + 1] = DBL_MAX)
SPOIL(duplicates_overflow, in->value[1] = in->value[2] = DBL_MAX; in->column[2] = 1)
SPOIL(far_duplicates_overflow, in->value[6] = in->value[7] = DBL_MAX; in->column[7] = 6)

static void stored_matrices(void **state) {
    (void)state;
    static const spoiled cases[] = {
        {no_W, DLS_ERROR_ARGUMENT, "matrix W"},
        {no_start, DLS_ERROR_ARGUMENT, "matrix W"},
        {no_column, DLS_ERROR_ARGUMENT, "columns and values"},
        {no_value, DLS_ERROR_ARGUMENT, "columns and values"},
        {wrong_rows, DLS_ERROR_INPUT, "W is 7 × 8, expected 8 × 8"},
        {wrong_columns, DLS_ERROR_INPUT, "W is 8 × 9, expected 8 × 8"},
        {start_not_0, DLS_ERROR_INPUT, "starts at 1, expected 0"},
        {start_decreases, DLS_ERROR_INPUT, "row 2 of W ends before it starts"},
        {column_negative, DLS_ERROR_INPUT, "column index -1 of W's entry 5 is out of range, expected 0 … 7"},
        {column_beyond, DLS_ERROR_INPUT, "column index 8 of W's entry 63"},
        {entry_nan, DLS_ERROR_INPUT, "W's entry 10 is nan"},
        {entry_infinite, DLS_ERROR_INPUT, "W's entry 0 is inf"},
        {block_zero, DLS_ERROR_INPUT, "diagonal block of contact 1 has trace 0"},
        {block_negative, DLS_ERROR_INPUT, "diagonal block of contact 0 has trace -12"},
        {block_indefinite, DLS_ERROR_INPUT, "diagonal block of contact 0 is indefinite"},
        {block_negative_direction, DLS_ERROR_INPUT, "contact 0 is indefinite"},
        {bilateral_zero_row, DLS_ERROR_INPUT, "row 1 of interval block 2 is 0"},
        {bilateral_indefinite, DLS_ERROR_INPUT, "diagonal block of interval block 2 is indefinite"},
        {block_overflows, DLS_ERROR_INPUT, "diagonal block of contact 0"},
        {duplicates_overflow, DLS_ERROR_INPUT, "finite"},
        {far_duplicates_overflow, DLS_ERROR_INPUT, "finite"},
    };
    check_refusals(cases, sizeof cases / sizeof *cases, true);
}

/* ---- bodies ---- */

SPOIL(no_bodies, in->bodies_pointer = NULL)
SPOIL(bodies_negative, in->bodies.body_count = -1)
SPOIL(dof_0, in->bodies.body_dof = 0)
SPOIL(dof_13, in->bodies.body_dof = 13)
SPOIL(no_mass, in->bodies.inverse_mass = NULL)
SPOIL(no_body, in->bodies.body = NULL)
SPOIL(no_H, in->bodies.H = NULL)
SPOIL(body_below, in->body[2] = -2)
SPOIL(body_beyond, in->body[5] = BODIES)
SPOIL(H_nan, in->H[9] = (double)NAN)
SPOIL(mass_nan, in->inverse_mass[DOF * DOF] = (double)NAN)
SPOIL(mass_negative, in->inverse_mass[0] = -2)
SPOIL(mass_indefinite, in->inverse_mass[1] = in->inverse_mass[DOF] = 3)
SPOIL(mass_hollow, in->inverse_mass[0] = 0; in->inverse_mass[1] = in->inverse_mass[DOF] = 0.5)
SPOIL(mass_unsymmetric, in->inverse_mass[1] = 0.5)
SPOIL(touches_nothing, in->body[1] = -1)
SPOIL(all_locked, memset(in->inverse_mass, 0, sizeof in->inverse_mass))
SPOIL(H_overflows, in->H[0] = in->H[9] = 1e200)

static void bodies(void **state) {
    (void)state;
    static const spoiled cases[] = {
        {no_bodies, DLS_ERROR_ARGUMENT, "bodies are needed"},
        {bodies_negative, DLS_ERROR_INPUT, "-1 bodies"},
        {dof_0, DLS_ERROR_INPUT, "0 freedoms, expected 0 or more bodies of 1 to 12"},
        {dof_13, DLS_ERROR_INPUT, "13 freedoms"},
        {no_mass, DLS_ERROR_ARGUMENT, "inverse masses"},
        {no_body, DLS_ERROR_ARGUMENT, "bodies of contacts"},
        {no_H, DLS_ERROR_ARGUMENT, "H are needed"},
        {body_below, DLS_ERROR_INPUT, "body -2 of block 1 is out of range"},
        {body_beyond, DLS_ERROR_INPUT, "body 2 of block 2 is out of range, expected −1 … 1"},
        {H_nan, DLS_ERROR_INPUT, "H's entry 9 is nan"},
        {mass_nan, DLS_ERROR_INPUT, "inverse mass of body 1"},
        {mass_negative, DLS_ERROR_INPUT, "inverse mass of body 0"},
        {mass_indefinite, DLS_ERROR_INPUT, "inverse mass of body 0"},
        {mass_hollow, DLS_ERROR_INPUT, "inverse mass of body 0"},
        {mass_unsymmetric, DLS_ERROR_INPUT, "inverse mass of body 0"},
        {touches_nothing, DLS_ERROR_INPUT, "diagonal block of contact 0 has trace 0"},
        {all_locked, DLS_ERROR_INPUT, "diagonal block of contact 0 has trace 0"},
        {H_overflows, DLS_ERROR_INPUT, "diagonal block of contact 0"},
    };
    check_refusals(cases, sizeof cases / sizeof *cases, false);
}

/* ---- what is accepted, though it looks odd ---- */

static void accepted(input *in, bool stored) {
    dls_problem *problem;
    dls_error error = {DLS_ERROR_FILE, "from before"};
    if (create(in, stored, &problem, &error)) fail_msg("%s", error.message);
    assert_non_null(problem);
    assert_int_equal(error.status, DLS_OK);
    assert_string_equal(error.message, "");
    dls_problem_destroy(problem);
}

static void odd_but_good(void **state) {
    (void)state;
    input in;
    for (int stored = 0; stored < 2; stored++) {
        fill_input(&in);
        accepted(&in, stored);
        in.mu[0] = 25; /* a friction coefficient above 1 */
        accepted(&in, stored);
        in.mu[2] = (double)NAN; /* of a bilateral block: not read */
        accepted(&in, stored);
        in.def.reference_velocity = 0.1;
        accepted(&in, stored);
    }
    fill_input(&in);
    in.value[1] = 0.3, in.value[ROWS] = -0.2; /* unsymmetric */
    accepted(&in, true);
    for (int k = 3; k < 6; k++)
        in.value[k * ROWS + 5] = in.value[5 * ROWS + k] = 0; /* a row without own effect */
    accepted(&in, true);
    fill_input(&in);
    for (int k = 0; k < DOF; k++) in.inverse_mass[k] = in.inverse_mass[DOF * k] = 0; /* a locked freedom */
    accepted(&in, false);
    in.bodies.H = in.H;
    in.body[4] = in.body[5] = 1; /* a body that touches itself */
    accepted(&in, false);
}

static void zero_contacts_are_a_problem(void **state) {
    (void)state;
    dls_problem_def def = dls_default_problem_def();
    const int64_t start[1] = {0};
    dls_csr W = {0}, with_start = {.start = start};
    dls_bodies none = {.body_dof = 6};
    dls_problem *problems[4] = {NULL};
    assert_int_equal(dls_problem_create(&def, &W, &problems[0], NULL), DLS_OK);
    assert_int_equal(dls_problem_create(&def, &with_start, &problems[1], NULL), DLS_OK);
    assert_int_equal(dls_problem_create_bodies(&def, &none, &problems[2], NULL), DLS_OK);
    assert_int_equal(dls_problem_assemble(problems[2], &problems[3], NULL), DLS_OK);
    for (int i = 0; i < 4; i++) {
        dls_problem *p = problems[i];
        int64_t rows[1] = {-1};
        dls_problem_facts facts;
        dls_measures measures;
        assert_int_equal(dls_problem_block_count(p), 0);
        assert_int_equal(dls_problem_contact_count(p), 0);
        assert_int_equal(dls_problem_row_count(p), 0);
        assert_int_equal(dls_problem_stored_blocks(p), 0);
        assert_int_equal(dls_problem_is_stored(p), i != 2);
        if (i != 2) {
            assert_int_equal(dls_problem_export(p, rows, NULL, NULL), 0);
            assert_int_equal(rows[0], 0);
        }
        assert_int_equal(dls_problem_velocity(p, NULL, NULL, NULL, NULL), DLS_OK);
        assert_int_equal(dls_problem_measure(p, NULL, NULL, &measures, NULL), DLS_OK);
        assert_true(measures.residual == 0 && measures.max_error == 0 && measures.eps_glob == 0);
        assert_int_equal(dls_problem_analyze(p, 100, &facts, NULL), DLS_OK);
        assert_true(isnan(facts.mu_low) && isnan(facts.condition));
        assert_true(dls_problem_memory(p) > 0);
        dls_problem_destroy(p);
    }
    dls_problem_destroy(NULL);
}

static void calls_without_objects(void **state) {
    (void)state;
    input in;
    dls_problem *p;
    dls_problem_facts facts;
    dls_measures measures;
    double r[ROWS] = {0}, u[ROWS];
    dls_error error;
    fill_input(&in);
    assert_int_equal(dls_problem_create(&in.def, &in.W, NULL, &error), DLS_ERROR_ARGUMENT);
    assert_int_equal(dls_problem_create_bodies(&in.def, &in.bodies, NULL, &error), DLS_ERROR_ARGUMENT);
    assert_int_equal(dls_problem_create(&in.def, &in.W, &p, NULL), DLS_OK);
    assert_int_equal(dls_problem_velocity(NULL, r, u, NULL, &error), DLS_ERROR_ARGUMENT);
    assert_int_equal(dls_problem_velocity(p, NULL, u, NULL, &error), DLS_ERROR_ARGUMENT);
    assert_int_equal(dls_problem_velocity(p, r, NULL, NULL, &error), DLS_ERROR_ARGUMENT);
    assert_int_equal(dls_problem_measure(NULL, r, u, &measures, &error), DLS_ERROR_ARGUMENT);
    assert_int_equal(dls_problem_measure(p, NULL, u, &measures, &error), DLS_ERROR_ARGUMENT);
    assert_int_equal(dls_problem_measure(p, r, u, NULL, &error), DLS_ERROR_ARGUMENT);
    assert_int_equal(dls_problem_analyze(NULL, 10, &facts, &error), DLS_ERROR_ARGUMENT);
    assert_int_equal(dls_problem_analyze(p, 10, NULL, &error), DLS_ERROR_ARGUMENT);
    assert_int_equal(dls_problem_assemble(NULL, &p, &error), DLS_ERROR_ARGUMENT);
    assert_int_equal(dls_problem_assemble(p, NULL, &error), DLS_ERROR_ARGUMENT);
    assert_true(strlen(error.message) > 0);
    dls_problem_destroy(p);
}

static void generators(void **state) {
    (void)state;
    dls_generate_def def = dls_default_generate_def();
    dls_problem *p;
    dls_error error;
    def.size = 0;
    assert_int_equal(dls_problem_generate(&def, &p, &error), DLS_ERROR_ARGUMENT);
    assert_non_null(strstr(error.message, "size is 0, expected 1"));
    assert_null(p);
    def.size = 10;
    def.kind = (dls_generator)9;
    assert_int_equal(dls_problem_generate(&def, &p, &error), DLS_ERROR_ARGUMENT);
    def.kind = DLS_GENERATE_STACK;
    def.mu = -1;
    assert_int_equal(dls_problem_generate(&def, &p, &error), DLS_ERROR_INPUT);
    assert_non_null(strstr(error.message, "friction is -1, expected 0 or more"));
    assert_null(p);
    assert_int_equal(dls_problem_generate(NULL, &p, &error), DLS_ERROR_ARGUMENT);
    assert_int_equal(dls_problem_generate(&def, NULL, &error), DLS_ERROR_ARGUMENT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(definitions),
        cmocka_unit_test(stored_matrices),
        cmocka_unit_test(bodies),
        cmocka_unit_test(odd_but_good),
        cmocka_unit_test(zero_contacts_are_a_problem),
        cmocka_unit_test(calls_without_objects),
        cmocka_unit_test(generators),
    };
    return cmocka_run_group_tests_name("validation", tests, NULL, NULL);
}
