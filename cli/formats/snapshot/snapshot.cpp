#include "cli/formats/snapshot/snapshot.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "cli/base/error.h"
#include "cli/base/interning.h"
#include "cli/formats/snapshot/pickle.h"

namespace cli::snapshot {
namespace {

// Members of dictionaries that are read. Each key is equal to its StringId, because the keys are interned first.
enum Key : std::uint8_t {
  kNoKey,
  kAction,
  kAddr,
  kDeviceFree,
  kSize,
  kTimeUs,
  kFrames,
  kFilename,
  kName,
  kLine,
  kState,
  kRequestedSize,
  kAddress,
  kTotalSize,
  kDevice,
  kBlocks,
  kStage,
  kStream,
  kSegmentType,
  kSegments,
  kDeviceTraces,
  kHasLayout,
  kKeys
};
constexpr std::array<std::string_view, kKeys> kKeyNames{
    "",      "action", "addr",         "device_free",    "size",          "time_us",    "frames", "filename",
    "name",  "line",   "state",        "requested_size", "address",       "total_size", "device", "blocks",
    "stage", "stream", "segment_type", "segments",       "device_traces", "has_layout"};

constexpr std::uint64_t kMostTime = std::uint64_t{1} << 53;  // in us; a larger time is damaged

// Kinds of results into which the builder converts dictionaries and lists.
enum Made : std::uint8_t {
  frame,
  stack,
  entry = Builder::kFirstOnce,  // index in pending_
  block,                        // index in Snapshot::blocks
  segment,
  annotation,
};

// The members of a dictionary, by key.
class Members {
 public:
  Members(const Value* members, std::size_t count) {
    for (std::size_t i = 0; i < count; i += 2) {
      const Value& key = members[i];
      if (key.is(Value::text) && key.bits < kKeys) values_[key.bits] = &members[i + 1];
    }
  }
  bool has(Key key) const { return values_[key] != nullptr; }
  bool has(Key key, Value::Type type) const { return has(key) && values_[key]->is(type); }
  const Value& operator[](Key key) const { return *values_[key]; }
  std::uint64_t number(Key key, std::uint64_t otherwise = 0) const {
    return has(key, Value::integer) || has(key, Value::boolean) ? values_[key]->bits : otherwise;
  }
  StringId text(Key key) const { return has(key, Value::text) ? static_cast<StringId>(values_[key]->bits) : 0; }

 private:
  std::array<const Value*, kKeys> values_{};
};

class SnapshotBuilder : public Builder {
 public:
  explicit SnapshotBuilder(Snapshot& snapshot) : snapshot_(snapshot) {
    for (const std::string_view key : kKeyNames) snapshot.catalog.strings.intern(key);
    for (const std::string_view action : kActionNames) actions_.push_back(snapshot.catalog.strings.intern(action));
    inactive_ = snapshot.catalog.strings.intern("inactive");
    active_ = snapshot.catalog.strings.intern("active_allocated");
    pending_free_ = snapshot.catalog.strings.intern("active_pending_free");
    awaiting_free_ = snapshot.catalog.strings.intern("active_awaiting_free");  // in PyTorch's documentation
    start_ = snapshot.catalog.strings.intern("START");
    small_ = snapshot.catalog.strings.intern("small");
  }
  void use(Pickle& pickle) { pickle_ = &pickle; }

  bool made(const Value* members, std::size_t count, Value& result) override {
    const Members m(members, count);
    result.type = Value::made;
    if (m.has(kFilename) && m.has(kName)) return make(result, Made::frame, frame(m));
    if (m.has(kAction) && m.has(kSize)) return make(result, Made::entry, entry(m));
    if (m.has(kState) && m.has(kSize)) return make(result, Made::block, block(m));
    if (m.has(kBlocks) && m.has(kTotalSize)) return make(result, Made::segment, segment(m));
    if (m.has(kStage) && m.has(kTimeUs)) return make(result, Made::annotation, annotation(m));
    return false;
  }

