// Records the names of torch.nn.Modules (trace::ModuleNameRecord): those that named_modules() of the outermost module
// returns. They are read from the module objects, so that no code of the program runs. A module can only be accessed
// while it is certainly alive, which it is while it is called. When an operator runs in a module without a number or
// name, the agent's thread takes the GIL and visits the calls that are open at that moment. A module that is not among
// them is requested again by a later operator. The same visit numbers code objects in Python versions without such
// numbers.
#pragma once
#include "agent/base/guard.h"
#include "agent/python/python_frames.h"
#include "agent/python/python_objects.h"

namespace agent {

// Returns true if a visit is due. `outermost` is the outermost module on the calling thread's stack, or null.
// `has_unknown` means that a module or code object on that stack has no number.
bool wants_module_names(const void* outermost, bool has_unknown) noexcept;

// Performs the visit. Needs the GIL and an open recording. `module_call` is the code object of the frames that call
// modules, or null if none was seen.
void name_modules(const Guard& guard, const PythonObjects& objects, const PythonFunctions& frames,
                  const void* module_call) noexcept;

}  // namespace agent
