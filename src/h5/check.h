/* A look at an HDF5 file before the HDF5 library sees it. The library trusts sizes and addresses that it
 * finds in a file, and a damaged one can crash it. So everything that it would follow to the objects that a
 * reader asks for (object headers, groups, heaps, datatypes, extents, chunk indices, addresses) is checked
 * here first, and features that no such file needs are refused. What has passed is safe to open and to read,
 * and a plain file to add a group to. */
#ifndef H5_CHECK_H
#define H5_CHECK_H

#include <delassus/base.h>

/* HDF5's mark for "nowhere". */
#define CHECK_UNDEFINED UINT64_MAX

/* Where the bytes come from. */
typedef struct check_source {
    uint64_t size; /* how many there are */
    /* Bytes begin … begin + length − 1, all of them there: kept ones as long as the source lasts, others
     * until the next call, and of those no more than CHECK_PEEK. */
    dls_status (*load)(void *user, uint64_t begin, uint64_t length, bool is_kept, const uint8_t **bytes,
                       dls_error *error);
    void *user;
} check_source;

enum { CHECK_PEEK = 100 };

/* What files of a kind hold, and what is asked of them. */
typedef struct check_policy {
    bool is_plain; /* no chunks, no compound types, no indexed groups; attributes are not read. Files that are
                    * not plain have nothing of the old kinds. */
    bool is_live;  /* a writer may be at work: what is behind the end that the file tells is there too */
    bool (*is_wanted)(const char *name, size_t length); /* links that are followed; NULL: all */
    const char *noted_group, *noted_attribute;          /* an integer that is read on the way; NULL: none */
    const char *expected;                               /* "plain storage as …": ends a refusal */
} check_policy;

typedef struct check_found {
    int noted;             /* the integer, else 0 */
    bool has_wrong_sum;    /* where it failed: a checksum was wrong, as it is while a block is written */
    uint64_t root, length; /* address of the root group, end of the farthest structure */
} check_found;

/* name is what messages call the file. */
dls_status dls_h5_check(const check_source *source, const check_policy *policy, const char *name,
                        check_found *found, dls_error *error);
/* The same of bytes in memory. */
dls_status dls_h5_check_image(const uint8_t *bytes, size_t size, const check_policy *policy, const char *name,
                              check_found *found, dls_error *error);

/* Where the superblock of a sound file says that the file ends. */
uint64_t dls_h5_stored_size(const uint8_t *bytes);

static inline uint64_t check_number(const uint8_t *bytes, int count) {
    uint64_t value = 0;
    for (int i = count - 1; i >= 0; i--) value = value << 8 | bytes[i];
    return value;
}

/* Of HDF5's newer structures: Jenkins's lookup3. */
uint32_t check_sum(const uint8_t *bytes, size_t size);

/* ---- shared by the parts of the check ---- */

enum { CHECK_MAX_DEPTH = 6, CHECK_MAX_HEAPS = 32, CHECK_MAX_RANK = 32 };

typedef struct check_extent {
    uint64_t begin, end;
} check_extent;

/* A collection of variable-length text that was checked. */
typedef struct check_texts {
    uint64_t address;
    const uint8_t *bytes;
} check_texts;

typedef struct check_state {
    const check_source *source;
    const check_policy *policy;
    uint64_t size; /* where the file ends */
    check_extent *extents;
    size_t extent_count;
    int64_t extent_room;
    uint64_t claimed;              /* sum of all extents: more than size means that some overlap */
    unsigned leaf_room, node_room; /* entries in a symbol node and in a tree node */
    check_texts heaps[CHECK_MAX_HEAPS];
    int heap_count;
    check_found found;
    char where[256]; /* the object under examination */
    const char *name;
    dls_error *error;
} check_state;

/* What an object header says. */
typedef struct check_object {
    bool has_space, has_type, has_layout, has_fill;
    bool has_table, has_links; /* a group of the old or of the new kind */
    unsigned rank;
    uint64_t extent[CHECK_MAX_RANK], limit[CHECK_MAX_RANK];
    uint64_t points;     /* product of the extents */
    unsigned type_class; /* of HDF5 */
    uint64_t type_size;
    bool type_is_variable;       /* text in a global heap */
    bool is_compact, is_chunked; /* data lie in the header, or in chunks */
    const uint8_t *data;         /* of a compact one */
    uint64_t data_begin, data_size;
    uint64_t fill_size;
    unsigned chunk_rank;
    uint64_t chunk[CHECK_MAX_RANK + 1]; /* of a chunk, the size of an element last */
    uint64_t index;                     /* address of the chunks' index */
    uint64_t tree, heap;                /* addresses of a table's parts */
    uint64_t link_heap, link_tree;      /* of indexed links and attributes, else undefined */
    uint64_t attribute_heap, attribute_tree;
} check_object;

/* at: the byte where the damage shows. */
dls_status check_damaged(const check_state *check, uint64_t at, const char *what);
dls_status check_unsupported(const check_state *check, const char *what);

/* Takes length bytes at begin for one structure; fails where they are not in the file. */
dls_status check_claim(check_state *check, uint64_t begin, uint64_t length, const char *what);
/* The same, and hands them out. */
dls_status check_take(check_state *check, uint64_t begin, uint64_t length, const char *what,
                      const uint8_t **bytes);
/* Takes nothing: bytes that say how many there are to take, until the next call. */
dls_status check_peek(const check_state *check, uint64_t begin, uint64_t length, const char *what,
                      const uint8_t **bytes);
/* Whether size bytes end in the checksum of those before it. */
bool check_is_sum_right(check_state *check, const uint8_t *bytes, uint64_t size);

/* Reads an object header and all its blocks; links in it are followed at depth + 1. */
dls_status check_header(check_state *check, uint64_t address, int depth, check_object *object);
/* Once a header is read: do datatype, extents and storage agree? */
dls_status check_dataset(check_state *check, const check_object *object);
/* Follows a link, if it is wanted; an undefined address stands for a soft link. */
dls_status check_link(check_state *check, const char *link, size_t length, uint64_t address, int depth);

/* A link or an attribute as a message has it, which begins at byte `at` of the file. */
dls_status check_link_message(check_state *check, const uint8_t *bytes, uint64_t size, uint64_t at,
                              int depth);
dls_status check_attribute(check_state *check, const uint8_t *bytes, uint64_t size, uint64_t at);

typedef struct check_type_found {
    unsigned type_class;
    uint64_t size;         /* of a value */
    uint64_t used;         /* bytes of the description */
    bool is_variable_text; /* in a heap; only where it is the whole type */
} check_type_found;

/* Whether a datatype is one of those that are supported, with sizes that agree. */
bool check_type(const uint8_t *bytes, uint64_t room, bool is_plain, check_type_found *found);
/* An integer of 1, 2, 4 or 8 whole bytes. */
bool check_is_integer(const uint8_t *bytes, uint64_t size);

/* Extents of one dataspace message; false where it is malformed. */
bool check_space(const uint8_t *bytes, uint64_t size, check_object *object);

/* Groups of the old kind. */
dls_status check_table(check_state *check, const check_object *object, int depth);
/* Links and attributes in heaps of their own. */
dls_status check_links(check_state *check, const check_object *object, int depth);
dls_status check_attributes(check_state *check, const check_object *object);
/* Chunks of a dataset that grows along its first extent. */
dls_status check_chunks(check_state *check, const check_object *object);

#endif
