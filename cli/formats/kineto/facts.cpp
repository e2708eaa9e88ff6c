#include "cli/formats/kineto/facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <limits>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cli/base/text.h"
#include "cli/formats/json/byte_source.h"
#include "cli/formats/json/json_check.h"
#include "cli/formats/json/json_values.h"
#include "cli/formats/kineto/shapes.h"
#include "cli/trace/operator_inputs.h"
#include "cli/trace/words.h"
#include "common/hash.h"

namespace cli::kineto {
namespace {

// Iterates over the content of a JSON object or list, which is valid except for its holes. kReadBehind bytes after it
// are readable.
class Inside {
 public:
  static constexpr std::size_t kReadBehind = Window::kPadding;

  explicit Inside(std::string_view text) : at_(text.data()), end_(text.data() + text.size()) {}
  // Returns the next member of an object: the key as spelled; the value with its quotes or brackets.
  bool member(std::string_view& key, std::string_view& value) {
    while (at_ < end_ && *at_ != '"') ++at_;
    key = string();
    if (key.size() < 2) return false;
    key = key.substr(1, key.size() - 2);
    while (at_ < end_ && (*at_ == ':' || is_json_space(*at_))) ++at_;
    return take_value(value);
  }
  // Returns the next entry of a list.
  bool entry(std::string_view& value) {
    while (at_ < end_ && (*at_ == ',' || is_json_space(*at_))) ++at_;
    return take_value(value);
  }

 private:
  std::string_view up_to(const char* end) {
    const char* const begin = at_;
    at_ = end == nullptr ? end_ : end;
    return {begin, static_cast<std::size_t>(at_ - begin)};
  }
  std::string_view string() {
    if (at_ == end_) return {};
    const char* const quote = find_quote(at_ + 1, end_);
    return up_to(quote == nullptr ? end_ : quote + 1);
  }
  bool take_value(std::string_view& value) {
    if (at_ == end_) return false;
    if (*at_ == '"') {
      value = string();
    } else if (*at_ == '[' || *at_ == '{') {
      value = up_to(find_close(at_, end_));
    } else {
      const char* end = at_;
      while (end < end_ && *end != ',' && !is_json_space(*end)) ++end;
      value = up_to(end);
    }
    return !value.empty();
  }

  const char *at_, *end_;
};

bool is_list(std::string_view json) { return json.size() > 1 && json[0] == '['; }
bool is_string(std::string_view json) { return json.size() > 1 && json[0] == '"'; }
// For a string or list.
std::string_view inside(std::string_view json) { return json.substr(1, json.size() - 2); }

template <typename To>
void keep(std::int64_t value, To& to) {
  if (std::in_range<To>(value)) to = static_cast<To>(value);
}

// Names of groups, operations and types, interned. Real ones are short and few. Longer ones, and those beyond the limit
// of a file, are unknown here; the arguments contain them anyway.
constexpr std::size_t kMostText = 1024, kMostTexts = 4 << 20;
// Limit of the text about operators' inputs, which is read once per shape.
constexpr std::size_t kMostInputText = 64 << 20;

// The lists of operators' inputs, with an entry for each input. Each text is read once, because most texts are shared
// by several operators.
struct Sizes {
  DimsId dims;
  std::vector<DimsId> of_elements;  // for a list of tensors
  bool has_elements = false;
};
template <typename Entry>
struct InputList {
  bool is_good = true;
  std::vector<Entry> entries;
};
template <typename Entry>
class InputLists {
 public:
  // Returns the list of a text; `read` creates it if it is new. Valid until the next call.
  template <typename Read>
  const InputList<Entry>& find(std::string_view text, Read&& read) {
    if (text.size() > left_bytes_) {
      const StringId known = texts_.find(text);
      return known != 0 ? lists_[known] : other_ = read(text);
    }
    const StringId id = texts_.intern(text);
    if (id < lists_.size()) return lists_[id];
    left_bytes_ -= text.size();
    return lists_.emplace_back(read(text));
  }

 private:
  static constexpr std::size_t kMostKept = 1 << 20;
  std::size_t left_bytes_ = kMostKept;
  Strings texts_;
  std::vector<InputList<Entry>> lists_{{}};  // by the text's id; that of "" is empty
  InputList<Entry> other_;
};

// The members about an operator's inputs, verbatim; "" if missing.
struct InputsJson {
  std::string_view dims, strides, types, values;
};

struct Texts {
  explicit Texts(Catalog& of) : catalog(&of) {}
  // Returns a copy followed by readable bytes. Valid until the next call.
  std::string_view readable(std::string_view text) {
    if (copy.size() < text.size() + Inside::kReadBehind) copy.resize(text.size() + Inside::kReadBehind);
    text.copy(copy.data(), text.size());
    return {copy.data(), text.size()};
  }

