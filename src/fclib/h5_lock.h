/* HDF5 may be built without locks of its own: whoever calls it holds this one. */
#ifndef FCLIB_H5_LOCK_H
#define FCLIB_H5_LOCK_H

/* A thread that has it may take it again, and gives it back as often. */
void dls_h5_lock(void);
void dls_h5_unlock(void);

#endif
