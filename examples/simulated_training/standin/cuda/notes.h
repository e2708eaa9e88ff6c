// What the driver tells CUPTI at once: waits, overhead, things that come into being, memory.
#pragma once
#include "call.h"

namespace sim {

// A note with the numbers of the stream's or context's own; its times are now.
Note make_note(NoteKind kind, const Context* context, const Stream* stream = nullptr);
// Its truth and, where CUPTI is asked for it, its record. Sets seq and fate.
void tell(Note& note);

// The event that a wait is for, and what it waits for, as both were when the wait began.
struct Awaited {
  std::uint32_t event = kNoNumber;
  Recorded recorded{};
};
Awaited await(const Event& event);
// A wait, or a query, that began at `start_ns` and ends now.
void tell_sync(const Call& call, std::uint32_t type, const Context* context, const Stream* stream,
               const Awaited& awaited, std::uint64_t start_ns, CUresult result = CUDA_SUCCESS);
void tell_recorded(const Stream& stream, const Event& event, const Recorded& recorded);
void tell_overhead(std::uint32_t correlation, std::uint32_t kind, const Context* context, std::uint64_t start_ns);
void tell_device(std::uint32_t device);
void tell_context(const Context& context);
void tell_stream(const Stream& stream);
// Everything of one kind that exists, for a client that comes late.
void each_note(NoteKind kind, void (*take)(Note&));

}  // namespace sim
