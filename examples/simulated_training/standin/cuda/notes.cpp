#include "notes.h"

#include <sys/syscall.h>
#include <unistd.h>

#include "../true_clock.h"
#include "attach.h"
#include "cbids.h"
#include "devices.h"
#include "executor.h"
#include "truth.h"

namespace sim {
namespace {

Note device_note(std::uint32_t device) {
  Note note = make_note(NoteKind::device, nullptr);
  note.device = device;
  return note;
}

Note context_note(const Context& context) {
  Note note = make_note(NoteKind::context, &context);
  note.null_stream = static_cast<std::uint16_t>(context.default_stream->id);
  return note;
}

Note stream_note(const Stream& stream) {
  Note note = make_note(NoteKind::stream, stream.context, &stream);
  note.type = stream.flag;
  note.priority = stream.priority;
  return note;
}

}  // namespace

Note make_note(NoteKind kind, const Context* context, const Stream* stream) {
  Note note{};
  note.kind = kind;
  note.tid = static_cast<std::uint32_t>(syscall(SYS_gettid));
  note.device = context != nullptr ? context->device : kNoNumber;
  note.context = context != nullptr ? context->id : kNoNumber;
  note.stream = stream != nullptr ? stream->id : kNoNumber;
  note.event = kNoNumber;
  note.start_ns = note.end_ns = true_ns();
  return note;
}

void tell(Note& note) {
  const Bridge* to = bridge();
  note.seq = next_seq();
  note.cupti_start_ns = to_cupti(to, note.start_ns);
  note.cupti_end_ns = to_cupti(to, note.end_ns);
  if (to != nullptr) to->admit_note(note);
  write_truth_of(note);
  if (to != nullptr) to->finish_note(note);
}

Awaited await(const Event& event) { return {event.id, last_recorded(event)}; }

void tell_recorded(const Stream& stream, const Event& event, const Recorded& recorded) {
  Note note = make_note(NoteKind::cuda_event, stream.context, &stream);
  note.correlation = recorded.correlation;
  note.event = event.id;
  note.event_sync_id = recorded.sync_id;
  tell(note);
}

void tell_sync(const Call& call, std::uint32_t type, const Context* context, const Stream* stream,
               const Awaited& awaited, std::uint64_t start_ns, CUresult result) {
  Note note = make_note(NoteKind::sync, context, stream);
  note.correlation = call.correlation();
  note.type = type;
  note.event = awaited.event;
  note.record = awaited.recorded.correlation;
  note.event_sync_id = awaited.recorded.sync_id;
  note.result = static_cast<std::uint32_t>(result);
  note.start_ns = start_ns;
  tell(note);
}

void tell_overhead(std::uint32_t correlation, std::uint32_t kind, const Context* context, std::uint64_t start_ns) {
  Note note = make_note(NoteKind::overhead, context);
  note.correlation = correlation;
  note.type = kind;
  note.object = CUPTI_ACTIVITY_OBJECT_THREAD;
  note.start_ns = start_ns;
  tell(note);
}

void tell_device(std::uint32_t device) {
  Note note = device_note(device);
  tell(note);
}

void tell_context(const Context& context) {
  Note note = context_note(context);
  tell(note);
}

void tell_stream(const Stream& stream) {
  Note note = stream_note(stream);
  tell(note);
}

void each_note(NoteKind kind, void (*take)(Note&)) {
  const auto give = [take](Note note) { take(note); };
  for (std::uint32_t device = 0; kind == NoteKind::device && is_initialized() && device < device_count(); ++device) {
    give(device_note(device));
  }
  for (const Context* context : live_contexts()) {
    if (kind == NoteKind::context) give(context_note(*context));
  }
  for (const Stream* stream : live_streams()) {
    if (kind == NoteKind::stream) give(stream_note(*stream));
  }
}

}  // namespace sim
