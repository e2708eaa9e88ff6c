// Which operators key_averages() of PyTorch counts: not its utilities, and an operator that is the only thing directly in one of its own name
// as one call with that (_filter_name and EventList._remove_dup_nodes in torch/autograd/profiler_util.py).
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/trace/event.h"
#include "cli/trace/strings.h"

namespace cli {

// Operators that have no row and are part of what is around them.
class UtilityOperators {
 public:
  // The strings outlive it, and may become more.
  explicit UtilityOperators(const Strings& strings) : strings_(strings) {}

  bool holds(StringId name) {
    if (name >= known_.size()) known_.resize(std::max(strings_.size(), name + std::size_t{1}), Known::unseen);
    if (known_[name] == Known::unseen) known_[name] = std::find(kNames.begin(), kNames.end(), strings_[name]) != kNames.end() ? Known::yes : Known::no;
    return known_[name] == Known::yes;
  }

 private:
  static constexpr std::array<std::string_view, 6> kNames = {"aten::_version", "aten::is_leaf", "aten::output_nr", "profiler::_record_function_enter",
                                                             "profiler::_record_function_enter_new", "profiler::_record_function_exit"};
  enum class Known : unsigned char { unseen, no, yes };

  const Strings& strings_;
  std::vector<Known> known_;  // by StringId
};

// Of an operator that is open: what lies directly in it. `Child`: what is known of an operator of its name that is alone in it so far.
template <typename Child>
class OnlyChild {
 public:
  // Something begins directly in the operator. Returns whether it is the first; one that was alone so far is given to `part`.
  template <typename Part>
  bool begin(Part&& part) {
    if (only_) part(*std::exchange(only_, std::nullopt));
    return !std::exchange(has_child_, true);
  }
  // What has begun is of the operator's name, and the first.
  void merge(Child child) { only_ = std::move(child); }

 private:
  std::optional<Child> only_;
  bool has_child_ = false;
};

}  // namespace cli
