// Each record goes through the functions that the simulated driver calls (bridge.h), so the same rules hold for it: it is
// delivered only if the client asked for its kind, in a buffer that the client gave, and it is dropped if that is asked for.
#include "replay.h"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "../true_clock.h"
#include "bridge_calls.h"
#include "callback_names.h"
#include "state.h"

namespace sim {
namespace {

// A record of the file: its kind, its thread, numbers, and for some a name, which is last and may have any character.
class Fields {
 public:
  Fields(std::string_view record, std::uint64_t number) : number_(number), rest_(record) {}

  std::string_view next() {
    const std::size_t end = std::min(rest_.find('\t'), rest_.size());
    const std::string_view field = rest_.substr(0, end);
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    return field;
  }
  // A number that is too large for its field of CUPTI's record is malformed.
  template <typename... Numbers>
  void read(Numbers&... numbers) {
    (read_one(numbers), ...);
  }
  std::string_view rest() { return std::exchange(rest_, {}); }
  std::uint64_t number() const { return number_; }
  bool are_read() const { return !bad_ && rest_.empty(); }

 private:
  template <typename Number>
  void read_one(Number& number) {
    const std::string_view field = next();
    const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), number);
    bad_ |= error != std::errc() || end != field.data() + field.size();
  }

  std::uint64_t number_;
  std::string_view rest_;
  bool bad_ = false;
};

// The offset that is added to all times of the report. It makes the last time the present. With SIM_CUPTI_REPLAY_PACE, it
// makes the first time the present, and each record is delivered when its end is reached.
struct Shift {
  std::uint64_t true_ns = 0, cupti_ns = 0;
};
Shift s_shift;
std::atomic<std::uint64_t> s_delivered{0}, s_unknown_calls{0};

void set_shift(std::uint64_t last_ns) {
  const std::uint64_t present_ns = behaviour().replay_pace ? 0 : last_ns;
  const std::uint64_t now_ns = true_ns();
  s_shift = {now_ns - present_ns, to_cupti(told(), now_ns) - present_ns};
}

template <typename Event>
void set_times(Event& event) {
  event.cupti_start_ns = event.start_ns + s_shift.cupti_ns;
  event.cupti_end_ns = event.end_ns + s_shift.cupti_ns;
  event.start_ns += s_shift.true_ns;
  event.end_ns += s_shift.true_ns;
  const std::uint64_t now_ns = true_ns();
  if (now_ns < event.end_ns) std::this_thread::sleep_for(std::chrono::nanoseconds(event.end_ns - now_ns));
}

template <typename Event>
bool begin(const Fields& fields, Event& event) {
  if (!fields.are_read()) return false;
  event.seq = kFirstReplayed + fields.number();
  set_times(event);
  return true;
}

void count(Fate fate) { s_delivered += fate == Fate::emitted; }

bool deliver(const Fields& fields, DeviceEvent& event) {
  if (!begin(fields, event)) return false;
  bridge_calls().reserve_device(event);
  count(event.fate);
  bridge_calls().finish_device(event);
  return true;
}

bool deliver(const Fields& fields, Note& note) {
  if (!begin(fields, note)) return false;
  bridge_calls().admit_note(note);
  count(note.fate);
  bridge_calls().finish_note(note);
  return true;
}

bool deliver(const Fields& fields, CallEvent& event) {
  if (!begin(fields, event)) return false;
  bridge_calls().enter_call(event);
  bridge_calls().exit_call(event);
  count(event.fate);
  bridge_calls().finish_call(event);
  return true;
}

DeviceEvent read_work(Fields& fields, DeviceKind kind) {
  DeviceEvent event{};
  event.kind = kind;
  fields.read(event.start_ns, event.end_ns, event.device, event.context, event.stream, event.correlation, event.graph,
              event.graph_node);
  return event;
}

