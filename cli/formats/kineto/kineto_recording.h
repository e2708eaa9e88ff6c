// An event of a recording as Kineto would have written it.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "cli/formats/kineto/kineto_collectives.h"
#include "cli/formats/kineto/kineto_operators.h"
#include "cli/formats/kineto/kineto_text.h"
#include "cli/trace/catalog.h"
#include "cli/trace/event.h"

namespace cli {

// Kineto's category: NVTX ranges and NCCL calls are user annotations, a CUDA graph that was recorded as a whole is
// written as a kernel, marks and memory are instants.
std::string_view kineto_category(const Event& event);

// What is in a recording.
struct KinetoContents {
  bool operators = false;  // of PyTorch
  bool ranges = false;     // these, or its annotations
};

// Given every event of one process, by time: those that are written and those that are not.
class KinetoRecording {
 public:
  KinetoRecording(const Catalog& catalog, const Process& process, KinetoContents contents) : contents_(contents), collectives_(catalog, process), backward_(catalog) {}

  // Completes `line` of an event that did not come from JSON. What is added lives until the next call.
  void complete(const Event& event, const Facts& facts, KinetoLine& line);
  void note(const Event& event, const Facts& facts);
  // The forward operator of one that is written at `ids`, which live as long as this.
  std::optional<KinetoBackward::Forward> forward_of(const Event& event, const Facts& facts, std::string_view ids) {
    return contents_.operators ? backward_.forward_of(event, facts, ids) : std::nullopt;
  }

 private:
  void add_correlation(const Event& event);
  void add_external_id(const Event& event);
  bool is_inner_call(const Event& event);

  KinetoContents contents_;
  KinetoCollectives collectives_;
  KinetoExternalIds external_ids_;
  KinetoBackward backward_;
  std::unordered_map<TrackId, std::uint64_t> calls_;  // of each thread, the correlation of its last runtime call
  std::string args_;
};

}  // namespace cli
