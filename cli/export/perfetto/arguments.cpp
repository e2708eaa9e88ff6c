#include "cli/export/perfetto/arguments.h"

#include <simdjson.h>

#include <charconv>
#include <protozero/varint.hpp>

#include "cli/export/perfetto/json_members.h"
#include "cli/io/json_text.h"
#include "cli/read/json_unescape.h"

namespace cli::perfetto {
namespace {

constexpr std::size_t kLongestInterned = 1 << 12;  // longer values rarely come twice

template <typename Number>
bool whole(std::string_view text, Number& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

void Arguments::members(std::string_view fragment, bool repeats, Sequence& sequence, Buffer& out) {
  const std::uint32_t id = repeats ? fragments_.id(fragment) : 0;
  return id != 0 ? memoised(id, fragment, sequence, out) : each(fragment, sequence, out);
}

void Arguments::memoised(std::uint32_t id, std::string_view fragment, Sequence& sequence, Buffer& out) {
  if (id > known_.size()) {
    const std::size_t from = out.size();
    noting_ = &known_.emplace_back();
    each(fragment, sequence, out);
    noting_->bytes = out.view().substr(from);
    noting_ = nullptr;
    return void(sequence.fragments.insert(id));
  }
  const Fragment& made = known_[id - 1];
  out.append(made.bytes.data(), made.bytes.size());
  if (!sequence.fragments.insert(id)) return;
  for (const std::uint32_t key : made.keys) define_key(key, sequence);
  for (const std::uint32_t value : made.values) define_value(value, sequence);
}

void Arguments::each(std::string_view fragment, Sequence& sequence, Buffer& out) {
  JsonMembers members(fragment);
  for (Member member; members.next(member);) {
    open(unescape_json(member.key, scratch_), sequence);
    value(member.value, sequence);
    close(out);
  }
}

void Arguments::number(std::string_view key, std::uint64_t value, Sequence& sequence, Buffer& out) {
  open(key, sequence);
  Writer(argument_).add_uint64(schema_.unsigned_number, value);
  close(out);
}

void Arguments::flag(std::string_view key, Sequence& sequence, Buffer& out) {
  open(key, sequence);
  Writer(argument_).add_bool(schema_.boolean, true);
  close(out);
}

void Arguments::text(std::string_view key, std::string_view value, Sequence& sequence, Buffer& out) {
  open(key, sequence);
  interned(value, sequence);
  close(out);
}

void Arguments::value(std::string_view value, Sequence& sequence) {
  std::uint64_t natural = 0;
  std::int64_t integer = 0;
  Writer out(argument_);
  if (whole(value, natural)) return out.add_uint64(schema_.unsigned_number, natural);
  if (value[0] == '"') return string(value, sequence);
  if (value[0] == '[' || value[0] == '{') return interned(on_one_line(value), sequence);
  if (value == "null") return interned(value, sequence);
  if (value == "true" || value == "false") return out.add_bool(schema_.boolean, value == "true");
  if (whole(value, integer)) return out.add_int64(schema_.number, integer);
  real(value, sequence);
}

// A number with a fraction; one that is too big for a double stays as it is spelled.
void Arguments::real(std::string_view value, Sequence& sequence) {
  double number = 0;
  if (!whole(value, number)) return interned(value, sequence);
  Writer(argument_).add_double(schema_.real, number);
}

std::string_view Arguments::on_one_line(std::string_view json) {
  if (json.find('\n') == json.npos) return json;
  scratch_.resize(json.size());
  std::size_t length = 0;
  if (simdjson::minify(json.data(), json.size(), scratch_.data(), length) != simdjson::SUCCESS) return json;
  return std::string_view(scratch_).substr(0, length);
}

void Arguments::string(std::string_view spelled, Sequence& sequence) {
  interned(unescape_json(spelled.substr(1, spelled.size() - 2), scratch_), sequence);
}

void Arguments::interned(std::string_view text, Sequence& sequence) {
  const std::uint32_t id = text.size() <= kLongestInterned ? values_.id(text) : 0;
  Writer out(argument_);
  if (id == 0) {
    const std::string_view valid = valid_utf8(text, valid_);
    return out.add_string(schema_.text, valid.data(), valid.size());
  }
  out.add_uint64(schema_.text_iid, id);
  define_value(id, sequence);
}

void Arguments::open(std::string_view key, Sequence& sequence) {
  argument_.clear();
  const std::uint32_t id = keys_.id(key);
  if (id != 0) {
    Writer(argument_).add_uint64(schema_.key_iid, id);
    return define_key(id, sequence);
  }
  const std::string_view valid = valid_utf8(key, valid_);
  Writer(argument_).add_string(schema_.key_text, valid.data(), valid.size());
}

void Arguments::close(Buffer& out) {
  Writer(out).add_message(schema_.argument, argument_.view().data(), argument_.size());
}

void Arguments::define_key(std::uint32_t id, Sequence& sequence) {
  if (noting_ != nullptr) noting_->keys.push_back(id);
  if (sequence.keys.insert(id)) packets_.define(schema_.keys, id, valid_utf8(keys_.text(id), valid_));
}

void Arguments::define_value(std::uint32_t id, Sequence& sequence) {
  if (noting_ != nullptr) noting_->values.push_back(id);
  if (!sequence.values.insert(id)) return;
  packets_.define(interned::string_values, id, valid_utf8(values_.text(id), valid_));
}

void add_arguments(const Event& event, std::string_view fragment, std::string_view full_name, Arguments& arguments,
                   Sequence& sequence, Buffer& out) {
  if (!full_name.empty()) arguments.text("full name", full_name, sequence, out);
  if (!fragment.empty()) arguments.members(fragment, !event.args_complete, sequence, out);
  if (event.correlation != 0 && !event.args_complete) {
    arguments.number("correlation", event.correlation, sequence, out);
  }
  if (event.has_bytes && !event.args_complete) arguments.number("bytes", event.bytes, sequence, out);
  if (event.phase == 'X' && event.duration_ns < 0) arguments.flag("unfinished", sequence, out);
  if (event.open_start) arguments.flag("open_start", sequence, out);
}

}  // namespace cli::perfetto
