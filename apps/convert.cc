#include "apps/convert.h"

#include "slimgraph/base/units.h"

namespace slimgraph {
namespace {

std::string Dropped(std::string_view what, std::uint64_t count, bool kept) {
  return fmt::format("{} {}{}", FormatCount(count), what,
                     count == 0 ? ""
                     : kept     ? " (kept)"
                                : " (dropped)");
}

}  // namespace

std::string FormatConvert(const ConvertReport& r) {
  const bool weighted = r.weight_type != WeightType::kNone;
  const double total_s = r.read_s + r.build_s;
  std::string text = fmt::format(
      "{}: {} vertices, {} edges, {}{}{}, {}\n", r.out, FormatCount(r.vertices),
      FormatCount(r.edges), r.directed ? "directed" : "undirected", weighted ? ", weights " : "",
      weighted ? WeightName(r.weight_type) : "", FormatBytes(r.file_bytes));
  text += fmt::format("  from {} edges: {}, {}\n", FormatCount(r.edges_read),
                      Dropped("self-loops", r.self_loops, r.self_loops_kept),
                      Dropped("duplicates", r.duplicates, r.duplicates_kept));
  text += fmt::format("  in {} (edges {}, lists {})", FormatSeconds(total_s),
                      FormatSeconds(r.read_s), FormatSeconds(r.build_s));
  if (total_s > 0) {
    text += fmt::format(", {:.1f} M edges/s", static_cast<double>(r.edges_read) / total_s * 1e-6);
  }
  text += fmt::format(", peak memory {}\n", FormatBytes(r.peak_bytes));
  return text;
}

}  // namespace slimgraph
