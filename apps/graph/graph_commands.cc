// The commands on graph files: gen, convert, info. slimgraph/files/ does their work.
#include "apps/commands.h"

#include <memory>

#include "apps/job/job_runner.h"
#include "apps/output/graph_output.h"
#include "apps/print.h"
#include "dkudu/ranked_lists.h"
#include "slimgraph/base/units.h"
#include "slimgraph/files/convert.h"
#include "slimgraph/files/generate.h"
#include "slimgraph/files/inspect.h"
#include "slimgraph/stats/report.h"

namespace slimgraph {
namespace {

std::string Dropped(std::string_view what, std::uint64_t count, bool kept) {
  return fmt::format("{} {}{}", FormatCount(count), what,
                     count == 0 ? ""
                     : kept     ? " (kept)"
                                : " (dropped)");
}

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
  if (r.coded_bytes > 0) {
    text += fmt::format("  with {} of coded lists for mining\n", FormatBytes(r.coded_bytes));
  }
  if (!r.header.empty()) text += fmt::format("  skipped the header {}\n", r.header);
  text += fmt::format("  in {} (edges {}, lists {})", FormatSeconds(total_s),
                      FormatSeconds(r.read_s), FormatSeconds(r.build_s));
  if (total_s > 0) {
    text += fmt::format(", {:.1f} M edges/s", static_cast<double>(r.edges_read) / total_s * 1e-6);
  }
  text += fmt::format(", peak memory {}\n", FormatBytes(r.peak_bytes));
  return text;
}

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
         fmt::format("{} .. {}{}{}", r.first_id, r.last_id, r.without_gaps() ? "" : ", with gaps",
                     r.ids_ascend ? "" : ", in another order than the vertices of the file"));
    const double mean = static_cast<double>(r.arcs) / static_cast<double>(r.vertices);
    line("degree",
         fmt::format("mean {:.1f}, largest {} at vertex {}, none at {} vertices", mean,
                     FormatCount(r.max_degree), r.max_degree_id, FormatCount(r.without_edges)));
  }
  if (r.coded_bytes > 0) line("for mining", FormatBytes(r.coded_bytes) + " of coded lists");
  if (r.directed) line("reverse lists", r.reverse_lists ? "yes" : "no");
  if (r.may_have_self_loops) line("self-loops", "kept");
  if (r.may_have_duplicates) line("duplicates", "kept");
  if (r.checked) line("check", "every checksum and every list is correct");
  return text;
}

// The graph that a command has written or inspected, under /graph as in every report.
template <typename GraphFigures>
void SetGraph(Report& report, const std::string& path, const GraphFigures& figures) {
  report.Set("/graph/path", path);
  report.Set("/graph/vertices", std::uint64_t{figures.vertices});
  report.Set("/graph/edges", std::uint64_t{figures.edges});
  report.Set("/graph/directed", figures.directed);
  report.Set("/graph/weights", std::string(WeightName(figures.weight_type)));
  report.Set("/graph/bytes", figures.file_bytes);
  report.Set("/graph/coded_bytes", figures.coded_bytes);
}

int PrintConvert(const std::string& command, const ConvertReport& done) {
  Report report(command);
  SetOptions(report);
  SetGraph(report, done.out, done);
  report.Set("/result/edges_read", done.edges_read);
  if (!done.header.empty()) report.Set("/result/header", done.header);
  report.Set("/result/self_loops", done.self_loops);
  report.Set("/result/self_loops_kept", done.self_loops_kept);
  report.Set("/result/duplicates", done.duplicates);
  report.Set("/result/duplicates_kept", done.duplicates_kept);
  report.Set("/time/read_s", done.read_s);
  report.Set("/time/build_s", done.build_s);
  report.Set("/memory/peak_bytes", std::vector<std::uint64_t>{done.peak_bytes});
  return Print(ToJson(report) + "\n");
}

