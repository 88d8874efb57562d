#include "slimgraph/fabric/internal/tcp/opening.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <span>

#include "slimgraph/base/poller.h"
#include "slimgraph/base/sockets.h"

namespace slimgraph {

namespace {

constexpr int kSilenceS = 3;
constexpr std::chrono::milliseconds kPollInterval{
    50};  // how often to check whether the connection is still wanted

}  // namespace

std::optional<TcpStreamKeys> StreamKeysOf(bool encrypts, const HandshakeKey& key,
                                          const Challenges& challenges, const TcpClaims& claims) {
  if (!encrypts) return std::nullopt;
  const Bytes claimed = std::as_bytes(std::span(&claims, 1));
  return TcpStreamKeys{.of_opener = key.Prove(Role::kOpenersStream, challenges, claimed),
                       .of_acceptor = key.Prove(Role::kAcceptorsStream, challenges, claimed)};
}

Result<TcpOpened> OpenTcpConnection(const TcpContact& contact, const HandshakeKey& key,
                                    const TcpClaims& claims, bool encrypts,
                                    const std::function<bool()>& wanted) {
  SLIM_ASSIGN(const SocketAddress address, Resolve(contact.host, contact.port));
  SLIM_ASSIGN(UniqueFd fd, StartConnecting(address));
  TuneTcp(fd.get());
  TcpHello hello{.challenge = {}, .claims = claims, .proof = {}};
  SLIM_ASSIGN(hello.challenge, NewChallenge());
  const Challenges challenges{.acceptor = contact.challenge, .opener = hello.challenge};
  const Bytes claimed = std::as_bytes(std::span(&claims, 1));
  hello.proof = key.Prove(Role::kOpener, challenges, claimed);
  while (!AwaitWritable(fd.get(), kPollInterval)) {
    if (!wanted())
      return EnvironmentError("{}:{} is not wanted any more", contact.host, contact.port);
  }
  if (SendBytes(fd.get(), std::as_bytes(std::span(&hello, 1))) != sizeof hello) {
    return EnvironmentError("cannot connect to {}:{}: {}", contact.host, contact.port,
                            std::strerror(errno));
  }
  return TcpOpened{.fd = std::move(fd),
                   .claims = claims,
                   .welcome = key.Prove(Role::kAcceptor, challenges, claimed),
                   .keys = StreamKeysOf(encrypts, key, challenges, claims)};
}

void TuneTcp(int fd) {
  SendWithoutDelay(fd);
  SetSocketOption(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
  SetSocketOption(fd, IPPROTO_TCP, TCP_KEEPIDLE, 1);
  SetSocketOption(fd, IPPROTO_TCP, TCP_KEEPINTVL, 1);
  SetSocketOption(fd, IPPROTO_TCP, TCP_KEEPCNT, kSilenceS);
}

}  // namespace slimgraph
