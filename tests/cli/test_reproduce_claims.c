/* Claims of reproduced experiments: a claim that does not hold is seen, whatever its kind. */
#include "experiments/reproduce.h"
#include "support/test.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static claim_verdict last_verdict(const claim_list *list) {
    return claim_judge(&list->items[list->count - 1]);
}

/* ---- one claim ---- */

static claim_verdict judge_equal(double paper, double ours, double tolerance) {
    claim_list list = {0};
    claim_equal(&list, CLAIM_PRINTED, "m", paper, ours, tolerance, "length %d", 1);
    assert_string_equal(list.items[0].text, "length 1");
    claim_verdict verdict = last_verdict(&list);
    claim_list_free(&list);
    return verdict;
}

static claim_verdict judge_bound(claim_relation relation, double bound, double ours) {
    claim_list list = {0};
    claim_bound(&list, CLAIM_DERIVED, "1", relation, bound, ours, "bound");
    claim_verdict verdict = last_verdict(&list);
    claim_list_free(&list);
    return verdict;
}

static void equal_values_pass_within_the_tolerance_only(void **state) {
    (void)state;
    assert_int_equal(judge_equal(1, 1.25, 0.25), VERDICT_PASS);
    assert_int_equal(judge_equal(1, 0.75, 0.25), VERDICT_PASS);
    assert_int_equal(judge_equal(1, nextafter(1.25, 2), 0.25), VERDICT_FAIL);
    assert_int_equal(judge_equal(1, 0.7, 0.25), VERDICT_FAIL);
    assert_int_equal(judge_equal(30, 30, 0), VERDICT_PASS);
    assert_int_equal(judge_equal(30, 31, 0), VERDICT_FAIL);
    assert_int_equal(judge_equal(0.436929824561, 0.436929824561 + 2e-12, 1e-12), VERDICT_FAIL);
}

static void bounds_hold_on_their_side(void **state) {
    (void)state;
    assert_int_equal(judge_bound(CLAIM_AT_MOST, 1e-12, 1e-12), VERDICT_PASS);
    assert_int_equal(judge_bound(CLAIM_AT_MOST, 1e-12, 1.1e-12), VERDICT_FAIL);
    assert_int_equal(judge_bound(CLAIM_AT_LEAST, 1, 4.45), VERDICT_PASS);
    assert_int_equal(judge_bound(CLAIM_AT_LEAST, 1, 0.99), VERDICT_FAIL);
}

static void what_is_no_number_fails(void **state) {
    (void)state;
    assert_int_equal(judge_equal(1, nan(""), DBL_MAX), VERDICT_FAIL);
    assert_int_equal(judge_equal(1, HUGE_VAL, HUGE_VAL), VERDICT_FAIL);
    assert_int_equal(judge_bound(CLAIM_AT_MOST, 1, nan("")), VERDICT_FAIL);
    assert_int_equal(judge_bound(CLAIM_AT_MOST, 1, -HUGE_VAL), VERDICT_FAIL);
    assert_int_equal(judge_bound(CLAIM_AT_LEAST, 1, HUGE_VAL), VERDICT_FAIL);
    assert_int_equal(judge_bound(CLAIM_AT_LEAST, 1, nan("")), VERDICT_FAIL);
}

/* ---- orders ---- */

static claim_verdict judge_order(const contender *contenders, int count, const char *ours) {
    claim_list list = {0};
    claim_order(&list, "sweeps", "1", "another machine", contenders, count);
    assert_int_equal(list.count, count + 1);
    for (int i = 0; i < count; i++) {
        assert_int_equal(claim_judge(&list.items[i]), VERDICT_NOT_COMPARABLE);
        assert_string_equal(list.items[i].reason, "another machine");
    }
    if (ours) assert_string_equal(list.items[count].our_order, ours);
    claim_verdict verdict = last_verdict(&list);
    claim_list_free(&list);
    return verdict;
}

