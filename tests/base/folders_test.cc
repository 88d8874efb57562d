// Files and folders by name, and files that stay open for writing.
#include "slimgraph/base/folders.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <span>

#include "slimgraph/base/file_io.h"
#include "slimgraph/base/mapped_file.h"
#include "slimgraph/base/output_file.h"
#include "slimgraph/base/sync.h"
#include "tests/support/command.h"

namespace slimgraph {
namespace {

Bytes AsBytes(const std::string& text) { return std::as_bytes(std::span(text)); }

class Folders : public ::testing::Test {
 protected:
  const ScratchDirectory scratch_;
  const std::string folder_ = scratch_.File("folder");
};

TEST_F(Folders, AreMadeListedRenamedAndRemoved) {
  EXPECT_FALSE(*Exists(folder_));
  EXPECT_FALSE(*IsFolder(folder_));
  EXPECT_TRUE(*MakeFolder(folder_));
  EXPECT_FALSE(*MakeFolder(folder_)) << "it existed";
  EXPECT_TRUE(*IsFolder(folder_));
  EXPECT_TRUE(CheckWritable(folder_));
  WriteText(folder_ + "/b", "");
  WriteText(folder_ + "/.a", "");
  EXPECT_FALSE(*IsFolder(folder_ + "/b"));
  EXPECT_FALSE(*Exists(folder_ + "/b/c"));
  auto names = *NamesIn(folder_);
  std::sort(names.begin(), names.end());
  EXPECT_EQ(names, (std::vector<std::string>{".a", "b"}));
  ASSERT_TRUE(Rename(folder_ + "/b", folder_ + "/c"));
  EXPECT_FALSE(RemoveFolder(folder_)) << "it is not empty";
  EXPECT_TRUE(*RemoveFile(folder_ + "/c"));
  EXPECT_FALSE(*RemoveFile(folder_ + "/c")) << "it is gone";
  EXPECT_TRUE(*RemoveFile(folder_ + "/.a"));
  EXPECT_TRUE(RemoveFolder(folder_));
  EXPECT_FALSE(*Exists(folder_));
}

TEST_F(Folders, AreNotMissingIfTheSystemCannotTell) {
  const std::string loop = scratch_.File("loop");
  std::filesystem::create_symlink(loop, loop);
  EXPECT_EQ(Exists(loop).error().message,
            loop + ": cannot be looked up: Too many levels of symbolic links");
  EXPECT_FALSE(IsFolder(loop));
}

TEST_F(Folders, NameThePathThatIsWrong) {
  const std::string none = folder_ + "/none";
  EXPECT_EQ(MakeFolder(none).error().message,
            none + ": the folder cannot be made: No such file or directory");
  EXPECT_EQ(NamesIn(none).error().message, none + ": No such file or directory");
  EXPECT_EQ(LockFolder(none, LockKind::kShared).error().message,
            none + ": No such file or directory");
  EXPECT_EQ(Rename(none, folder_).error().message,
            folder_ + ": cannot get this name: No such file or directory");
}

TEST_F(Folders, LetSeveralReadersOrOneWriterIn) {
  ASSERT_TRUE(MakeFolder(folder_));
  const auto allowed = [&](LockKind kind) { return LockFolder(folder_, kind)->has_value(); };
  {
    const auto reader = LockFolder(folder_, LockKind::kShared);
    ASSERT_TRUE(reader && *reader);
    EXPECT_TRUE(allowed(LockKind::kShared));
    EXPECT_FALSE(allowed(LockKind::kExclusive));
  }
  const auto writer = LockFolder(folder_, LockKind::kExclusive);
  ASSERT_TRUE(writer && *writer);
  EXPECT_FALSE(allowed(LockKind::kShared));
  EXPECT_FALSE(allowed(LockKind::kExclusive));
}

// The processes of a killed job may end a moment after it.
TEST_F(Folders, AreLockedOnceWhoHoldsThemLetsGo) {
  ASSERT_TRUE(MakeFolder(folder_));
  auto first = LockFolder(folder_, LockKind::kExclusive);
  ASSERT_TRUE(first && *first);
  Thread ending([&] {
    SleepFor(std::chrono::milliseconds(100));
    first->reset();
  });
  const auto second = LockFolder(folder_, LockKind::kExclusive);
  ending.join();
  EXPECT_TRUE(second && *second);
}

TEST_F(Folders, KeepWhatAnOutputFileHeldBefore) {
  const std::string path = scratch_.File("log");
  WriteText(path, "0123456789");
  {
    const auto file = OutputFile::Open(path);
    ASSERT_TRUE(file);
    ASSERT_TRUE(file->Truncate(4));
    ASSERT_TRUE(file->WriteAt(6, AsBytes("ab")));
    ASSERT_TRUE(file->Sync());
  }
  EXPECT_EQ(ReadText(path), std::string("0123\0\0ab", 8));
  const auto mapped = MappedFile::Open(path);
  ASSERT_TRUE(mapped);
  EXPECT_EQ(mapped->bytes().size(), 8u);
  EXPECT_EQ(mapped->bytes()[7], std::byte{'b'});
}

TEST_F(Folders, KeepWholeLinesOfSeveralThreads) {
  const std::string path = scratch_.File("lines");
  WriteText(path, "old");
  const auto file = OutputFile::CreateForAppending(path);
  ASSERT_TRUE(file);
  {
    std::vector<Thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&file, t] {
        const std::string line(100, static_cast<char>('a' + t));
        for (int i = 0; i < 50; ++i) EXPECT_TRUE(file->Append(AsBytes(line + "\n")));
      });
    }
  }
  const std::string text = ReadText(path);
  ASSERT_EQ(text.size(), 4u * 50 * 101);
  for (std::size_t at = 0; at < text.size(); at += 101) {
    EXPECT_EQ(text.substr(at, 101), std::string(100, text[at]) + "\n");
  }
}

TEST_F(Folders, TellThatAFileHasNoRoom) {
  const std::string path = scratch_.File("full");
  const pid_t child = ::fork();
  if (child == 0) {
    IgnoreFileSizeSignal();
    const rlimit limit{100, 100};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    const auto file = OutputFile::CreateForAppending(path);
    const bool first = file && file->Append(AsBytes(std::string(80, 'x')));
    const Status part = file->Append(AsBytes(std::string(80, 'x')));
    const Status none = file->Append(AsBytes(std::string(80, 'x')));
    ::_exit(first && !part && !none ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace slimgraph
