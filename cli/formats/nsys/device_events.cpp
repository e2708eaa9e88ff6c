// Tables of GPU work and of other activity that CUPTI reports per device.
#include <cxxabi.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <string>
#include <unordered_map>

#include "cli/formats/nsys/output.h"
#include "cli/formats/reading/devices.h"
#include "cli/trace/words.h"

namespace cli::nsys {
namespace {

// CUDA_MEMOPR_MEMORY_KIND_... begin with pageable at 0 and end with unknown; CUpti_ActivityMemoryKind has unknown at 0.
std::uint8_t cupti_memory(const Rows& rows, int column) {
  const auto kind = rows.number<std::uint8_t>(column, 7);
  return kind < 7 ? static_cast<std::uint8_t>(kind + 1) : 0;
}

// Migrations of unified memory (11 to 13) are copies in the same directions.
std::uint8_t cupti_copy(std::uint8_t kind) {
  constexpr std::array<std::uint8_t, 3> kUnified{1, 2, 8};
  return kind >= 11 && kind <= 13 ? kUnified[kind - 11u] : kind;
}

// CUDA_KERNEL_LAUNCH_TYPE_... has unknown at 0, CUpti_ActivityLaunchType begins with regular at 0.
std::uint8_t cupti_launch_type(std::uint8_t type) { return type > 0 ? static_cast<std::uint8_t>(type - 1) : 0; }

std::string demangled(std::string name) {
  int status = 0;
  char* const plain = name.starts_with("_Z") ? abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status) : nullptr;
  if (plain == nullptr) return name;
  name = plain;
  std::free(plain);
  return name;
}

std::uint64_t product(const std::uint32_t (&size)[3]) {
  std::uint64_t all = std::uint64_t{size[0]} * size[1];
  return __builtin_mul_overflow(all, std::uint64_t{size[2]}, &all) ? UINT64_MAX : all;
}

void estimate(Launch& launch, const Device& device) {
  const auto estimated = estimate_occupancy(
      device, {product(launch.grid), product(launch.block), launch.registers_per_thread, launch.shared_bytes});
  if (!estimated) return;
  launch.estimated = true;
  launch.blocks_per_multiprocessor = estimated->blocks_per_multiprocessor;
  launch.warps_per_multiprocessor = estimated->warps_per_multiprocessor;
  if (estimated->achieved_percent) launch.occupancy_percent = static_cast<std::int32_t>(*estimated->achieved_percent);
}

class DeviceRows {
 public:
  explicit DeviceRows(Output& output) : output_(output) {}

  void read_kernels();
  void read_copies();
  void read_sets();
  void read_graphs();
  void read_synchronizations();
  void read_memory();

 private:
  // The numbers that determine a Launch, in the order of the columns: grid, block, registers, static and dynamic shared
  // memory, local memory, cluster, type; then the device and the process, because devices are numbered per process.
  static constexpr int kShapeColumns = 14;
  using Shape = std::array<std::uint32_t, kShapeColumns + 2>;
  struct ShapeHash {
    std::size_t operator()(const Shape& shape) const {
      return std::hash<std::string_view>()({reinterpret_cast<const char*>(shape.data()), sizeof(shape)});
    }
  };
  // The record of a CUDA event, for which others wait.
  struct Producer {
    std::uint32_t stream, correlation;
  };
  struct Place {
    std::uint32_t device, stream, context;
  };

  void require(std::string_view table, std::initializer_list<std::string_view> columns) const;
  LaunchId launch(ReportProcess& process, const Rows& rows, int first, std::uint32_t device);
  StringId kernel_name(const Rows& rows, int demangled_column);
  // Sets what GPU work has in common. Columns: start, end, deviceId, streamId, correlationId, globalPid, contextId.
  ReportProcess* begin_work(Event& event, Place& place, Kind kind, const Rows& rows);
  // Returns the device of a context, as GPU work has it; for a context without work, the device in the row.
  static std::uint32_t device_of(const ReportProcess& process, const Rows& rows, int device, int context);
  void read_cuda_events();

