#include "cli/formats/perfetto/slices.h"

#include <charconv>
#include <cmath>

#include "cli/base/json_text.h"
#include "cli/formats/json/json_values.h"
#include "cli/formats/perfetto/arguments.h"
#include "cli/trace/event_times.h"

namespace cli::perfetto {
namespace {

constexpr std::size_t kBelowStreams = 1'000'000;
constexpr double kLargestExact = 9007199254740992;  // 2^53

bool is_number(std::string_view text, double& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

bool Counters::event(const Event& event, std::string_view args) {
  const std::string name(catalog_.strings[event.name]);
  bool any = false;
  std::string scratch;
  JsonMembers members(args);
  double value = 0;
  for (Member member; members.next(member);) {
    if (!is_number(member.value, value)) continue;
    const std::string series = name + ' ' + std::string(unescape_json(member.key, scratch));
    write(value, event.start_ns, track({catalog_.tracks[event.track].process, -1, series}, "", kBelowStreams));
    any = true;
  }
  return any;
}

void Counters::computed(const Derived& value) {
  const DerivedTrackInfo& info = cli::info(value.track);
  const std::size_t order = kBelowStreams + static_cast<std::size_t>(value.track);
  Sequence& sequence = track({value.process, value.device, std::string(info.name)}, info.unit, order);
  write(value.value, value.start_ns, sequence);
}

Sequence& Counters::track(const Key& key, std::string_view unit, std::size_t order) {
  Sequence*& found = by_key_[key];
  if (found != nullptr) return *found;
  const auto& [process, device, name] = key;
  const Uuid track = tracks_.counter(tracks_.device(process, device), name, unit, order);
  found = &sequences_.emplace_back();
  found->id = static_cast<std::uint32_t>(sequences_.size() + 1);
  packets_.open(*found, track, origin_ns_);
  return *found;
}

// Integers are written as integers, because most are small.
void Counters::write(double value, std::int64_t ns, Sequence& sequence) {
  packets_.start();
  Writer out(packets_.event());
  out.add_uint32(event::type, event::counter);
  if (value == std::floor(value) && std::abs(value) <= kLargestExact) {
    out.add_int64(event::counter_int, static_cast<std::int64_t>(value));
  } else {
    out.add_double(event::counter_double, value);
  }
  packets_.finish(sequence, ns);
}

namespace {

constexpr std::size_t kSearched = 256;  // limit of slices with equal start searched for that of a flow

}  // namespace

Moment::Held* Moment::find(const Event& flow, TrackId track) {
  Held* found = nullptr;
  for (std::size_t i = used_, searched = 0; i-- > 0 && searched < kSearched; ++searched) {
    Held& held = events_[i];
    if (held.event.track != track || !is_slice(held.event)) continue;
    const bool same_call = held.event.correlation != 0 && held.event.correlation == flow.correlation;
    if (same_call || found == nullptr) found = &held;
    if (same_call) break;
  }
  return found;
}

void Slices::begin(const Event& event, std::int64_t end_ns, SaidArgs args, const FlowIds& flows, const FlowIds& at_end,
                   Sequence& sequence) {
  head(event::begin, event, sequence);
  put_flows(flows);
  arguments(event, args, sequence);
  put_submissions(flows);
  packets_.finish(sequence, event.start_ns);
  sequence.open.push_back({event.start_ns, end_ns, at_end});
}

void Slices::instant(const Event& event, SaidArgs args, Sequence& sequence) {
  head(event::instant, event, sequence);
  arguments(event, args, sequence);
  packets_.finish(sequence, event.start_ns);
}

void Slices::end_until(std::int64_t ns, Sequence& sequence) {
  while (!sequence.open.empty() && sequence.open.back().end_ns <= ns) {
    packets_.start();
    Writer(packets_.event()).add_uint32(event::type, event::end);
    put_flows(sequence.open.back().flows);
    put_submissions(sequence.open.back().flows);
    packets_.finish(sequence, sequence.open.back().end_ns);
    sequence.open.pop_back();
  }
}

void Slices::computed(const Derived& slice, const DerivedText& said, Sequence& sequence) {
  packets_.start();
  Writer out(packets_.event());
  std::string scratch;
  out.add_uint32(event::type, event::begin);
  out.add_uint32(event::category, 1);
  if (sequence.categories.insert(1)) packets_.define(interned::categories, 1, "computed");
  const std::string_view name = valid_utf8(said.name, scratch);
  out.add_string(event::inline_name, name.data(), name.size());
  if (!said.args.empty()) arguments_.members(std::string_view(said.args), Kind::other, sequence, packets_.event());
  packets_.finish(sequence, slice.start_ns);
  sequence.open.push_back({slice.start_ns, slice.start_ns + slice.duration_ns, {}});
}

void Slices::head(std::uint32_t type, const Event& event, Sequence& sequence) {
  packets_.start();
  Writer out(packets_.event());
  out.add_uint32(event::type, type);
  out.add_uint32(event::category, vocabulary_.category(event, sequence));
  out.add_uint32(event::name, vocabulary_.name(event, sequence));
}

void Slices::arguments(const Event& event, SaidArgs args, Sequence& sequence) {
  add_arguments(event, args, vocabulary_.full_name(event), arguments_, sequence, packets_.event());
}

void Slices::put_flows(const FlowIds& flows) {
  Writer out(packets_.event());
  for (const std::uint64_t id : flows) out.add_fixed64(event::flows, id);
}

void Slices::put_submissions(const FlowIds& flows) {
  if (!submits_ || flows.empty()) return;
  Writer out(packets_.event());
  Writer correlation(out, event::gpu_correlation);
  for (const std::uint64_t id : flows) correlation.add_uint64(event::submissions, id);
}

}  // namespace cli::perfetto
