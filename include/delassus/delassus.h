/* All of Delassus. */
#ifndef DELASSUS_H
#define DELASSUS_H

#include <delassus/base.h>
#include <delassus/fclib.h>
#include <delassus/law.h>
#include <delassus/problem.h>
#include <delassus/solve.h>

#endif
