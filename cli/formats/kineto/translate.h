// Converts Kineto's events to ours, field by field:
//   ts, dur       microseconds to exact nanoseconds; + baseTimeNanoseconds
//   cat, ph       Kind: by category for slices, by phase for marks, counters, flows (fields.cpp)
//   pid, tid      a track (locations.h)
//   args          kept, as a shape if they repeat (shapes.h); correlation, bytes and device are read from them,
//                 and the facts that analyses use (facts.h)
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

#include "cli/formats/kineto/fields.h"
#include "cli/formats/kineto/implausible_times.h"
#include "cli/formats/kineto/locations.h"
#include "cli/formats/kineto/reader.h"
#include "cli/trace/catalog.h"
#include "cli/trace/event.h"

namespace cli::kineto {

class Translator {
 public:
  // `learnt` has to belong to the catalogue.
  Translator(Catalog& catalog, ProcessId process, EventSink& sink, Memory& learnt)
      : catalog_(catalog), process_(process), sink_(sink), learnt_(learnt), locations_(catalog, process) {}

  void set_base(std::int64_t base_ns) { base_ns_ = base_ns; }
  void expect_gpu(std::int64_t device) { locations_.expect_gpu(device); }

  // Returns nullopt if the event was accepted, otherwise the reason for refusing it.
  std::optional<Refusal> take(const RawEvent& raw);

  // The forms of accepted events. take_known() takes the event with this text, which they matched last. It returns
  // false if the event has to be passed to take(), which gives the reason if it refuses it.
  Forms& forms() { return learnt_.forms; }
  bool take_known(std::string_view text);

  // Ends open slices and fills in the Process. Returns the most used device, or -1.
  std::int64_t finish();

 private:
  struct Oddities {
    std::uint64_t no_duration = 0, unmatched_begin = 0, unmatched_end = 0, metadata = 0, metadata_dropped = 0, args = 0;
  };

  void take_timed(const RawEvent& raw, const Times& times);
  void find_place(Form& form, const std::int64_t* numbers);
  void take_metadata(const RawEvent& raw);
  void keep_metadata(std::string_view text);
  void begin_slice(Location& location, OpenSlice slice);
  void end_slice(Location& location, std::int64_t end_ns, const RawEvent& raw);
  const Shape* emit(const Event& event, std::string_view args, const std::vector<PlainInteger>& integers);
  void emit(const Event& event, std::string_view args, const Shape* shape, const std::int64_t* integers);
  Event event_of(const RawEvent& raw, const Category& category);
  std::string_view text_of(const JsonScalar& scalar);
  StringId name_of(const RawEvent& raw) { return catalog_.strings.intern(text_of(raw.name)); }
  static void note_overruns(Process& process);
  void note_oddities(Process& process) const;
  void note_categories(Process& process) const;

  Catalog& catalog_;
  ProcessId process_;
  EventSink& sink_;
  Memory& learnt_;
  Locations locations_;
  std::int64_t base_ns_ = 0;
  KindCounts counts_{};
  TimeClusters times_;
  StreamOverruns overruns_;
  std::map<StringId, std::uint64_t> other_slices_;  // of unknown categories
  bool launch_flows_ = false;
  bool names_device_rows_ = false;  // Locations::is_device_row() of any
  std::size_t open_slices_ = 0;
  Oddities odd_;
  std::string scratch_;
};

}  // namespace cli::kineto
