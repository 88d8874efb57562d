// The code of lists on memory nodes against two alternatives: bytes per edge, and the time to
// encode and decode compared with copying the ids, in alternation. list_code_bench [FILE.slim]; the
// default is a kron graph of scale 20.
#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <vector>

#include "slimgraph/base/check.h"
#include "slimgraph/base/clock.h"
#include "slimgraph/files/csr.h"
#include "slimgraph/files/generate.h"
#include "slimgraph/files/slim_file.h"
#include "slimgraph/remote/list_code.h"

namespace slimgraph {
namespace {

template <typename T>
T Must(Result<T> result) {
  if (!result) {
    std::fprintf(stderr, "list_code_bench: %s\n", result.error().message.c_str());
    std::exit(result.error().exit_code());
  }
  return *std::move(result);
}

// Gaps in one to four bytes each, plus two bits each for the number of bytes.
std::size_t VariableBytes(std::span<const VertexId> list) {
  std::size_t bytes = (list.size() + 3) / 4;
  VertexId last = 0;
  for (const VertexId v : list) {
    bytes += std::max<std::size_t>(1, (static_cast<std::size_t>(std::bit_width(v - last)) + 7) / 8);
    last = v;
  }
  return bytes;
}

// Gaps in blocks of 128. Each gap takes as many bits as the block's largest, plus one byte per
// block for this number.
std::size_t PackedGaps(std::span<const VertexId> list) {
  std::size_t bytes = 0;
  VertexId last = 0;
  while (!list.empty()) {
    const auto block = list.first(std::min<std::size_t>(128, list.size()));
    std::size_t width = 0;
    for (const VertexId v : block) {
      width = std::max(width, static_cast<std::size_t>(std::bit_width(v - last)));
      last = v;
    }
    bytes += 1 + (block.size() * width + 7) / 8;
    list = list.subspan(block.size());
  }
  return bytes;
}

void Bench(const SlimFile& file) {
  const Csr lists = Must(ReadCsr(file));
  const VertexId vertices = lists.vertices();
  const auto arcs = static_cast<double>(std::max<std::size_t>(1, lists.neighbours.size()));
  const ListCode code(vertices);
  std::vector<std::uint64_t> at(vertices + std::size_t{1});
  std::uint64_t variable = 0;
  std::uint64_t packed = 0;
  EdgeOffset longest = 0;
  for (VertexId v = 0; v < vertices; ++v) {
    at[v + std::size_t{1}] = at[v] + code.Bytes(lists.degree(v));
    variable += VariableBytes(lists.list(v));
    packed += PackedGaps(lists.list(v));
    longest = std::max(longest, lists.degree(v));
  }
  std::vector<std::byte> coded(at.back() + ListCode::kSlackBytes);
  std::vector<VertexId> list(longest);
  std::uint64_t start = NowNs();
  for (VertexId v = 0; v < vertices; ++v) code.Encode(lists.list(v), coded.data() + at[v]);
  const auto code_ns = static_cast<double>(NowNs() - start);
  for (VertexId v = 0; v < vertices; ++v) {  // verified once, outside the measured time
    const auto decoded = std::span(list).first(lists.degree(v));
    static_cast<void>(code.Decode(coded.data() + at[v], decoded));
    if (!std::equal(decoded.begin(), decoded.end(), lists.list(v).begin())) {
      std::fprintf(stderr, "list_code_bench: the list of vertex %u is decoded wrong\n", v);
      std::exit(1);
    }
  }
  std::vector<double> decode_ns;
  std::vector<double> copy_ns;
  for (int round = 0; round < 5; ++round) {
    start = NowNs();
    for (VertexId v = 0; v < vertices; ++v) {
      SLIM_CHECK(code.Decode(coded.data() + at[v], std::span(list).first(lists.degree(v))));
    }
    decode_ns.push_back(static_cast<double>(NowNs() - start));
    start = NowNs();
    for (VertexId v = 0; v < vertices; ++v) {
      std::copy(lists.list(v).begin(), lists.list(v).end(), list.begin());
    }
    copy_ns.push_back(static_cast<double>(NowNs() - start));
  }
  std::sort(decode_ns.begin(), decode_ns.end());
  std::sort(copy_ns.begin(), copy_ns.end());
  std::printf("bytes per edge: %.3f; variable bytes would take %.3f, packed gaps %.3f\n",
              static_cast<double>(at.back()) / arcs, static_cast<double>(variable) / arcs,
              static_cast<double>(packed) / arcs);
  std::printf("ns per edge: %.2f to code, %.2f to decode, %.2f to copy the ids\n", code_ns / arcs,
              decode_ns[2] / arcs, copy_ns[2] / arcs);
}

}  // namespace
}  // namespace slimgraph

int main(int argc, char** argv) {
  using namespace slimgraph;
  if (argc > 1) {
    Bench(Must(SlimFile::Open(argv[1])));
    return 0;
  }
  std::string folder = (std::filesystem::temp_directory_path() / "list_code-XXXXXX").string();
  if (::mkdtemp(folder.data()) == nullptr) return 4;
  GenerateOptions generate;
  generate.scale = 20;
  generate.out = folder + "/graph.slim";
  Must(Generate(generate));
  Bench(Must(SlimFile::Open(generate.out)));
  std::filesystem::remove_all(folder);
  return 0;
}
