#include "cli/formats/kineto/fields.h"

#include <array>
#include <charconv>
#include <utility>

#include "cli/formats/json/byte_source.h"
#include "cli/formats/json/json_check.h"
#include "cli/formats/json/json_values.h"
#include "common/hash.h"

namespace cli::kineto {
namespace {

namespace od = simdjson::ondemand;

JsonScalar* member_named(RawEvent& event, std::string_view key) {
  if (key == "ph") return &event.ph;
  if (key == "cat") return &event.cat;
  if (key == "name") return &event.name;
  if (key == "ts") return &event.ts;
  if (key == "dur") return &event.dur;
  if (key == "pid") return &event.pid;
  if (key == "tid") return &event.tid;
  if (key == "id") return &event.id;
  if (key == "s") return &event.scope;
  return key == "bp" ? &event.binding : nullptr;
}

JsonScalar* argument_named(RawEvent& event, std::string_view key) {
  if (key == "correlation") return &event.correlation;
  if (key == "bytes") return &event.bytes;
  if (key == "device") return &event.device;
  if (key == "memory bandwidth (GB/s)") return &event.bandwidth;
  return key == "name" ? &event.args_name : nullptr;
}

bool is_nested(od::value& value) {
  const std::string_view token = value.raw_json_token();
  return !token.empty() && (token[0] == '{' || token[0] == '[');
}

bool is_sound_key(std::string_view key) { return key.find('\\') == key.npos || has_valid_escapes(key); }

// Keeps known members with a string, number or word; all others are only checked.
bool keep_member(RawEvent& event, std::string_view key, od::value& value, const char* end) {
  JsonScalar* const wanted = member_named(event, key);
  if (wanted == &event.ph && !event.ph.empty()) return false;  // damage joined two events
  if (wanted != nullptr && !is_nested(value)) return read_scalar(value, *wanted);
  return is_sound_key(key) && check_value(value, 1, end);
}

std::string_view trimmed(const char* begin, const char* end) {
  const auto is_space = [](char c) { return static_cast<unsigned char>(c) <= ' '; };
  while (begin < end && is_space(*begin)) ++begin;
  while (begin < end && is_space(end[-1])) --end;
  return {begin, static_cast<std::size_t>(end - begin)};
}

bool keep_argument(RawEvent& event, std::string_view key, od::value& value, const char* begin, const char* end) {
  if (is_nested(value)) return is_sound_key(key) && check_value(value, 2, end);
  JsonScalar scalar;
  if (!is_sound_key(key) || !read_scalar(value, scalar)) return false;
  if (JsonScalar* const wanted = argument_named(event, key)) *wanted = scalar;
  std::int64_t integer = 0;
  if (!scalar.is_number() || !read_plain_integer(scalar.text, integer)) return true;
  event.integers.push_back({static_cast<std::uint32_t>(scalar.text.data() - begin),
                            static_cast<std::uint32_t>(scalar.text.size()), integer});
  return true;
}

bool parse_args(RawEvent& event, od::document& document, od::value& value, const char* end) {
  const char* begin = value.raw_json_token().data();
  event.integers.clear();
  od::object object;
  if (value.get_object().get(object)) return false;
  for (auto result : object) {
    od::field field;
    if (std::move(result).get(field)) return false;
    od::value argument = field.value();
    if (!keep_argument(event, key_text(field, end), argument, begin, end)) return false;
  }
  const char* behind = nullptr;  // the token after the closing brace
  if (document.current_location().get(behind)) return false;
  const std::string_view whole = trimmed(begin, behind);
  if (whole.size() < 2 || whole.back() != '}') return false;
  event.args = trimmed(whole.data() + 1, whole.data() + whole.size() - 1);
  const auto shift = static_cast<std::uint32_t>(event.args.data() - begin);
  for (PlainInteger& integer : event.integers) integer.at -= shift;
  return event.has_args = true;
}

}  // namespace

bool EventParser::parse(std::string_view text, RawEvent& event) {
  std::vector<PlainInteger> memory = std::move(event.integers);
  memory.clear();
  event = {};
  event.integers = std::move(memory);
  event.text = text;
  const char* end = text.data() + text.size();
  od::document document;
  od::object object;
  if (parser_.iterate(text.data(), text.size(), text.size() + Window::kPadding).get(document)) return false;
  if (document.get_object().get(object)) return false;
  for (auto result : object) {
    od::field field;
    if (std::move(result).get(field)) return false;
    const std::string_view key = key_text(field, end);
    od::value value = field.value();
    if (key != "args") {
      if (!keep_member(event, key, value, end)) return false;
    } else if (value.raw_json_token().starts_with('{')) {
      if (!parse_args(event, document, value, end)) return false;
    } else {
      event.odd_args |= value.raw_json_token().substr(0, 4) != "null";
      if (!check_value(value, 1, end)) return false;
    }
  }
  const char* rest = nullptr;  // nothing may follow, which simdjson does not check
  return document.current_location().get(rest) == simdjson::OUT_OF_BOUNDS;
}

namespace {

enum class OnTrack { stream, thread, any };

struct Entry {
  std::string_view text;
  Kind kind;
  OnTrack on;
};

constexpr std::array kEntries{
    Entry{"kernel", Kind::kernel, OnTrack::stream},
    Entry{"Kernel", Kind::kernel, OnTrack::stream},
    Entry{"gpu_memcpy", Kind::memcpy, OnTrack::stream},
    Entry{"Memcpy", Kind::memcpy, OnTrack::stream},
    Entry{"gpu_memset", Kind::memset, OnTrack::stream},
    Entry{"Memset", Kind::memset, OnTrack::stream},
    Entry{"cuda_runtime", Kind::runtime, OnTrack::thread},
    Entry{"Runtime", Kind::runtime, OnTrack::thread},
    Entry{"cuda_driver", Kind::driver, OnTrack::thread},
    Entry{"xpu_runtime", Kind::runtime, OnTrack::thread},
    Entry{"xpu_driver", Kind::driver, OnTrack::thread},
    Entry{"privateuse1_runtime", Kind::runtime, OnTrack::thread},
    Entry{"privateuse1_driver", Kind::driver, OnTrack::thread},
    Entry{"nvtx", Kind::nvtx, OnTrack::thread},
    Entry{"nccl", Kind::nccl, OnTrack::thread},
    Entry{"cuda_sync", Kind::sync, OnTrack::stream},
    Entry{"cuda_event", Kind::cuda_event, OnTrack::stream},
    Entry{"overhead", Kind::overhead, OnTrack::thread},
    Entry{"cuda_graph", Kind::graph, OnTrack::stream},
    Entry{"notice", Kind::notice, OnTrack::any},
    Entry{"cpu_op", Kind::cpu_op, OnTrack::thread},
    Entry{"Operator", Kind::cpu_op, OnTrack::thread},
    Entry{"user_annotation", Kind::user_annotation, OnTrack::thread},
    Entry{"gpu_user_annotation", Kind::gpu_annotation, OnTrack::stream},
    Entry{"python_function", Kind::python_function, OnTrack::thread},
    Entry{"garbage_collection", Kind::garbage_collection, OnTrack::thread},
    Entry{"cpu_instant_event", Kind::other, OnTrack::thread},
};

// "async" was used in 2020, before "async_cpu_to_gpu" and "ac2g".
bool is_launch_flow(std::string_view text) { return text == "ac2g" || text == "async_cpu_to_gpu" || text == "async"; }

}  // namespace

const Category& device_work() {
  static const Category category{.text = {}, .kind = Kind::kernel, .on_stream = true};
  return category;
}

const Category& Categories::find(std::string_view text) {
  for (const Category* last : last_) {
    if (last != nullptr && last->text == text) return *last;
  }
  auto at = entries_.find(text);
  if (at == entries_.end()) {
    auto made = std::make_unique<Category>();
    made->text = text;
    made->id = strings_->intern(text);
    for (const Entry& entry : kEntries) {
      if (entry.text != text) continue;
      made->kind = entry.kind;
      made->on_stream = entry.on == OnTrack::stream;
      made->on_thread = entry.on == OnTrack::thread;
    }
    made->launch_flow = is_launch_flow(text);
    at = entries_.emplace(made->text, made.get()).first;
    owned_.push_back(std::move(made));
  }
  last_[1] = std::exchange(last_[0], at->second);
  return *at->second;
}

namespace {

// Missing, negative and absurd durations (CUPTI's clock overflowed, or the end is not representable) become 0.
std::optional<Refusal> read_duration(const JsonScalar& dur, Times& times) {
  const auto ns = dur.empty() ? std::nullopt : micros_to_ns(dur.text);
  if (!dur.empty() && !ns && dur.form != JsonScalar::Form::number) {
    return Refusal{dur.text.data(), "\"dur\", a number of microseconds, in this event"};
  }
  times.duration_ns = ns.value_or(-1);
  std::int64_t end_ns;
  times.odd_duration = times.duration_ns < 0 || __builtin_add_overflow(times.start_ns, times.duration_ns, &end_ns);
  if (times.odd_duration) times.duration_ns = 0;
  return std::nullopt;
}

}  // namespace

std::optional<Refusal> refuse_phase(const RawEvent& raw) {
  if (kineto_phase(raw) != '\0') return std::nullopt;
  return Refusal{raw.ph.text.data(), "\"ph\", a phase of one character, in this event"};
}

std::optional<Refusal> read_times(const RawEvent& raw, std::int64_t base_ns, Times& times) {
  const auto ns = raw.ts.empty() ? std::nullopt : micros_to_ns(raw.ts.text);
  if (!ns) return Refusal{raw.ts.text.data(), "\"ts\", a number of microseconds, in this event"};
  if (__builtin_add_overflow(*ns, base_ns, &times.start_ns)) {
    return Refusal{raw.ts.text.data(), "\"ts\" with baseTimeNanoseconds within 292 years of 1970"};
  }
  return kineto_phase(raw) == 'X' ? read_duration(raw.dur, times) : std::nullopt;
}

Kind kineto_kind(char phase, const Category& category) {
  switch (phase) {
    case 'X':
    case 'B':
    case 'E':
      return category.kind;
    case 'i':
    case 'I':
    case 'R':
      return Kind::instant;
    case 'C':
      return Kind::counter;
    case 's':
    case 't':
    case 'f':
      return Kind::flow;
    default:
      return Kind::other;
  }
}

std::uint64_t kineto_id(const JsonScalar& id) {
  if (id.empty()) return 0;
  if (const auto value = to_uint64(id.text)) return *value;
  if (const auto value = to_int64(id.text)) return static_cast<std::uint64_t>(*value);
  const bool hex = id.text.starts_with("0x") || id.text.starts_with("0X");
  const char *begin = id.text.data() + (hex ? 2 : 0), *end = id.text.data() + id.text.size();
  std::uint64_t value = 0;
  const auto parsed = std::from_chars(begin, end, value, 16);
  return hex && parsed.ec == std::errc() && parsed.ptr == end ? value : trace::fnv1a(id.text);
}

char kineto_scope(const RawEvent& raw) {
  return raw.scope.text.size() == 1 && std::string_view("tpg").find(raw.scope.text[0]) != std::string_view::npos
             ? raw.scope.text[0]
             : '\0';
}

}  // namespace cli::kineto
