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

#include "cli/base/output_file.h"
#include "cli/base/threads.h"
#include "cli/base/zstd_codec.h"
#include "cli/formats/ttrace/batch.h"
#include "cli/formats/ttrace/file.h"
#include "cli/formats/ttrace/launch_starts.h"
#include "cli/trace/catalog.h"
#include "cli/trace/clocks.h"
#include "cli/trace/steps.h"

namespace cli::ttrace {

// Builds the event chunks of one input in a merged file (cli/formats/ttrace/file.h). Memory: at most one chunk
// of events for each stream of a process that has not ended.
inline constexpr std::size_t kHeldEvents = std::size_t{1} << 17;

// Contiguous chunks of one input in the file.
struct InputChunks {
  std::vector<IndexEntry> index;  // offsets relative to the first byte of the first chunk
  std::uint64_t events = 0;
};

struct ChunkOptions {
  std::size_t processes = 1;  // approximate number in the whole file; with more processes chunks are smaller
  std::size_t held_events = kHeldEvents;  // limit over all processes
  bool beside = false;                    // a separate thread compresses chunks
};

class ChunkWriter : public EventSink {
 public:
  using Put = std::function<void(std::string_view bytes)>;

  // `catalog` contains the tracks and processes of the events. `ids` translates ids to those of the file; null if they
  // stay the same. Both have to outlive this. `put` is called with the bytes of chunks, in order.
  ChunkWriter(const Catalog& catalog, const IdMap* ids, const ChunkOptions& options, Put put);
  ~ChunkWriter() override;

  // Adds an event. The events of a process have to be added in the order of walk.h, on its own clock. Throws
  // Error (bad_content) for an event that ends after 2^63 ns, or whose arguments are longer than a chunk; also throws
  // the errors of `put`.
  void event(const Event& event, const Facts& facts) override;
  // Writes the last chunks of the process. Optional.
  void end_of(ProcessId process) override;

  // Writes the remaining chunks. Called after the last event.
  InputChunks finish();

 private:
  // Events that wait for their chunk.
  struct Stream {
    std::shared_ptr<EventBatch> batch;
    IndexEntry entry;       // all members except the offset
    std::size_t chunk = 0;  // number of the chunk, in the order in which chunks were begun
  };
  static constexpr auto kSorts = static_cast<std::size_t>(ChunkSort::count_);
  struct Streams {
    std::array<Stream, kSorts> sorts;
    LaunchStarts launches;
    std::int64_t late_given_up_ns = INT64_MIN;  // last call that may belong to work which LaunchStarts gave up
  };

  void begin(Stream& stream, const Event& event, std::uint32_t process, std::size_t sort);
  bool ends_launch(const Event& event);
  std::int64_t launch_of(const Event& event, Streams& process, ChunkSort sort, std::size_t chunk);
  void hand_over(Stream& stream);
  void write(EventBatch& batch, IndexEntry entry);

  const Catalog& catalog_;
  const IdMap* ids_;
  std::size_t chunk_events_;
  std::size_t launch_slots_;  // for each process
  Put put_;
  ZstdCompressor zstd_;
  std::string raw_, packed_;
  InputChunks chunks_;
  std::uint64_t offset_ = 0;
  std::vector<std::int64_t> late_launches_;  // IndexEntry::late_launch_ns by chunk number
  // By chunk number: its late launches may be at any time up to Streams::late_given_up_ns
  std::vector<bool> gave_up_waiting_;
  std::vector<std::size_t> handed_over_;  // chunk numbers in the order of the index
  std::vector<Streams> processes_;
  std::vector<bool> launch_flows_;  // by StringId: names of flows from a launch to its work; filled on demand
  std::vector<std::shared_ptr<EventBatch>> spare_;  // without `beside`: batches to reuse
  std::optional<Background> background_;            // last member, because its thread uses the others
};

// Appends a compressed chunk with its header.
void pack_chunk(ChunkKind kind, std::size_t count, std::string_view raw, ZstdCompressor& zstd, IndexEntry& entry,
                std::string& out);

inline constexpr int kChunkZstdLevel = 1;

// Writes the file from the chunks of several inputs, which are produced in parallel and stored in the order of inputs.
// Memory: some MiB for each input whose turn has not come.
class MergedOutput {
 public:
  MergedOutput(ByteSink& out, std::size_t inputs);

  // Adds chunks of an input. Any thread, but one at a time for each input. Blocks while too much waits for its turn.
  // Throws Error (cannot_open).
  void put(std::size_t input, std::string_view bytes);
  // Marks the input as complete.
  void done(std::size_t input, InputChunks chunks);
  // Marks the input as failed. Later inputs no longer wait for their turn.
  void give_up(std::size_t input);

  // Writes the lists, the index and the footer, when all inputs are done. `steps` is indexed by ProcessId, or empty if
  // steps were not searched. Processes in the index have to be those of the catalogue by then. Does not finish the
  // sink.
  void finish(const Catalog& catalog, const std::vector<ClockFit>& fits, const std::vector<ProcessSteps>& steps = {});
  // The chunks of an input, to modify their index entries.
  InputChunks& chunks(std::size_t input) { return parts_[input].chunks; }

  std::uint64_t events() const { return events_; }  // after finish()

 private:
  struct Part {
    std::string waiting;
    InputChunks chunks;
    std::uint64_t begin = 0;  // offset in the file
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
  std::mutex mutex_;  // protects the following members until all inputs are done
  std::condition_variable changed_;
  std::vector<Part> parts_;  // by input
  std::size_t turn_ = 0;     // the input whose chunks are written now
  std::size_t failed_;       // the first input that failed; the number of inputs if none did
  std::uint64_t offset_ = 0;

  ZstdCompressor zstd_{kChunkZstdLevel};
  std::string packed_;
  std::vector<IndexEntry> index_;
  std::uint64_t list_bytes_ = 0;  // of all lists, uncompressed
  std::uint64_t events_ = 0;
};

// Writes a merged file from events that arrive one by one.
class MergedWriter : public EventSink {
 public:
  // `catalog` contains the tracks and processes of the events and has to outlive this.
  MergedWriter(ByteSink& out, const Catalog& catalog, std::size_t held_events = kHeldEvents);

  // Same as ChunkWriter::event(). Also throws Error (cannot_open) for an earlier chunk.
  void event(const Event& event, const Facts& facts) override { chunks_.event(event, facts); }
  // Same as MergedOutput::finish().
  void finish(const Catalog& catalog, const std::vector<ClockFit>& fits, const std::vector<ProcessSteps>& steps = {});

 private:
  MergedOutput output_;
  ChunkWriter chunks_;  // last member, because its thread uses the other
};

}  // namespace cli::ttrace
