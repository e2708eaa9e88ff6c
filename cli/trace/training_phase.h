// Which phase of a training step a range's name tells.
#pragma once
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>

#include "cli/trace/characters.h"

namespace cli {

enum class TrainingPhase : std::uint8_t { forward, backward, optimizer };

// "## forward ##" and "Forward 3" begin with the word "forward", in lower case.
inline bool begins_with_word(std::string_view name, std::string_view word) {
  const auto is_letter = [](char c) { return lower(c) >= 'a' && lower(c) <= 'z'; };
  const auto from = std::find_if(name.begin(), name.end(), is_letter);
  const auto to = std::find_if_not(from, name.end(), is_letter);
  return std::equal(from, to, word.begin(), word.end(), [](char a, char b) { return lower(a) == b; });
}

// None: the name tells none. PyTorch's: Optimizer.step#AdamW.step, Optimizer.zero_grad#..., what autograd's engine runs,
// DistributedDataParallel.forward; others that begin with the word.
inline std::optional<TrainingPhase> training_phase(std::string_view range) {
  if (begins_with_word(range, "optimizer")) return TrainingPhase::optimizer;
  const bool is_autograd = range.starts_with("autograd::engine::evaluate_function") || range.starts_with("torch::autograd::");
  if (is_autograd || begins_with_word(range, "backward")) return TrainingPhase::backward;
  if (range.ends_with("DataParallel.forward") || begins_with_word(range, "forward")) return TrainingPhase::forward;
  return std::nullopt;
}

// Its work is of the backward pass, but it does not tell where that is: PyTorch up to 1.8 names what accumulates gradients alone.
inline bool tells_no_phase(std::string_view range) { return range.starts_with("torch::autograd::"); }

}  // namespace cli
