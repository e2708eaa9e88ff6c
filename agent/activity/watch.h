// Monitors CUPTI while the process runs: it may be in use at the start and released later, or be taken from us.
//
// Another CUPTI user in the process replaces our buffer callbacks permanently, and nothing reports when it is done.
// TRACETOOL_COEXIST=yield (default) then leaves CUPTI to it, because taking the callbacks back in the middle of its
// session would empty the user's own profile, and disables the kinds that only the agent had requested
// (activity_kinds.h). =retake takes them back at once. In both cases the gap is recorded. As one of several subscribers
// (=share) no other user can replace them, but cuptiFinalize ends our subscription, too; it is made again then.
#pragma once

namespace agent {

// Handles a stalled GPU. CUPTI returns a buffer when all work in it has ended. After a kernel that never ends, nothing
// is returned any more, neither work that ended in parallel nor the launches that wait for it.

// Makes CUPTI return what it holds if nothing has ended for long: once, and again when a thread has filled two more
// buffers. Work that is running then is recorded without an end; if it ends later, its end is lost. Call it in every
// flush period, after the flush. For our own thread.
//
// Not done as one of several subscribers, because it would also affect the records of the others, and CUPTI does not
// report whether there are any. Then only a notice records that CUPTI holds work back.
void flush_stalled() noexcept;

// A periodic task of our own thread, about once a second.
void watch_cupti() noexcept;
// Returns true if CUPTI was tried again after it was in use when the process began. For any thread.
bool has_tried_cupti() noexcept;
// Records a gap that was not noticed before. Called after the last flush of the process.
void finish_watching() noexcept;
// Returns true if another user has the buffers and we leave them to it.
bool cupti_is_yielded() noexcept;

}  // namespace agent
