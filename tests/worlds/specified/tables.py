"""Random fields that tables look at, table families, and budgets for them."""

from decimal import Decimal


def make_attributes(choose):
    """The fields of the attributes: an age, a gender, and sometimes others."""
    low = choose.one([0, 0, 16, -5])
    limits = {"minimum": low, "maximum": low + choose.between(30, 115)}
    age = {"name": "age in years", "attribute": "age", "type": "integer", "constraints": limits}
    if choose.quietly(0.5):
        age["unit_name"] = "years"
    genders = [("1", "male"), ("2", "female"), ("3", "another gender")][
        : 3 if choose.chance("three genders", 0.7) else 2
    ]
    fields = [age, _categories("GENDER", "gender", choose.one(["string", "integer"]), genders)]
    if choose.chance("boolean", 0.4):
        fields.append(_categories("Householder", "householder", "boolean", [("true", "yes"), ("false", "no")]))
    if choose.quietly(0.5):
        tenures = [(str(number), f"tenure {number}") for number in range(1, choose.between(2, 6) + 1)]
        fields.append(_categories("TEN", "", choose.one(["string", "integer"]), tenures))
    for field in fields:
        if field["type"] != "boolean" and choose.chance("other value", 0.25):
            values = [each["value"] for each in field["categories"]] if "categories" in field else [limits["maximum"]]
            field["other"] = choose.one(values)
    return fields


def _categories(name, attribute, kind, values):
    typed = {"integer": int, "boolean": lambda text: text == "true", "string": str}[kind]
    categories = [{"value": typed(value), "label": label} for value, label in values]
    return {"name": name, "type": kind, "categories": categories} | ({"attribute": attribute} if attribute else {})


def make_families(choose, fields):
    """One to three ladders of tables."""
    number = choose.between(1, 3)
    if number > 1:
        choose.features.add("several families")
    families = []
    for place in range(number):
        name, stem = f"family {place}", f"F{place}."
        family = {"name": name, "detail": f"detail {place}"}
        if choose.chance("family of lines", 0.35):
            families.append(family | _lines(choose, choose.one(fields[1:]), stem))
        else:
            families.append(family | _ladder(choose, fields, stem))
    return families


def _shape(stem, place):
    return {"id": f"{stem}{place}", "label": f"{stem}shape {place}", "title": f"Table {place}"}


def _ladder(choose, fields, stem):
    shapes = [_shape(stem, 0)]
    for place in range(1, choose.between(1, 3) + 1):
        chosen = choose.shuffled(choose.some(fields, 1, 3))
        choose.features.add(f"by {len(chosen)}")
        shape = _shape(stem, place) | {"by": [field.get("attribute", field["name"]) for field in chosen]}
        if fields[0] in chosen:
            low, high = (fields[0]["constraints"][end] for end in ("minimum", "maximum"))
            parts = choose.between(1, 4)
            shape["breaks"] = {"age": [low, *sorted(choose.random.sample(range(low + 1, high + 1), parts))]}
        shapes.append(shape)
    return {"shapes": shapes} | ({"repeat_total": True} if choose.quietly(0.3) else {})


def _lines(choose, field, stem):
    """Nested sets of values; a finer shape opens more of them."""
    values = choose.shuffled([each["value"] for each in field["categories"]])
    cut = choose.between(1, len(values) - 1)
    halves = [("left", values[:cut]), ("right", values[cut:])]
    leaves = {half: [(f"{half} {place}", [value]) for place, value in enumerate(inside)] for half, inside in halves}
    lines, coarse, fine = [("all", values)], ["all"], ["all"]
    for half, inside in halves:
        lines.append((half, inside))
        coarse.append(half)
        fine.append(half)
        if len(inside) > 1:
            lines += leaves[half]
            fine += [label for label, _ in leaves[half]]
    shapes = [_shape(stem, 0) | {"lines": ["all"]}, _shape(stem, 1) | {"lines": coarse}]
    if len(fine) > len(coarse) and choose.quietly(0.7):
        shapes.append(_shape(stem, 2) | {"lines": fine})
    written = [{"label": label, "values": inside, "stub": label, "words": label} for label, inside in lines]
    return {"of": field.get("attribute", field["name"]), "lines": written, "shapes": shapes}


def make_privacy(choose, keys, several):
    """Budgets for some triples, at least one in each pass. `several`: how many columns a classification has."""
    definition = choose.named(zcdp="zcdp", puredp="puredp")
    privacy = {"definition": definition, "selector": "stage 1", "stage_1": Decimal("0.1")}
    kinds = [level["name"] for level in keys["areas"]["levels"]]
    if choose.chance("suppress", 0.5):
        privacy["suppress"] = {"chance": Decimal("0.99"), "areas": choose.some(kinds)}
    if choose.quietly(0.3):
        privacy["negatives"] = choose.one(["kept", "withheld", "zero"])
    use = {name: choose.between(1, most or 3) for name, most in several.items() if choose.quietly(0.6)}
    if use:
        privacy["use"] = use
    if any(used < (several[name] or 8) for name, used in use.items()):
        choose.features.add("use below the columns")
    privacy["levels"] = list(_budgets(choose, keys))
    return privacy


def _budgets(choose, keys):
    """Entries of `privacy.levels`; the first family and level of groups are in every pass."""
    passes, kinds = keys["areas"].get("passes"), [level["name"] for level in keys["areas"]["levels"]]
    labels_of = [list(each["levels"].values()) for each in passes] if passes else [kinds]
    levels = [level["name"] for level in keys["groups"]["levels"]]
    for place, family in enumerate(keys["tables"]):
        for number, level in enumerate(levels):
            for labels in labels_of:
                if place + number and choose.chance("levels left out", 0.3):
                    continue
                yield _budget(choose, keys, family, level, choose.some(labels))


def _budget(choose, keys, family, level, labels):
    entry = {"groups": [level] if choose.quietly(0.3) else level}
    entry["areas"] = labels if len(labels) > 1 else labels[0]
    if len(keys["tables"]) > 1 or choose.quietly(0.5):
        entry["tables"] = family["name"]
    budget = Decimal(choose.between(1, 3000)) / 1000
    return entry | {"budget": budget, "thresholds": sorted(choose.between(0, 60) for _ in family["shapes"][1:])}
