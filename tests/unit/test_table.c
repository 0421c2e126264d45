/* Tables of results that older versions wrote: columns that have grown since, and columns that came later. */
#include "output/results/table.h"
#include "support/test.h"

#include <math.h>

enum { ROWS = 3 };

typedef struct early_row {
    int64_t step;
    double first;
} early_row;

typedef struct late_row {
    int64_t step;
    double added, first;
} late_row;

static const dls_cell early_cells[] = {
    {"step", DLS_CELL_INT64, 1, offsetof(early_row, step), "1", DLS_RANGE_COUNT},
    {"first", DLS_CELL_DOUBLE, 1, offsetof(early_row, first), "1", DLS_RANGE_FINITE}};
static const dls_cell late_cells[] = {
    {"step", DLS_CELL_INT64, 1, offsetof(late_row, step), "1", DLS_RANGE_COUNT},
    {"added", DLS_CELL_DOUBLE, 1, offsetof(late_row, added), "1", DLS_RANGE_FINITE},
    {"first", DLS_CELL_DOUBLE, 1, offsetof(late_row, first), "1", DLS_RANGE_FINITE}};
static const dls_older late_older[] = {{1, "added", 0, NAN}};
static const dls_cell narrow_cell = {"", DLS_CELL_DOUBLE, 3, 0, "N s", DLS_RANGE_NEAR};
static const dls_cell wide_cell = {"", DLS_CELL_DOUBLE, 6, 0, "N s", DLS_RANGE_NEAR};
static const dls_older wide_older[] = {{1, "", 1, NAN}, {2, "", 3, 0}};

static const dls_table_layout early = {.path = "steps",
                                       .is_compound = true,
                                       .chunk = 4,
                                       .row_size = sizeof(early_row),
                                       .cell_count = 2,
                                       .cells = early_cells};
static const dls_table_layout late = {.path = "steps",
                                      .is_compound = true,
                                      .chunk = 4,
                                      .row_size = sizeof(late_row),
                                      .cell_count = 3,
                                      .cells = late_cells,
                                      .older_count = 1,
                                      .older = late_older};
static const dls_table_layout narrow = {
    .path = "impulse", .chunk = 4, .row_size = 3 * sizeof(double), .cell_count = 1, .cells = &narrow_cell};
static const dls_table_layout wide = {.path = "impulse",
                                      .chunk = 4,
                                      .row_size = 6 * sizeof(double),
                                      .cell_count = 1,
                                      .cells = &wide_cell,
                                      .older_count = 2,
                                      .older = wide_older};

static hid_t make_file(const dls_table_layout *layout, const void *rows) {
    dls_table table;
    hid_t file = H5Fcreate("table.h5", H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(file >= 0 && dls_table_create(&table, layout, file, layout->chunk, 1));
    assert_true(dls_table_append(&table, ROWS, rows));
    dls_table_close(&table);
    return file;
}

static void test_a_column_that_came_later_is_unknown(void **state) {
    (void)state;
    const early_row written[ROWS] = {{1, 10}, {2, 20}, {3, 30}};
    late_row read[ROWS];
    dls_table table;
    dls_fault fault;
    const char *what = NULL;
    hid_t file = make_file(&early, written);
    assert_true(dls_table_open(&table, &late, 1, file, &what));
    assert_int_equal(table.rows, ROWS);
    assert_true(dls_table_read(&table, 1, 2, read));
    for (int k = 0; k < 2; k++)
        assert_true(read[k].step == k + 2 && read[k].first == 10 * (k + 2) && isnan(read[k].added));
    assert_true(dls_table_check(&table, 2, read, &fault)); /* what a file has not cannot be wrong in it */
    dls_table_close(&table);
    assert_false(dls_table_open(&table, &late, 2, file, &what));
    assert_string_equal(what, "a column is missing or of another kind");
    H5Fclose(file);
}

static void test_a_column_that_grew_ends_in_what_was_not_there(void **state) {
    (void)state;
    const double written[ROWS][3] = {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}};
    double read[ROWS][6];
    dls_table table;
    dls_fault fault;
    const char *what = NULL;
    hid_t file = make_file(&narrow, written);
    assert_true(dls_table_open(&table, &wide, 2, file, &what));
    assert_int_equal(table.file_row_size, 3 * sizeof(double));
    assert_true(dls_table_read(&table, 0, ROWS, read) && dls_table_check(&table, ROWS, read, &fault));
    for (int row = 0; row < ROWS; row++)
        for (int k = 0; k < 6; k++) assert_true(read[row][k] == (k < 3 ? 3 * row + k + 1 : 0));
    read[1][2] = NAN;
    assert_false(dls_table_check(&table, ROWS, read, &fault));
    assert_int_equal(fault.row, 1);
    dls_table_close(&table);
    for (int version = 1; version <= 3; version += 2) {
        assert_false(dls_table_open(&table, &wide, version, file, &what));
        assert_string_equal(what, version == 1 ? "another number of extents" : "rows of another width");
    }
    H5Fclose(file);
}

static void test_what_is_written_now_has_all_columns(void **state) {
    (void)state;
    const double written[ROWS][6] = {{1, 2, 3, 4, 5, 6}, {7, 8, 9, 10, 11, 12}, {13}};
    double read[ROWS][6];
    dls_table table;
    const char *what = NULL;
    hid_t file = make_file(&wide, written);
    assert_true(dls_table_open(&table, &wide, 3, file, &what));
    assert_true(dls_table_read(&table, 0, ROWS, read));
    assert_memory_equal(read, written, sizeof read);
    dls_table_close(&table);
    assert_false(dls_table_open(&table, &wide, 2, file, &what));
    H5Fclose(file);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_column_that_came_later_is_unknown),
        cmocka_unit_test(test_a_column_that_grew_ends_in_what_was_not_there),
        cmocka_unit_test(test_what_is_written_now_has_all_columns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
