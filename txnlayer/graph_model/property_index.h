// An index of vertices by one of their properties: which field of the properties it is, and how the
// field's values become keys of an ordered table.
//
// A key has 64 bits, and 40 of them name the vertex. So 24 bits, the code, are left for the value.
// Codes rise with values, but several values may share one: whole numbers from 2^18 on, and
// floating-point numbers that differ in their last bits only. A search therefore looks at the
// values themselves where a code is only partly in its range.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "txnlayer/graph_model/graph_shape.h"

namespace slimgraph::txn {

enum class FieldType : std::uint8_t { kU8, kU16, kU32, kU64, kI8, kI16, kI32, kI64, kF32, kF64 };

struct PropertyIndex {
  std::string name;
  std::uint32_t offset = 0;  // of the field in the vertex's properties
  FieldType type = FieldType::kU32;

  // From "age=0:u32": name, offset, and type.
  static Result<PropertyIndex> Parse(const std::string& text);
  std::string ToText() const;
};

constexpr std::size_t kMostIndexes = 8;
constexpr std::size_t kMostIndexName = 31;

// Whether a graph can have these indexes: the fields are within its vertices' properties, and names
// differ.
Status CheckIndexes(std::span<const PropertyIndex> indexes, std::uint32_t vertex_bytes);

// Has each value of every type of field exactly.
using FieldValue = long double;

struct ValueRange {
  FieldValue first;
  FieldValue last;
  bool Contains(FieldValue value) const { return first <= value && value <= last; }
};

using ValueCode = std::uint32_t;

FieldValue ValueOf(const PropertyIndex& index, Bytes properties);
ValueCode CodeOf(const PropertyIndex& index, Bytes properties);
// The codes of the least and of the largest value in the range; nothing: there is none.
std::optional<std::pair<ValueCode, ValueCode>> CodesOf(FieldType type, const ValueRange& range);
// The values of that code.
ValueRange ValuesOf(FieldType type, ValueCode code);

constexpr Key IndexKey(ValueCode code, VertexName vertex) {
  return (Key{code} << kVertexNameBits) | vertex;
}
constexpr ValueCode CodeOfKey(Key key) { return static_cast<ValueCode>(key >> kVertexNameBits); }
constexpr VertexName VertexOfIndexKey(Key key) { return key & kMaxVertexName; }

}  // namespace slimgraph::txn
