// Estimates how much memory activation checkpointing of a module would free.
//
// Checkpointing keeps the inputs of a module and frees the activations that its forward pass made. The backward pass
// computes them again, for one call of the module at a time. If the n calls of a module hold b bytes of activations in
// all, the backward pass of the call that is computed first still needs about b / n bytes in addition to what the
// other calls keep. So checkpointing frees at most b - b / n bytes at the peak, if the calls are alike. This is an
// upper bound, because the inputs of each call stay in use. Often they are activations of the module before, and so
// they are counted there. If the last allocation failed in a forward pass, all memory that it allocated is counted,
// because its activations cannot be told from temporary data.
//
// A stack contains files, functions and lines, but no objects and no classes. This is what follows from it:
// - A module is a Python function named forward outside of torch. Two lines of a file are in one such function if a
//   line calls both, and if no line of another function is known between them. Two classes that follow each other in a
//   file, and that one line calls, are counted as one.
// - The number of calls is that of the blocks with the same frames within the module. It is the median over all such
//   frames, because some lines are executed for one call only, and others in a loop. It considers only blocks that
//   belong to no inner module, because those are as many as the calls of the inner module. It is unknown if there are
//   none.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "cli/answers/memory/categories.h"

namespace cli::memory {

struct ModuleActivations {
  std::string module;       // "user/model.py(30-41): forward"
  std::uint64_t bytes = 0;  // of activations that were allocated in the module or in modules that it calls
  std::uint64_t blocks = 0;
  std::uint64_t calls = 0;        // 0 if unknown
  std::uint64_t freed_bytes = 0;  // upper bound
};

// Returns the modules with activations among the blocks in use at some moment, those that free most first.
std::vector<ModuleActivations> checkpointing(const snapshot::Snapshot& snapshot, std::int64_t device,
                                             const std::vector<LiveBlock>& blocks);

}  // namespace cli::memory