  Catalog* catalog;
  std::string copy, scratch;
  std::vector<std::int64_t> numbers;  // of the current list
  InputsJson inputs_json;             // of the current text
  std::size_t left_bytes = kMostTexts;
  std::size_t left_inputs = kMostInputText;
  bool is_exhausted = false;
  InputLists<Sizes> sizes;
  InputLists<StringId> words;
};

// The value of a member: an integer of either kind, or its text.
template <typename Draft>
struct Known {
  std::string_view key;
  void (*integer)(Draft&, std::int64_t) = nullptr;
  void (*text)(Draft&, std::string_view, Texts&) = nullptr;
};

StringId intern_text(std::string_view text, Texts& texts) {
  if (text.size() > std::min(kMostText, texts.left_bytes)) {
    texts.is_exhausted |= text.size() <= kMostText;
    return 0;
  }
  const std::size_t before = texts.catalog->strings.size();
  const StringId id = texts.catalog->strings.intern(text);
  if (texts.catalog->strings.size() != before) texts.left_bytes -= text.size();
  return id;
}

StringId string_of(std::string_view json, Texts& texts) {
  if (!is_string(json) || json.size() > kMostText) return 0;
  return intern_text(unescape_json(inside(json), texts.scratch), texts);
}

// Groups with one name are distinguished by their ranks. For a list that is too long to be kept, its beginning and a
// digest (FNV-1a) are used.
StringId rank_list_of(std::string_view json, Texts& texts) {
  if (json.size() <= kMostText || json[0] != '"') return string_of(json, texts);
  constexpr std::size_t kBeginning = 64;
  const std::string_view beginning =
      json.substr(1, std::min(kBeginning, json.find_first_not_of("[]0123456789, ", 1) - 1));
  return intern_text(fmt::format("{}... digest {:016x}", beginning, trace::fnv1a(json)), texts);
}

void numbers_of(std::string_view json, std::uint32_t (&to)[3]) {
  std::uint32_t read[3];
  const char *at = json.data() + 1, *end = json.data() + json.size();
  for (std::uint32_t& number : read) {
    while (at < end && std::string_view(" \t\r\n,").find(*at) != std::string_view::npos) ++at;
    const auto [behind, error] = std::from_chars(at, end, number);
    if (error != std::errc()) return;
    at = behind;
  }
  std::copy(std::begin(read), std::end(read), std::begin(to));
}

float real_of(std::string_view json) {
  float value = 0;
  std::from_chars(json.data(), json.data() + json.size(), value);
  return value;
}

class InputsReader {
 public:
  explicit InputsReader(Texts& texts) : texts_(texts) {}

  // Returns 0 if there are none, they are inconsistent, or are no lists in PyTorch's format.
  OperatorInputId read(const InputsJson& json) {
    std::vector<OperatorInput> inputs;
    const bool good =
        sizes(json.dims, inputs, &OperatorInput::dims) && sizes(json.strides, inputs, &OperatorInput::strides) &&
        words(json.types, inputs, &OperatorInput::type) && words(json.values, inputs, &OperatorInput::value);
    return good ? intern_inputs(*texts_.catalog, inputs) : OperatorInputId();
  }