  Output& output_;
  std::unordered_map<Shape, LaunchId, ShapeHash> launches_;
  std::unordered_map<std::int64_t, StringId> mangled_names_;
  std::map<std::pair<std::uint64_t, std::int64_t>, Producer> producers_;  // by process and eventSyncId
};

void DeviceRows::require(std::string_view table, std::initializer_list<std::string_view> columns) const {
  if (!output_.database.has_table(table)) return;
  for (const std::string_view column : columns) {
    if (!output_.database.has_column(table, column))
      output_.database.refuse(fmt::format("the table {} has no column {}", table, column));
  }
}

LaunchId DeviceRows::launch(ReportProcess& process, const Rows& rows, int first, std::uint32_t device) {
  Shape shape;
  for (int i = 0; i < kShapeColumns; ++i) shape[static_cast<std::size_t>(i)] = rows.number<std::uint32_t>(first + i);
  shape[kShapeColumns] = device;
  shape[kShapeColumns + 1] = process.id;
  const auto [entry, is_new] = launches_.try_emplace(shape);
  if (!is_new) return entry->second;
  Launch launch;
  std::copy_n(shape.begin(), 3, launch.grid);
  std::copy_n(shape.begin() + 3, 3, launch.block);
  launch.registers_per_thread = shape[6];
  launch.shared_bytes = std::uint64_t{shape[7]} + shape[8];
  launch.local_bytes_per_thread = shape[9];
  std::copy_n(shape.begin() + 10, 3, launch.cluster);
  launch.launch_type = cupti_launch_type(static_cast<std::uint8_t>(std::min(shape[13], 4u)));
  estimate(launch, output_.device(process, device));
  return entry->second = output_.catalog.launches.intern(launch);
}

// The columns demangledName, shortName and mangledName follow each other.
StringId DeviceRows::kernel_name(const Rows& rows, int demangled_column) {
  for (const int column : {demangled_column, demangled_column + 1}) {
    if (const StringId name = output_.name(rows.optional(column)); name != 0) return name;
  }
  const auto id = rows.optional(demangled_column + 2);
  if (!id) return 0;
  const auto [entry, is_new] = mangled_names_.try_emplace(*id, 0);
  if (is_new) entry->second = output_.intern(demangled(std::string(output_.texts[*id])));
  return entry->second;
}

ReportProcess* DeviceRows::begin_work(Event& event, Place& place, Kind kind, const Rows& rows) {
  if (!output_.set_times(event, rows, 0, 1)) return nullptr;
  ReportProcess& process = output_.process(rows.optional(5));
  place = {rows.number<std::uint32_t>(2), rows.number<std::uint32_t>(3), rows.number<std::uint32_t>(6)};
  event.kind = kind;
  event.track = output_.stream_track(process, place.device, place.stream);
  event.correlation = rows.number<std::uint64_t>(4);
  ++process.work[place.device];
  if (!rows.is_null(6)) process.devices_by_context.try_emplace(place.context, place.device);
  return &process;
}

// Rows of synchronizations and CUDA events may have deviceId 0 for a context of another device.
std::uint32_t DeviceRows::device_of(const ReportProcess& process, const Rows& rows, int device, int context) {
  const auto known = process.devices_by_context.find(rows.number<std::uint32_t>(context));
  return rows.is_null(context) || known == process.devices_by_context.end() ? rows.number<std::uint32_t>(device)
                                                                            : known->second;
}

void DeviceRows::read_kernels() {
  constexpr std::string_view kTable = "CUPTI_ACTIVITY_KIND_KERNEL";
  require(kTable, {"start", "end", "deviceId", "streamId", "correlationId"});
  const Database& database = output_.database;
  if (database.has_table(kTable) && !database.has_column(kTable, "demangledName") &&
      !database.has_column(kTable, "shortName"))
    require(kTable, {"mangledName"});
  for (Rows rows = output_.database.rows(kTable, {"start",
                                                  "end",
                                                  "deviceId",
                                                  "streamId",
                                                  "correlationId",
                                                  "globalPid",
                                                  "contextId",
                                                  "demangledName",
                                                  "shortName",
                                                  "mangledName",
                                                  "graphNodeId",
                                                  "graphId",
                                                  "gridX",
                                                  "gridY",
                                                  "gridZ",
                                                  "blockX",
                                                  "blockY",
                                                  "blockZ",
                                                  "registersPerThread",
                                                  "staticSharedMemory",
                                                  "dynamicSharedMemory",
                                                  "localMemoryPerThread",
                                                  "clusterX",
                                                  "clusterY",
                                                  "clusterZ",
                                                  "launchType"});
       rows.next();) {
    Event event;
    Place place;
    ReportProcess* const process = begin_work(event, place, Kind::kernel, rows);
    if (process == nullptr) continue;
    event.name = kernel_name(rows, 7);
    KernelFacts facts;
    facts.context = place.context;
    facts.graph = {static_cast<std::uint64_t>(rows.integer(10)), rows.number<std::uint32_t>(11), 0};
    facts.launch = launch(*process, rows, 12, place.device);
    output_.emit(*process, event, facts);
  }
}

void DeviceRows::read_copies() {
  constexpr std::uint8_t kBetweenDevices = 10;
  std::map<std::uint32_t, StringId> names;
  for (Rows rows = output_.database.rows(
           "CUPTI_ACTIVITY_KIND_MEMCPY",
           {"start", "end", "deviceId", "streamId", "correlationId", "globalPid", "contextId", "bytes", "copyKind",
            "srcKind", "dstKind", "srcDeviceId", "dstDeviceId", "srcContextId", "dstContextId", "graphNodeId"});
       rows.next();) {
    Event event;
    Place place;
    ReportProcess* const process = begin_work(event, place, Kind::memcpy, rows);
    if (process == nullptr) continue;
    event.bytes = rows.number<std::uint64_t>(7);
    event.has_bytes = !rows.is_null(7);
    CopyFacts facts;
    facts.direction = cupti_copy(rows.number<std::uint8_t>(8));
    facts.from_memory = cupti_memory(rows, 9);
    facts.to_memory = cupti_memory(rows, 10);
    facts.flags = kNoFlags;
    facts.between_devices = facts.direction == kBetweenDevices && !rows.is_null(11) && !rows.is_null(12);
    if (facts.between_devices) {
      facts.from_device = rows.number<std::uint32_t>(11);
      facts.to_device = rows.number<std::uint32_t>(12);
      facts.from_context = rows.number<std::uint32_t>(13);
      facts.to_context = rows.number<std::uint32_t>(14);
    }
    facts.context = place.context;
    facts.graph.node = static_cast<std::uint64_t>(rows.integer(15));
    const std::uint32_t words = facts.direction | facts.from_memory << 8 | facts.to_memory << 16;
    const auto [name, is_new] = names.try_emplace(words, 0);
    if (is_new) name->second = output_.intern(copy_name(facts.direction, facts.from_memory, facts.to_memory));
    event.name = name->second;
    output_.emit(*process, event, facts);
  }
}

void DeviceRows::read_sets() {
  for (Rows rows = output_.database.rows("CUPTI_ACTIVITY_KIND_MEMSET",
                                         {"start", "end", "deviceId", "streamId", "correlationId", "globalPid",
                                          "contextId", "bytes", "value", "memKind", "graphNodeId"});
       rows.next();) {
    Event event;
    Place place;
    ReportProcess* const process = begin_work(event, place, Kind::memset, rows);
    if (process == nullptr) continue;
    event.bytes = rows.number<std::uint64_t>(7);
    event.has_bytes = !rows.is_null(7);
    SetFacts facts;
    facts.value = rows.number<std::uint32_t>(8);
    facts.value_is_known = !rows.is_null(8);
    facts.memory = cupti_memory(rows, 9);
    facts.flags = kNoFlags;
    facts.context = place.context;
    facts.graph.node = static_cast<std::uint64_t>(rows.integer(10));
    event.name = output_.intern(set_name(facts.memory));
    output_.emit(*process, event, facts);
  }
}

void DeviceRows::read_graphs() {
  for (Rows rows = output_.database.rows(
           "CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
           {"start", "end", "deviceId", "streamId", "correlationId", "globalPid", "contextId", "graphId"});
       rows.next();) {
    Event event;
    Place place;
    ReportProcess* const process = begin_work(event, place, Kind::graph, rows);
    if (process == nullptr) continue;
    const GraphLaunchFacts facts{rows.number<std::uint32_t>(7), place.context};
    event.name = output_.intern(fmt::format("CUDA graph {}", facts.graph));
    output_.emit(*process, event, facts);
  }
}

// A CUDA event has the time at which the GPU reached it. The time is 0 or NULL if it was not collected
// (--cuda-event-trace).
void DeviceRows::read_cuda_events() {
  for (Rows rows = output_.database.rows(
           "CUPTI_ACTIVITY_KIND_CUDA_EVENT",
           {"timestamp", "deviceId", "streamId", "correlationId", "globalPid", "eventId", "eventSyncId", "contextId"});
       rows.next();) {
    ReportProcess& process = output_.process(rows.optional(4));
    const auto stream = rows.number<std::uint32_t>(2), correlation = rows.number<std::uint32_t>(3);
    if (const auto sync_id = rows.optional(6); sync_id && *sync_id != 0)
      producers_[{process.key, *sync_id}] = {stream, correlation};
    if (rows.integer(0) == 0) {
      ++process.untimed_cuda_events;
      continue;
    }
    Event event;
    event.kind = Kind::cuda_event;
    event.phase = 'i';
    if (!output_.set_times(event, rows, 0, -1)) continue;
    event.track = output_.stream_track(process, device_of(process, rows, 1, 7), stream);
    event.correlation = correlation;
    event.name = output_.intern("CUDA event");
    EventRecordFacts facts;
    facts.event = rows.number<std::uint32_t>(5);
    facts.stream = stream;
    output_.emit(process, event, facts);
  }
}

void DeviceRows::read_synchronizations() {
  read_cuda_events();
  for (Rows rows = output_.database.rows("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
                                         {"start", "end", "deviceId", "streamId", "correlationId", "globalPid",
                                          "contextId", "syncType", "deprecatedSyncType", "eventId", "eventSyncId"});
       rows.next();) {
    Event event;
    event.kind = Kind::sync;
    if (!output_.set_times(event, rows, 0, 1)) continue;
    ReportProcess& process = output_.process(rows.optional(5));
    SyncFacts facts;
    facts.type = rows.number<std::uint8_t>(rows.is_null(7) ? 8 : 7);
    facts.device = device_of(process, rows, 2, 6);
    facts.context = rows.number<std::uint32_t>(6);
    facts.stream = rows.number<std::uint32_t>(3, kNoNumber);
    const bool is_of_event = facts.type == 1 || facts.type == 2;
    if (is_of_event) facts.event = rows.number<std::uint32_t>(9, kNoNumber);
    const auto producer = producers_.find({process.key, rows.integer(10)});
    if (is_of_event && producer != producers_.end()) {
      facts.producer_is_known = true;
      facts.producer_stream = producer->second.stream;
      facts.producer_correlation = producer->second.correlation;
    }
    event.track = facts.stream != kNoNumber ? output_.stream_track(process, facts.device, facts.stream)
                                            : output_.gpu_track(process, facts.device, "waits");
    event.correlation = rows.number<std::uint64_t>(4);
    event.name = output_.intern(sync_name(facts.type));
    output_.emit(process, event, facts);
  }
}

void DeviceRows::read_memory() {
  const Enumeration operations = read_enumeration(output_.database, "ENUM_CUDA_DEV_MEM_EVENT_OPER");
  const auto found = operations.find("CUDA_DEV_MEM_EVENT_OPR_DEALLOCATION");
  const std::int64_t release = found != operations.end() ? found->second : 1;
  for (Rows rows =
           output_.database.rows("CUDA_GPU_MEMORY_USAGE_EVENTS",
                                 {"start", "deviceId", "contextId", "globalPid", "correlationId", "bytes", "address",
                                  "memKind", "memoryOperationType", "streamId", "localMemoryPoolAddress"});
       rows.next();) {
    Event event;
    event.kind = Kind::memory;
    event.phase = 'i';
    if (!output_.set_times(event, rows, 0, -1)) continue;
    ReportProcess& process = output_.process(rows.optional(3));
    MemoryFacts facts;
    facts.operation = rows.integer(8) == release ? 2 : 1;
    facts.memory = cupti_memory(rows, 7);
    facts.device = rows.number<std::uint32_t>(1);
    facts.context = rows.number<std::uint32_t>(2);
    facts.stream = rows.number<std::uint32_t>(9, kNoNumber);
    facts.address = static_cast<std::uint64_t>(rows.integer(6));
    facts.pool_address = static_cast<std::uint64_t>(rows.integer(10));
    event.track = output_.gpu_track(process, facts.device, "memory");
    event.correlation = rows.number<std::uint64_t>(4);
    event.bytes = rows.number<std::uint64_t>(5);
    event.has_bytes = !rows.is_null(5);
    event.name = output_.intern(fmt::format("{} ({})", memory_operation(facts.operation), memory_name(facts.memory)));
    output_.emit(process, event, facts);
  }
}

}  // namespace

void read_device_events(Output& output) {
  DeviceRows rows(output);
  rows.read_kernels();
  rows.read_copies();
  rows.read_sets();
  rows.read_graphs();
  rows.read_synchronizations();
  rows.read_memory();
}

}  // namespace cli::nsys
