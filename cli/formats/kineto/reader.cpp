#include "cli/formats/kineto/reader.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "cli/base/error.h"
#include "cli/formats/json/file_kind.h"
#include "cli/formats/json/json_check.h"
#include "cli/formats/json/json_values.h"
#include "cli/formats/kineto/fields.h"
#include "cli/formats/kineto/header.h"
#include "cli/formats/kineto/translate.h"

namespace cli::kineto {

namespace {

constexpr std::size_t kMostGrowth = 2, kFreeEntries = 1024;

}  // namespace

Memory::Memory(Catalog& catalog, bool foreign)
    : own_shapes(foreign ? nullptr : std::make_unique<Shapes>()),
      categories(catalog.strings),
      shapes(shapes_of(catalog)),
      facts(make_facts(catalog)) {
  shapes_of(catalog).limit_text(catalog.shapes.most_text_bytes());
}

void Memory::end(const Catalog& catalog) {
  tables_.emplace(static_cast<const InternedTables&>(catalog));
  if (entries_of_first_ == 0) entries_of_first_ = entries();
}

void Memory::go_on_in(Catalog& catalog) {
  const std::size_t most_text_bytes = catalog.shapes.most_text_bytes();
  static_cast<InternedTables&>(catalog) = std::move(*tables_);
  tables_.reset();
  catalog.shapes.limit_text(most_text_bytes);
  shapes_of(catalog).limit_text(most_text_bytes);
  categories.go_on_in(catalog.strings);
  shapes.go_on_in(shapes_of(catalog));
  forms.go_on_in(shapes_of(catalog));
  facts->go_on_in(catalog);
}

bool Memory::helps() const {
  return tables_ && entries() <= kMostGrowth * entries_of_first_ + kFreeEntries && forms.has_room() &&
         !facts->is_exhausted();
}

namespace {

class ProfileReader : public Reader {
 public:
  ProfileReader(const std::string& path, std::size_t window, ReaderMemory* memory, bool foreign)
      : path_(path), memory_(memory), foreign_(foreign), stream_(open_byte_source(path), path, window) {}

  void read(Catalog& catalog, EventSink& sink) override;

 private:
  std::unique_ptr<Memory> learnt_before(Catalog& catalog);
  void read_members(Translator& translator);
  void read_events(Translator& translator);
  void take(Translator& translator, std::string_view text);
  void settle_header(Translator& translator);
  void look_behind_events();
  void refuse_without_use() const;
  void describe(Process& process, std::int64_t device);
  void describe_damage(Process& process) const;

