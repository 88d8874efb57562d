#include "apps/info.h"

#include "slimgraph/base/units.h"

namespace slimgraph {

std::string FormatInfo(const InfoReport& r) {
  std::string text = fmt::format("{}: {}, {}\n", r.path, r.directed ? "directed" : "undirected",
                                 FormatBytes(r.file_bytes));
  const auto line = [&](std::string_view name, const std::string& value) {
    text += fmt::format("  {:<14}{}\n", name, value);
  };
  line("vertices", FormatCount(r.vertices));
  line("edges", FormatCount(r.edges));
  line("weights", std::string(WeightName(r.weight_type)));
  if (r.vertices > 0) {
    line("ids",
         fmt::format("{} .. {}{}", r.first_id, r.last_id, r.contiguous_ids ? "" : ", with gaps"));
    const double mean = static_cast<double>(r.arcs) / static_cast<double>(r.vertices);
    line("degree",
         fmt::format("mean {:.1f}, largest {} at vertex {}, none at {} vertices", mean,
                     FormatCount(r.max_degree), r.max_degree_id, FormatCount(r.without_edges)));
  }
  if (r.directed) line("reverse lists", r.reverse_lists ? "yes" : "no");
  if (r.may_have_self_loops) line("self-loops", "kept");
  if (r.may_have_duplicates) line("duplicates", "kept");
  if (r.checked) line("check", "every checksum and every list is right");
  return text;
}

}  // namespace slimgraph
