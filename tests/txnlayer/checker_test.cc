// Histories written by hand: the checker finds all violations, and no others.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/list_append_checker.h"

namespace slimgraph::test {
namespace {

// The line "0 invoke …"; in `value`, ' stands for ".
std::string Line(int process, const std::string& type, std::string value) {
  std::replace(value.begin(), value.end(), '\'', '"');
  return "{\"index\":0,\"type\":\"" + type + "\",\"process\":" + std::to_string(process) +
         ",\"value\":[" + value + "]}";
}

void ExpectVerdicts(const std::vector<std::string>& history, bool serializable, bool strict) {
  EXPECT_EQ(CheckListAppend(history, Level::kSerializable).empty(), serializable);
  EXPECT_EQ(CheckListAppend(history, Level::kStrictSerializable).empty(), strict);
}

TEST(ListAppendChecker, AcceptsASerialHistory) {
  ExpectVerdicts({Line(0, "invoke", "['append',1,5]"), Line(0, "ok", "['append',1,5]"),
                  Line(1, "invoke", "['r',1,null],['append',1,6],['r',1,null]"),
                  Line(1, "ok", "['r',1,[5]],['append',1,6],['r',1,[5,6]]"),
                  Line(0, "invoke", "['append',1,7]"), Line(0, "fail", "['append',1,7]"),
                  Line(0, "invoke", "['r',1,null]"), Line(0, "ok", "['r',1,[5,6]]")},
                 true, true);
}

TEST(ListAppendChecker, RejectsAStaleReadOnlyUnderStrictSerializability) {
  ExpectVerdicts({Line(0, "invoke", "['append',1,5]"), Line(0, "ok", "['append',1,5]"),
                  Line(1, "invoke", "['r',1,null]"), Line(1, "ok", "['r',1,[]]"),
                  Line(1, "invoke", "['r',1,null]"), Line(1, "ok", "['r',1,[5]]")},
                 true, false);
}

TEST(ListAppendChecker, RejectsALostUpdate) {
  ExpectVerdicts(
      {Line(0, "invoke", "['r',1,null],['append',1,5]"),
       Line(1, "invoke", "['r',1,null],['append',1,6]"), Line(0, "ok", "['r',1,[]],['append',1,5]"),
       Line(1, "ok", "['r',1,[]],['append',1,6]"), Line(0, "invoke", "['r',1,null]"),
       Line(0, "ok", "['r',1,[6]]")},
      false, false);
}

TEST(ListAppendChecker, RejectsWriteSkew) {
  ExpectVerdicts(
      {Line(0, "invoke", "['r',1,null],['append',2,5]"),
       Line(1, "invoke", "['r',2,null],['append',1,6]"), Line(0, "ok", "['r',1,[]],['append',2,5]"),
       Line(1, "ok", "['r',2,[]],['append',1,6]"), Line(0, "invoke", "['r',1,null],['r',2,null]"),
       Line(0, "ok", "['r',1,[6]],['r',2,[5]]")},
      false, false);
}

TEST(ListAppendChecker, RejectsWriteSkewThatNobodyReads) {
  ExpectVerdicts(
      {Line(0, "invoke", "['r',1,null],['append',2,5]"),
       Line(1, "invoke", "['r',2,null],['append',1,6]"), Line(0, "ok", "['r',1,[]],['append',2,5]"),
       Line(1, "ok", "['r',2,[]],['append',1,6]")},
      false, false);
}

TEST(ListAppendChecker, RejectsAbortedIntermediateAndInconsistentReads) {
  ExpectVerdicts({Line(0, "invoke", "['append',1,5]"), Line(0, "fail", "['append',1,5]"),
                  Line(1, "invoke", "['r',1,null]"), Line(1, "ok", "['r',1,[5]]")},
                 false, false);
  ExpectVerdicts(
      {Line(0, "invoke", "['append',1,5],['append',1,6]"), Line(1, "invoke", "['r',1,null]"),
       Line(1, "ok", "['r',1,[5]]"), Line(0, "ok", "['append',1,5],['append',1,6]")},
      false, false);
  ExpectVerdicts({Line(0, "invoke", "['append',1,5]"), Line(0, "ok", "['append',1,5]"),
                  Line(0, "invoke", "['append',1,6]"), Line(0, "ok", "['append',1,6]"),
                  Line(1, "invoke", "['r',1,null]"), Line(1, "ok", "['r',1,[5,6]]"),
                  Line(1, "invoke", "['r',1,null]"), Line(1, "ok", "['r',1,[6,5]]")},
                 false, false);
}

// Each of two transactions reads a list and appends to the other.
TEST(ListAppendChecker, AcceptsWriteSkewUnderReadCommittedOnly) {
  const std::vector<std::string> history = {Line(2, "invoke", "['append',1,3],['append',2,4]"),
                                            Line(2, "ok", "['append',1,3],['append',2,4]"),
                                            Line(0, "invoke", "['r',1,null],['append',2,5]"),
                                            Line(1, "invoke", "['r',2,null],['append',1,6]"),
                                            Line(0, "ok", "['r',1,[3]],['append',2,5]"),
                                            Line(1, "ok", "['r',2,[4]],['append',1,6]"),
                                            Line(2, "invoke", "['r',1,null],['r',2,null]"),
                                            Line(2, "ok", "['r',1,[3,6]],['r',2,[4,5]]")};
  EXPECT_EQ(CheckListAppend(history, Level::kReadCommitted), "");
  EXPECT_NE(CheckListAppend(history, Level::kRepeatableRead), "");
  EXPECT_NE(CheckListAppend(history, Level::kSerializable), "");
}

TEST(ListAppendChecker, AcceptsPhantomsUnderRepeatableRead) {
  const std::vector<std::string> history = {Line(0, "invoke", "['r',1,null],['append',2,5]"),
                                            Line(1, "invoke", "['r',2,null],['append',1,6]"),
                                            Line(0, "ok", "['r',1,[]],['append',2,5]"),
                                            Line(1, "ok", "['r',2,[]],['append',1,6]")};
  for (const Level level : {Level::kReadCommitted, Level::kRepeatableRead}) {
    EXPECT_EQ(CheckListAppend(history, level), "");
  }
  EXPECT_NE(CheckListAppend(history, Level::kSerializable), "");
}

TEST(ListAppendChecker, AcceptsReadsOfTwoVersionsUnderReadCommittedOnly) {
  const std::vector<std::string> history = {
      Line(0, "invoke", "['r',1,null],['append',1,6]"), Line(1, "invoke", "['append',1,5]"),
      Line(1, "ok", "['append',1,5]"), Line(0, "ok", "['r',1,[]],['r',1,[5]],['append',1,6]")};
  EXPECT_EQ(CheckListAppend(history, Level::kReadCommitted), "");
  EXPECT_NE(CheckListAppend(history, Level::kRepeatableRead), "");
}

TEST(ListAppendChecker, RejectsUnderReadCommitted) {
  const std::vector<std::vector<std::string>> histories = {
      // an aborted value
      {Line(0, "invoke", "['append',1,5]"), Line(0, "fail", "['append',1,5]"),
       Line(1, "invoke", "['r',1,null]"), Line(1, "ok", "['r',1,[5]]")},
      // part of a transaction
      {Line(0, "invoke", "['append',1,5],['append',1,6]"), Line(1, "invoke", "['r',1,null]"),
       Line(1, "ok", "['r',1,[5]]"), Line(0, "ok", "['append',1,5],['append',1,6]")},
      // each reads what the other has written
      {Line(0, "invoke", "['append',1,5],['r',2,null]"),
       Line(1, "invoke", "['append',2,6],['r',1,null]"),
       Line(0, "ok", "['append',1,5],['r',2,[6]]"), Line(1, "ok", "['append',2,6],['r',1,[5]]")},
      // two transactions write two lists in different orders
      {Line(0, "invoke", "['append',1,5],['append',2,5]"),
       Line(1, "invoke", "['append',1,6],['append',2,6]"),
       Line(0, "ok", "['append',1,5],['append',2,5]"),
       Line(1, "ok", "['append',1,6],['append',2,6]"),
       Line(2, "invoke", "['r',1,null],['r',2,null]"),
       Line(2, "ok", "['r',1,[5,6]],['r',2,[6,5]]")},
      // a value that is appended later than time allows
      {Line(0, "invoke", "['append',1,5]"), Line(0, "ok", "['append',1,5]"),
       Line(1, "invoke", "['append',1,6]"), Line(1, "ok", "['append',1,6]"),
       Line(2, "invoke", "['r',1,null]"), Line(2, "ok", "['r',1,[6,5]]")}};
  for (const auto& history : histories) {
    EXPECT_NE(CheckListAppend(history, Level::kReadCommitted), "");
    EXPECT_NE(CheckListAppend(history, Level::kRepeatableRead), "");
  }
}

}  // namespace
}  // namespace slimgraph::test
