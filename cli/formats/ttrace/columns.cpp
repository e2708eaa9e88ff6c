#include "cli/formats/ttrace/columns.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <iterator>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "cli/formats/ttrace/fields.h"
#include "common/hash.h"

namespace cli::ttrace {
namespace {

constexpr std::size_t at(Column column) { return static_cast<std::size_t>(column); }

std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = text.size();
  const char* from = text.data();
  for (std::size_t left = text.size(); left > 0;) {
    std::uint64_t word = 0;
    const std::size_t part = left < 8 ? left : 8;
    std::memcpy(&word, from, part);
    hash = trace::spread(hash ^ word);
    hash ^= hash >> 29;
    from += part;
    left -= part;
  }
  return hash;
}

std::uint8_t flags_of(const Event& event) {
  const auto scope = static_cast<std::size_t>(std::find(kScopes, kScopes + 4, event.json.scope) - kScopes) % 4;
  return static_cast<std::uint8_t>((event.has_bytes ? kHasBytes : 0) | (event.json.args_complete ? kArgsComplete : 0) |
                                   (event.open_start ? kOpenStart : 0) | (event.json.no_category ? kNoCategory : 0) |
                                   (event.json.encloses ? kEncloses : 0) | scope << kScopeShift |
                                   (event.json.second_ids ? kSecondIds : 0));
}

void set_flags(Event& event, std::uint8_t flags) {
  event.has_bytes = (flags & kHasBytes) != 0;
  event.json.args_complete = (flags & kArgsComplete) != 0;
  event.open_start = (flags & kOpenStart) != 0;
  event.json.no_category = (flags & kNoCategory) != 0;
  event.json.encloses = (flags & kEncloses) != 0;
  event.json.second_ids = (flags & kSecondIds) != 0;
  event.json.scope = kScopes[flags >> kScopeShift & 3];
}

// The recent argument texts of a chunk: those of launches repeat, those of foreign traces rarely do.
class RecentTexts {
 public:
  // Returns the text's number + 1; 0 if it is new. Remembers it.
  std::uint32_t find_or_add(std::string_view text) {
    Entry& entry = entries_[hash_of(text) % entries_.size()];
    if (entry.number != 0 && entry.text == text) return entry.number;
    entry = {text, ++count_};
    return 0;
  }

 private:
  struct Entry {
    std::string_view text;
    std::uint32_t number = 0;
  };
  std::array<Entry, 4096> entries_{};
  std::uint32_t count_ = 0;
};

// The columns of numbers, each with space for the longest encoding of every event.
class NumberColumns {
 public:
  explicit NumberColumns(std::size_t events) : stride_(events * kMaxVarint), bytes_(new char[stride_ * kFixedColumns]) {
    for (std::size_t column = 0; column < kFixedColumns; ++column) end_[column] = bytes_.get() + column * stride_;
  }
  void put(Column column, std::uint64_t value) { put(at(column), value); }
  void put(std::size_t column, std::uint64_t value) { end_[column] = put_varint(end_[column], value); }
  void put_byte(Column column, std::uint8_t value) { *end_[at(column)]++ = static_cast<char>(value); }
  std::string_view column(std::size_t column) const {
    const char* begin = bytes_.get() + column * stride_;
    return {begin, static_cast<std::size_t>(end_[column] - begin)};
  }

 private:
  std::size_t stride_;
  std::unique_ptr<char[]> bytes_;
  std::array<char*, kFixedColumns> end_{};
};

template <typename T>
std::uint64_t number_of(T value) {
  if constexpr (std::is_same_v<T, float>) {
    return std::bit_cast<std::uint32_t>(value);
  } else if constexpr (std::is_same_v<T, double>) {
    return std::bit_cast<std::uint64_t>(value);
  } else if constexpr (std::is_signed_v<T>) {
    return zigzag(static_cast<std::uint64_t>(static_cast<std::int64_t>(value)));
  } else {
    return static_cast<std::uint64_t>(value);
  }
}

// The last value in each column of differences.
using Lasts = std::array<std::uint64_t, kFixedColumns>;

}  // namespace

// The predicted next integer of a slot: the last one, or the correlation of the event if the last one was that.
struct SlotState {
  std::uint64_t last = 0;
  bool follows = false;

  std::uint64_t expected(std::uint64_t correlation) const { return follows ? correlation : last; }
  void note(std::uint64_t value, std::uint64_t correlation) {
    last = value;
    follows = value == correlation && value != 0;
  }
};
using SlotStates = std::array<SlotState, kShapeSlots>;

