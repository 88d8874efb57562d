// check_history LEVEL FILE: checks whether a list-append history is what that level of isolation
// allows. If not, prints the violation and exits with code 1.
#include <cstdio>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "tests/support/list_append_checker.h"

int main(int argc, char** argv) {
  using slimgraph::test::Level;
  const std::map<std::string, Level> levels = {{"strict", Level::kStrictSerializable},
                                               {"serializable", Level::kSerializable},
                                               {"repeatable-read", Level::kRepeatableRead},
                                               {"read-committed", Level::kReadCommitted}};
  std::ifstream file(argc == 3 ? argv[2] : "");
  const auto level = levels.find(argc == 3 ? argv[1] : "");
  if (!file || level == levels.end()) {
    std::fprintf(stderr,
                 "usage: check_history strict|serializable|repeatable-read|read-committed FILE\n");
    return 2;
  }
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  const std::string wrong = slimgraph::test::CheckListAppend(lines, level->second);
  if (wrong.empty()) return 0;
  std::printf("%s\n", wrong.c_str());
  return 1;
}
