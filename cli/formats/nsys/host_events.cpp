// Tables of calls: CUDA runtime and driver, overhead of CUDA and of the profiler.
#include <string_view>
#include <unordered_map>

#include "cli/formats/nsys/callchains.h"
#include "cli/formats/nsys/output.h"
#include "cli/trace/names.h"
#include "cli/trace/words.h"

namespace cli::nsys {
namespace {

// nsys appends the version of the interface to names of the runtime and of driver functions: "cudaLaunchKernel_v7000".
// "_v2" is part of the name of a driver function.
std::string_view without_version(std::string_view name) {
  const std::size_t digits = name.find_last_not_of("0123456789") + 1;
  const bool is_versioned = name.size() - digits >= 4 && digits >= 2 && name.substr(digits - 2, 2) == "_v";
  return is_versioned ? name.substr(0, digits - 2) : name;
}

// Functions of the driver are named cuXxx, those of the runtime cudaXxx.
bool is_driver_name(std::string_view name) {
  return name.size() > 2 && name.starts_with("cu") && name[2] >= 'A' && name[2] <= 'Z';
}

struct CallName {
  StringId name = 0;
  bool is_driver = false;
};

class Calls {
 public:
  explicit Calls(Output& output) : output_(output), chains_(output), stack_name_(output.intern("stack of a call")) {
    const Enumeration classes = read_enumeration(output.database, "ENUM_NSYS_EVENT_CLASS");
    const auto value = [&](std::string_view name, std::int64_t usual) {
      const auto found = classes.find(name);
      return found == classes.end() ? usual : found->second;
    };
    runtime_ = value("TRACE_PROCESS_EVENT_CUDA_RUNTIME", 0);
    driver_ = value("TRACE_PROCESS_EVENT_CUDA_DRIVER", 1);
  }

  void read() {
    for (Rows rows = output_.database.rows(
             "CUPTI_ACTIVITY_KIND_RUNTIME",
             {"start", "end", "eventClass", "globalTid", "correlationId", "nameId", "returnValue", "callchainId"});
         rows.next();) {
      Event event;
      if (!output_.set_times(event, rows, 0, 1)) continue;
      const auto id = rows.optional(3);
      ReportProcess& process = output_.process(id);
      const CallName& name = call_name(rows.integer(5));
      event.kind = is_driver(rows, name) ? Kind::driver : Kind::runtime;
      event.track = output_.thread_track(process, id ? GlobalId(*id).tid : 0);
      event.name = name.name;
      event.correlation = rows.number<std::uint64_t>(4);
      output_.emit(process, event, CallFacts{0, rows.number<std::uint32_t>(6)});
      if (const StackId stack = chains_[rows.optional(7)]; stack != 0) emit_stack(process, event, stack);
    }
  }

 private:
  // Emits the stack of a call as an instant at its start, as a recording has it.
  void emit_stack(ReportProcess& process, const Event& call, StackId stack) {
    Event event;
    event.kind = Kind::stack;
    event.phase = 'i';
    event.track = call.track;
    event.name = stack_name_;
    event.start_ns = call.start_ns;
    event.correlation = call.correlation;
    StackFacts facts;
    facts.stack = stack;
    facts.reason = static_cast<std::uint8_t>(trace::StackReason::call);
    output_.emit(process, event, facts);
  }

  bool is_driver(const Rows& rows, const CallName& name) const {
    const auto event_class = rows.optional(2);
    if (event_class && *event_class == driver_) return true;
    return !(event_class && *event_class == runtime_) && name.is_driver;
  }

  const CallName& call_name(std::int64_t id) {
    const auto [entry, is_new] = names_.try_emplace(id);
    if (!is_new) return entry->second;
    const std::string_view text = without_version(output_.texts[id]);
    entry->second = {output_.intern(text), is_driver_name(text)};
    return entry->second;
  }

