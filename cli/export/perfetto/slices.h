// Slices and instants on sequences.
#pragma once
#include <cstdint>
#include <string_view>

#include "cli/export/perfetto/arguments.h"
#include "cli/export/perfetto/arrows.h"
#include "cli/export/perfetto/vocabulary.h"

namespace cli::perfetto {

class Slices {
 public:
  Slices(EventPackets& packets, Vocabulary& vocabulary)
      : packets_(packets), vocabulary_(vocabulary), arguments_(kAnnotations, packets) {}

  // `flows` are the ids of its arrows; `submissions` those of arrows to render stages, which are told apart.
  void begin(const Event& event, std::int64_t end_ns, std::string_view args, const FlowIds& flows,
             const FlowIds& submissions, Sequence& sequence);
  void instant(const Event& event, std::string_view args, Sequence& sequence);
  // Ends what has ended by `ns`, the innermost first.
  void end_until(std::int64_t ns, Sequence& sequence);
  // A slice of a computed row.
  void computed(const Derived& slice, Sequence& sequence);

 private:
  void head(std::uint32_t type, const Event& event, Sequence& sequence);
  void arguments(const Event& event, std::string_view args, Sequence& sequence);
  void put_flows(const FlowIds& flows);
  void put_submissions(const FlowIds& submissions);

  EventPackets& packets_;
  Vocabulary& vocabulary_;
  Arguments arguments_;
};

}  // namespace cli::perfetto
