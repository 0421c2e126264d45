/* All of Delassus. */
#ifndef DELASSUS_H
#define DELASSUS_H

#include <delassus/analysis.h>
#include <delassus/base.h>
#include <delassus/collide.h>
#include <delassus/fclib.h>
#include <delassus/integrate.h>
#include <delassus/joint.h>
#include <delassus/law.h>
#include <delassus/output.h>
#include <delassus/problem.h>
#include <delassus/ranks.h>
#include <delassus/run.h>
#include <delassus/scene.h>
#include <delassus/solid.h>
#include <delassus/solve.h>
#include <delassus/system.h>
#include <delassus/world.h>

#endif
