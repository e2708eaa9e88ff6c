// Runs of Python's garbage collector as records (trace::GarbageCollectionRecord), told by a callable in gc.callbacks. It raises nothing,
// and does nothing where nothing is recorded: before and after the recording, and in forked children. A program that empties the list
// has no more of these records.
#pragma once
#include "agent/python/python_objects.h"

namespace agent {

// Under the GIL, once. False: there is no such list. `python` outlives the process's last collection.
bool watch_garbage_collections(const PythonObjects& python) noexcept;

}  // namespace agent
