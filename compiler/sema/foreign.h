#pragma once
// What to write instead of a name that is not known.
#include <span>
#include <string>
#include <string_view>

namespace tilec::sema {

/// The word of this language for one of another kernel language, the library that has the function, the nearest of the
/// names there are, or a few of those.
std::string mendName(std::string_view name, std::span<const std::string> candidates);

} // namespace tilec::sema
