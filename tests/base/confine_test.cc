// What a confined process can still do. Each test confines a child.
#include "slimgraph/base/confine.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <functional>
#include <thread>

#include "slimgraph/base/unique_fd.h"
#include "tests/support/command.h"

namespace slimgraph {
namespace {

class Confined : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!CanConfine()) GTEST_SKIP() << "this kernel has no Landlock";
    WriteText(File("there"), "private");
    WriteText(File("own"), "its own");
  }
  std::string File(const std::string& name) const { return scratch_.File(name); }
  // What a child says after it has been confined, or before that.
  bool InChild(bool confined, const std::function<bool()>& holds) const {
    const pid_t child = ::fork();
    if (child == 0) ::_exit((!confined || Confine(File("own"))) && holds() ? 0 : 1);
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }
  // Everybody else can do it, so that this test does not pass for another reason.
  void ExpectOnlyUnconfined(const char* what, const std::function<bool()>& can) const {
    EXPECT_TRUE(InChild(false, can)) << what;
    EXPECT_FALSE(InChild(true, can)) << what;
  }
  static bool Opens(const std::string& path, int flags) {
    return UniqueFd(::open(path.c_str(), flags, 0600)).get() >= 0;
  }

 private:
  ScratchDirectory scratch_;
};

TEST_F(Confined, OpensNoFileByName) {
  const std::string there = File("there");
  ExpectOnlyUnconfined("read", [&] { return Opens(there, O_RDONLY); });
  ExpectOnlyUnconfined("write", [&] { return Opens(there, O_WRONLY); });
  ExpectOnlyUnconfined("list", [&] { return Opens(File(""), O_RDONLY | O_DIRECTORY); });
  ExpectOnlyUnconfined("create", [&] { return Opens(File("new"), O_WRONLY | O_CREAT | O_EXCL); });
  ExpectOnlyUnconfined("rename", [&] {
    return std::rename(there.c_str(), File("moved").c_str()) == 0 &&
           std::rename(File("moved").c_str(), there.c_str()) == 0;
  });
  ExpectOnlyUnconfined("truncate", [&] { return ::truncate(there.c_str(), 7) == 0; });
  ExpectOnlyUnconfined("remove", [&] { return std::remove(there.c_str()) == 0; });
}

TEST_F(Confined, StartsNoProgram) {
  ExpectOnlyUnconfined("exec", [] {
    ::execl("/bin/true", "true", nullptr);
    return false;
  });
}

TEST_F(Confined, HasNoPowerOverOtherProcesses) {
  const std::string parent = "/proc/" + std::to_string(::getpid());
  ExpectOnlyUnconfined("environment", [&] { return Opens(parent + "/environ", O_RDONLY); });
  ExpectOnlyUnconfined("memory", [&] { return Opens(parent + "/mem", O_RDONLY); });
  ExpectOnlyUnconfined("files", [&] { return Opens(parent + "/fd/0", O_RDONLY | O_PATH); });
  utsname system{};
  int major = 0, minor = 0;
  ASSERT_EQ(::uname(&system), 0);
  ASSERT_EQ(std::sscanf(system.release, "%d.%d", &major, &minor), 2);
  if (std::pair(major, minor) < std::pair(6, 12)) return;
  ExpectOnlyUnconfined("signal", [] { return ::kill(::getppid(), 0) == 0; });
}

TEST_F(Confined, CanBeWithoutAFile) {
  std::remove(File("own").c_str());
  EXPECT_TRUE(InChild(true, [] { return Opens("/proc/self/stat", O_RDONLY); }));
}

TEST_F(Confined, KeepsWhatItNeeds) {
  const UniqueFd before(::open(File("there").c_str(), O_RDWR));
  EXPECT_TRUE(InChild(true, [&] {
    char byte = 0;
    if (::pread(before.get(), &byte, 1, 0) != 1 || ::pwrite(before.get(), &byte, 1, 0) != 1) {
      return false;
    }
    const UniqueFd memory(::memfd_create("new", MFD_CLOEXEC));
    bool alive = memory.get() >= 0 && ::ftruncate(memory.get(), 4096) == 0;
    std::thread([&] { alive = alive && Opens("/proc/self/stat", O_RDONLY); }).join();
    return alive && Opens("/sys/devices/system/cpu/online", O_RDONLY) &&
           Opens(File("own"), O_RDONLY) && !Opens(File("own"), O_WRONLY);
  }));
  // Threads that start later are confined, too.
  ExpectOnlyUnconfined("thread", [&] {
    bool opens = false;
    std::thread([&] { opens = Opens(File("there"), O_RDONLY); }).join();
    return opens;
  });
}

}  // namespace
}  // namespace slimgraph
