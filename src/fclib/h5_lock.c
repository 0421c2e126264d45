#include "fclib/h5_lock.h"

#include <pthread.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t mutex;

static void make(void) {
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&mutex, &attributes);
    pthread_mutexattr_destroy(&attributes);
}

void dls_h5_lock(void) {
    pthread_once(&once, make);
    pthread_mutex_lock(&mutex);
}

void dls_h5_unlock(void) { pthread_mutex_unlock(&mutex); }
