// Records runs of Python's garbage collector (trace::GarbageCollectionRecord), using a callable in gc.callbacks. It
// raises no exceptions, and does nothing before and after the recording and in forked children. If a program empties
// the list, there are no more of these records.
#pragma once
#include "agent/python/python_objects.h"

namespace agent {

// Called once under the GIL. Returns false if there is no such list. `python` has to outlive the process's last
// collection.
bool watch_garbage_collections(const PythonObjects& python) noexcept;

}  // namespace agent
