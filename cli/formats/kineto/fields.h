// One element of `traceEvents`, picked apart, and what its single fields mean.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "cli/formats/json/json_values.h"
#include "cli/formats/kineto/shapes.h"
#include "cli/trace/catalog.h"
#include "cli/trace/event.h"

namespace cli::kineto {

// One element of `traceEvents`, picked apart but not yet understood. The views are of the element's text.
//
// The Trace Event Format: https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU ; what
// Kineto writes: libkineto/src/output_json.cpp in github.com/pytorch/kineto.
struct RawEvent {
  std::string_view text;  // of the whole
  JsonScalar ph, cat, name, ts, dur, pid, tid, id, scope, binding;
  bool has_args = false;                             // `args` was an object
  bool odd_args = false;                             // `args` was something else: dropped
  std::string_view args;                             // without its braces and the space around
  std::vector<PlainInteger> integers;                // of args, in their order: its members that are plain integers
  JsonScalar correlation, bytes, device, args_name;  // of args
  JsonScalar bandwidth;                              // of args: of a copy or memset, another number each time, that nobody computes with
};

class EventParser {
 public:
  // `text` is what JsonStream::next_element handed out: 64 bytes behind it are readable. False when it is not valid
  // JSON; every byte has been checked when it returns true.
  bool parse(std::string_view text, RawEvent& event);

 private:
  simdjson::ondemand::parser parser_;
};

// What single fields of a Kineto event mean, without any other event.

// What an event is, by its category: Kineto's words of all times (libkineto's ActivityType.cpp; before 2021
// "Operator", "Kernel", ...), and our own.
struct Category {
  std::string text;
  StringId id = 0;           // of the text
  Kind kind = Kind::other;   // of a slice of this category
  bool on_stream = false;    // its track is a GPU stream
  bool on_thread = false;    // its track is surely a host thread
  bool launch_flow = false;  // flows from a launch to its work
};

// Of slices without a category on a GPU's stream (Locations::is_device_row).
const Category& device_work();

// The entries of the categories that one file uses, made at first sight. Addresses stay.
class Categories {
 public:
  explicit Categories(Strings& strings) : strings_(&strings) {}
  // With another file's strings, which have those so far by the same ids.
  void go_on_in(Strings& strings) { strings_ = &strings; }
  const Category& find(std::string_view text);

 private:
  Strings* strings_;
  std::unordered_map<std::string_view, Category*> entries_;
  std::vector<std::unique_ptr<Category>> owned_;
  const Category* last_[2] = {};
};

// Why an event was refused: at which byte of its text (nullptr: its first), and what was expected.
struct Refusal {
  const char* at;
  const char* expected;
};

struct Times {
  std::int64_t start_ns = 0, duration_ns = 0;  // since 1970; the duration of phase X alone
  bool odd_duration = false;                   // missing, negative or absurd: taken as 0
};

// The single character of `ph`; '\0' for anything else.
inline char kineto_phase(const RawEvent& raw) {
  return raw.ph.is_string() && raw.ph.text.size() == 1 ? raw.ph.text[0] : '\0';
}
std::optional<Refusal> refuse_phase(const RawEvent& raw);  // nullopt: it has one

// `base_ns` is baseTimeNanoseconds. nullopt: they are read.
std::optional<Refusal> read_times(const RawEvent& raw, std::int64_t base_ns, Times& times);

Kind kineto_kind(char phase, const Category& category);

// Of an instant: t, p or g; '\0': none that is known.
char kineto_scope(const RawEvent& raw);

// Id of a flow or async event, of whatever form; 0 when there is none.
std::uint64_t kineto_id(const JsonScalar& id);

}  // namespace cli::kineto
