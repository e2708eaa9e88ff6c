// Training steps of a program that named none, from the marks that PyTorch itself makes: a step ends where the last
// Optimizer.step#... before the next forward pass or batch ends, and the next one begins there.
//
// Several optimizers of one step (Optimizer.step#Muon.step, Optimizer.step#AdamW.step) are one end where they follow each other:
// each another one, with neither a forward pass nor a batch between, nor a quarter of the time in which one of them comes again
// (many programs have no mark of a forward pass). The first step begins with the first forward pass or batch; without one before
// its end it is left out, since nothing says where it began. Gradient accumulation is part of a step.
//
// Marks: torch/optim/optimizer.py (Optimizer.step#), torch/utils/data/dataloader.py (enumerate(DataLoader)#), and the forward
// passes of DataParallel, DistributedDataParallel, FSDP 1 and 2.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "cli/trace/event.h"
#include "cli/trace/steps.h"

namespace cli {

enum class StepMark : std::uint8_t { none, optimizer, begin };
StepMark step_mark(std::string_view name);

class OptimizerSteps {
 public:
  // Of one process, by start.
  void add(StepMark mark, StringId name, std::int64_t start_ns, std::int64_t end_ns);
  // After the last mark; numbers count from 0.
  std::vector<Step> steps() const;

 private:
  struct Optimizer {
    StringId name;
    std::int64_t start_ns, end_ns;
    bool after_begin;  // a forward pass or a batch came since the one before
  };
  std::int64_t usual_distance_ns() const;

  std::vector<Optimizer> optimizers_;
  std::optional<std::int64_t> first_ns_;  // the first forward pass or batch, where it comes before them
  bool has_begun_ = false;
};

}  // namespace cli
