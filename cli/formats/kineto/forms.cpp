#include "cli/formats/kineto/forms.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "cli/formats/json/json_values.h"

namespace cli::kineto {
namespace {

constexpr char kTimeHole = FormTree::kTimeHole, kIntegerHole = FormTree::kIntegerHole,
               kAnyNumberHole = FormTree::kAnyNumberHole;

// The first forms are stored immediately. Later ones have to occur twice, so that files whose texts never repeat do not
// use memory, and their number is limited. A training on H100s has 2,000 forms with 0.5 MB per rank.
constexpr std::size_t kFreeForms = 4096, kFreeFormText = 2 << 20;
constexpr std::size_t kMostForms = 1 << 15, kMostFormText = 8 << 20;
struct Hole {
  const char* at;
  std::size_t size;
  char kind;
};

// The holes of an event, in the order of its text.
class Holes {
 public:
  // Adds a hole if the text is a plain number of this kind. 8 bytes after it are readable.
  bool add(std::string_view number, char kind) {
    const char* at = number.data();
    std::int64_t value;
    if (count_ == holes_.size() || !FormTree::take_hole(kind, at, value) || at != number.data() + number.size())
      return false;
    holes_[count_++] = {number.data(), number.size(), kind};
    return true;
  }
  void sort() {
    std::sort(holes_.data(), holes_.data() + count_, [](const Hole& a, const Hole& b) { return a.at < b.at; });
  }
  // Returns the index of the hole with this text, or Form::kNone.
  std::int8_t index_of(const JsonScalar& scalar) const {
    const auto at = std::find_if(begin(), end(), [&](const Hole& hole) { return hole.at == scalar.text.data(); });
    return scalar.is_number() && at != end() ? static_cast<std::int8_t>(at - begin()) : Form::kNone;
  }
  // Returns the text of `event` with holes instead of its numbers.
  void put_text(std::string_view event, std::string& text) const {
    text.clear();
    const char* from = event.data();
    for (const Hole& hole : *this) {
      text.append(from, hole.at).push_back(hole.kind);
      from = hole.at + hole.size;
    }
    text.append(from, event.data() + event.size());
  }
  const Hole* begin() const { return holes_.data(); }
  const Hole* end() const { return holes_.data() + count_; }

 private:
  std::array<Hole, FormTree::kMostNumbers> holes_;
  std::size_t count_ = 0;
};

// Returns false if the numbers cannot be found in the text of another event by their surrounding text.
bool find_args(const RawEvent& raw, Form& form) {
  const auto args_at = static_cast<std::size_t>(raw.args.data() - raw.text.data());
  const std::size_t key_at = raw.text.rfind("\"args\"", args_at);
  if (key_at == raw.text.npos) return false;
  form.before_args = raw.text.substr(key_at, args_at - key_at);
  form.behind_args = raw.text.size() - args_at - raw.args.size();
  const std::string_view behind = raw.text.substr(raw.text.size() - form.behind_args);
  return raw.text.find(form.before_args) == key_at && behind.find_first_not_of("} \t\r\n") == behind.npos;
}

}  // namespace

void Forms::go_on_in(const Shapes& shapes) {
  for (const auto& form : forms_) {
    if (form->shape != nullptr) form->shape = &shapes[form->shape_id];
    form->location = nullptr;
  }
}

std::size_t Forms::match(const char* begin, const char* end) {
  const FormTree::Match match = tree_.match(begin, end, numbers_);
  matched_ = match.form;
  return match.size;
}

void Forms::learn(const RawEvent& raw, Form form) {
  if (tree_.text_bytes() + raw.text.size() > kMostFormText || forms_.size() == kMostForms) return;
  Holes holes;
  if (!raw.ts.is_number() || !holes.add(raw.ts.text, kTimeHole)) return;
  if (form.event.phase == 'X' && (!raw.dur.is_number() || !holes.add(raw.dur.text, kTimeHole))) return;
  for (const JsonScalar* id : {&raw.id, &raw.pid, &raw.tid}) {
    if (id->is_number()) holes.add(id->text, kIntegerHole);
  }
  const bool has_any = has_any_number(raw);
  const std::size_t integers = has_any ? raw.integers.size() : form.shape == nullptr ? 0 : form.shape->holes.size();
  for (std::size_t i = 0; i < integers; ++i) {
    const std::string_view integer = raw.args.substr(raw.integers[i].at, raw.integers[i].length);
    if (!(has_any && integer.data() == raw.bandwidth.text.data()) && !holes.add(integer, kIntegerHole)) return;
  }
  if (has_any && !(holes.add(raw.bandwidth.text, kAnyNumberHole) && find_args(raw, form))) return;
  holes.sort();
  holes.put_text(raw.text, text_);
  if (!is_admitted(text_)) return;
  form.start = holes.index_of(raw.ts);
  if (form.event.phase == 'X') form.duration = holes.index_of(raw.dur);
  form.id = holes.index_of(raw.id);
  if (raw.id.empty()) form.correlation = holes.index_of(raw.correlation);
  form.bytes = holes.index_of(raw.bytes);
  form.device_number = holes.index_of(raw.device);
  const auto first =
      std::find_if(holes.begin(), holes.end(), [&](const Hole& hole) { return hole.at >= raw.args.data(); });
  form.first_integer = static_cast<std::uint8_t>(form.shape == nullptr ? 0 : first - holes.begin());
  form.pid_number = holes.index_of(raw.pid);
  form.tid_number = holes.index_of(raw.tid);
  form.ids.append(raw.pid.text).append(raw.tid.text);
  form.pid.form = raw.pid.form;
  form.tid.form = raw.tid.form;
  form.shape_id = form.shape == nullptr ? ShapeId() : form.shape->id;
  forms_.push_back(std::make_unique<Form>(std::move(form)));
  Form& kept = *forms_.back();
  kept.pid.text = std::string_view(kept.ids).substr(0, raw.pid.text.size());
  kept.tid.text = std::string_view(kept.ids).substr(raw.pid.text.size());
  tree_.add(text_, static_cast<std::uint32_t>(forms_.size() - 1));
}

bool Forms::has_room() const { return tree_.text_bytes() <= kMostFormText / 2 && forms_.size() <= kMostForms / 2; }

bool Forms::is_admitted(std::string_view text) {
  return (forms_.size() < kFreeForms && tree_.text_bytes() < kFreeFormText) || seen_(text);
}

}  // namespace cli::kineto
