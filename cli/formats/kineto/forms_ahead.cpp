#include "cli/formats/kineto/forms_ahead.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <system_error>

#include "cli/base/files.h"
#include "cli/formats/json/byte_source.h"

namespace cli {
namespace {

constexpr std::size_t kOverlap = 4 << 10;  // most events that begin in a block end within this distance after it
constexpr std::size_t kMostThreads = 4;  // more would wait for the reader

}  // namespace

FormsAhead::~FormsAhead() {
  {
    const Lock lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

FormsAhead::Match FormsAhead::at(std::uint64_t offset, const FormTree& known) {
  if (file_ < 0 || wanted_.count <= 1) return {};
  if (offset >= until_) {
    enter_block(offset / wanted_.block_bytes);
    // A new copy is made only after as many bytes were read as it has.
    if (known.held_bytes() != shown_bytes_ && offset - shown_at_ >= known.held_bytes()) {
      show(known);
      shown_at_ = offset;
    }
  }
  if (found_ == nullptr) return {};
  const std::vector<Element>& elements = found_->elements;
  while (next_element_ < elements.size() && elements[next_element_].offset < offset) ++next_element_;
  if (next_element_ == elements.size() || elements[next_element_].offset != offset) return {};
  const Element& element = elements[next_element_];
  return {element.size, element.form, found_->numbers.data() + element.numbers};
}

void FormsAhead::enter_block(std::uint64_t number) {
  until_ = (number + 1) * wanted_.block_bytes;
  next_element_ = 0;
  Lock lock(mutex_);
  current_ = number;
  changed_.notify_all();
  const Block& block = blocks_[number % kMostAhead];
  const auto is_here = [&](Block::State state) { return block.number == number && block.state == state; };
  while (is_here(Block::State::begun)) changed_.wait(lock);
  found_ = is_here(Block::State::done) ? &block : nullptr;
}

void FormsAhead::show(const FormTree& known) {
  auto copy = std::make_shared<const FormTree>(known);
  shown_bytes_ = known.held_bytes();
  {
    const Lock lock(mutex_);
    shown_ = std::move(copy);
  }
  if (threads_.empty()) start_threads();
}

// If the system creates no more threads, the existing ones do the work.
void FormsAhead::start_threads() {
  try {
    while (threads_.size() + 1 < std::min(wanted_.count, kMostThreads)) threads_.emplace_back([this] { loop(); });
  } catch (const std::system_error&) {
  }
}

void FormsAhead::loop() {
  std::vector<char> text;
  for (Lock lock(mutex_); !stop_;) {
    Block* const block = take_block();
    if (block == nullptr) {
      changed_.wait(lock);
      continue;
    }
    const std::shared_ptr<const FormTree> forms = shown_;
    lock.unlock();
    bool goes_on = false;
    try {
      text.resize(wanted_.block_bytes + kOverlap + Window::kPadding);
      goes_on = look(*block, text, *forms);
    } catch (const std::bad_alloc&) {  // matches found so far are valid
    }
    lock.lock();
    block->state = Block::State::done;
    changed_.notify_all();
    if (!goes_on) return;
  }
}

// Returns the first block that no thread has taken, except the reader's next one, which would be too late; null if
// there is none.
FormsAhead::Block* FormsAhead::take_block() {
  next_block_ = std::max(next_block_, current_ + 2);
  Block& block = blocks_[next_block_ % kMostAhead];
  if (next_block_ >= current_ + kMostAhead || block.state == Block::State::begun) return nullptr;
  block.number = next_block_++;
  block.state = Block::State::begun;
  return &block;
}

// Objects within events, and the rest of an event that began in the previous block, match nothing. Returns false if the
// file ends here or cannot be read, which the reader will notice, too.
bool FormsAhead::look(Block& block, std::vector<char>& text, const FormTree& forms) const {
  block.elements.clear();
  const std::uint64_t offset = block.number * wanted_.block_bytes;
  const std::size_t size = read_at(file_, text.data(), text.size() - Window::kPadding, offset);
  std::memset(text.data() + size, 0, Window::kPadding);
  const char *const begin = text.data(), *const end = begin + size;
  const char* const block_end = begin + std::min(size, wanted_.block_bytes);
  std::size_t numbers = 0;
  for (const char* at = begin; at < block_end;) {
    at = static_cast<const char*>(std::memchr(at, '{', static_cast<std::size_t>(block_end - at)));
    if (at == nullptr) break;
    if (block.numbers.size() < numbers + FormTree::kMostNumbers) block.numbers.resize(2 * numbers + FormTree::kMostNumbers);
    const FormTree::Match match = forms.match(at, end, block.numbers.data() + numbers);
    if (match.size == 0) {
      ++at;
      continue;
    }
    block.elements.push_back({offset + static_cast<std::uint64_t>(at - begin), static_cast<std::uint32_t>(match.size), match.form,
                              static_cast<std::uint32_t>(numbers)});
    numbers += match.numbers;
    at += match.size;
  }
  return size >= wanted_.block_bytes;
}

}  // namespace cli
