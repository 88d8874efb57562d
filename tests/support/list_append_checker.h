// Whether a list-append history could have come about by transactions one after the other. Knows
// nothing of the code under test: it reads the lines of the history.
//
// The values that reads have found give the order of a list's versions, and with it which
// transaction wrote what another read (wr), which wrote after which (ww), and which wrote over what
// another had read (rw). A circle among these is an anomaly; under strict serializability, so is
// one with edges of real time, from a transaction that had ended to those that began later.
#pragma once

#include <string>
#include <vector>

namespace slimgraph::test {

enum class Level { kSerializable, kStrictSerializable };

// What is wrong, or nothing: "".
std::string CheckListAppend(const std::vector<std::string>& lines, Level level);

}  // namespace slimgraph::test
