// Functions whose addresses the tests of the symbolizer look up: overloads, templates, inlined ones and static ones.
#include <cstddef>
#include <string>
#include <vector>

namespace symbolized {

volatile int s_sum = 0;

inline __attribute__((always_inline)) void add(int value) { s_sum = s_sum + value; }
inline __attribute__((always_inline)) void add_twice(int value) {
  add(value);
  add(value + 1);
}

__attribute__((noinline)) int overloaded(int value) {
  add_twice(value);
  return s_sum;
}
__attribute__((noinline)) int overloaded(const std::string& value) {
  add(static_cast<int>(value.size()));
  return s_sum;
}

template <typename T>
struct Holder {
  std::vector<T> items;
  __attribute__((noinline)) std::size_t keep(const T& item) {
    items.push_back(item);
    add_twice(static_cast<int>(items.size()));
    return items.size();
  }
};

static __attribute__((noinline)) int hidden(int value) {
  add_twice(value);
  s_sum = s_sum * 2;
  return s_sum;
}

}  // namespace symbolized

extern "C" __attribute__((visibility("default"))) int symbolized_entry(int value) {
  using namespace symbolized;
  Holder<std::string> strings;
  Holder<double> numbers;
  strings.keep(std::to_string(value));
  numbers.keep(value);
  return overloaded(value) + overloaded(strings.items[0]) + hidden(value);
}