 private:
  // Calls f(its entry, input) for each input; the first list that is not empty adds the inputs.
  template <typename Entry, typename F>
  static bool each(const std::vector<Entry>& entries, std::vector<OperatorInput>& inputs, F&& f) {
    if (entries.empty()) return true;
    if (inputs.empty()) inputs.resize(std::min(entries.size(), kMostInputs));
    if (inputs.size() != entries.size()) return false;
    for (std::size_t i = 0; i < entries.size(); ++i) {
      if (!f(entries[i], inputs[i])) return false;
    }
    return true;
  }
  bool sizes(std::string_view text, std::vector<OperatorInput>& inputs, DimsId OperatorInput::*which) {
    const auto& list = texts_.sizes.find(text, [&](std::string_view json) {
      return list_of<Sizes>(json, [&](std::string_view entry, Sizes& to) { return read_sizes(entry, to); });
    });
    return list.is_good && each(list.entries, inputs, [&](const Sizes& entry, OperatorInput& input) {
             if (!entry.has_elements) {
               input.*which = entry.dims;
               return true;
             }
             std::vector<OperatorInput> elements = inputs_of(*texts_.catalog, input.elements);
             const bool good = each(entry.of_elements, elements, [&](DimsId dims, OperatorInput& element) {
               element.*which = dims;
               return true;
             });
             input.elements = intern_inputs(*texts_.catalog, elements);
             return good;
           });
  }
  bool words(std::string_view text, std::vector<OperatorInput>& inputs, StringId OperatorInput::*which) {
    const auto& list = texts_.words.find(text, [&](std::string_view json) {
      return list_of<StringId>(json, [&](std::string_view entry, StringId& to) {
        if (!is_string(entry)) return false;
        to = intern_text(unescape_json(inside(entry), texts_.scratch), texts_);
        return true;
      });
    });
    return list.is_good && each(list.entries, inputs, [&](StringId entry, OperatorInput& input) {
             input.*which = entry;
             return true;
           });
  }

  template <typename Entry, typename F>
  InputList<Entry> list_of(std::string_view json, F&& read) {
    InputList<Entry> list;
    list.is_good = is_list(json);
    if (!list.is_good) return list;
    list.entries.reserve(8);
    Inside entries(inside(json));
    for (std::string_view entry; list.is_good && entries.entry(entry);) {
      list.is_good = list.entries.size() < kMostInputs && read(entry, list.entries.emplace_back());
    }
    return list;
  }
  bool read_sizes(std::string_view json, Sizes& to) {
    if (!is_list(json)) return false;
    Inside entries(inside(json));
    std::string_view tensor;
    to.has_elements = entries.entry(tensor) && is_list(tensor);
    if (!to.has_elements) return read_dims(json, to.dims);
    do {
      if (to.of_elements.size() == kMostInputs || !is_list(tensor) || !read_dims(tensor, to.of_elements.emplace_back()))
        return false;
    } while (entries.entry(tensor));
    return true;
  }
  bool read_dims(std::string_view json, DimsId& to) {
    std::vector<std::int64_t>& sizes = texts_.numbers;
    sizes.clear();
    Inside entries(inside(json));
    for (std::string_view size; entries.entry(size);) {
      const auto [end, error] = std::from_chars(size.data(), size.data() + size.size(), sizes.emplace_back());
      if (error != std::errc() || end != size.data() + size.size() || sizes.size() > kMostDims) return false;
    }
    to = intern_dims(*texts_.catalog, sizes);
    return true;
  }

  Texts& texts_;
};

OperatorInputId read_inputs_json(const InputsJson& json, Texts& texts) {
  const std::size_t bytes = json.dims.size() + json.strides.size() + json.types.size() + json.values.size();
  if (bytes == 0) return 0;
  if (bytes > texts.left_inputs) {
    texts.is_exhausted = true;
    return 0;
  }
  texts.left_inputs -= bytes;
  return InputsReader(texts).read(json);
}

// Finds the first input of record_param_comms after its tensors, if it has any. Before PyTorch 2.5 it is the sequence
// number; since then it is a pair that also distinguishes sends and receives from collectives, which profiles do not
// contain. (RECORD_PARAM_COMMS and RECORD_PARAM_COMMS_DATA in torch/csrc/distributed/c10d/ParamCommsUtils.hpp.) It is
// followed by the process group's number or name and by the rank. Both are written, so a number that precedes neither
// is no sequence number.
std::uint64_t sequence_of_inputs(OperatorInputId id, Texts& texts) {
  const std::vector<OperatorInput> inputs = inputs_of(*texts.catalog, id);
  const auto word = [&](StringId text) { return texts.catalog->strings[text]; };
  const std::size_t at = !inputs.empty() && word(inputs[0].type) == "Scalar" ? 0 : 1;
  constexpr std::size_t kBehind = 5;  // group, rank, name, and both split sizes
  if (inputs.size() <= at + kBehind || word(inputs[at].type) != "Scalar") return kNoOrdinal;
  if (at == 1 && word(inputs[0].type).empty()) return kNoOrdinal;  // the pair: the scalar belongs to the group
  const std::string_view text = word(inputs[at].value);
  std::uint64_t sequence = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), sequence);
  return error == std::errc() && end == text.data() + text.size() ? sequence : kNoOrdinal;
}

