// serial_codes GRAPH.slim APPLICATION SOURCE ITERATIONS: runs the simple serial code that verifies
// a vertex program, three times. Prints the median of the seconds. SOURCE is an original id.
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>

#include "dgemini/serial.h"
#include "slimgraph/base/clock.h"
#include "slimgraph/files/slim_file.h"

namespace slimgraph {
namespace {

Result<double> MedianSeconds(const std::string& path, const std::string& application,
                             std::uint64_t source_id, std::uint64_t iterations) {
  SLIM_ASSIGN(const SlimFile file, SlimFile::Open(path));
  SLIM_ASSIGN(const OriginalIds ids, file.ReadOriginalIds());
  SLIM_ASSIGN(const Csr lists, ReadCsr(file));
  const VertexId source = ids.Find(source_id).value_or(0);
  std::function<void()> code;
  namespace serial = dgemini::serial;
  dgemini::PageRankOptions ranks;
  ranks.iterations = iterations;
  if (application == "bfs") code = [&] { serial::Bfs(lists, source); };
  if (application == "sssp") code = [&] { serial::Sssp(lists, source); };
  if (application == "pagerank") code = [&] { serial::PageRank(lists, ranks); };
  if (application == "cc") code = [&] { serial::Components(lists); };
  if (application == "bc") code = [&] { serial::Centrality(lists, std::array{source}); };
  if (application == "kcore") code = [&] { serial::CoreNumbers(lists, file.directed()); };
  if (application == "mis") code = [&] { serial::IndependentSet(lists, ids, 1); };
  if (application == "cdlp") {
    code = [&] { serial::PropagateLabels(lists, file.directed(), ids, iterations); };
  }
  if (!code) return UsageError("no application is called {}", application);
  std::array<double, 3> seconds{};
  for (double& one : seconds) {
    const std::uint64_t start_ns = NowNs();
    code();
    one = SecondsSince(start_ns);
  }
  std::sort(seconds.begin(), seconds.end());
  return seconds[1];
}

}  // namespace
}  // namespace slimgraph

int main(int argc, char** argv) {
  if (argc != 5) {
    std::fprintf(stderr, "usage: serial_codes GRAPH.slim APPLICATION SOURCE ITERATIONS\n");
    return 2;
  }
  const auto seconds = slimgraph::MedianSeconds(
      argv[1], argv[2], std::strtoull(argv[3], nullptr, 10), std::strtoull(argv[4], nullptr, 10));
  if (!seconds) {
    std::fprintf(stderr, "serial_codes: %s\n", seconds.error().message.c_str());
    return seconds.error().exit_code();
  }
  std::printf("%.6f\n", *seconds);
  return 0;
}
