// Writes GPU work for Perfetto's GPU views (v55 and newer): render stages on the hardware queues of GPUs, one packet
// each, with the launch configuration of kernels. The required data is defined in protos/perfetto/trace/gpu and in
// Perfetto's importers/proto/gpu_event_parser.cc.
//
// A queue may contain overlapping work. A stage has one id, which its launch references; Perfetto supports only one
// launch per stage.
#pragma once
#include <cstdint>
#include <deque>
#include <map>
#include <string_view>
#include <vector>

#include "cli/formats/export/flows.h"
#include "cli/formats/perfetto/arguments.h"
#include "cli/formats/perfetto/slice_flows.h"
#include "cli/formats/perfetto/slices.h"
#include "cli/formats/perfetto/tracks.h"
#include "cli/formats/perfetto/vocabulary.h"

namespace cli::perfetto {

class RenderStages {
 public:
  RenderStages(const Catalog& catalog, EventPackets& packets, Vocabulary& vocabulary, Tracks& tracks,
               std::deque<Sequence>& sequences)
      : catalog_(catalog),
        packets_(packets),
        vocabulary_(vocabulary),
        tracks_(tracks),
        sequences_(sequences),
        arguments_(kStageArguments, packets),
        queues_(catalog.tracks.size()) {}

  // Writes the list of GPUs. Called before the first stage. GPU numbers are unique over all ranks.
  void begin(std::int64_t origin_ns);
  bool draws(const Event& event) const {
    return is_gpu_work(event.kind) && catalog_.tracks[event.track].kind == TrackKind::stream;
  }
  // `name` is that of the queue. `flows` has at most one id (StageEnds).
  void write(const Event& event, std::int64_t end_ns, std::string_view name, std::string_view args,
             const FlowIds& flows);

 private:
  using Gpu = std::pair<ProcessId, std::int64_t>;
  Sequence& queue(const Event& event, std::string_view name);
  void define_queue(TrackId track, std::string_view name);
  void define_stages();
  void define_context(ProcessId process);
  void kernel(const Event& event, std::uint32_t name, Writer& out, Sequence& sequence);
  void launch(const Event& event, std::string_view args, Sequence& sequence);

  const Catalog& catalog_;
  EventPackets& packets_;
  Vocabulary& vocabulary_;
  Tracks& tracks_;
  std::deque<Sequence>& sequences_;
  Arguments arguments_;
  std::vector<Sequence*> queues_;  // by TrackId
  std::map<Gpu, std::int32_t> gpus_;
  std::map<Sequence*, IdSet> kernels_;
  Buffer launch_;
  std::int64_t origin_ns_ = 0;
  std::uint64_t lonely_ = 0;  // stages without a flow
};

// Determines which flow events of the input can be written at GPU work if render stages are used. A stage is one packet
// with one id, so it can be the end of one flow, at its start. No flow can begin at a stage or end in its middle.
class StageEnds {
 public:
  StageEnds(const Catalog& catalog, const FlowPlan& flows, const RenderStages& stages, Moment& moment)
      : catalog_(catalog), flows_(flows), stages_(stages), moment_(moment) {}

  // First pass, called after that of the plan: holds the slices of an instant, as the second pass does.
  void prepare(const Event& event);
  void end_prepare() { moment_.clear(); }

  // Returns true if the flow event can be written. Called for flow events of the instant, in the same order in both
  // passes, which give the same results. A stage takes the first possible flow.
  bool takes(const Event& flow, TrackId track);

 private:
  const Catalog& catalog_;
  const FlowPlan& flows_;
  const RenderStages& stages_;
  Moment& moment_;
  std::int64_t now_ns_ = 0;
};

}  // namespace cli::perfetto
