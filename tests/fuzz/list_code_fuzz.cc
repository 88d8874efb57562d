// Decoding a coded list stays within its bounds for any bytes, with and without vector
// instructions. A list that was coded is decoded to itself.
#include <algorithm>
#include <bit>
#include <cstring>
#include <vector>

#include "slimgraph/base/check.h"
#include "slimgraph/remote/internal/decode_list.h"
#include "slimgraph/remote/list_code.h"

namespace slimgraph {
namespace {

constexpr std::size_t kMaxBytes = 1 << 16;

void DecodeAnything(const ListCode& code, std::span<const std::byte> bytes, EdgeOffset length) {
  if (code.Bytes(length) > kMaxBytes) return;
  // Memory of exactly the documented size, so that a sanitizer detects accesses beyond it.
  std::vector<std::byte> coded(code.Bytes(length) + ListCode::kSlackBytes);
  std::copy_n(bytes.begin(), std::min(bytes.size(), coded.size()), coded.begin());
  std::vector<VertexId> list(length);
  const bool decoded = code.Decode(coded.data(), list);
  const bool holds = code.Holds(std::span(coded).first(code.Bytes(length)), length);
  SLIM_CHECK(decoded || !holds, "bytes that hold a list were not decoded");
}

void CodeAndDecode(const ListCode& code, VertexId vertices, std::span<const std::byte> bytes) {
  std::vector<VertexId> list(bytes.size() / sizeof(VertexId));
  if (list.empty()) return;
  std::memcpy(list.data(), bytes.data(), list.size() * sizeof(VertexId));
  for (VertexId& v : list) v %= vertices;
  std::sort(list.begin(), list.end());
  if (code.Bytes(list.size()) > kMaxBytes) return;
  SLIM_CHECK(code.CanEncode(list));
  std::vector<std::byte> coded(code.Bytes(list.size()) + ListCode::kSlackBytes);
  code.Encode(list, coded.data());
  SLIM_CHECK(code.Holds(std::span(coded).first(code.Bytes(list.size())), list.size()));
  std::vector<VertexId> found(list.size());
  SLIM_CHECK(code.Decode(coded.data(), found) && found == list);
}

}  // namespace
}  // namespace slimgraph

// The input: the number of vertices, the length of a list, then the bytes of the code.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace slimgraph;
  struct {
    VertexId vertices;
    std::uint16_t length;
  } head;
  constexpr std::size_t kHead = sizeof head.vertices + sizeof head.length;
  if (size < kHead) return 0;
  std::memcpy(&head.vertices, data, sizeof head.vertices);
  std::memcpy(&head.length, data + sizeof head.vertices, sizeof head.length);
  if (head.vertices == 0) return 0;
  const auto bytes = std::as_bytes(std::span(data, size)).subspan(kHead);
  const ListCode code(head.vertices);
  DecodeAnything(code, bytes, head.length);
  CodeAndDecode(code, head.vertices, bytes);
  return 0;
}
