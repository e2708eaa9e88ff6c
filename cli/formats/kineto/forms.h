// Recognises events that repeat but for their numbers, without parsing them again.
//
// Most events of a profile are alike: in those of real trainings 90 to 99 % of the bytes are of an event that was there
// before, with another time, duration, correlation or other integer. A form is the text of an event with a hole for each
// of these:
//
//   {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": ~, "tid": ~, "ts": #, "dur": #, "args": {"External id": ~}}
//
// Forms are learnt from events that the parser has checked and the translator has understood. A text that has the bytes of
// a form between numbers that are valid is valid JSON, and means what that form means.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/trace/event.h"
#include "cli/formats/kineto/form_tree.h"
#include "cli/formats/json/json_stream.h"
#include "cli/formats/kineto/fields.h"
#include "cli/formats/kineto/locations.h"
#include "cli/formats/kineto/shapes.h"

namespace cli::kineto {

// What is known of each event of a form before its numbers are read.
struct Form {
  static constexpr std::int8_t kNone = -1;  // no number says it

  // First what is asked of each event.
  Event event;  // but for what the numbers say, and for its track
  const Category* category = nullptr;
  const Shape* shape = nullptr;        // null: it has no arguments
  std::optional<std::int64_t> device;  // the argument, where no number says it
  // Which number says it, in the order of the text.
  std::int8_t start = kNone, duration = kNone, id = kNone, correlation = kNone, bytes = kNone, device_number = kNone;
  std::int8_t pid_number = kNone, tid_number = kNone;
  std::uint8_t first_integer = 0;  // of the shape; the others follow

  // Where the last event of this form was.
  bool second_ids = false;  // of it, on that track
  std::optional<TrackId> last_track;
  Location* location = nullptr;  // null: there was none
  std::int64_t last_pid = 0, last_tid = 0;

  // With a number of any kind in its arguments it has no shape, and its arguments are what stands behind this in its text, but for the last
  // bytes.
  std::string before_args;
  std::size_t behind_args = 0;
  JsonScalar pid, tid;  // views of `ids`; where a number says it, only whether it is one
  std::string ids;
  ShapeId shape_id = 0;
};

class Forms : public KnownElements {
 public:
  // With another file, whose strings, categories and shapes have those so far by the same ids.
  void go_on_in(const Shapes& shapes);

  // Size of the event at `begin`, which is '{', where it is of a known form and ends before `end`; else 0. The 16 bytes
  // behind `end` must be readable.
  std::size_t match(const char* begin, const char* end) override;

  // Of the last match: its form, and its numbers: times in ns, all others as they are.
  Form& form() { return *forms_[matched_]; }
  const std::int64_t* numbers() const { return numbers_; }

  // Learns the form of an event that was taken; `form` says what is in it, but for its numbers. No more is learnt when
  // there are too many.
  void learn(const RawEvent& raw, Form form);
  // Its arguments hold a number of any kind.
  static bool has_any_number(const RawEvent& raw) { return raw.bandwidth.is_number(); }
  // For as many forms again.
  bool has_room() const;

 private:
  bool is_admitted(std::string_view text);

  FormTree tree_;
  std::vector<std::unique_ptr<Form>> forms_;
  SeenTwice seen_{1 << 14};
  std::string text_;  // of the one that is learnt
  std::size_t matched_ = 0;
  std::int64_t numbers_[FormTree::kMostNumbers] = {};
};

}  // namespace cli::kineto
