// A word as a POSIX shell takes it.
#pragma once
#include <string>
#include <string_view>

namespace cli {

// As it is, or in single quotes if it contains what a shell reads otherwise. Text that visible_text would change is in $'...' with those
// bytes in octal, which bash, zsh and POSIX.1-2024 read; an older sh takes it for another word, and runs none of it.
std::string shell_word(std::string_view word);

}  // namespace cli
