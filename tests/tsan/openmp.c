/* Two threads fill an array, meet at a barrier, and read each other's half. With RACE they skip the barrier.
 */
#include <stdio.h>

enum { COUNT = 1000 };

int main(void) {
    static int filled[COUNT], copied[COUNT];
#pragma omp parallel num_threads(2)
    {
#ifdef RACE
#pragma omp for schedule(static) nowait
#else
#pragma omp for schedule(static)
#endif
        for (int i = 0; i < COUNT; i++) filled[i] = i;
#pragma omp for schedule(static)
        for (int i = 0; i < COUNT; i++) copied[i] = filled[COUNT - 1 - i];
    }
    printf("%d\n", copied[0]);
    return 0;
}
