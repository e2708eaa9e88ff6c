// What torch.nn.Modules are called (trace::ModuleNameRecord): the names that named_modules() of the outermost one gives, read from the
// modules themselves, so that no code of the program runs for it. A module can only be looked into while it is alive, which it is for sure
// while it is called: so, when one is seen that has no number or was not named as the outermost one, a thread of our own takes the GIL and
// looks at the calls that are open then. One that is not among them is looked for again when it is seen next. Code objects get their
// numbers there, too, if Python has none for them.
#pragma once
#include "agent/base/guard.h"
#include "agent/python/python_frames.h"
#include "agent/python/python_objects.h"

namespace agent {

// On the thread that calls it, of the outermost module of its stack (null: there is none); `has_unknown`: a module or a code object on that
// stack has no number. True: it is time to look.
bool wants_module_names(const void* outermost, bool has_unknown) noexcept;

// Under the GIL, with the recording open. `module_call`: the code object by whose frames modules are called; null: none was seen.
void name_modules(const Guard& guard, const PythonObjects& objects, const PythonFunctions& frames, const void* module_call) noexcept;

}  // namespace agent