// Members of a collective, in operators and in kernels.
template <typename D>
constexpr Known<D> kCollective[] = {
    {"Collective name", nullptr, [](D& d, std::string_view v, Texts& c) { d.op.name = string_of(v, c); }},
    {"dtype", nullptr, [](D& d, std::string_view v, Texts& c) { d.op.data_type = string_of(v, c); }},
    {"Process Group Name", nullptr, [](D& d, std::string_view v, Texts& c) { d.op.group_name = string_of(v, c); }},
    {"Process Group Description", nullptr,
     [](D& d, std::string_view v, Texts& c) { d.op.group_description = string_of(v, c); }},
    {"Process Group Ranks", nullptr, [](D& d, std::string_view v, Texts& c) { d.op.group_ranks = rank_list_of(v, c); }},
    {"In msg nelems", [](D& d, std::int64_t v) { d.op.in_elements = v; }, nullptr},
    {"Out msg nelems", [](D& d, std::int64_t v) { d.op.out_elements = v; }, nullptr},
    {"Group size", [](D& d, std::int64_t v) { d.op.group_size = v; }, nullptr},
    {"Global rank start", [](D& d, std::int64_t v) { d.op.group_first_rank = v; }, nullptr},
    {"Global rank stride", [](D& d, std::int64_t v) { d.op.group_rank_stride = v; }, nullptr},
    {"Src Rank", [](D& d, std::int64_t v) { d.op.source_rank = v; }, nullptr},
    {"Dst Rank", [](D& d, std::int64_t v) { d.op.destination_rank = v; }, nullptr},
    {"Seq", [](D& d, std::int64_t v) { keep(v, d.facts.sequence); }, nullptr},
    {"External id", [](D& d, std::int64_t v) { keep(v, d.facts.external_id); }, nullptr},
    {"external id", [](D& d, std::int64_t v) { keep(v, d.facts.external_id); }, nullptr},
};

struct KernelDraft {
  ProfiledKernelFacts facts;
  Launch launch;
  CollectiveOp op;
  std::uint32_t estimates = 0;

  static const std::vector<Known<KernelDraft>>& known() {
    using D = KernelDraft;
    static const std::vector<Known<D>> known = [] {
      std::vector<Known<D>> all{
          {"grid", nullptr, [](D& d, std::string_view v, Texts&) { numbers_of(v, d.launch.grid); }},
          {"block", nullptr, [](D& d, std::string_view v, Texts&) { numbers_of(v, d.launch.block); }},
          {"cluster", nullptr, [](D& d, std::string_view v, Texts&) { numbers_of(v, d.launch.cluster); }},
          {"registers per thread", [](D& d, std::int64_t v) { keep(v, d.launch.registers_per_thread); }, nullptr},
          {"shared memory", [](D& d, std::int64_t v) { keep(v, d.launch.shared_bytes); }, nullptr},
          {"local memory per thread", [](D& d, std::int64_t v) { keep(v, d.launch.local_bytes_per_thread); }, nullptr},
          {"est. achieved occupancy %", [](D& d, std::int64_t v) { keep(v, d.launch.occupancy_percent); }, nullptr},
          {"blocks per SM",
           [](D& d, std::int64_t v) {
             d.launch.blocks_per_multiprocessor = static_cast<float>(v);
             d.estimates |= 1;
           },
           [](D& d, std::string_view v, Texts&) {
             d.launch.blocks_per_multiprocessor = real_of(v);
             d.estimates |= 1;
           }},
          {"warps per SM",
           [](D& d, std::int64_t v) {
             d.launch.warps_per_multiprocessor = static_cast<float>(v);
             d.estimates |= 2;
           },
           [](D& d, std::string_view v, Texts&) {
             d.launch.warps_per_multiprocessor = real_of(v);
             d.estimates |= 2;
           }},
          {"context", [](D& d, std::int64_t v) { keep(v, d.facts.context); }, nullptr},
          {"graph id", [](D& d, std::int64_t v) { keep(v, d.facts.graph.graph); }, nullptr},
          {"graph node id", [](D& d, std::int64_t v) { keep(v, d.facts.graph.node); }, nullptr},
      };
      all.insert(all.end(), std::begin(kCollective<D>), std::end(kCollective<D>));
      return all;
    }();
    return known;
  }
};

// The location of GPU work other than kernels.
template <typename D>
constexpr Known<D> kWork[] = {
    {"context", [](D& d, std::int64_t v) { keep(v, d.facts.context); }, nullptr},
    {"graph id", [](D& d, std::int64_t v) { keep(v, d.facts.graph.graph); }, nullptr},
    {"graph node id", [](D& d, std::int64_t v) { keep(v, d.facts.graph.node); }, nullptr},
};

