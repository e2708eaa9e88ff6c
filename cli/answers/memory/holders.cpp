#include "cli/answers/memory/holders.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "cli/answers/memory/subjects.h"

namespace cli::memory {

void StackSums::add(StackId stack, std::uint64_t bytes) {
  const std::size_t index = stack;
  if (index >= now_.size()) now_.resize(index + 1);
  now_[index] += bytes;
  for (Mark& mark : marks_) {
    if (index >= mark.bytes.size()) mark.bytes.resize(index + 1), mark.is_changed.resize(index + 1);
    if (mark.is_changed[index]) continue;
    mark.is_changed[index] = true;
    mark.changed.push_back(stack);
  }
}

void StackSums::set(Which which) {
  Mark& mark = marks_[which];
  for (const StackId stack : mark.changed) {
    mark.bytes[stack] = now_[stack];
    mark.is_changed[stack] = false;
  }
  mark.changed.clear();
}

Holders::Holders(const Catalog& catalog, Windows host, Windows steps)
    : catalog_(catalog), host_(std::move(host)), steps_(std::move(steps)), stacks_(catalog) {}

KindSet Holders::kinds() { return kinds_of({Kind::memory, Kind::instant}) | OpenStacks::kinds(); }

void Holders::event(const Event& event, const Facts& facts) {
  const ProcessId process = catalog_.tracks[event.track].process;
  stacks_.event(event);
  const auto change = change_of(event, facts);
  if (!change || change->type == Change::Type::failure) return;
  const bool is_allocation = change->type == Change::Type::allocation;
  Device& device = devices_[{process, change->device, change->is_of_driver}];
  hold(process, device, event.start_ns);
  const auto found = device.live.find(change->address);
  // An allocation at the address of a block in use shows that the release of that block is missing in the trace.
  if (found != device.live.end()) {
    device.sums.remove(found->second.stack, found->second.bytes);
    device.live.erase(found);
  }
  if (is_allocation) {
    const StackId stack = stacks_.stack_of(event, *change, names_);
    device.live[change->address] = {change->bytes, stack};
    device.sums.add(stack, change->bytes);
  }
  device.level += is_allocation ? change->bytes : 0 - change->bytes;
  if (change->allocated_bytes) device.level = static_cast<std::uint64_t>(*change->allocated_bytes);
  device.is_known = true;
  device.since_ns = event.start_ns;
}

void Holders::end_of(ProcessId process) {
  for (auto& [key, device] : devices_) {
    if (std::get<ProcessId>(key) != process) continue;
    hold(process, device, std::numeric_limits<std::int64_t>::max());
    device.is_known = false;
    device.live = {};
  }
}

// The level was reached at since_ns and lasts until to_ns. The table `memory` counts it in the same windows.
void Holders::hold(ProcessId process, Device& device, std::int64_t to_ns) {
  if (!device.is_known) return;
  const auto& windows = host_.of(process);
  const std::size_t window = host_.first_after(process, device.since_ns);
  const bool is_chosen =
      window < windows.size() && (windows[window].from_ns < to_ns || windows[window].from_ns <= device.since_ns);
  const auto level = static_cast<std::int64_t>(device.level);
  if (is_chosen && level > device.peak_bytes) {
    device.peak_bytes = level;
    device.sums.set(StackSums::peak);
  }
  const auto& steps = steps_.of(process);
  const std::size_t first = steps_.first_after(process, device.since_ns);
  std::size_t after = first;
  while (after < steps.size() && steps[after].to_ns <= to_ns) ++after;
  if (after == first) return;
  device.sums.set(StackSums::end_of_step);
  device.last_step = after - 1;
  if (device.first_step) return;
  device.first_step = first;
  device.first_bytes = device.sums.at(StackSums::end_of_step);
}

Holders::Device* Holders::finished(ProcessId process, std::int64_t device) {
  end_of(process);
  const auto found = devices_.lower_bound({process, device, false});
  const bool is_there = found != devices_.end() && found->first <= Key(process, device, true);
  return is_there ? &found->second : nullptr;
}

// Returns the line with the largest sum. `bytes` are by StackId, modulo 2^64: damaged sizes cannot overflow.
std::optional<Holders::Holder> Holders::largest(const std::vector<std::uint64_t>& bytes) const {
  Subjects lines(names_, GroupBy::line);
  std::map<std::string, std::uint64_t> sums;
  for (std::size_t stack = 0; stack < bytes.size(); ++stack) {
    const std::string& line = lines.of(StackId(static_cast<std::uint32_t>(stack)));
    if (!line.empty()) sums[line] += bytes[stack];
  }
  const auto signed_sum = [](const auto& line) { return static_cast<std::int64_t>(line.second); };
  const auto most = std::ranges::max_element(sums, {}, signed_sum);
  if (most == sums.end() || signed_sum(*most) <= 0) return {};
  return Holder{most->first, most->second, 0};
}

std::optional<Holders::Holder> Holders::at_peak(ProcessId process, std::int64_t device) {
  Device* const of = finished(process, device);
  if (of == nullptr || of->peak_bytes < 0) return {};
  auto found = largest(of->sums.at(StackSums::peak));
  if (found) found->peak_bytes = of->peak_bytes;
  return found;
}

std::optional<Holders::Holder> Holders::growth(ProcessId process, std::int64_t device) {
  Device* const of = finished(process, device);
  if (of == nullptr || !of->first_step || of->last_step == *of->first_step) return {};
  std::vector<std::uint64_t> grew = of->sums.at(StackSums::end_of_step);
  for (std::size_t stack = 0; stack < of->first_bytes.size(); ++stack) grew[stack] -= of->first_bytes[stack];
  auto found = largest(grew);
  if (!found) return {};
  found->bytes /= of->last_step - *of->first_step;
  found->peak_bytes = of->peak_bytes;
  return found;
}

}  // namespace cli::memory
