// Writes the arguments of an event as the body of a JSON object, with the same keys for every payload in all of our
// formats. Foreign arguments are copied verbatim. These keys are defined only here.
//
// The texts of launch configurations and captures are made once and kept. So are those of the location of GPU work
// (device, context, stream), of calls by their number, and of kernels recently launched with the same configuration on
// the same stream.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cli/trace/catalog.h"

namespace cli {

// `id` identifies a text that repeats, so that results derived from it can be kept. It is unique within this ArgsText
// and less than kMostSaid; 0 if there is none.
struct SaidArgs {
  SaidArgs(std::string_view said, std::uint32_t its_id = 0) : text(said), id(its_id) {}
  operator std::string_view() const { return text; }

  std::string_view text;
  std::uint32_t id;
};
inline constexpr std::uint32_t kMostSaid = 1 << 14;

class ArgsText {
 public:
  // The catalogue has to outlive this. It may grow meanwhile, for example while a file is read.
  explicit ArgsText(const Catalog& catalog) : catalog_(&catalog) {}

  // The result is valid until the next call.
  SaidArgs operator()(const Event& event, const Facts& facts);

 private:
  void say(const Event& event, const CallFacts& facts);
  void say(const Event& event, const KernelFacts& facts);
  void say(const Event& event, const RangeFacts& facts);
  void say(const Event& event, const NcclFacts& facts);
  void say(const Event& event, const CopyFacts& facts);
  void say(const Event& event, const SetFacts& facts);
  void say(const Event& event, const EventRecordFacts& facts);
  void say(const Event& event, const SyncFacts& facts);
  void say(const Event& event, const GraphLaunchFacts& facts);
  void say(const Event& event, const OverheadFacts& facts);
  void say(const Event& event, const MemoryFacts& facts);
  void say(const Event& event, const PoolFacts& facts);
  void say(const Event& event, const NoticeFacts& facts);
  void say(const Event& event, const AllocatorFacts& facts);
  void say(const Event& event, const ProfiledKernelFacts& facts);
  void say(const Event& event, const OperatorFacts& facts);
  void say(const Event& event, const FrameFacts& facts);
  void say(const Event& event, const GarbageCollectionFacts& facts);
  void say(const Event& event, const StackFacts& facts);
  void say(const Event& event, const CounterFacts& facts);

  void place(TrackId track, std::uint32_t context);
  void graph(const GraphNode& graph);
  void collective(const Collective& collective);
  void inputs(OperatorInputId id);
  void called_by(StackId stack, bool with_module);
  void collective_op(CollectiveOpId id, std::uint64_t sequence);
  const std::string& launch(LaunchId id);
  const std::string& capture(CaptureId id);

  void key(std::string_view key);  // preceded by ", " unless it is the first
  void number(std::string_view key, std::uint64_t value);
  void signed_number(std::string_view key, std::int64_t value);
  void quoted(std::string_view key, std::string_view plain);  // needs no escapes
  void string(std::string_view key, StringId id);

  struct Place {
    std::uint32_t context = 0;
    std::string text;  // "" if not made yet
  };
  struct KeptText {
    std::string text;  // "" if not made yet
    std::uint32_t id = 0;
  };
  struct KernelText {
    TrackId track = 0;
    std::uint32_t context = 0;
    LaunchId launch = 0;
    KeptText kept;
  };
  // Returns the text that depends only on these facts; null if texts of this kind are made for each event.
  const KeptText* known(const Event& event, const Facts& facts);
  const KeptText& call(const Event& event, const CallFacts& facts);
  const KeptText& kernel(const Event& event, const KernelFacts& facts);
  template <typename P>
  const KeptText& keep(KeptText& kept, const Event& event, const P& facts);

  const Catalog* catalog_;
  // By StackId: the module and the frames, as JSON
  std::unordered_map<std::uint32_t, std::pair<std::string, std::string>> stacks_;
  std::string out_;
  std::vector<std::string> launches_, captures_;  // by id; "" if not made yet
  std::vector<KeptText> calls_;                   // by cbid, of successful calls
  std::vector<KernelText> kernels_;               // by a hash of the key members
  std::uint32_t last_id_ = 0;
  std::vector<Place> places_;  // by TrackId, for the last context
};

}  // namespace cli
