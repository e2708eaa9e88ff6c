#include "cli/trace/operator_inputs.h"

namespace cli {
namespace {

template <typename T>
std::vector<T> list_of(const Interned<T>& interned, InternedId<T> last, std::size_t most) {
  std::vector<T> list(interned[last].count > most ? 0 : interned[last].count);
  for (auto at = list.rbegin(); at != list.rend() && last != 0; ++at) {
    *at = interned[last];
    last = at->before;
  }
  return list;
}

// Interns a list of entries made by `value`. Sets their `before` and `count`.
template <typename T, typename Entry, typename Value>
InternedId<T> intern_list(Interned<T>& interned, const std::vector<Entry>& entries, std::size_t most, Value&& value) {
  InternedId<T> last;
  if (entries.size() > most) return last;
  std::uint32_t count = 0;
  for (const Entry& entry : entries) {
    T next = value(entry);
    next.before = last, next.count = ++count;
    last = interned.intern(next);
  }
  return last;
}

}  // namespace

std::vector<std::int64_t> dims_of(const Catalog& catalog, DimsId last) {
  std::vector<std::int64_t> dims;
  for (const Dims& d : list_of(catalog.dims, last, kMostDims)) dims.push_back(d.last);
  return dims;
}

std::vector<OperatorInput> inputs_of(const Catalog& catalog, OperatorInputId last) {
  return list_of(catalog.operator_inputs, last, kMostInputs);
}

DimsId intern_dims(Catalog& catalog, const std::vector<std::int64_t>& dims) {
  return intern_list(catalog.dims, dims, kMostDims, [](std::int64_t size) { return Dims{0, size, 0}; });
}

OperatorInputId intern_inputs(Catalog& catalog, const std::vector<OperatorInput>& inputs) {
  return intern_list(catalog.operator_inputs, inputs, kMostInputs, [](const OperatorInput& input) { return input; });
}

}  // namespace cli
