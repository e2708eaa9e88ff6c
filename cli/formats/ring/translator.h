// Data shared by the translators of a recording's records.
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "cli/formats/ring/clock_axis.h"
#include "cli/formats/ring/cuda_events.h"
#include "cli/formats/ring/definitions.h"
#include "cli/formats/ring/file.h"
#include "cli/formats/ring/names.h"
#include "cli/trace/catalog.h"
#include "cli/trace/event.h"

namespace cli::ring {

// Data shared by the translators: the sink of events, their tracks, and the conversion of times.
struct RingOutput {
  RingOutput(const RingFile& from, Catalog& to, ProcessId of, EventSink& events, ClockAxis clocks)
      : file(from),
        catalog(to),
        process(of),
        sink(events),
        axis(std::move(clocks)),
        names(from, to),
        definitions(from, to, of, names) {}
  RingOutput(const RingOutput&) = delete;
  RingOutput& operator=(const RingOutput&) = delete;

  // Emits an event. Events outside of the possible times (1824 to 2116) come from damaged records and are only counted.
  void emit(const Event& event, const Facts& facts) {
    if (!is_sound(event)) {
      ++timeless_records;
      return;
    }
    Process& p = catalog.processes[process];
    ++p.counts[static_cast<std::size_t>(event.kind)];
    const std::int64_t end = event.start_ns + std::max<std::int64_t>(event.duration_ns, 0);
    p.first_ns = any ? std::min(p.first_ns, event.start_ns) : event.start_ns;
    p.last_ns = any ? std::max(p.last_ns, end) : end;
    any = true;
    p.recorder.newest_gpu_end_ns = std::max(p.recorder.newest_gpu_end_ns, gpu_end_ns(event));
    sink.event(event, facts);
  }

  // Returns false, and counts the record, if CUPTI recorded no time. The record is then no event.
  bool has_time(std::uint64_t cupti_ns) {
    timeless_records += cupti_ns == 0;
    return cupti_ns != 0;
  }

  // Adds a note to the process, such as "12 records of kinds ..."; nothing if the count is 0.
  void note(std::uint64_t count, const char* what) {
    if (count > 0) catalog.processes[process].notes.push_back(std::to_string(count) + ' ' + what);
  }

  TrackId thread_track(std::uint32_t tid) {
    const auto [track, is_new] = threads.try_emplace(tid, 0);
    if (is_new) track->second = catalog.track(process, TrackKind::thread, file.header().pid, tid);
    return track->second;
  }
  // Returns a track that is neither a thread nor a stream.
  TrackId other_track(std::int64_t number, std::string_view what) {
    return catalog.track(process, TrackKind::other, number, number, what);
  }

  // Returns a track such as "GPU 1 memory". `what` has to be a string literal.
  TrackId gpu_track(std::uint32_t device, const char* what) {
    const auto [track, is_new] = gpu_tracks.try_emplace({device, what}, 0);
    if (is_new) track->second = other_track(device, "GPU " + std::to_string(device) + ' ' + what);
    return track->second;
  }

  static bool is_sound(const Event& event) {
    constexpr std::int64_t kMost_ns = std::int64_t{1} << 62;
    return event.start_ns > -kMost_ns && event.start_ns < kMost_ns && event.duration_ns < kMost_ns;
  }

  // Returns the duration between two times of CUPTI; an end of 0 means that it had not ended.
  static std::int64_t duration(std::uint64_t start, std::uint64_t end) {
    if (end == 0) return kUnknownDuration;
    return end >= start ? static_cast<std::int64_t>(end - start) : 0;
  }

  template <TimedByCupti Record>
  void set_times(Event& event, const Record& record) const {
    const CuptiTimes times = cupti_times(record);
    event.duration_ns = duration(times.start_ns, times.end_ns);
    if (!axis.was_set()) {
      event.start_ns = axis.from_cupti(times.start_ns);
      return;
    }
    const auto [start_ns, end_ns] = axis.from_cupti(times);
    event.start_ns = start_ns;
    if (times.end_ns != 0)
      event.duration_ns = duration(static_cast<std::uint64_t>(start_ns), static_cast<std::uint64_t>(end_ns));
  }

  const RingFile& file;
  Catalog& catalog;
  ProcessId process;
  EventSink& sink;
  ClockAxis axis;
  RingNames names;
  RingDefinitions definitions;
  RingCudaEvents cuda_events;
  std::unordered_map<std::uint32_t, TrackId> threads;
  std::map<std::pair<std::uint32_t, const char*>, TrackId> gpu_tracks;
  std::uint64_t timeless_records = 0;
  bool any = false;
};

// The event kind as which a record is counted.

// Returns Kind::count_ for records that are no events: range ends, clocks, definitions, and CUDA events, which have no
// time and whose data is in the wait and in the recording call.
Kind event_kind(std::uint8_t record_kind);

// Converts the records of a family into events. Each family is a class in its own file (device_events.cpp,
// host_events.cpp, program_events.cpp) with a function
//
//   void translate(const trace::XRecord& record, std::size_t at)
//
// for each of its kinds. `at` is the position of the record in its block, for references. A kind without such a
// function is counted as unknown.
class RingTranslator {
 public:
  virtual ~RingTranslator() = default;
  virtual void enter_block() {}
  // Records are missing here; open ranges may have ended in them.
  virtual void skip_records() {}
  // Called after the last record. Also stores notes in the process.
  virtual void finish() {}
};

struct RingHandler {
  RingTranslator* translator = nullptr;
  void (*translate)(RingTranslator&, const RingBlock&, std::size_t at, std::size_t size) = nullptr;  // null if unknown
};
using RingHandlers = std::array<RingHandler, 256>;  // by record kind

template <typename Translator>
std::unique_ptr<RingTranslator> make_translator(RingOutput& out, RingHandlers& handlers) {
  auto translator = std::make_unique<Translator>(out);
  trace::for_each_record([&]<typename R>(R*) {
    if constexpr (requires(Translator & t, const R& record) { t.translate(record, std::size_t{}); }) {
      handlers[static_cast<std::size_t>(R::kKind)] = {
          translator.get(), [](RingTranslator& to, const RingBlock& block, std::size_t at, std::size_t size) {
            static_cast<Translator&>(to).translate(record_at<R>(block.payload, at, size), at);
          }};
    }
  });
  return translator;
}

// `out` has to outlive the results.
std::unique_ptr<RingTranslator> device_translator(RingOutput& out, RingHandlers& handlers);
std::unique_ptr<RingTranslator> host_translator(RingOutput& out, RingHandlers& handlers);
std::unique_ptr<RingTranslator> operator_translator(RingOutput& out, RingHandlers& handlers);
std::unique_ptr<RingTranslator> python_translator(RingOutput& out, RingHandlers& handlers);
std::unique_ptr<RingTranslator> notice_translator(RingOutput& out, RingHandlers& handlers);

}  // namespace cli::ring
