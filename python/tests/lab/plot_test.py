#!/usr/bin/python3
"""Elements that every plot must have. page_test.py checks the layout in a browser."""
import random
import re
import sys
import unittest

import counted  # first: it finds the package

from slimgraph.lab.__main__ import missing_packages

if missing_packages():
    print(f"skipped: {', '.join(missing_packages())} are missing")
    if __name__ == "__main__":
        sys.exit(77)
    raise unittest.SkipTest("packages are missing")
from slimgraph.lab import Figure, Mark, Reference, Series, Spread
from slimgraph.lab.page import Page, Section, to_html, to_svg_file
from slimgraph.lab.plots import to_csv, to_svg


def once(value):
    return Spread(value, value, value, 1)


def texts(svg, css_class):
    return re.findall(rf'class="{css_class}".*?<text[^>]*>([^<]*)</text>', svg, re.S)


def made_up(kind):
    return Figure("t", "a < b.", kind, "x", "y", ["a<b", "c&d"], [
        Series("one", 0, [Mark(0, Spread(1, 0.5, 2, 3), "p"), Mark(1, once(2), "q")]),
        Series('"two"', 1, [Mark(1, once(3), "z", True)])],
        [Reference("ideal", 2, 2), Reference("range", 1, 2, 0, 1)])


class Plots(unittest.TestCase):
    def test_have_a_mark_for_each_value_and_escape_names(self):
        for kind in ("bars", "lines", "scatter"):
            svg = to_svg(made_up(kind))
            self.assertEqual(svg.count('class="mark"'), 3, kind)
            self.assertEqual(len(re.findall(r"<title>[^<]+</title>", svg)), 3)
            self.assertNotRegex(svg, r"\bnan\b|\binf\b|a<b|#0[12]0[12]0")
            self.assertIn("\"two\"", svg)
            self.assertIn('aria-label="a &lt; b."', svg)

    def test_axes_contain_all_values(self):
        seed = random.randrange(1 << 32)
        draw = random.Random(seed)
        values = [(10 ** draw.uniform(-8, 8), 10 ** draw.uniform(-8, 8)) for _ in range(8)]
        for low, high in values + [(0, 0), (-3, -3), (1e-9, 1e-9), (0, 5)]:
            for log in (False, True):
                for kind in ("bars", "lines"):
                    figure = Figure("t", "a.", kind, "x", "y", ["p", "q"],
                                    [Series("s", 0, [Mark(0, once(low)), Mark(1, once(high))])],
                                    log_y=log)
                    svg = to_svg(figure)
                    numbers = texts(svg, "tick y")
                    told = f"{low} {high} {log} {kind}, seed {seed}"
                    self.assertTrue(1 <= len(numbers) <= 14, f"{told}: {numbers}")
                    self.assertNotRegex(svg, r"\bnan\b|\binf\b", told)
                    if kind == "lines":
                        places = re.findall(r'<use href="[^"]*" x="([\d.-]+)" y="([\d.-]+)"', svg)
                        heights = [float(y) for _, y in places[-2:]]
                        self.assertTrue(all(0 <= y <= 400 for y in heights) or min(low, high) <= 0,
                                        f"{told}: {heights}")

    def test_labels_of_overlapping_marks_do_not_overlap(self):
        """The best marks are at the top, so there is no room above them."""
        marks = [Mark(9, once(0))]
        marks += [Mark(1, once(5 + i * 0.01), "label", True) for i in range(6)]
        svg = to_svg(Figure("t", "a.", "scatter", series=[Series("one", 0, marks)]))
        heights = sorted(float(y) for y in re.findall(
            r'class="label".*?<text[^>]* y="([\d.]+)"', svg, re.S))
        self.assertEqual(len(heights), 6)
        for below, above in zip(heights, heights[1:]):
            self.assertGreaterEqual(above - below, 14.9)

    def test_names_of_elements_are_unique_on_a_page(self):
        figures = [made_up("bars"), made_up("lines")]
        figures[1].title = "other"
        page = Page("p", ["s"], [("fact", "<b>")], [Section("s", "S", "q?", figures=figures)])
        html = to_html(page)
        names = re.findall(r'\bid="([^"]+)"', html)
        self.assertEqual(len(set(names)), len(names))
        self.assertNotIn("<script", html)
        self.assertNotRegex(html, r'(src|href)="http')
        self.assertIn("&lt;b&gt;", html)
        for place in set(re.findall(r"url\(#([^)]+)\)", html)):
            self.assertIn(place, names)

    def test_files_have_their_own_style(self):
        svg = to_svg_file(to_svg(made_up("bars")))
        for variable in set(re.findall(r"var\((--\w+)\)", svg)):
            self.assertIn(f"{variable}: #", svg)

    def test_tables_of_numbers_have_a_row_for_each_mark(self):
        figure = Figure("t", categories=["a,b"],
                        series=[Series('s "1"', 0, [Mark(0, Spread(1, 0.5, 2, 3))])])
        self.assertEqual(to_csv(figure), "series,place,x,median,low,high,runs\n"
                         '"s ""1""","a,b",0,1,0.5,2,3\n')


if __name__ == "__main__":
    counted.main()