  Output& output_;
  const Callchains chains_;
  const StringId stack_name_;
  std::int64_t runtime_ = 0, driver_ = 1;
  std::unordered_map<std::int64_t, CallName> names_;
};

// ENUM_CUPTI_OVERHEAD_TYPE numbers the compiler 2 and the later kinds 3, 4, ...; CUpti_ActivityOverheadKind is 1 and
// 1 << 16, 2 << 16, ...
std::uint32_t cupti_overhead(std::int64_t type) {
  if (type == 2) return 1;
  return type >= 3 && type <= 8 ? static_cast<std::uint32_t>(type - 2) << 16 : 0;
}

void read_overhead(Output& output, std::string_view table) {
  constexpr std::uint16_t kThread = 2;  // CUPTI_ACTIVITY_OBJECT_THREAD
  for (Rows rows =
           output.database.rows(table, {"start", "end", "globalTid", "correlationId", "nameId", "overheadType"});
       rows.next();) {
    Event event;
    event.kind = Kind::overhead;
    if (!output.set_times(event, rows, 0, 1)) continue;
    const auto id = rows.optional(2);
    ReportProcess* const process = id ? output.known_process(*id) : &output.process(id);
    if (process == nullptr) continue;
    OverheadFacts facts;
    facts.overhead = cupti_overhead(rows.integer(5));
    facts.object = kThread;
    facts.tid = id ? GlobalId(*id).tid : 0;
    event.track = output.thread_track(*process, facts.tid);
    event.correlation = rows.number<std::uint64_t>(3);
    event.name = facts.overhead != 0 ? output.intern(overhead_name(facts.overhead)) : output.name(rows.optional(4));
    if (event.name == 0) event.name = output.intern(overhead_name(0));
    output.emit(*process, event, facts);
  }
}

}  // namespace

void read_host_events(Output& output) { Calls(output).read(); }

namespace {

// Calls of the operating system's libraries (nsys profile --trace=osrt).
void read_system_calls(Output& output) {
  const StringId category = output.intern("osrt");
  for (Rows rows = output.database.rows("OSRT_API", {"start", "end", "globalTid", "nameId"}); rows.next();) {
    const auto id = rows.optional(2);
    ReportProcess* const process = id ? output.known_process(*id) : nullptr;
    if (process == nullptr) continue;
    Event event;
    event.kind = Kind::other;
    event.category = category;
    if (!output.set_times(event, rows, 0, 1)) continue;
    event.track = output.thread_track(*process, GlobalId(*id).tid);
    event.name = output.name(rows.optional(3));
    output.emit(*process, event, {});
  }
}

// Samples of GPU metrics. The low byte of a type is the number of the GPU, and the samples belong to no process: they
// are shown with the first one that has GPU work.
void read_metrics(Output& output) {
  std::map<std::pair<std::int64_t, std::int64_t>, StringId> names;
  for (Rows rows = output.database.rows("TARGET_INFO_GPU_METRICS", {"typeId", "metricId", "metricName"}); rows.next();)
    names.emplace(std::pair(rows.integer(0), rows.integer(1)), output.intern(rows.text(2)));
  if (output.processes().empty()) return;
  ReportProcess* process = &output.processes().front();
  for (ReportProcess& each : output.processes()) {
    if (process->work.empty() && !each.work.empty()) process = &each;
  }
  const StringId series = output.intern("value");
  for (Rows rows = output.database.rows("GPU_METRICS", {"timestamp", "typeId", "metricId", "value"}); rows.next();) {
    const auto name = names.find({rows.integer(1), rows.integer(2)});
    Event event;
    event.kind = Kind::counter;
    event.phase = 'C';
    if (name == names.end() || !output.set_times(event, rows, 0, -1)) continue;
    event.name = name->second;
    event.track = output.gpu_track(*process, static_cast<std::uint32_t>(rows.integer(1) & 0xff), "metrics");
    output.emit(*process, event, CounterFacts{series, rows.real(3)});
  }
}

}  // namespace

void read_system_events(Output& output) {
  read_overhead(output, "CUPTI_ACTIVITY_KIND_OVERHEAD");
  read_overhead(output, "PROFILER_OVERHEAD");
  read_system_calls(output);
  read_metrics(output);
}

}  // namespace cli::nsys
