#include "cli/timeline/select/optimizer_steps.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <utility>

namespace cli {

StepMark step_mark(std::string_view name) {
  constexpr std::array<std::string_view, 5> kBegins = {"enumerate(DataLoader)#", "DistributedDataParallel.forward", "DataParallel.forward",
                                                       "FullyShardedDataParallel.forward", "FSDP::root_pre_forward"};
  if (name.starts_with("Optimizer.step#")) return StepMark::optimizer;
  const bool begins = std::any_of(kBegins.begin(), kBegins.end(), [&](std::string_view each) { return name.starts_with(each); });
  return begins ? StepMark::begin : StepMark::none;
}

void OptimizerSteps::add(StepMark mark, StringId name, std::int64_t start_ns, std::int64_t end_ns) {
  if (mark == StepMark::begin) {
    has_begun_ = true;
    if (optimizers_.empty() && !first_ns_) first_ns_ = start_ns;
    return;
  }
  optimizers_.push_back({name, start_ns, end_ns, std::exchange(has_begun_, false)});
}

// The median time from one mark to the next of its name; the largest number where none comes again.
std::int64_t OptimizerSteps::usual_distance_ns() const {
  std::map<StringId, std::int64_t> last_ns;
  std::vector<std::int64_t> distances_ns;
  for (const Optimizer& each : optimizers_) {
    const auto [last, is_first] = last_ns.try_emplace(each.name, each.start_ns);
    if (!is_first) distances_ns.push_back(each.start_ns - std::exchange(last->second, each.start_ns));
  }
  if (distances_ns.empty()) return std::numeric_limits<std::int64_t>::max();
  const auto middle = distances_ns.begin() + static_cast<std::ptrdiff_t>(distances_ns.size() / 2);
  std::nth_element(distances_ns.begin(), middle, distances_ns.end());
  return *middle;
}

std::vector<Step> OptimizerSteps::steps() const {
  const std::int64_t most_ns = usual_distance_ns() / 4;
  std::vector<std::int64_t> ends_ns;
  std::vector<StringId> names;  // of the last end
  for (const Optimizer& each : optimizers_) {
    const bool follows = !ends_ns.empty() && !each.after_begin && each.start_ns - ends_ns.back() <= most_ns;
    const bool is_another = std::find(names.begin(), names.end(), each.name) == names.end();
    if (follows && is_another) {
      ends_ns.back() = std::max(ends_ns.back(), each.end_ns);
    } else {
      ends_ns.push_back(each.end_ns);
      names.clear();
    }
    names.push_back(each.name);
  }
  std::vector<Step> steps;
  std::optional<std::int64_t> start_ns = first_ns_;
  for (const std::int64_t end_ns : ends_ns) {
    if (start_ns && *start_ns <= end_ns) steps.push_back({static_cast<std::int64_t>(steps.size()), *start_ns, end_ns});
    start_ns = end_ns;
  }
  return steps;
}

}  // namespace cli
