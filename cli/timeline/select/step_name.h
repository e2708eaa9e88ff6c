// Recognizes range names of the form "training step N". The families are listed by priority: a process's steps are
// those of the first family that it has.
//
//   0  ProfilerStep#12                                       torch.profiler, one per prof.step()
//   1  Train step 12, train_step_12, training step: 12       llm.c's NVTX ranges; record_function by hand
//   2  step 12, step#12, step:12/2315, global_step 12
//   3  iteration 12, iteration12, iter 12, train_iter_12, training iteration 12
//   4  batch 12, Batch_12, train batch 12
//
// Case is ignored. Any of " _-.:/#=", or nothing, may stand between the words and before the number. Only "/" and the
// number of steps may follow the number. "Optimizer.step#SGD.step", "eval step 3" and "Micro-step 1" do not match.
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
inline constexpr std::string_view kStepFamilyNames[kStepFamilies] = {"ProfilerStep#N", "train step N", "step N",
                                                                     "iteration N", "batch N"};

struct StepName {
  std::size_t family = 0;
  std::int64_t number = 0;
};

// Returns nullopt for other names and for numbers of more than 18 digits.
std::optional<StepName> step_name(std::string_view name);

// Recognizes the marks that PyTorch itself makes in a step: the call of an optimizer, and the beginning of a forward
// pass or a batch. Sources: torch/optim/optimizer.py (Optimizer.step#), torch/utils/data/dataloader.py
// (enumerate(DataLoader)#), and the forward passes of DataParallel, DistributedDataParallel, FSDP 1 and 2.
enum class StepMark : std::uint8_t { none, optimizer, begin };
StepMark step_mark(std::string_view name);

// Describes how steps were found.

// Returns lines such as "ranks 0-7: steps by the period of the kernels, ...", one for all ranks with the same text; the
// ranks are named unless they are all chosen ones. Ranks that named their steps are included only if `also_named`.
std::vector<std::string> step_notes(const std::vector<ProcessSteps>& found, const Catalog& catalog,
                                    const std::vector<bool>& chosen, bool also_named);

}  // namespace cli
