// The device: one thread per process that plays all streams in real time. Work of one stream runs in order, streams run
// beside each other; a start is at least a launch latency after the call, and never before what it waits for. The times
// of an event are computed from these rules; the thread only makes sure that nothing is reported before it happened.
#pragma once
#include "objects.h"

namespace sim {

// Takes the op over. Blocks while the stream's queue is full, as a real launch does: then true. `op.event` must have
// its fate.
bool submit(Stream& stream, Op&& op);
// Until all that was submitted to the stream before is done and reported to CUPTI.
void wait_for(Stream& stream);
void record_event(Stream& stream, Event& event);
// The call by which the event is recorded from now on, and by which it was last.
Recorded note_recorded(Event& event, std::uint32_t correlation);
Recorded last_recorded(const Event& event);
void wait_event(Stream& stream, Event& event);
bool is_done(Event& event);
void wait_for(Event& event);
// All streams of the context.
void wait_for(Context& context);

}  // namespace sim
