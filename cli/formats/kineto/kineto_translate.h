// Converts Kineto's events to ours, field by field:
//   ts, dur       microseconds to exact nanoseconds; + baseTimeNanoseconds
//   cat, ph       Kind: by category for slices, by phase for marks, counters, flows (kineto_fields.cpp)
//   pid, tid      a track (kineto_locations.h)
//   args          kept, as a shape if they repeat (kineto_shapes.h); correlation, bytes and device are read from them,
//                 and the facts that analyses use (kineto_facts.h)
//   id            of flows and async events: correlation; numbers, hex, or any text by a stable hash
//   B + E         joined to X; gpu_user_annotation keeps the 1 ns that Kineto adds on both sides
//   M             thread_name and process_name; all are kept as text, and those with other names are counted
//   s, bp         scope, encloses; without a cat: no_category
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "cli/trace/catalog.h"
#include "cli/trace/event.h"
#include "cli/formats/kineto/kineto_fields.h"
#include "cli/formats/kineto/kineto_locations.h"
#include "cli/formats/kineto/kineto_reader.h"
#include "cli/formats/kineto/implausible_times.h"

namespace cli {

class KinetoTranslator {
 public:
  // `learnt` has to belong to the catalogue.
  KinetoTranslator(Catalog& catalog, ProcessId process, EventSink& sink, KinetoMemory& learnt)
      : catalog_(catalog), process_(process), sink_(sink), learnt_(learnt), locations_(catalog, process) {}

  void set_base(std::int64_t base_ns) { base_ns_ = base_ns; }
  void expect_gpu(std::int64_t device) { locations_.expect_gpu(device); }

  // Returns nullopt if the event was accepted, otherwise the reason for refusing it.
  std::optional<KinetoRefusal> take(const KinetoEvent& raw);

  // The forms of accepted events. take_known() takes the event with this text, which they matched last. It returns
  // false if the event has to be passed to take(), which gives the reason if it refuses it.
  KinetoForms& forms() { return learnt_.forms; }
  bool take_known(std::string_view text);

  // Ends open slices and fills in the Process. Returns the most used device, or -1.
  std::int64_t finish();

 private:
  struct Oddities {
    std::uint64_t no_duration = 0, unmatched_begin = 0, unmatched_end = 0, metadata = 0, metadata_dropped = 0, args = 0;
  };

  void take_timed(const KinetoEvent& raw, const KinetoTimes& times);
  void find_place(KinetoForm& form, const std::int64_t* numbers);
  void take_metadata(const KinetoEvent& raw);
  void keep_metadata(std::string_view text);
  void begin_slice(KinetoLocation& location, OpenSlice slice);
  void end_slice(KinetoLocation& location, std::int64_t end_ns, const KinetoEvent& raw);
  const Shape* emit(const Event& event, std::string_view args, const std::vector<PlainInteger>& integers);
  void emit(const Event& event, std::string_view args, const Shape* shape, const std::int64_t* integers);
  Event event_of(const KinetoEvent& raw, const KinetoCategory& category);
  std::string_view text_of(const JsonScalar& scalar);
  StringId name_of(const KinetoEvent& raw) { return catalog_.strings.intern(text_of(raw.name)); }
  static void note_overruns(Process& process);
  void note_oddities(Process& process) const;
  void note_categories(Process& process) const;

  Catalog& catalog_;
  ProcessId process_;
  EventSink& sink_;
  KinetoMemory& learnt_;
  KinetoLocations locations_;
  std::int64_t base_ns_ = 0;
  KindCounts counts_{};
  TimeClusters times_;
  StreamOverruns overruns_;
  std::map<StringId, std::uint64_t> other_slices_;  // of unknown categories
  bool launch_flows_ = false;
  bool names_device_rows_ = false;  // KinetoLocations::is_device_row() of any
  std::size_t open_slices_ = 0;
  Oddities odd_;
  std::string scratch_;
};

}  // namespace cli
