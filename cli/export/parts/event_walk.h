// The walk in which the events go to their exporters, and to the overlay whose rows go with them.
#pragma once
#include <cstddef>
#include <memory>
#include <optional>

#include "cli/export/parts/clip.h"
#include "cli/export/parts/cut_plan.h"
#include "cli/export/parts/pieces.h"
#include "cli/export/parts/router.h"
#include "cli/io/progress.h"
#include "cli/overlay/overlay.h"

namespace cli {

class EventWalk : public EventSink, public DerivedSink {
 public:
  // `plan` may be null.
  EventWalk(const ExportJob& job, Pieces& pieces, CutPlan* plan, Progress& progress);

  void event(const Event& event, const Facts& facts) override;
  void derived(const Derived& derived) override;

  // Events that did not come because of the selection (ExportJob::wanted): they were left out, too.
  void not_read(const NotRead& events);

  // After that: finishes the pieces.
  LeftOutSummary finish();

 private:
  LeftOut judge(const Event& event);
  void cut(std::int64_t now_ns);

  const ExportJob& job_;
  Pieces& pieces_;
  CutPlan* plan_;
  Progress& progress_;
  Router router_;
  Clip clip_;
  std::optional<Overlay> overlay_;
  LeftOutSummary left_out_;
};

}  // namespace cli
