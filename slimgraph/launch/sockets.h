// Small helpers over TCP sockets, for control traffic, tests and measurements.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "slimgraph/base/result.h"
#include "slimgraph/base/unique_fd.h"

namespace slimgraph {

// Listens on a free port of `address` ("0.0.0.0" for all).
Result<UniqueFd> ListenOnAnyPort(const char* address);
std::uint16_t PortOf(int listener);

// Tries "host:port[,host:port…]" in order.
Result<UniqueFd> ConnectToAny(std::string_view addresses, int timeout_ms);

// No delay, no endless wait of a sender.
void SetUpControlSocket(int fd);

std::string LocalAddress(int fd);
std::string RemoteAddress(int fd);

// This host's IPv4 addresses, those that others can reach first, loopback last.
std::vector<std::string> HostAddresses();

}  // namespace slimgraph
