// Selects the operators that PyTorch's key_averages() counts. It excludes utilities, and it counts an operator together
// with its only child if both have the same name (_filter_name and EventList._remove_dup_nodes in
// torch/autograd/profiler_util.py).
#pragma once
#include "cli/answers/tables/analysis.h"

namespace cli {

// Operators that have no row of their own; they are part of the operator around them.
class UtilityOperators {
 public:
  // The strings must outlive this object and may grow.
  explicit UtilityOperators(const Strings& strings) : strings_(strings) {}

  bool holds(StringId name) {
    return known_.is(strings_, name, [](std::string_view text) { return std::ranges::count(kNames, text) > 0; });
  }

 private:
  static constexpr std::array<std::string_view, 6> kNames = {"aten::_version",
                                                             "aten::is_leaf",
                                                             "aten::output_nr",
                                                             "profiler::_record_function_enter",
                                                             "profiler::_record_function_enter_new",
                                                             "profiler::_record_function_exit"};

  const Strings& strings_;
  NameAnswers known_;
};

// Direct children of an open operator. `Child` is what is stored about the only child so far if it has the operator's
// name.
template <typename Child>
class OnlyChild {
 public:
  // Records the begin of a direct child. Returns true if it is the first; an earlier only child is passed to `part`.
  template <typename Part>
  bool begin(Part&& part) {
    if (only_) part(*std::exchange(only_, std::nullopt));
    return !std::exchange(has_child_, true);
  }
  // Sets the only child: the first, and with the operator's name.
  void merge(Child child) { only_ = std::move(child); }

 private:
  std::optional<Child> only_;
  bool has_child_ = false;
};

}  // namespace cli
