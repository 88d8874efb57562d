// Compares the number parser of all text readers with the standard library.
#include "slimgraph/files/internal/number.h"

#include <gtest/gtest.h>

#include "slimgraph/files/internal/line_chunks.h"
#include "tests/support/graphs.h"

namespace slimgraph::internal {
namespace {

TEST(ReadDigits, AgreesWithTheStandardLibraryWhateverFollows) {
  auto random = test::SeededRandom();
  for (int round = 0; round < 200'000; ++round) {
    std::string text = std::to_string(random() >> (random() % 64));
    if (text.size() > 19) text.resize(19);
    if (random() % 4 == 0) text.insert(0, random() % (20 - text.size() + 1) % 19, '0');
    if (text.size() > 19) text.resize(19);
    const std::uint64_t expected = std::stoull(text);
    const std::size_t digits = text.size();
    char next = static_cast<char>(random());
    if (next >= '0' && next <= '9') next = ' ';
    text += next;
    for (int i = 0; i < 16; ++i) text += static_cast<char>(random());
    const Digits read = ReadDigits(text.data());
    ASSERT_EQ(read.count, digits) << text;
    ASSERT_EQ(read.value, expected) << text;
  }
}

TEST(LineChunks, LinesAndNumbersDoNotDependOnTheChunkSize) {
  auto random = test::SeededRandom();
  for (int round = 0; round < 300; ++round) {
    std::string text;
    std::vector<std::string> expected;
    for (std::size_t i = random() % 30; i > 0; --i) {
      expected.emplace_back(random() % 12, static_cast<char>('a' + random() % 26));
      text += expected.back() + "\n";
    }
    if (random() % 2 == 0 && !expected.empty() && !expected.back().empty()) text.pop_back();
    const ByteSourcePtr source =
        PlainMemorySource("text", std::as_bytes(std::span(text.data(), text.size())));
    LineChunks chunks(*source, {}, random() % 8 + 1);
    for (std::size_t peeks = random() % 4; peeks > 0; --peeks) {
      const auto line = chunks.PeekLine();
      ASSERT_OK(line);
      if (!*line) break;
      EXPECT_EQ((*line)->text, expected.front());
      chunks.SkipLine();
      expected.erase(expected.begin());
    }
    std::vector<std::string> found;
    std::uint64_t number = 0;
    LineChunk chunk;
    while (chunks.NextChunk(chunk).value()) {
      if (number != 0) {
        EXPECT_EQ(chunk.first_line, number);
      }
      number = chunk.first_line;
      for (const char* p = chunk.begin(); p < chunk.end(); ++number) {
        const char* const end = std::find(p, chunk.end(), '\n');
        found.emplace_back(p, end);
        p = end + 1;
      }
    }
    EXPECT_EQ(found, expected);
  }
}

}  // namespace
}  // namespace slimgraph::internal
