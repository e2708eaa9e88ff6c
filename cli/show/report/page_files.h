// The page's own style and script: the files of page/, joined when tracetool is built (embed_page.py), and by what the page's content
// security policy knows them.
#pragma once
#include <string_view>

namespace cli {

extern const std::string_view kPageStyle, kPageScript;
extern const std::string_view kPageStyleHash, kPageScriptHash;  // 'sha256-...', with its quotes

}  // namespace cli
