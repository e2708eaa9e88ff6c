#include "cli/formats/kineto/shapes.h"

#include <algorithm>
#include <charconv>

namespace cli::kineto {

namespace {

// The first shapes are stored immediately: 4,096 with 2 MiB in total if one input may have kMostTextOfShapes, fewer if
// several inputs share that limit, and more for each event that repeats one. Later shapes have to occur twice, so that
// traces whose texts never repeat do not fill the catalogue, and their number is limited.
constexpr std::size_t kFreeShare = 32, kTextPerFreeShape = kMostTextOfShapes / 4096;
constexpr std::size_t kRepeatsPerFreeShape = 2, kFreeTextPerRepeat = 128;

}  // namespace

bool read_plain_integer(std::string_view text, std::int64_t& value) {
  if (text.size() > 1 && (text[0] == '0' || (text[0] == '-' && text[1] == '0'))) return false;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

ArgumentShapes::ArgumentShapes(Shapes& shapes)
    : shapes_(&shapes), taken_(shapes.size(), true), taken_count_(shapes.size()), taken_bytes_(shapes.text_bytes()) {}

void ArgumentShapes::go_on_in(Shapes& shapes) {
  shapes_ = &shapes;
  taken_.assign(1, true);  // the shape without arguments
  taken_count_ = 1;
  taken_bytes_ = 0;
  repeats_ = 0;
  seen_ = SeenTwice(kTextsSeen);
}

const Shape* ArgumentShapes::find(std::string_view text, const std::vector<PlainInteger>& integers) {
  const std::size_t count = std::min(integers.size(), kMostHoles);
  if (text.empty() || text.size() > kMostShapeText) return nullptr;
  text_.resize(text.size());
  char* to = text_.data();
  const char* from = text.data();
  for (std::size_t i = 0; i < count; ++i) {
    const PlainInteger& integer = integers[i];
    to = std::copy(from, text.data() + integer.at, to);
    *to++ = kHole;
    from = text.data() + integer.at + integer.length;
    values_[i] = integer.value;
  }
  to = std::copy(from, text.data() + text.size(), to);
  const std::string_view key(text_.data(), static_cast<std::size_t>(to - text_.data()));
  const Shape* shape = shapes_->find(key);
  if (shape != nullptr && is_taken(shape->id)) {
    ++repeats_;
  } else {
    if (holes_in(key) != count || !has_room(key) || !(is_free(key) || seen_(key))) return nullptr;
    shape = &shapes_->intern(key);
    set_taken(*shape);
  }
  return shape->holes.size() == count ? shape : nullptr;
}

bool ArgumentShapes::take(const Shape& shape) {
  if (is_taken(shape.id)) {
    ++repeats_;
    return true;
  }
  if (!has_room(shape.text) || !is_free(shape.text)) return false;
  set_taken(shape);
  return true;
}

void ArgumentShapes::set_taken(const Shape& shape) {
  if (taken_.size() <= shape.id) taken_.resize(std::max(shapes_->size(), shape.id + std::size_t{1}));
  taken_[shape.id] = true;
  ++taken_count_;
  taken_bytes_ += shape.text.size();
}

bool ArgumentShapes::has_room(std::string_view text) const {
  return taken_bytes_ + text.size() <= shapes_->most_text_bytes();
}

bool ArgumentShapes::is_free(std::string_view text) const {
  const std::size_t most = shapes_->most_text_bytes();
  return taken_count_ < most / kTextPerFreeShape + repeats_ / kRepeatsPerFreeShape &&
         taken_bytes_ + text.size() <= most / kFreeShare + repeats_ * kFreeTextPerRepeat;
}

}  // namespace cli::kineto
