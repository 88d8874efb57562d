// The performance bars of graph/: text to .slim, and loading .slim. Each alternates with a baseline
// in the same run. graph_bench [SCALE] [ROUNDS]; the defaults are 20 and 5.
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <vector>

#include "slimgraph/base/clock.h"
#include "slimgraph/base/units.h"
#include "slimgraph/files/convert.h"
#include "slimgraph/files/csr.h"
#include "slimgraph/files/generate.h"
#include "slimgraph/files/internal/random.h"
#include "slimgraph/files/slim_file.h"
#include "slimgraph/graph/load.h"
#include "slimgraph/graph/partition.h"

namespace slimgraph {
namespace {

constexpr std::size_t kThreads = 2;

template <typename T>
T Must(Result<T> result) {
  if (!result) {
    std::fprintf(stderr, "graph_bench: %s\n", result.error().message.c_str());
    std::exit(result.error().exit_code());
  }
  return *std::move(result);
}

void Must(const Status& status) {
  if (status) return;
  std::fprintf(stderr, "graph_bench: %s\n", status.error().message.c_str());
  std::exit(status.error().exit_code());
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// Writes each edge once, in random order.
void WriteText(const std::string& slim, const std::string& text, std::uint64_t factor,
               bool weighted) {
  const SlimFile file = Must(SlimFile::Open(slim));
  const Csr csr = Must(ReadCsr(file));
  std::vector<EdgeList::Edge> edges;
  for (VertexId v = 0; v < csr.vertices(); ++v) {
    for (const VertexId u : csr.list(v)) {
      if (v <= u) edges.push_back({v, u});
    }
  }
  internal::CounterRandom random(1, 0);
  for (std::size_t i = edges.size(); i > 1; --i) std::swap(edges[i - 1], edges[random.Below(i)]);
  std::ofstream out(text, std::ios::binary);
  std::string lines;
  for (const auto& [src, dst] : edges) {
    lines += std::to_string(src * factor) + ' ' + std::to_string(dst * factor);
    if (weighted) lines += ' ' + std::to_string(1 + random.Below(255));
    lines += '\n';
    if (lines.size() < (1 << 20)) continue;
    out << lines;
    lines.clear();
  }
  out << lines;
}

// Converts in a child process, so that the peak memory is only the conversion's.
struct Measured {
  double seconds;
  double cpu_seconds;  // of both threads; less sensitive to other load than the clock
  std::uint64_t peak_bytes;
};
Measured ConvertInChild(const ConvertOptions& options) {
  std::fflush(stdout);
  const std::uint64_t start = NowNs();
  const pid_t child = ::fork();
  if (child == 0) {
    Must(Convert(options));
    ::_exit(0);
  }
  rusage usage = {};
  int status = 0;
  if (::wait4(child, &status, 0, &usage) != child || status != 0) std::exit(4);
  const double seconds = SecondsSince(start);
  const auto of = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return {seconds, of(usage.ru_utime) + of(usage.ru_stime),
          static_cast<std::uint64_t>(usage.ru_maxrss) * 1024};
}

// The baseline of a conversion: reads the text and writes as many bytes as the graph file has.
double ReadAndWrite(const std::string& text, const std::string& slim, const std::string& out) {
  const std::uint64_t start = NowNs();
  std::vector<char> buffer(1 << 20);
  std::FILE* in = std::fopen(text.c_str(), "rb");
  while (std::fread(buffer.data(), 1, buffer.size(), in) > 0) {
  }
  std::fclose(in);
  std::FILE* copy = std::fopen(out.c_str(), "wb");
  for (std::uint64_t left = std::filesystem::file_size(slim); left > 0;) {
    const std::size_t part = std::min<std::uint64_t>(left, buffer.size());
    left -= std::fwrite(buffer.data(), 1, part, copy);
  }
  std::fclose(copy);
  return SecondsSince(start);
}

[[noreturn]] void Wrong(const std::string& what) {
  std::fprintf(stderr, "graph_bench: %s\n", what.c_str());
  std::exit(1);
}

// Runs once, outside the measured time. The converted graph must have the edges that were written.
// Vertices without edges are missing, because no edge names them, and ids are multiplied by
// `factor`.
void Verify(const std::string& slim, const std::string& converted, std::uint64_t factor) {
  const SlimFile file = Must(SlimFile::Open(converted));
  const Csr expected = Must(ReadCsr(Must(SlimFile::Open(slim))));
  const Csr found = Must(ReadCsr(file));
  const OriginalIds ids = Must(file.ReadOriginalIds());
  if (found.neighbours.size() != expected.neighbours.size()) Wrong("arcs were lost");
  for (VertexId v = 0; v < found.vertices(); ++v) {
    const auto list = expected.list(static_cast<VertexId>(ids[v] / factor));
    const bool same =
        std::equal(list.begin(), list.end(), found.list(v).begin(), found.list(v).end(),
                   [&](VertexId one, VertexId other) { return one * factor == ids[other]; });
    if (!same) Wrong(fmt::format("the list of vertex {} was converted wrong", ids[v]));
  }
}

void VerifyLoad(const SlimFile& file, const VertexPart& part, const ListSpans& lists) {
  Must(LoadLists(file, part, Direction::kOut, lists, kThreads));
  const Csr expected = Must(ReadCsr(file));
  for (VertexId i = 0; i < part.count; ++i) {
    const auto list = expected.list(part[i]);
    const auto found = lists.neighbours.subspan(lists.offsets[i], list.size());
    if (!std::equal(list.begin(), list.end(), found.begin())) Wrong("a list was loaded wrong");
  }
}

void BenchConversion(const std::string& what, const std::string& folder, std::uint64_t factor,
                     bool weighted, int rounds) {
  const std::string text = folder + "/graph.txt";
  WriteText(folder + "/graph.slim", text, factor, weighted);
  ConvertOptions options;
  options.in = text;
  options.out = folder + "/converted.slim";
  options.directed = false;
  options.weighted = weighted;
  options.threads = kThreads;
  const ConvertReport report = Must(Convert(options));
  Verify(folder + "/graph.slim", options.out, factor);
  std::vector<double> seconds;
  std::vector<double> ratios;
  std::vector<double> cpu_seconds;
  std::vector<double> memory;
  for (int i = 0; i < rounds; ++i) {
    std::filesystem::remove(options.out);
    const Measured measured = ConvertInChild(options);
    const double baseline = ReadAndWrite(text, options.out, folder + "/copy");
    seconds.push_back(measured.seconds);
    cpu_seconds.push_back(measured.cpu_seconds);
    ratios.push_back(measured.seconds / baseline);
    memory.push_back(static_cast<double>(measured.peak_bytes) /
                     static_cast<double>(report.file_bytes));
  }
  const double million_edges = static_cast<double>(report.edges_read) * 1e-6;
  std::printf(
      "convert %-22s %6.1f M edges/s, %5.1f per CPU second   %5.2f x read+write of the bytes"
      "   peak %4.2f x .slim\n",
      what.c_str(), million_edges / Median(seconds), million_edges / Median(cpu_seconds),
      Median(ratios), Median(memory));
}

void BenchLoad(const std::string& what, const std::string& slim, const VertexPart& part,
               int rounds) {
  const SlimFile file = Must(SlimFile::Open(slim));
  const EdgeOffset arcs = Must(CountArcs(file, part, Direction::kOut));
  std::vector<EdgeOffset> offsets(std::size_t{part.count} + 1);
  std::vector<VertexId> neighbours(arcs);
  std::vector<char> copy(offsets.size() * 8 + arcs * 4);
  const double bytes = static_cast<double>(copy.size());
  VerifyLoad(file, part, {offsets, neighbours, {}});
  std::vector<double> seconds;
  std::vector<double> ratios;
  for (int i = 0; i < rounds; ++i) {
    std::uint64_t start = NowNs();
    Must(LoadLists(file, part, Direction::kOut, {offsets, neighbours, {}}, kThreads));
    seconds.push_back(SecondsSince(start));
    start = NowNs();
    std::FILE* in = std::fopen(slim.c_str(), "rb");
    std::setbuf(in, nullptr);
    const std::size_t got = std::fread(copy.data(), 1, copy.size(), in);
    std::fclose(in);
    if (got != copy.size()) std::exit(4);
    ratios.push_back(seconds.back() / SecondsSince(start));
  }
  std::printf("load    %-22s %6.2f GB/s          %5.2f x one read() of as many bytes\n",
              what.c_str(), bytes / Median(seconds) * 1e-9, Median(ratios));
}

}  // namespace
}  // namespace slimgraph

int main(int argc, char** argv) {
  using namespace slimgraph;
  const int scale = argc > 1 ? std::atoi(argv[1]) : 20;
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 5;
  std::string folder = (std::filesystem::temp_directory_path() / "graph_bench-XXXXXX").string();
  if (scale < 1 || scale > 28 || rounds < 1 || ::mkdtemp(folder.data()) == nullptr) {
    std::fprintf(stderr, "usage: graph_bench [SCALE 1..28] [ROUNDS]\n");
    return 2;
  }
  GenerateOptions generate;
  generate.scale = static_cast<unsigned>(scale);
  generate.out = folder + "/graph.slim";
  const ConvertReport graph = Must(Generate(generate));
  std::printf("kron %d: %s vertices, %s edges, .slim of %s; medians of %d, %zu threads\n", scale,
              FormatCount(graph.vertices).c_str(), FormatCount(graph.edges).c_str(),
              FormatBytes(graph.file_bytes).c_str(), rounds, kThreads);
  const auto vertices = static_cast<VertexId>(graph.vertices);
  BenchLoad("the whole", generate.out, {0, 1, vertices}, rounds);
  BenchLoad("half of it by chunk", generate.out, {0, 1, vertices / 2}, rounds);
  BenchLoad("half of it by hash", generate.out, {0, 2, (vertices + 1) / 2}, rounds);
  BenchConversion("dense ids", folder, 1, false, rounds);
  BenchConversion("dense ids, weights", folder, 1, true, rounds);
  BenchConversion("sparse 64-bit ids", folder, 1'000'003, false, rounds);
  std::filesystem::remove_all(folder);
  return 0;
}
