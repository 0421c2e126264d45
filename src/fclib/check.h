/* A look at an HDF5 file before the HDF5 library sees it. The library trusts sizes and addresses that it
 * finds in a file, and a damaged one can crash it. So everything that it would follow to FCLib's groups and
 * datasets (object headers, group tables, datatypes, extents, addresses) is checked here first, and features
 * that no FCLib file needs are refused. What has passed is safe to open, to read, and to add a group to. */
#ifndef FCLIB_CHECK_H
#define FCLIB_CHECK_H

#include <delassus/base.h>

/* name is what messages call the file. bodies: what the attribute numberOfInvolvedDS of an info group says,
 * else 0. */
dls_status dls_h5_check(const uint8_t *bytes, size_t size, const char *name, int *bodies, dls_error *error);

/* Where the superblock of a sound file says that the file ends. */
uint64_t dls_h5_stored_size(const uint8_t *bytes);

/* ---- shared by the parts of the check ---- */

enum { CHECK_MAX_DEPTH = 6, CHECK_MAX_LEVEL = 8, CHECK_MAX_HEAPS = 32 };

/* HDF5's mark for "nowhere". */
#define CHECK_UNDEFINED UINT64_MAX

typedef struct check_extent {
    uint64_t begin, end;
} check_extent;

typedef struct check_state {
    const uint8_t *bytes;
    uint64_t size; /* where the file says that it ends */
    check_extent *extents;
    size_t extent_count;
    int64_t extent_room;
    uint64_t claimed;                /* sum of all extents: more than size means that some overlap */
    unsigned leaf_room, node_room;   /* entries in a symbol node and in a tree node */
    uint64_t heaps[CHECK_MAX_HEAPS]; /* collections of variable-length text that were checked */
    int heap_count;
    int bodies;      /* as an attribute of the info group has it */
    char where[256]; /* the object under examination */
    const char *name;
    dls_error *error;
} check_state;

/* What an object header says. */
typedef struct check_object {
    bool has_space, has_type, has_layout, has_fill;
    bool has_table, has_links; /* a group of the old or of the new kind */
    uint64_t points;           /* product of the extents */
    unsigned type_class;       /* of HDF5 */
    uint64_t type_size;
    bool type_is_variable; /* text in a global heap */
    bool is_compact;       /* data lie in the header */
    uint64_t data_begin, data_size;
    uint64_t fill_size;
    uint64_t tree, heap; /* addresses of a table's parts */
} check_object;

static inline uint64_t check_number(const uint8_t *bytes, int count) {
    uint64_t value = 0;
    for (int i = count - 1; i >= 0; i--) value = value << 8 | bytes[i];
    return value;
}

/* Of HDF5's newer structures: Jenkins's lookup3. */
uint32_t check_sum(const uint8_t *bytes, size_t size);

/* at: the byte where the damage shows. */
dls_status check_damaged(const check_state *check, uint64_t at, const char *what);
dls_status check_unsupported(const check_state *check, const char *what);

/* Takes length bytes at begin for one structure; fails where they are not in the file. */
dls_status check_claim(check_state *check, uint64_t begin, uint64_t length, const char *what);

/* Reads an object header and all its blocks; links in it are followed at depth + 1. */
dls_status check_header(check_state *check, uint64_t address, int depth, check_object *object);
/* Once a header is read: do datatype, extents and storage agree? */
dls_status check_dataset(check_state *check, const check_object *object);
/* Follows a link, if its name is one that FCLib files have; an undefined address stands for a soft link. */
dls_status check_link(check_state *check, const char *link, size_t length, uint64_t address, int depth);

#endif
