// Calls, waits, overhead, memory, contexts and streams.
#include "agent/cupti/api_choice.h"
#include "examples/simulated_training/standin/cupti/note_layouts.h"
#include "tests/unit/agent/translated.h"

namespace {

constexpr std::uint64_t kStart = 1'000'000'007;
int s_asked = 0;

CUptiResult say_name(CUpti_CallbackDomain domain, std::uint32_t cbid, const char** name) {
  ++s_asked;
  if (domain != CUPTI_CB_DOMAIN_RUNTIME_API || cbid != 211) return CUPTI_ERROR_INVALID_PARAMETER;
  *name = "cudaLaunchKernel_v7000";
  return CUPTI_SUCCESS;
}

CUpti_ActivityAPI call(std::uint64_t start, std::uint64_t end) {
  CUpti_ActivityAPI activity{};
  activity.kind = CUPTI_ACTIVITY_KIND_RUNTIME;
  activity.cbid = 211;
  activity.start = start;
  activity.end = end;
  activity.threadId = 4'000'000;
  activity.correlationId = 5;
  return activity;
}

CUpti_ActivityStream stream(std::uint32_t context, std::uint32_t number) {
  CUpti_ActivityStream activity{};
  activity.kind = CUPTI_ACTIVITY_KIND_STREAM;
  activity.contextId = context;
  activity.streamId = number;
  activity.priority = static_cast<std::uint32_t>(-5);
  activity.flag = CUPTI_ACTIVITY_STREAM_CREATE_FLAG_NON_BLOCKING;
  return activity;
}

}  // namespace

TEST_CASE("a call of 2^32 - 1 ns is narrow; longer, failed and odd ones are wide") {
  Translated buffer;
  buffer.add(call(kStart, kStart + 0xffffffffu));
  CHECK(buffer.one<trace::RuntimeRecord>().duration_ns == 0xffffffffu);
  auto failed = call(kStart, kStart + 1);
  failed.returnValue = 700;
  const CUpti_ActivityAPI wide[] = {call(kStart, kStart + 0x100000000u), failed, call(kStart, 0), call(0, kStart),
                                    call(kStart, kStart - 1)};
  for (const auto& activity : wide) buffer.add(activity);
  const auto records = buffer.in_blocks<trace::RuntimeWideRecord>();
  REQUIRE(records.size() == std::size(wide));
  for (std::size_t i = 0; i < records.size(); ++i) {
    CHECK(records[i].start_cupti_ns == wide[i].start);
    CHECK(records[i].end_cupti_ns == wide[i].end);
  }
  CHECK(records[1].return_value == 700);
  CHECK(buffer.invalid_timestamps() == 3);
}

TEST_CASE("names of calls are asked for before the first record, never while one is translated") {
  Translated buffer;
  buffer.library().get_callback_name = say_name;
  agent::learn_api_names();
  const int asked = s_asked;
  CHECK(asked > 1000);
  CHECK(std::string(agent::api_name(trace::RuntimeRecord::kKind, 211)) == "cudaLaunchKernel_v7000");
  for (const std::uint32_t odd : {0u, 210u, 2048u, 0xffffffffu})
    CHECK(std::string(agent::api_name(trace::DriverRecord::kKind, odd)).empty());
  buffer.add(call(kStart, kStart + 1));
  auto unknown = call(kStart, kStart + 1);
  unknown.cbid = 0x7fffffff;
  buffer.add(unknown);
  agent::learn_api_names();
  CHECK(s_asked == asked);
  buffer.library().get_callback_name = nullptr;
  CHECK(buffer.one<trace::RuntimeRecord>().cbid == 211);
  CHECK(buffer.one<trace::RuntimeWideRecord>().cbid == 0x7fffffff);
}

TEST_CASE("a wait; its result only where CUPTI has one") {
  CUpti_ActivitySynchronization wait{};
  wait.kind = CUPTI_ACTIVITY_KIND_SYNCHRONIZATION;
  wait.type = CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE;
  wait.start = kStart, wait.end = kStart + 9;
  wait.correlationId = 1, wait.contextId = 2, wait.streamId = 3, wait.cudaEventId = 0xffffffff;
  Translated old("default", 24);
  old.add(wait);
  const auto record = old.one<trace::SyncRecord>();
  CHECK(record.type == 3);
  CHECK(record.start_cupti_ns == kStart);
  CHECK(record.end_cupti_ns == kStart + 9);
  CHECK(record.correlation == 1);
  CHECK(record.context == 2);
  CHECK(record.stream == 3);
  CHECK(record.event == 0xffffffff);
  CHECK(record.return_value == 0);
  Translated newer("default", 26);
  wait.end = 1;
  newer.add(wait);
  CHECK(newer.one<trace::SyncRecord>().return_value == 0xeeeeeeee);  // what lies there
  CHECK(newer.one<trace::SyncRecord>().event_sync_id == 0xeeeeeeeeeeeeeeee);
  CHECK(newer.invalid_timestamps() == 1);
}

