#include "cli/formats/snapshot/pickle.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "cli/base/error.h"

namespace cli::snapshot {
namespace {

constexpr std::size_t kWindow = 1 << 18;
constexpr std::ptrdiff_t kLongestInstruction = 16;         // except texts; shorter than Window::kPadding
constexpr std::size_t kMostValues = std::size_t{1} << 26;  // on the stack
constexpr std::size_t kMostMarks = 1 << 12;
constexpr std::size_t kMostObjects = std::size_t{1} << 22;  // not converted yet
constexpr std::uint64_t kLongestText = std::uint64_t{1} << 24;

constexpr std::string_view kEndsHere = "the file ends here, in the middle of the pickle; write the snapshot again";

// Python's pickler appends to a list in parts of this length.
constexpr std::size_t kItemsOfPart = 1000;
constexpr std::ptrdiff_t kLongestReference = 5;                // length of the instruction
constexpr std::size_t kMostListBytes = std::size_t{16} << 20;  // of different lists that are remembered

// A memo entry has its type in the upper bits: one of these constants, or kMade plus the builder's kind.
constexpr std::uint32_t kMemoBits = 28;
constexpr std::uint32_t kMostMemo = std::uint32_t{1} << kMemoBits;
constexpr std::uint32_t kDropped = 0, kList = 1, kDict = 2, kTupleObject = 3, kString = 4, kMade = 5;

// Instructions in the order of Python's Lib/pickletools.py.
enum Code : unsigned char {
  kStop = '.',
  kMark = '(',
  kProtocol = 0x80,
  kFrame = 0x95,
  kNone = 'N',
  kTrue = 0x88,
  kFalse = 0x89,
  kInteger4 = 'J',
  kInteger1 = 'K',
  kInteger2 = 'M',
  kLong1 = 0x8a,
  kLong4 = 0x8b,
  kReal = 'G',
  kText4 = 'X',
  kText1 = 0x8c,
  kText8 = 0x8d,
  kEmptyTuple = ')',
  kTuple = 't',
  kTuple1 = 0x85,
  kTuple2 = 0x86,
  kTuple3 = 0x87,
  kEmptyList = ']',
  kAppend = 'a',
  kAppends = 'e',
  kEmptyDict = '}',
  kSetItem = 's',
  kSetItems = 'u',
  kPut1 = 'q',
  kPut4 = 'r',
  kMemoize = 0x94,
  kGet1 = 'h',
  kGet4 = 'j',
};

// Returns the name of an instruction that loads or calls something outside of the pickle, or "" for other instructions.
std::string_view name_of_code(unsigned char code) {
  switch (code) {
    case 'c':
      return "GLOBAL";
    case 0x93:
      return "STACK_GLOBAL";
    case 'R':
      return "REDUCE";
    case 'b':
      return "BUILD";
    case 'i':
      return "INST";
    case 'o':
      return "OBJ";
    case 0x81:
      return "NEWOBJ";
    case 0x92:
      return "NEWOBJ_EX";
    case 'P':
    case 'Q':
      return "PERSID";
    case 0x82:
    case 0x83:
    case 0x84:
      return "EXT";
    default:
      return "";
  }
}

}  // namespace

Pickle::Pickle(const std::string& path, Strings& strings, Builder& builder)
    : path_(path),
      strings_(strings),
      builder_(builder),
      window_(open_byte_source(path), kWindow),
      at_(window_.begin()),
      end_(window_.end()) {
  grow();
}

// Reads at most kLongestInstruction bytes beyond the end of the window, which run() notices.
inline std::uint64_t Pickle::number(std::size_t bytes) {
  std::uint64_t value = 0;
  std::memcpy(&value, at_, bytes);  // the machine is little-endian
  at_ += bytes;
  return value;
}

namespace {

// A memo entry that is not kDropped, as a value.
inline Value unpacked(std::uint32_t known) {
  static constexpr std::array<Value, 16> kHeads = [] {
    std::array<Value, 16> heads{};
    heads[kList].type = Value::list;
    heads[kDict].type = Value::dict;
    heads[kTupleObject].type = Value::tuple;
    heads[kString].type = Value::text;
    for (std::uint32_t type = kMade; type < heads.size(); ++type) {
      heads[type] = {Value::made, static_cast<std::uint8_t>(type - kMade), 0};
    }
    return heads;
  }();
  Value value = kHeads[known >> kMemoBits];
  value.bits = known & (kMostMemo - 1);
  return value;
}

}  // namespace

inline void Pickle::recall(std::uint64_t number) {
  const std::uint32_t known = number < memo_.size() ? memo_[number] : kDropped;
  if (known == kDropped) {
    fail(number < memo_.size() ? "an object that occurs once in a snapshot is used twice"
                               : "an object is used before it is made");
  }
  push(unpacked(known));
}

inline void Pickle::step(unsigned char code) {
  ++at_;
  switch (code) {
    case kProtocol:
      if (const std::uint64_t protocol = number(1); protocol < 2 || protocol > 5) {
        fail(fmt::format("pickle protocol {} is not supported; expected 2 to 5", protocol));
      }
      return;
    case kFrame:
      number(8);
      return;
    case kMark:
      return append_references() ? void() : mark();
    case kNone:
      return push(Value::none, 0);
    case kTrue:
    case kFalse:
      return push(Value::boolean, code == kTrue);
    case kInteger1:
      return push(Value::integer, number(1));
    case kInteger2:
      return push(Value::integer, number(2));
    case kInteger4:
      return push(Value::integer, static_cast<std::uint64_t>(static_cast<std::int32_t>(number(4))));
    case kLong1:
      return push_integer(number(1));
    case kLong4:
      return push_integer(number(4));
    case kReal:
      number(8);  // no real number is needed
      return push(Value::real, 0);
    case kText1:
      return push_text(number(1));
    case kText4:
      return push_text(number(4));
    case kText8:
      return push_text(number(8));
    case kEmptyTuple:
      return push_object(Value::tuple, 0);
    case kTuple1:
    case kTuple2:
    case kTuple3:
      return push_object(Value::tuple, code - kTuple1 + 1);
    case kTuple: {
      const Value* const first = take_mark();
      return push_object(Value::tuple, top_ - first);
    }
    case kEmptyList:
      return push_object(Value::list, 0);
    case kEmptyDict:
      return push_object(Value::dict, 0);
    case kAppend:
      return append_from(last(1));
    case kAppends:
      return append_from(take_mark());
    case kSetItem:
      return set_from(last(2));
    case kSetItems:
      return set_from(take_mark());
    case kMemoize:
      return remember(memo_.size());
    case kPut1:
      return remember(number(1));
    case kPut4:
      return remember(number(4));
    case kGet1:
      return recall(number(1));
    case kGet4:
      return recall(number(4));
    default:
      --at_;
      if (code == 0) fail("an instruction of a pickle was expected; the file is damaged");
      if (const std::string_view name = name_of_code(code); !name.empty()) {
        fail(
            fmt::format("instruction {} of the pickle would load Python code; a snapshot has none, so this file is "
                        "something else and is not read further",
                        name));
      }
      fail(fmt::format("unknown instruction 0x{:02x}", code));
  }
}

Value Pickle::run() {
  for (;;) {
    if (end_ - at_ < kLongestInstruction) read_instruction();
    const auto code = static_cast<unsigned char>(*at_);
    if (code == kStop) break;
    step(code);
  }
  if (top_ - base() != 1 || !marks_.empty()) fail("the pickle ends with unfinished objects");
  return *base();
}

void Pickle::grow() {
  const std::size_t size = stack_.size();
  if (size >= kMostValues) fail("too many unfinished values");
  stack_.resize(std::max<std::size_t>(size * 2, 4096));
  top_ = stack_.data() + size;
  limit_ = stack_.data() + stack_.size();
}

// Moves the `taken` topmost values of the stack into a new object, and pushes the object.
void Pickle::push_object(Value::Type type, std::ptrdiff_t taken) {
  Value* const first = last(taken);
  std::uint64_t number = objects_.size();
  if (!free_objects_.empty()) {
    number = free_objects_.back();
    free_objects_.pop_back();
  } else {
    if (number == kMostObjects) fail("too many unfinished objects");
    objects_.emplace_back();
  }
  objects_[number].items.assign(first, top_);
  top_ -= taken;
  push(type, number);
}

// Pushes a little-endian two's complement number. An address of PyTorch may need 9 bytes. The last byte is then 0.
void Pickle::push_integer(std::uint64_t bytes) {
  if (bytes > 9) fail("a number of more than 64 bits");
  if (bytes == 0) return push(Value::integer, 0);
  const bool negative = bytes <= 8 && static_cast<signed char>(at_[bytes - 1]) < 0;
  std::uint64_t value = number(bytes < 8 ? bytes : 8);
  if (bytes == 9 && number(1) != 0) fail("a number of more than 64 bits");
  if (negative && bytes < 8) value |= ~std::uint64_t{0} << (8 * bytes);
  push(Value::integer, value);
}

void Pickle::push_text(std::uint64_t bytes) {
  if (bytes > kLongestText) fail("a text of more than 16 MiB");
  need(bytes);
  const StringId id = strings_.intern(std::string_view(at_, bytes));
  at_ += bytes;
  push(Value::text, id);
}

// Returns the first value above the last mark. Instructions use no values below it.
Value* Pickle::base() { return stack_.data() + (marks_.empty() ? 0 : marks_.back()); }

void Pickle::mark() {
  if (marks_.size() == kMostMarks) fail("too many unfinished values");
  marks_.push_back(static_cast<std::size_t>(top_ - stack_.data()));
}

// Removes the last mark and returns the first value above it.
Value* Pickle::take_mark() {
  if (marks_.empty()) fail("the begin of a group of values is missing");
  Value* const first = base();
  marks_.pop_back();
  return first;
}

// Returns the first of the `count` topmost values.
Value* Pickle::last(std::ptrdiff_t count) {
  if (top_ - base() < count) fail("values are missing");
  return top_ - count;
}

// Returns the list or dictionary below the values from `first` on.
const Value& Pickle::container(const Value* first, Value::Type type) {
  if (first == base()) fail("values are missing");
  if (!first[-1].is(type)) fail(type == Value::list ? "a list was expected" : "a dictionary was expected");
  return first[-1];
}

// Appends the values from `first` on to the list below them.
void Pickle::append_from(Value* first) {
  const Value list = container(first, Value::list);
  Value* const end = std::exchange(top_, first);
  if (first == end || builder_.added(list.bits, first, static_cast<std::size_t>(end - first))) return;
  std::vector<Value>& items = objects_[list.bits].items;
  items.insert(items.end(), first, end);
}

void Pickle::set_from(Value* first) {
  const Value dict = container(first, Value::dict);
  Value* const end = std::exchange(top_, first);
  if ((end - first) % 2 != 0) fail("a key of a dictionary has no value");
  std::vector<Value>& members = objects_[dict.bits].items;
  Value result;
  if (members.empty() && builder_.made(first, static_cast<std::size_t>(end - first), result)) {
    replace(dict, result);
    first[-1] = result;
  } else {
    members.insert(members.end(), first, end);
  }
}

namespace {

// Parses a reference to an object in the memo and advances past it. Returns false if `at` is at another instruction.
inline bool parse_reference(const char*& at, std::uint32_t& number) {
  if (*at == kGet4) {
    std::memcpy(&number, at + 1, sizeof number);
    at += 5;
    return true;
  }
  number = static_cast<unsigned char>(at[1]);
  const bool is_reference = *at == kGet1;
  at += is_reference ? 2 : 0;
  return is_reference;
}

}  // namespace

// Most of a snapshot consists of lists of references to frames, and most of these lists occur often. Equal instructions
// make equal lists, so each list is converted once. Appends the values of such a list after its mark. Returns false if
// the instructions after the mark are others.
bool Pickle::append_references() {
  if (top_ == base() || !top_[-1].is(Value::list) || !objects_[top_[-1].bits].items.empty()) return false;
  const char* at = at_;
  std::size_t count = 0;
  for (std::uint32_t number = 0; end_ - at >= kLongestReference && parse_reference(at, number);) ++count;
  // A longer list is written in several parts.
  if (*at != kAppends || count == 0 || count >= kItemsOfPart) return false;
  const std::string_view instructions(at_, static_cast<std::size_t>(at - at_));
  const StringId id = lists_.intern(instructions);
  if (id >= converted_.size()) {
    converted_.resize(id);
    converted_.push_back(converted(instructions));
    list_bytes_ += instructions.size();
  }
  const Value result = converted_[id];
  if (list_bytes_ > kMostListBytes) forget_lists();
  if (!result.is(Value::made)) return false;
  replace(top_[-1], result);
  top_[-1] = result;
  at_ = at + 1;
  return true;
}

// Returns the value into which the builder converts a list of references, or Value::none.
Value Pickle::converted(std::string_view instructions) {
  std::vector<Value> items;
  for (const char* at = instructions.data(); at != instructions.data() + instructions.size();) {
    std::uint32_t number = 0;
    parse_reference(at, number);
    if (number >= memo_.size() || memo_[number] == kDropped) return {};
    items.push_back(unpacked(memo_[number]));
  }
  Value result;
  return builder_.listed(items, result) ? result : Value();
}

void Pickle::forget_lists() {
  lists_ = Strings();
  converted_.clear();
  list_bytes_ = 0;
}

void Pickle::replace(const Value& object, const Value& value) {
  Object& replaced = objects_[object.bits];
  // Its number in the memo may belong to another object by now.
  if (replaced.memo != 0 && memo_[replaced.memo - 1] == packed(object)) memo_[replaced.memo - 1] = packed(value);
  replaced.items.clear();
  replaced.memo = 0;
  free_objects_.push_back(object.bits);
}

std::uint32_t Pickle::packed(const Value& value) {
  if (value.bits >= kMostMemo) return kDropped;
  const auto bits = static_cast<std::uint32_t>(value.bits);
  switch (value.type) {
    case Value::list:
      return kList << kMemoBits | bits;
    case Value::dict:
      return kDict << kMemoBits | bits;
    case Value::tuple:
      return kTupleObject << kMemoBits | bits;
    case Value::text:
      return kString << kMemoBits | bits;
    case Value::made:
      return value.kind < Builder::kFirstOnce ? (kMade + value.kind) << kMemoBits | bits : kDropped;
    default:
      return kDropped;
  }
}

void Pickle::remember(std::uint64_t number) {
  const Value& value = *last(1);
  if (number > memo_.size() || number >= kMostMemo) fail("an object number is too high");
  if (number == memo_.size()) {
    memo_.push_back(packed(value));
  } else {
    memo_[number] = packed(value);
    forget_lists();  // they may refer to it
  }
  if (value.is(Value::list) || value.is(Value::dict) || value.is(Value::tuple)) {
    objects_[value.bits].memo = static_cast<std::uint32_t>(number) + 1;
  }
}

// Reads until an instruction is in the window, or the rest of the file.
void Pickle::read_instruction() {
  need(1);
  while (end_ - at_ < kLongestInstruction && more()) {
  }
}

void Pickle::need(std::uint64_t bytes) {
  while (at_ > end_ || static_cast<std::uint64_t>(end_ - at_) < bytes) {
    if (at_ > end_ || !more()) fail(kEndsHere);
  }
}

bool Pickle::more() {
  window_.skip(static_cast<std::size_t>(at_ - window_.begin()));
  const bool more = window_.more();
  at_ = window_.begin();
  end_ = window_.end();
  return more;
}

void Pickle::fail(std::string_view what) const {
  std::string cause(at_ > end_ ? kEndsHere : what);  // beyond the end, an instruction consists of other bytes
  if (cause == kEndsHere && !window_.damage().empty()) cause = window_.damage();
  const std::uint64_t at = window_.offset() + static_cast<std::uint64_t>(std::min(at_, end_) - window_.begin());
  throw Error(Exit::bad_content, fmt::format("{}: byte {}: {}; expected a memory snapshot of PyTorch "
                                             "(torch.cuda.memory._dump_snapshot)",
                                             path_, at, cause));
}

}  // namespace cli::snapshot
