// Hang detection: no GPU work ended and no PyTorch operator began for TRACETOOL_HANG_STACKS seconds, although they did
// before. The stacks of the Python threads are then recorded once, until the process continues.
#pragma once

namespace agent {

// A periodic task of our own thread, about once a second.
void watch_hang() noexcept;

}  // namespace agent