TEST_CASE("an event that was recorded, and the wait for it; which recording, only where CUPTI says it") {
  sim::CudaEventLayout event{};
  event.kind = CUPTI_ACTIVITY_KIND_CUDA_EVENT;
  event.correlationId = 1, event.contextId = 2, event.streamId = 3, event.eventId = 4,
  event.cudaEventSyncId = 1ull << 40;
  sim::SyncLayout wait{};
  wait.kind = CUPTI_ACTIVITY_KIND_SYNCHRONIZATION;
  wait.start = kStart, wait.end = kStart + 1;
  for (const std::uint32_t version : {24u, 26u}) {
    Translated buffer("default", version);
    buffer.add(event);
    const auto record = buffer.one<trace::CudaEventRecord>();
    CHECK(record.correlation == 1);
    CHECK(record.context == 2);
    CHECK(record.stream == 3);
    CHECK(record.event == 4);
    CHECK(record.event_sync_id == (version == 26 ? 1ull << 40 : 0));
    // Not applicable: 32 bits of the header's constant, or 64.
    for (const std::uint64_t none : {std::uint64_t{CUPTI_SYNCHRONIZATION_INVALID_VALUE}, ~std::uint64_t{0}}) {
      wait.cudaEventSyncId = none;
      buffer.add(wait);
    }
    wait.cudaEventSyncId = 7;
    buffer.add(wait);
    const auto waits = buffer.in_blocks<trace::SyncRecord>();
    REQUIRE(waits.size() == 3);
    CHECK(waits[0].event_sync_id == 0);
    CHECK(waits[1].event_sync_id == 0);
    CHECK(waits[2].event_sync_id == (version == 26 ? 7 : 0));
  }
  Translated without("default,-cuda_event", 26);
  without.add(event);
  CHECK(without.in_blocks<trace::CudaEventRecord>().empty());
}

TEST_CASE("overhead belongs to a thread, a process, or a part of a device") {
  Translated buffer("default", 21);
  CUpti_ActivityOverhead overhead{};
  overhead.kind = CUPTI_ACTIVITY_KIND_OVERHEAD;
  overhead.overheadKind = CUPTI_ACTIVITY_OVERHEAD_CUPTI_BUFFER_FLUSH;
  overhead.start = kStart, overhead.end = kStart + 2;
  overhead.objectId.dcs = {10, 20, 30};
  for (const int object : {0, 1, 2, 3, 4, 5, 77}) {
    overhead.objectKind = static_cast<CUpti_ActivityObjectKind>(object);
    buffer.add(overhead);
  }
  const auto records = buffer.in_blocks<trace::OverheadRecord>();
  REQUIRE(records.size() == 7);
  const auto ids = [&](int i) {
    return std::vector<std::uint32_t>{records[i].tid, records[i].device, records[i].context, records[i].stream};
  };
  CHECK(ids(0) == std::vector<std::uint32_t>{0, 0, 0, 0});
  CHECK(ids(1) == std::vector<std::uint32_t>{10, 0, 0, 0});
  CHECK(ids(2) == std::vector<std::uint32_t>{20, 0, 0, 0});
  CHECK(ids(3) == std::vector<std::uint32_t>{0, 10, 0, 0});
  CHECK(ids(4) == std::vector<std::uint32_t>{0, 10, 20, 0});
  CHECK(ids(5) == std::vector<std::uint32_t>{0, 10, 20, 30});
  CHECK(ids(6) == std::vector<std::uint32_t>{0, 0, 0, 0});
  CHECK(records[6].object == 77);
  CHECK(records[0].overhead == 0x10000);
  CHECK(records[0].correlation == 0);
  Translated newer("default", 22);
  newer.add(overhead);
  CHECK(newer.one<trace::OverheadRecord>().correlation == 0xeeeeeeee);
}

