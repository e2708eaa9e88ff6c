// Data shared by the translators of a report's tables: the processes and their tracks, the sink of events, and names.
#pragma once
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "cli/formats/nsys/database.h"
#include "cli/formats/nsys/report.h"
#include "cli/trace/catalog.h"
#include "cli/trace/event.h"
#include "cli/trace/payload.h"

namespace cli::nsys {

// A process of the report that used CUDA, NVTX or NCCL.
struct ReportProcess {
  ProcessId id = 0;
  std::uint64_t key = 0;                                      // GlobalId::process
  std::int64_t pid = -1;                                      // -1 if unknown
  std::map<std::int64_t, Device> devices;                     // used ones
  std::map<std::int64_t, std::uint64_t> work;                 // GPU work by device
  std::map<std::uint32_t, std::uint32_t> devices_by_context;  // from GPU work
  std::unordered_map<std::uint32_t, TrackId> threads;         // by thread
  std::unordered_map<std::uint64_t, TrackId> streams;         // by device << 32 | stream
  bool any = false;                                           // an event was emitted
  // NCCL calls, and those of them with a payload
  std::uint64_t nccl_calls = 0, nccl_payloads = 0;
  std::uint64_t untimed_cuda_events = 0;
};

class Output {
 public:
  Output(Database& from, Catalog& to, EventSink& events)
      : database(from),
        catalog(to),
        texts(from),
        session(read_session(from)),
        gpus(from),
        priorities_(read_priorities(from)),
        sink_(events) {}
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  // Returns the process of a row. A row without a global id belongs to the only process of the report.
  ReportProcess& process(std::optional<std::int64_t> global_id);
  // Null if the process is unknown so far.
  ReportProcess* known_process(std::int64_t global_id);
  std::deque<ReportProcess>& processes() { return processes_; }

  TrackId thread_track(ReportProcess& process, std::uint32_t tid);
  TrackId stream_track(ReportProcess& process, std::uint32_t device, std::uint32_t stream);
  // Returns a track such as "GPU 1 memory".
  TrackId gpu_track(ReportProcess& process, std::uint32_t device, std::string_view what);
  const Device& device(ReportProcess& process, std::int64_t number);

  // Sets start and duration from these columns. `end` of -1 is an instant. Returns false, and counts the row, if it has
  // no possible time.
  bool set_times(Event& event, const Rows& rows, int start, int end);
  void emit(ReportProcess& process, const Event& event, const Facts& facts);

  // Returns the name with this id of StringIds.
  StringId name(std::optional<std::int64_t> id);
  StringId intern(std::string_view text) { return catalog.strings.intern(text); }

  std::uint64_t timeless_rows() const { return timeless_rows_; }

  Database& database;
  Catalog& catalog;
  Texts texts;
  const Session session;
  const Gpus gpus;

 private:
  ReportProcess& add_process(std::uint64_t key);

  std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> priorities_;
  EventSink& sink_;
  std::deque<ReportProcess> processes_;  // stable addresses
  std::unordered_map<std::uint64_t, ReportProcess*> by_key_;
  ReportProcess* last_ = nullptr;
  std::unordered_map<std::int64_t, StringId> names_;
  std::uint64_t timeless_rows_ = 0;
};

// The tables that each function reads are in its file. Calls come first: they determine the process of work without one.
void read_host_events(Output& output);
void read_ranges(Output& output);
void read_device_events(Output& output);
// Events that belong to processes found before: calls of the operating system's libraries, and metrics of GPUs.
void read_system_events(Output& output);

}  // namespace cli::nsys
