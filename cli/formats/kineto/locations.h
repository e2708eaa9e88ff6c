// From the (pid, tid) of an event to its track. In Kineto's files a GPU's streams are "threads" of a "process" whose
// pid is the device number, so the same pair may be a stream and, in a container whose process is pid 1, a thread.
//
// The category alone says whether an event is GPU work; pid and tid, whatever their form, only say where. A GPU is a pid
// with a device number: tools that put several processes into one file prefix the pids or add offsets to them, so work of
// one device number under two pids belongs to two GPUs. The second one gets the smallest number that is free.
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

#include "cli/trace/catalog.h"
#include "cli/trace/event.h"
#include "cli/formats/json/json_values.h"
#include "cli/formats/kineto/fields.h"
#include "cli/formats/kineto/shapes.h"

namespace cli::kineto {

// An event "B" that waits for its "E".
struct OpenSlice {
  Event event;
  std::string args;
  std::vector<PlainInteger> integers;  // of args
};

struct Location {
  enum class Form : std::uint8_t { numbers, stream_name, text };  // text: pid or tid is not a number

  Form form = Form::numbers;
  std::int64_t pid = 0, tid = 0;          // text: string ids; stream_name ("stream 7"): tid is its number
  std::int64_t track_number = 0;          // tid; of a text "stream 7 (high)" its number, else counted from 0
  std::optional<TrackId> thread, stream;  // made at first use; text: thread is the track
  std::int64_t device = -1;               // of stream, as its events say it
  std::uint64_t host_events = 0, gpu_events = 0;
  bool has_operators = false, has_calls = false;
  std::string name;                         // by thread_name
  std::string ids;                          // "pid" and "tid" as they stand in its first event,
  bool text_pid = false, text_tid = false;  // ... and whether they are in quotes
  std::vector<OpenSlice> open;              // B without E so far, innermost last
};

class Locations {
 public:
  Locations(Catalog& catalog, ProcessId process) : catalog_(catalog), process_(process) {}

  // Addresses stay.
  Location& find(const JsonScalar& pid, const JsonScalar& tid);

  // The track of an event of this category there; `device` is its argument, for streams.
  TrackId track(Location& location, const Category& category, char phase, std::optional<std::int64_t> device);

  // Returns true if the file names this row as a stream, a GPU or a TPU. Its slices are then GPU work even without a category, which JAX,
  // Ascend's profiler and rocprof do not write. Their metadata precedes the events.
  bool is_device_row(const Location& location) const;

  // Whether an event with these ids is spelled as in the second line of the ids of its track; adds the line.
  bool second_ids(const Location& location, TrackId track, const JsonScalar& pid, const JsonScalar& tid);

  // A pid that is a device number, so that a flow's end which comes before its kernel finds the stream.
  void expect_gpu(std::int64_t pid) { gpu_pids_.insert(pid); }

  // Gives tracks their names, and the process its pid, program and the device that it used most (-1: none), with a note
  // if the file holds several processes.
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
  std::vector<Location*> in_order_;  // of first use, so that results do not depend on hashing
  std::unordered_set<std::int64_t> gpu_pids_;
  std::map<std::pair<std::string, std::int64_t>, std::int64_t> gpus_;  // by pid, as it stands, and device
  std::map<std::int64_t, std::string> process_names_;
};

}  // namespace cli::kineto
