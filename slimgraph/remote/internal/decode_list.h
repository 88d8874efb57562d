// Decoding for this processor: see list_code.h for the format.
#pragma once

#include <cstddef>
#include <span>

#include "slimgraph/base/types.h"

namespace slimgraph::internal {

// A coded list: where its low bits lie, how many of each vertex, and where its high bits lie.
struct CodedList {
  const unsigned char* low;
  unsigned low_bits;
  const unsigned char* high;
};

// From the i-th vertex on; `high_bit` is a multiple of 8, before which are those of all others.
void DecodeRest(const CodedList& coded, std::span<VertexId> list, std::size_t i,
                std::size_t high_bit);

// Eight at a time; false, and nothing done, where the processor or the list is not fit for it.
bool DecodeByVectors(const CodedList& coded, std::span<VertexId> list);

}  // namespace slimgraph::internal
