// Only a process that knows the secret can prove it: for its own role, in one session, for one
// purpose.
#include "slimgraph/launch/handshake.h"

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <set>

#include "slimgraph/launch/job.h"
#include "tests/support/lost_call.h"
#include "tests/support/unwrap.h"

namespace slimgraph {
namespace {

Bytes BytesOf(std::string_view text) { return std::as_bytes(std::span(text)); }

class Handshake : public ::testing::Test {
 protected:
  const HandshakeKey key_ = Unwrap(HandshakeKey::Derive("the secret", "join"));
  const Challenges challenges_{Unwrap(NewChallenge()), Unwrap(NewChallenge())};
  const Bytes claims_ = BytesOf("node 3");
  const Proof proof_ = key_.Prove(Role::kOpener, challenges_, claims_);
};

TEST_F(Handshake, AcceptsAProofMadeWithTheSecret) {
  const auto other_side = Unwrap(HandshakeKey::Derive("the secret", "join"));
  EXPECT_TRUE(other_side.Verify(proof_, Role::kOpener, challenges_, claims_));
}

TEST_F(Handshake, RejectsProofsOfAnotherSecretOrPurpose) {
  for (const auto& [secret, purpose] :
       {std::pair{"a secret", "join"}, {"the secret", "tcp"}, {"the secre", "join"}}) {
    const auto other = Unwrap(HandshakeKey::Derive(secret, purpose));
    EXPECT_FALSE(other.Verify(proof_, Role::kOpener, challenges_, claims_)) << secret << purpose;
  }
  // The boundary between secret and purpose is hashed as well.
  const auto one = Unwrap(HandshakeKey::Derive("bc", "a"));
  const auto other = Unwrap(HandshakeKey::Derive("c", "ab"));
  EXPECT_NE(one.Prove(Role::kOpener, challenges_, {}), other.Prove(Role::kOpener, challenges_, {}));
}

TEST_F(Handshake, RejectsProofsOfTheOtherSideOrSessionOrClaims) {
  EXPECT_FALSE(key_.Verify(proof_, Role::kAcceptor, challenges_, claims_));
  EXPECT_FALSE(key_.Verify(proof_, Role::kOpener, challenges_, BytesOf("node 4")));
  EXPECT_FALSE(key_.Verify(proof_, Role::kOpener, challenges_, BytesOf("node 3 ")));
  const Challenge another = Unwrap(NewChallenge());
  EXPECT_FALSE(key_.Verify(proof_, Role::kOpener, {another, challenges_.opener}, claims_));
  EXPECT_FALSE(key_.Verify(proof_, Role::kOpener, {challenges_.acceptor, another}, claims_));
  EXPECT_FALSE(
      key_.Verify(proof_, Role::kOpener, {challenges_.opener, challenges_.acceptor}, claims_));
}

TEST_F(Handshake, RejectsAProofWithABitChanged) {
  for (std::size_t bit = 0; bit < proof_.size() * 8; ++bit) {
    Proof changed = proof_;
    changed[bit / 8] ^= std::byte{1} << bit % 8;
    EXPECT_FALSE(key_.Verify(changed, Role::kOpener, challenges_, claims_)) << bit;
  }
}

TEST_F(Handshake, DrawsEachChallengeAndSecretOnce) {
  std::set<Challenge> challenges;
  std::set<std::string> secrets;
  for (int i = 0; i < 100; ++i) {
    challenges.insert(Unwrap(NewChallenge()));
    secrets.insert(Unwrap(NewSecret()));
  }
  EXPECT_EQ(challenges.size(), 100U);
  EXPECT_EQ(secrets.size(), 100U);
  EXPECT_EQ(secrets.begin()->find_first_not_of("0123456789abcdef"), std::string::npos);
}

TEST_F(Handshake, HasNoKeyWithoutASecret) {
  const auto key = HandshakeKey::Derive("", "join");
  ASSERT_FALSE(key);
  EXPECT_EQ(key.error().exit_code(), 4);
}

TEST_F(Handshake, HasNoSecretWhereTheSystemGivesNoRandomBytes) {
  const pid_t child = ::fork();
  if (child == 0) {
    if (!test::LoseCall(SYS_getrandom)) ::_exit(77);
    const auto secret = NewSecret();
    const auto of_one_node = Job::Alone()->KeyFor("tcp");
    ::_exit(secret || of_one_node || NewChallenge() || secret.error().exit_code() != 4 ? 1 : 0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 77) GTEST_SKIP() << "no seccomp filter here";
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace slimgraph
