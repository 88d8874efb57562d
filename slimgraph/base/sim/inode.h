// A file or folder of a simulated disk: what nodes see, what is durable, and all that lies between.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "slimgraph/base/sim/scheduler.h"
#include "slimgraph/base/types.h"

namespace slimgraph::sim {

class Inode {
 public:
  static constexpr std::uint64_t kSectorBytes = 512;
  using Pointer = std::shared_ptr<Inode>;

  explicit Inode(bool is_folder) : is_folder_(is_folder) {}

  bool is_folder() const { return is_folder_; }
  std::map<int, bool> locks;  // by descriptor, whether it is exclusive

  // A file. It begins empty.
  Bytes contents() const { return cached_; }
  void Write(Scheduler& scheduler, std::uint64_t offset, Bytes bytes);
  void Truncate(Scheduler& scheduler, std::uint64_t bytes);

  // What one sync makes durable: the file as it is when the sync begins.
  struct Snapshot {
    std::map<std::uint64_t, std::uint64_t> sectors;  // and the number of their last write
    std::vector<std::byte> contents;
    std::size_t lengths;  // how many lengths it has had
    std::uint64_t writes;
  };
  Snapshot BeginSync() const { return {dirty_, cached_, lengths_.size(), writes_}; }
  void EndSync(const Snapshot& begun);
  // No later sync writes these sectors again, as the system takes them for written.
  void FailSync(Scheduler& scheduler, const Snapshot& begun);

  // A folder.
  const std::map<std::string, Pointer>& names() const { return names_; }
  Pointer Find(const std::string& name) const;
  void SetName(const std::string& name, Pointer inode);  // null: there is no such name any more
  std::map<std::string, std::size_t> BeginFolderSync() const;
  void EndFolderSync(const std::map<std::string, std::size_t>& begun);

  // A power cut. `keeps()`: whether a part that was not synced is kept. `fills()`: a byte of a
  // sector that belongs to the file but was never written.
  void LoseContents(const std::function<bool()>& keeps, const std::function<std::byte()>& fills);
  void LoseNames(const std::function<bool()>& keeps);

 private:
  void MakeDurable(std::uint64_t sector, Bytes contents);

  const bool is_folder_;
  std::vector<std::byte> cached_;
  std::vector<std::byte> durable_;  // sectors on the disk, also behind the end of the file
  std::uint64_t durable_bytes_ = 0;
  std::vector<std::uint64_t> lengths_;            // since the last sync
  std::map<std::uint64_t, std::uint64_t> dirty_;  // sectors and the number of their last write
  std::uint64_t writes_ = 0;
  std::uint64_t synced_writes_ = 0;  // that a sync has covered
  std::map<std::string, Pointer> names_;
  std::map<std::string, Pointer> durable_names_;
  std::map<std::string, std::vector<Pointer>> changes_;  // of names, since the last sync
};

}  // namespace slimgraph::sim
