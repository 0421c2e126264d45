/* Boxes in rows: levels of size, in each of them rows along the longest axis, sorted, swept with windows. */
#ifndef COLLIDE_BROAD_ROWS_H
#define COLLIDE_BROAD_ROWS_H

#include "collide/collide.h"

/* A shape with all it may reach, one cache line. In a periodic box there is one for every image that touches
 * the box. */
typedef struct dls_proxy {
    double c[3], h[3]; /* centre and half edges of a box */
    double ball;       /* radius of a ball about c */
    int shape, index;  /* row; place among the proxies as they were given */
} dls_proxy;

/* Where an image stands, by index of the proxy: nothing of it is needed before boxes meet. */
typedef struct dls_proxy_image {
    int32_t offset[3]; /* the shape stands moved by offset · period */
    int8_t cell[3];    /* period that holds the lower corner: 0 or −1 */
} dls_proxy_image;

/* Pairs as they are found; grows and is kept. */
typedef struct dls_pair_list {
    dls_shape_pair *pair;
    int count;
    int64_t capacity;
    bool out_of_memory;
    bool out_of_range; /* an image that has no number */
} dls_pair_list;

static inline bool dls_proxies_meet(const dls_proxy *p, const dls_proxy *q) {
    double x = p->c[0] - q->c[0], y = p->c[1] - q->c[1], z = p->c[2] - q->c[2], r = p->ball + q->ball;
    if (x * x + y * y + z * z > r * r) return false;
    return x <= p->h[0] + q->h[0] && -x <= p->h[0] + q->h[0] && y <= p->h[1] + q->h[1] &&
           -y <= p->h[1] + q->h[1] && z <= p->h[2] + q->h[2] && -z <= p->h[2] + q->h[2];
}

/* Told of every two proxies that meet. */
typedef void (*dls_meet_function)(void *self, const dls_proxy *p, const dls_proxy *q, dls_pair_list *list);

typedef struct dls_rows dls_rows;

dls_rows *dls_rows_create(void); /* NULL when memory is out */
void dls_rows_destroy(dls_rows *rows);
size_t dls_rows_bytes(void); /* of one */

/* A level holds boxes whose edges differ by less than a factor of two. */
enum { DLS_LEVELS = 64, DLS_SIZE_BINS = 1 << 15, DLS_FEW = 8, DLS_ASIDE = 255 };

/* Chooses levels from the sizes (longest edge) of all shapes; a negative size stands aside. */
void dls_rows_choose_levels(dls_rows *rows, int count, const double *size);
/* Of a shape; −1 for the largest when there are so few of them that to test them against all is cheaper. */
int dls_rows_level(const dls_rows *rows, double size);

/* Sorts the proxies into rows, which lie in scratch; level of each, DLS_ASIDE for none. False when memory is
 * out. */
bool dls_rows_build(dls_rows *rows, int count, const dls_proxy *proxy, const uint8_t *level,
                    dls_workspace *scratch);
/* Work for threads: tasks are independent; all are sorted before one is swept, and each finds pairs of its
 * own.
 */
int dls_rows_task_count(const dls_rows *rows);
void dls_rows_sort(dls_rows *rows, int task);
void dls_rows_sweep(const dls_rows *rows, int task, dls_meet_function meet, void *self, dls_pair_list *list);

#endif