namespace {

// A visitor of fields.
struct PutFields {
  template <typename T>
  void number(const char*, T value, bool = true) {
    columns.put(column++, number_of(value));
  }
  template <typename T>
  void hex(const char*, T value, bool = true) {
    columns.put(column++, value);
  }
  template <typename T>
  void delta(const char*, T value, bool = true) {
    const auto now = static_cast<std::uint64_t>(value);
    columns.put(column, zigzag(now - lasts[column]));
    lasts[column++] = now;
  }
  void string(const char*, StringId id, bool = true) { columns.put(column++, id); }
  template <typename T>
  void id(const char*, InternedId<T> id, bool = true) {
    columns.put(column++, id);
  }

  NumberColumns& columns;
  Lasts& lasts;
  std::size_t column;
};

// A visitor of fields.
struct DescribeFields {
  template <typename T>
  void number(const char* name, const T&, bool = true) {
    add(name, std::is_same_v<T, float>    ? Encoding::real32
              : std::is_same_v<T, double> ? Encoding::real64
              : std::is_signed_v<T>       ? Encoding::signed_number
                                          : Encoding::number);
  }
  template <typename T>
  void hex(const char* name, const T&, bool = true) {
    add(name, Encoding::number);
  }
  template <typename T>
  void delta(const char* name, const T&, bool = true) {
    add(name, Encoding::difference);
  }
  void string(const char* name, StringId, bool = true) { add(name, Encoding::string); }
  template <typename T>
  void id(const char* name, InternedId<T>, bool = true) {
    add(name, Encoding::id, list_of<T>());
  }
  void add(std::string_view name, Encoding encoding, ChunkKind list = {}) {
    entries.push_back({of, payload, name, encoding, list});
  }

  std::vector<SchemaEntry>& entries;
  ChunkKind of = ChunkKind::events;
  std::uint8_t payload = 0;
};

class Encoder {
 public:
  explicit Encoder(std::size_t events) : columns_(events) {}

  void event(const Event& event) {
    const auto start = static_cast<std::uint64_t>(event.start_ns);
    columns_.put(Column::start, zigzag(start - last_start_));
    last_start_ = start;
    columns_.put(Column::duration, static_cast<std::uint64_t>(event.duration_ns) + 1);
    std::uint64_t& last = correlations_[event.track % kCorrelationSlots];
    columns_.put(Column::correlation, zigzag(event.correlation - last));
    last = event.correlation;
    if (event.has_bytes) columns_.put(Column::bytes, event.bytes);
    columns_.put(Column::track, event.track);
    columns_.put(Column::name, event.name);
    columns_.put(Column::category, event.category);
    columns_.put_byte(Column::kind, static_cast<std::uint8_t>(event.kind));
    columns_.put_byte(Column::phase, static_cast<std::uint8_t>(event.phase));
    columns_.put_byte(Column::flags, flags_of(event));
  }
  void facts(const Event& event, const Facts& facts) {
    columns_.put_byte(Column::payload, facts.tag());
    visit_payload(facts.tag(), facts.data(), [&]<typename P>(const P& payload) {
      PutFields put{columns_, *lasts_, kFirstColumn[payload_tag<P>()]};
      visit_fields(put, payload);
    });
    facts.shape == nullptr ? args(facts.args) : shape(*facts.shape, facts.integers, event.correlation);
  }
  void finish(std::string& out) const {
    out.clear();
    const auto columns = static_cast<std::uint32_t>(kColumns);
    out.append(reinterpret_cast<const char*>(&columns), sizeof(columns));
    std::uint64_t filled = 0;
    for (std::size_t column = 0; column < kColumns; ++column) filled += !column_bytes(column).empty();
    append_varint(out, filled);
    for (std::size_t column = 0; column < kColumns; ++column) {
      if (column_bytes(column).empty()) continue;
      append_varint(out, column);
      append_varint(out, column_bytes(column).size());
    }
    for (std::size_t column = 0; column < kColumns; ++column) out.append(column_bytes(column));
  }

 private:
  void args(std::string_view args) {
    if (args.empty()) return columns_.put(Column::args, 0);
    const std::uint64_t seen = recent_->find_or_add(args);
    columns_.put(Column::args, seen == 0 ? 1 : 2 * seen);
    if (seen != 0) return;
    columns_.put(Column::text_bytes, args.size());
    text_.append(args);
  }
  void shape(const Shape& shape, const std::int64_t* integers, std::uint64_t correlation) {
    columns_.put(Column::args, 3 + 2 * std::uint64_t{shape.id});
    for (const Shape::Hole& hole : shape.holes) {
      const auto value = static_cast<std::uint64_t>(*integers++);
      SlotState& state = slots_[hole.slot];
      append_varint(integers_[hole.slot], zigzag(value - state.expected(correlation)));
      state.note(value, correlation);
    }
  }
  std::string_view column_bytes(std::size_t column) const {
    if (column >= kFixedColumns) return integers_[column - kFixedColumns];
    return column == at(Column::text) ? std::string_view(text_) : columns_.column(column);
  }

