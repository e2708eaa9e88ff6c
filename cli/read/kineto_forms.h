// Recognises events that repeat but for their numbers, without parsing them again.
//
// Most events of a profile are alike: in those of real trainings 90 to 99 % of the bytes are of an event that was there
// before, with another time, duration, correlation or other integer. A form is the text of an event with a hole for each
// of these:
//
//   {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 7, "tid": 7, "ts": #, "dur": #, "args": {"External id": ~}}
//
// Forms are learnt from events that the parser has checked and the translator has understood. Forms that begin alike
// share that begin (a radix tree), so that a text is compared with all of them at once. A text that has the bytes of a form
// between numbers that are valid is valid JSON, and means what that form means.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/model/event.h"
#include "cli/read/json_stream.h"
#include "cli/read/kineto_category.h"
#include "cli/read/kineto_event.h"
#include "cli/read/kineto_places.h"

namespace cli {

// What is known of each event of a form before its numbers are read.
struct KinetoForm {
  static constexpr std::int8_t kNone = -1;  // no number says it

  Event event;  // but for what the numbers say, and for its track
  const KinetoCategory* category = nullptr;
  KinetoPlace* place = nullptr;
  JsonScalar pid, tid;                 // views of `ids`
  std::string ids;
  const Shape* shape = nullptr;        // null: it has no arguments
  std::optional<std::int64_t> device;  // the argument, where no number says it
  // Which number says it, in the order of the text.
  std::int8_t start = kNone, duration = kNone, id = kNone, correlation = kNone, bytes = kNone, device_number = kNone;
  std::uint8_t first_integer = 0;  // of the shape; the others follow
};

class KinetoForms : public KnownElements {
 public:
  // Numbers of one event: two times, an id, and those of a shape.
  static constexpr std::size_t kMostNumbers = kMostHoles + 3;

  KinetoForms();

  // Size of the event at `begin`, which is '{', where it is of a known form and ends before `end`; else 0. The 16 bytes
  // behind `end` must be readable.
  std::size_t match(const char* begin, const char* end) override;

  // Of the last match: its form, and its numbers: times in ns, all others as they are.
  const KinetoForm& form() const { return *forms_[matched_]; }
  const std::int64_t* numbers() const { return numbers_; }

  // Learns the form of an event that was taken; `form` says what is in it, but for its numbers. No more is learnt when
  // there are too many.
  void learn(const KinetoEvent& raw, KinetoForm form);

 private:
  struct Node {
    std::uint32_t text = 0, length = 0;  // in text_; a hole has none
    std::uint32_t parent = 0;
    std::uint32_t child = 0;             // the first, of holes the only; 0: none
    std::uint32_t form = 0;              // index + 1, where a form ends here
    char first = 0;                      // of the text, or which hole
    char child_first = 0;                // of `child`
    bool has_more = false;               // children, which are in more_
  };

  bool is_admitted(std::string_view text);
  std::uint32_t child_of(std::uint32_t parent, char first) const;
  std::uint32_t add_child(std::uint32_t parent, std::string_view text);
  std::uint32_t split(std::uint32_t node, std::uint32_t at);
  std::uint32_t add(std::string_view text);
  std::size_t slot_of(std::uint32_t parent, char first) const;
  void put_more(std::uint32_t node);

  std::vector<Node> nodes_;          // the first is the root
  std::vector<std::uint32_t> more_;  // by parent and first byte: open addressing, a power of two, at most half full
  std::size_t more_count_ = 0;
  std::string text_;         // with padding behind
  std::vector<std::unique_ptr<KinetoForm>> forms_;
  std::vector<std::uint32_t> seen_;  // hashes of texts that were seen once, by their lowest bits
  std::size_t matched_ = 0;
  std::int64_t numbers_[kMostNumbers] = {};
};

}  // namespace cli
