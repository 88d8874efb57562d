// Decodes lists, with AVX2 if the processor has it. list_code.h describes the format.
#pragma once

#include <cstddef>
#include <span>

#include "slimgraph/base/types.h"

namespace slimgraph::internal {

// A coded list: the positions of its low bits and of its high bits.
struct CodedList {
  const unsigned char* low;
  unsigned low_bits;  // per vertex
  const unsigned char* high;
  std::size_t high_bytes;
};

// Decodes one vertex at a time. Returns false if the high bits contain fewer vertices.
bool DecodeOneByOne(const CodedList& coded, std::span<VertexId> list);

// Decodes eight vertices at a time. Returns false, without decoding `list`, if the processor has no
// AVX2, the list has too many low bits, or the high bits contain fewer vertices.
bool DecodeByVectors(const CodedList& coded, std::span<VertexId> list);

}  // namespace slimgraph::internal
