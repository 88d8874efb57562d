#include "slimgraph/remote/served_lists.h"
#include "slimgraph/files/slim_file.h"

#include <gtest/gtest.h>

#include "slimgraph/files/internal/slim_writer.h"
#include "tests/support/command.h"
#include "tests/support/node_processes.h"

namespace slimgraph {
namespace {

// Writes a file with a list that does not ascend. Its checksums match.
void WriteDescendingList(const std::string& path) {
  const std::vector<EdgeOffset> offsets = {0, 1, 2, 4};
  const std::vector<VertexId> neighbours = {2, 2, 1, 0};
  auto writer = internal::SlimWriter::Create(path);
  ASSERT_TRUE(writer);
  const auto section = [&](SectionKind kind, auto& entries) {
    writer->Begin(kind, sizeof entries[0]);
    ASSERT_TRUE(writer->Append(std::as_bytes(std::span(entries))));
    ASSERT_TRUE(writer->End());
  };
  section(SectionKind::kOutNeighbours, neighbours);
  section(SectionKind::kOutOffsets, offsets);
  SlimHeader header = {};
  header.vertices = 3;
  header.edges = 2;
  header.arcs = 4;
  ASSERT_TRUE(writer->Finish(header));
}

TEST(ServedLists, RejectFilesWhoseListsDoNotAscend) {
  const ScratchDirectory scratch;
  const std::string path = scratch.File("g.slim");
  WriteDescendingList(path);
  ExpectNodesRun(2, [&](Job& job) {
    const auto cluster = Cluster::Start(job, {.compute = 1});
    ASSERT_TRUE(cluster);
    const auto file = SlimFile::Open(path);
    ASSERT_TRUE(file) << file.error().message;
    const VertexPart part = (*cluster)->computes() ? VertexPart{} : VertexPart{.count = 3};
    const auto lists =
        LoadServedLists(**cluster, *file, part, Direction::kOut, false, 0, [](auto...) {});
    EXPECT_EQ(lists.has_value(), (*cluster)->computes());
    if (lists) return;
    EXPECT_EQ(lists.error().message,
              path + ": the list of vertex 2 does not ascend, or has invalid ids");
  });
}

}  // namespace
}  // namespace slimgraph
