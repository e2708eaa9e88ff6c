// Assigns a class of `classes` to GPU work. The user's rules take precedence, then the work's purpose (work_classes.h),
// then the rules for kernels. Each name is looked up once.
#pragma once
#include "cli/answers/tables/analysis.h"
#include "cli/timeline/gpu/name_rules.h"

namespace cli {

class NamedClasses {
 public:
  using Id = std::uint32_t;
  static constexpr Id kNone = std::numeric_limits<Id>::max();

  // Both must outlive this object; `own` may be null.
  NamedClasses(const Strings& strings, const NameRules* own) : strings_(strings), own_(own) {}

  Id of(const GpuWork& work) {
    Name& name = at(work.name);
    if (name.own != kNone) return name.own;
    if (work.work_class == WorkClass::comm) return id(kCommunicationClass);
    if (work.work_class == WorkClass::memory) return id(kMemory);
    if (work.kind == Kind::graph) return id(kOther);
    if (name.of_kernel == kNone) {
      const NameRules::Rule* rule = kernel_rules().of(matched_name(strings_[work.name]));
      name.of_kernel = id(rule != nullptr ? std::string_view(rule->class_name) : kOther);
    }
    return name.of_kernel;
  }
  const std::string& operator[](Id id) const { return classes_[id]; }
  std::size_t size() const { return classes_.size(); }

 private:
  static constexpr std::string_view kMemory = "memory", kOther = "other";
  struct Name {
    bool seen = false;
    Id own = kNone, of_kernel = kNone;  // by the user's rules; by the rules for kernels, once evaluated
  };

  Name& at(StringId name) {
    if (name >= names_.size()) names_.resize(std::max<std::size_t>(strings_.size(), name + std::size_t{1}));
    Name& found = names_[name];
    if (found.seen) return found;
    found.seen = true;
    const NameRules::Rule* rule = own_ != nullptr ? own_->of(matched_name(strings_[name])) : nullptr;
    if (rule != nullptr) found.own = id(rule->class_name);
    return found;
  }
  Id id(std::string_view name) {
    const auto found = std::find(classes_.begin(), classes_.end(), name);
    if (found != classes_.end()) return static_cast<Id>(found - classes_.begin());
    classes_.emplace_back(name);
    return static_cast<Id>(classes_.size() - 1);
  }

  const Strings& strings_;
  const NameRules* own_;
  std::vector<Name> names_;  // by StringId
  std::vector<std::string> classes_;
};

}  // namespace cli
