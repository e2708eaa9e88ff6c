// Ranges that torch.autograd.profiler.emit_nvtx() makes for operators and for record_function(), for example with
// nsys profile --pytorch=autograd-nvtx: "aten::mm, seq = 7, op_id = 12, sizes = [[2, 3], [3, 4]]" (getNvtxStr in
// torch/csrc/profiler/util.cpp of PyTorch).
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

namespace cli::nsys {

// Views into the text of a range.
struct TorchRange {
  std::string_view name;                                // "aten::mm"
  std::optional<std::uint64_t> sequence_number, op_id;  // seq and op_id
  std::string_view rest;  // of the text after them: "sizes = ..., input_op_ids = ..."; or ""

  // Returns true for an operator or an autograd function. Other ranges are from record_function().
  bool is_operator() const;
};

// Returns nullopt for a range that does not end like those of emit_nvtx().
std::optional<TorchRange> parse_torch_range(std::string_view text);

}  // namespace cli::nsys
