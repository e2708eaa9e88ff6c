#include "cli/formats/kineto/translate.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <limits>
#include <utility>

#include "cli/base/text.h"
#include "cli/formats/json/json_values.h"
#include "cli/formats/kineto/header.h"
#include "cli/formats/ttrace/file.h"
#include "cli/trace/event.h"
#include "cli/trace/event_times.h"
#include "cli/trace/losses.h"

namespace cli::kineto {
namespace {

// Limit of open B events; further ones are emitted without an end, so that memory stays bounded.
constexpr std::size_t kMaxOpenSlices = 1 << 16;
// Limit of metadata events kept as text; a file with thousands of threads has a few MB. Together with the header's
// members it is one entry of a merged file.
constexpr std::size_t kMostMetadataBytes = 32 << 20;
static_assert(kMostMetadataBytes + kMaxHeaderBytes < ttrace::kMaxChunkBytes / 2 + ttrace::kMaxChunkBytes / 4);

// Some versions of Kineto on ROCm write copies with the category of kernels (pytorch/kineto#1295). XLA writes none
// ("MemcpyH2D").
Kind kernel_or_copy(const RawEvent& raw) {
  const std::string_view name = raw.name.text;
  if (name.starts_with("MEMORY_COPY_") || (raw.cat.empty() && name.starts_with("Memcpy"))) return Kind::memcpy;
  return raw.cat.empty() && name.starts_with("Memset") ? Kind::memset : Kind::kernel;
}

bool is_launch_flow(const Event& event, const Category& category) {
  return event.kind == Kind::flow && category.launch_flow;
}
bool carries_bytes(Kind kind) { return kind == Kind::memcpy || kind == Kind::memset || kind == Kind::nccl; }

std::string_view known_metadata_without_use[] = {"process_labels", "process_sort_index", "thread_sort_index"};

// The ids of the last event of a form, verbatim.
class IdsOfForm {
 public:
  explicit IdsOfForm(const Form& form) : form_(form), pid_(form.pid), tid_(form.tid) {
    if (form.pid_number >= 0) pid_.text = text_of(form.last_pid, pid_text_);
    if (form.tid_number >= 0) tid_.text = text_of(form.last_tid, tid_text_);
  }
  IdsOfForm(const IdsOfForm&) = delete;
  IdsOfForm& operator=(const IdsOfForm&) = delete;
  Location& find_in(Locations& locations) const { return locations.find(pid_, tid_); }
  bool second_ids(Locations& locations) const {
    return locations.second_ids(*form_.location, *form_.last_track, pid_, tid_);
  }

 private:
  using Text = std::array<char, std::numeric_limits<std::int64_t>::digits10 + 2>;
  static std::string_view text_of(std::int64_t id, Text& text) {
    return {text.data(), std::to_chars(text.data(), text.data() + text.size(), id).ptr};
  }