  NumberColumns columns_;
  std::array<std::uint64_t, kCorrelationSlots> correlations_{};
  std::unique_ptr<Lasts> lasts_ = std::make_unique<Lasts>();
  std::unique_ptr<RecentTexts> recent_ = std::make_unique<RecentTexts>();
  SlotStates slots_{};
  std::array<std::string, kShapeSlots> integers_;
  std::string text_;
  std::uint64_t last_start_ = 0;
};

}  // namespace

// A walk in time order keeps one decoder for each stream. So a decoder has room only for the columns that its chunk fills, which are few.
class ColumnDecoder::Columns {
 public:
  explicit Columns(const ShapeTable& shapes) : shapes_(shapes) {}
  // Return a description of the error, or nullptr.
  const char* open(std::string_view raw, std::size_t count);
  void begin_batch() { ++batches_; }
  const char* event(EventBatch& out);
  bool used_up() const {
    const auto is_used_up = [](const auto& column) { return column.rest.empty(); };
    return std::all_of(common_.begin(), common_.end(), is_used_up) &&
           std::all_of(fields_.begin(), fields_.end(), is_used_up) &&
           std::all_of(slots_.begin(), slots_.end(), is_used_up);
  }

 private:
  struct Plain {
    std::string_view rest;
  };
  struct Field {
    std::string_view rest;
    std::uint64_t last = 0;  // for differences
  };
  struct Slot {
    std::string_view rest;
    SlotState state;
  };
  static constexpr std::uint16_t kNone = 0xffff;
  static_assert(kColumns < kNone);
  // The last correlation of each track. Tracks of one process have neighbouring numbers, so a stream needs few pages.
  static constexpr std::size_t kPageSlots = 32;
  using Page = std::array<std::uint64_t, kPageSlots>;

  struct TakeFields;
  void put_column(std::size_t column, std::string_view bytes);
  [[gnu::always_inline]] std::uint64_t take(Column column) { return take_varint(common_[at(column)].rest, bad_); }
  std::uint32_t take32(Column column) {
    const std::uint64_t value = take(column);
    bad_ |= value >> 32 != 0;
    return static_cast<std::uint32_t>(value);
  }
  std::uint8_t take_byte(Column column) {
    std::string_view& in = common_[at(column)].rest;
    if (in.empty()) {
      bad_ = true;
      return std::uint8_t{0};
    }
    const auto value = static_cast<std::uint8_t>(in[0]);
    in.remove_prefix(1);
    return value;
  }
  std::uint64_t& last_correlation(TrackId track) {
    std::unique_ptr<Page>& page = correlations_[track % kCorrelationSlots / kPageSlots];
    if (page == nullptr) page = std::make_unique<Page>();
    return (*page)[track % kPageSlots];
  }
  void payload(EventBatch& out);
  void args(EventBatch& out, std::uint64_t correlation);
  void shape(EventBatch& out, std::uint64_t id, std::uint64_t correlation);

  const ShapeTable& shapes_;
  std::array<Plain, kCommonColumns> common_{};
  std::vector<Field> fields_;                             // all fields of each payload with a filled column
  std::array<std::uint16_t, kPayloads + 1> first_field_;  // in fields_, by payload; kNone if its columns are empty
  std::vector<Slot> slots_;                               // the filled ones
  // Position in slots_, by slot; kNone if not filled. Empty if no slot is filled
  std::vector<std::uint16_t> slot_places_;
  std::array<std::unique_ptr<Page>, kCorrelationSlots / kPageSlots> correlations_;
  struct Text {
    std::string_view text;
    std::size_t batch, index;  // the last event with it
  };
  std::vector<Text> texts_;
  std::size_t batches_ = 0;
  std::uint64_t start_ = 0;
  bool bad_ = false;
};