  std::string path_;
  ReaderMemory* memory_;
  bool foreign_;
  JsonStream stream_;
  Header header_;
  EventParser parser_;
  RawEvent event_;
  std::uint64_t events_ = 0;  // accepted events of any phase
  bool header_settled_ = false, taken_as_absolute_ = false;
};

// Does nothing if the catalogue already has entries, because these have other numbers.
std::unique_ptr<Memory> ProfileReader::learnt_before(Catalog& catalog) {
  if (memory_ == nullptr || memory_->kineto_memory == nullptr || catalog.strings.size() > 1 ||
      !memory_->kineto_memory->helps()) {
    return std::make_unique<Memory>(catalog, foreign_);
  }
  memory_->kineto_memory->go_on_in(catalog);
  return std::move(memory_->kineto_memory);
}

void ProfileReader::read(Catalog& catalog, EventSink& sink) {
  std::unique_ptr<Memory> learnt = learnt_before(catalog);
  Process process;
  process.source = path_;
  process.format = SourceFormat::kineto;
  const ProcessId id = catalog.add_process(std::move(process));
  Translator translator(catalog, id, sink, *learnt);
  if (stream_.open() == '[')
    read_events(translator);
  else
    read_members(translator);
  stream_.finish();
  refuse_without_use();
  describe(catalog.processes[id], translator.finish());
  describe_damage(catalog.processes[id]);
  if (memory_ == nullptr) return;
  learnt->end(catalog);
  memory_->kineto_memory = std::move(learnt);
}

void ProfileReader::read_members(Translator& translator) {
  bool found = false;
  std::string key;
  std::string_view foreign;
  while (stream_.next_member(key)) {
    if (key != "traceEvents") {
      if (foreign.empty()) foreign = foreign_json(key);
      header_.take(stream_, key);
      continue;
    }
    if (!stream_.enter_array() && !found && stream_.at_object()) {
      throw Error(
          Exit::bad_content,
          path_ +
              ": \"traceEvents\" is an object, a trace in a trace; write only that object to a file (jq .traceEvents)");
    }
    found = true;
    read_events(translator);
  }
  if (found || (stream_.damage().is_cut() && header_.is_of_a_trace())) return;
  if (!foreign.empty()) throw Error(Exit::bad_content, fmt::format("{}: not a trace, but {}", path_, foreign));
  std::string why = "JSON, but not a trace: expected a member \"traceEvents\"";
  for (const std::string& note : stream_.damage().notes()) why += "; " + note;
  throw Error(Exit::bad_content, path_ + ": " + why + "; use the file that torch.profiler's export_chrome_trace wrote");
}

void ProfileReader::read_events(Translator& translator) {
  std::string_view text;
  // The base of the times is not part of a form.
  const auto forms = [&] { return header_settled_ ? &translator.forms() : nullptr; };
  for (bool known = false; stream_.next_element(text, forms(), known);) {
    if (known && translator.take_known(text))
      ++events_;
    else
      take(translator, text);
  }
}

void ProfileReader::take(Translator& translator, std::string_view text) {
  if (!parser_.parse(text, event_) && !(stream_.mend(text) && parser_.parse(text, event_))) {
    const auto fault = find_json_fault(text);
    return fault ? stream_.refuse(fault->at, fault->expected) : stream_.refuse(0, "each member of an event once");
  }
  // An empty object is no lost event: JAX writes one after the last event.
  if (text.find_first_not_of("{} \t\r\n") == text.npos) return;
  const char phase = kineto_phase(event_);
  if (!header_settled_ && phase != '\0' && phase != 'M') settle_header(translator);
  const auto refusal = translator.take(event_);
  events_ += !refusal;
  if (!refusal) return;
  const auto at = refusal->at == nullptr ? 0 : static_cast<std::size_t>(refusal->at - text.data());
  stream_.refuse_whole(at, refusal->expected);
}

void ProfileReader::refuse_without_use() const {
  const JsonDamage& damage = stream_.damage();
  if (events_ > 0 || damage.lost_events() == 0) return;
  throw Error(Exit::bad_content, path_ + ": " + damage.first_loss() +
                                     "; none of its events can be read: copy or "
                                     "record the file again");
}

void ProfileReader::describe_damage(Process& process) const {
  const JsonDamage& damage = stream_.damage();
  if (damage.none()) return;
  process.state = RecordingState::recovered;
  process.lost_unknown_kind = damage.lost_events();
  process.cut = damage.cut_text();
  process.damage = damage.first();
  process.text_bytes = stream_.bytes_read();
  process.unread_bytes = damage.lost_bytes();
  for (std::string& note : damage.notes()) process.notes.push_back(std::move(note));
}

// Metadata events have no relevant times, so they may precede the base.
void ProfileReader::settle_header(Translator& translator) {
  header_settled_ = true;
  if (!header_.base_ns) {
    const auto first = micros_to_ns(event_.ts.text);
    taken_as_absolute_ = first && *first >= kSurelyAbsoluteNs;
    if (!taken_as_absolute_) look_behind_events();
  }
  translator.set_base(header_.base_ns.value_or(0));
  for (const auto& [device, name] : header_.device_names) translator.expect_gpu(device);
}

// The first pass stores these members when it reaches them.
void ProfileReader::look_behind_events() {
  Header whole = scan_header(path_);
  header_.base_ns = whole.base_ns;
  header_.device_names = std::move(whole.device_names);
}

void ProfileReader::describe(Process& process, std::int64_t device) {
  process.rank = header_.ranks_differ ? -1 : header_.rank;
  process.rank_source = process.rank >= 0 ? RankSource::content : RankSource::unknown;
  if (header_.ranks_differ) process.notes.push_back("this file contains several ranks: its rank is unknown");
  process.world_size = header_.world_size;
  process.host = header_.host;
  process.run_id = find_export_mark(header_.members).run_id;
  process.kineto_header = std::move(header_.members);
  for (const std::string& key : header_.left_out) {
    process.notes.push_back("the member \"" + key + "\" is too large: skipped");
  }
  if (!taken_as_absolute_) process.kineto_base_ns = header_.base_ns;
  const auto& names = header_.device_names;
  const auto used = names.find(device);
  if (used != names.end())
    process.device_name = used->second;
  else if (!names.empty())
    process.device_name = names.begin()->second;
  if (taken_as_absolute_ && header_.base_ns.value_or(0) != 0) {
    process.notes.push_back("baseTimeNanoseconds after absolute times was ignored");
  }
}

}  // namespace

std::unique_ptr<Reader> open(const std::string& path, std::size_t window, ReaderMemory* memory, bool foreign) {
  return std::make_unique<ProfileReader>(path, window, memory, foreign);
}

}  // namespace cli::kineto
