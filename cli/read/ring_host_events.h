// What host threads did, to events: CUDA calls, NVTX, NCCL.
#pragma once
#include "cli/read/open_ranges.h"
#include "cli/read/ring_output.h"

namespace cli {

class RingHostEvents {
 public:
  explicit RingHostEvents(RingOutput& out)
      : out_(out), ranges_([&out](const OpenRange& range) { out.emit(range.event, range.facts); }) {}

  void translate(const trace::RuntimeRecord& record, std::size_t at);
  void translate(const trace::RuntimeWideRecord& record, std::size_t at);
  void translate(const trace::DriverRecord& record, std::size_t at);
  void translate(const trace::DriverWideRecord& record, std::size_t at);
  void translate(const trace::NvtxPushRecord& record, std::size_t at);
  void translate(const trace::NvtxPopRecord& record, std::size_t at);
  void translate(const trace::NvtxStartRecord& record, std::size_t at);
  void translate(const trace::NvtxEndRecord& record, std::size_t at);
  void translate(const trace::NvtxMarkRecord& record, std::size_t at);
  void translate(const trace::NcclCallRecord& record, std::size_t at);

  // Emits the ranges that are open: their ends are not in the recording.
  void end_ranges() { ranges_.finish(); }
  std::uint64_t unmatched_ends() const { return ranges_.unmatched_ends(); }

 private:
  template <typename Record>
  void call(Kind kind, trace::RecordKind domain, const Record& record, std::uint64_t end_cupti_ns,
            std::uint32_t return_value);
  template <typename Record>
  Event host_event(Kind kind, const Record& record, std::size_t at);
  template <typename Record>
  OpenRange nvtx_range(const Record& record, std::size_t at);

  RingOutput& out_;
  OpenRanges ranges_;
};

}  // namespace cli
