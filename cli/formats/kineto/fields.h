// Parses one element of `traceEvents` and converts its fields.
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

// One element of `traceEvents`, parsed but not interpreted. The views refer to the element's text.
//
// The Trace Event Format: https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU
// Kineto's output: libkineto/src/output_json.cpp in github.com/pytorch/kineto.
struct RawEvent {
  std::string_view text;  // of the element
  JsonScalar ph, cat, name, ts, dur, pid, tid, id, scope, binding;
  bool has_args = false;                             // `args` was an object
  bool odd_args = false;                             // `args` had another type and was dropped
  std::string_view args;                             // without its braces and surrounding white space
  std::vector<PlainInteger> integers;                // plain integers among the members of args, in order
  JsonScalar correlation, bytes, device, args_name;  // members of args
  JsonScalar bandwidth;  // member of args of a copy or memset; it differs for each event and is not used
};

class EventParser {
 public:
  // `text` is a result of JsonStream::next_element, so 64 bytes after it are readable. Returns false if it is not valid
  // JSON; if true, every byte has been checked.
  bool parse(std::string_view text, RawEvent& event);

 private:
  simdjson::ondemand::parser parser_;
};

// Conversion of single fields of a Kineto event, independent of other events.

// The kind of an event by its category: names from all versions of Kineto (libkineto's ActivityType.cpp; before 2021
// "Operator", "Kernel", ...), and our own.
struct Category {
  std::string text;
  StringId id = 0;           // of `text`
  Kind kind = Kind::other;   // for slices
  bool on_stream = false;    // its track is a GPU stream
  bool on_thread = false;    // its track is certainly a host thread
  bool launch_flow = false;  // flows of this category are from a launch to its work
};

// The entry for slices without a category on a GPU stream (Locations::is_device_row).
const Category& device_work();

// The categories used in a file, created on demand. Addresses are stable.
class Categories {
 public:
  explicit Categories(Strings& strings) : strings_(&strings) {}
  // Continues with the strings of another file, which contain those so far with the same ids.
  void go_on_in(Strings& strings) { strings_ = &strings; }
  const Category& find(std::string_view text);

 private:
  Strings* strings_;
  std::unordered_map<std::string_view, Category*> entries_;
  std::vector<std::unique_ptr<Category>> owned_;
  const Category* last_[2] = {};
};

// The reason why an event was refused: the byte of its text (nullptr for its first) and what was expected.
struct Refusal {
  const char* at;
  const char* expected;
};

struct Times {
  std::int64_t start_ns = 0, duration_ns = 0;  // since 1970; the duration is only for phase X
  bool odd_duration = false;                   // missing, negative or absurd; replaced by 0
};

// Returns the single character of `ph`; '\0' for anything else.
inline char kineto_phase(const RawEvent& raw) {
  return raw.ph.is_string() && raw.ph.text.size() == 1 ? raw.ph.text[0] : '\0';
}
std::optional<Refusal> refuse_phase(const RawEvent& raw);  // nullopt if it has one

// `base_ns` is baseTimeNanoseconds. Returns nullopt if the times were read.
std::optional<Refusal> read_times(const RawEvent& raw, std::int64_t base_ns, Times& times);

Kind kineto_kind(char phase, const Category& category);

// Returns the scope of an instant: t, p or g; '\0' if unknown.
char kineto_scope(const RawEvent& raw);

// Returns the id of a flow or async event in any format; 0 if there is none.
std::uint64_t kineto_id(const JsonScalar& id);

}  // namespace cli::kineto