// As in CUPTI, a name lives as long as the process.
const char* lasting(std::string_view name) {
  static std::mutex s_mutex;
  static auto* const s_names = new std::set<std::string, std::less<>>;
  const std::lock_guard lock(s_mutex);
  const auto found = s_names->find(name);
  return (found != s_names->end() ? found : s_names->emplace(name).first)->c_str();
}

bool replay_kernel(Fields& fields) {
  DeviceEvent event = read_work(fields, DeviceKind::kernel);
  std::uint16_t registers = 0;
  fields.read(event.grid[0], event.grid[1], event.grid[2], event.block[0], event.block[1], event.block[2], registers,
              event.static_shared_bytes, event.dynamic_shared_bytes, event.local_bytes, event.launch_type,
              event.cluster[0], event.cluster[1], event.cluster[2]);
  event.registers = registers;
  event.name = lasting(fields.rest());
  return deliver(fields, event);
}

bool replay_memcpy(Fields& fields) {
  DeviceEvent event = read_work(fields, DeviceKind::memcpy);
  fields.read(event.bytes, event.copy_kind, event.src_memory, event.dst_memory, event.flags);
  return deliver(fields, event);
}

bool replay_memcpy_peer(Fields& fields) {
  DeviceEvent event = read_work(fields, DeviceKind::memcpy_peer);
  fields.read(event.bytes, event.copy_kind, event.src_memory, event.dst_memory, event.flags, event.src_device,
              event.src_context, event.dst_device, event.dst_context);
  return deliver(fields, event);
}

bool replay_memset(Fields& fields) {
  DeviceEvent event = read_work(fields, DeviceKind::memset);
  fields.read(event.bytes, event.value, event.dst_memory, event.flags);
  return deliver(fields, event);
}

bool replay_graph(Fields& fields) {
  DeviceEvent event = read_work(fields, DeviceKind::graph);
  return deliver(fields, event);
}

bool replay_sync(Fields& fields) {
  Note note{};
  note.kind = NoteKind::sync;
  fields.read(note.start_ns, note.end_ns, note.context, note.stream, note.correlation, note.type, note.event,
              note.event_sync_id, note.result);
  return deliver(fields, note);
}

bool replay_cuda_event(Fields& fields) {
  Note note{};
  note.kind = NoteKind::cuda_event;
  fields.read(note.device, note.context, note.stream, note.correlation, note.event, note.event_sync_id);
  return deliver(fields, note);
}

bool replay_overhead(Fields& fields) {
  Note note{};
  note.kind = NoteKind::overhead;
  note.object = CUPTI_ACTIVITY_OBJECT_THREAD;
  note.device = note.context = note.stream = kNoNumber;
  fields.read(note.start_ns, note.end_ns, note.tid, note.correlation, note.type);
  return deliver(fields, note);
}

bool replay_context(Fields& fields) {
  Note note{};
  note.kind = NoteKind::context;
  fields.read(note.context, note.device, note.null_stream);
  return deliver(fields, note);
}

bool replay_stream(Fields& fields) {
  Note note{};
  note.kind = NoteKind::stream;
  fields.read(note.context, note.stream, note.priority, note.type);
  return deliver(fields, note);
}

using Numbers = std::map<std::string_view, std::uint32_t>;

// A report may have the runtime's names without their versions; then the oldest function of this name is meant.
template <std::size_t Count>
Numbers numbers_of(const char* const (&names)[Count], bool versions) {
  Numbers numbers;
  for (std::uint32_t id = 1; id < Count; ++id) {
    if (names[id] != nullptr) numbers.emplace(names[id], id);
  }
  for (std::uint32_t id = 1; versions && id < Count; ++id) {
    const std::string_view name = names[id] != nullptr ? names[id] : "";
    if (const std::size_t version = name.rfind("_v"); version != name.npos)
      numbers.emplace(name.substr(0, version), id);
  }
  return numbers;
}

