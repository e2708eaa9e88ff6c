// Notes as CUPTI's records.
#include <unistd.h>

#include <cstring>

#include "note_fill.h"
#include "note_layouts.h"
#include "records.h"
#include "sizes.h"
#include "state.h"

namespace sim {
namespace {

// Where each struct grew: 12.3 is 21, 12.4 is 22, 12.5 is 23, 12.6 is 24, 12.8 is 26. The sizes before are those of the
// older structs.
constexpr Since kSyncSizes[] = {{26, sizeof(SyncLayout)}, {0, 40}};
// 13.5 made the event longer, by what graph it is recorded in: no version writes more than is known here.
constexpr Since kCudaEventSizes[] = {{26, sizeof(CudaEventLayout)}, {0, sizeof(CUpti_ActivityCudaEvent)}};
constexpr Since kOverheadSizes[] = {{22, sizeof(OverheadLayout)}, {21, 48}, {0, 40}};
constexpr Since kContextSizes[] = {{23, sizeof(ContextLayout)}, {22, 24}, {0, 16}};
constexpr Since kMemorySizes[] = {{24, sizeof(MemoryLayout)}, {16, 120}, {0, 112}};
constexpr Since kPoolSizes[] = {{130'000, sizeof(PoolLayout)}, {16, 72}, {0, 64}};
constexpr Since kGraphSizes[] = {{21, sizeof(GraphLayout)}, {0, 48}};

void fill_sync(std::byte* at, const Note& note) {
  SyncLayout record{};
  record.kind = CUPTI_ACTIVITY_KIND_SYNCHRONIZATION;
  record.type = note.type;
  record.start = note.cupti_start_ns;
  record.end = note.cupti_end_ns;
  record.correlationId = note.correlation;
  record.contextId = note.context;
  record.streamId = note.stream;
  record.cudaEventId = note.event;
  record.cudaEventSyncId = note.event_sync_id != 0 ? note.event_sync_id : CUPTI_SYNCHRONIZATION_INVALID_VALUE;
  record.returnValue = note.result;
  store(at, record);
}

void fill_cuda_event(std::byte* at, const Note& note) {
  CudaEventLayout record{};
  record.kind = CUPTI_ACTIVITY_KIND_CUDA_EVENT;
  record.correlationId = note.correlation;
  record.contextId = note.context;
  record.streamId = note.stream;
  record.eventId = note.event;
  record.deviceId = note.device;
  record.cudaEventSyncId = note.event_sync_id;
  store(at, record);
}

void fill_overhead(std::byte* at, const Note& note) {
  OverheadLayout record{};
  record.kind = CUPTI_ACTIVITY_KIND_OVERHEAD;
  record.overheadKind = note.type;
  record.objectKind = note.object;
  record.objectId[0] = static_cast<std::uint32_t>(getpid());
  record.objectId[1] = note.tid;
  record.start = note.cupti_start_ns;
  record.end = note.cupti_end_ns;
  record.correlationId = note.correlation;
  store(at, record);
}

void fill_external(std::byte* at, const Note& note) {
  CUpti_ActivityExternalCorrelation record{};
  record.kind = CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION;
  record.externalKind = static_cast<CUpti_ExternalCorrelationKind>(note.type);
  record.externalId = note.external_id;
  record.correlationId = note.correlation;
  store(at, record);
}

void fill_unknown(std::byte* at) {
  UnknownLayout record{};
  record.kind = kUnknownKind;
  std::memset(record.what, 0x5a, sizeof(record.what));
  store(at, record);
}

}  // namespace

CUpti_ActivityKind kind_of(const Note& note) {
  constexpr CUpti_ActivityKind kKinds[] = {CUPTI_ACTIVITY_KIND_SYNCHRONIZATION,
                                           CUPTI_ACTIVITY_KIND_CUDA_EVENT,
                                           CUPTI_ACTIVITY_KIND_OVERHEAD,
                                           CUPTI_ACTIVITY_KIND_DEVICE,
                                           CUPTI_ACTIVITY_KIND_CONTEXT,
                                           CUPTI_ACTIVITY_KIND_STREAM,
                                           CUPTI_ACTIVITY_KIND_MEMORY2,
                                           CUPTI_ACTIVITY_KIND_MEMORY_POOL,
                                           CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION,
                                           kUnknownKind};
  return kKinds[static_cast<int>(note.kind)];
}

std::size_t note_record_size(CUpti_ActivityKind kind) {
  switch (static_cast<int>(kind)) {
    case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
      return size_in(kSyncSizes);
    case CUPTI_ACTIVITY_KIND_CUDA_EVENT:
      return size_in(kCudaEventSizes);
    case CUPTI_ACTIVITY_KIND_OVERHEAD:
      return size_in(kOverheadSizes);
    case CUPTI_ACTIVITY_KIND_DEVICE:
      return behaviour().version >= 130'000 ? sizeof(NewestDevice) : sizeof(CUpti_ActivityDevice4);
    case CUPTI_ACTIVITY_KIND_CONTEXT:
      return size_in(kContextSizes);
    case CUPTI_ACTIVITY_KIND_STREAM:
      return sizeof(CUpti_ActivityStream);
    case CUPTI_ACTIVITY_KIND_MEMORY2:
      return size_in(kMemorySizes);
    case CUPTI_ACTIVITY_KIND_MEMORY_POOL:
      return size_in(kPoolSizes);
    case CUPTI_ACTIVITY_KIND_GRAPH_TRACE:
      return size_in(kGraphSizes);
    case CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION:
      return sizeof(CUpti_ActivityExternalCorrelation);
    case kUnknownKind:
      return sizeof(UnknownLayout);
    default:
      return 0;
  }
}

void fill_record(std::byte* at, const Note& note) {
  switch (note.kind) {
    case NoteKind::sync:
      return fill_sync(at, note);
    case NoteKind::cuda_event:
      return fill_cuda_event(at, note);
    case NoteKind::overhead:
      return fill_overhead(at, note);
    case NoteKind::device:
      return fill_device(at, note);
    case NoteKind::context:
      return fill_context(at, note);
    case NoteKind::stream:
      return fill_stream(at, note);
    case NoteKind::memory:
      return fill_memory(at, note);
    case NoteKind::memory_pool:
      return fill_pool(at, note);
    case NoteKind::external_correlation:
      return fill_external(at, note);
    case NoteKind::unknown:
      return fill_unknown(at);
  }
}

void fill_graph(std::byte* at, const DeviceEvent& event, bool incomplete) {
  GraphLayout record{};
  record.kind = CUPTI_ACTIVITY_KIND_GRAPH_TRACE;
  record.correlationId = event.correlation;
  record.start = incomplete ? 0 : event.cupti_start_ns;
  record.end = incomplete ? 0 : event.cupti_end_ns;
  record.deviceId = record.endDeviceId = event.device;
  record.contextId = record.endContextId = event.context;
  record.streamId = event.stream;
  record.graphId = event.graph;
  store(at, record);
}

}  // namespace sim
