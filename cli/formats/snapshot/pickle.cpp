#include "cli/formats/snapshot/pickle.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "cli/base/error.h"

namespace cli::snapshot {
namespace {

constexpr std::size_t kWindow = 1 << 20;
constexpr std::size_t kMostValues = std::size_t{1} << 26;   // on the stack
constexpr std::size_t kMostObjects = std::size_t{1} << 22;  // not converted yet
constexpr std::uint64_t kLongestText = std::uint64_t{1} << 24;

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
      end_(window_.end()) {}

inline std::uint64_t Pickle::number(std::size_t bytes) {
  if (static_cast<std::size_t>(end_ - at_) < bytes) need(bytes);
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

void Pickle::recall(std::uint64_t number) {
  const std::uint32_t known = number < memo_.size() ? memo_[number] : kDropped;
  if (known == kDropped) {
    fail(number < memo_.size() ? "an object that occurs once in a snapshot is used twice"
                               : "an object is used before it is made");
  }
  push(unpacked(known));
}

// Most of a snapshot consists of references to frames, so consecutive ones are executed in a loop of their own.
void Pickle::recall_several() {
  constexpr std::size_t kLongest = 5;  // bytes of an instruction
  std::array<Value, 64> values;        // not cleared
  std::size_t count = 0;
  const char* at = at_;
  const std::uint32_t* const memo = memo_.data();
  const std::size_t memos = memo_.size();
  while (count < values.size() && static_cast<std::size_t>(end_ - at) >= kLongest) {
    const auto code = static_cast<unsigned char>(*at);
    std::uint32_t number = 0;
    std::ptrdiff_t length = 0;
    if (code == kGet4) {
      std::memcpy(&number, at + 1, sizeof number);
      length = 5;
    } else if (code == kGet1) {
      number = static_cast<unsigned char>(at[1]);
      length = 2;
    } else {
      break;
    }
    if (number >= memos || memo[number] == kDropped) break;
    values[count++] = unpacked(memo[number]);
    at += length;
  }
  at_ = at;
  if (count == 0) return step(static_cast<unsigned char>(*at_));  // at the end of the window, or an error
  if (stack_.size() + count > stack_.capacity()) grow();
  stack_.insert(stack_.end(), values.begin(), values.begin() + static_cast<std::ptrdiff_t>(count));
}

Value Pickle::run() {
  for (;;) {
    need(1);
    const auto code = static_cast<unsigned char>(*at_);
    if (code == kStop) break;
    code == kGet4 || code == kGet1 ? recall_several() : step(code);
  }
  if (stack_.size() != 1) fail("the pickle ends with unfinished objects");
  return stack_.back();
}

void Pickle::step(unsigned char code) {
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
      return push(Value::mark, 0);
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
      return push_object(Value::tuple, code - kTuple1 + std::size_t{1});
    case kTuple: {
      const std::size_t mark = find_mark();
      const std::size_t items = stack_.size() - mark - 1;
      stack_.erase(stack_.begin() + static_cast<std::ptrdiff_t>(mark));
      return push_object(Value::tuple, items);
    }
    case kEmptyList:
      return push_object(Value::list, 0);
    case kEmptyDict:
      return push_object(Value::dict, 0);
    case kAppend:
      return append_from(stack_.size() - 1, stack_.size() - 1);
    case kAppends:
      return append_from(find_mark() + 1, find_mark());
    case kSetItem:
      return set_from(stack_.size() - 2, stack_.size() - 2);
    case kSetItems:
      return set_from(find_mark() + 1, find_mark());
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

void Pickle::grow() {
  if (stack_.size() >= kMostValues) fail("too many unfinished values");
  stack_.reserve(std::max<std::size_t>(stack_.size() * 2, 4096));
}

// Moves the `taken` topmost values of the stack into a new object, and pushes the object.
void Pickle::push_object(Value::Type type, std::size_t taken) {
  if (taken > stack_.size()) fail("values are missing");
  std::uint64_t number = objects_.size();
  if (!free_objects_.empty()) {
    number = free_objects_.back();
    free_objects_.pop_back();
  } else {
    if (number == kMostObjects) fail("too many unfinished objects");
    objects_.emplace_back();
  }
  objects_[number].items.assign(stack_.end() - static_cast<std::ptrdiff_t>(taken), stack_.end());
  stack_.resize(stack_.size() - taken);
  push(type, number);
}

// Pushes a little-endian two's complement number. An address of PyTorch may need 9 bytes. The last byte is then 0.
void Pickle::push_integer(std::size_t bytes) {
  if (bytes > 9) fail("a number of more than 64 bits");
  if (bytes == 0) return push(Value::integer, 0);
  const bool negative = bytes <= 8 && (need(bytes), static_cast<signed char>(at_[bytes - 1]) < 0);
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

std::size_t Pickle::find_mark() const {
  for (std::size_t i = stack_.size(); i-- > 0;) {
    if (stack_[i].is(Value::mark)) return i;
  }
  fail("the begin of a group of values is missing");
}

// Appends the values from index `first` on to the list below index `remove`. Removes all values from `remove` on.
void Pickle::append_from(std::size_t first, std::size_t remove) {
  if (remove == 0 || remove >= stack_.size()) fail("values are missing");
  if (first == stack_.size()) return stack_.resize(remove);
  const Value list = stack_[remove - 1];
  if (!list.is(Value::list)) fail("a list was expected");
  const auto items = stack_.begin() + static_cast<std::ptrdiff_t>(first);
  if (!builder_.added(list.bits, &*items, stack_.size() - first)) {
    objects_[list.bits].items.insert(objects_[list.bits].items.end(), items, stack_.end());
  }
  stack_.resize(remove);
}

void Pickle::set_from(std::size_t first, std::size_t remove) {
  if (remove == 0 || remove >= stack_.size()) fail("values are missing");
  const Value dict = stack_[remove - 1];
  if (!dict.is(Value::dict)) fail("a dictionary was expected");
  std::vector<Value>& members = objects_[dict.bits].items;
  const bool is_new = members.empty();
  members.insert(members.end(), stack_.begin() + static_cast<std::ptrdiff_t>(first), stack_.end());
  stack_.resize(remove);
  if (members.size() % 2 != 0) fail("a key of a dictionary has no value");
  Value result;
  if (!is_new || !builder_.made(members, result)) return;
  replace(dict, result);
  stack_.back() = result;
}

void Pickle::replace(const Value& object, const Value& value) {
  Object& replaced = objects_[object.bits];
  if (replaced.memo != 0) memo_[replaced.memo - 1] = packed(value);
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
  if (stack_.empty()) fail("values are missing");
  if (number > memo_.size() || number >= kMostMemo) fail("an object number is too high");
  if (number == memo_.size()) memo_.push_back(kDropped);
  const Value& value = stack_.back();
  memo_[number] = packed(value);
  if (value.is(Value::list) || value.is(Value::dict) || value.is(Value::tuple)) {
    objects_[value.bits].memo = static_cast<std::uint32_t>(number) + 1;
  }
}

void Pickle::need(std::uint64_t bytes) {
  while (static_cast<std::uint64_t>(end_ - at_) < bytes) {
    window_.skip(static_cast<std::size_t>(at_ - window_.begin()));
    const bool more = window_.more();
    at_ = window_.begin();
    end_ = window_.end();
    if (more) continue;
    const std::string damage = window_.damage();
    fail(damage.empty() ? "the file ends here, in the middle of the pickle; write the snapshot again" : damage);
  }
}

void Pickle::fail(std::string_view what) const {
  const std::uint64_t at = window_.offset() + static_cast<std::uint64_t>(at_ - window_.begin());
  throw Error(Exit::bad_content, fmt::format("{}: byte {}: {}; expected a memory snapshot of PyTorch "
                                             "(torch.cuda.memory._dump_snapshot)",
                                             path_, at, what));
}

}  // namespace cli::snapshot
