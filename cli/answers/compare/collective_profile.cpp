#include <algorithm>
#include <bit>

#include "cli/answers/tables/whole_steps.h"
#include "cli/answers/compare/kept_steps.h"
#include "cli/answers/compare/step_profile.h"

namespace cli {
namespace {

constexpr std::string_view kTime = "time", kWait = "wait", kTransfer = "transfer";

// Collectives by operation and size, in the step in which their work begins on each rank. Where starts are not known of all ranks,
// there is no wait and no transfer.
class CollectiveProfile : public TablesObserver {
 public:
  CollectiveProfile(const AnalysisContext& context, RunProfile& profile, bool whole) : context_(context), profile_(profile), kept_(context, whole, profile) {}

  void finish(const std::vector<ResultTable>&) override {
    const auto& [calls, matched, clocks] = *context_.collectives;
    for (const MatchedCollective& each : matched.collectives) {
      const CollectiveTimes times = times_of(matched, calls, each);
      const auto size = size_of(matched, calls, each);
      const Operation operation = calls.whats[each.what].operation;
      Quantity quantity{std::string(operation_name(operation)), size && *size > 0 ? static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(*size))) : size.value_or(-1), {}};
      for (const MatchedCall& which : matched.calls_of(each)) add(quantity, times, operation, which.process, call_of(calls, which));
    }
  }

 private:
  void add(Quantity& quantity, const CollectiveTimes& times, Operation operation, ProcessId process, const CollectiveCall& call) {
    if (!context_.chosen[process] || call.gpu_start_ns == kNoTime || call.gpu_end_ns == kNoTime) return;
    const Windows& steps = kept_.windows();
    const auto window = call.host_start_ns != kNoTime && steps.are_steps() ? steps.launched_in(process, call.host_start_ns) : steps.at(process, call.gpu_start_ns);
    const std::size_t place = window ? kept_.place(process, *window) : KeptSteps::kNone;
    if (place == KeptSteps::kNone) return;
    const auto put = [&](std::string_view measure, std::int64_t ns) {
      quantity.measure = measure;
      profile_.group(QuantityGroup::collective)[quantity].add(place, ns, 1);
    };
    put(kTime, call.gpu_end_ns - call.gpu_start_ns);
    if (!times.all_started) return;
    put(kWait, times.last_start_ns - call.gpu_start_ns);
    if (all_depend_on_all(operation)) put(kTransfer, std::max<std::int64_t>(0, call.gpu_end_ns - times.last_start_ns));
  }

  const AnalysisContext& context_;
  RunProfile& profile_;
  KeptSteps kept_;
};

}  // namespace

TablesObserverEntry collective_observer(RunProfile& profile, bool whole) {
  ObserverNeeds needs;
  needs.collectives = true;
  return {needs, [&profile, whole](const AnalysisContext& context) -> std::unique_ptr<TablesObserver> { return std::make_unique<CollectiveProfile>(context, profile, whole); }};
}

}  // namespace cli
