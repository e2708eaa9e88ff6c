// Writes single events in the Trace Event Format as JSON. Lanes and flows are handled elsewhere.
// https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/base/json_text.h"
#include "cli/formats/export/shared_json.h"
#include "cli/trace/catalog.h"
#include "cli/trace/derived.h"
#include "cli/trace/event.h"
#include "cli/trace/short_name.h"

namespace cli {

// Fixed colours for kinds of work, independent of their names: communication, matrix multiplications, copies,
// synchronization, and our derived tracks. All other slices keep the colour that a viewer derives from the name.
//
// chrome://tracing reads them as "cname", one of the names in Catapult's palette (tracing/base/color_scheme.html; it
// throws an exception for any other name). Perfetto ignores cname and derives colours from names without digits, so all
// idle slices of one unit have the same colour there, too.

// Returns "" if the name determines the colour. For kernels, `name` is used.
std::string_view chrome_color(Kind kind, std::string_view name);
std::string_view chrome_color(DerivedTrack track);

// Returns the ids of the track of an event: `"pid":4,"tid":7`.
std::string chrome_ids(std::uint32_t pid, std::uint32_t tid);

class ChromeText {
 public:
  ChromeText(const Catalog& catalog, ByteSink& sink) : catalog_(&catalog), out_(sink), short_names_(catalog.strings) {}

  // Writes the beginning of the file. `origin_ns` becomes ts 0 and is written as baseTimeNanoseconds. Writes a metadata
  // event. `more` contains further members of its args, each preceded by a comma.
  void head(std::int64_t origin_ns);
  void tail();

  // A metadata event; `more` is further members of its args, each with a comma before it.
  void name(std::string_view metadata, std::string_view ids, std::string_view name, std::string_view more = {});
  void sort_index(std::string_view metadata, std::string_view ids, std::int64_t index);

  // Writes a slice. Kernels have their short names; the full name is the argument "full name".
  void slice(const Event& event, std::int64_t end_ns, std::string_view ids, std::string_view args);
  void instant(const Event& event, std::string_view ids, std::string_view args);
  void counter(const Event& event, std::string_view ids, std::string_view args);
  // Writes a slice of a derived track, with category "computed". `color` is a cname, or "". The key of a counter's
  // value is its unit.
  void computed_slice(const Derived& derived, const DerivedText& said, std::string_view ids, std::string_view color);
  // `name` is a JSON string.
  void computed_value(const Derived& derived, std::string_view name, std::string_view ids);
  // `phase` is 's', 't' or 'f'. If `category` is 0, the flow is from a launch to its work.
  void flow(char phase, std::uint64_t id, StringId category, std::string_view ids, std::int64_t ns);

  // Writes a flow between ranks of a collective; `phase` is 's' or 'f'.
  void collective_flow(char phase, std::uint64_t id, std::string_view ids, std::int64_t ns);

  // Moves the text written since `since` to `position`, for text that has to follow an earlier event directly.
  // Positions are valid until the next flush().
  std::size_t position() const { return out_.position(); }
  void move_tail(std::size_t since, std::size_t position) { out_.move_tail(since, position); }
  bool full() const { return out_.full(); }
  void flush() { out_.flush(); }

 private:
  // Writes the members after the id
  void flow_place(char phase, std::uint64_t id, std::string_view ids, std::int64_t ns);
  enum class Spelling : std::uint8_t { unknown, plain, escaped };

  void open(std::string_view head);  // writes the separator and `head`
  void time(std::int64_t ns) { out_.micros(static_cast<std::uint64_t>(ns) - static_cast<std::uint64_t>(origin_)); }
  struct KernelText {
    std::string shown;  // as a JSON string
    std::string full;   // a member of args; "" if equal to `shown`
    std::string_view color;
  };
  const KernelText& kernel_text(StringId id);
  void color(std::string_view name);
  void interned(StringId id);
  void names(const Event& event, std::string_view ids, const KernelText* kernel);
  void category(const Event& event);
  void arguments(const Event& event, std::string_view args, const KernelText* kernel);

  const Catalog* catalog_;
  JsonText out_;
  std::int64_t origin_ = 0;
  bool first_ = true;
  std::vector<Spelling> spellings_;
  ShortNames short_names_;
  std::vector<std::unique_ptr<KernelText>> kernels_;  // by StringId
};

}  // namespace cli
