// Looks after CUPTI while the process runs: taken at the start and free later, or ours and then another's.
//
// Another user of CUPTI in the process replaces our buffer callbacks for good; nothing says when it is done. What then:
// TRACETOOL_COEXIST=yield (default) leaves CUPTI to it, because taking the callbacks back in the middle of its session
// would empty the user's own profile, and switches off what only the agent had asked for (activity_kinds.h); =retake takes them
// back at once. Either way the gap is in the recording. As one of several subscribers (=share) nobody else can take them;
// but whoever ends CUPTI as a whole (cuptiFinalize) ends that subscription too, and it is made again.
#pragma once

namespace agent {

// A GPU that stands still. CUPTI hands a buffer over when all that is in it has ended, so behind a kernel that never
// ends nothing comes any more, neither what ended beside it nor the launches that wait for it.

// Makes CUPTI hand over what it holds where nothing has ended for long: once, and again when a thread has filled two
// more buffers. What is running then is recorded without an end, and its end is lost where it comes later. To be called in
// every flush period, after the flush. For our own thread.
//
// Not as one of several subscribers: what the others have would be taken from them as well, with its ends, and nobody
// tells whether there are any. Then it is only written down that CUPTI holds work back.
void flush_stalled() noexcept;

// A periodic task of our own thread, about once a second.
void watch_cupti() noexcept;
// Whether CUPTI was tried, where it was another's when the process began. For any thread.
bool has_tried_cupti() noexcept;
// After the last flush of the process: writes down the gap that nobody had the time to notice.
void finish_watching() noexcept;
// The buffers go to somebody else, and we leave them there.
bool cupti_is_yielded() noexcept;

}  // namespace agent
