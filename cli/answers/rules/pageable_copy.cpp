// pageable-copy: copies to the GPU from pageable memory or by a blocking call. The host waits for them, so the GPU does
// nothing else and idles until the host returns and launches again.
#include "cli/answers/rules/work_rule.h"

namespace cli::rules {
namespace {

constexpr std::int64_t kLeastCopyShare = 100;  // 1 / N of the time: copies and idle time
// 1 / N of the time, if pageable copies are slower than kSlowPercent of pinned copies of the same size
constexpr std::int64_t kLeastSlowCopyShare = 500;
constexpr double kSlowPercent = 30;

class PageableCopy : public Rule {
 public:
  explicit PageableCopy(const AnalysisContext& context) : Rule(context), copies_(context.windows) {}

  void work(const GpuWork& work) override {
    const bool blocks = claims_->blocks_to_device(work);
    copies_.add(work, blocks);
    if (!blocks || !context_.windows.hold(work.process, work.start_ns, work.end_ns)) return;
    ++(is_from_pageable(work) ? pageable_ : pinned_)[work.process];
    evidence_.add(work.process, work.start_ns, work.end_ns, work.end_ns - work.start_ns,
                  [&] { return describe(work); });
  }
  void claimed(const ClaimedGap& claim) override {
    idle_ns_[{claim.gap.process, claim.gap.device}] += claim.ns;
    evidence_.add(claim.gap.process, claim.from_ns, claim.to_ns, claim.ns,
                  [&] { return "the GPU idles: " + describe(*claim.gap.next); });
  }

  void end_of(ProcessId process) override { copies_.end_of(process); }

  std::vector<Finding> find(const DiagnosisScope& scope, const std::vector<ResultTable>& tables) override {
    const TableReading rates(tables, "copies");
    std::map<std::int64_t, std::vector<std::size_t>> rows;  // rows of the table, by rank
    for (std::size_t row = 0; row < rates.rows(); ++row)
      rows[rates.get<std::int64_t>(row, "rank").value_or(-1)].push_back(row);
    Fired fired;
    for (const auto& [device, copies] : copies_.sums()) {
      const std::int64_t length_ns = scope.time.lengths_ns[device.first], all_ns = copies.exposed_ns + idle_ns_[device];
      const bool is_slow =
          all_ns > length_ns / kLeastSlowCopyShare && !slow_text(rates, rows[scope.rank(device.first)]).empty();
      if (copies.count > 0 && (all_ns > length_ns / kLeastCopyShare || is_slow))
        fired.add(device.first, device.second, all_ns);
    }
    if (fired.empty()) return {};
    Finding finding = fired.finding(scope, evidence_);
    explain(scope, fired, slow_text(rates, rows[scope.rank(fired.most)]), finding);
    return {finding};
  }

 private:
  using Device = ExposedWork::Device;

  std::string describe(const GpuWork& work) const {
    std::string text = short_name_of(work.name);
    if (work.event->has_bytes) text += " of " + bytes_text(work.event->bytes);
    return work.call == nullptr
               ? text
               : text + ", launched " + claims_->activity().text(work.call->track, work.call->start_ns);
  }
  // For the slow size with the most time: "pageable copies of at least 1.0 MiB run at 2.0 GB/s, pinned copies at 12.0
  // GB/s". Returns "" if none is slow.
  static std::string slow_text(const TableReading& rates, const std::vector<std::size_t>& rows) {
    std::pair<std::int64_t, std::string> most{0, ""};
    const auto is_to_device = [&](std::size_t row, std::string_view from) {
      return rates.get<std::string>(row, "direction") == "HtoD" && rates.get<std::string>(row, "from_memory") == from;
    };
    for (const std::size_t slow : rows) {
      if (!is_to_device(slow, "Pageable")) continue;
      const auto size = rates.get<std::int64_t>(slow, "from_bytes");
      for (const std::size_t fast : rows) {
        if (!size || !is_to_device(fast, "Pinned") || rates.get<std::int64_t>(fast, "from_bytes") != size) continue;
        const double rate = rates.get<double>(slow, "median_gb_per_s").value_or(0),
                     pinned = rates.get<double>(fast, "median_gb_per_s").value_or(0);
        if (rate <= 0 || 100 * rate >= kSlowPercent * pinned || rates.number(slow, "time_ns") <= most.first) continue;
        most = {rates.number(slow, "time_ns"),
                fmt::format("pageable copies of at least {} run at {:.3g} GB/s, pinned copies at {:.3g} GB/s",
                            bytes_text(static_cast<std::uint64_t>(*size)), rate, pinned)};
      }
    }
    return most.second;
  }

  void explain(const DiagnosisScope& scope, const Fired& fired, const std::string& slow, Finding& finding) {
    const auto& copies = copies_.sums().at({fired.most, fired.device});
    const std::int64_t pageable = pageable_[fired.most], pinned = pinned_[fired.most];
    const std::string what = pageable == 0 ? "by blocking calls"
                             : pinned == 0 ? "from pageable memory"
                                           : "from pageable memory or by blocking calls";
    finding.title = fmt::format("copies to the GPU {} run {}: they take {}, and the GPU idles {} around them", what,
                                times_text(scope, copies.count), per_step_text(scope, copies.exposed_ns),
                                per_step_text(scope, idle_ns_[{fired.most, fired.device}]));
    if (!slow.empty()) finding.title += "; " + slow;
    finding.advice =
        "Pin batches (pin_memory=True of the DataLoader, or tensor.pin_memory()) and copy them with .to(device, non_blocking=True), one batch ahead. "
        "Create small tensors on the GPU (device=\"cuda\") instead of copying them.";
  }

  ExposedWork copies_;
  std::map<Device, std::int64_t> idle_ns_;
  std::map<ProcessId, std::int64_t> pageable_, pinned_;  // number of copies
  LongestEvidence evidence_;
};

}  // namespace

RuleEntry pageable_copy_rule() {
  return rule_entry<PageableCopy>(
      {.name = "pageable-copy",
       .fires =
           "blocking copies to a GPU, with the idle time around them, take more than 1 % of the time, or pageable copies run at less than 30 % of the rate of pinned copies",
       .source =
           "PyTorch, pin_memory() and non_blocking: https://pytorch.org/tutorials/intermediate/pinmem_nonblock.html",
       .inputs = {RuleInput::launches},
       .tables = {"copies"},
       .gap_owner = GapOwner::blocking_copy});
}

}  // namespace cli::rules
