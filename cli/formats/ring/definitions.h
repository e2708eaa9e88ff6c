// What a recording defines besides strings and launch configurations: who the process is, its GPUs, contexts and streams, names
// of threads and streams, NVTX categories, communicators, nodes of CUDA graphs. They lie in the region, and those that
// are used once in blocks.
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

#include "cli/trace/catalog.h"
#include "cli/formats/ring/file.h"
#include "cli/formats/ring/names.h"
#include "cli/symbols/symbolizer.h"

namespace cli::ring {

class RingDefinitions {
 public:
  // Reads the region. Identity, GPUs and communicators go to the process.
  RingDefinitions(const RingFile& file, Catalog& catalog, ProcessId process, RingNames& names);

  // Reads what was added to the region since, and lets `names` know whose records come.
  void enter_block(const RingBlock& block);
  // A definition within the current block.
  void define(const RingBlock& block, std::size_t at, std::uint8_t kind, std::size_t size) {
    note(block.payload, kind, at, size);
  }

  // Kernels tell it, too: the definitions of contexts may have been overwritten.
  void note_context(std::uint32_t context, std::uint32_t device) { devices_of_.try_emplace(context, device); }
  std::uint32_t device_of(std::uint32_t context) const;  // 0 where the context is unknown
  std::optional<std::int32_t> priority_of(std::uint32_t context, std::uint32_t stream) const;
  const Device* limits_of(std::uint32_t device) const;   // null where nothing was said of it so far

  // What was open when the node was captured; 0 where that is unknown.
  CaptureId captured(std::uint64_t graph_node) const;
  // Returns the stack with these frame references, innermost first, of a record in the current block. Throws an Error if a frame is missing.
  StackId stack(std::string_view refs, std::size_t record_at);
  StringId category(StringId domain, std::uint32_t category) const;  // 0: has no name

  // Names the tracks that exist by now and the process's GPU.
  void finish();

 private:
  struct Node {
    std::uint64_t captured_node;
    CaptureId capture = 0;
  };
  struct Frame {
    StackFrame frame;  // without its callers
    CodeObject code;   // of a native one
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
  std::map<StreamKey, std::string> stream_names_;                                   // context 0: unknown
  std::map<StreamKey, std::int64_t> priorities_;
  std::map<std::uint32_t, std::uint32_t> null_streams_;     // by context
  std::unordered_map<std::uint64_t, StringId> categories_;  // by domain << 32 | category
  std::unordered_map<std::uint64_t, Node> nodes_;           // of graphs
  bool is_in_block_ = false;                                // whether note() reads the current block or the region
  Frames frames_, block_frames_;                            // of the region, of the current block
  std::unordered_map<StringId, std::string> build_ids_;     // of the object of this path that was loaded last
  std::optional<Symbolizer> symbols_;                       // made for the first native frame
  std::unordered_map<std::uint64_t, StringId> module_paths_;  // by module
};

}  // namespace cli::ring
