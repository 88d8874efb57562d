// Whether the tests run under a sanitizer, which uses extra memory and ends failed processes
// itself.
#pragma once

namespace slimgraph::test {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

}  // namespace slimgraph::test
