// Looks for known forms ahead of the reader of a plain file: other threads read its blocks too, match them with a copy of
// the forms, and leave what they found by its offset. The text itself is not handed over: to copy it from one core to
// another takes as long as to match it. Which forms a copy has, and how far the others came, decides how much is found,
// never what it means.
#pragma once
#include <array>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "cli/formats/kineto/form_tree.h"

namespace cli {

struct ReadingThreads {
  std::size_t count = 1;  // with the one that reads
  std::size_t block_bytes = 256 << 10;
};

class FormsAhead {
 public:
  FormsAhead() = default;
  ~FormsAhead();
  FormsAhead(const FormsAhead&) = delete;
  FormsAhead& operator=(const FormsAhead&) = delete;

  // `file` is open until this is gone. No thread is started before the reader is some blocks into it.
  void begin(int file, ReadingThreads threads) { file_ = file; wanted_ = threads; }

  // What others found at `offset`, which only grows. Shows them `known` from time to time.
  struct Match {
    std::size_t size = 0;  // 0: nothing, or nobody has looked
    std::uint32_t form = 0;
    const std::int64_t* numbers = nullptr;  // until the next call
  };
  Match at(std::uint64_t offset, const FormTree& known);

 private:
  struct Element {
    std::uint64_t offset;
    std::uint32_t size, form, numbers;  // numbers: the index of its first
  };
  struct Block {
    enum class State : unsigned char { empty, begun, done };
    std::uint64_t number = 0;
    State state = State::empty;
    std::vector<Element> elements;  // that begin in it, by offset
    std::vector<std::int64_t> numbers;
  };
  using Lock = std::unique_lock<std::mutex>;
  static constexpr std::size_t kMostAhead = 16;  // blocks

  void enter_block(std::uint64_t number);
  void show(const FormTree& known);
  void start_threads();
  void loop();
  Block* take_block();
  bool look(Block& block, std::vector<char>& text, const FormTree& forms) const;

  int file_ = -1;  // -1: one thread does all
  ReadingThreads wanted_;
  std::uint64_t until_ = 0;        // the end of the block that the reader is in,
  const Block* found_ = nullptr;   // which is this; null: nobody has looked
  std::size_t next_element_ = 0;
  std::size_t shown_bytes_ = 0;
  std::uint64_t shown_at_ = 0;

  std::mutex mutex_;  // of the rest
  std::condition_variable changed_;
  std::shared_ptr<const FormTree> shown_;
  std::array<Block, kMostAhead> blocks_;       // by number, modulo their count
  std::uint64_t current_ = 0, next_block_ = 0;  // the reader's, and the others'
  bool stop_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace cli
