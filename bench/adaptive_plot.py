"""The curves of the adaptive benchmark as an SVG that can be read on light and on dark pages."""

from collections.abc import Sequence

import altair as alt

from bench.adaptive import ADAPTIVE, RIVALS, Curves

COLOURS = {ADAPTIVE: "#0b6bcb", "Swiss": "#c2410c", "round robin": "#15803d", "random pairs": "#6b7280"}
DASHES = {ADAPTIVE: [1, 0], "Swiss": [8, 3], "round robin": [3, 3], "random pairs": [2, 2]}
TEXT = 15


def plot(all_curves: Sequence[Curves], path: str) -> None:
    """One panel for each size, with a white ground of its own, written to `path`."""
    panels = alt.hconcat(*(_panel(curves) for curves in all_curves), spacing=36)
    panels.configure(background="#ffffff", padding=16, font="system-ui, sans-serif").configure_axis(
        labelFontSize=TEXT, titleFontSize=TEXT, titleFontWeight="normal", gridColor="#e5e7eb", labelColor="#1f2937"
    ).configure_legend(
        labelFontSize=TEXT, labelLimit=300, orient="bottom", title=None, symbolSize=400, columnPadding=24
    ).configure_title(fontSize=TEXT + 1, fontWeight="normal", anchor="start").save(path)


def _panel(curves: Curves) -> alt.LayerChart:
    designs = (ADAPTIVE, *reversed(RIVALS))
    rows = [
        {"design": design, "comparisons": budget, "tau": round(float(tau), 4)}
        for design in designs
        for budget, tau in zip(curves.budgets, curves.means(design), strict=True)
    ]
    colour = alt.Color("design:N", sort=None).scale(domain=list(designs), range=[COLOURS[name] for name in designs])
    dash = alt.StrokeDash("design:N", sort=None).scale(domain=list(designs), range=[DASHES[name] for name in designs])
    lines = (
        alt.Chart(alt.Data(values=rows))
        .mark_line(strokeWidth=2.5)
        .encode(
            x=alt.X("comparisons:Q").title("comparisons").axis(tickCount=6),
            y=alt.Y("tau:Q").title("Kendall's tau-b with the truth").scale(zero=False),
            color=colour,
            strokeDash=dash,
        )
    )
    goal = float(curves.means(RIVALS[0])[-1])
    rule = alt.Chart(alt.Data(values=[{"goal": goal}])).mark_rule(color="#1f2937", strokeDash=[2, 3]).encode(y="goal:Q")
    title = f"{curves.setting.threads} threads (dotted: all {curves.budgets[-1]} pairs once)"
    return alt.layer(rule, lines).properties(width=400, height=320, title=title)
