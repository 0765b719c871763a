"""Calls as users write them. A type checker accepts every line, but for those that end in `# wrong`."""

# ruff: noqa: B018, T201
from pathlib import Path

import safetab
from safetab.tuning import Tuning, least_budget, tuning_of

safetab.validate("parameters", Path("data"), threads=4, engine="local", spark_conf=["spark.a=b"])
safetab.validate("parameters", "data", engine="sparc")  # wrong
safetab.validate("parameters", "data", engine="duckdb")  # wrong
safetab.validate("parameters", "data", overwrite=True)  # wrong
safetab.validate("parameters", "data", threads="4")  # wrong

plan: safetab.RunPlan = safetab.plan("parameters", "data", totals=Path("OUT"))
safetab.plan("parameters", "data", total="OUT")  # wrong

summary = safetab.run(
    "parameters", "data", "OUT", confidence="0.9", csv=True, spend_limit=4.85, rules=["clamp-negatives"]
)
safetab.run("parameters", "data", "OUT", options=safetab.RunOptions(threads=2))
safetab.run("parameters", "data", "OUT", confidence=0.9, temp=None, same_people_as=["others"], coterminous=True)
safetab.run("parameters", "data", "OUT", confidnce="0.9")  # wrong
safetab.run("parameters", "data", "OUT", confidence=None)  # wrong
safetab.run("parameters", "data", "OUT", rules="clamp-negatives")  # wrong
safetab.run("parameters", "data", "OUT", runs=3)  # wrong
summary.row  # wrong

safetab.rerelease("OUT", "NEW", geography="data", coterminous=True, confidence="0.99")
safetab.rerelease("OUT", "NEW", test_key="00")  # wrong
safetab.accuracy("parameters", "data", "ACCURACY", runs=10, order="state,county", totals="OUT")
safetab.accuracy("parameters", "data", "ACCURACY", confidence="0.9")  # wrong
safetab.compare("parameters", "data", "COMPARED", protections=["round:base=5"], time_limit=60, seed=1)
safetab.compare("parameters", "data", "COMPARED", protection=["round:base=5"])  # wrong
safetab.compare("parameters", "data", "COMPARED", tables="every group")  # wrong
safetab.open_comparison("COMPARED").exposure("round:base=5").num_rows
safetab.export("OUT", "CSV", form="census")
safetab.export("OUT", "CSV", form="wide")  # wrong
safetab.expotr("OUT", "CSV")  # wrong

safetab.assess("parameters", "data", "ACCURACY")  # wrong
made = safetab.synthesize("mine", 2000, form="text")
safetab.run(*made, Path("OUT")).losses().num_rows
safetab.synthesize("mine", people="2000")  # wrong
safetab.site("OUT", "SITE", linked=("OTHER", "https://example.org"), overwrite=True).numbers
safetab.site("OUT", "SITE", linked="OTHER")  # wrong
safetab.spend("LOG", "people", set_limit=5, unit="rho").to_arrow().num_rows
safetab.spend("LOG", "people", unit="sigma")  # wrong
safetab.spend("LOG").statement().num_rows
safetab.check_spend_log("LOG")[0].message
safetab.merge_spend_logs(["A", Path("B")], "NEW").to_arrow()
safetab.merge_spend_logs("A", "NEW")  # wrong
fingerprint: str = safetab.new_key("FILE")
conclusion: str = safetab.audit(quick=True).conclusion
safetab.explore(config="config.json").to_arrow().num_rows
safetab.official(["t1.csv", Path("t2.csv")], "NEW", parameters="parameters").warnings[0].message
safetab.demo("DEMO", census="fr")  # wrong

release = safetab.open_release("OUT")
total = release.total("Providence County", "Dominican", kind="alone")
if isinstance(total, safetab.Estimate):
    width: float = total.margin_of_error
    (total - total).interval
    total.margin  # wrong
release.total("Providence County", 1)  # wrong
table = release.table("Providence County", "Dominican")
if not isinstance(table, safetab.Absence):
    table.count(sex="female", ages=(0, 17)).value
for answer in release.totals(group="Dominican", level="county").largest(3):
    print(answer)
safetab.status("OUT", level="county").to_arrow().num_rows

tuning: Tuning = tuning_of(config="config.json").require()
least_budget(tuning, "10")  # wrong
safetab.tuning.tuning_of(conf="config.json")  # wrong
