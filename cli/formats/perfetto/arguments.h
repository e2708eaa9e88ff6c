// The arguments of events, from JSON to Perfetto's: numbers as numbers, strings as interned strings, arrays and objects
// (launch configurations, dimensions) as their JSON text, interned too.
//
// Numbering is the same in all sequences, so a member is encoded once wherever its text comes again, and only its key
// is where its value is a natural number (ids differ from event to event). What a sequence has not heard of yet is
// defined in the packet that uses it. Memory: at most 4,096 keys, 65,536 values in 16 MiB and 16,384 members in 4 MiB,
// besides the texts with an id; what comes beyond is written in place.
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

// The members of a JSON object, one after the other, without making values of them. `text` is the body of a valid
// object (event.h); of anything else it gives members up to the fault and never reads beyond its end.
struct Member {
  std::string_view key;      // without quotes, as spelled
  std::string_view value;    // as spelled: a string has its quotes; never empty
  std::string_view spelled;  // from the key's first quote to the end of the value
};

class JsonMembers {
 public:
  explicit JsonMembers(std::string_view text) : at_(text.data()), end_(text.data() + text.size()) {}
  bool next(Member& member);
  // Passes the next member if it is spelled so; then a comma or the end stands behind it.
  bool next_is(std::string_view spelled);
  // The same where it is `head`, a key with its colon, and a natural number behind it.
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

}  // namespace cli::perfetto

namespace cli::perfetto {

// Debug annotations of track events, and arguments of render stages, differ in their numbers only.
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

  // Appends the members of `fragment` to `out`: those of one kind of events are much alike. Of those with an id once and
  // for all; all that are given to one object are of one ArgsText.
  void members(SaidArgs fragment, Kind kind, Sequence& sequence, Buffer& out);
  // `key`: a literal.
  void number(std::string_view key, std::uint64_t value, Sequence& sequence, Buffer& out);
  void flag(std::string_view key, Sequence& sequence, Buffer& out);
  void text(std::string_view key, std::string_view value, Sequence& sequence, Buffer& out);

 private:
  // A member that came before, and what stood behind it the last time: mostly a look tells that it is there again.
  struct Known {
    std::string_view spelled;  // without its value where that is a natural number
    std::string bytes;         // what the argument consists of, up to such a number
    bool natural = false;
    std::uint32_t key = 0, value = 0;  // what `bytes` refer to; 0: nothing
    std::uint32_t next = 0;            // its place in known_; 0: not known
  };
  void each_member(std::string_view fragment, Kind kind, Sequence& sequence, Buffer& out);
  bool expected(std::uint32_t place, JsonMembers& members, Sequence& sequence, Buffer& out);
  std::uint32_t member(const Member& member, Sequence& sequence, Buffer& out);
  // `number`: the value where it is a natural number, else null. `id`: in members_; 0: it is not remembered.
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
  // 0: all that there is no room for; then what stands before the first member, a kind each; then by id of members_.
  static constexpr std::uint32_t kKindsOfFragments = static_cast<std::uint32_t>(Kind::count_);
  std::vector<Known> known_ = std::vector<Known>(kKindsOfFragments + 1);
  std::uint32_t key_ = 0, value_ = 0;  // what the argument at hand refers to
  std::vector<std::string> fragments_;  // by id: what its members are here; "": not made yet
  std::string_view number_key_;         // of the last number(),
  std::uint32_t number_id_ = 0;         // and its id
  Buffer argument_;
  std::string scratch_, valid_;
};

// The arguments that events carry besides their fragment, as in every format of ours.
void add_arguments(const Event& event, SaidArgs fragment, std::string_view full_name, Arguments& arguments,
                   Sequence& sequence, Buffer& out);

}  // namespace cli::perfetto
