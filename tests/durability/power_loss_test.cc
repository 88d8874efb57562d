// What a power failure leaves of stores, logs and files, after every call that makes something
// durable or changes a name; and what failing calls leave.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <optional>
#include <set>

#include "slimgraph/base/atomic_file.h"
#include "slimgraph/base/file_io.h"
#include "slimgraph/files/csr.h"
#include "tests/durability/file_calls.h"
#include "tests/support/command.h"
#include "txnlayer/disk/apply.h"
#include "txnlayer/internal/durability/log_folder.h"

namespace slimgraph::test {
namespace {

namespace fs = std::filesystem;
using Names = PowerLosses::Names;
constexpr Names kBoth[] = {Names::kLost, Names::kSurvive};

Status WriteAtomically(const std::string& path, const std::string& text, Outlives outlives) {
  SLIM_ASSIGN(AtomicFile file, AtomicFile::Create(path));
  SLIM_TRY(file.WriteAt(0, std::as_bytes(std::span(text))));
  return file.Commit(outlives);
}

std::set<std::string> NamesIn(const std::string& folder) {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.insert(entry.path().filename());
  return names;
}

// Every edge, by the names of its ends.
using Edges = std::set<std::pair<std::uint64_t, std::uint64_t>>;

Result<Edges> EdgesOf(const std::string& path) {
  SLIM_ASSIGN(const txn::Store store, txn::Store::Open(path, txn::Store::Use::kWrite));
  SLIM_ASSIGN(const txn::DiskBase image, store.Image());
  Edges edges;
  if (image.file() == nullptr) return edges;
  SLIM_TRY(image.file()->CheckAll());
  SLIM_ASSIGN(const OriginalIds ids, image.file()->ReadOriginalIds());
  SLIM_ASSIGN(const Csr lists, ReadCsr(*image.file()));
  for (VertexId v = 0; v < lists.vertices(); ++v) {
    for (const VertexId u : lists.list(v)) edges.emplace(ids[v], ids[u]);
  }
  return edges;
}

// All files that a power failure can affect are in one folder.
class PowerLoss : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(fs::create_directory(disk_));
    EdgeList list;
    list.vertices = 30;
    list.edges = {{0, 1}};
    ASSERT_TRUE(WriteSlimFile(list, scratch_.File("graph.slim")));
  }
  // Opens what a power failure would leave now. It must have the edges of at least `first` and at
  // most `last` lines of updates. Unless `told` is set, the store itself may be missing.
  void ExpectLines(const PowerLosses& losses, bool told, int first, int last) {
    for (const Names names : kBoth) {
      SCOPED_TRACE(names == Names::kLost ? "names are lost" : "names survive");
      losses.Leave(names, left_);
      if (!told && !fs::exists(left_ + "/store")) continue;
      const auto edges = EdgesOf(left_ + "/store");
      ASSERT_TRUE(edges) << edges.error().message;
      const auto lines = static_cast<int>(edges->size()) / 2 - 1;
      EXPECT_GE(lines, first);
      EXPECT_LE(lines, last);
      ++looks_;
    }
  }

  const ScratchDirectory scratch_;
  const std::string disk_ = scratch_.File("disk");
  const std::string store_ = disk_ + "/store";
  const std::string left_ = scratch_.File("left");
  int looks_ = 0;
};