// Writes the graph by `write`, which gets the file's name, and tells about it.
template <typename Write>
int WriteGraph(const std::string& command, const std::string& path, bool json, const Write& write) {
  const auto output = GraphOutput::Create(path, json);
  if (!output) return PrintError(output.error());
  auto done = write(output->path());
  if (!done) return PrintError(done.error());
  if (const Status finished = output->Finish(); !finished) return PrintError(finished.error());
  done->out = output->is_standard_output() ? "standard output" : path;
  if (json) return PrintConvert(command, *done);
  return PrintAbout(*output, FormatConvert(*done));
}

int PrintInfo(const InfoReport& info, bool json) {
  if (!json) return Print(FormatInfo(info));
  Report report("info");
  SetOptions(report);
  SetGraph(report, info.path, info);
  report.Set("/result/arcs", info.arcs);
  report.Set("/result/reverse_lists", info.reverse_lists);
  report.Set("/result/max_degree", info.max_degree);
  report.Set("/result/max_degree_id", info.max_degree_id);
  report.Set("/result/without_edges", info.without_edges);
  report.Set("/result/first_id", info.first_id);
  report.Set("/result/last_id", info.last_id);
  report.Set("/result/ids_ascend", info.ids_ascend);
  if (info.checked) report.Set("/verified", true);
  return Print(ToJson(report) + "\n");
}

// Inspect(), and D-Kudu's lists in the file as well.
Result<InfoReport> InspectAll(const InfoOptions& options) {
  SLIM_ASSIGN(const InfoReport info, Inspect(options));
  if (!options.check || info.coded_bytes == 0) return info;
  SLIM_ASSIGN(const SlimFile file, SlimFile::Open(options.path));
  SLIM_TRY(dkudu::CheckRankedLists(file));
  return info;
}

// What gen and convert have in common: what is dropped of a graph, and what is added to it.
template <typename To>
void DeclareWriteRules(Options& options, To& to) {
  options.Choice("--self-loops", "edges from a vertex to itself", {"drop", "keep"}, to.self_loops);
  options.Choice("--duplicates",
                 "repeated edges between the same vertices; drop keeps the one with the least "
                 "weight",
                 {"drop", "keep"}, to.duplicates);
  options.Flag("--no-reverse", "leave out the incoming edges of a directed graph",
               [&to] { to.reverse_lists = false; });
  options.Flag("--coded",
               "also store the lists as the mining commands keep them, so that these load the "
               "graph faster; undirected graphs only",
               [&to] { to.ranked = dkudu::MakeRankedLists; });
}

}  // namespace

Command ConvertCommand() {
  struct State {
    ConvertOptions options;
    bool json = false;
  };
  const auto state = std::make_shared<State>();
  const auto declare = [state](Options& options) {
    ConvertOptions& to = state->options;
    options.Positional("IN", "the graph to read; .gz and .zst are decompressed on the way", to.in);
    Option& out = options.OptionalPositional(
        "OUT", "the .slim file to write; appears when it is complete; -: standard output", to.out);
    Option& output = options.Text("-o,--output", "FILE", "the same as OUT", to.out);
    output.Default("OUT");
    options.RequireOne(out, output);
    options
        .Value("--from", "FORMAT",
               "the format of IN: snap, mtx, metis, sg, wsg, gemini, webgraph, slim",
               [&to](const std::string& text) -> Status {
                 SLIM_ASSIGN(to.from, ParseFileFormat(text));
                 return {};
               })
        .Default("by the name of IN");
    Option& directed =
        options.Flag("--directed", "an edge leads from its first vertex to its second",
                     [&to] { to.directed = true; });
    options
        .Flag("--undirected", "edges have no direction: 'u v' and 'v u' are the same edge",
              [&to] { to.directed = false; })
        .Excludes(directed);
    options.Flag("--symmetrize", "make a graph undirected that is directed in its file",
                 to.symmetrize);
    Option& weighted = options.Flag(
        "--weighted", "read the weights of edges, and keep them in the graph", to.weighted);
    options.Flag("--drop-weights", "leave out weights that IN has", to.drop_weights)
        .Excludes(weighted);
    Option& vertices =
        options
            .Text("--vertices", "FILE",
                  "ids of vertices, one a line, which exist even without edges", to.vertices)
            .Default("the ends of edges");
    options
        .Number("--vertex-count", "N", "Gemini pairs only: the vertices are 0 .. N-1",
                to.vertex_count)
        .Default("the ends of edges")
        .Excludes(vertices);
    DeclareWriteRules(options, to);
    options.Choice("--order",
                   "the order in which OUT stores the vertices: ids, by ascending id; degree, by "
                   "descending degree; rcm, neighbours close together (reverse Cuthill-McKee); "
                   "results are printed by ascending id in all cases",
                   {"ids", "degree", "rcm"}, to.order);
    options.Number("--threads", "N", "threads; 0: one for each processor", to.threads);
    options.Flag("--json", "the result as one JSON object", state->json);
  };
  const auto run = [state](const std::vector<std::string>&) {
    state->options.read_progress = ShowProgress("bytes read");
    state->options.build_progress = ShowProgress("arcs built");
    return WriteGraph("convert", std::string(state->options.out), state->json,
                      [&](const std::string& path) {
                        state->options.out = path;
                        return Convert(state->options);
                      });
  };
  return {"convert", "turn a graph of any known format into a .slim file", declare, run};
}

