// Slices and instants on sequences.
#pragma once
#include <cstdint>
#include <string_view>

#include "cli/formats/export/derived_text.h"
#include "cli/formats/perfetto/arguments.h"
#include "cli/formats/perfetto/slice_flows.h"
#include "cli/formats/perfetto/vocabulary.h"

namespace cli::perfetto {

class Slices {
 public:
  Slices(EventPackets& packets, Vocabulary& vocabulary)
      : packets_(packets), vocabulary_(vocabulary), arguments_(kAnnotations, packets) {}

  // From now on slices name their flows twice: those to render stages have a field of their own, and where a flow
  // ends is not known yet.
  void submit_stages() { submits_ = true; }

  // `flows` are the ids of its flows; those of `at_end` come from slices that start later.
  void begin(const Event& event, std::int64_t end_ns, SaidArgs args, const FlowIds& flows, const FlowIds& at_end, Sequence& sequence);
  void instant(const Event& event, SaidArgs args, Sequence& sequence);
  // Ends what has ended by `ns`, the innermost first.
  void end_until(std::int64_t ns, Sequence& sequence);
  // A slice of a computed track.
  void computed(const Derived& slice, const DerivedText& said, Sequence& sequence);

 private:
  void head(std::uint32_t type, const Event& event, Sequence& sequence);
  void arguments(const Event& event, SaidArgs args, Sequence& sequence);
  void put_flows(const FlowIds& flows);
  void put_submissions(const FlowIds& flows);

  EventPackets& packets_;
  Vocabulary& vocabulary_;
  Arguments arguments_;
  bool submits_ = false;
};

}  // namespace cli::perfetto
