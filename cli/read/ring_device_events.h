// Work of the GPU and what CUPTI tells besides it, to events: a function per kind of record.
#pragma once
#include <string_view>
#include <unordered_map>

#include "cli/read/ring_output.h"

namespace cli {

class RingDeviceEvents {
 public:
  explicit RingDeviceEvents(RingOutput& out) : out_(out) {}
  void enter_block() { block_kernels_.clear(); }

  void translate(const trace::KernelRecord& record, std::size_t at);
  void translate(const trace::KernelWideRecord& record, std::size_t at);
  void translate(const trace::MemcpyRecord& record, std::size_t at);
  void translate(const trace::MemcpyPeerRecord& record, std::size_t at);
  void translate(const trace::MemsetRecord& record, std::size_t at);
  void translate(const trace::GraphLaunchRecord& record, std::size_t at);
  void translate(const trace::SyncRecord& record, std::size_t at);
  void translate(const trace::CudaEventRecord& record, std::size_t) { out_.cuda_events.add(record); }
  void translate(const trace::OverheadRecord& record, std::size_t at);
  void translate(const trace::MemoryRecord& record, std::size_t at);
  void translate(const trace::MemoryPoolRecord& record, std::size_t at);

 private:
  // A stream of a context of a device, as every record on it needs it.
  struct PlaceKey {
    std::uint32_t device, context, stream;
    bool operator==(const PlaceKey&) const = default;
  };
  // What kernels of one launch shape on one stream have in common.
  struct Launched {
    StringId name;
    TrackId track;
    KernelFacts facts;
  };
  struct KernelKey {
    std::uint32_t shape_ref;
    PlaceKey place;
    bool operator==(const KernelKey&) const = default;
  };
  struct Hash {
    std::size_t operator()(const PlaceKey& key) const {
      const std::uint64_t where = std::uint64_t{key.device} << 48 ^ std::uint64_t{key.context} << 32 ^ key.stream;
      return static_cast<std::size_t>(where * 0xc2b2ae3d27d4eb4fu);
    }
    std::size_t operator()(const KernelKey& key) const {
      return static_cast<std::size_t>((key.shape_ref * 0x9e3779b97f4a7c15u) ^ (*this)(key.place));
    }
  };
  using Launches = std::unordered_map<KernelKey, Launched, Hash>;

  const Launched& launched(std::uint32_t shape_ref, PlaceKey key, std::size_t at);
  TrackId stream(PlaceKey key);
  template <typename Record>
  Event work(Kind kind, const Record& record, TrackId track) const;
  template <typename Record>
  void copy(const Record& record, CopyFacts facts);
  template <typename Record>
  GraphNode graph_node(const Record& record) const;
  TrackId overhead_track(const trace::OverheadRecord& record);
  Event memory_event(std::uint64_t time_cupti_ns, std::uint32_t device, std::uint64_t bytes, std::uint32_t correlation);
  StringId name(std::string_view text) { return out_.catalog.strings.intern(text); }

  RingOutput& out_;
  std::unordered_map<PlaceKey, TrackId, Hash> streams_;
  Launches kernels_;
  Launches block_kernels_;  // by references that mean something in the current block only
  std::unordered_map<std::uint32_t, StringId> copy_names_;
  std::unordered_map<std::uint32_t, StringId> memory_names_;
};

}  // namespace cli
