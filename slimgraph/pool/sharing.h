// Pools that their users share with others, who run jobs there and change nothing else: they cannot
// load or drop graphs, start, stop or share on the pool, or end and resize jobs of its user.
#pragma once

#include <string>

#include "slimgraph/base/result.h"
#include "slimgraph/pool/descriptor.h"

namespace slimgraph {

// A descriptor for others, as text. Its key is made from the pool's, which it does not reveal.
Result<std::string> DescriptorForReaders(const std::string& pool);
// The key of the readers of a pool with this key.
Result<std::string> KeyOfReaders(std::string_view pools_key);

// Adds a pool to this user's, by a descriptor that somebody has passed on. The pool is called
// `name` here; "": as it is there. Replaces what was added before. An error if it would replace a
// pool that this user has started.
Result<PoolDescriptor> AddPool(const std::string& file, const std::string& name);
// Forgets a pool that was added. An error if this user has started it.
Status ForgetPool(const std::string& name);

}  // namespace slimgraph
