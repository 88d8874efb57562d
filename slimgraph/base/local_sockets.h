// Sockets between processes of one machine, with names in the abstract namespace of Unix sockets: a
// name needs no file, and vanishes with its owner. They keep the limits of messages.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

#include "slimgraph/base/result.h"
#include "slimgraph/base/unique_fd.h"

namespace slimgraph {

constexpr std::size_t kMaxLocalName = 107;  // characters

// A non-blocking socket. Empty, and errno says why, if it cannot be made: EADDRINUSE if a process
// listens at this name already.
UniqueFd ListenLocally(std::string_view name, int backlog);
// Empty, and errno says why, if nothing listens there.
UniqueFd ConnectLocally(std::string_view name);
// The process on the other side; 0 if it is not of this user.
pid_t PeerOfThisUser(int fd);

}  // namespace slimgraph