  bool listed(const std::vector<Value>& items, Value& result) override {
    const auto is_frame = [](const Value& item) { return item.is(Value::made) && item.kind == Made::frame; };
    result.type = Value::made;
    return std::all_of(items.begin(), items.end(), is_frame) && make(result, Made::stack, stack(items));
  }

  // The first item decides, because all items of a list are of one kind.
  bool added(std::uint64_t list, const Value* items, std::size_t count) override {
    if (!items->is(Value::made) || items->kind < Builder::kFirstOnce) return false;
    if (items->kind != Made::entry) return true;  // the items are already in the snapshot
    History& history = history_of(list);
    for (std::size_t i = 0; i < count; ++i) {
      if (!items[i].is(Value::made) || items[i].kind != Made::entry) continue;
      history.add(pending_[items[i].bits]);
      free_.push_back(items[i].bits);
    }
    return true;
  }

  // `root` is the result of the pickle.
  void finish(const Value& root) {
    if (!root.is(Value::dict)) return;
    const std::vector<Value>& members = pickle_->items(root);
    const Members m(members.data(), members.size());
    has_segments_ = m.has(kSegments, Value::list);
    snapshot_.has_layout = m.number(kHasLayout, 1) != 0;
    if (!m.has(kDeviceTraces, Value::list)) return;
    for (const Value& trace : pickle_->items(m[kDeviceTraces])) {
      auto& history = snapshot_.histories.emplace_back();
      if (!trace.is(Value::list)) continue;
      const auto found = std::find_if(histories_.begin(), histories_.end(),
                                      [&](const auto& of_list) { return of_list.first == trace.bits; });
      if (found != histories_.end()) history = std::move(found->second);
    }
  }
  bool has_segments() const { return has_segments_; }

 private:
  static bool make(Value& result, Made kind, std::uint64_t id) {
    result.kind = kind;
    result.bits = id;
    return true;
  }

  StackId stack_of(const Members& m) {
    if (!m.has(kFrames)) return {};
    const Value& frames = m[kFrames];
    if (frames.is(Value::made) && frames.kind == Made::stack) return static_cast<std::uint32_t>(frames.bits);
    if (!frames.is(Value::list)) return {};
    const StackId id = stack(pickle_->items(frames));
    pickle_->replace(frames, {Value::made, Made::stack, id});
    return id;
  }

  // PyTorch lists the frames from the innermost to the outermost.
  StackId stack(const std::vector<Value>& frames) {
    StackId outer;
    for (auto value = frames.rbegin(); value != frames.rend(); ++value) {
      if (!value->is(Value::made) || value->kind != Made::frame) continue;
      StackFrame frame = frames_[static_cast<std::uint32_t>(value->bits)];
      frame.outer = outer;
      outer = snapshot_.catalog.stacks.intern(frame);
    }
    return outer;
  }

  std::uint64_t frame(const Members& m) {
    StackFrame frame;
    const std::string_view file = snapshot_.catalog.strings[m.text(kFilename)];
    frame.name = m.text(kName);
    frame.line = static_cast<std::int32_t>(m.number(kLine));
    const bool is_python = file.ends_with(".py") || file.starts_with('<');
    frame.what = is_python ? StackFrame::kPython : StackFrame::kNative;
    if (file != "??") frame.file = m.text(kFilename);
    return frames_.intern(frame);
  }

  std::uint64_t entry(const Members& m) {
    Entry entry;
    const auto action = std::find(actions_.begin(), actions_.end(), m.text(kAction));
    entry.action = static_cast<Action>(action - actions_.begin());
    entry.address = entry.action == Action::oom ? m.number(kDeviceFree, kUnknownBytes) : m.number(kAddr);
    entry.bytes = m.number(kSize);
    const std::uint64_t time_us = m.number(kTimeUs, kMostTime);
    entry.time_us = time_us < kMostTime ? static_cast<std::int64_t>(time_us) : kNoTime;
    entry.stream = m.number(kStream);
    entry.stack = stack_of(m);
    std::uint64_t index = pending_.size();
    if (free_.empty()) {
      pending_.push_back(entry);
    } else {
      index = free_.back();
      free_.pop_back();
      pending_[index] = entry;
    }
    return index;
  }