// A visitor of fields.
struct ColumnDecoder::Columns::TakeFields {
  std::uint64_t take() { return take_varint((next++)->rest, from.bad_); }
  template <typename T>
  void number(const char*, T& value, bool = true) {
    const std::uint64_t raw = take();
    if constexpr (std::is_same_v<T, float>) {
      value = std::bit_cast<float>(static_cast<std::uint32_t>(raw));
    } else if constexpr (std::is_same_v<T, double>) {
      value = std::bit_cast<double>(raw);
    } else if constexpr (std::is_same_v<T, bool>) {
      value = raw != 0;
    } else if constexpr (std::is_signed_v<T>) {
      value = static_cast<T>(unzigzag(raw));
    } else {
      value = static_cast<T>(raw);
    }
    if constexpr (std::is_same_v<T, bool>) {
      from.bad_ |= raw > 1;
    } else {
      from.bad_ |= number_of(value) != raw;
    }
  }
  template <typename T>
  void hex(const char* name, T& value, bool = true) {
    number(name, value);
  }
  template <typename T>
  void delta(const char*, T& value, bool = true) {
    std::uint64_t& last = next->last;
    value = static_cast<T>(last += unzigzag(take()));
  }
  void string(const char* name, StringId& id, bool = true) { number(name, id); }
  template <typename T>
  void id(const char* name, InternedId<T>& id, bool = true) {
    number(name, id.value);
  }

  Columns& from;
  Field* next;
};

void ColumnDecoder::Columns::put_column(std::size_t column, std::string_view bytes) {
  if (column < kCommonColumns) {
    common_[column].rest = bytes;
  } else if (column < kFixedColumns) {
    const auto after = std::upper_bound(kFirstColumn.begin() + 1, kFirstColumn.end(), column);
    const auto tag = static_cast<std::size_t>(after - kFirstColumn.begin()) - 1;
    if (first_field_[tag] == kNone) {
      first_field_[tag] = static_cast<std::uint16_t>(fields_.size());
      fields_.resize(fields_.size() + kFirstColumn[tag + 1] - kFirstColumn[tag]);
    }
    fields_[first_field_[tag] + column - kFirstColumn[tag]].rest = bytes;
  } else {
    if (slot_places_.empty()) slot_places_.assign(kShapeSlots, kNone);
    slot_places_[column - kFixedColumns] = static_cast<std::uint16_t>(slots_.size());
    slots_.push_back({bytes, {}});
  }
}

const char* ColumnDecoder::Columns::open(std::string_view raw, std::size_t count) {
  std::uint32_t columns = 0;
  if (raw.size() < sizeof(columns)) return "the header of the columns is cut off";
  std::memcpy(&columns, raw.data(), sizeof(columns));
  raw.remove_prefix(sizeof(columns));
  if (columns != kColumns) return "the number of columns is impossible";
  first_field_.fill(kNone);
  std::uint64_t filled = take_varint(raw, bad_);
  std::vector<std::pair<std::size_t, std::uint64_t>> sizes;
  for (std::size_t next = 0; filled > 0 && !bad_; --filled) {
    const std::uint64_t column = take_varint(raw, bad_), size = take_varint(raw, bad_);
    if (column < next || column >= kColumns || size == 0) return "a column is unknown or duplicate";
    sizes.push_back({static_cast<std::size_t>(column), size});
    next = static_cast<std::size_t>(column) + 1;
  }
  if (bad_) return "the header of the columns is cut off";
  for (const auto& [column, size] : sizes) {
    if (size > raw.size()) return "a column is longer than its chunk";
    put_column(column, raw.substr(0, size));
    raw.remove_prefix(size);
  }
  if (!raw.empty()) return "there is data after the columns";
  return common_[at(Column::kind)].rest.size() == count ? nullptr : "a column does not have one entry per event";
}

const char* ColumnDecoder::Columns::event(EventBatch& out) {
  Event event;
  start_ += unzigzag(take(Column::start));
  event.start_ns = static_cast<std::int64_t>(start_);
  event.duration_ns = static_cast<std::int64_t>(take(Column::duration) - 1);
  event.track = take32(Column::track);
  std::uint64_t& last = last_correlation(event.track);
  event.correlation = last += unzigzag(take(Column::correlation));
  event.name = take32(Column::name);
  event.category = take32(Column::category);
  event.kind = static_cast<Kind>(take_byte(Column::kind));
  event.phase = static_cast<char>(take_byte(Column::phase));
  set_flags(event, take_byte(Column::flags));
  if (event.has_bytes) event.bytes = take(Column::bytes);
  std::int64_t end;
  if (event.duration_ns < kUnknownDuration) return "a duration is negative";
  if (__builtin_add_overflow(event.start_ns, std::max<std::int64_t>(event.duration_ns, 0), &end))
    return "an event ends after the largest timestamp";
  payload(out);
  args(out, event.correlation);
  out.events().push_back(event);
  return bad_ ? "a column ends before its last event, or contains a number that is too large" : nullptr;
}

