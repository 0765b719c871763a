"""A wrong option ends every command with 2, and an input that is at fault with 1; both print a document for programs."""

import json

import pytest
import typer
from jsonschema import Draft202012Validator

from safetab.cli.main import app
from tests.cases import cases_of
from tests.commands import cli
from tests.conftest import SMALL_EXAMPLE
from tests.worlds.specified.small_world import nz_keys, write_specification
from tools.docs.generated.json_schemas import json_schemas

INPUTS = dict(
    cases_of("""
demo | {new}
new | {new}
synthesize | {nz}
docs | overview --path
validate | {p} {p-data}
plan | {p} {p-data}
run | {p} {p-data} {new}
spend | {log}
show | {people} 44 1093
status | {people}
report | {people}
site | {people} {new}
export | {people} {new}
rerelease | {people} {new}
official | {file} {new} --parameters {p}
sign |
verify | {people}
registry | {people}
diff | {p} {p}
explore |
accuracy | {p} {p-data} {new}
compare | {p} {p-data} {new}
lists | {p}
audit |
coterminous | {people} {new} --geography {file}
convert | {file} {new}
blocks-with-units | {file} {new}
cef convert | {file} {new}
cef blocks | {file} {new}
tune levels |
tune budget | county-detailed 11
tune threshold | county-detailed 9
tune margins | 4
tune noise |
tune codes | county-detailed
tune curve | county-detailed
""")
)
"""The arguments of each command that has options with values."""
OPTIONS = dict(
    cases_of("""
--census | mars
--people | 0
--seed | -1
--format | xls
--states | 0 --us
--counties | 0 --us
--tracts | 0 --us
--iterations | 0 --us
--shared-codes | 2 --us --households
--engine | abacus
--memory | much
--threads | 100000
--spark-master | here
--spark-conf | here
--persons | here
--test-key | abc
--dataset | a/b --spend-log {new}
--spend-limit | 50% --spend-log {new} --dataset a
--same-people-as | a
--confidence | 95
--order | north --coterminous
--rule | none
--set-limit | x --dataset a
--unit | euro
--where | x
--sex | x
--ages | x
--category | x
--family | x
--form | x
--runs | 0
--explain | x
--protection | x
--preset | x
--tables | x
--time-limit | 0
--privacy | {new}
--relative | x
--number | x
--proportion | x
--pass | x
--delta | x
--size | -1
""")
)
"""A wrong value of each option, with whatever else it needs."""
OPTIONS_OF = dict(
    cases_of("""
validate --geography | here
run --geography | here
accuracy --order | north
coterminous --order | north
rerelease --order | north
explore --xlsx | {new} -o {new}
show --group | 1093
spend --against | {file}
spend --merge | {file}
spend --output | {new}
""")
)
"""The same, where it differs from command to command: most of these lack another option."""
FILES = dict(
    cases_of("""
--from | {nothing}
--columns | {nothing}
--parameters | {nothing}
--temp | {nothing}
--confidential-log | {file}/x
--totals | {nothing}
--with | {nothing}
--spend-log | {p}/x --dataset a
--empty-blocks | {nothing} --coterminous
--table | {file}
--data | {nothing}
--group | nobody
--kind | x
--level | x
--groups | x
--place | nowhere
--county | nowhere
--state | nowhere
--tract | nowhere
--aiannh | nowhere
--area | nowhere
--output | {file}
--boundaries | {nothing}
--earlier | {nothing}
--linked | {nothing} {new}
--geography | {nothing}
--new-key | {file}
--key | {nothing}
--xlsx | {file}
--config | {nothing}
--against | {nothing}
--short | {file}
--page | {file}
--attack | nowhere
""")
)
"""Options that name a file, or an area or a group that only a file knows: at fault is an input."""
FILES_OF = dict(
    cases_of("""
synthesize --parameters | {nothing} --us --people 9000
rerelease --geography | {nothing} --coterminous
rerelease --empty-blocks | {nothing} --coterminous --geography {file}
coterminous --empty-blocks | {nothing}
spend --dataset | nobody
sign --key | {nothing}
""")
)
VALIDATORS = {name: Draft202012Validator(schema) for name, schema in json_schemas().items()}
EARLIER = {"coterminous", "convert", "blocks-with-units", "selftest"}


def options_of_commands():
    """Every option with a value of every command."""

    def walk(words, command):
        for name, inner in getattr(command, "commands", {}).items():
            yield from walk((*words, name), inner)
        if hasattr(command, "commands"):
            return
        for parameter in command.params:
            names = [name for name in parameter.opts if name.startswith("--")]
            if names and not parameter.is_flag:
                yield " ".join(words), names[0]

    yield from walk((), typer.main.get_command(app))


def of_day_and_night():
    """By day every option and every command once, and what is wrong for one command alone; at night all."""
    seen, own = set(), OPTIONS_OF.keys() | FILES_OF.keys()
    for case in sorted(options_of_commands()):
        is_another = seen.issuperset(case) and " ".join(case) not in own
        yield pytest.param(*case, marks=pytest.mark.slow if is_another else [])
        seen.update(case)


def wrong_value(command, option):
    """A wrong value of an option, with more words if it needs them, and the exit code."""
    for options, code in ((FILES_OF, 1), (OPTIONS_OF, 2)):
        if f"{command} {option}" in options:
            return options[f"{command} {option}"], code
    return (OPTIONS[option], 2) if option in OPTIONS else (FILES[option], 1)


@pytest.fixture(scope="module")
def places(both_products, tmp_path_factory):
    folder = tmp_path_factory.mktemp("options")
    file = folder / "file"
    file.write_text("nothing of use")
    specified, _ = write_specification(folder / "nz", nz_keys())
    places = {"p": SMALL_EXAMPLE / "parameters", "p-data": both_products / "p/data"}
    places |= {"people": both_products / "people", "nz": specified, "file": file}
    return places | {"log": folder / "spend.log", "nothing": folder / "nothing", "new": folder / "new"}


def ended(words, places):
    """The code of a command, its document, and what it says to people."""
    named = [word.format_map(places) for word in words]
    result = cli(*named, "--json")
    assert not places["new"].exists()
    return result.exit_code, json.loads(result.stdout), result.stderr


@pytest.mark.parametrize(("command", "option"), [*of_day_and_night()])
def test_a_wrong_value_ends_with_the_code_of_what_is_at_fault(command, option, places):
    value, code = wrong_value(command, option)
    inputs = INPUTS[command].split()
    if (command, option) == ("sign", "--key"):
        inputs = ["{people}"]
    found, document, said = ended([*command.split(), *inputs, option, *value.split()], places)
    assert (found, document["exit_code"]) == (code, code), said
    assert any(finding["severity"] == "error" for finding in document["findings"])
    assert "Traceback" not in said
    if command not in EARLIER:
        assert [*VALIDATORS[f"{command.replace(' ', '-')}.schema.json"].iter_errors(document)] == []
