/* cmocka, after the headers that it expects before itself. */
#ifndef DELASSUS_TESTS_SUPPORT_TEST_H
#define DELASSUS_TESTS_SUPPORT_TEST_H

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */

#endif
