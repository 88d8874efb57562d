// Encodes lists, with AVX2 if the processor has it. list_code.h describes the format.
#pragma once

#include <cstddef>
#include <span>

#include "slimgraph/base/types.h"

namespace slimgraph::internal {

// Where a list's low bits and high bits go. The memory must be zeroed.
struct CodeInto {
  unsigned char* low;
  unsigned low_bits;  // per vertex
  std::size_t low_bytes;
  unsigned char* high;
  std::size_t high_bytes;
};

// Encodes an ascending list.
void Encode(const CodeInto& into, std::span<const VertexId> list);

// Encodes the vertices i .. end-1 of the list; those before i must be encoded already. `i` must be
// a multiple of 8, and `end` a multiple of 8 or the length of the list.
void EncodeOneByOne(const CodeInto& into, std::span<const VertexId> list, std::size_t i,
                    std::size_t end);

bool Ascends(std::span<const VertexId> list);

}  // namespace slimgraph::internal