bool replay_call(Fields& fields, CUpti_CallbackDomain domain, const Numbers& numbers) {
  CallEvent event{};
  event.domain = domain;
  fields.read(event.start_ns, event.end_ns, event.tid, event.correlation, event.result);
  const auto found = numbers.find(fields.rest());
  if (found == numbers.end()) {
    ++s_unknown_calls;
    return fields.are_read();
  }
  event.cbid = found->second;
  event.name = found->first.data();
  return deliver(fields, event);
}

bool replay_runtime(Fields& fields) {
  static const Numbers s_numbers = numbers_of(kRuntimeNames, true);
  return replay_call(fields, CUPTI_CB_DOMAIN_RUNTIME_API, s_numbers);
}

bool replay_driver(Fields& fields) {
  static const Numbers s_numbers = numbers_of(kDriverNames, false);
  return replay_call(fields, CUPTI_CB_DOMAIN_DRIVER_API, s_numbers);
}

bool replay_record(Fields& fields, std::string_view kind) {
  using Replay = bool (*)(Fields&);
  static const std::map<std::string_view, Replay> kKinds = {
      {"context", replay_context},         {"stream", replay_stream},
      {"kernel", replay_kernel},           {"memcpy", replay_memcpy},
      {"memcpy_peer", replay_memcpy_peer}, {"memset", replay_memset},
      {"graph_launch", replay_graph},      {"sync", replay_sync},
      {"cuda_event", replay_cuda_event},   {"overhead", replay_overhead},
      {"runtime", replay_runtime},         {"driver", replay_driver}};
  const auto found = kKinds.find(kind);
  return found != kKinds.end() && found->second(fields);
}

// NUL ends a record: the names of kernels may have every other character.
bool read_record(std::ifstream& file, std::string& record) { return !!std::getline(file, record, '\0'); }

// Delivers the records of one of the report's threads, as CUPTI has a buffer for each thread that launches. The first thread
// has those without a known thread, which are malformed.
bool replay_thread(std::uint32_t thread, std::uint32_t threads) {
  std::ifstream file(behaviour().replay);
  std::string record;
  read_record(file, record);
  for (std::uint64_t number = 1; read_record(file, record); ++number) {
    Fields fields(record, number);
    const std::string_view kind = fields.next();
    std::uint32_t of = threads;
    fields.read(of);
    if (of != thread && (of < threads || thread != 0)) continue;
    if (of == thread && replay_record(fields, kind)) continue;
    std::fprintf(stderr, "simulated libcupti: SIM_CUPTI_REPLAY: record %llu is malformed: %s\n",
                 static_cast<unsigned long long>(number), record.c_str());
    return false;
  }
  return true;
}

bool replay_threads(std::uint32_t threads) {
  std::atomic<bool> sound{true};
  const auto one = [&](std::uint32_t thread) {
    if (!replay_thread(thread, threads)) sound = false;
  };
  std::vector<std::thread> others;
  for (std::uint32_t thread = 1; thread < threads; ++thread) others.emplace_back(one, thread);
  one(0);
  for (std::thread& other : others) other.join();
  return sound;
}

}  // namespace

bool replay() {
  std::ifstream file(behaviour().replay != nullptr ? behaviour().replay : "");
  std::string record;
  read_record(file, record);
  Fields fields(record, 0);
  const bool is_report = fields.next() == "report";
  std::uint64_t last_ns = 0;
  std::uint32_t threads = 0;
  fields.read(last_ns, threads);  // the first time is 0
  if (!is_report || !fields.are_read()) return false;
  set_shift(last_ns);
  if (!replay_threads(threads)) return false;
  std::fprintf(stderr,
               "simulated libcupti: delivered %llu records, %llu ns later than in the file; %llu others are calls that "
               "this CUPTI does not have\n",
               static_cast<unsigned long long>(s_delivered), static_cast<unsigned long long>(s_shift.cupti_ns),
               static_cast<unsigned long long>(s_unknown_calls));
  return true;
}

}  // namespace sim
