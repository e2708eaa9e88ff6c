// What needs the GIL: a thread of our own takes it, which may have to wait for it for ever, and may be ended by Python when that ends. It
// holds none of our locks while it waits, and nobody waits for it.
#pragma once

namespace agent {

// Where there is Python in the process: has that thread started, once, and from then on the runs of the garbage collector recorded; with
// `stacks` the frames of this Python are compared with what the C API says, which python_stacks.h needs, and
// modules are named. To be called again and
// again, with the recording open; for our own thread.
void watch_python(bool stacks) noexcept;

// Has the thread look for names of modules. For any thread: it takes no lock.
void wake_python_door() noexcept;

}  // namespace agent
