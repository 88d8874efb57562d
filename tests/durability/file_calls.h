// Wrappers of system calls that change files. They record what a power failure would leave after
// each call, and inject failures. The test is linked with them instead of libc's functions.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace slimgraph::test {

// Records which contents of a folder tree are durable: of each file, its contents when it was last
// synced; of each folder, its names at that time.
class PowerLosses {
 public:
  // Everything in the folder now is durable. Only one object may exist at a time.
  explicit PowerLosses(const std::string& folder);
  ~PowerLosses();

  // `look` is called after each call that changes names or makes something durable. Null ends this.
  // Calls made by `look` itself are not recorded.
  void AtEachCall(std::function<void()> look);

  // Creates the folder `to` with what a power failure would leave now. Contents that were not
  // synced are lost. Names that were not synced may be lost or survive; this tests the two
  // extremes.
  enum class Names { kLost, kSurvive };
  void Leave(Names names, const std::string& to) const;

  // --- called by the wrappers
  static PowerLosses* current();
  void Synced(int fd);
  void NamesChanged();

 private:
  using Inode = unsigned long;
  struct Folder {
    std::map<std::string, Inode> names;
  };
  void LeaveDurable(Inode folder, const std::string& to) const;
  void LeaveNames(const std::string& from, const std::string& to) const;
  void WriteContents(Inode file, const std::string& to) const;
  void Look();

  const std::string folder_;
  Inode root_ = 0;
  std::map<Inode, std::string> files_;
  std::map<Inode, Folder> folders_;
  std::vector<int> kept_;  // open files, so that no inode number is reused
  std::function<void()> look_;
  bool looking_ = false;
};

// While it lives, one kind of call fails with EIO: "close" (of files open for writing), "fsync",
// "fdatasync", "rename", or "tmpfile" (creation of files without a name).
class FailingCalls {
 public:
  explicit FailingCalls(std::string name);
  ~FailingCalls();
  static bool Fail(const char* name);
};

}  // namespace slimgraph::test
