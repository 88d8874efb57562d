// Coding for this processor: see list_code.h for the format.
#pragma once

#include <cstddef>
#include <span>

#include "slimgraph/base/types.h"

namespace slimgraph::internal {

// Where a list's low bits go, how many of each vertex, and where its high bits go; all zeroed.
struct CodeInto {
  unsigned char* low;
  unsigned low_bits;
  std::size_t low_bytes;
  unsigned char* high;
  std::size_t high_bytes;
};

// Codes a list that ascends. By vectors where the processor has them, else as EncodeOneByOne does.
void Encode(const CodeInto& into, std::span<const VertexId> list);

// The vertices from the i-th, a multiple of 8, to the end-th, a multiple too or all; those before
// are there.
void EncodeOneByOne(const CodeInto& into, std::span<const VertexId> list, std::size_t i,
                    std::size_t end);

bool Ascends(std::span<const VertexId> list);

}  // namespace slimgraph::internal