  const Form& form_;
  JsonScalar pid_, tid_;
  Text pid_text_, tid_text_;
};

// For an event of a form without a shape.
std::string_view args_in(std::string_view text, const Form& form) {
  if (form.before_args.empty()) return {};
  const auto* const key =
      static_cast<const char*>(::memmem(text.data(), text.size(), form.before_args.data(), form.before_args.size()));
  const char* const at = key + form.before_args.size();
  return {at, static_cast<std::size_t>(text.data() + text.size() - form.behind_args - at)};
}

// `one` and `many` begin with the counted noun.
void note(Process& process, std::uint64_t count, std::string_view one, std::string_view many) {
  if (count != 0) process.notes.push_back(count_text(count, one, many));
}

}  // namespace

std::optional<Refusal> Translator::take(const RawEvent& raw) {
  if (const auto refusal = refuse_phase(raw)) return refusal;
  odd_.args += raw.odd_args;
  if (kineto_phase(raw) == 'M') {
    take_metadata(raw);
    return std::nullopt;
  }
  Times times;
  if (const auto refusal = read_times(raw, base_ns_, times)) return refusal;
  odd_.no_duration += times.odd_duration;
  take_timed(raw, times);
  return std::nullopt;
}

void Translator::take_timed(const RawEvent& raw, const Times& times) {
  const char phase = kineto_phase(raw);
  Location& location = locations_.find(raw.pid, raw.tid);
  const bool is_device_work = phase == 'X' && raw.cat.empty() && locations_.is_device_row(location);
  const Category& category = is_device_work ? device_work() : learnt_.categories.find(text_of(raw.cat));
  if (phase == 'E') return end_slice(location, times.start_ns, raw);
  Form form;
  form.event = event_of(raw, category);
  form.category = &category;
  if (!raw.device.empty()) form.device = to_int64(raw.device.text);
  Event event = form.event;
  event.start_ns = times.start_ns;
  event.duration_ns = times.duration_ns;
  event.track = locations_.track(location, category, phase, form.device);
  event.json.second_ids = locations_.second_ids(location, event.track, raw.pid, raw.tid);
  if (phase == 'B') return begin_slice(location, {event, std::string(raw.args), raw.integers});
  launch_flows_ |= is_launch_flow(event, category);
  if (Forms::has_any_number(raw))
    emit(event, raw.args, nullptr, nullptr);
  else
    form.shape = emit(event, raw.args, raw.integers);
  const bool repeats = form.shape != nullptr || raw.args.empty() || Forms::has_any_number(raw);
  if (repeats && !raw.odd_args && !times.odd_duration) learnt_.forms.learn(raw, std::move(form));
}

void Translator::find_place(Form& form, const std::int64_t* numbers) {
  const std::int64_t pid = form.pid_number >= 0 ? numbers[form.pid_number] : 0;
  const std::int64_t tid = form.tid_number >= 0 ? numbers[form.tid_number] : 0;
  if (form.location != nullptr && form.last_pid == pid && form.last_tid == tid) return;
  form.last_pid = pid;
  form.last_tid = tid;
  form.last_track.reset();
  form.location = &IdsOfForm(form).find_in(locations_);
}

bool Translator::take_known(std::string_view text) {
  Form& form = learnt_.forms.form();
  if (names_device_rows_ && form.event.json.no_category) return false;  // its kind depends on its location
  const std::int64_t* const numbers = learnt_.forms.numbers();
  const auto number = [&](std::int8_t which) { return numbers[which]; };
  Event event = form.event;
  if (__builtin_add_overflow(number(form.start), base_ns_, &event.start_ns)) return false;
  if (form.duration >= 0) event.duration_ns = number(form.duration);
  std::int64_t end_ns;
  if (__builtin_add_overflow(event.start_ns, std::max<std::int64_t>(0, event.duration_ns), &end_ns)) return false;
  if (form.id >= 0) event.correlation = static_cast<std::uint64_t>(number(form.id));
  if (form.correlation >= 0)
    event.correlation = static_cast<std::uint64_t>(std::max<std::int64_t>(0, number(form.correlation)));
  if (form.bytes >= 0 && carries_bytes(event.kind)) {
    event.has_bytes = number(form.bytes) >= 0;
    event.bytes = event.has_bytes ? static_cast<std::uint64_t>(number(form.bytes)) : 0;
  }
  const auto device = form.device_number < 0 ? form.device : number(form.device_number);
  if (form.shape != nullptr && !learnt_.shapes.take(*form.shape)) return false;
  find_place(form, numbers);
  event.track = locations_.track(*form.location, *form.category, event.phase, device);
  if (form.last_track != event.track) {
    form.last_track = event.track;
    form.second_ids = IdsOfForm(form).second_ids(locations_);
  }
  event.json.second_ids = form.second_ids;
  launch_flows_ |= is_launch_flow(event, *form.category);
  emit(event, args_in(text, form), form.shape, numbers + form.first_integer);
  return true;
}

Event Translator::event_of(const RawEvent& raw, const Category& category) {
  Event event;
  event.phase = raw.ph.text[0];
  event.kind = kineto_kind(event.phase, category);
  if (event.kind == Kind::kernel) event.kind = kernel_or_copy(raw);
  event.json.args_complete = true;
  event.category = category.text == info(event.kind).category ? 0 : category.id;
  event.json.no_category = raw.cat.empty();
  event.json.encloses = raw.binding.text == "e";
  event.json.scope = kineto_scope(raw);
  event.name = name_of(raw);
  event.correlation = raw.id.empty() ? to_uint64(raw.correlation.text).value_or(0) : kineto_id(raw.id);
  const auto bytes = carries_bytes(event.kind) ? to_uint64(raw.bytes.text) : std::nullopt;
  event.has_bytes = bytes.has_value();
  event.bytes = bytes.value_or(0);
  return event;
}

std::string_view Translator::text_of(const JsonScalar& scalar) {
  return scalar.is_string() ? unescape_json(scalar.text, scratch_) : scalar.text;
}

void Translator::take_metadata(const RawEvent& raw) {
  keep_metadata(raw.text);
  const std::string_view what = raw.name.text;
  if (what == "thread_name") {
    std::string_view name = text_of(raw.args_name);
    while (name.ends_with(' ')) name.remove_suffix(1);
    Location& location = locations_.find(raw.pid, raw.tid);
    location.name = name;
    names_device_rows_ = names_device_rows_ || locations_.is_device_row(location);
  } else if (what == "process_name") {
    const std::string_view name = text_of(raw.args_name);
    catalog_.processes[process_].ranks_drawn += name.starts_with("rank ");
    Location& location = locations_.find(raw.pid, raw.tid);
    locations_.name_process(location, name);
    names_device_rows_ = names_device_rows_ || locations_.is_device_row(location);
  } else {
    odd_.metadata +=
        std::count(std::begin(known_metadata_without_use), std::end(known_metadata_without_use), what) == 0;
  }
}

// Kept verbatim so that an export can reproduce the input.
void Translator::keep_metadata(std::string_view text) {
  std::string& kept = catalog_.processes[process_].kineto_metadata;
  if (kept.size() + text.size() > kMostMetadataBytes) {
    ++odd_.metadata_dropped;
    return;
  }
  const std::size_t before = kept.size();
  kept.resize(before + text.size() + 2 + simdjson::SIMDJSON_PADDING);
  char* at = kept.data() + before;
  if (before != 0) {
    *at++ = ',';
    *at++ = '\n';
  }
  std::size_t length = 0;
  if (simdjson::minify(text.data(), text.size(), at, length) != simdjson::SUCCESS) length = 0;
  kept.resize(static_cast<std::size_t>(at - kept.data()) + length);
}

void Translator::begin_slice(Location& location, OpenSlice slice) {
  slice.event.phase = 'X';
  slice.event.duration_ns = kUnknownDuration;
  if (open_slices_ == kMaxOpenSlices) {
    ++odd_.unmatched_begin;
    emit(slice.event, slice.args, slice.integers);
    return;
  }
  location.open.push_back(std::move(slice));
  ++open_slices_;
}

void Translator::end_slice(Location& location, std::int64_t end_ns, const RawEvent& raw) {
  if (location.open.empty()) {
    ++odd_.unmatched_end;
    return;
  }
  OpenSlice slice = std::move(location.open.back());
  location.open.pop_back();
  --open_slices_;
  const bool sound =
      !__builtin_sub_overflow(end_ns, slice.event.start_ns, &slice.event.duration_ns) && slice.event.duration_ns >= 0;
  if (!sound) {
    slice.event.duration_ns = 0;
    ++odd_.no_duration;
  }
  if (!raw.args.empty()) {
    const auto begin = static_cast<std::uint32_t>(slice.args.append(slice.args.empty() ? "" : ", ").size());
    slice.args.append(raw.args);
    for (const PlainInteger& i : raw.integers) slice.integers.push_back({begin + i.at, i.length, i.value});
  }
  emit(slice.event, slice.args, slice.integers);
}

// Returns the shape of its arguments.
const Shape* Translator::emit(const Event& event, std::string_view args, const std::vector<PlainInteger>& integers) {
  const Shape* const shape = learnt_.shapes.find(args, integers);
  emit(event, args, shape, learnt_.shapes.integers());
  return shape;
}

// Uses `args` if `shape` is null.
void Translator::emit(const Event& event, std::string_view args, const Shape* shape, const std::int64_t* integers) {
  ++counts_[static_cast<std::size_t>(event.kind)];
  if (event.kind == Kind::other && is_slice(event)) ++other_slices_[event.category];
  const auto extend = [&](std::int64_t start_ns, std::int64_t end_ns) { times_.extend(start_ns, end_ns); };
  const bool end_is_open = is_gpu_work(event.kind) && is_slice(event) && overruns_.add(event, extend);
  times_.add(event.start_ns, event.start_ns + (end_is_open ? 0 : std::max<std::int64_t>(0, event.duration_ns)),
             event.start_ns == base_ns_);
  Facts facts = learnt_.facts->find(event, shape == nullptr ? args : shape->text, shape, integers);
  if (shape == nullptr) facts.args = args;
  if (shape != nullptr) {
    facts.shape = shape;
    facts.integers = integers;
  }
  sink_.event(event, facts);
}

std::int64_t Translator::finish() {
  locations_.for_each([&](Location& location) {
    for (const OpenSlice& slice : location.open) emit(slice.event, slice.args, slice.integers);
    odd_.unmatched_begin += location.open.size();
  });
  Process& process = catalog_.processes[process_];
  process.counts = counts_;
  process.overruns =
      overruns_.finish([&](std::int64_t start_ns, std::int64_t end_ns) { times_.extend(start_ns, end_ns); });
  std::uint64_t strays = 0;
  const TimeClusters::Span span = times_.span(strays);
  if (span.events > 0) {
    process.first_ns = span.first_ns;
    process.last_ns = span.last_ns;
  }
  if (span.first_unclamped_ns != INT64_MAX) process.first_unclamped_ns = span.first_unclamped_ns;
  note(process, strays, "event is more than a day away from all others: kept, but excluded from spans and sums",
       "events are more than a day away from all others: kept, but excluded from spans and sums");
  note_overruns(process);
  process.explicit_flows = launch_flows_;
  process.state = RecordingState::clean;
  note_oddities(process);
  note_categories(process);
  return locations_.finish();
}

// A profile of only the CPU has no such categories except "Trace", the profiler's own span.
void Translator::note_categories(Process& process) const {
  constexpr std::size_t kNamed = 8;
  std::uint64_t gpu_work = 0;
  for (const KindInfo& kind : kKinds)
    gpu_work += is_gpu_work(kind.kind) ? counts_[static_cast<std::size_t>(kind.kind)] : 0;
  std::vector<std::string> has;
  for (const auto& [category, count] : other_slices_) {
    const std::string_view text = catalog_.strings[category];
    if (!text.empty() && text != "Trace") has.push_back(fmt::format("{} ({})", text, count));
  }
  if (gpu_work > 0 || has.empty()) return;
  const std::string more = has.size() > kNamed ? fmt::format(" and {} more", has.size() - kNamed) : "";
  has.resize(std::min(has.size(), kNamed));
  process.notes.push_back(fmt::format("{}; it has: {}{}", kNoKnownGpuCategory, fmt::join(has, ", "), more));
}

void Translator::note_overruns(Process& process) {
  std::int64_t longest_ns = 0;
  for (const Overrun& each : process.overruns) longest_ns = std::max(longest_ns, each.duration_ns - each.cut_ns);
  if (longest_ns == 0) return;
  process.notes.push_back(
      fmt::format("{} recorded to end more than 1 s after later work of the same stream began (by up to {}): {}",
                  count_text(process.overruns.size(), "kernel or copy is", "kernels and copies are"),
                  duration_text(longest_ns), kOverrunsAreCut));
}

void Translator::note_oddities(Process& process) const {
  note(process, odd_.no_duration, "slice had a missing, negative or impossible duration: using 0",
       "slices had a missing, negative or impossible duration: using 0");
  note(process, odd_.unmatched_begin, "slice (B) has no end (E)", "slices (B) have no end (E)");
  note(process, odd_.unmatched_end, "end of a slice (E) has no beginning (B): skipped",
       "ends of slices (E) have no beginning (B): skipped");
  note(process, odd_.metadata, "metadata event (M) was not understood: skipped",
       "metadata events (M) were not understood: skipped");
  note(process, odd_.metadata_dropped, "metadata event (M) exceeds 32 MiB in total: not kept verbatim",
       "metadata events (M) exceed 32 MiB in total: not kept verbatim");
  note(process, odd_.args, "event had args that are not an object: the args are skipped",
       "events had args that are not an object: the args are skipped");
}

}  // namespace cli::kineto
