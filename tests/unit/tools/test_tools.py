"""The tools that judge the tests: mutants of a module, and the tests that a change touches."""

import ast
import json

from tools import called, touched
from tools.mutate.mutants import mutants_of

SOURCE = '''
def least(values, most):
    """One is at least 1."""
    if not values:
        return 0
    return min(values[0] + 1, f(values, most)) if most <= 5 and values else -1


class Pair:
    def is_equal(self, other: "list[1]") -> bool:
        return self.left == other.left
'''


def test_each_mutant_is_one_change_of_a_function():
    names = []
    for mutant, make in mutants_of("pair.py", SOURCE):
        names.append(str(mutant))
        assert ast.unparse(make()) != ast.unparse(ast.parse(SOURCE))
        compile(make(), "pair.py", "exec")
    assert len(set(names)) == len(names)
    assert "pair.py least: not values -> not not values" in names
    assert "pair.py least: most <= 5 -> most < 5" in names
    assert "pair.py least: f(values, most) -> f(most, values)" in names
    assert "pair.py Pair.is_equal: self.left == other.left -> self.left != other.left" in names
    assert not [name for name in names if "list" in name or "One" in name]


def test_a_change_touches_the_tests_that_call_it(tmp_path, monkeypatch):
    monkeypatch.setattr(called, "MAP", tmp_path)
    for name, module in (
        ("tools/test_tools", "model/census/groups.py"),
        ("release/test_names", "model/census/areas.py"),
    ):
        told = {"tests": f"tests/unit/{name}.py", "seconds": 1, "functions": {module: ["f"]}}
        (tmp_path / f"{name.replace('/', '-')}.json").write_text(json.dumps(told))
    assert touched.touched({"src/safetab/model/census/groups.py"}) == ["tests/unit/tools/test_tools.py"]
    assert touched.touched({"tests/unit/release/test_names.py", "README.md"}) == ["tests/unit/release/test_names.py"]
