#include "cli/formats/perfetto/counters.h"

#include <charconv>
#include <cmath>

#include "cli/formats/perfetto/arguments.h"
#include "cli/formats/json/json_values.h"

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

// Whole numbers as such: most are small.
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

}  // namespace cli::perfetto
