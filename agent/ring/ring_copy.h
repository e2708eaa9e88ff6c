// Copies a ring that lies on local storage into the run's directory, whole: block by block with the reader's protocol, so
// that what is in the copy is true, into a hidden file that is then renamed. For our own threads.
#pragma once
#include "agent/ring/worker.h"
#include "common/ring.h"

namespace agent {

// As fast as `worker` allows: while it is not asked to stop, kCopyBytesPerSecond at most, so that a network has room
// for others; null: as fast as it goes. False: not made, errno says why (ECANCELED: asked to stop).
bool copy_ring(const trace::Ring& ring, int directory, const char* name, Worker* worker) noexcept;

// Differs from what it was when something was recorded in between, other than by the thread `own_tid`: the agent's, which
// reads the clocks once a second. Cheap: block headers only.
std::uint64_t ring_fingerprint(const trace::Ring& ring, std::uint32_t own_tid) noexcept;

}  // namespace agent
