#include "cli/formats/snapshot/write_snapshot.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "cli/base/interning.h"
#include "cli/base/json_text.h"

namespace cli::snapshot {
namespace {

// Writes the instructions of a pickle. Objects that occur again have a number in the pickle's memo.
class PickleWriter {
 public:
  explicit PickleWriter(ByteSink& out) : out_(out) { bytes("\x80\x04"); }

  void begin_list() { bytes("]("); }
  void end_list() { bytes("e"); }
  void begin_dict() { bytes("}("); }
  void end_dict() { bytes("u"); }
  // Appends the items so far to the list. Python's own pickles append at most 1,000 items at once.
  void next_items() { bytes("e("); }
  void boolean(bool value) { bytes(value ? "\x88" : "\x89"); }
  void minus_one() { code('J', 0xffffffff, 4); }
  void integer(std::uint64_t value) {
    if (value <= 0xff) return code('K', value, 1);
    if (value <= 0xffff) return code('M', value, 2);
    if (value <= 0x7fffffff) return code('J', value, 4);
    std::size_t length = 4;
    while (length < 9 && (value >> (8 * length - 1)) != 0) ++length;  // the highest bit is the sign
    bytes("\x8a");
    code(static_cast<char>(length), value, std::min<std::size_t>(length, 8));
    if (length == 9) bytes({"", 1});
  }
  void text(std::string_view value) {
    value = valid_utf8(value, scratch_);
    value.size() <= 0xff ? code('\x8c', value.size(), 1) : code('X', value.size(), 4);
    bytes(value);
  }

  // Adds the value that was written last to the memo, and returns its number. A list is added before its items.
  std::uint32_t memoize() {
    bytes("\x94");
    return memos_++;
  }
  std::uint32_t begin_shared_list() {
    bytes("]");
    const std::uint32_t memo = memoize();
    bytes("(");
    return memo;
  }
  void recall(std::uint32_t memo) { memo <= 0xff ? code('h', memo, 1) : code('j', memo, 4); }

  void finish() {
    bytes(".");
    out_.write(buffer_);
  }

 private:
  static constexpr std::size_t kBuffer = 64 << 10;

  void bytes(std::string_view more) {
    if (buffer_.size() + more.size() > kBuffer) {
      out_.write(buffer_);
      buffer_.clear();
    }
    buffer_ += more;
  }
  // Writes an instruction with a little-endian number; the machine is little-endian.
  void code(char instruction, std::uint64_t value, std::size_t length) {
    bytes({&instruction, 1});
    bytes({reinterpret_cast<const char*>(&value), length});
  }

  ByteSink& out_;
  std::string buffer_, scratch_;
  std::uint32_t memos_ = 0;
};

constexpr std::string_view state_name(BlockState state) {
  switch (state) {
    case BlockState::active:
      return "active_allocated";
    case BlockState::pending_free:
      return "active_pending_free";
    case BlockState::inactive:
      return "inactive";
    case BlockState::unknown:
      break;
  }
  return "unknown";
}

std::string_view action_name(Action action) {
  return action == Action::other ? "other" : kActionNames[static_cast<std::size_t>(action)];
}

// Numbers of values in the memo, by their id.
class Memos {
 public:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  // Valid until the next call.
  std::uint32_t& operator[](std::uint32_t id) {
    if (id >= memos_.size()) memos_.resize(std::max<std::size_t>(id + std::size_t{1}, 2 * memos_.size()), kNone);
    return memos_[id];
  }

 private:
  std::vector<std::uint32_t> memos_;
};

class SnapshotWriter {
 public:
  SnapshotWriter(const Snapshot& snapshot, ByteSink& out) : snapshot_(snapshot), out_(out) {}

  void write() {
    out_.begin_dict();
    word("segments");
    out_.begin_list();
    for (const Segment& segment : snapshot_.segments) {
      const Block* const first = snapshot_.blocks.data() + segment.first_block;
      snapshot_.has_layout ? write_segment(segment, first, segment.blocks) : write_amounts(segment, first);
    }
    out_.end_list();
    word("device_traces");
    out_.begin_list();
    for (const History& history : snapshot_.histories) write_history(history);
    out_.end_list();
    word("allocator_settings");
    out_.begin_dict();
    out_.end_dict();
    word("external_annotations");
    out_.begin_list();
    for (const Annotation& annotation : snapshot_.annotations) write_annotation(annotation);
    out_.end_list();
    if (!snapshot_.has_layout) {
      word("has_layout");
      out_.boolean(false);
    }
    out_.end_dict();
    out_.finish();
  }

 private:
  static constexpr std::size_t kMostItems = 1000;  // that are appended to a list at once

