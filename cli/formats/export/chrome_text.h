// The Trace Event Format, event by event: knows JSON, nothing of lanes or flows.
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

// Colours that stay the same for a kind of work, whatever it is called: communication, matrix products, copies, waits,
// and our computed tracks. The rest keeps the colour that a viewer makes of the name.
//
// chrome://tracing knows them as "cname", one of the names of Catapult's palette (tracing/base/color_scheme.html; it
// throws at any other). Perfetto passes cname over and makes colours of names without their digits, so that there, too,
// all idle slices of one unit look alike.

// "" where the name decides. `name` of a kernel counts.
std::string_view chrome_color(Kind kind, std::string_view name);
std::string_view chrome_color(DerivedTrack track);

// `"pid":4,"tid":7`: where an event is written.
std::string chrome_ids(std::uint32_t pid, std::uint32_t tid);

class ChromeText {
 public:
  ChromeText(const Catalog& catalog, ByteSink& sink) : catalog_(&catalog), out_(sink), short_names_(catalog.strings) {}

  // `origin_ns` becomes ts 0 and is written as baseTimeNanoseconds.
  void head(std::int64_t origin_ns);
  void tail();

  // A metadata event; `more` is further members of its args, each with a comma before it.
  void name(std::string_view metadata, std::string_view ids, std::string_view name, std::string_view more = {});
  void sort_index(std::string_view metadata, std::string_view ids, std::int64_t index);

  // Kernels by their short names; the whole one is an argument, "full name".
  void slice(const Event& event, std::int64_t end_ns, std::string_view ids, std::string_view args);
  void instant(const Event& event, std::string_view ids, std::string_view args);
  void counter(const Event& event, std::string_view ids, std::string_view args);
  // What we computed, category "computed". `color` is a cname, or "". The value's key is the counter's unit.
  void computed_slice(const Derived& derived, const DerivedText& said, std::string_view ids, std::string_view color);
  // `name` as a JSON string.
  void computed_value(const Derived& derived, std::string_view name, std::string_view ids);
  // 's', 't' or 'f'. `category` 0: from a launch to its work.
  void flow(char phase, std::uint64_t id, StringId category, std::string_view ids, std::int64_t ns);

  // 's' or 'f' of a flow between the ranks of a collective.
  void collective_flow(char phase, std::uint64_t id, std::string_view ids, std::int64_t ns);

  // For what must stand directly behind an event that is already written: the text since `since` moves to `position`.
  // Positions are good until the next flush().
  std::size_t position() const { return out_.position(); }
  void move_tail(std::size_t since, std::size_t position) { out_.move_tail(since, position); }
  bool full() const { return out_.full(); }
  void flush() { out_.flush(); }

 private:
  void flow_place(char phase, std::uint64_t id, std::string_view ids, std::int64_t ns);  // what follows an id
  enum class Spelling : std::uint8_t { unknown, plain, escaped };

  void open(std::string_view head);  // the separator and `head`
  void time(std::int64_t ns) { out_.micros(static_cast<std::uint64_t>(ns) - static_cast<std::uint64_t>(origin_)); }
  struct KernelText {
    std::string shown;  // as a JSON string
    std::string full;   // a member of args, "" when `shown` is all
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
