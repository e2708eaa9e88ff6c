// Base of the rules about kernels. A rule owns some of a GPU's work; this class sums how long that work runs alone.
#pragma once
#include "cli/answers/rules/rule.h"

namespace cli::rules {

// Time in which the owned work of a device runs without any other work: the saving if that work were removed and
// everything else stayed the same.
class ExposedWork {
 public:
  using Device = std::pair<ProcessId, std::int64_t>;
  struct Sum {
    std::int64_t count = 0;       // pieces of work
    std::int64_t time_ns = 0;     // sum of their durations
    std::int64_t exposed_ns = 0;  // part of the union of all work that is outside the union of the other work
  };

  explicit ExposedWork(const Windows& windows) : windows_(windows) {}

  // Adds GPU work in order of start; only its part within the windows counts. `is_own` is true for the owned work.
  void add(const GpuWork& work, bool is_own) {
    const Device device{work.process, work.device};
    bool is_in = false;
    windows_.each_part(work.process, work.start_ns, work.end_ns,
                       [&](std::size_t i, std::int64_t start_ns, std::int64_t end_ns) {
                         is_in = true;
                         Unions& unions = unions_[{device, i}];
                         Sum& sum = sum_of(device);
                         sum.exposed_ns += unions.all.add(start_ns, end_ns);
                         if (is_own)
                           sum.time_ns += end_ns - start_ns;
                         else
                           sum.exposed_ns -= unions.rest.add(start_ns, end_ns);
                       });
    if (is_in && is_own) ++sum_of(device).count;
  }
  // Call it after the process's last work.
  void end_of(ProcessId process) {
    unions_.erase(unions_.lower_bound({{process, INT64_MIN}, 0}), unions_.lower_bound({{process + 1, INT64_MIN}, 0}));
  }

  const std::map<Device, Sum>& sums() const { return sums_; }

 private:
  struct Union {
    std::int64_t to_ns = kEarliest_ns;
    // Extends the union and returns the time that is new.
    std::int64_t add(std::int64_t start_ns, std::int64_t end_ns) {
      const std::int64_t ns = std::max<std::int64_t>(0, end_ns - std::max(start_ns, to_ns));
      to_ns = std::max(to_ns, end_ns);
      return ns;
    }
  };
  struct Unions {
    Union all, rest;
  };

  // Returns the sums of a device; usually the entry used for the previous work.
  Sum& sum_of(const Device& device) {
    if (last_ == nullptr || last_->first != device) last_ = &*sums_.try_emplace(device).first;
    return last_->second;
  }

  const Windows& windows_;
  std::map<std::pair<Device, std::size_t>, Unions> unions_;  // by window
  std::map<Device, Sum> sums_;
  std::map<Device, Sum>::value_type* last_ = nullptr;  // the entry used last
};

class WorkRule : public Rule {
 public:
  // The rule fires if the work of a device runs alone for more than 1 / `share` of the diagnosed time.
  WorkRule(const AnalysisContext& context, std::int64_t share)
      : Rule(context), share_(share), activity_(context.catalog), exposed_(context.windows) {}
  static ObserverNeeds needs() { return {.kinds = HostActivity::kinds()}; }

  void event(const Event& event, const Facts&) override { activity_.event(event); }
  void work(const GpuWork& work) override {
    const bool own = is_own(work);
    exposed_.add(work, own);
    if (!own) return;
    names_ns_[{work.process, work.name}] += work.end_ns - work.start_ns;
    evidence_.add(work.process, work.start_ns, work.end_ns, work.end_ns - work.start_ns, [&] {
      const std::string name = short_name_of(work.name);
      return work.call == nullptr ? name : name + ", launched " + activity_.text(work.call->track, work.call->start_ns);
    });
  }
  void end_of(ProcessId process) override {
    activity_.end_of(process);
    exposed_.end_of(process);
    const StringId longest_name = longest(process);
    const auto first = names_ns_.lower_bound({process, 0});
    names_ns_.erase(first, names_ns_.lower_bound({process, longest_name}));
    names_ns_.erase(names_ns_.upper_bound({process, longest_name}), names_ns_.lower_bound({process + 1, 0}));
  }
  std::vector<Finding> find(const DiagnosisScope& scope, const std::vector<ResultTable>&) override {
    Fired fired;
    for (const auto& [device, sum] : exposed_.sums()) {
      if (sum.count > 0 && sum.exposed_ns > scope.time.lengths_ns[device.first] / share_)
        fired.add(device.first, device.second, sum.exposed_ns);
    }
    if (fired.empty()) return {};
    Finding finding = fired.finding(scope, evidence_);
    explain(scope, fired.most, fired.device, exposed_.sums().at({fired.most, fired.device}), finding);
    return {finding};
  }

 protected:
  using Sum = ExposedWork::Sum;

  virtual bool is_own(const GpuWork& work) = 0;
  // Sets title, advice and, if not all of it can be saved, the saving. `device` is the device that loses most.
  virtual void explain(const DiagnosisScope& scope, ProcessId most, std::int64_t device, const Sum& sum,
                       Finding& finding) const = 0;
  // Returns the name with the longest time among the process's owned work.
  StringId longest(ProcessId process) const {
    std::pair<std::int64_t, StringId> most{-1, 0};
    for (auto at = names_ns_.lower_bound({process, 0}); at != names_ns_.end() && at->first.first == process; ++at) {
      if (at->second > most.first) most = {at->second, at->first.second};
    }
    return most.second;
  }

 private:
  const std::int64_t share_;
  HostActivity activity_;
  ExposedWork exposed_;
  std::map<std::pair<ProcessId, StringId>, std::int64_t> names_ns_;  // for ended processes only the longest
  LongestEvidence evidence_;
};

}  // namespace cli::rules
