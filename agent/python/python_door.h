// What needs the GIL: a thread of our own takes it, which may have to wait for it for ever, and may be ended by Python when that ends. It
// holds none of our locks while it waits, and nobody waits for it.
#pragma once

namespace agent {

// Where there is Python in the process: has that thread started, once. From then on the runs of the garbage collector are recorded; with
// `stacks` its frames are compared with what the C API says, so that there are stacks, names of modules and of hangs. To be called again
// and again; for our own thread.
void watch_python(bool stacks) noexcept;

// Has the thread do what it was asked for: names of modules, stacks of a hang. For any thread: it takes no lock.
void wake_python_door() noexcept;

}  // namespace agent
