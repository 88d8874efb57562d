// export_graph GRAPH.slim PREFIX: writes a .slim graph in the formats of other engines, so that all
// engines are measured on the same graph. PREFIX.sg or PREFIX.wsg is serialised CSR; PREFIX.adj
// with .idx and .config is binary adjacency; PREFIX.pairs and PREFIX.once are binary edges, in both
// directions and in one. The graph must be undirected, with integer weights or none. Prints three
// vertices as sources for searches.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "slimgraph/files/csr.h"
#include "slimgraph/files/internal/random.h"
#include "slimgraph/files/slim_file.h"

namespace slimgraph {
namespace {

class Output {
 public:
  explicit Output(const std::string& path) : path_(path), out_(path, std::ios::binary) {}
  ~Output() {
    out_.close();
    if (out_) return;
    std::fprintf(stderr, "export_graph: cannot write %s\n", path_.c_str());
    std::exit(4);
  }
  template <typename T>
  void Put(const T& value) {
    out_.write(reinterpret_cast<const char*>(&value), sizeof value);
  }
  template <typename T>
  void PutAll(const std::vector<T>& values) {
    out_.write(reinterpret_cast<const char*>(values.data()),
               static_cast<std::streamsize>(values.size() * sizeof(T)));
  }

 private:
  std::string path_;
  std::ofstream out_;
};

template <typename Visit>
void ForEachArc(const Csr& csr, Visit visit) {
  std::size_t arc = 0;
  for (VertexId v = 0; v < csr.vertices(); ++v) {
    for (const VertexId u : csr.list(v)) visit(v, u, arc++);
  }
}

void WriteSerialised(const Csr& csr, const std::vector<std::int32_t>& weights,
                     const std::string& path) {
  Output out(path);
  out.Put(false);
  out.Put(std::int64_t{static_cast<std::int64_t>(csr.neighbours.size())});
  out.Put(std::int64_t{csr.vertices()});
  out.PutAll(csr.offsets);
  if (weights.empty()) return out.PutAll(csr.neighbours);
  ForEachArc(csr, [&](VertexId, VertexId u, std::size_t arc) {
    out.Put(u);
    out.Put(weights[arc]);
  });
}

void WriteAdjacency(const Csr& csr, const std::vector<std::int32_t>& weights,
                    const std::string& prefix) {
  Output(prefix + ".config").PutAll([&] {
    const std::string vertices = std::to_string(csr.vertices()) + "\n";
    return std::vector<char>(vertices.begin(), vertices.end());
  }());
  Output adjacency(prefix + ".adj");
  adjacency.PutAll(csr.neighbours);
  adjacency.PutAll(weights);
  Output index(prefix + ".idx");
  for (VertexId v = 0; v < csr.vertices(); ++v) {
    index.Put(static_cast<std::uint32_t>(csr.offsets[v]));
  }
}

void WritePairs(const Csr& csr, const std::vector<std::int32_t>& weights, const std::string& path,
                bool both_ways) {
  Output out(path);
  ForEachArc(csr, [&](VertexId v, VertexId u, std::size_t arc) {
    if (!both_ways && v > u) return;
    out.Put(v);
    out.Put(u);
    if (!weights.empty()) out.Put(static_cast<float>(weights[arc]));
  });
}

// Prints three vertices with edges, from which searches can start.
void PrintSources(const Csr& csr) {
  internal::CounterRandom random(27491095, 0);
  for (int left = csr.neighbours.empty() ? 0 : 3; left > 0;) {
    const auto v = static_cast<VertexId>(random.Below(csr.vertices()));
    if (csr.degree(v) == 0) continue;
    std::printf("%u\n", v);
    --left;
  }
}

int Export(const std::string& graph, const std::string& prefix) {
  const auto fail = [](const Error& error) {
    std::fprintf(stderr, "export_graph: %s\n", error.message.c_str());
    return error.exit_code();
  };
  const auto file = SlimFile::Open(graph);
  if (!file) return fail(file.error());
  if (file->directed()) return fail(InputError("{} is directed", graph).value());
  const auto csr = ReadCsr(*file);
  if (!csr) return fail(csr.error());
  const std::vector<std::int32_t> weights(csr->weights.begin(), csr->weights.end());
  const bool weighted = !weights.empty();
  WriteSerialised(*csr, weights, prefix + (weighted ? ".wsg" : ".sg"));
  WriteAdjacency(*csr, weights, prefix);
  WritePairs(*csr, weights, prefix + ".pairs", true);
  WritePairs(*csr, weights, prefix + ".once", false);
  PrintSources(*csr);
  return 0;
}

}  // namespace
}  // namespace slimgraph

int main(int argc, char** argv) {
  if (argc == 3) return slimgraph::Export(argv[1], argv[2]);
  std::fprintf(stderr, "usage: export_graph GRAPH.slim PREFIX\n");
  return 2;
}
