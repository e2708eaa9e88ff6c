// Reads the inputs of a trace: several at once, each into a catalogue of its own, which become one in the order of inputs.
// What comes out is the same on any number of threads.
#pragma once
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "cli/timeline/collectives/call_collector.h"
#include "cli/base/threads.h"
#include "cli/base/terminal.h"
#include "cli/timeline/merge/align.h"
#include "cli/timeline/sort/sort_runs.h"
#include "cli/trace/catalog.h"
#include "cli/trace/clocks.h"
#include "cli/trace/steps.h"
#include "cli/formats/ttrace/batch.h"
#include "cli/formats/ttrace/reader.h"
#include "cli/formats/reading/reader.h"

namespace cli {

struct TraceInput {
  std::string path;
  std::optional<std::int64_t> rank;  // instead of the one in the file
};

// Called with the events of one input and its own catalogue, which grows; each input has its own copy.
using EventChoice = std::function<bool(const Catalog& catalog, const Event& event)>;

struct MergeOptions {
  bool align = true;
  std::size_t memory_bytes = kDefaultMemory;
  std::string scratch_directory = ".";
  // Empty: all events. Else those that it does not choose may be missing, but for the first and the last of each process, and
  // foreign arguments, too: to sort what nobody looks at is what takes the time.
  EventChoice choice = {};
  // Threads that read, inputs side by side or one on several; 0: as many as there are cores. The trace is the same in any case.
  std::size_t threads = 0;
  bool clock_of_each_rank = false;  // ranks of one host are not known to have one clock
  // A walk gives the events of each process at the times of its own clock, in their order for each process alone, and steps()
  // are by it, too, and looked for while inputs are read; processes' times and fits() are as ever. So no drift that was estimated
  // is in what is said of one rank.
  bool own_times = false;
  // Merged files whose clocks nobody has aligned so far (merge --partial) are aligned with the others, and their events stay in them:
  // for who walks each input by itself. Else such a file is on its wall clocks for good.
  bool aligns_parts = false;
  bool force = false;    // inputs of unrelated runs (ranks.h, runs.h) are a warning; else an Error (usage)
  bool is_part = false;  // merge --partial: some ranks of the run are elsewhere; else a warning of merge_inputs names these
};

// An input with its own catalogue.
struct ReadInput {
  Catalog catalog;
  std::vector<EventRun> runs;    // by its own clock
  ttrace::IdMap ids;                     // of its catalogue in that of the trace
  ProcessId first_process = 0;   // its first in the trace, as read
  std::uint32_t clock = 0;       // of its events, an index into the fits of its domains
  bool is_merged = false;           // its clocks are aligned already
  std::vector<ClockFit> fits;       // then
  std::unique_ptr<ttrace::MergedReader> part;  // MergeOptions::aligns_parts: its events, by its own catalogue, and no runs; null: none
  CollectiveCalls calls;         // of its processes, where clocks are to be aligned by them
  std::vector<ProcessSteps> steps;  // of its processes, by its own clock; empty: nobody looked for them
  std::optional<Process> timed;  // whose clock timed it, as far as was known at its first event; none: it has no events
};

// What a person is told while they are read.
std::string reading_text(const std::vector<TraceInput>& inputs);

class InputReading {
 public:
  // Both are used until read() has ended.
  InputReading(const std::vector<TraceInput>& inputs, const MergeOptions& options);

  // Once. `each` is called for every input when its ids are known: for several at once, on any thread. Throws Error, of
  // several faults that of the first input in order.
  using Step = std::function<void(std::size_t number, ReadInput& input)>;
  void read(const Step& each);

  // For `each`, to call often: leaves it when an earlier input has failed.
  void leave_if_given_up(std::size_t number) const { work_.leave_if_given_up(number); }
  // One input is read at a time, so that its work may be done on two threads.
  bool is_alone() const { return work_.threads() == 1; }

  SortRoom& room() { return room_; }
  ReadInput& input(std::size_t number) { return inputs_[number]; }
  // After read(): complete, its processes by rank (unknown ones last), then phase, then source.
  const Catalog& catalog() const { return catalog_; }
  // What the processes became, as they were read.
  const std::vector<ProcessId>& sorted_processes() const { return sorted_; }
  const std::vector<ClockFit>& domains() { return clocks_.fits(); }  // by ReadInput::clock
  const std::vector<ClockFit>& fits() const { return reported_; }    // by Process::clock
  // Those of all inputs, by ProcessId; steps that nobody named have one number on all ranks.
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
  const std::vector<std::optional<std::int64_t>> named_ranks_;  // of each input, by the names of all
  std::mutex memories_mutex_;
  std::size_t begun_ = 0;                                // inputs
  std::vector<std::unique_ptr<ReaderMemory>> memories_;  // that no input is read with now, and one will be
  ClockDomains clocks_;
  const bool looks_for_calls_;  // to align clocks by them
  std::vector<std::uint32_t> clock_of_;  // of each process, as read
  CollectiveCalls calls_;                // of each process, as read
  std::vector<ProcessId> sorted_;
  std::vector<ClockFit> reported_;
  std::vector<std::string> warnings_;
};

}  // namespace cli