struct CopyDraft {
  CopyFacts facts;

  CopyDraft() { facts.flags = kNoFlags; }
  static const std::vector<Known<CopyDraft>>& known() {
    using D = CopyDraft;
    static const std::vector<Known<D>> known = [] {
      std::vector<Known<D>> all{
          {"inContext", [](D& d, std::int64_t v) { keep(v, d.facts.context); }, nullptr},
          {"fromDevice", [](D& d, std::int64_t v) { keep(v, d.facts.from_device); }, nullptr},
          {"toDevice",
           [](D& d, std::int64_t v) {
             keep(v, d.facts.to_device);
             d.facts.between_devices = std::in_range<std::uint32_t>(v);
           },
           nullptr},
          {"fromContext", [](D& d, std::int64_t v) { keep(v, d.facts.from_context); }, nullptr},
          {"toContext", [](D& d, std::int64_t v) { keep(v, d.facts.to_context); }, nullptr},
      };
      all.insert(all.end(), std::begin(kWork<D>), std::end(kWork<D>));
      return all;
    }();
    return known;
  }
};

struct SetDraft {
  SetFacts facts;

  SetDraft() {
    facts.flags = kNoFlags;
    facts.value_is_known = false;
  }
  static const std::vector<Known<SetDraft>>& known() {
    static const std::vector<Known<SetDraft>> known(std::begin(kWork<SetDraft>), std::end(kWork<SetDraft>));
    return known;
  }
};

struct OperatorDraft {
  OperatorFacts facts;
  CollectiveOp op;

  void finish(Texts& texts) {
    facts.inputs = read_inputs_json(std::exchange(texts.inputs_json, {}), texts);
    if (facts.sequence == kNoOrdinal && op.name != 0) facts.sequence = sequence_of_inputs(facts.inputs, texts);
  }

  static const std::vector<Known<OperatorDraft>>& known() {
    using D = OperatorDraft;
    static const std::vector<Known<D>> known = [] {
      const auto has = []<OperatorFacts::Has bit, std::uint64_t OperatorFacts::*field>() {
        return [](D& d, std::int64_t v) {
          if (v >= 0) {
            d.facts.*field = static_cast<std::uint64_t>(v);
            d.facts.has |= bit;
          }
        };
      };
      std::vector<Known<D>> all{
          {"Sequence number", has.operator()<OperatorFacts::kSequenceNumber, &OperatorFacts::sequence_number>(),
           nullptr},
          {"Fwd thread id", has.operator()<OperatorFacts::kForwardThread, &OperatorFacts::forward_thread>(), nullptr},
          {"Record function id", has.operator()<OperatorFacts::kRecordFunction, &OperatorFacts::record_function>(),
           nullptr},
          {"Module Hierarchy", nullptr, [](D& d, std::string_view v, Texts& c) { d.facts.module = string_of(v, c); }},
          {"Input Dims", nullptr, [](D&, std::string_view v, Texts& c) { c.inputs_json.dims = v; }},
          {"Input dims", nullptr, [](D&, std::string_view v, Texts& c) { c.inputs_json.dims = v; }},
          {"Input Strides", nullptr, [](D&, std::string_view v, Texts& c) { c.inputs_json.strides = v; }},
          {"Input type", nullptr, [](D&, std::string_view v, Texts& c) { c.inputs_json.types = v; }},
          {"Concrete Inputs", nullptr, [](D&, std::string_view v, Texts& c) { c.inputs_json.values = v; }},
      };
      all.insert(all.end(), std::begin(kCollective<D>), std::end(kCollective<D>));
      return all;
    }();
    return known;
  }
};

struct FrameDraft {
  FrameFacts facts;

  static const std::vector<Known<FrameDraft>>& known() {
    using D = FrameDraft;
    static const std::vector<Known<D>> known{
        {"Python id", [](D& d, std::int64_t v) { d.facts.id = v; }, nullptr},
        {"Python parent id", [](D& d, std::int64_t v) { d.facts.parent_id = v; }, nullptr},
        {"Python module id", [](D& d, std::int64_t v) { d.facts.module_id = v; }, nullptr},
    };
    return known;
  }
};

struct CallDraft {
  CallFacts facts;
  bool has_cbid = false;

