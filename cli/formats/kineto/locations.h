// Assigns the (pid, tid) of an event to a track. In Kineto's files the streams of a GPU are "threads" of a "process"
// whose pid is the device number. The same pair may therefore be a stream and, in a container whose process is pid 1, a
// thread.
//
// Only the category determines whether an event is GPU work; pid and tid, in any format, only give the location. A GPU
// is a pid with a device number. Tools that join several processes in one file add prefixes or offsets to the pids, so
// work with one device number under two pids belongs to two GPUs. The second one gets the smallest free number.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "cli/formats/json/json_values.h"
#include "cli/formats/kineto/fields.h"
#include "cli/formats/kineto/shapes.h"
#include "cli/trace/catalog.h"
#include "cli/trace/event.h"

namespace cli::kineto {

// An event "B" that waits for its "E".
struct OpenSlice {
  Event event;
  std::string args;
  std::vector<PlainInteger> integers;  // in args
};

struct Location {
  enum class Form : std::uint8_t { numbers, stream_name, text };  // text: pid or tid is not a number

  Form form = Form::numbers;
  std::int64_t pid = 0, tid = 0;          // text: string ids; stream_name ("stream 7"): tid is its number
  std::int64_t track_number = 0;          // tid; for a text "stream 7 (high)" its number, otherwise counted from 0
  std::optional<TrackId> thread, stream;  // created at first use; text: thread is the track
  std::int64_t device = -1;               // of the stream, from its events
  std::uint64_t host_events = 0, gpu_events = 0;
  bool has_operators = false, has_calls = false;
  std::string name;                         // from thread_name
  std::string ids;                          // "pid" and "tid" as in its first event
  bool text_pid = false, text_tid = false;  // they are in quotes there
  std::vector<OpenSlice> open;              // B without E so far, innermost last
};

class Locations {
 public:
  Locations(Catalog& catalog, ProcessId process) : catalog_(catalog), process_(process) {}

  // Addresses are stable.
  Location& find(const JsonScalar& pid, const JsonScalar& tid);

  // Returns the track of an event with this category at the location. `device` is its argument, for streams.
  TrackId track(Location& location, const Category& category, char phase, std::optional<std::int64_t> device);

  // Returns true if the file names this row as a stream, a GPU or a TPU. Its slices are then GPU work even without a
  // category, which JAX, Ascend's profiler and rocprof do not write. Their metadata precedes the events.
  bool is_device_row(const Location& location) const;

  // Returns true if the spelling of the event's ids equals the second line of its track's ids; adds that line.
  bool second_ids(const Location& location, TrackId track, const JsonScalar& pid, const JsonScalar& tid);

  // Adds a pid that is a device number, so that a flow end that precedes its kernel finds the stream.
  void expect_gpu(std::int64_t pid) { gpu_pids_.insert(pid); }

  // Names the tracks, and sets the process's pid, program and most used device (-1 if none), with a note if the file
  // contains several processes.
  std::int64_t finish();

  void name_process(const Location& location, std::string_view name) {
    if (location.form == Location::Form::numbers) process_names_[location.pid] = name;
  }

  template <typename Visit>
  void for_each(Visit visit) {
    for (Location* location : in_order_) visit(*location);
  }

 private:
  struct Key {
    Location::Form form;
    std::int64_t pid, tid;
    bool operator==(const Key&) const = default;
  };
  struct KeyHash {
    std::size_t operator()(const Key& key) const;
  };
  Key key_of(const JsonScalar& pid, const JsonScalar& tid);
  TrackId stream_track(Location& location, std::optional<std::int64_t> device);
  std::int64_t gpu_of(const Location& location, std::int64_t device);
  TrackId thread_track(Location& location, bool host_thread);
  std::string_view text(std::int64_t string_id) const { return catalog_.strings[static_cast<StringId>(string_id)]; }
  std::size_t count_processes() const;
  std::string_view find_launchers();
  TrackId track_of(const Location& location, TrackKind kind, std::int64_t group, std::string_view group_name = {});
  bool is_stream(const Location& location, const Category& category, char phase) const;
  void name_tracks(const Location& location);

  Catalog& catalog_;
  ProcessId process_;
  std::unordered_map<Key, Location, KeyHash> locations_;
  std::unordered_map<StringId, std::int64_t> text_tids_;
  std::vector<Location*> in_order_;  // by first use, so that results do not depend on hashing
  std::unordered_set<std::int64_t> gpu_pids_;
  std::map<std::pair<std::string, std::int64_t>, std::int64_t> gpus_;  // by pid, as spelled, and device
  std::map<std::int64_t, std::string> process_names_;
};

}  // namespace cli::kineto
