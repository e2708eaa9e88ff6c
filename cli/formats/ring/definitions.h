// The definitions of a recording except strings and launch configurations: identity of the process, its GPUs, contexts
// and streams, names of threads and streams, NVTX categories, communicators, nodes of CUDA graphs. They are in the
// definitions region; definitions used only once are in blocks.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "cli/formats/ring/file.h"
#include "cli/formats/ring/names.h"
#include "cli/symbols/symbolizer.h"
#include "cli/trace/catalog.h"

namespace cli::ring {

class RingDefinitions {
 public:
  // Reads the region. Identity, GPUs and communicators are stored in the process.
  RingDefinitions(const RingFile& file, Catalog& catalog, ProcessId process, RingNames& names);

  // Reads definitions added to the region since, and switches `names` to this block.
  void enter_block(const RingBlock& block);
  // Reads a definition in the current block.
  void define(const RingBlock& block, std::size_t at, std::uint8_t kind, std::size_t size) {
    note(block.payload, kind, at, size);
  }

  // Adds the device of a context. Kernels also contain it, which helps if the definition of the context was
  // overwritten.
  void note_context(std::uint32_t context, std::uint32_t device) { devices_of_.try_emplace(context, device); }
  std::uint32_t device_of(std::uint32_t context) const;  // 0 if the context is unknown
  std::optional<std::int32_t> priority_of(std::uint32_t context, std::uint32_t stream) const;
  const Device* limits_of(std::uint32_t device) const;  // null if nothing is known yet

  // Returns the ranges that were open when the node was captured; 0 if unknown.
  CaptureId captured(std::uint64_t graph_node) const;
  // Returns the stack with these frame references, innermost first, of a record in the current block. Throws Error if a
  // frame is missing.
  StackId stack(std::string_view refs, std::size_t record_at);
  StringId category(StringId domain, std::uint32_t category) const;  // 0 if it has no name

  // Names the existing tracks and the process's GPU.
  void finish();

 private:
  struct Node {
    std::uint64_t captured_node;
    CaptureId capture = 0;
  };
  struct Frame {
    StackFrame frame;  // without its callers
    CodeObject code;   // for native frames
  };
  using Frames = std::unordered_map<std::uint32_t, Frame>;  // by reference
  struct StreamKey {
    std::uint32_t context, stream;
    auto operator<=>(const StreamKey&) const = default;
  };

  void read_region();
  void note(const std::vector<std::byte>& bytes, std::uint8_t kind, std::size_t at, std::size_t size);
  void add(const trace::IdentityRecord& identity, std::size_t at);
  void add(const trace::DeviceRecord& device, std::size_t at);
  void add(const trace::ContextRecord& context, std::size_t at);
  void add(const trace::StreamRecord& stream, std::size_t at);
  void add(const trace::ThreadNameRecord& thread, std::size_t at);
  void add(const trace::ResourceNameRecord& resource, std::size_t at);
  void add(const trace::NvtxCategoryRecord& category, std::size_t at);
  void add(const trace::CommunicatorRecord& communicator, std::size_t at);
  void add(const trace::GraphNodeRecord& node, std::size_t at);
  void add(const trace::FrameRecord& frame, std::size_t at);
  void add(const trace::ObjectRecord& object, std::size_t at);
  StackId native(StackId outer, const Frame& frame);
  void add(const trace::ModuleNameRecord& module, std::size_t at);
  void add(const trace::ApiNameRecord& api, std::size_t) { names_.note_api(api); }

  Process& process() { return catalog_.processes[process_]; }
  Device& device(std::uint32_t number);
  void name_thread(Track& track) const;
  void name_stream(Track& track) const;
  void name_device();
  std::vector<std::int64_t> devices_used() const;

  const RingFile& file_;
  Catalog& catalog_;
  ProcessId process_;
  RingNames& names_;
  std::size_t region_read_ = 0;  // bytes
  std::int64_t nccl_device_ = -1;
  std::map<std::uint32_t, Device> devices_;
  std::set<std::tuple<std::uint64_t, std::uint32_t, std::int32_t>> communicators_;  // hash, epoch, rank
  std::unordered_map<std::uint32_t, std::string> threads_;                          // names, by tid
  std::unordered_map<std::uint32_t, std::uint32_t> devices_of_;                     // by context
  std::map<StreamKey, std::string> stream_names_;                                   // context 0 if unknown
  std::map<StreamKey, std::int64_t> priorities_;
  std::map<std::uint32_t, std::uint32_t> null_streams_;       // by context
  std::unordered_map<std::uint64_t, StringId> categories_;    // by domain << 32 | category
  std::unordered_map<std::uint64_t, Node> nodes_;             // of CUDA graphs
  bool is_in_block_ = false;                                  // note() reads the current block instead of the region
  Frames frames_, block_frames_;                              // of the region, of the current block
  std::unordered_map<StringId, std::string> build_ids_;       // of the last loaded object with this path
  std::optional<Symbolizer> symbols_;                         // created at the first native frame
  std::unordered_map<std::uint64_t, StringId> module_paths_;  // by module
};

}  // namespace cli::ring