TEST_F(PowerLoss, LeavesEveryReportedUpdateInTheStore) {
  PowerLosses losses(disk_);
  losses.AtEachCall([&] { ExpectLines(losses, false, 0, 0); });
  const Status made = txn::Store::Create(store_, scratch_.File("graph.slim"), {});
  ASSERT_TRUE(made) << made.error().message;
  losses.AtEachCall(nullptr);
  ExpectLines(losses, true, 0, 0);
  int told = 0;
  constexpr int kLines = 6;
  for (int file = 0; file < 3; ++file) {
    std::string text;
    for (int i = 0; i < kLines; ++i) text += fmt::format("+ {} {}\n", 2 + file, 10 + i);
    const std::string from = scratch_.File(fmt::format("updates{}", file));
    WriteText(from, text);
    const int before = told;
    losses.AtEachCall([&] { ExpectLines(losses, true, told, told + 1); });
    txn::ApplyOptions options{.store = store_, .updates = from, .batch = 1};
    if (file == 1) options.batch_id = "an id";
    options.progress = [&](std::uint64_t lines, std::uint64_t) {
      told = before + static_cast<int>(lines);
    };
    const auto done = txn::Apply(options);
    ASSERT_TRUE(done) << done.error().message;
    losses.AtEachCall(nullptr);
    ExpectLines(losses, true, told, told);
    // This file is complete, so what is left accepts another file.
    WriteText(scratch_.File("nothing"), "# nothing\n");
    const auto other = txn::Apply({.store = left_ + "/store", .updates = scratch_.File("nothing")});
    EXPECT_TRUE(other) << other.error().message;
    losses.AtEachCall([&] { ExpectLines(losses, true, told, told); });
    auto store = txn::Store::Open(store_, txn::Store::Use::kWrite);
    ASSERT_TRUE(store);
    const auto image = store->Image();
    ASSERT_TRUE(image) << image.error().message;
    if (file > 0) {
      const Status folded = store->Fold();
      ASSERT_TRUE(folded) << folded.error().message;
    }
    losses.AtEachCall(nullptr);
    ExpectLines(losses, true, told, told);
  }
  EXPECT_EQ(told, 3 * kLines);
  EXPECT_GT(looks_, 50);
}

// At every call the journal tells how many lines are applied, so the file continues there.
TEST_F(PowerLoss, LeavesAnInterruptedFileThatContinues) {
  ASSERT_TRUE(txn::Store::Create(store_, scratch_.File("graph.slim"), {}));
  std::string text;
  for (int i = 0; i < 8; ++i) text += fmt::format("+v {0}\n+ 2 {0}\n-v {0}\n+v 50\n", 40 + i % 2);
  const std::string from = scratch_.File("updates");
  WriteText(from, text);
  PowerLosses losses(disk_);
  std::uint64_t told = 0;
  losses.AtEachCall([&] {
    losses.Leave(Names::kLost, left_);
    const auto done = txn::Apply({.store = left_ + "/store", .updates = from, .batch_id = "an id"});
    ASSERT_TRUE(done) << done.error().message;
    EXPECT_GE(done->lines_before, told);
    EXPECT_LE(done->lines_before, told + 5);
    ++looks_;
  });
  const auto done =
      txn::Apply({.store = store_,
                  .updates = from,
                  .batch = 5,
                  .batch_id = "an id",
                  .progress = [&](std::uint64_t lines, std::uint64_t) { told = lines; }});
  losses.AtEachCall(nullptr);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_GT(looks_, 10);
}

// The sync of the second batch fails. The batch is in the system's cache, so the file continues
// behind it, but then it must be durable too.
TEST_F(PowerLoss, LeavesABatchWhoseSyncHasFailedBefore) {
  ASSERT_TRUE(txn::Store::Create(store_, scratch_.File("graph.slim"), {}));
  const std::string from = scratch_.File("updates");
  WriteText(from, "+ 2 10\n+ 2 11\n");
  PowerLosses losses(disk_);
  std::optional<FailingCalls> failing;
  txn::ApplyOptions options{.store = store_, .updates = from, .batch = 1};
  options.progress = [&](std::uint64_t, std::uint64_t) { failing.emplace("fdatasync"); };
  ASSERT_FALSE(txn::Apply(options));
  failing.reset();
  options.progress = {};
  const auto done = txn::Apply(options);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(done->lines_before, 2u);
  ExpectLines(losses, true, 2, 2);
}

// Who created the store was killed after its last rename.
TEST_F(PowerLoss, LeavesAStoreWhoseNameWasNotDurable) {
  ASSERT_TRUE(txn::Store::Create(disk_ + "/made", scratch_.File("graph.slim"), {}));
  const PowerLosses losses(disk_);
  fs::rename(disk_ + "/made", store_);
  WriteText(scratch_.File("updates"), "+ 2 10\n");
  ASSERT_TRUE(txn::Apply({.store = store_, .updates = scratch_.File("updates")}));
  ExpectLines(losses, true, 1, 1);
}

