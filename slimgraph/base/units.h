// Parsing and formatting of sizes, times and counts.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "slimgraph/base/result.h"

namespace slimgraph {

// "64KiB", "1.5G", "4096": K, M, G and T are powers of 1024, with or without "iB" or "B".
Result<std::uint64_t> ParseBytes(std::string_view text);

// "10m", "1.5h", "90s", "90", "100ms", "50us": seconds.
Result<double> ParseSeconds(std::string_view text);

// 1536 -> "1.5 KiB"
std::string FormatBytes(std::uint64_t bytes);

// 1234567 -> "1,234,567"
std::string FormatCount(std::uint64_t count);
// "1 node", "1,200 nodes"
std::string FormatCounted(std::uint64_t count, std::string_view what);

// 0.00123 -> "1.2 ms"
std::string FormatSeconds(double seconds);

}  // namespace slimgraph
