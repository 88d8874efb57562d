// The disks of a simulation, one for each node, which outlive their nodes. The file /sim/N/PATH is
// on the disk of node N, whichever node opens it.
//
// Each disk has a page cache, which is what nodes read, and what is durable. When the power is cut,
// everything that was not synced is lost or kept at random, each part independently of all others:
// a file's sectors and its length, and the names in folders. A name is made durable by a sync of
// its folder.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "slimgraph/base/sim/scheduler.h"
#include "slimgraph/base/types.h"

namespace slimgraph::sim {

class Inode;

class Disks {
 public:
  // Those of the simulation whose thread is running.
  static Disks& Current();
  static bool Has(int fd) { return fd >= kFirstDescriptor; }
  static bool Has(std::string_view path) { return path.starts_with(kPrefix); }

  explicit Disks(Scheduler& scheduler);
  ~Disks();
  Disks(const Disks&) = delete;
  Disks& operator=(const Disks&) = delete;

  // The calls of files.h.
  int Open(const std::string& path, int flags);
  int Close(int fd);
  ssize_t ReadAt(int fd, MutableBytes into, std::uint64_t offset);
  ssize_t WriteAt(int fd, Bytes bytes, std::uint64_t offset);
  ssize_t Append(int fd, Bytes bytes);
  int Truncate(int fd, std::uint64_t bytes);
  int Sync(int fd);
  int StatOf(int fd, struct stat& info);
  int StatOf(const std::string& path, struct stat& info);
  int Lock(int fd, int operation);
  void* Map(int fd, std::size_t bytes);
  int Name(int unnamed_fd, const std::string& path);
  int Rename(const std::string& from, const std::string& to);
  int Remove(const std::string& path);
  int MakeFolder(const std::string& path);
  int RemoveFolder(const std::string& path);
  int List(const std::string& folder, std::vector<std::string>& names);

  // Faults. The node must have ended when its power is cut. What other nodes have open on its disk
  // is closed.
  void CutPower(NodeId node);
  // Files can grow by so many bytes together before the disk is full.
  void LimitRoom(NodeId node, std::uint64_t bytes) { DiskOf(node).room = bytes; }
  // The operation after that many fails with EIO. If it is a sync of a file, a later one that
  // succeeds does not make durable what this one should have, as on Linux.
  void FailAfter(NodeId node, std::uint64_t operations) { DiskOf(node).until_failure = operations; }
  // The mean time of a sync.
  void SetSyncTime(NodeId node, std::uint64_t ns) { DiskOf(node).sync_ns = ns; }
  // The number of operations so far.
  std::uint64_t operations(NodeId node) { return DiskOf(node).operations; }

  // Closes all that a node has open, as the system does when a process ends.
  void CloseAllOf(NodeId node);

 private:
  static constexpr int kFirstDescriptor = 1 << 25;  // after those of the network
  static constexpr std::string_view kPrefix = "/sim/";
  using InodePointer = std::shared_ptr<Inode>;

  struct Disk {
    InodePointer root;
    bool has_unnamed_files = false;  // O_TMPFILE
    std::uint64_t room = kForever;
    std::uint64_t until_failure = kForever;
    std::uint64_t sync_ns = 200'000;
    std::uint64_t operations = 0;
  };
  struct OpenFile {
    InodePointer inode;
    Disk* disk;
    NodeId node;  // that has opened it
    int flags;
  };
  struct Place {
    Disk* disk = nullptr;
    InodePointer folder;
    std::string name;    // empty for the root of a disk
    InodePointer inode;  // null if there is none
  };

  Disk& DiskOf(NodeId node);
  bool Begin(Disk& disk);
  bool Begin(const std::string& path, Place& place);
  OpenFile* Begin(int fd);
  Place Find(const std::string& path);
  OpenFile* Find(int fd);
  int Add(const Place& place, InodePointer inode, int flags);
  void SpendSync(const Disk& disk);

  Scheduler& scheduler_;
  std::map<NodeId, Disk> disks_;
  std::vector<std::unique_ptr<OpenFile>> open_;  // by number; null once closed
};

}  // namespace slimgraph::sim
