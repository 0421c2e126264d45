#include "solve/registry.h"

#include <pthread.h>
#include <stdatomic.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static atomic_int solving;

void dls_registry_lock(void) { pthread_mutex_lock(&mutex); }
void dls_registry_unlock(void) { pthread_mutex_unlock(&mutex); }

/* Not while rows are being moved. */
void dls_registry_solve_begin(void) {
    dls_registry_lock();
    atomic_fetch_add(&solving, 1);
    dls_registry_unlock();
}

void dls_registry_solve_end(void) { atomic_fetch_sub(&solving, 1); }
bool dls_registry_is_solving(void) { return atomic_load(&solving) > 0; }
