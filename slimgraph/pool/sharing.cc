#include "slimgraph/pool/sharing.h"

#include "slimgraph/base/folders.h"
#include "slimgraph/launch/handshake.h"

namespace slimgraph {

Result<std::string> KeyOfReaders(std::string_view pools_key) {
  return DeriveSecret(pools_key, "key of a pool's readers");
}

Result<std::string> DescriptorForReaders(const std::string& name) {
  SLIM_ASSIGN(PoolDescriptor pool, ReadOwnDescriptor(name, "shares it"));
  SLIM_ASSIGN(pool.key, KeyOfReaders(pool.key));
  pool.read_only = true;
  return DescriptorText(pool);
}

Result<PoolDescriptor> AddPool(const std::string& file, const std::string& name) {
  SLIM_ASSIGN(const PoolDescriptor pool, ReadDescriptorFile(file, name));
  const std::string& called = pool.name;
  SLIM_TRY(CheckPoolName("pool", called));
  SLIM_ASSIGN(const PoolLock lock, LockPool(called));
  SLIM_ASSIGN(const std::string folder, PoolsFolder());
  SLIM_ASSIGN(const bool exists, Exists(DescriptorPath(folder, called)));
  if (exists) {
    const auto present = ReadDescriptor(called);
    if (present && !present->read_only && present->key != pool.key) {
      return UsageError("there is a pool '{}' already: give another name by --as", called);
    }
  }
  SLIM_TRY(WriteDescriptor(pool));
  return pool;
}

Status ForgetPool(const std::string& name) {
  SLIM_ASSIGN(const PoolDescriptor pool, ReadDescriptor(name));
  if (!pool.read_only) {
    return UsageError(
        "pool '{}' is not one that is shared with you: 'slimgraph pool stop {}' ends it", name,
        name);
  }
  SLIM_ASSIGN(const PoolLock lock, LockPool(name));
  return RemoveDescriptor(name);
}

}  // namespace slimgraph