  static const std::vector<Known<CallDraft>>& known() {
    using D = CallDraft;
    static const std::vector<Known<D>> known{
        {"cbid",
         [](D& d, std::int64_t v) {
           d.has_cbid = std::in_range<std::uint32_t>(v);
           keep(v, d.facts.cbid);
         },
         nullptr},
    };
    return known;
  }
};

struct SyncDraft {
  SyncFacts facts;
  std::int64_t call = -1;  // -1 if unknown

  SyncDraft() { facts.producer_stream = kNoNumber; }
  static const std::vector<Known<SyncDraft>>& known() {
    using D = SyncDraft;
    static const std::vector<Known<D>> known{
        {"wait_on_cuda_event_record_corr_id", [](D& d, std::int64_t v) { d.call = v; }, nullptr},
        {"wait_on_stream", [](D& d, std::int64_t v) { keep(v, d.facts.producer_stream); }, nullptr},
        {"wait_on_cuda_event_id", [](D& d, std::int64_t v) { keep(v, d.facts.event); }, nullptr},
    };
    return known;
  }
};

struct AllocatorDraft {
  AllocatorFacts facts;
  bool has_type = false;

  static const std::vector<Known<AllocatorDraft>>& known() {
    using D = AllocatorDraft;
    static const std::vector<Known<D>> known{
        {"Device Type",
         [](D& d, std::int64_t v) {
           d.has_type = std::in_range<std::int32_t>(v);
           keep(v, d.facts.device_type);
         },
         nullptr},
        {"Device Id",
         [](D& d, std::int64_t v) {
           d.facts.device = v;
           d.facts.has |= AllocatorFacts::kDeviceId;
         },
         nullptr},
        {"Total Allocated",
         [](D& d, std::int64_t v) {
           d.facts.allocated_bytes = v;
           d.facts.has |= AllocatorFacts::kAllocated;
         },
         nullptr},
        {"Total Reserved",
         [](D& d, std::int64_t v) {
           d.facts.reserved_bytes = v;
           d.facts.has |= AllocatorFacts::kReserved;
         },
         nullptr},
        {"Addr",
         [](D& d, std::int64_t v) {
           d.facts.address = static_cast<std::uint64_t>(v);
           d.facts.has |= AllocatorFacts::kAddress;
         },
         nullptr},
        {"Bytes",
         [](D& d, std::int64_t v) {
           d.facts.bytes = v;
           d.facts.has |= AllocatorFacts::kBytes;
         },
         nullptr},
    };
    return known;
  }
};

// The constant part of a shape's facts, and the integers with the rest. For a text without a shape: all facts.
template <typename Draft>
struct Plan {
  struct Step {
    void (*set)(Draft&, std::int64_t);
    std::size_t integer;
  };
  Draft constant;
  std::vector<Step> steps;

  void make(std::string_view text, Texts& texts) {
    Inside members(texts.readable(text));
    std::size_t holes = 0;
    for (std::string_view key, value; members.member(key, value);) {
      const bool is_hole = value.size() == 1 && value[0] == kHole;
      const Known<Draft>* const known = find(key);
      std::int64_t integer = 0;
      if (known == nullptr) {
      } else if (is_hole) {
        if (known->integer != nullptr) steps.push_back({known->integer, holes});
      } else if (known->integer != nullptr && read_plain_integer(value, integer)) {
        known->integer(constant, integer);
      } else if (known->text != nullptr) {
        known->text(constant, value, texts);
      }
      holes += is_hole;
    }
    if constexpr (requires { constant.finish(texts); }) constant.finish(texts);
  }
  static const Known<Draft>* find(std::string_view key) {
    for (const Known<Draft>& known : Draft::known()) {
      if (known.key == key) return &known;
    }
    return nullptr;
  }
};

template <typename Draft>
class Plans {
 public:
  // Valid until the next call.
  Draft& draft(std::string_view text, const Shape* shape, const std::int64_t* integers, Texts& texts) {
    if (shape == nullptr) {
      Plan<Draft> plan;
      plan.make(text, texts);
      return draft_ = plan.constant;
    }
    if (shape->id >= plans_.size()) plans_.resize(shape->id + std::size_t{1});
    std::unique_ptr<Plan<Draft>>& plan = plans_[shape->id];
    if (plan == nullptr) {
      plan = std::make_unique<Plan<Draft>>();
      plan->make(text, texts);
    }
    draft_ = plan->constant;
    for (const auto& step : plan->steps) step.set(draft_, integers[step.integer]);
    return draft_;
  }