static void numbers_that_cannot_be_compared_are_judged_by_their_order(void **state) {
    (void)state;
    const contender kept[] = {{"a", 20, 8}, {"b", 2, 1}, {"c", 3, 2}};
    assert_int_equal(judge_order(kept, 3, "b < c < a, 8 ×"), VERDICT_PASS);
    const contender reversed[] = {{"a", 20, 1}, {"b", 2, 5}, {"c", 3, 6}};
    assert_int_equal(judge_order(reversed, 3, "a < b < c, 6 ×"), VERDICT_FAIL);
    const contender level[] = {{"a", 20, 5}, {"b", 2, 5}};
    assert_int_equal(judge_order(level, 2, "a = b, 1 ×"), VERDICT_FAIL);
}

static void ties_of_the_paper_may_fall_either_way(void **state) {
    (void)state;
    const contender tied[] = {{"a", 2, 7}, {"b", 2, 3}, {"c", 20, 8}};
    assert_int_equal(judge_order(tied, 3, "b < a < c, 2.67 ×"), VERDICT_PASS);
}

static void a_missing_number_has_no_order(void **state) {
    (void)state;
    const contender missing[] = {{"a", 20, 8}, {"b", 2, nan("")}};
    assert_int_equal(judge_order(missing, 2, NULL), VERDICT_FAIL);
}

/* b over a in the paper: verdict of the one pair. */
static claim_verdict judge_seeds(const double *a, const double *b, int seeds) {
    const contender two[] = {{"b", 20, b[0]}, {"a", 10, a[0]}};
    const double *const each[] = {b, a};
    claim_list list = {0};
    claim_order_seeds(&list, "sweeps", "1", "another machine", two, 2, each, seeds);
    assert_int_equal(list.count, 3);
    assert_string_equal(list.items[2].text, "sweeps: log₁₀ of b over a");
    claim_verdict verdict = last_verdict(&list);
    claim_list_free(&list);
    return verdict;
}

static void an_order_over_seeds_is_judged_where_the_interval_decides(void **state) {
    (void)state;
    const double low[] = {1, 1.1, 0.9}, high[] = {2, 2.3, 1.9}, mixed[] = {1.4, 0.7, 1.1},
                 none[] = {1, NAN, 1};
    assert_int_equal(judge_seeds(low, high, 3), VERDICT_PASS);
    assert_int_equal(judge_seeds(high, low, 3), VERDICT_FAIL);
    assert_int_equal(judge_seeds(low, mixed, 3), VERDICT_UNDECIDED);
    assert_int_equal(judge_seeds(low, high, 1), VERDICT_UNDECIDED);
    assert_int_equal(judge_seeds(low, none, 3), VERDICT_FAIL);
}

/* ---- the whole ---- */

static void one_failure_fails_the_whole(void **state) {
    (void)state;
    claim_list list = {0};
    for (int i = 0; i < 100; i++) claim_equal(&list, CLAIM_PRINTED, "1", i, i, 0, "number %d", i);
    assert_int_equal(verdict_overall(claim_count(&list)), VERDICT_PASS);
    claim_equal(&list, CLAIM_PRINTED, "1", 1, 2, 0.5, "wrong");
    verdict_counts counts = claim_count(&list);
    assert_int_equal(counts.of[VERDICT_PASS], 100);
    assert_int_equal(counts.of[VERDICT_FAIL], 1);
    assert_int_equal(verdict_overall(counts), VERDICT_FAIL);
    claim_list_free(&list);
}

static void nothing_judged_is_nothing_shown(void **state) {
    (void)state;
    claim_list list = {0};
    assert_int_equal(verdict_overall(claim_count(&list)), VERDICT_FAIL);
    verdict_counts only_shown = {.of = {[VERDICT_NOT_COMPARABLE] = 5}};
    assert_int_equal(verdict_overall(only_shown), VERDICT_FAIL);
}

/* ---- the table of experiments ---- */

