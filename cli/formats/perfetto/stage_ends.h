// With render stages: which flow events of the input can be written at GPU work. A stage is one packet with one id, so it
// takes the end of one flow, told when it starts; no flow begins at a stage, and none ends in its middle.
#pragma once
#include "cli/formats/export/flow_plan.h"
#include "cli/formats/perfetto/moment.h"
#include "cli/formats/perfetto/render_stages.h"

namespace cli::perfetto {

class StageEnds {
 public:
  StageEnds(const Catalog& catalog, const FlowPlan& flows, const RenderStages& stages, Moment& moment)
      : catalog_(catalog), flows_(flows), stages_(stages), moment_(moment) {}

  // In the first pass, after the plan's: holds the slices of an instant, as the second pass does.
  void prepare(const Event& event);
  void end_prepare() { moment_.clear(); }

  // For flow events of the moment, in the same order in both passes: the answers are the same. The first that a stage
  // takes is its flow.
  bool takes(const Event& flow, TrackId track);

 private:
  const Catalog& catalog_;
  const FlowPlan& flows_;
  const RenderStages& stages_;
  Moment& moment_;
  std::int64_t now_ns_ = 0;
};

}  // namespace cli::perfetto
