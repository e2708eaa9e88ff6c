// Writes a merged file (cli/formats/ttrace/file.h).
#pragma once
#include <array>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/base/threads.h"
#include "cli/base/output_file.h"
#include "cli/base/zstd_codec.h"
#include "cli/formats/ttrace/batch.h"
#include "cli/formats/ttrace/launch_starts.h"
#include "cli/formats/ttrace/file.h"
#include "cli/trace/catalog.h"
#include "cli/trace/clocks.h"
#include "cli/trace/steps.h"

namespace cli::ttrace {

// Makes the chunks of events of a merged file (cli/formats/ttrace/file.h), of one input. Memory: at most one chunk of events for each stream of a
// process that has not ended.
inline constexpr std::size_t kHeldEvents = std::size_t{1} << 17;

// What lies behind each other in the file.
struct InputChunks {
  std::vector<IndexEntry> index;  // offsets from the first byte of the first chunk
  std::uint64_t events = 0;
};

struct ChunkOptions {
  std::size_t processes = 1;              // of the whole file, about: with more of them chunks are smaller
  std::size_t held_events = kHeldEvents;  // of all processes together
  bool beside = false;                    // chunks are packed by a thread of its own
};

class ChunkWriter : public EventSink {
 public:
  using Put = std::function<void(std::string_view bytes)>;

  // `catalog`: with the tracks and processes of the events. `ids`: what ids become in the file; null: they stay. Both
  // outlive it. `put` takes the bytes of chunks, in their order.
  ChunkWriter(const Catalog& catalog, const IdMap* ids, const ChunkOptions& options, Put put);
  ~ChunkWriter() override;

  // Those of a process in the order of walk.h, at its own times. Throws Error (bad_content) for an event that ends
  // beyond 2^63 ns, or whose arguments are longer than a chunk; and what `put` threw.
  void event(const Event& event, const Facts& facts) override;
  // Writes the last chunks of the process, so that finish() need not.
  void end_of(ProcessId process) override;

  // After the last event.
  InputChunks finish();

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
  void hand_over(Stream& stream);
  void write(EventBatch& batch, IndexEntry entry);

  const Catalog& catalog_;
  const IdMap* ids_;
  std::size_t chunk_events_;
  std::size_t launch_slots_;  // of each process
  Put put_;
  ZstdCompressor zstd_;
  std::string raw_, packed_;
  InputChunks chunks_;
  std::uint64_t offset_ = 0;
  std::vector<std::int64_t> late_launches_;  // IndexEntry::late_launch_ns by number of a chunk
  std::vector<bool> gave_up_waiting_;        // likewise: its late launches may be any of Streams::late_given_up_ns and before
  std::vector<std::size_t> handed_over_;     // the numbers, in the order of the index
  std::vector<Streams> processes_;
  std::vector<bool> launch_flows_;  // by StringId: names of flows from a launch to its work; as far as was asked
  std::vector<std::shared_ptr<EventBatch>> spare_;  // without `beside`: batches to fill again
  std::optional<Background> background_;  // last: what it does uses the rest
};

// A chunk with its header, packed.
void pack_chunk(ChunkKind kind, std::size_t count, std::string_view raw, ZstdCompressor& zstd, IndexEntry& entry, std::string& out);

inline constexpr int kChunkZstdLevel = 1;

// The file itself: the chunks of several inputs, which are made at once and lie in the order of inputs. Memory: some MiB of
// each input whose turn has not come.
class MergedOutput {
 public:
  MergedOutput(ByteSink& out, std::size_t inputs);

  // Chunks of an input. Any thread, one at a time for each input; blocks while much waits before its turn. Throws Error
  // (cannot_open).
  void put(std::size_t input, std::string_view bytes);
  // All chunks of this input were put.
  void done(std::size_t input, InputChunks chunks);
  // An input failed: those behind it wait for their turn no more.
  void give_up(std::size_t input);

  // When all are done: the lists, the index and the footer. `steps` by ProcessId; empty: nobody looked for them. Processes
  // in the index have become those of the catalogue before. Does not finish the sink.
  void finish(const Catalog& catalog, const std::vector<ClockFit>& fits, const std::vector<ProcessSteps>& steps = {});
  // To change what the index says of them.
  InputChunks& chunks(std::size_t input) { return parts_[input].chunks; }

  std::uint64_t events() const { return events_; }  // after finish()

 private:
  struct Part {
    std::string waiting;
    InputChunks chunks;
    std::uint64_t begin = 0;  // in the file
    bool is_done = false;
  };

  void begin_part();
  template <typename List, typename Append>
  void write_list(ChunkKind kind, const List& list, Append&& append);
  void write_chunk(ChunkKind kind, std::size_t count, std::string_view raw);
  void write_index();
  void write_bytes(std::string_view bytes);
  template <typename T>
  void write_struct(const T& value) {
    write_bytes({reinterpret_cast<const char*>(&value), sizeof(value)});
  }

  ByteSink& out_;
  std::mutex mutex_;  // of what follows, until all inputs are done
  std::condition_variable changed_;
  std::vector<Part> parts_;  // by input
  std::size_t turn_ = 0;     // the input whose chunks are written
  std::size_t failed_;       // the first input that failed; as many as there are: none
  std::uint64_t offset_ = 0;

  ZstdCompressor zstd_{kChunkZstdLevel};
  std::string packed_;
  std::vector<IndexEntry> index_;
  std::uint64_t list_bytes_ = 0;  // of all lists, before they are packed
  std::uint64_t events_ = 0;
};

// A file of events that come one by one.
class MergedWriter : public EventSink {
 public:
  // With the tracks and processes of the events; it outlives this.
  MergedWriter(ByteSink& out, const Catalog& catalog, std::size_t held_events = kHeldEvents);

  // As of ChunkWriter. Throws Error (cannot_open) of an earlier chunk, too.
  void event(const Event& event, const Facts& facts) override { chunks_.event(event, facts); }
  // As of MergedOutput.
  void finish(const Catalog& catalog, const std::vector<ClockFit>& fits, const std::vector<ProcessSteps>& steps = {});

 private:
  MergedOutput output_;
  ChunkWriter chunks_;  // last: its thread uses the other
};

}  // namespace cli::ttrace
