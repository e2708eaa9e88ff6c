#include "cli/answers/memory/categories.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>

#include "cli/answers/memory/subjects.h"

namespace cli::memory {
namespace {

using snapshot::Action;
using snapshot::Entry;

bool contains(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }

Part part_of_frame(std::string_view function, std::string_view file, std::uint8_t what) {
  if (what == StackFrame::kModule) return Part::forward;
  if (contains(file, "torch/optim/") || function.starts_with("Optimizer.step")) return Part::optimizer;
  if (function.starts_with("autograd::engine::evaluate_function")) return Part::backward;  // in a profile
  if (contains(function, "torch::autograd::Engine::")) return Part::backward;
  if (!file.ends_with(".py")) return Part::unknown;
  function = plain_name(function);
  if (function == "_engine_run_backward") return Part::backward;
  if (function == "backward") return Part::backward;
  if (contains(file, "torch/utils/checkpoint.py") && (function == "unpack_hook" || function == "recompute_fn")) {
    return Part::backward;
  }
  if (contains(file, "torch/nn/init.py")) return Part::setup;
  const bool is_module = contains(file, "torch/nn/modules/module.py");
  if (is_module && function == "_apply") return Part::setup;
  if (is_module && (function == "_call_impl" || function == "_wrapped_call_impl")) return Part::forward;
  return function == "forward" ? Part::forward : Part::unknown;
}

}  // namespace

std::string_view category_name(Category category) {
  constexpr std::array<std::string_view, 6> kNames{"unknown",         "parameters",  "gradients",
                                                   "optimizer state", "activations", "temporary"};
  return kNames[static_cast<std::size_t>(category)];
}

std::string_view part_name(Part part) {
  constexpr std::array<std::string_view, 5> kNames{"unknown", "setup", "forward", "backward", "optimizer"};
  return kNames[static_cast<std::size_t>(part)];
}

Parts::Parts(const snapshot::Snapshot& snapshot, std::int64_t device) : snapshot_(snapshot) {
  for (std::size_t i = 0; i + 1 < snapshot.annotations.size(); ++i) {
    const snapshot::Annotation &begin = snapshot.annotations[i], &end = snapshot.annotations[i + 1];
    if (!begin.begins || end.begins || begin.name != end.name || begin.device != device) continue;
    if (!snapshot.catalog.strings[begin.name].starts_with("Optimizer.step")) continue;
    optimizer_us_.emplace_back(begin.time_us, end.time_us);
  }
  std::sort(optimizer_us_.begin(), optimizer_us_.end());
  const auto& stacks = snapshot.catalog.stacks.all();
  only_python_ = std::none_of(stacks.begin() + 1, stacks.end(),
                              [](const StackFrame& frame) { return frame.what != StackFrame::kPython; });
  only_python_ = only_python_ && stacks.size() > 1;
  const auto index = static_cast<std::size_t>(device);
  if (device < 0 || index >= snapshot.histories.size()) return;
  states_ = snapshot.histories[index].size();
  snapshot.histories[index].forward([&](std::size_t entry, const Entry& each) {
    ends_in_failure_ = each.action == Action::oom || (ends_in_failure_ && each.action != Action::alloc);
    if (each.action != Action::alloc) return;
    const Part part = part_of(each.stack, each.time_us);
    if (part == Part::unknown || (!changes_.empty() && changes_.back().part == part)) return;
    changes_.push_back({entry, part});
  });
}

Part Parts::part_of(StackId stack, std::int64_t time_us) {
  const auto after = std::upper_bound(optimizer_us_.begin(), optimizer_us_.end(), std::pair(time_us, time_us),
                                      [](const auto& a, const auto& b) { return a.first < b.first; });
  if (after != optimizer_us_.begin() && std::prev(after)->second >= time_us) return Part::optimizer;
  if (stack == 0) return only_python_ ? Part::backward : Part::unknown;
  return part_of(stack);
}

// A stack can have frames of several parts: with checkpointing, the backward pass calls modules. The optimizer wins
// over the backward pass, then setup, then the forward pass.
Part Parts::part_of(StackId stack) {
  if (stack >= parts_.size()) {
    parts_.resize(snapshot_.catalog.stacks.size());
    known_.resize(parts_.size());
  }
  if (known_[stack]) return parts_[stack];
  bool has[5] = {};
  for (StackId at = stack; at != 0; at = snapshot_.catalog.stacks[at].outer) {
    const StackFrame& frame = snapshot_.catalog.stacks[at];
    const Part part =
        part_of_frame(snapshot_.catalog.strings[frame.name], snapshot_.catalog.strings[frame.file], frame.what);
    has[static_cast<std::size_t>(part)] = true;
  }
  known_[stack] = true;
  for (const Part part : {Part::optimizer, Part::backward, Part::setup, Part::forward}) {
    if (has[static_cast<std::size_t>(part)]) return parts_[stack] = part;
  }
  return Part::unknown;
}

bool Parts::changes_to(std::optional<Part> part, Part from, std::size_t after, std::size_t before) const {
  const auto first = std::upper_bound(changes_.begin(), changes_.end(), after,
                                      [](std::size_t value, const Change& change) { return value < change.entry; });
  const auto found = std::find_if(first, changes_.end(), [&](const Change& change) {
    return change.entry >= before || (part ? change.part == *part : change.part != from);
  });
  return found != changes_.end() && found->entry < before;
}

Part Parts::part_of(const LiveBlock& block) {
  return block.entry == LiveBlock::kBefore ? Part::unknown : part_of(block.stack, block.time_us);
}

Category Parts::category_of(const LiveBlock& block) {
  const Part part = part_of(block);
  if (part == Part::unknown) return Category::unknown;
  const bool kept = block.released == LiveBlock::kNever && !ends_in_failure_ && part != Part::forward;
  const std::optional<Part> until = part == Part::forward ? std::optional(Part::backward) : std::nullopt;
  if (kept || changes_to(until, part, block.entry, block.released)) {
    constexpr Category kKept[] = {Category::unknown, Category::parameter, Category::activation, Category::gradient,
                                  Category::optimizer_state};
    return kKept[static_cast<std::size_t>(part)];
  }
  return block.released == LiveBlock::kNever ? Category::unknown : Category::temporary;
}

bool Parts::may_be_activation(const LiveBlock& block) {
  if (ends_in_failure_ && block.released == LiveBlock::kNever && part_of(block) == Part::forward) return true;
  return category_of(block) == Category::activation;
}

std::vector<Parts::Span> Parts::spans() const {
  std::vector<Span> spans{{}};
  for (const Change& change : changes_) spans.push_back({change.entry + 1, change.part});
  return spans;
}

std::vector<std::size_t> Parts::step_ends() const {
  std::vector<std::size_t> ends;
  for (std::size_t i = 0; i < changes_.size(); ++i) {
    if (changes_[i].part != Part::optimizer) continue;
    ends.push_back(i + 1 < changes_.size() ? changes_[i + 1].entry : states_);
  }
  return ends;
}

}  // namespace cli::memory