  std::uint64_t block(const Members& m) {
    Block block;
    block.address = m.number(kAddress);
    block.bytes = m.number(kSize);
    block.requested_bytes = m.number(kRequestedSize, block.bytes);
    const StringId state = m.text(kState);
    block.state = state == active_                                    ? BlockState::active
                  : state == pending_free_ || state == awaiting_free_ ? BlockState::pending_free
                  : state == inactive_                                ? BlockState::inactive
                                                                      : BlockState::unknown;
    block.stack = stack_of(m);
    snapshot_.blocks.push_back(block);
    return snapshot_.blocks.size() - 1;
  }

  std::uint64_t segment(const Members& m) {
    Segment segment;
    segment.address = m.number(kAddress);
    segment.bytes = m.number(kTotalSize);
    segment.device = static_cast<std::int64_t>(m.number(kDevice));
    segment.stream = m.number(kStream);
    segment.is_small = m.text(kSegmentType) == small_;
    segment.first_block = segment_blocks_;
    segment.blocks = snapshot_.blocks.size() - segment_blocks_;
    segment_blocks_ = snapshot_.blocks.size();
    segment.stack = stack_of(m);
    if (m.has(kBlocks, Value::list)) pickle_->replace(m[kBlocks], {});
    snapshot_.segments.push_back(segment);
    return snapshot_.segments.size() - 1;
  }

  std::uint64_t annotation(const Members& m) {
    snapshot_.annotations.push_back({m.text(kName), static_cast<std::int64_t>(m.number(kDevice)),
                                     static_cast<std::int64_t>(m.number(kTimeUs)), m.text(kStage) == start_});
    return snapshot_.annotations.size() - 1;
  }

  History& history_of(std::uint64_t list) {
    if (!histories_.empty() && histories_.back().first == list) return histories_.back().second;
    const auto found =
        std::find_if(histories_.begin(), histories_.end(), [&](const auto& of_list) { return of_list.first == list; });
    return found != histories_.end() ? found->second : histories_.emplace_back(list, History()).second;
  }

  Snapshot& snapshot_;
  Pickle* pickle_ = nullptr;
  Interned<StackFrame> frames_;  // without their callers
  std::vector<Entry> pending_;   // entries that are not yet in a history
  std::vector<std::uint64_t> free_;
  std::vector<std::pair<std::uint64_t, History>> histories_;  // by the number of their list
  std::size_t segment_blocks_ = 0;                            // blocks that belong to segments
  std::vector<StringId> actions_;
  StringId inactive_ = 0, active_ = 0, pending_free_ = 0, awaiting_free_ = 0, start_ = 0, small_ = 0;
  bool has_segments_ = false;
};

}  // namespace

namespace {

// Returns true if the file, which may be compressed, begins like a pickle of protocol 2 or newer.
bool begins_as_pickle(const std::string& path) {
  char first[3] = {};
  return open_byte_source(path)->read(first, sizeof first) == sizeof first && first[0] == '\x80' && first[1] >= 2 &&
         first[1] <= 5;
}

}  // namespace

bool is_snapshot_file(const std::string& path) {
  try {
    return begins_as_pickle(path);
  } catch (const Error&) {
    return false;
  }
}

Snapshot read_snapshot(const std::string& path) {
  if (!begins_as_pickle(path)) {
    throw Error(Exit::bad_content, path +
                                       ": byte 0: not a pickle; expected a memory snapshot of PyTorch "
                                       "(torch.cuda.memory._dump_snapshot)");
  }
  Snapshot snapshot;
  SnapshotBuilder builder(snapshot);
  Pickle pickle(path, snapshot.catalog.strings, builder);
  builder.use(pickle);
  builder.finish(pickle.run());
  if (!builder.has_segments()) {
    throw Error(Exit::bad_content, path +
                                       ": a pickle without \"segments\"; expected a memory snapshot of PyTorch "
                                       "(torch.cuda.memory._dump_snapshot)");
  }
  return snapshot;
}

}  // namespace cli::snapshot
