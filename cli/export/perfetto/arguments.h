// The arguments of events, from JSON to Perfetto's: numbers as numbers, strings as interned strings, arrays and objects
// (launch shapes, dimensions) as their JSON text, interned too.
//
// Numbering is the same in all sequences, so an argument is encoded once wherever its text comes again; what a sequence
// has not heard of yet is defined in the packet that uses it. Memory: at most 4,096 keys, 65,536 values in 16 MiB and
// 4,096 whole fragments; what comes beyond is written in place.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "cli/export/perfetto/sequence.h"
#include "cli/export/perfetto/text_ids.h"
#include "cli/model/event.h"

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

  // Appends the members of `fragment` to `out`. With `repeats`, the whole is likely to come again.
  void members(std::string_view fragment, bool repeats, Sequence& sequence, Buffer& out);
  void number(std::string_view key, std::uint64_t value, Sequence& sequence, Buffer& out);
  void flag(std::string_view key, Sequence& sequence, Buffer& out);
  void text(std::string_view key, std::string_view value, Sequence& sequence, Buffer& out);

 private:
  struct Fragment {
    std::string bytes;
    std::vector<std::uint32_t> keys, values;
  };
  void memoised(std::uint32_t id, std::string_view fragment, Sequence& sequence, Buffer& out);
  void each(std::string_view fragment, Sequence& sequence, Buffer& out);
  void value(std::string_view value, Sequence& sequence);
  void real(std::string_view value, Sequence& sequence);
  void interned(std::string_view text, Sequence& sequence);
  std::string_view on_one_line(std::string_view json);
  void string(std::string_view spelled, Sequence& sequence);
  void open(std::string_view key, Sequence& sequence);
  void close(Buffer& out);
  void define_key(std::uint32_t id, Sequence& sequence);
  void define_value(std::uint32_t id, Sequence& sequence);

  const ArgumentSchema& schema_;
  EventPackets& packets_;
  TextIds keys_{4096, 1 << 20}, values_{65'536, 16 << 20}, fragments_{4096, 4 << 20};
  std::vector<Fragment> known_;  // by fragment id - 1
  Fragment* noting_ = nullptr;   // the one that is being made
  Buffer argument_;
  std::string scratch_, valid_;
};

// The arguments that events carry besides their fragment, as in every format of ours.
void add_arguments(const Event& event, std::string_view fragment, std::string_view full_name, Arguments& arguments,
                   Sequence& sequence, Buffer& out);

}  // namespace cli::perfetto
