#include "experiment/page/page.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "experiment/page/axis.h"
#include "experiment/page/svg.h"

namespace slimgraph::experiment {
namespace {

// Okabe and Ito's colours, which colour-blind readers can tell apart; lighter ones for dark mode.
constexpr std::array<const char*, kStyles> kLight = {"#0072b2", "#d55e00", "#009e73", "#b0628f",
                                                     "#e69f00", "#3f97c9", "#5b5b5b"};
constexpr std::array<const char*, kStyles> kDark = {"#4aa8e0", "#f08a4b", "#2fc79b", "#e09cc6",
                                                    "#f2c04c", "#8fd0f5", "#b8b8b8"};

constexpr const char* kStyle = R"(
:root { color-scheme: light dark; --ink: #1b1b1b; --soft: #565656; --paper: #ffffff;
  --grid: #d9d9d9; --box: #f3f3f3; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e8e8e8; --soft: #aaaaaa; --paper: #16181a; --grid: #3a3d40; --box: #212427; } }
body { margin: 0 auto; padding: 1.5rem; max-width: 62rem; color: var(--ink);
  background: var(--paper); font: 1rem/1.5 system-ui, sans-serif; }
h1, h2, h3 { line-height: 1.25; } h2 { margin-top: 3rem; border-top: 1px solid var(--grid);
  padding-top: 1rem; }
a { color: inherit; } .question { font-size: 1.1rem; color: var(--soft); }
.answer { font-weight: 600; } .note { color: var(--soft); }
.missing { border-left: 4px solid var(--ink); padding-left: .8rem; }
figure { margin: 1.5rem 0 2.5rem; } svg { display: block; width: 100%; height: auto; }
svg.patterns { position: absolute; width: 0; height: 0; }
svg text { fill: var(--ink); font: 13px system-ui, sans-serif; }
.tick.y { text-anchor: end; } .tick.x, .title { text-anchor: middle; } .left { text-anchor: end; }
svg .label { font-size: 12px; } .grid { stroke: var(--grid); } .axis { stroke: var(--soft); }
.whisker { stroke: var(--ink); stroke-width: 1.4; fill: none; }
.reference { stroke: var(--ink); stroke-width: 2; stroke-dasharray: 5 3; }
.band { fill: var(--ink); fill-opacity: .16; } .hatch { stroke: var(--paper); stroke-width: 1.6;
  fill: none; }
table { border-collapse: collapse; font-size: .85rem; font-variant-numeric: tabular-nums; }
th, td { padding: .15rem .7rem; text-align: right; border-bottom: 1px solid var(--grid); }
th:first-child, td:first-child { text-align: left; } td { white-space: nowrap; }
td small { color: var(--soft); } td.words { text-align: left; white-space: normal; }
.wide { overflow-x: auto; } pre { background: var(--box); padding: .8rem; overflow-x: auto;
  font-size: .8rem; } details { margin: 1rem 0; } summary { cursor: pointer; }
@media print { body { max-width: none; padding: 0; font-size: 10pt; } figure, tr { break-inside:
  avoid; } h2 { break-before: page; } pre { white-space: pre-wrap; } }
)";

std::string Colours() {
  std::string light, dark, rules;
  for (std::size_t i = 0; i < kStyles; ++i) {
    light += fmt::format("--c{}: {}; ", i, kLight[i]);
    dark += fmt::format("--c{}: {}; ", i, kDark[i]);
    rules += fmt::format(
        ".f{0} {{ fill: var(--c{0}); }} .b{0} {{ fill: url(#p{0}); stroke: var(--c{0}); }} "
        ".m{0} {{ fill: var(--c{0}); }} .l{0} {{ fill: none; stroke: var(--c{0}); "
        "stroke-width: 2; }}\n",
        i);
  }
  return fmt::format(
      ":root {{ {} }}\n@media (prefers-color-scheme: dark) {{ :root {{ {} }} }}\n"
      "@media print {{ :root {{ {} --ink: #000000; --soft: #333333; --paper: #ffffff; "
      "--grid: #bbbbbb; --box: #f3f3f3; color-scheme: light; }} }}\n{}",
      light, dark, light, rules);
}

std::string Paragraph(const char* css_class, const std::string& text) {
  return fmt::format("<p class=\"{}\">{}</p>\n", css_class, Escape(text));
}

std::string Cell(const Spread& spread) {
  if (spread.samples == 1) return ShortNumber(spread.median) + " <small>once</small>";
  return fmt::format("{} <small>{} – {}, {}</small>", ShortNumber(spread.median),
                     ShortNumber(spread.low), ShortNumber(spread.high), spread.samples);
}

// The table's row of a mark: its category, its number along x, or its label.
std::string RowName(const Plot& plot, const Mark& mark) {
  if (plot.kind == PlotKind::kBars) return plot.categories.at(static_cast<std::size_t>(mark.x));
  if (plot.kind == PlotKind::kLines) return ShortNumber(mark.x);
  return mark.label;
}

// A row for each category or x, a column for each series; in a scatter plot also a column for x.
std::string Table(const Plot& plot) {
  std::vector<std::string> rows;
  const auto row_of = [&](const std::string& name) {
    return static_cast<std::size_t>(std::find(rows.begin(), rows.end(), name) - rows.begin());
  };
  for (const Series& series : plot.series) {
    for (const Mark& mark : series.marks) {
      if (row_of(RowName(plot, mark)) == rows.size()) rows.push_back(RowName(plot, mark));
    }
  }
  const bool scatter = plot.kind == PlotKind::kScatter;
  const std::size_t columns = plot.series.size() * (scatter ? 2 : 1);
  std::vector<std::vector<std::string>> cells(rows.size(), std::vector<std::string>(columns));
  std::string head = fmt::format("<th>{}</th>", scatter ? "" : Escape(plot.x_title));
  for (std::size_t s = 0; s < plot.series.size(); ++s) {
    const Series& series = plot.series[s];
    if (scatter) head += fmt::format("<th>{}</th>", Escape(plot.x_title));
    head += fmt::format("<th>{}</th>",
                        Escape(scatter ? series.name + ": " + plot.y_title : series.name));
    for (const Mark& mark : series.marks) {
      auto& row = cells[row_of(RowName(plot, mark))];
      if (scatter) row[2 * s] = ShortNumber(mark.x);
      row[scatter ? 2 * s + 1 : s] = Cell(mark.y);
    }
  }
  std::string text = "<div class=\"wide\"><table>\n<tr>" + head + "</tr>\n";
  for (std::size_t r = 0; r < rows.size(); ++r) {
    text += fmt::format("<tr><td>{}</td>", Escape(rows[r]));
    for (const std::string& cell : cells[r]) text += "<td>" + cell + "</td>";
    text += "</tr>\n";
  }
  return text + "</table></div>\n";
}

std::string ToHtml(const Figure& figure) {
  return fmt::format(
      "<figure>\n<h3>{}</h3>\n{}{}<details{}><summary>{}: median, low – high, runs</summary>\n{}"
      "</details>\n</figure>\n",
      Escape(figure.title), Paragraph("answer", figure.answer), ToSvg(figure.plot, figure.answer),
      figure.plot.kind == PlotKind::kScatter ? "" : " open", Escape(figure.plot.y_title),
      Table(figure.plot));
}

std::string List(const char* css_class, const std::vector<std::string>& lines) {
  if (lines.empty()) return "";
  std::string text = fmt::format("<ul class=\"{}\">\n", css_class);
  for (const std::string& line : lines) text += fmt::format("<li>{}</li>\n", Escape(line));
  return text + "</ul>\n";
}

std::string ToHtml(const Section& section) {
  std::string text = fmt::format("<section id=\"{0}\">\n<h2>{1}</h2>\n", Escape(section.name),
                                 Escape(section.title));
  text += Paragraph("question", section.question) + List("note", section.notes);
  for (const Figure& figure : section.figures) text += ToHtml(figure);
  if (!section.missing.empty()) {
    text += Paragraph("note", "Not measured:") + List("missing", section.missing);
  }
  text += Paragraph("note", section.verified);
  text += fmt::format("<details><summary>All {} command lines</summary>\n<pre>",
                      section.commands.size());
  for (const std::string& command : section.commands) text += Escape(command) + "\n";
  return text + "</pre></details>\n</section>\n";
}

std::string Quoted(std::string text) {
  for (std::size_t at = 0; (at = text.find('"', at)) != std::string::npos; at += 2) {
    text.insert(at, 1, '"');
  }
  return text.find_first_of(",\"\n") == std::string::npos ? text : '"' + text + '"';
}

}  // namespace

std::string ToHtml(const Page& page) {
  std::string text = fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>{0}</title>\n"
      "<meta name=\"viewport\" content=\"width=device-width\">\n<link rel=\"icon\" "
      "href=\"data:,\">\n<style>{1}{2}</style>\n</head>\n<body>\n{3}<h1>{0}</h1>\n",
      Escape(page.title), kStyle, Colours(), SvgPatterns());
  text += List("note", page.summary);
  if (page.sections.size() > 1) {
    text += "<nav><ul>\n";
    for (const Section& section : page.sections) {
      text += fmt::format("<li><a href=\"#{}\">{}</a></li>\n", Escape(section.name),
                          Escape(section.title));
    }
    text += "</ul></nav>\n";
  }
  for (const Section& section : page.sections) text += ToHtml(section);
  text += "<section id=\"machine\">\n<h2>Machine and settings</h2>\n<table>\n";
  for (const auto& [name, value] : page.facts) {
    text += fmt::format("<tr><td>{}</td><td class=\"words\">{}</td></tr>\n", Escape(name),
                        Escape(value));
  }
  return text + "</table>\n</section>\n</body>\n</html>\n";
}

std::string ToSvgFile(const Figure& figure) {
  std::string svg = ToSvg(figure.plot, figure.answer);
  constexpr std::string_view kOpening = "<svg ";
  svg.insert(kOpening.size(), "xmlns=\"http://www.w3.org/2000/svg\" ");
  const std::string patterns = SvgPatterns();
  const std::size_t first = patterns.find("<defs>");
  const std::string definitions = patterns.substr(first, patterns.find("</svg>") - first);
  svg.insert(svg.find('>') + 1,
             fmt::format("\n<style>{}{} svg {{ background: var(--paper); }}</style>\n{}", kStyle,
                         Colours(), definitions));
  return svg;
}

std::string ToCsv(const Figure& figure) {
  const Plot& plot = figure.plot;
  std::string text = "series,place,x,median,low,high,runs\n";
  for (const Series& series : plot.series) {
    for (const Mark& mark : series.marks) {
      text +=
          fmt::format("{},{},{},{},{},{},{}\n", Quoted(series.name), Quoted(RowName(plot, mark)),
                      mark.x, mark.y.median, mark.y.low, mark.y.high, mark.y.samples);
    }
  }
  return text;
}

}  // namespace slimgraph::experiment
