#include "cli/formats/kineto/kineto_fields.h"

#include <array>
#include <charconv>
#include <utility>

#include "cli/formats/json/json_values.h"

namespace cli {

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

// "async" is the word of 2020, before "async_cpu_to_gpu" and "ac2g".
bool is_launch_flow(std::string_view text) { return text == "ac2g" || text == "async_cpu_to_gpu" || text == "async"; }

}  // namespace

const KinetoCategory& device_work() {
  static const KinetoCategory category{.text = {}, .kind = Kind::kernel, .on_stream = true};
  return category;
}

const KinetoCategory& KinetoCategories::find(std::string_view text) {
  for (const KinetoCategory* last : last_) {
    if (last != nullptr && last->text == text) return *last;
  }
  auto at = entries_.find(text);
  if (at == entries_.end()) {
    auto made = std::make_unique<KinetoCategory>();
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

std::uint64_t stable_hash(std::string_view text) {  // FNV-1a
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash;
}

// Missing, negative and absurd ones (CUPTI's clock overflowed, or the end is beyond that of time) become 0.
std::optional<KinetoRefusal> read_duration(const JsonScalar& dur, KinetoTimes& times) {
  const auto ns = dur.empty() ? std::nullopt : micros_to_ns(dur.text);
  if (!dur.empty() && !ns && dur.form != JsonScalar::Form::number) {
    return KinetoRefusal{dur.text.data(), "\"dur\", a number of microseconds, in this event"};
  }
  times.duration_ns = ns.value_or(-1);
  std::int64_t end_ns;
  times.odd_duration = times.duration_ns < 0 || __builtin_add_overflow(times.start_ns, times.duration_ns, &end_ns);
  if (times.odd_duration) times.duration_ns = 0;
  return std::nullopt;
}

}  // namespace

std::optional<KinetoRefusal> refuse_kineto_phase(const KinetoEvent& raw) {
  if (kineto_phase(raw) != '\0') return std::nullopt;
  return KinetoRefusal{raw.ph.text.data(), "\"ph\", a phase of one character, in this event"};
}

std::optional<KinetoRefusal> read_kineto_times(const KinetoEvent& raw, std::int64_t base_ns, KinetoTimes& times) {
  const auto ns = raw.ts.empty() ? std::nullopt : micros_to_ns(raw.ts.text);
  if (!ns) return KinetoRefusal{raw.ts.text.data(), "\"ts\", a number of microseconds, in this event"};
  if (__builtin_add_overflow(*ns, base_ns, &times.start_ns)) {
    return KinetoRefusal{raw.ts.text.data(), "\"ts\" with baseTimeNanoseconds within 292 years of 1970"};
  }
  return kineto_phase(raw) == 'X' ? read_duration(raw.dur, times) : std::nullopt;
}

Kind kineto_kind(char phase, const KinetoCategory& category) {
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
  return hex && parsed.ec == std::errc() && parsed.ptr == end ? value : stable_hash(id.text);
}

char kineto_scope(const KinetoEvent& raw) {
  return raw.scope.text.size() == 1 && std::string_view("tpg").find(raw.scope.text[0]) != std::string_view::npos
             ? raw.scope.text[0]
             : '\0';
}

}  // namespace cli