// A fold was killed after its last rename. The next writer removes no file of the old generation
// before the new manifest is durable.
TEST_F(PowerLoss, LeavesTheFilesOfAManifestThatIsReplaced) {
  ASSERT_TRUE(txn::Store::Create(store_, scratch_.File("graph.slim"), {}));
  WriteText(scratch_.File("updates"), "+ 2 10\n");
  ASSERT_TRUE(txn::Apply({.store = store_, .updates = scratch_.File("updates")}));
  const std::string folded = scratch_.File("folded");
  fs::copy(store_, folded);
  {
    auto store = txn::Store::Open(folded, txn::Store::Use::kWrite);
    ASSERT_TRUE(store);
    ASSERT_TRUE(store->Fold());
  }
  for (const auto& entry : fs::directory_iterator(folded)) {
    const std::string name = entry.path().filename();
    fs::copy_file(entry.path(), store_ + "/" + (name == "manifest" ? "next" : name));
  }
  PowerLosses losses(disk_);
  fs::rename(store_ + "/next", store_ + "/manifest");
  losses.AtEachCall([&] {
    ++looks_;
    losses.Leave(Names::kLost, left_);
    EXPECT_TRUE(fs::exists(store_ + "/base.0.slim") ||
                ReadText(left_ + "/store/manifest") == ReadText(folded + "/manifest"));
  });
  ASSERT_TRUE(txn::Store::Open(store_, txn::Store::Use::kWrite));
  losses.AtEachCall(nullptr);
  EXPECT_FALSE(fs::exists(store_ + "/base.0.slim"));
  EXPECT_GT(looks_, 2);
}

// Who made the folder was killed before its name was durable.
TEST_F(PowerLoss, LeavesALogFolderThatWasMadeBefore) {
  const PowerLosses losses(disk_);
  fs::create_directory(disk_ + "/logs");
  ASSERT_TRUE(txn::MakeLogFolder(disk_ + "/logs"));
  losses.Leave(Names::kLost, left_);
  EXPECT_TRUE(fs::exists(left_ + "/logs"));
}

TEST_F(PowerLoss, LeavesWholeBatchesInLogs) {
  const PowerLosses losses(disk_);
  const std::string logs = disk_ + "/logs";
  ASSERT_TRUE(txn::MakeLogFolder(logs));
  auto writer = txn::BatchLogWriter::Open(txn::LogPath(logs, {1, 0}), 0);
  ASSERT_TRUE(writer);
  const std::uint64_t words[] = {1, 2, 3};
  for (std::size_t i = 1; i <= 3; ++i) {
    ASSERT_TRUE(writer->Append({i, 0, 0}, words));
    for (const Names names : kBoth) {
      losses.Leave(names, left_);
      const auto log = txn::BatchLogReader::Open(txn::LogPath(left_ + "/logs", {1, 0}));
      ASSERT_TRUE(log) << log.error().message;
      EXPECT_EQ(log->batches().size(), i);
    }
  }
}

// The incomplete end of a log is gone for certain before the next batch is written over it.
TEST_F(PowerLoss, LeavesNoEndThatWasCutOff) {
  const std::string path = disk_ + "/log";
  {
    auto writer = txn::BatchLogWriter::Open(path, 0);
    ASSERT_TRUE(writer);
    ASSERT_TRUE(writer->Append({1, 2, 3}, {}));
  }
  const std::string whole = ReadText(path);
  WriteText(path, whole + std::string(100, 'x'));
  const PowerLosses losses(disk_);
  ASSERT_TRUE(txn::BatchLogWriter::Open(path, whole.size()));
  losses.Leave(Names::kLost, left_);
  EXPECT_EQ(ReadText(left_ + "/log"), whole);
}

TEST_F(PowerLoss, LeavesTheOldOrTheNewFile) {
  const std::string path = disk_ + "/file";
  WriteText(path, "old");
  PowerLosses losses(disk_);
  bool told = false;
  const auto expect = [&] {
    for (const Names names : kBoth) {
      losses.Leave(names, left_);
      const std::string text = ReadText(left_ + "/file");
      EXPECT_TRUE(text == "new" || (text == "old" && !told)) << text;
    }
  };
  losses.AtEachCall(expect);
  ASSERT_TRUE(WriteAtomically(path, "new", Outlives::kPowerLoss));
  losses.AtEachCall(nullptr);
  told = true;
  expect();
}

