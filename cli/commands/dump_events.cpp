#include "cli/commands/dump_events.h"

#include <algorithm>
#include <iterator>

#include "cli/base/json_text.h"
#include "cli/base/text.h"
#include "cli/formats/export/shared_json.h"
#include "cli/trace/short_name.h"

namespace cli {
namespace {

constexpr std::size_t kPiece = 256 << 10;

std::string track_text(const Track& track) {
  if (track.kind == TrackKind::stream) return fmt::format("device {} stream {}", track.group, track.id);
  if (track.kind == TrackKind::thread) return fmt::format("thread {}", track.id);
  return fmt::format("{} {}", track.group_name, track.id);
}

// Replaces control characters between JSON tokens, such as line breaks, with blanks.
std::string one_line(std::string_view json) {
  std::string line(json);
  std::ranges::replace_if(
      line, [](unsigned char c) { return c < ' '; }, ' ');
  return line;
}

// A field visitor that prints the fields that are set, by their names in payload.h.
struct SayFields {
  template <typename T>
  void number(const char* name, const T& value, bool is_there = true) {
    if (is_there) fmt::format_to(std::back_inserter(out), " {}={}", name, +value);
  }
  void number(const char* name, const bool& value, bool is_there = true) {
    if (is_there) fmt::format_to(std::back_inserter(out), " {}={}", name, value);
  }
  template <typename T>
  void delta(const char* name, const T& value, bool is_there = true) {
    number(name, value, is_there);
  }
  template <typename T>
  void hex(const char* name, const T& value, bool is_there = true) {
    if (is_there) fmt::format_to(std::back_inserter(out), " {}={:#x}", name, value);
  }
  void string(const char* name, StringId id, bool is_there = true) {
    if (is_there) fmt::format_to(std::back_inserter(out), " {}={}", name, json_quoted(catalog.strings[id]));
  }
  template <typename T>
  void id(const char*, InternedId<T> id, bool = true) {
    if (id != 0) visit_fields(*this, catalog.interned<T>()[id]);
  }
  void id(const char*, OperatorInputId id, bool = true) {
    if (id == 0) return;
    const InputsText text(catalog, id);
    const auto say = [this](const char* name, const std::string& json) {
      if (!json.empty()) fmt::format_to(std::back_inserter(out), " {}={}", name, json);
    };
    say("input_dims", text.dims);
    say("input_strides", text.strides);
    say("input_types", text.types);
    say("concrete_inputs", text.values);
  }

  void id(const char*, StackId id, bool = true) {
    if (id == 0) return;
    const auto say = [this](const char* name, const std::string& text) {
      if (!text.empty()) fmt::format_to(std::back_inserter(out), " {}={}", name, json_quoted(text));
    };
    say("module", module_text(catalog, id));
    say("stack", stack_text(catalog, id));
  }

  const Catalog& catalog;
  std::string& out;
};

}  // namespace

void DumpEvents::event(const Event& event, const Facts& facts) {
  const Track& track = catalog_.tracks[event.track];
  const std::int64_t rank = catalog_.processes[track.process].rank;
  line_.clear();
  auto out = std::back_inserter(line_);
  fmt::format_to(out, "{} {} {} {} rank {}, {}: {}", event.start_ns, event.duration_ns, event.phase,
                 info(event.kind).name, rank < 0 ? "?" : fmt::format("{}", rank), track_text(track),
                 catalog_.strings[event.name]);
  if (event.category != 0) fmt::format_to(out, " category={}", json_quoted(catalog_.strings[event.category]));
  if (event.correlation != 0) fmt::format_to(out, " correlation={}", event.correlation);
  if (event.has_bytes) fmt::format_to(out, " bytes={}", event.bytes);
  if (event.open_start) fmt::format_to(out, " open_start=true");
  if (track.priority && is_gpu_work(event.kind)) fmt::format_to(out, " priority={}", *track.priority);
  SayFields say{catalog_, line_};
  visit_payload(facts.tag(), facts.data(), [&](const auto& payload) { visit_fields(say, payload); });
  if (facts.has_foreign()) fmt::format_to(out, " args={{{}}}", one_line(facts.foreign(scratch_)));
  add_line(text_, line_);
  if (text_.size() >= kPiece) flush();
}

void DumpEvents::flush() {
  out_.write(text_);
  text_.clear();
}

}  // namespace cli