static void every_experiment_can_run_and_has_a_paper(void **state) {
    (void)state;
    for (int i = 0; i < experiment_count(); i++) {
        const experiment *e = experiment_at(i);
        assert_true(e->has_reduced || e->has_full);
        assert_ptr_equal(experiment_find(e->name), e);
        assert_non_null(experiment_paper(e));
        const char *source = experiment_paper(e)->name, *section = e->name + strlen(source);
        assert_memory_equal(source, e->name, strlen(source));
        assert_string_equal(experiment_section(e), *section == '-' ? section + 1 : "");
        if (i > 0) assert_true(strcmp(experiment_at(i - 1)->name, e->name) < 0);
    }
    assert_null(experiment_find("001-3"));
}

/* A verdict is given where all of the interval is on one side; whose method, and sizes. */
static void seeds_decide_or_do_not(void **state) {
    (void)state;
    claim_list list = {.method = METHOD_OURS};
    dls_interval narrow = {.count = 5, .mean = 1.1, .half = 0.05},
                 wide = {.count = 5, .mean = 1.1, .half = 0.5};
    claim_seeds(&list, CLAIM_PRINTED, "1", CLAIM_AT_LEAST, 1, 0, &narrow, "a");
    claim_seeds(&list, CLAIM_PRINTED, "1", CLAIM_AT_LEAST, 1, 0, &wide, "b");
    claim_seeds(&list, CLAIM_PRINTED, "1", CLAIM_AT_MOST, 1, 0, &narrow, "c");
    list.method = METHOD_PAPERS;
    claim_seeds(&list, CLAIM_PRINTED, "1", CLAIM_EQUAL, 1, 0.2, &narrow, "d");
    claim_seeds(&list, CLAIM_DERIVED, "1", CLAIM_EQUAL, 2, 0.2, &wide, "e");
    claim_seeds(&list, CLAIM_DERIVED, "1", CLAIM_EQUAL, 1, 0.2, &wide, "f");
    claim_decades(&list, CLAIM_PRINTED, "1", 100, 310, 0.5, "g");
    claim_decades(&list, CLAIM_PRINTED, "1", 100, 330, 0.5, "h");
    claim_decades(&list, CLAIM_PRINTED, "1", 100, 0, 0.5, "i");
    static const claim_verdict expected[] = {VERDICT_PASS, VERDICT_UNDECIDED, VERDICT_FAIL,
                                             VERDICT_PASS, VERDICT_FAIL,      VERDICT_UNDECIDED,
                                             VERDICT_PASS, VERDICT_FAIL,      VERDICT_FAIL};
    for (int i = 0; i < list.count; i++) assert_int_equal(claim_judge(&list.items[i]), expected[i]);
    verdict_counts counts = claim_count(&list);
    assert_int_equal(counts.passed[GROUP_OURS], 1);
    assert_int_equal(counts.failed[GROUP_OURS], 1);
    assert_int_equal(counts.passed[GROUP_PRINTED], 2);
    assert_int_equal(counts.failed[GROUP_DERIVED], 1);
    assert_int_equal(counts.of[VERDICT_UNDECIDED], 2);
    claim_list_free(&list);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(seeds_decide_or_do_not),
        cmocka_unit_test(equal_values_pass_within_the_tolerance_only),
        cmocka_unit_test(bounds_hold_on_their_side),
        cmocka_unit_test(what_is_no_number_fails),
        cmocka_unit_test(numbers_that_cannot_be_compared_are_judged_by_their_order),
        cmocka_unit_test(ties_of_the_paper_may_fall_either_way),
        cmocka_unit_test(a_missing_number_has_no_order),
        cmocka_unit_test(an_order_over_seeds_is_judged_where_the_interval_decides),
        cmocka_unit_test(one_failure_fails_the_whole),
        cmocka_unit_test(nothing_judged_is_nothing_shown),
        cmocka_unit_test(every_experiment_can_run_and_has_a_paper),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