TEST(FailingCalls, KeepTheOldFile) {
  for (const bool has_no_name : {true, false}) {
    for (const char* const call : {"close", "fsync", "rename"}) {
      for (const bool is_there : {true, false}) {
        SCOPED_TRACE(call);
        const ScratchDirectory scratch;
        const std::string path = scratch.File("file");
        if (is_there) WriteText(path, "old");
        std::optional<AtomicFile> file;
        {
          std::optional<FailingCalls> named;
          if (!has_no_name) named.emplace("tmpfile");
          auto made = AtomicFile::Create(path);
          ASSERT_TRUE(made) << made.error().message;
          file.emplace(*std::move(made));
        }
        const std::string text = "new";
        ASSERT_TRUE(file->WriteAt(0, std::as_bytes(std::span(text))));
        {
          const FailingCalls failing(call);
          const Status done = file->Commit(Outlives::kPowerLoss);
          ASSERT_FALSE(done);
          EXPECT_NE(done.error().message.find("Input/output error"), std::string::npos);
        }
        file.reset();
        EXPECT_EQ(NamesIn(scratch.path()),
                  is_there ? std::set<std::string>{"file"} : std::set<std::string>{});
        if (is_there) {
          EXPECT_EQ(ReadText(path), "old");
        }
      }
    }
  }
}

TEST(FailingCalls, KeepTheOldStore) {
  const ScratchDirectory scratch;
  const std::string path = scratch.File("store");
  ASSERT_TRUE(txn::Store::Create(path, "", {}));
  WriteText(scratch.File("updates"), "+v 1\n+v 2\n+ 1 2\n");
  ASSERT_TRUE(txn::Apply({.store = path, .updates = scratch.File("updates")}));
  std::string manifest = ReadText(path + "/manifest");
  // Storing a batch id replaces only the manifest.
  for (const char* const call : {"close", "rename"}) {
    SCOPED_TRACE(call);
    const txn::ApplyOptions again{
        .store = path, .updates = scratch.File("updates"), .batch_id = call};
    {
      const FailingCalls failing(call);
      EXPECT_FALSE(txn::Apply(again));
    }
    EXPECT_EQ(ReadText(path + "/manifest"), manifest);
    const auto done = txn::Apply(again);
    ASSERT_TRUE(done) << done.error().message;
    EXPECT_EQ(done->lines_before, 3u);
    manifest = ReadText(path + "/manifest");
  }
  const auto edges = EdgesOf(path);
  ASSERT_TRUE(edges);
  for (const char* const call : {"close", "fsync", "rename", "fdatasync"}) {
    SCOPED_TRACE(call);
    auto store = txn::Store::Open(path, txn::Store::Use::kWrite);
    ASSERT_TRUE(store);
    {
      const FailingCalls failing(call);
      EXPECT_EQ(store->Fold().has_value(), call == std::string("fdatasync"));
    }
    store = tl::unexpected<Error>({ErrorKind::kInput, ""});  // closes the store
    if (call != std::string("fdatasync")) {
      EXPECT_EQ(ReadText(path + "/manifest"), manifest);
    }
    const auto now = EdgesOf(path);
    ASSERT_TRUE(now) << now.error().message;
    EXPECT_EQ(*now, *edges);
  }
}

// If the file system has no files without a name, temporary names must not collide with existing
// files.
TEST(AtomicFiles, TemporaryNamesAreUnpredictable) {
  const ScratchDirectory scratch;
  const FailingCalls failing("tmpfile");
  const std::string path = scratch.File("file");
  WriteText(scratch.File("another's"), "untouched");
  const std::string guess = fmt::format("{}.{}.partial", path, ::getpid());
  fs::create_symlink(scratch.File("another's"), guess);
  std::set<std::string> names;
  for (int i = 0; i < 2; ++i) {
    auto file = AtomicFile::Create(path);
    ASSERT_TRUE(file) << file.error().message;
    for (const std::string& name : NamesIn(scratch.path())) names.insert(name);
    const std::string text = "new";
    ASSERT_TRUE(file->WriteAt(0, std::as_bytes(std::span(text))));
    ASSERT_TRUE(file->Commit());
  }
  EXPECT_EQ(names.size(), 5u) << "two partial names, and the three others";
  EXPECT_EQ(ReadText(scratch.File("another's")), "untouched");
  EXPECT_EQ(ReadText(path), "new");
}

}  // namespace
}  // namespace slimgraph::test
