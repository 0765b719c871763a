"""Charts of lines as SVG.

Each is a white page of its own, so that it reads the same on light and dark screens.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape

_WIDTH, _HEIGHT = 760, 440
_LEFT, _RIGHT, _TOP, _BOTTOM = 74, 24, 46, 62
_INK, _QUIET, _GRID = "#1d2733", "#4a5665", "#d9dfe6"


@dataclass(frozen=True, slots=True)
class Line:
    name: str
    points: Sequence[tuple[float, float]]
    colour: str
    dashes: str = ""


@dataclass(frozen=True, slots=True)
class Axis:
    """From where to where, and what stands at which place."""

    name: str
    first: float
    last: float
    marks: dict[float, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Chart:
    """`legend` is where the names of the lines begin, as parts of the width and the height."""

    title: str
    across: Axis
    up: Axis
    lines: Sequence[Line]
    legend: tuple[float, float] = (0.55, 0.04)

    def svg(self) -> str:
        parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}"'
            f' width="{_WIDTH}" height="{_HEIGHT}" role="img" font-family="system-ui,'
            f' sans-serif" font-size="13" fill="{_INK}">',
            f"<title>{escape(self.title)}</title>",
            f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="#ffffff"/>',
            (
                f'<text x="{_LEFT}" y="26" font-size="16"'
                f' font-weight="600">{escape(self.title)}</text>'
            ),
            *self._grid(),
            *(self._drawn(line) for line in self.lines),
            *self._legend(),
            "</svg>",
        ]
        return "\n".join(parts) + "\n"

    def _x(self, value: float) -> float:
        return _LEFT + (value - self.across.first) / (self.across.last - self.across.first) * (
            _WIDTH - _LEFT - _RIGHT
        )

    def _y(self, value: float) -> float:
        inner = _HEIGHT - _TOP - _BOTTOM
        return _TOP + (self.up.last - value) / (self.up.last - self.up.first) * inner

    def _grid(self) -> list[str]:
        bottom, right = _HEIGHT - _BOTTOM, _WIDTH - _RIGHT
        found = []
        for value, text in self.across.marks.items():
            x = self._x(value)
            found.append(
                f'<line x1="{x:.1f}" y1="{_TOP}" x2="{x:.1f}" y2="{bottom}" stroke="{_GRID}"/>'
            )
            found.append(
                f'<text x="{x:.1f}" y="{bottom + 18}" text-anchor="middle"'
                f' fill="{_QUIET}">{escape(text)}</text>'
            )
        for value, text in self.up.marks.items():
            y = self._y(value)
            strong = _QUIET if value == 0 else _GRID
            found.append(
                f'<line x1="{_LEFT}" y1="{y:.1f}" x2="{right}" y2="{y:.1f}" stroke="{strong}"/>'
            )
            found.append(
                f'<text x="{_LEFT - 8}" y="{y + 4:.1f}" text-anchor="end"'
                f' fill="{_QUIET}">{escape(text)}</text>'
            )
        middle = (_TOP + bottom) / 2
        found.append(
            f'<text x="{(_LEFT + right) / 2}" y="{_HEIGHT - 16}"'
            f' text-anchor="middle">{escape(self.across.name)}</text>'
        )
        found.append(
            f'<text transform="translate(18 {middle}) rotate(-90)"'
            f' text-anchor="middle">{escape(self.up.name)}</text>'
        )
        return found

    def _drawn(self, line: Line) -> str:
        """As far as it lies inside."""
        inside = [(x, y) for x, y in line.points if self.up.first <= y <= self.up.last]
        points = " ".join(f"{self._x(x):.1f},{self._y(y):.1f}" for x, y in inside)
        return (
            f'<polyline points="{points}" fill="none" stroke="{line.colour}"'
            f' stroke-width="2"{_dashed(line)}/>'
        )

    def _legend(self) -> list[str]:
        left = _LEFT + self.legend[0] * (_WIDTH - _LEFT - _RIGHT)
        top = _TOP + self.legend[1] * (_HEIGHT - _TOP - _BOTTOM)
        longest = max(len(line.name) for line in self.lines)
        size = f'width="{48 + 6.6 * longest:.0f}" height="{20 * len(self.lines) + 10}"'
        found = [
            (
                f'<rect x="{left - 8:.1f}" y="{top - 4:.1f}" {size} fill="#ffffff"'
                ' fill-opacity="0.85"/>'
            )
        ]
        for number, line in enumerate(self.lines):
            y = top + 10 + 20 * number
            found.append(
                f'<line x1="{left:.1f}" y1="{y:.1f}" x2="{left + 26:.1f}" y2="{y:.1f}"'
                f' stroke="{line.colour}" stroke-width="2"{_dashed(line)}/>'
            )
            found.append(f'<text x="{left + 34:.1f}" y="{y + 4:.1f}">{escape(line.name)}</text>')
        return found


def _dashed(line: Line) -> str:
    return f' stroke-dasharray="{line.dashes}"' if line.dashes else ""