TEST_CASE("memory, with and without a pool, and pools") {
  Translated buffer("all", 18);
  CUpti_ActivityMemory3 memory{};
  memory.kind = CUPTI_ACTIVITY_KIND_MEMORY2;
  memory.memoryOperationType = CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE;
  memory.memoryKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
  memory.correlationId = 1, memory.address = 0x7000, memory.bytes = 512, memory.timestamp = kStart;
  memory.deviceId = 2, memory.contextId = 3, memory.streamId = CUPTI_INVALID_STREAM_ID;
  memory.memoryPoolConfig.address = 0x9000;
  buffer.add(memory);
  memory.memoryPoolConfig.memoryPoolType = CUPTI_ACTIVITY_MEMORY_POOL_TYPE_LOCAL;
  memory.isAsync = 1, memory.streamId = 4;
  buffer.add(memory);
  const auto records = buffer.in_blocks<trace::MemoryRecord>();
  REQUIRE(records.size() == 2);
  CHECK(records[0].operation == 2);
  CHECK(records[0].memory == 3);
  CHECK(records[0].time_cupti_ns == kStart);
  CHECK(records[0].address == 0x7000);
  CHECK(records[0].stream == 0xffffffff);
  CHECK(records[0].pool_address == 0);
  CHECK(records[1].pool_address == 0x9000);
  CHECK(records[1].is_async == 1);

  CUpti_ActivityMemoryPool2 pool{};
  pool.kind = CUPTI_ACTIVITY_KIND_MEMORY_POOL;
  pool.memoryPoolOperationType = CUPTI_ACTIVITY_MEMORY_POOL_OPERATION_TYPE_TRIMMED;
  pool.memoryPoolType = CUPTI_ACTIVITY_MEMORY_POOL_TYPE_LOCAL;
  pool.address = 0x9000, pool.size = 100, pool.utilizedSize = 60, pool.releaseThreshold = 70, pool.deviceId = 5;
  buffer.add(pool);
  const auto trimmed = buffer.one<trace::MemoryPoolRecord>();
  CHECK(trimmed.operation == 3);
  CHECK(trimmed.pool == 1);
  CHECK(trimmed.bytes == 100);
  CHECK(trimmed.used_bytes == 60);
  CHECK(trimmed.release_threshold_bytes == 70);
  CHECK(trimmed.device == 5);
}

TEST_CASE("contexts and streams are defined once, in the region") {
  Translated buffer;
  CUpti_ActivityContext context{};
  context.kind = CUPTI_ACTIVITY_KIND_CONTEXT;
  context.contextId = 900, context.deviceId = 6, context.nullStreamId = 7;
  for (int i = 0; i < 3; ++i) {
    buffer.add(context);
    buffer.add(stream(900, 8));
    buffer.add(stream(901, 8));
  }
  const auto contexts = buffer.in_region<trace::ContextRecord>();
  const auto streams = buffer.in_region<trace::StreamRecord>();
  REQUIRE(contexts.size() == 1);
  CHECK(contexts[0].device == 6);
  CHECK(contexts[0].null_stream == 7);
  REQUIRE(streams.size() == 2);
  CHECK(streams[0].priority == -5);
  CHECK(streams[0].flag == 2);
  CHECK(streams[1].context == 901);
  CHECK(buffer.in_blocks<trace::StreamRecord>().empty());
}

TEST_CASE("what is not wanted or not known is counted, whoever asked for it") {
  Translated light("light");
  light.add(call(kStart, kStart + 1));
  light.add(stream(1, 1));
  CUpti_ActivityKernel5 odd{};
  for (const int kind : {0, 4, 63, 64, 9000, 0x7fffffff}) {
    odd.kind = static_cast<CUpti_ActivityKind>(kind);
    light.add(odd);
  }
  CHECK(light.unknown() == 8);
  CHECK(light.in_blocks<trace::RuntimeRecord>().empty());
  CHECK(light.in_region<trace::StreamRecord>().empty());
}

TEST_CASE("streams without end fill half of the region; then they live in blocks") {
  Translated buffer;
  for (std::uint32_t i = 0; i < 20'000; ++i) buffer.add(stream(1000, i));
  CHECK(Translated::header().definitions_used <= Translated::header().definitions_bytes / 2);
  const auto last = buffer.in_blocks<trace::StreamRecord>();
  REQUIRE_FALSE(last.empty());
  CHECK(last.back().stream == 19'999);
}
