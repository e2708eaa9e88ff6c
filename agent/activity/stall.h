// A GPU that stands still. CUPTI hands a buffer over when all that is in it has ended, so behind a kernel that never
// ends nothing comes any more, neither what ended beside it nor the launches that wait for it.
#pragma once

namespace agent {

// Makes CUPTI hand over what it holds where nothing has ended for long: once, and again when a thread has filled two
// more buffers. What is running then is recorded without an end, and its end is lost where it comes later. To be called in
// every flush period, after the flush. For our own thread.
//
// Not as one of several subscribers: what the others have would be taken from them as well, with its ends, and nobody
// tells whether there are any. Then it is only written down that CUPTI holds work back.
void flush_stalled() noexcept;

}  // namespace agent
