#include "slimgraph/base/shared_file.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstring>

#include "tests/support/command.h"
#include "tests/support/unwrap.h"

namespace slimgraph {
namespace {

TEST(SharedFile, HasWhatWasWrittenToItsMemory) {
  const ScratchDirectory scratch;
  const std::string path = scratch.File("file");
  WriteText(path, "what was there before");
  const auto file = Unwrap(SharedFile::Create(path, 10'000));
  EXPECT_EQ(ReadText(path), std::string(10'000, '\0'));
  // Another mapping of it, as other processes have.
  const auto other = Unwrap(SharedMemory::Open(file->memory().handle()));
  std::memcpy(other->base() + 9'000, "remote", 6);
  std::memcpy(file->bytes().data() + 5, "own", 3);
  Unwrap(file->Sync());
  const std::string found = ReadText(path);
  EXPECT_EQ(found.size(), 10'000u);
  EXPECT_EQ(found.substr(5, 3), "own");
  EXPECT_EQ(found.substr(9'000, 6), "remote");
}

// Writes to memory could not report it later.
TEST(SharedFile, TellsAtOnceThatThereIsNoRoom) {
  const ScratchDirectory scratch;
  const auto missing = SharedFile::Create(scratch.File("no/file"), 10);
  ASSERT_FALSE(missing);
  EXPECT_NE(missing.error().message.find("no/file"), std::string::npos);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit little = before;
  little.rlim_cur = 100'000;
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &little), 0);
  const auto large = SharedFile::Create(scratch.File("large"), 200'000);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  ASSERT_FALSE(large);
  EXPECT_NE(large.error().message.find("large: cannot write"), std::string::npos)
      << large.error().message;
}

}  // namespace
}  // namespace slimgraph
