// Recognizes events that repeat except for their numbers, without parsing them again.
//
// Most events of a profile repeat: in profiles of real trainings, 90 to 99 % of the bytes belong to an event that
// occurred before with another time, duration, correlation or other integer. A form is the text of an event with a hole
// for each of these:
//
//   {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": ~, "tid": ~, "ts": #, "dur": #, "args": {"External id": ~}}
//
// Forms are learnt from events that the parser has checked and the translator has accepted. A text that equals a form
// except for valid numbers is therefore valid JSON with the same meaning.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/formats/json/json_stream.h"
#include "cli/formats/kineto/fields.h"
#include "cli/formats/kineto/form_tree.h"
#include "cli/formats/kineto/locations.h"
#include "cli/formats/kineto/shapes.h"
#include "cli/trace/event.h"

namespace cli::kineto {

// The data of a form that is known before the numbers of an event are read.
struct Form {
  static constexpr std::int8_t kNone = -1;  // not one of the numbers

  // The members used for each event come first.
  Event event;  // all members except the track and those from numbers
  const Category* category = nullptr;
  const Shape* shape = nullptr;        // null if it has no arguments
  std::optional<std::int64_t> device;  // the argument, unless it is one of the numbers
  // Indices of the numbers with these values, in the order of the text.
  std::int8_t start = kNone, duration = kNone, id = kNone, correlation = kNone, bytes = kNone, device_number = kNone;
  std::int8_t pid_number = kNone, tid_number = kNone;
  std::uint8_t first_integer = 0;  // index of the shape's first number; the others follow

  // The location of the last event of this form.
  bool second_ids = false;  // Locations::second_ids() of that event on that track
  std::optional<TrackId> last_track;
  Location* location = nullptr;  // null if there was none
  std::int64_t last_pid = 0, last_tid = 0;

  // Used if the arguments contain a number of any type. The form then has no shape. The arguments are the text after
  // before_args, except for the last behind_args bytes.
  std::string before_args;
  std::size_t behind_args = 0;
  JsonScalar pid, tid;  // views of `ids`; if given by a number, only its type counts
  std::string ids;
  ShapeId shape_id = 0;
};

class Forms : public KnownElements {
 public:
  // Continues with another file, whose strings, categories and shapes contain those so far with the same ids.
  void go_on_in(const Shapes& shapes);

  // Returns the size of the event at `begin`, which is '{', if it has a known form and ends before `end`; otherwise 0.
  // The 16 bytes after `end` have to be readable.
  std::size_t match(const char* begin, const char* end) override;

  // The form of the last match, and its numbers: times in ns, all others as they are.
  Form& form() { return *forms_[matched_]; }
  const std::int64_t* numbers() const { return numbers_; }

  // Learns the form of an event that was accepted. `form` contains all data except the numbers. Does nothing if there
  // are too many forms.
  void learn(const RawEvent& raw, Form form);
  // Returns true if the arguments contain a number of any type.
  static bool has_any_number(const RawEvent& raw) { return raw.bandwidth.is_number(); }
  // Returns true if there is space for the same number of forms again.
  bool has_room() const;

 private:
  bool is_admitted(std::string_view text);

  FormTree tree_;
  std::vector<std::unique_ptr<Form>> forms_;
  SeenTwice seen_{1 << 14};
  std::string text_;  // of the form that is being learnt
  std::size_t matched_ = 0;
  std::int64_t numbers_[FormTree::kMostNumbers] = {};
};

}  // namespace cli::kineto
