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
  DimsId last;
  if (dims.size() > kMostDims) return last;
  std::uint32_t count = 0;
  for (const std::int64_t size : dims) last = catalog.dims.intern({last, size, ++count});
  return last;
}

OperatorInputId intern_inputs(Catalog& catalog, std::vector<OperatorInput> inputs) {
  OperatorInputId last;
  if (inputs.size() > kMostInputs) return last;
  std::uint32_t count = 0;
  for (OperatorInput& input : inputs) {
    input.before = last;
    input.count = ++count;
    last = catalog.operator_inputs.intern(input);
  }
  return last;
}

}  // namespace cli
