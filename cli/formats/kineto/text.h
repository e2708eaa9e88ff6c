// Writes events in the format of PyTorch's profiler: libkineto/src/output_json.cpp in github.com/pytorch/kineto. There
// is a space after each colon and a line for each event, because HTA finds the rank by a pattern on single lines.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "cli/base/json_text.h"
#include "cli/formats/kineto/message.h"
#include "cli/formats/kineto/operators.h"
#include "cli/trace/catalog.h"
#include "cli/trace/event.h"

namespace cli::kineto {

struct Line {
  char phase = 'X';
  std::optional<std::string_view> category;
  std::string_view name;
  std::string_view ids;  // `"pid": 0, "tid": 7`; may be empty
  std::int64_t start_ns = 0;
  std::optional<std::int64_t> duration_ns;
  std::optional<std::uint64_t> id;
  char scope = 0;  // for an instant: 't', 'p', 'g'
  bool encloses = false;
  std::string_view args, more_args;  // bodies of one object, joined
};

class EventText {
 public:
  explicit EventText(ByteSink& sink) : out_(sink) {}

  // Writes everything before the events: our own text, or members of the input verbatim.
  void raw(std::string_view text) { out_.raw(text); }
  // Sets the base of all `ts`, ns since 1970.
  void set_base(std::int64_t base_ns) { base_ns_ = base_ns; }
  void line(const Line& line);
  // Writes events that are JSON already, separated by commas; nothing for "".
  void lines(std::string_view json);

  std::uint64_t pending_bytes() const { return out_.position(); }
  void flush_if_full() {
    if (out_.full()) out_.flush();
  }
  void flush() { out_.flush(); }

 private:
  void separate();
  void member(std::string_view key, std::string_view text);
  void micros(std::string_view key, std::int64_t ns);
  void arguments(const Line& line);

  JsonText out_;
  std::int64_t base_ns_ = 0;
  bool first_ = true;
};

// Converts an event of a recording to Kineto's format.

// Returns Kineto's category: NVTX ranges and NCCL calls are user annotations, a CUDA graph that was recorded as a whole
// is a kernel, marks and memory are instants.
std::string_view kineto_category(const Event& event);

// Contents of a recording.
struct Contents {
  bool operators = false;  // PyTorch operators
  bool ranges = false;     // operators or PyTorch annotations
};

// Receives every event of one process, by time, whether it is written or not.
class Recording {
 public:
  Recording(const Catalog& catalog, const Process& process, Contents contents)
      : contents_(contents), collectives_(catalog, process), backward_(catalog) {}

  // Completes `line` for an event that did not come from JSON. The added text is valid until the next call.
  void complete(const Event& event, const Facts& facts, Line& line);
  void note(const Event& event, const Facts& facts);
  // Returns the forward operator of an operator written at `ids`, which have to be valid as long as this.
  std::optional<Backward::Forward> forward_of(const Event& event, const Facts& facts, std::string_view ids) {
    return contents_.operators ? backward_.forward_of(event, facts, ids) : std::nullopt;
  }

 private:
  void add_correlation(const Event& event);
  void add_external_id(const Event& event);
  bool is_inner_call(const Event& event);

  Contents contents_;
  Collectives collectives_;
  ExternalIds external_ids_;
  Backward backward_;
  std::unordered_map<TrackId, std::uint64_t> calls_;  // by thread: the correlation of its last runtime call
  std::string args_;
};

// Assigns the events of one process to the tracks of a Kineto profile. Events of a Kineto file keep their pid and tid.
// Events of recordings get the tracks that Kineto uses: pid = GPU and tid = stream for GPU work, the process and its
// threads for the host, pid -1 for overhead, and a thread "stream N (sync)" next to each stream that was waited for.
class Tracks {
 public:
  Tracks(const Catalog& catalog, ProcessId process);

  // Returns `"pid": 0, "tid": 7`. At the first use of a thread of a recording, its metadata events are appended to
  // `metadata`.
  std::string_view where(const Event& event, std::string& metadata);
  // Returns the thread with which a process begins; nullopt if it has no events.
  std::optional<TrackId> main_track() const;
  // Returns the ids of that thread, for events without a thread.
  std::string main_thread(std::string& metadata);

 private:
  enum Variant : std::size_t { plain, overhead, stream_sync, variant_count };
  struct Thread {
    std::int64_t pid, tid;
    std::string name;
    std::int64_t sort_index;
  };

  Variant variant(const Event& event) const;
  Thread thread(TrackId id, Variant variant) const;
  Thread other_thread(const Track& track) const;
  std::string describe(const Thread& thread, std::string& metadata);
  void describe_process(std::int64_t pid, std::string& metadata);

  const Catalog& catalog_;
  const Process& process_;
  std::int64_t host_pid_;
  std::vector<std::array<std::string, variant_count>> where_;  // by TrackId
  std::set<std::int64_t> described_;                           // described pids
};

}  // namespace cli::kineto
