// Checks whether transactions executed one after the other could have produced a list-append
// history. The checker is independent of the code under test: it only reads the history's lines.
//
// The values found by reads give the order of each list's versions. From this order follow the
// dependencies between transactions: who wrote what another read (wr), who wrote after whom (ww),
// and who overwrote what another had read (rw). A cycle of dependencies is an anomaly.
//
// Under all levels but serializability, real-time edges count too: from each transaction to those
// that began after its end. Read-committed does not count rw edges, and a transaction may read two
// versions of a list. Repeatable-read does not count the rw edges of reads that found no list.
#pragma once

#include <string>
#include <vector>

namespace slimgraph::test {

enum class Level { kReadCommitted, kRepeatableRead, kSerializable, kStrictSerializable };

// Describes what is wrong; "" if nothing is.
std::string CheckListAppend(const std::vector<std::string>& lines, Level level);

}  // namespace slimgraph::test
