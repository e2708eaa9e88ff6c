// The events of one instant, kept until all of its flow events are known: only then is it clear which slices flows
// touch. Memory: one instant.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "cli/formats/perfetto/slice_flows.h"

namespace cli::perfetto {

class Moment {
 public:
  void add(const Event& event, std::string_view args, const FlowIds& flows) {
    if (used_ == events_.size()) events_.emplace_back();
    Held& held = events_[used_++];
    held.event = event;
    held.args = args_.size();
    held.args_length = args.size();
    held.flows = flows;
    held.taken = false;
    args_ += args;
  }

  struct Held {
    Event event;
    std::size_t args = 0, args_length = 0;
    FlowIds flows;
    bool taken = false;  // for StageEnds
  };
  // The slice that a flow event on `track` belongs to; null: none starts now.
  Held* find(const Event& flow, TrackId track);

  // Each event, its arguments and the ids of its flows; then the moment is empty.
  template <typename Write>
  void write(Write&& write) {
    for (std::size_t i = 0; i < used_; ++i) {
      Held& held = events_[i];
      write(held.event, std::string_view(args_).substr(held.args, held.args_length), held.flows);
    }
    clear();
  }
  void clear() {
    used_ = 0;
    args_.clear();
  }

 private:
  std::vector<Held> events_;  // the first used_ count; the rest is room that is kept
  std::size_t used_ = 0;
  std::string args_;
};

}  // namespace cli::perfetto
