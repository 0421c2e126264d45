# What the program was made of: a digest of all that its numbers depend on, and the commit. Written anew at every build, and
# compiled again only where it changed.
set(origin_source ${PROJECT_BINARY_DIR}/origin.c)
add_custom_target(origin BYPRODUCTS ${origin_source} COMMAND ${CMAKE_COMMAND} -DSOURCE=${PROJECT_SOURCE_DIR}
                  -DOUTPUT=${origin_source} -P ${PROJECT_SOURCE_DIR}/cmake/WriteOrigin.cmake)
