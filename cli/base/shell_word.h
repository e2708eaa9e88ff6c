// Quoting for POSIX shells.
#pragma once
#include <string>
#include <string_view>

namespace cli {

// Returns `word` unchanged if it is plain, else in single quotes. A word that visible_text would change is written as $'...' with octal
// escapes, which bash, zsh and POSIX.1-2024 understand. An older sh reads another word, but still runs none of it.
std::string shell_word(std::string_view word);

}  // namespace cli
