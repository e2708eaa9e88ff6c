#include <string>
#include <vector>

#include "agent/nvtx/nvtx_names.h"
#include "tests/unit/catch.h"

using namespace agent;

namespace {

std::string narrowed(const wchar_t* text) {
  char buffer[kConverted];
  return std::string(narrow(text, buffer));
}

std::string text_of_handle(nvtxStringHandle_t handle) { return std::string(registered_text(handle)); }

nvtxDomainHandle_t domain_handle(const void* pointer) {
  return reinterpret_cast<nvtxDomainHandle_t>(const_cast<void*>(pointer));
}

}  // namespace

TEST_CASE("wide text becomes UTF-8, what is no code point a replacement") {
  CHECK(narrowed(L"plain") == "plain");
  CHECK(narrowed(L"\u00e4\u20ac\U0001f600") == "\u00e4\u20ac\U0001f600");
  const wchar_t broken[] = {0xd800, 0xdfff, 0x110000, static_cast<wchar_t>(-1), 0};
  CHECK(narrowed(broken) == "\ufffd\ufffd\ufffd\ufffd");
  CHECK(narrowed(nullptr).empty());
  CHECK(narrowed(std::wstring(10'000, L'\u20ac').c_str()).size() <= kConverted);
}

TEST_CASE("a domain is known by its name, and only by our handle") {
  const Domain* domain = make_domain("mine");
  CHECK(make_domain("mine") == domain);
  CHECK(domain_of(domain_handle(domain)) == domain);
  CHECK(domain_of(nullptr) == nullptr);
  CHECK(domain_of(domain_handle(reinterpret_cast<const char*>(domain) + 1)) == nullptr);
  CHECK(domain_of(domain_handle(&domain)) == nullptr);
  CHECK(domain_of(domain_handle(domain + kMostDomains)) == nullptr);
  CHECK(make_domain("NCCL")->is_nccl);
}

TEST_CASE("domains without end share one in the end") {
  for (std::size_t i = 0; i < 2 * kMostDomains; ++i) REQUIRE(make_domain(std::to_string(i)) != nullptr);
  CHECK(make_domain("yet another") == make_domain("and another"));
  CHECK(make_domain("0")->name() == "0");
}

TEST_CASE("registered strings: garbage is no name") {
  CHECK(text_of_handle(make_registered_string("one")) == "one");
  CHECK(text_of_handle(make_registered_string("")).empty());
  for (const std::uint64_t garbage :
       {std::uint64_t{0}, std::uint64_t{1} << 40, std::uint64_t{1} << 48, ~std::uint64_t{0}}) {
    CHECK(text_of_handle(reinterpret_cast<nvtxStringHandle_t>(garbage)).empty());
  }
}

TEST_CASE("registered strings without end: the first are kept for good, the others share a name that says so") {
  const auto first = make_registered_string("the first");
  std::vector<nvtxStringHandle_t> handles;
  for (std::size_t i = 0; i < kMostStrings + 100; ++i) {
    handles.push_back(make_registered_string("string " + std::to_string(i)));
  }
  CHECK(text_of_handle(first) == "the first");
  CHECK(text_of_handle(handles[5]) == "string 5");
  CHECK(text_of_handle(handles[kMostStrings - 1000]) == "string " + std::to_string(kMostStrings - 1000));
  CHECK(text_of_handle(handles.back()) == "(string limit reached)");
  CHECK(handles.back() == handles[handles.size() - 2]);
}