  // Writes a segment for each block, and one for the rest of the reserved memory.
  void write_amounts(const Segment& amounts, const Block* blocks) {
    std::uint64_t rest = amounts.bytes;
    for (std::size_t i = 0; i < amounts.blocks; ++i) {
      Segment segment = amounts;
      segment.address = blocks[i].address;
      segment.bytes = blocks[i].bytes;
      write_segment(segment, &blocks[i], 1);
      rest -= std::min(rest, segment.bytes);
    }
    if (rest == 0) return;
    Segment segment = amounts;
    segment.bytes = rest;
    const Block free{.bytes = rest, .requested_bytes = rest, .state = BlockState::inactive, .stack = {}};
    write_segment(segment, &free, 1);
  }

  void write_segment(const Segment& segment, const Block* blocks, std::size_t count) {
    std::uint64_t allocated = 0, active = 0, requested = 0;
    for (std::size_t i = 0; i < count; ++i) {
      if (!in_use(blocks[i])) continue;
      active += blocks[i].bytes;
      requested += blocks[i].requested_bytes;
      if (blocks[i].state == BlockState::active) allocated += blocks[i].bytes;
    }
    out_.begin_dict();
    member("device", static_cast<std::uint64_t>(segment.device));
    member("address", segment.address);
    member("total_size", segment.bytes);
    member("allocated_size", allocated);
    member("active_size", active);
    member("requested_size", requested);
    member("stream", segment.stream);
    word("segment_type");
    word(segment.is_small ? "small" : "large");
    write_frames(segment.stack);
    word("blocks");
    out_.begin_list();
    for (std::size_t i = 0; i < count; ++i) {
      if (i % kMostItems == kMostItems - 1) out_.next_items();
      write_block(blocks[i]);
    }
    out_.end_list();
    out_.end_dict();
  }

  void write_block(const Block& block) {
    out_.begin_dict();
    member("address", block.address);
    member("size", block.bytes);
    member("requested_size", block.requested_bytes);
    word("state");
    word(state_name(block.state));
    write_frames(block.stack);
    out_.end_dict();
  }

  void write_history(const History& history) {
    out_.begin_list();
    history.forward([&](std::size_t index, const Entry& entry) {
      if (index % kMostItems == kMostItems - 1) out_.next_items();
      write_entry(entry);
    });
    out_.end_list();
  }

  void write_entry(const Entry& entry) {
    out_.begin_dict();
    word("action");
    word(action_name(entry.action));
    if (entry.action != Action::oom) {
      member("addr", entry.address);
    } else if (entry.address != kUnknownBytes) {
      member("device_free", entry.address);
    } else {
      word("device_free");
      out_.minus_one();  // PyTorch's programs need a number
    }
    member("size", entry.bytes);
    member("stream", entry.stream);
    if (entry.time_us != kNoTime) member("time_us", static_cast<std::uint64_t>(entry.time_us));
    write_frames(entry.stack);
    out_.end_dict();
  }

  void write_annotation(const Annotation& annotation) {
    out_.begin_dict();
    word("stage");
    word(annotation.begins ? "START" : "END");
    word("name");
    string(annotation.name);
    member("device", static_cast<std::uint64_t>(annotation.device));
    member("time_us", static_cast<std::uint64_t>(annotation.time_us));
    out_.end_dict();
  }

  // PyTorch lists the frames of a stack from the innermost to the outermost.
  void write_frames(StackId stack) {
    word("frames");
    if (stacks_[stack] != Memos::kNone) return out_.recall(stacks_[stack]);
    stacks_[stack] = out_.begin_shared_list();
    for (StackId at = stack; at != 0; at = snapshot_.catalog.stacks[at].outer)
      write_frame(snapshot_.catalog.stacks[at]);
    out_.end_list();
  }

  void write_frame(StackFrame frame) {
    frame.outer = 0;
    const std::uint32_t id = frames_.intern(frame);
    if (frame_memos_[id] != Memos::kNone) return out_.recall(frame_memos_[id]);
    out_.begin_dict();
    word("name");
    string(frame.name);
    word("filename");
    frame.file == 0 ? word("??") : string(frame.file);
    member("line", static_cast<std::uint64_t>(std::max(frame.line, 0)));
    out_.end_dict();
    frame_memos_[id] = out_.memoize();
  }

  void member(std::string_view name, std::uint64_t value) {
    word(name);
    out_.integer(value);
  }

  // Writes a string of the format.
  void word(std::string_view word) {
    const auto [known, is_new] = words_.try_emplace(word, 0);
    if (!is_new) return out_.recall(known->second);
    out_.text(word);
    known->second = out_.memoize();
  }
  // Writes a string of the snapshot.
  void string(StringId id) {
    if (strings_[id] != Memos::kNone) return out_.recall(strings_[id]);
    out_.text(snapshot_.catalog.strings[id]);
    strings_[id] = out_.memoize();
  }

  const Snapshot& snapshot_;
  PickleWriter out_;
  std::unordered_map<std::string_view, std::uint32_t> words_;  // memo by text
  Interned<StackFrame> frames_;                                // without their callers
  Memos frame_memos_, stacks_, strings_;
};

}  // namespace

void write_snapshot(const Snapshot& snapshot, ByteSink& out) { SnapshotWriter(snapshot, out).write(); }

}  // namespace cli::snapshot