 private:
  std::vector<std::unique_ptr<Plan<Draft>>> plans_;  // by ShapeId
  Draft draft_;
};

// CUpti_ActivityMemcpyKind and CUpti_ActivityMemoryKind; 0 if unknown.
struct CopyKinds {
  std::uint8_t direction = 0, from_memory = 0, to_memory = 0;
};

// From the name; unknown for other names.
CopyKinds copy_kinds(const std::string& name) {
  static const auto known = [] {
    std::unordered_map<std::string, CopyKinds> known;
    known = {{"MEMORY_COPY_HOST_TO_DEVICE", {1, 0, 0}},
             {"MEMORY_COPY_DEVICE_TO_HOST", {2, 0, 0}},
             {"MEMORY_COPY_DEVICE_TO_DEVICE", {8, 0, 0}}};  // ROCm's
    for (std::uint8_t direction = 0; direction <= 10; ++direction) {
      for (std::uint8_t from = 0; from <= 7; ++from) {
        for (std::uint8_t to = 0; to <= 7; ++to) known[copy_name(direction, from, to)] = {direction, from, to};
      }
    }
    return known;
  }();
  const auto found = known.find(name);
  return found == known.end() ? CopyKinds() : found->second;
}

std::uint8_t set_memory(std::string_view name) {
  for (std::uint8_t memory = 1; memory <= 7; ++memory) {
    if (name == set_name(memory)) return memory;
  }
  return 0;
}

constexpr std::size_t kMostSequences = 1 << 20;  // per file; 32 MB

class FactsOfShapes : public EventFacts {
 public:
  explicit FactsOfShapes(Catalog& catalog) : texts_(catalog) {}
  void go_on_in(Catalog& catalog) override {
    texts_.catalog = &catalog;
    texts_.left_bytes = kMostTexts;
    texts_.left_inputs = kMostInputText;
    sequences_.clear();
  }
  bool is_exhausted() const override { return texts_.is_exhausted; }
  Facts find(const Event& event, std::string_view text, const Shape* shape, const std::int64_t* integers) override;

 private:
  Facts kernel(std::string_view text, const Shape* shape, const std::int64_t* integers) {
    KernelDraft& draft = kernels_.draft(text, shape, integers, texts_);
    ProfiledKernelFacts& facts = draft.facts;
    facts.launch = launch_of(draft, shape);
    facts.collective_op = op_of(draft.op);
    if (facts.sequence == kNoOrdinal && facts.collective_op != 0) {
      if (const auto told = sequences_.find(facts.external_id); told != sequences_.end()) facts.sequence = told->second;
    }
    return facts;
  }
  Facts op(std::string_view text, const Shape* shape, const std::int64_t* integers) {
    OperatorDraft& draft = operators_.draft(text, shape, integers, texts_);
    OperatorFacts& facts = draft.facts;
    facts.collective_op = op_of(draft.op);
    if (facts.collective_op != 0 && facts.sequence != kNoOrdinal && facts.external_id != 0 &&
        sequences_.size() < kMostSequences) {
      sequences_[facts.external_id] = facts.sequence;
    }
    const bool says = facts.has != 0 || facts.external_id != 0 || facts.collective_op != 0 ||
                      facts.sequence != kNoOrdinal || facts.inputs != 0 || facts.module != 0;
    return says ? Facts(facts) : Facts();
  }
  Facts copy(StringId name, std::string_view text, const Shape* shape, const std::int64_t* integers) {
    CopyFacts& facts = copies_.draft(text, shape, integers, texts_).facts;
    const auto [kinds, is_new] = copy_kinds_.try_emplace(name);
    if (is_new) kinds->second = copy_kinds(std::string(texts_.catalog->strings[name]));
    facts.direction = kinds->second.direction;
    facts.from_memory = kinds->second.from_memory;
    facts.to_memory = kinds->second.to_memory;
    return facts;
  }
  Facts set(StringId name, std::string_view text, const Shape* shape, const std::int64_t* integers) {
    SetFacts& facts = sets_.draft(text, shape, integers, texts_).facts;
    facts.memory = set_memory(texts_.catalog->strings[name]);
    return facts;
  }
  Facts frame(std::string_view text, const Shape* shape, const std::int64_t* integers) {
    const FrameFacts& facts = frames_.draft(text, shape, integers, texts_).facts;
    return facts.id != FrameFacts::kNone ? Facts(facts) : Facts();
  }
  Facts call(std::string_view text, const Shape* shape, const std::int64_t* integers) {
    const CallDraft& draft = calls_.draft(text, shape, integers, texts_);
    return draft.has_cbid ? Facts(draft.facts) : Facts();
  }
  // What it waits for, if known.
  Facts wait(std::string_view text, const Shape* shape, const std::int64_t* integers) {
    SyncDraft& draft = waits_.draft(text, shape, integers, texts_);
    if (draft.call <= 0 || draft.call > std::numeric_limits<std::uint32_t>::max()) return {};
    draft.facts.producer_is_known = true;
    draft.facts.producer_correlation = static_cast<std::uint32_t>(draft.call);
    return draft.facts;
  }
  Facts allocation(bool is_failure, std::string_view text, const Shape* shape, const std::int64_t* integers) {
    AllocatorDraft& draft = allocations_.draft(text, shape, integers, texts_);
    if (is_failure) draft.facts.has |= AllocatorFacts::kFailure;
    return draft.has_type ? Facts(draft.facts) : Facts();
  }

