// A .slim file that is truncated, damaged or changing is detected, and never used as a graph.
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "slimgraph/base/atomic_file.h"
#include "slimgraph/files/csr.h"
#include "slimgraph/files/generate.h"
#include "slimgraph/files/inspect.h"
#include "slimgraph/files/internal/slim_writer.h"
#include "slimgraph/files/slim_file.h"
#include "tests/support/graphs.h"

namespace slimgraph::test {
namespace {

//  0 --> 1 --> 2    3
const EdgeList kPath = {4, {{0, 1}, {1, 2}}, {1.5, 2.5}, true};

// Whether the file opens, and all checks of it succeed.
bool Readable(const std::string& path) {
  const auto file = SlimFile::Open(path);
  return file && file->CheckAll() && Inspect({path, true, {}});
}

TEST(SlimFile, EveryFlippedBitIsDetected) {
  const ScratchFolder folder;
  ASSERT_OK(WriteSlimFile(kPath, folder / "good.slim"));
  ASSERT_TRUE(Readable(folder / "good.slim"));
  const std::string good = ReadFile(folder / "good.slim");
  const std::string path = folder / "bad.slim";
  WriteFile(path, good);
  const int fd = ::open(path.c_str(), O_WRONLY);
  for (std::size_t at = 0; at < good.size(); ++at) {
    const char flipped = static_cast<char>(good[at] ^ (1 << at % 8));
    ASSERT_EQ(::pwrite(fd, &flipped, 1, static_cast<off_t>(at)), 1);
    EXPECT_FALSE(Readable(path)) << "byte " << at;
    ASSERT_EQ(::pwrite(fd, &good[at], 1, static_cast<off_t>(at)), 1);
  }
  ::close(fd);
  EXPECT_TRUE(Readable(path));
}

TEST(SlimFile, EveryTruncationAndExtensionIsDetectedByOpen) {
  auto random = SeededRandom();
  const ScratchFolder folder;
  ASSERT_OK(WriteSlimFile(kPath, folder / "good.slim"));
  const std::string good = ReadFile(folder / "good.slim");
  std::vector<std::size_t> ends;
  for (std::size_t page = 0; page < good.size(); page += 4096) {
    for (const std::size_t end : {page, page + 1, page + 4095}) ends.push_back(end);
  }
  for (int i = 0; i < 100; ++i) ends.push_back(random() % good.size());
  for (const std::size_t end : ends) {
    WriteFile(folder / "bad.slim", good.substr(0, end));
    const auto file = SlimFile::Open(folder / "bad.slim");
    ASSERT_FALSE(file) << end;
    EXPECT_EQ(file.error().exit_code(), 3);
  }
  WriteFile(folder / "bad.slim", good + std::string(4096, '\0'));
  EXPECT_FALSE(SlimFile::Open(folder / "bad.slim"));
}

TEST(SlimFile, AFileThatShrinksAfterOpenIsAnError) {
  const ScratchFolder folder;
  GenerateOptions options;
  options.scale = 12;
  options.out = folder / "g.slim";
  ASSERT_OK(Generate(options));
  const auto file = SlimFile::Open(options.out);
  ASSERT_OK(file);
  std::filesystem::resize_file(options.out, 8192);
  EXPECT_EQ(MessageOf(ReadCsr(*file)),
            options.out + ": the file shrank while it was read: it has 8192 bytes now");
}

TEST(SlimFile, PartialReadsEqualTheWholeSection) {
  auto random = SeededRandom();
  const ScratchFolder folder;
  GenerateOptions options;
  options.scale = 16;
  options.out = folder / "g.slim";
  ASSERT_OK(Generate(options));
  const auto file = SlimFile::Open(options.out);
  ASSERT_OK(file);
  const auto whole = ReadCsr(*file);
  ASSERT_OK(whole);
  for (int round = 0; round < 100; ++round) {
    const std::uint64_t first = random() % file->arcs();
    std::vector<VertexId> part(random() % (file->arcs() - first + 1));
    ASSERT_OK(file->ReadElements(SectionKind::kOutNeighbours, first, std::span(part)));
    EXPECT_TRUE(std::equal(part.begin(), part.end(),
                           whole->neighbours.begin() + static_cast<std::ptrdiff_t>(first)));
  }
}

TEST(SlimFile, CheckFindsListsThatAreNoValidGraph) {
  // A faulty writer may write a file that matches its checksums but is no graph. Here one file
  // lists the undirected edge 0-1 at vertex 0 only, and one has a neighbour that does not exist.
  for (const VertexId neighbour : {1u, 7u}) {
    const ScratchFolder folder;
    auto writer = internal::SlimWriter::Create(folder / "g.slim");
    ASSERT_OK(writer);
    const std::vector<VertexId> neighbours = {neighbour, neighbour};
    writer->Begin(SectionKind::kOutNeighbours, sizeof(VertexId));
    ASSERT_OK(writer->Append(std::as_bytes(std::span(neighbours))));
    ASSERT_OK(writer->End());
    const std::vector<EdgeOffset> offsets = {0, 2, 2};
    writer->Begin(SectionKind::kOutOffsets, sizeof(EdgeOffset));
    ASSERT_OK(writer->Append(std::as_bytes(std::span(offsets))));
    ASSERT_OK(writer->End());
    SlimHeader header = {};
    header.flags = kSlimDuplicates;
    header.vertices = 2;
    header.edges = 1;
    header.arcs = 2;
    ASSERT_OK(writer->Finish(header));
    const auto file = SlimFile::Open(folder / "g.slim");
    ASSERT_OK(file);
    EXPECT_EQ(file->CheckAll().has_value(), neighbour == 1);
    const std::string message = MessageOf(Inspect({folder / "g.slim", true, {}}));
    EXPECT_NE(message.find(neighbour == 1 ? "not symmetric" : "has neighbour 7,"),
              std::string::npos)
        << message;
  }
}

TEST(SlimFile, OffsetsThatFallFromOneBlockToTheNextAreFound) {
  constexpr std::size_t kBlock = kSlimBlockBytes / sizeof(EdgeOffset);
  const ScratchFolder folder;
  auto writer = internal::SlimWriter::Create(folder / "g.slim");
  ASSERT_OK(writer);
  const std::vector<VertexId> neighbours = {1, 2};
  writer->Begin(SectionKind::kOutNeighbours, sizeof(VertexId));
  ASSERT_OK(writer->Append(std::as_bytes(std::span(neighbours))));
  ASSERT_OK(writer->End());
  std::vector<EdgeOffset> offsets(2 * kBlock, 2);
  std::fill(offsets.begin() + kBlock, offsets.end() - 1, 1);
  writer->Begin(SectionKind::kOutOffsets, sizeof(EdgeOffset));
  ASSERT_OK(writer->Append(std::as_bytes(std::span(offsets))));
  ASSERT_OK(writer->End());
  SlimHeader header = {};
  header.vertices = offsets.size() - 1;
  header.edges = 1;
  header.arcs = 2;
  ASSERT_OK(writer->Finish(header));
  const auto file = SlimFile::Open(folder / "g.slim");
  ASSERT_OK(file);
  EXPECT_FALSE(file->CheckAll());
  std::vector<EdgeOffset> read(4);
  ASSERT_OK(file->ReadElements(SectionKind::kOutOffsets, kBlock - 4, std::span(read)));
  ASSERT_OK(file->ReadElements(SectionKind::kOutOffsets, kBlock, std::span(read)));
  EXPECT_FALSE(file->ReadElements(SectionKind::kOutOffsets, kBlock - 2, std::span(read)));
}

TEST(Conversion, AFullDiskIsAnErrorThatLeavesNothing) {
  if (::geteuid() != 0) GTEST_SKIP() << "mounting a small disk needs root";
  const ScratchFolder folder;
  if (::mount("tmpfs", folder.path().c_str(), "tmpfs", 0, "size=1m") != 0) {
    GTEST_SKIP() << "this system does not let root mount a tmpfs";
  }
  GenerateOptions options;
  options.scale = 14;
  options.out = folder / "g.slim";
  const auto report = Generate(options);
  EXPECT_FALSE(report);
  EXPECT_TRUE(MessageOf(report).ends_with("No space left on device")) << MessageOf(report);
  if (!report) {
    EXPECT_EQ(report.error().exit_code(), 4);
  }
  EXPECT_TRUE(folder.Names().empty());
  ::umount(folder.path().c_str());
}

TEST(Conversion, ALimitOnFileSizesIsAnErrorThatLeavesNothing) {
  const ScratchFolder folder;
  rlimit before = {};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit limit = before;
  limit.rlim_cur = 1 << 20;
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
  GenerateOptions options;
  options.scale = 14;
  options.out = folder / "g.slim";
  const auto report = Generate(options);
  ::setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_FALSE(report);
  EXPECT_TRUE(MessageOf(report).ends_with("File too large")) << MessageOf(report);
  EXPECT_TRUE(folder.Names().empty());
}

TEST(Conversion, AKilledConversionLeavesNothing) {
  const ScratchFolder folder;
  for (const int delay_us : {0, 2000, 10000, 20000, 40000}) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      GenerateOptions options;
      options.scale = 16;
      options.out = folder / "g.slim";
      // With delay 0, kill it at the last moment: all is written, but the file has no name yet.
      options.progress = [&](std::uint64_t done, std::uint64_t total) {
        if (delay_us == 0 && done == total) ::raise(SIGKILL);
      };
      (void)Generate(options);
      ::_exit(0);
    }
    if (delay_us > 0) {
      ::usleep(static_cast<useconds_t>(delay_us));
      ::kill(child, SIGKILL);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    const bool finished = WIFEXITED(status);
    EXPECT_EQ(folder.Names().size(), finished ? 1u : 0u) << "killed after " << delay_us << " us";
    if (finished) {
      EXPECT_TRUE(Readable(folder / "g.slim"));
    }
    std::filesystem::remove(folder / "g.slim");
  }
}

TEST(Conversion, TextThatChangesSizeWhileItIsReadIsAnError) {
  const ScratchFolder folder;
  const std::string line = "123456 7654321\n";
  std::string text;
  while (text.size() < (8 << 20)) text += line;
  for (const bool grows : {false, true}) {
    WriteFile(folder / "g.txt", text);
    ConvertOptions options;
    options.in = folder / "g.txt";
    options.out = folder / "g.slim";
    options.directed = true;
    options.threads = 1;
    bool changed = false;
    options.read_progress = [&](std::uint64_t, std::uint64_t) {
      if (!std::exchange(changed, true)) {
        std::filesystem::resize_file(options.in, grows ? text.size() + 100 : 4 << 20);
      }
    };
    const std::string message = MessageOf(Convert(options));
    EXPECT_NE(message.find("the file changed size while it was read"), std::string::npos)
        << message;
    EXPECT_EQ(folder.Names(), std::vector<std::string>{"g.txt"});
  }
}

TEST(AtomicFile, ReplacesAnOldFileOnlyWhenCommitted) {
  const ScratchFolder folder;
  const std::string path = folder / "out";
  WriteFile(path, "old");
  const std::string text = "new";
  {
    auto file = AtomicFile::Create(path);
    ASSERT_OK(file);
    ASSERT_OK(file->WriteAt(0, std::as_bytes(std::span(text))));
    EXPECT_EQ(folder.Names().size(), 1u);
  }
  EXPECT_EQ(ReadFile(path), "old");
  auto file = AtomicFile::Create(path);
  ASSERT_OK(file);
  ASSERT_OK(file->WriteAt(0, std::as_bytes(std::span(text))));
  ASSERT_OK(file->Commit());
  EXPECT_EQ(ReadFile(path), "new");
  EXPECT_EQ(folder.Names(), std::vector<std::string>{"out"});
}

TEST(AtomicFile, AFolderOrAMissingFolderIsAnError) {
  const ScratchFolder folder;
  EXPECT_FALSE(AtomicFile::Create(folder.path()));
  EXPECT_FALSE(AtomicFile::Create(folder / "missing/out"));
}

}  // namespace
}  // namespace slimgraph::test
