// A call without effect (cuDriverGetVersion) that our thread makes about once a second, to see whether its record comes
// back: the only way to notice that the buffers go to another user of CUPTI, which tells nobody. For our own thread.
//
// One that does not return proves nothing yet: it may lie in a buffer that a long kernel holds, have been dropped, or
// somebody switched the kind off. So it is switched on again and sent again, and only when several are gone with nothing
// else to explain it, the buffers are. And only where one has come back before: a CUPTI that never tells of the call
// would else look like one whose buffers were taken, in every process.
#pragma once
#include <cstdint>

namespace agent {

// Has CUPTI record the call, by any thread. False: this CUPTI cannot enable calls one by one, and there is no canary.
bool enable_canary() noexcept;

// Has CUPTI not record it any more.
void disable_canary() noexcept;

enum class CanarySays { ours, wait, lost };
// Sends the next one when it is time.
CanarySays watch_canary() noexcept;
// After the last flush, which returns whatever is ours: false where one is out that must have come, as others did,
// and did not.
bool canary_came_home() noexcept;
// Forgets what did not come back, and sends one.
void send_new_canary() noexcept;

}  // namespace agent
