// Reads the inputs of a trace, several at once, each into its own catalogue. The catalogues are then joined in the
// order of inputs. The result does not depend on the number of threads.
#pragma once
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "cli/base/terminal.h"
#include "cli/base/threads.h"
#include "cli/formats/reading/reader.h"
#include "cli/formats/ttrace/batch.h"
#include "cli/formats/ttrace/reader.h"
#include "cli/timeline/collectives/call_collector.h"
#include "cli/timeline/merge/align.h"
#include "cli/timeline/sort/sort_runs.h"
#include "cli/trace/catalog.h"
#include "cli/trace/clocks.h"
#include "cli/trace/steps.h"

namespace cli {

struct TraceInput {
  std::string path;
  std::optional<std::int64_t> rank;  // replaces the rank in the file
};

// Returns true if an event is needed. Called with the events of one input and that input's catalogue, which grows; each
// input has its own copy of the function.
using EventChoice = std::function<bool(const Catalog& catalog, const Event& event)>;

struct MergeOptions {
  bool align = true;
  std::size_t memory_bytes = kDefaultMemory;
  std::string scratch_directory = ".";
  // Empty for all events. Otherwise events for which it returns false may be missing, except the first and last of each
  // process, and so may foreign arguments. This saves time because most of it is spent on sorting.
  EventChoice choice = {};
  // Threads for reading, for inputs in parallel or several for one input; 0 for one per core. The result is the same in
  // any case.
  std::size_t threads = 0;
  bool clock_of_each_rank = false;  // ranks of one host are not assumed to share a clock
  // walk() gives each process's events at the times of its own clock, ordered within each process only. steps() use the
  // same times and are found while inputs are read. Process times and fits() are unchanged. Results about one rank are
  // then free of estimated drift.
  bool own_times = false;
  // Aligns merged files with unaligned clocks (merge --partial) together with the other inputs; their events stay in
  // the files. For callers that walk each input separately. Otherwise such a file keeps its wall clocks.
  bool aligns_parts = false;
  bool force = false;  // inputs of unrelated runs (ranks.h, runs.h) cause a warning instead of an Error (usage)
  // merge --partial: some ranks of the run are in other files; otherwise merge_inputs warns about missing ranks
  bool is_part = false;
};

// An input with its own catalogue.
struct ReadInput {
  Catalog catalog;
  std::vector<EventRun> runs;   // on its own clock
  ttrace::IdMap ids;            // from its catalogue to that of the trace
  ProcessId first_process = 0;  // its first process in the trace, as read
  std::uint32_t clock = 0;      // clock of its events: an index into the fits of the domains
  bool is_merged = false;       // its clocks are aligned already
  std::vector<ClockFit> fits;   // set if is_merged
  // For MergeOptions::aligns_parts: its events with ids of its own catalogue, instead of runs; otherwise null
  std::unique_ptr<ttrace::MergedReader> part;
  CollectiveCalls calls;            // of its processes, if clocks are aligned by them
  std::vector<ProcessSteps> steps;  // of its processes, on its own clock; empty if not searched
  // Process of its first event, as known then, which identifies the clock; nullopt without events
  std::optional<Process> timed;
};

// Returns the progress text while the inputs are read.
std::string reading_text(const std::vector<TraceInput>& inputs);

class InputReading {
 public:
  // Both arguments have to outlive read().
  InputReading(const std::vector<TraceInput>& inputs, const MergeOptions& options);

  // Reads all inputs; called once. Calls `each` for every input as soon as its ids are known, for several at once and
  // on any thread. Throws Error; if several inputs fail, the error of the first one in order.
  using Step = std::function<void(std::size_t number, ReadInput& input)>;
  void read(const Step& each);

  // Ends the calling `each` if an earlier input has failed. To be called often by `each`.
  void leave_if_given_up(std::size_t number) const { work_.leave_if_given_up(number); }
  // Returns true if one input is read at a time, so its work may use two threads.
  bool is_alone() const { return work_.threads() == 1; }

  SortRoom& room() { return room_; }
  ReadInput& input(std::size_t number) { return inputs_[number]; }
  // The catalogue; complete after read(). Processes are sorted by rank (unknown ones last), then phase, then source.
  const Catalog& catalog() const { return catalog_; }
  // The final ids of the processes, in the order in which they were read.
  const std::vector<ProcessId>& sorted_processes() const { return sorted_; }
  const std::vector<ClockFit>& domains() { return clocks_.fits(); }  // indexed by ReadInput::clock
  const std::vector<ClockFit>& fits() const { return reported_; }    // indexed by Process::clock
  // Returns the steps of all inputs, by ProcessId. Unnamed steps have the same numbers on all ranks.
  std::vector<ProcessSteps> take_steps();
  std::vector<std::string>& warnings() { return warnings_; }

 private:
  void read_one(std::size_t number);
  std::unique_ptr<ReaderMemory> take_memory();
  void put_back(std::unique_ptr<ReaderMemory> memory);
  void read_merged(const std::string& path, ReadInput& input, EventSink& sink);
  void look_through(ReadInput& input);
  std::vector<std::uint32_t> clocks_of(const ReadInput& input);
  void join(std::size_t number);
  void align(std::vector<ClockFit>& fits);
  void finish();

  const std::vector<TraceInput>& from_;
  const MergeOptions& options_;
  Catalog catalog_;
  SortRoom room_;
  const std::size_t threads_;
  OrderedWork work_;
  Progress progress_;
  std::deque<ReadInput> inputs_;
  const std::vector<std::optional<std::int64_t>> named_ranks_;  // by input, from the names of all inputs
  std::mutex memories_mutex_;
  std::size_t begun_ = 0;                                // number of inputs begun
  std::vector<std::unique_ptr<ReaderMemory>> memories_;  // free memory for the inputs that follow
  ClockDomains clocks_;
  const bool looks_for_calls_;           // for clock alignment
  std::vector<std::uint32_t> clock_of_;  // by process, as read
  CollectiveCalls calls_;                // by process, as read
  std::vector<ProcessId> sorted_;
  std::vector<ClockFit> reported_;
  std::vector<std::string> warnings_;
};

}  // namespace cli
