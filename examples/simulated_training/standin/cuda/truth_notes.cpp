// The lines of notes.
#include <cstdio>

#include "devices.h"
#include "line.h"
#include "truth.h"

namespace sim {
namespace {

constexpr const char* kNames[] = {
    "sync",        "cuda_event",           "overhead", "device", "context", "stream", "memory",
    "memory_pool", "external_correlation", "unknown"};
constexpr const char* kFates[] = {"off", "emitted", "dropped"};

void add_device(Line& line, const DeviceFacts& facts) {
  char hex[33];
  for (int i = 0; i < 16; ++i) std::snprintf(hex + 2 * i, 3, "%02x", facts.uuid[i]);
  line.text("name", facts.name).text("pci_bus_id", facts.pci_bus_id).text("uuid", hex);
  line.number("memory_bytes", facts.memory_bytes).number("memory_bandwidth_kbps", facts.bandwidth_kbps);
  line.number("multiprocessors", facts.multiprocessors).number("compute_major", facts.compute_major);
  line.number("compute_minor", facts.compute_minor).number("core_clock_khz", facts.core_clock_khz);
  line.number("l2_bytes", facts.l2_bytes).number("threads_per_warp", facts.threads_per_warp);
  line.number("max_threads_per_block", facts.max_threads_per_block);
  line.number("max_warps_per_multiprocessor", facts.max_warps);
  line.number("max_blocks_per_multiprocessor", facts.max_blocks);
  line.number("max_registers_per_block", facts.max_registers_per_block);
  line.number("max_registers_per_multiprocessor", facts.max_registers);
  line.number("max_shared_bytes_per_block", facts.max_shared_per_block_bytes);
  line.number("max_shared_bytes_per_multiprocessor", facts.max_shared_bytes);
  line.number("copy_engines", facts.copy_engines);
}

void add_memory(Line& line, const Note& note) {
  line.number("operation", note.type).number("address", note.address).number("bytes", note.bytes);
  if (note.kind == NoteKind::memory_pool) {
    line.number("pool", note.pool).number("used_bytes", note.used_bytes);
    line.number("release_threshold_bytes", note.release_threshold_bytes);
    return;
  }
  line.number("memory", note.memory).number("is_async", note.is_async ? 1 : 0);
  line.number("pool_address", note.pool_address);
}

void add_own(Line& line, const Note& note) {
  switch (note.kind) {
    case NoteKind::sync:
      line.number("type", note.type).number("event", note.event).number("result", note.result);
      line.number("record", note.record).number("event_sync_id", note.event_sync_id);
      break;
    case NoteKind::cuda_event:
      line.number("event", note.event).number("event_sync_id", note.event_sync_id);
      break;
    case NoteKind::overhead:
      line.number("overhead", note.type).number("object", note.object).number("tid", note.tid);
      break;
    case NoteKind::device:
      add_device(line, *device_facts(note.device));
      break;
    case NoteKind::context:
      line.number("null_stream", note.null_stream);
      break;
    case NoteKind::stream:
      line.number("flag", note.type).number("priority", note.priority);
      break;
    case NoteKind::memory:
    case NoteKind::memory_pool:
      add_memory(line, note);
      break;
    case NoteKind::external_correlation:
      line.number("external_kind", note.type).number("external_id", note.external_id);
      break;
    case NoteKind::unknown:
      break;
  }
}

}  // namespace

void write_truth_of(const Note& note) {
  if (!truth_wanted()) return;
  Line line(kNames[static_cast<int>(note.kind)]);
  line.number("seq", note.seq).text("fate", kFates[static_cast<int>(note.fate)]);
  line.number("correlation", note.correlation).number("device", note.device).number("context", note.context);
  line.number("stream", note.stream);
  add_own(line, note);
  line.number("start", note.start_ns).number("end", note.end_ns);
  line.number("cupti_start", note.cupti_start_ns).number("cupti_end", note.cupti_end_ns);
  write_truth(line.close());
}

}  // namespace sim
