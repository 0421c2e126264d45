/* The state as bytes: a head, the numbers, the flags. */
#include "system/alpha.h"

#include "base/error.h"

#include <math.h>
#include <string.h>

typedef struct state_head {
    char mark[8];
    int32_t version, number_count, flag_count, total;
    int64_t step;
    double t, dt;
} state_head;

static const char mark[8] = "dlsalpha";
enum { VERSION = 1 };

static state_head head_of(const dls_alpha *alpha) {
    const dls_alpha_state *s = &alpha->state;
    state_head head = {.version = VERSION,
                       .number_count = s->number_count,
                       .flag_count = s->flag_count,
                       .total = alpha->at.total,
                       .step = s->step,
                       .t = s->t,
                       .dt = s->dt};
    memcpy(head.mark, mark, sizeof mark);
    return head;
}

size_t dls_alpha_state_size(const dls_alpha *alpha) {
    return sizeof(state_head) + sizeof(double) * (size_t)alpha->state.number_count +
           (size_t)alpha->state.flag_count;
}

void dls_alpha_state_write(const dls_alpha *alpha, void *bytes) {
    state_head head = head_of(alpha);
    char *to = bytes;
    size_t numbers = sizeof(double) * (size_t)head.number_count;
    memcpy(to, &head, sizeof head);
    memcpy(to + sizeof head, alpha->state.numbers, numbers);
    for (int i = 0; i < head.flag_count; i++)
        to[sizeof head + numbers + (size_t)i] = alpha->state.flags[i] ? 1 : 0;
}

static bool makes_sense(const state_head *head, const char *numbers, const char *flags) {
    bool good = isfinite(head->t) && isfinite(head->dt) && head->dt >= 0 && head->step >= 0;
    for (int i = 0; good && i < head->number_count; i++) {
        double number;
        memcpy(&number, numbers + sizeof number * (size_t)i, sizeof number);
        good = isfinite(number);
    }
    for (int i = 0; good && i < head->flag_count; i++) good = flags[i] == 0 || flags[i] == 1;
    return good;
}

dls_status dls_alpha_state_read(dls_alpha *alpha, const void *bytes, size_t size, dls_error *error) {
    state_head head, own = head_of(alpha);
    const char *from = bytes;
    dls_error_clear(error);
    if (!bytes || size != dls_alpha_state_size(alpha))
        return dls_fail(error, DLS_ERROR_INPUT, "state of generalized-alpha: %zu bytes, expected %zu", size,
                        dls_alpha_state_size(alpha));
    memcpy(&head, from, sizeof head);
    const char *numbers = from + sizeof head, *flags = numbers + sizeof(double) * (size_t)own.number_count;
    if (memcmp(head.mark, mark, sizeof mark) || head.version != VERSION ||
        head.number_count != own.number_count || head.flag_count != own.flag_count || head.total != own.total)
        return dls_fail(error, DLS_ERROR_INPUT, "state of generalized-alpha: of another system or version");
    if (!makes_sense(&head, numbers, flags))
        return dls_fail(error, DLS_ERROR_INPUT,
                        "state of generalized-alpha: damaged, expected finite numbers");
    alpha->state.t = head.t, alpha->state.dt = head.dt, alpha->state.step = head.step;
    memcpy(alpha->state.numbers, numbers, sizeof(double) * (size_t)own.number_count);
    for (int i = 0; i < own.flag_count; i++) alpha->state.flags[i] = flags[i];
    return DLS_OK;
}
