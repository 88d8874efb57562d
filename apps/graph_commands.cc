// The commands on graph files: gen, convert, info. Their work is in slimgraph/graph/.
#include "apps/graph_commands.h"

#include <memory>

#include "apps/convert.h"
#include "apps/info.h"
#include "apps/job_runner.h"
#include "apps/print.h"
#include "slimgraph/graph/convert.h"
#include "slimgraph/graph/generate.h"
#include "slimgraph/graph/inspect.h"
#include "slimgraph/stats/report.h"

namespace slimgraph {
namespace {

// The graph that a command has made or looked at, in the shape that every report has.
template <typename GraphFigures>
void SetGraph(Report& report, const std::string& path, const GraphFigures& figures) {
  report.Set("/graph/path", path);
  report.Set("/graph/vertices", std::uint64_t{figures.vertices});
  report.Set("/graph/edges", std::uint64_t{figures.edges});
  report.Set("/graph/directed", figures.directed);
  report.Set("/graph/weights", std::string(WeightName(figures.weight_type)));
  report.Set("/graph/bytes", figures.file_bytes);
}

int PrintConvert(const std::string& command, const ConvertReport& done, bool json) {
  if (!json) return Print(FormatConvert(done));
  Report report(command);
  SetOptions(report);
  SetGraph(report, done.out, done);
  report.Set("/result/edges_read", done.edges_read);
  report.Set("/result/self_loops", done.self_loops);
  report.Set("/result/self_loops_kept", done.self_loops_kept);
  report.Set("/result/duplicates", done.duplicates);
  report.Set("/result/duplicates_kept", done.duplicates_kept);
  report.Set("/time/read_s", done.read_s);
  report.Set("/time/build_s", done.build_s);
  report.Set("/memory/peak_bytes", std::vector<std::uint64_t>{done.peak_bytes});
  return Print(ToJson(report) + "\n");
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
  report.Set("/verified", info.checked);
  return Print(ToJson(report) + "\n");
}

void DeclareKeeping(Options& options, Keep& self_loops, Keep& duplicates, bool& reverse_lists) {
  options.Choice("--self-loops", "edges from a vertex to itself", {"drop", "keep"}, self_loops);
  options.Choice("--duplicates",
                 "further edges between the same vertices; of those that differ in weight the "
                 "lightest stays",
                 {"drop", "keep"}, duplicates);
  options.Flag("--no-reverse", "leave out the incoming edges of a directed graph",
               [&reverse_lists] { reverse_lists = false; });
}

}  // namespace

Command ConvertCommand() {
  struct State {
    ConvertOptions options;
    bool directed = false;
    bool undirected = false;
    bool json = false;
  };
  const auto state = std::make_shared<State>();
  const auto declare = [state](Options& options) {
    ConvertOptions& to = state->options;
    options.Positional("IN", "the graph to read; .gz and .zst are decompressed on the way", to.in);
    options.Positional("OUT", "the .slim file to write; appears when it is complete", to.out);
    options.Value("--from", "FORMAT",
                  "the format of IN, where its name does not tell: snap, mtx, metis, sg, wsg, "
                  "gemini, webgraph, slim",
                  [&to](const std::string& text) -> Status {
                    SLIM_ASSIGN(to.from, ParseFileFormat(text));
                    return {};
                  });
    options.Flag("--directed", "each edge goes from its first vertex to its second",
                 state->directed);
    options.Flag("--undirected", "each edge is between two vertices; both directions are one edge",
                 state->undirected);
    options.Flag("--symmetrize", "drop the directions of a graph that is directed by itself",
                 to.symmetrize);
    options.Flag("--weighted", "the edges have weights, and the graph shall have them",
                 to.weighted);
    options.Flag("--drop-weights", "leave out weights that IN has", to.drop_weights);
    options.Text("--vertices", "FILE", "one id a line; these exist even without edges",
                 to.vertices);
    options.Number("--vertex-count", "N", "Gemini pairs only: the vertices are 0 .. N-1",
                   to.vertex_count);
    DeclareKeeping(options, to.self_loops, to.duplicates, to.reverse_lists);
    options.Number("--threads", "N", "0 takes every processor", to.threads);
    options.Flag("--json", "the result as one JSON object", state->json);
  };
  const auto run = [state](const std::vector<std::string>&) {
    if (state->directed && state->undirected) {
      return Complain({ErrorKind::kUsage, "--directed and --undirected exclude each other"});
    }
    if (state->directed || state->undirected) state->options.directed = state->directed;
    state->options.read_progress = ShowProgress("bytes read");
    state->options.build_progress = ShowProgress("arcs built");
    const auto done = Convert(state->options);
    return done ? PrintConvert("convert", *done, state->json) : Complain(done.error());
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
    const auto info = Inspect(state->options);
    return info ? PrintInfo(*info, state->json) : Complain(info.error());
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
    options.Text("-o,--output", "FILE", "the .slim file to write", to.out);
    options.Number("-s,--scale", "S", "2^S vertices (default 16)", to.scale);
    options.Number("--seed", "S", "another seed, another graph (default 1)", to.seed);
    options.Number("-k,--degree", "K", "edges drawn per vertex (default 16)", to.degree);
    options.Flag("--directed", "edges have a direction; without, they have none", to.directed);
    options.Value("--weights", "LOW..HIGH", "integer weights, uniform in that range",
                  [&to](const std::string& text) -> Status {
                    SLIM_ASSIGN(to.weights, ParseWeightSpan(text));
                    return {};
                  });
    options.Number("--width", "W", "of the grid; otherwise 2^ceil(S/2)", to.width);
    options.Number("--height", "H", "of the grid; otherwise 2^floor(S/2)", to.height);
    options.Number("--rewire", "P", "how likely a small-world edge is rewired (default 0.1)",
                   to.rewire);
    DeclareKeeping(options, to.self_loops, to.duplicates, to.reverse_lists);
    options.Number("--threads", "N", "0 takes every processor", to.threads);
    options.Flag("--json", "the result as one JSON object", state->json);
  };
  const auto run = [state](const std::vector<std::string>&) {
    const auto kind = ParseGraphKind(state->kind);
    if (!kind) return Complain(kind.error());
    if (state->options.out.empty()) {
      return Complain({ErrorKind::kUsage, "gen needs -o FILE: the .slim file to write"});
    }
    state->options.kind = *kind;
    state->options.progress = ShowProgress("edges drawn");
    const auto done = Generate(state->options);
    return done ? PrintConvert("gen", *done, state->json) : Complain(done.error());
  };
  return {"gen", "make a synthetic graph", declare, run};
}

}  // namespace slimgraph
