// One recording's records to events: a function per kind of record.
#pragma once
#include <string>
#include <unordered_map>

#include "cli/model/catalog.h"
#include "cli/read/clock_axis.h"
#include "cli/read/open_ranges.h"
#include "cli/read/ring_file.h"
#include "cli/read/ring_names.h"

namespace cli {

// The kind of event that a kind of record counts as; Kind::count_ for those that are none (range ends, clocks).
Kind event_kind(std::uint8_t record_kind);

class RingEvents {
 public:
  RingEvents(const RingFile& file, Catalog& catalog, ProcessId process, EventSink& sink, ClockAxis axis);

  void block(const RingBlock& block);
  // Emits ranges that never ended, and writes what was noticed to the process.
  void finish();

  // One overload per kind of record.
  void translate(const trace::KernelRecord& record, std::size_t at);
  void translate(const trace::KernelWideRecord& record, std::size_t at);
  void translate(const trace::MemcpyRecord& record, std::size_t at);
  void translate(const trace::MemcpyPeerRecord& record, std::size_t at);
  void translate(const trace::MemsetRecord& record, std::size_t at);
  template <trace::RecordKind K>
  void translate(const trace::ApiRecord<K>& record, std::size_t at);
  template <trace::RecordKind K>
  void translate(const trace::ApiWideRecord<K>& record, std::size_t at);
  void translate(const trace::NvtxPushRecord& record, std::size_t at);
  void translate(const trace::NvtxPopRecord& record, std::size_t at);
  void translate(const trace::NvtxStartRecord& record, std::size_t at);
  void translate(const trace::NvtxEndRecord& record, std::size_t at);
  void translate(const trace::NvtxMarkRecord& record, std::size_t at);
  void translate(const trace::NcclCallRecord& record, std::size_t at);
  void translate(const trace::ClockRecord&, std::size_t) {}
  template <typename Definition>
  void translate(const Definition&, std::size_t) {}

 private:
  // What kernels of one launch shape on one stream have in common.
  struct KernelText {
    StringId name;
    TrackId track;
    std::string args;
  };
  struct KernelKey {
    std::uint32_t shape_ref, device, context, stream;
    bool operator==(const KernelKey&) const = default;
  };
  struct KernelHash {
    std::size_t operator()(const KernelKey& key) const {
      const std::uint64_t where = std::uint64_t{key.device} << 48 ^ std::uint64_t{key.context} << 32 ^ key.stream;
      return static_cast<std::size_t>((key.shape_ref * 0x9e3779b97f4a7c15u) ^ (where * 0xc2b2ae3d27d4eb4fu));
    }
  };
  using KernelTexts = std::unordered_map<KernelKey, KernelText, KernelHash>;
  const KernelText& kernel_text(std::uint32_t shape_ref, std::uint32_t device, std::uint32_t context,
                                std::uint32_t stream, std::size_t at);
  Event device_event(Kind kind, std::uint32_t device, std::uint32_t stream, std::uint64_t start, std::uint64_t end,
                     std::uint32_t correlation);
  void api_event(Kind kind, trace::RecordKind domain, std::uint32_t cbid, std::uint32_t tid, std::uint64_t start,
                 std::uint64_t end, std::uint32_t correlation, std::uint32_t return_value);
  template <typename Record>
  OpenRange host_range(const Record& record, std::size_t at);
  void emit(const Event& event, std::string_view args);
  bool has_time(std::uint64_t start_cupti_ns);  // false: counted, not an event
  StringId name(std::string_view text) { return catalog_.strings.intern(text); }

  const RingFile& file_;
  Catalog& catalog_;
  ProcessId process_;
  EventSink& sink_;
  ClockAxis axis_;
  RingNames names_;
  OpenRanges ranges_;
  bool any_ = false;
  KernelTexts kernels_;
  KernelTexts block_kernels_;  // by references that mean something in the current block only
  std::unordered_map<std::uint32_t, TrackId> threads_;
  std::unordered_map<std::uint32_t, std::string> api_args_;
  std::uint64_t unknown_records_ = 0;
  std::uint64_t timeless_records_ = 0;  // CUPTI gives 0 where it took no time
  std::uint64_t holes_ = 0;  // blocks left out so far
};

}  // namespace cli