void ColumnDecoder::Columns::payload(EventBatch& out) {
  const std::uint8_t tag = take_byte(Column::payload);
  if (tag == 0) return out.place({});
  const bool known = with_payload(tag, [&]<typename P>(P*) {
    P& to = out.place<P>();
    if constexpr (fields_of<P>() != 0) {
      const std::uint16_t first = first_field_[payload_tag<P>()];
      bad_ |= first == kNone;
      if (bad_) return;
      TakeFields take{*this, &fields_[first]};
      visit_fields(take, to);
    }
  });
  if (known) return;
  bad_ = true;
  out.place({});
}

void ColumnDecoder::Columns::args(EventBatch& out, std::uint64_t correlation) {
  const std::uint64_t reference = take(Column::args);
  if (reference == 0) return;
  if (reference == 1) {
    std::string_view& text = common_[at(Column::text)].rest;
    const std::uint64_t size = take(Column::text_bytes);
    bad_ |= size > text.size();
    texts_.push_back({text.substr(0, size), batches_, out.events().size()});
    text.remove_prefix(texts_.back().text.size());
    return out.give_args(texts_.back().text);
  }
  const std::uint64_t number = (reference - 2) / 2;
  if (reference % 2 != 0) return shape(out, number, correlation);
  bad_ |= number >= texts_.size();
  if (bad_) return;
  Text& text = texts_[number];
  if (text.batch == batches_) return out.repeat_args(text.index);  // a batch contains it only once
  text.batch = batches_;
  text.index = out.events().size();
  out.give_args(text.text);
}

void ColumnDecoder::Columns::shape(EventBatch& out, std::uint64_t id, std::uint64_t correlation) {
  bad_ |= id == 0 || id >= shapes_.size();  // 0 is the empty shape, which no event has
  if (bad_) return;
  std::uint64_t* integers = out.give_shape(*shapes_[id]);
  for (const Shape::Hole& hole : shapes_[id]->holes) {
    const std::uint16_t place = slot_places_.empty() ? kNone : slot_places_[hole.slot];
    bad_ |= place == kNone;
    if (bad_) return;
    Slot& slot = slots_[place];
    const std::uint64_t value = slot.state.expected(correlation) + unzigzag(take_varint(slot.rest, bad_));
    slot.state.note(value, correlation);
    *integers++ = value;
  }
}

std::vector<SchemaEntry> schema() {
  static_assert(std::size(kColumnNames) == kCommonColumns);
  std::vector<SchemaEntry> entries;
  for (const std::string_view name : kColumnNames)
    entries.push_back({ChunkKind::events, 0, name, Encoding::special, {}});
  for_each_payload([&]<typename P>(P*) {
    DescribeFields fields{entries, ChunkKind::events, payload_tag<P>()};
    const P payload{};
    visit_fields(fields, payload);
  });
  for_each_interned([&]<typename T>(const T*) {
    DescribeFields fields{entries, list_of<T>()};
    const T value{};
    visit_fields(fields, value);
  });
  return entries;
}

void encode_events(const EventBatch& batch, const std::uint32_t* order, std::size_t begin, std::size_t end,
                   std::string& out) {
  Encoder encoder(end - begin);
  for (std::size_t i = begin; i < end; ++i) {
    const std::size_t index = order != nullptr ? order[i] : i;
    encoder.event(batch.event(index));
    encoder.facts(batch.event(index), batch.facts(index));
  }
  encoder.finish(out);
}

ColumnDecoder::ColumnDecoder(const ShapeTable& shapes) : shapes_(&shapes) {}
ColumnDecoder::~ColumnDecoder() = default;
ColumnDecoder::ColumnDecoder(ColumnDecoder&&) noexcept = default;
ColumnDecoder& ColumnDecoder::operator=(ColumnDecoder&&) noexcept = default;

const char* ColumnDecoder::open(std::string_view raw, std::size_t count) {
  columns_ = std::make_unique<Columns>(*shapes_);
  left_ = count;
  return columns_->open(raw, count);
}

const char* ColumnDecoder::take(EventBatch& out, std::size_t most, std::size_t most_text) {
  out.clear();
  if (left_ == 0) return nullptr;
  columns_->begin_batch();
  for (const std::size_t end = left_ - std::min(most, left_); left_ > end && out.args_bytes() < most_text; --left_) {
    if (const char* wrong = columns_->event(out)) return wrong;
  }
  return left_ > 0 || columns_->used_up() ? nullptr : "a column has more entries than events";
}

const char* decode_events(std::string_view raw, std::size_t count, const ShapeTable& shapes, EventBatch& out) {
  ColumnDecoder decoder(shapes);
  if (const char* wrong = decoder.open(raw, count)) return wrong;
  return decoder.take(out, count);
}

}  // namespace cli::ttrace