Command InfoCommand() {
  struct State {
    InfoOptions options;
    bool json = false;
  };
  const auto state = std::make_shared<State>();
  const auto declare = [state](Options& options) {
    options.Positional("FILE", "the .slim file", state->options.path);
    options.Flag("--check", "verify every checksum, and that the lists are those of a graph",
                 state->options.check);
    options.Flag("--json", "the result as one JSON object", state->json);
  };
  const auto run = [state](const std::vector<std::string>&) {
    state->options.progress = ShowProgress("bytes checked");
    const auto info = InspectAll(state->options);
    return info ? PrintInfo(*info, state->json) : PrintError(info.error());
  };
  return {"info", "what a .slim file holds, and whether it is intact", declare, run};
}

Command GenCommand() {
  struct State {
    GenerateOptions options;
    std::string kind;
    bool json = false;
  };
  const auto state = std::make_shared<State>();
  const auto declare = [state](Options& options) {
    GenerateOptions& to = state->options;
    options.Positional("KIND", "kron, uniform, grid, small-world, web, chain, star, complete",
                       state->kind);
    options.Text("-o,--output", "FILE", "the .slim file to write; -: standard output", to.out)
        .Required();
    options.Number("-s,--scale", "S", "2^S vertices", to.scale);
    options.Number("--seed", "S", "of the random numbers; another seed makes another graph",
                   to.seed);
    options.Number("-k,--degree", "K", "edges drawn per vertex", to.degree);
    options.Flag("--directed", "make a directed graph instead of an undirected one", to.directed);
    options
        .Value("--weights", "LOW..HIGH", "integer weights, uniform in that range",
               [&to](const std::string& text) -> Status {
                 SLIM_ASSIGN(to.weights, ParseWeightSpan(text));
                 return {};
               })
        .Default("no weights");
    options.Number("--width", "W", "width of the grid", to.width).Default("2^ceil(S/2)");
    options.Number("--height", "H", "height of the grid", to.height).Default("2^floor(S/2)");
    options.Number("--rewire", "P", "probability that a small-world edge is rewired", to.rewire);
    DeclareWriteRules(options, to);
    options.Number("--threads", "N", "threads; 0: one for each processor", to.threads);
    options.Flag("--json", "the result as one JSON object", state->json);
  };
  const auto run = [state](const std::vector<std::string>&) {
    const auto kind = ParseGraphKind(state->kind);
    if (!kind) return PrintError(kind.error());
    state->options.kind = *kind;
    state->options.progress = ShowProgress("edges drawn");
    return WriteGraph("gen", std::string(state->options.out), state->json,
                      [&](const std::string& path) {
                        state->options.out = path;
                        return Generate(state->options);
                      });
  };
  return {"gen", "make a synthetic graph", declare, run};
}

}  // namespace slimgraph
