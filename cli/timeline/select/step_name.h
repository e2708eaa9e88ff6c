// Which range names say "training step N". Families in the order in which they are believed: a process's steps are
// those of the first family of which it has any.
//
//   0  ProfilerStep#12                                       torch.profiler, one per prof.step()
//   1  Train step 12, train_step_12, training step: 12       llm.c's NVTX ranges; record_function by hand
//   2  step 12, step#12, step:12/2315, global_step 12
//   3  iteration 12, iteration12, iter 12, train_iter_12, training iteration 12
//   4  batch 12, Batch_12, train batch 12
//
// Upper and lower case are the same; between the words and before the number may stand any of " _-.:/#=" or nothing;
// behind the number nothing, or "/" and the count of steps. So neither "Optimizer.step#SGD.step" nor "eval step 3" nor
// "Micro-step 1" is one.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/trace/catalog.h"
#include "cli/trace/steps.h"

namespace cli {

inline constexpr std::size_t kStepFamilies = 5;
inline constexpr std::string_view kStepFamilyNames[kStepFamilies] = {"ProfilerStep#N", "train step N", "step N", "iteration N",
                                                                     "batch N"};

struct StepName {
  std::size_t family = 0;
  std::int64_t number = 0;
};

// Nothing for names that are no step's, and for numbers of more than 18 digits.
std::optional<StepName> step_name(std::string_view name);

// The marks that PyTorch itself makes of a step: the call of an optimizer, and the begin of a forward pass or a batch.
// torch/optim/optimizer.py (Optimizer.step#), torch/utils/data/dataloader.py (enumerate(DataLoader)#), and the forward passes of
// DataParallel, DistributedDataParallel, FSDP 1 and 2.
enum class StepMark : std::uint8_t { none, optimizer, begin };
StepMark step_mark(std::string_view name);

// How steps were found, in words.

// "ranks 0-7: steps by the period of the kernels, ..."; a line for ranks of which the same is to be said, which it names where they are
// not all that were chosen. Of ranks that named their steps with `also_named` alone.
std::vector<std::string> step_notes(const std::vector<ProcessSteps>& found, const Catalog& catalog, const std::vector<bool>& chosen, bool also_named);

}  // namespace cli
