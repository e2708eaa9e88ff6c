// Writes a merged file (cli/read/merged_file.h). Chunks are packed and written by a second thread. Memory: about
// `held_events` events, of all streams together, wait until their chunks are full.
#pragma once
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "cli/io/background.h"
#include "cli/io/byte_sink.h"
#include "cli/io/zstd_codec.h"
#include "cli/merge/launch_starts.h"
#include "cli/model/catalog.h"
#include "cli/model/clock_fit.h"
#include "cli/model/steps.h"
#include "cli/read/merged_batch.h"
#include "cli/read/merged_file.h"

namespace cli {

inline constexpr std::size_t kHeldEvents = std::size_t{1} << 17;

class MergedWriter : public EventSink {
 public:
  // With the tracks and processes of the events; it outlives this.
  MergedWriter(ByteSink& out, const Catalog& catalog, std::size_t held_events = kHeldEvents);
  ~MergedWriter() override;

  // Those of a process in the order of event_key.h, at its own times. Throws Error (cannot_open) of an earlier chunk;
  // (bad_content) for an event that ends beyond 2^63 ns, or whose arguments are longer than a chunk.
  void event(const Event& event, const Facts& facts) override;

  // The lists, the index and the footer. `steps` by ProcessId; empty: nobody looked for them. Does not finish the sink.
  void finish(const Catalog& catalog, const std::vector<ClockFit>& fits, const std::vector<ProcessSteps>& steps = {});

  std::uint64_t events() const { return events_; }

 private:
  // What waits for its chunk.
  struct Stream {
    std::shared_ptr<EventBatch> batch;
    IndexEntry entry;  // but where it lies
    std::size_t chunk = 0;  // its number, in the order in which they were begun
  };
  static constexpr auto kSorts = static_cast<std::size_t>(ChunkSort::count_);
  struct Streams {
    std::array<Stream, kSorts> sorts;
    LaunchStarts launches;
    std::int64_t late_given_up_ns = INT64_MIN;  // the last call that may be of work that LaunchStarts gave up
  };

  void begin(Stream& stream, const Event& event, std::uint32_t process, std::size_t sort);
  bool ends_launch(const Event& event);
  std::int64_t launch_of(const Event& event, Streams& process, ChunkSort sort, std::size_t chunk);
  template <typename List, typename Append>
  void write_list(ChunkKind kind, const List& list, Append&& append);
  void hand_over(Stream& stream);
  void write_chunk(ChunkKind kind, std::size_t count, std::string_view raw, IndexEntry entry = {});
  void write_index();
  void write_bytes(std::string_view bytes);
  template <typename T>
  void write_struct(const T& value) {
    write_bytes({reinterpret_cast<const char*>(&value), sizeof(value)});
  }

  ByteSink& out_;
  const Catalog& catalog_;
  std::size_t chunk_events_;
  std::size_t launch_slots_;  // of each process
  ZstdCompressor zstd_;
  std::string raw_, packed_;
  std::vector<IndexEntry> index_;
  std::vector<std::int64_t> late_launches_;  // IndexEntry::late_launch_ns by number of a chunk of events
  std::vector<bool> gave_up_waiting_;        // likewise: its late launches may be any of Streams::late_given_up_ns and before
  std::vector<std::size_t> handed_over_;     // the numbers, in the order of the index
  std::uint64_t offset_ = 0;
  std::uint64_t list_bytes_ = 0;  // of all lists, before they are packed
  std::uint64_t events_ = 0;
  std::vector<Streams> processes_;
  std::vector<bool> launch_flows_;  // by StringId: names of arrows from a launch to its work; as far as was asked
  Background background_;  // last: what it does uses the rest
};

}  // namespace cli
