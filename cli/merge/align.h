// Puts the clocks of all hosts on one axis. A method of alignment is one file and one row in align_methods()
// (align.cpp); the last row is what `merge` uses, the first is `merge --no-align`.
#pragma once
#include <memory>
#include <string_view>
#include <vector>

#include "cli/model/clock_fit.h"

namespace cli {

class Aligner {
 public:
  virtual ~Aligner() = default;

  // Called once, after the last event, with host, boot_id and ranks filled in: sets the rest. Must keep the order of
  // time within a clock: drift_ppm > -1e6.
  virtual void fit(std::vector<ClockFit>& fits) = 0;
};

struct AlignMethod {
  std::string_view name;  // becomes ClockFit::method
  std::unique_ptr<Aligner> (*make)();
};

const std::vector<AlignMethod>& align_methods();

}  // namespace cli
