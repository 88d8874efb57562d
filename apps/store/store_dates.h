// Times of stores as dates. A time of a store is one of a hybrid clock: milliseconds since 1970 and
// a counter.
#pragma once

#include <string>

#include "slimgraph/base/result.h"
#include "txnlayer/graph_model/hybrid_clock.h"

namespace slimgraph {

// "2026-11-24T11:45:03.123Z"; "" for the time 0, before all updates.
std::string DateOf(txn::GraphTime time);

// "117671247860531200 (2026-11-24T11:45:03.123Z)"
std::string TimeWithDate(txn::GraphTime time);

// A time in digits, or a date in UTC such as 2026-11-24T11:45:03.123Z or 2026-11-24T11:45Z. A date
// is the last time of its millisecond, second or minute.
Result<txn::GraphTime> ParseStoreTime(const std::string& text);

}  // namespace slimgraph
