#include "cli/formats/snapshot/snapshot.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bitset>
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
  explicit Members(const std::vector<Value>& members) {
    for (std::size_t i = 0; i + 1 < members.size(); i += 2) {
      const Value& key = members[i];
      if (!key.is(Value::text) || key.bits == 0 || key.bits >= kKeys) continue;
      has_.set(key.bits);
      values_[key.bits] = members[i + 1];
    }
  }
  bool has(Key key) const { return has_[key]; }
  const Value& operator[](Key key) const { return values_[key]; }
  std::uint64_t number(Key key, std::uint64_t otherwise = 0) const {
    const bool known = has_[key] && (values_[key].is(Value::integer) || values_[key].is(Value::boolean));
    return known ? values_[key].bits : otherwise;
  }
  StringId text(Key key) const {
    return has_[key] && values_[key].is(Value::text) ? static_cast<StringId>(values_[key].bits) : 0;
  }

 private:
  std::bitset<kKeys> has_;
  std::array<Value, kKeys> values_;
};

// Interns stacks. PyTorch lists their frames from the innermost to the outermost.
class Stacks {
 public:
  explicit Stacks(Catalog& catalog) : catalog_(catalog) { sequences_.emplace_back(); }

  std::uint64_t frame(const StackFrame& frame) { return frames_.intern(frame); }

  StackId of(const std::vector<Value>& frames) {
    ids_.clear();
    for (const Value& value : frames) {
      if (value.is(Value::made) && value.kind == Made::frame) ids_.push_back(static_cast<std::uint32_t>(value.bits));
    }
    if (!is_sequence(last_)) last_ = find();
    return sequences_[last_].stack;
  }

 private:
  struct Known {
    std::pair<const std::uint32_t*, std::size_t> sequence;
    StackId stack;
  };

  bool is_sequence(std::uint32_t id) const {
    const auto& [sequence, length] = sequences_[id].sequence;
    return length == ids_.size() && std::equal(ids_.begin(), ids_.end(), sequence);
  }

  std::uint32_t find() {
    std::uint64_t hash = ids_.size();
    for (const std::uint32_t id : ids_) hash = trace::spread(hash ^ id);
    const auto next = static_cast<std::uint32_t>(sequences_.size());
    const auto id = known_.intern(static_cast<std::uint32_t>(hash >> 32), next,
                                  [&](std::uint32_t known) { return is_sequence(known); });
    if (id == next) sequences_.push_back({{arena_.keep(ids_.data(), ids_.size()), ids_.size()}, linked()});
    return id;
  }

  StackId linked() {
    StackId outer;
    for (std::size_t i = ids_.size(); i-- > 0;) {
      StackFrame frame = frames_[ids_[i]];
      frame.outer = outer;
      outer = catalog_.stacks.intern(frame);
    }
    return outer;
  }

  Catalog& catalog_;
  Interned<StackFrame> frames_;  // without their callers
  std::vector<Known> sequences_;
  IdTable known_;
  Arena<std::uint32_t> arena_;
  std::vector<std::uint32_t> ids_;
  std::uint32_t last_ = 0;  // a release often has the stack of the previous entry
};

class SnapshotBuilder : public Builder {
 public:
  explicit SnapshotBuilder(Snapshot& snapshot) : snapshot_(snapshot), stacks_(snapshot.catalog) {
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

  bool made(const std::vector<Value>& members, Value& result) override {
    const Members m(members);
    result.type = Value::made;
    if (m.has(kFilename) && m.has(kName)) return make(result, Made::frame, frame(m));
    if (m.has(kAction) && m.has(kSize)) return make(result, Made::entry, entry(m));
    if (m.has(kState) && m.has(kSize)) return make(result, Made::block, block(m));
    if (m.has(kBlocks) && m.has(kTotalSize)) return make(result, Made::segment, segment(m));
    if (m.has(kStage) && m.has(kTimeUs)) return make(result, Made::annotation, annotation(m));
    return false;
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
    const Members m(pickle_->items(root));
    has_segments_ = m[kSegments].is(Value::list);
    snapshot_.has_layout = m.number(kHasLayout, 1) != 0;
    if (!m.has(kDeviceTraces) || !m[kDeviceTraces].is(Value::list)) return;
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
    const StackId id = stacks_.of(pickle_->items(frames));
    pickle_->replace(frames, {Value::made, Made::stack, id});
    return id;
  }

  std::uint64_t frame(const Members& m) {
    StackFrame frame;
    const std::string_view file = snapshot_.catalog.strings[m.text(kFilename)];
    frame.name = m.text(kName);
    frame.line = static_cast<std::int32_t>(m.number(kLine));
    const bool is_python = file.ends_with(".py") || file.starts_with('<');
    frame.what = is_python ? StackFrame::kPython : StackFrame::kNative;
    if (file != "??") frame.file = m.text(kFilename);
    return stacks_.frame(frame);
  }

  std::uint64_t entry(const Members& m) {
    Entry entry;
    const auto action = std::find(actions_.begin(), actions_.end(), m.text(kAction));
    entry.action = static_cast<Action>(action - actions_.begin());
    entry.address = m.number(entry.action == Action::oom ? kDeviceFree : kAddr);
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
    if (m[kBlocks].is(Value::list)) pickle_->replace(m[kBlocks], {});
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
  Stacks stacks_;
  Pickle* pickle_ = nullptr;
  std::vector<Entry> pending_;  // entries that are not yet in a history
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
