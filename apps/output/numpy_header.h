// The beginning of a file in NumPy's format, version 1.0: an array of records.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

#include "slimgraph/base/result.h"

namespace slimgraph {

// `fields` are those of a record, such as "('id', '<u8')". The records follow, in little endian.
inline std::string NumpyHeader(std::string_view fields, std::uint64_t records) {
  static_assert(std::endian::native == std::endian::little);
  constexpr std::size_t kAlignment = 64;
  constexpr std::size_t kBeforeHeader = 10;
  std::string header =
      fmt::format("{{'descr': [{}], 'fortran_order': False, 'shape': ({},), }}", fields, records);
  while ((kBeforeHeader + header.size() + 1) % kAlignment != 0) header += ' ';
  header += '\n';
  std::string text("\x93NUMPY\x01\x00", 8);
  text += static_cast<char>(header.size() & 0xff);
  text += static_cast<char>(header.size() >> 8);
  return text + header;
}

}  // namespace slimgraph
