// A process that does not go on: no work of the GPU ended and no operator of PyTorch began for TRACETOOL_HANG_STACKS seconds, though they
// did before. Then the stacks of its Python threads are recorded, once, until it goes on.
#pragma once

namespace agent {

// A periodic task of our own thread, about once a second.
void watch_hang() noexcept;

}  // namespace agent