  Facts counter(std::string_view text, const std::int64_t* integers) {
    Inside members(texts_.readable(text));
    std::string_view key, value, more;
    if (!members.member(key, value) || members.member(more, more)) return {};
    if (value.size() == 1 && value[0] == kHole) {
      counted_.value = static_cast<double>(integers[0]);
    } else {
      const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), counted_.value);
      if (error != std::errc() || end != value.data() + value.size()) return {};
    }
    counted_.series = intern_text(unescape_json(key, texts_.scratch), texts_);
    return counted_;
  }

  // Usually the entry of the last kernel with this shape.
  LaunchId launch_of(const KernelDraft& draft, const Shape* shape) {
    Launch launch = draft.launch;
    if (launch.grid[0] == 0 || launch.block[0] == 0) return 0;
    launch.estimated = draft.estimates == 3;
    if (!launch.estimated) launch.blocks_per_multiprocessor = launch.warps_per_multiprocessor = 0;
    KnownLaunch& known = known_launches_[shape == nullptr ? 0 : shape->id % known_launches_.size()];
    if (known.id == 0 || !(launch == known.launch)) known = {launch, texts_.catalog->launches.intern(launch)};
    return known.id;
  }
  CollectiveOpId op_of(const CollectiveOp& op) {
    return op.name == 0 && op.in_elements < 0 && op.group_name == 0 ? CollectiveOpId()
                                                                    : texts_.catalog->collective_ops.intern(op);
  }

  Texts texts_;
  Plans<KernelDraft> kernels_;
  Plans<CopyDraft> copies_;
  Plans<SetDraft> sets_;
  Plans<OperatorDraft> operators_;
  Plans<FrameDraft> frames_;
  Plans<CallDraft> calls_;
  Plans<SyncDraft> waits_;
  Plans<AllocatorDraft> allocations_;
  std::unordered_map<StringId, CopyKinds> copy_kinds_;
  std::unordered_map<std::uint64_t, std::uint64_t> sequences_;  // of collectives, by the operator's external id
  CounterFacts counted_;
  struct KnownLaunch {
    Launch launch;
    LaunchId id = 0;
  };
  std::array<KnownLaunch, 256> known_launches_;
};

Facts FactsOfShapes::find(const Event& event, std::string_view text, const Shape* shape, const std::int64_t* integers) {
  if (text.empty()) return {};
  switch (event.kind) {
    case Kind::kernel:
      return kernel(text, shape, integers);
    case Kind::memcpy:
      return copy(event.name, text, shape, integers);
    case Kind::memset:
      return set(event.name, text, shape, integers);
    case Kind::cpu_op:
    case Kind::user_annotation:
      return op(text, shape, integers);
    case Kind::python_function:
      return frame(text, shape, integers);
    case Kind::runtime:
    case Kind::driver:
      return call(text, shape, integers);
    case Kind::sync:
      return wait(text, shape, integers);
    case Kind::counter:
      return counter(text, integers);
    case Kind::instant: {
      const std::string_view name = texts_.catalog->strings[event.name];
      if (name == "[memory]") return allocation(false, text, shape, integers);
      return name == "[OutOfMemory]" ? allocation(true, text, shape, integers) : Facts();
    }
    default:
      return {};
  }
}

}  // namespace

std::unique_ptr<EventFacts> make_facts(Catalog& catalog) { return std::make_unique<FactsOfShapes>(catalog); }

}  // namespace cli::kineto
