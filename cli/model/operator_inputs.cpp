#include "cli/model/operator_inputs.h"

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

template <typename T>
InternedId<T> intern_list(Interned<T>& interned, std::vector<T>& list, std::size_t most) {
  InternedId<T> last;
  if (list.size() > most) return last;
  std::uint32_t count = 0;
  for (T& value : list) {
    value.before = last, value.count = ++count;
    last = interned.intern(value);
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
  std::vector<Dims> list;
  for (const std::int64_t size : dims) list.push_back({0, size, 0});
  return intern_list(catalog.dims, list, kMostDims);
}

OperatorInputId intern_inputs(Catalog& catalog, std::vector<OperatorInput> inputs) {
  return intern_list(catalog.operator_inputs, inputs, kMostInputs);
}

}  // namespace cli
