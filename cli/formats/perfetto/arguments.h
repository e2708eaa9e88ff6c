// Converts the arguments of events from JSON to Perfetto's format: numbers as numbers, strings as interned strings,
// arrays and objects (launch configurations, dimensions) as their JSON text, which is also interned.
//
// All sequences use the same ids, so a repeated member is encoded only once. For a natural number only the key is,
// because ids differ from event to event. Ids that a sequence has not defined yet are defined in the packet that uses
// them. Memory: at most 4,096 keys, 65,536 values in 16 MiB and 16,384 members in 4 MiB, in addition to the texts with
// an id; further ones are written inline.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cli/formats/export/args_text.h"
#include "cli/formats/perfetto/sequence.h"
#include "cli/formats/perfetto/vocabulary.h"
#include "cli/trace/event.h"

namespace cli::perfetto {

// Iterates over the members of a JSON object without parsing their values. `text` is the body of a valid object
// (event.h). For other text it returns members up to the error and never reads beyond its end.
struct Member {
  std::string_view key;      // as spelled: a string has its quotes; never empty
  std::string_view value;    // as spelled: a string has its quotes; never empty
  std::string_view spelled;  // from the key's first quote to the end of the value
};

class JsonMembers {
 public:
  explicit JsonMembers(std::string_view text) : at_(text.data()), end_(text.data() + text.size()) {}
  bool next(Member& member);
  // Skips the next member if it has this spelling, followed by a comma or the end.
  bool next_is(std::string_view spelled);
  // Same for a member that consists of `head`, a key with its colon, and a natural number.
  bool next_is(std::string_view head, std::uint64_t& number);

 private:
  bool begins_with(std::string_view text);
  bool pass(const char* end);
  void skip_blank();
  const char* behind_string(const char* at) const;  // `at` is its first quote
  const char* behind_nested(const char* at) const;
  const char* behind_value(const char* at) const;

  const char* at_;
  const char* end_;
};

// Debug annotations of track events and arguments of render stages differ only in their field numbers.
struct ArgumentSchema {
  Field argument;  // in the event
  Field key_iid, boolean, unsigned_number, number, real, text, text_iid;
  Field key_text;
  Field keys;  // in the interned data
};
inline constexpr ArgumentSchema kAnnotations{event::annotation, 1, 2, 3, 4, 5, 6, 17, 10, interned::annotation_names};
inline constexpr ArgumentSchema kStageArguments{stage::argument, 1, 4, 4, 3, 5, 6, 7, 2, interned::compute_arg_names};

class Arguments {
 public:
  Arguments(const ArgumentSchema& schema, EventPackets& packets) : schema_(schema), packets_(packets) {}

  // Appends the members of `fragment` to `out`. Members of events of one `kind` are similar, which is used to encode
  // them faster. A fragment with an id is encoded only once; all fragments passed to one object have to come from one
  // ArgsText.
  void members(SaidArgs fragment, Kind kind, Sequence& sequence, Buffer& out);
  // `key` is a string literal.
  void number(std::string_view key, std::uint64_t value, Sequence& sequence, Buffer& out);
  void flag(std::string_view key, Sequence& sequence, Buffer& out);
  void text(std::string_view key, std::string_view value, Sequence& sequence, Buffer& out);

 private:
  // A member that occurred before, and the member that followed it last time. Usually a comparison shows that it
  // follows again.
  struct Known {
    std::string_view spelled;  // without its value if that is a natural number
    std::string bytes;         // encoding of the argument, up to such a number
    bool natural = false;
    std::uint32_t key = 0, value = 0;  // ids used in `bytes`; 0 if none
    std::uint32_t next = 0;            // index of the following member in known_; 0 if unknown
  };
  void each_member(std::string_view fragment, Kind kind, Sequence& sequence, Buffer& out);
  bool expected(std::uint32_t place, JsonMembers& members, Sequence& sequence, Buffer& out);
  std::uint32_t member(const Member& member, Sequence& sequence, Buffer& out);
  // `number` is the value if it is a natural number, otherwise null. `id` is an index in members_; 0 if the member is
  // not remembered.
  void encode(const Member& member, const std::uint64_t* number, std::uint32_t id, Sequence& sequence, Buffer& out);
  void repeat(std::uint32_t place, std::uint64_t number, Sequence& sequence, Buffer& out);
  void value(std::string_view value, Sequence& sequence);
  void real(std::string_view value, Sequence& sequence);
  void interned(std::string_view text, Sequence& sequence);
  std::string_view on_one_line(std::string_view json);
  void string(std::string_view spelled, Sequence& sequence);
  void open(std::string_view key, Sequence& sequence) { open(key, keys_.id(key), sequence); }
  void open(std::string_view key, std::uint32_t id, Sequence& sequence);
  void close(Buffer& out);
  void define_key(std::uint32_t id, Sequence& sequence);
  void define_value(std::uint32_t id, Sequence& sequence);

  const ArgumentSchema& schema_;
  EventPackets& packets_;
  TextIds keys_{4096, 1 << 20}, values_{65'536, 16 << 20}, members_{16'384, 4 << 20};
  // Index 0 is for members without space; then one for the start of a fragment of each kind; then those by id of
  // members_.
  static constexpr std::uint32_t kKindsOfFragments = static_cast<std::uint32_t>(Kind::count_);
  std::vector<Known> known_ = std::vector<Known>(kKindsOfFragments + 1);
  std::uint32_t key_ = 0, value_ = 0;   // ids used in the current argument
  std::vector<std::string> fragments_;  // by id: the encoded members; "" if not made yet
  std::string_view number_key_;         // key of the last number()
  std::uint32_t number_id_ = 0;         // id of that key
  Buffer argument_;
  std::string scratch_, valid_;
};

// Appends the arguments of an event that are not in its fragment, which are the same in all of our formats.
void add_arguments(const Event& event, SaidArgs fragment, std::string_view full_name, Arguments& arguments,
                   Sequence& sequence, Buffer& out);

}  // namespace cli::perfetto
