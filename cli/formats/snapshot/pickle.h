// Executes the instructions of Python pickles (protocols 2 to 5) that build data, and rejects all others. It is
// independent of the content: a Builder converts finished dictionaries and lists.
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "cli/formats/json/byte_source.h"
#include "cli/trace/strings.h"

namespace cli::snapshot {

// A value on the machine's stack. `made` values are results of a Builder.
struct Value {
  enum Type : std::uint8_t { none, boolean, integer, real, text, tuple, list, dict, made };

  Type type = none;
  std::uint8_t kind = 0;  // made: kind of the result, chosen by the builder
  // boolean, integer: the number; text: StringId; tuple, list, dict: index of the object; made: the id
  std::uint64_t bits = 0;

  bool is(Type wanted) const { return type == wanted; }
};

// Converts objects as soon as they are complete, so that Pickle does not have to keep them.
class Builder {
 public:
  virtual ~Builder() = default;

  // Results of this kind and higher are used once, so the memo does not store them. A pickle that refers to one again
  // is an error.
  static constexpr std::uint8_t kFirstOnce = 8;

  // `members` are the `count` keys and values of a dictionary, one after the other. Returns true if `result` replaces
  // it.
  virtual bool made(const Value* members, std::size_t count, Value& result) = 0;
  // `items` are all items of a list, objects in the memo. Returns true if `result` replaces it, now and whenever the
  // same objects are listed again.
  virtual bool listed(const std::vector<Value>& items, Value& result) = 0;
  // Called when items are appended to the list number `list`. Returns true if the builder stores them. The list then
  // does not store them.
  virtual bool added(std::uint64_t list, const Value* items, std::size_t count) = 0;
};

class Pickle {
 public:
  // Interns texts in `strings`. `strings` and `builder` have to outlive this object.
  Pickle(const std::string& path, Strings& strings, Builder& builder);

  // Executes the pickle and returns its result. Throws Error (cannot_open, bad_content).
  Value run();

  // Returns the items of a list or tuple, or the keys and values of a dictionary, that the builder did not store.
  const std::vector<Value>& items(const Value& value) const { return objects_[value.bits].items; }
  // Frees a list or dictionary. Later references to it return `value`.
  void replace(const Value& object, const Value& value);

 private:
  struct Object {
    std::vector<Value> items;
    std::uint32_t memo = 0;  // number in memo_ + 1; 0 if none
  };

  void step(unsigned char code);
  void push(Value::Type type, std::uint64_t bits) { push({type, 0, bits}); }
  void push(const Value& value) {
    if (top_ == limit_) grow();
    *top_++ = value;
  }
  void grow();
  void push_object(Value::Type type, std::ptrdiff_t taken);
  void push_integer(std::uint64_t bytes);
  void push_text(std::uint64_t bytes);
  Value* base();
  Value* last(std::ptrdiff_t count);
  void mark();
  Value* take_mark();
  const Value& container(const Value* first, Value::Type type);
  void append_from(Value* first);
  void set_from(Value* first);
  bool append_references();
  Value converted(std::string_view instructions);
  void forget_lists();
  static std::uint32_t packed(const Value& value);
  void remember(std::uint64_t number);
  void recall(std::uint64_t number);

  std::uint64_t number(std::size_t bytes);  // little-endian
  void read_instruction();
  void need(std::uint64_t bytes);
  bool more();
  [[noreturn]] void fail(std::string_view what) const;

  std::string path_;
  Strings& strings_;
  Builder& builder_;
  Window window_;
  const char* at_;
  const char* end_;
  std::vector<Value> stack_;  // its values from top_ on are not in use
  Value *top_ = nullptr, *limit_ = nullptr;
  std::vector<std::size_t> marks_;  // number of values below each mark
  std::vector<Object> objects_;
  std::vector<std::uint64_t> free_objects_;
  std::deque<std::uint32_t> memo_;  // packed(); a vector would need twice its memory when it grows
  // The instructions of lists of references, and by their ids the values into which the builder converted these lists.
  // Value::none if it does not convert them.
  Strings lists_;
  std::vector<Value> converted_;
  std::size_t list_bytes_ = 0;  // length of all texts in lists_
};

}  // namespace cli::snapshot
