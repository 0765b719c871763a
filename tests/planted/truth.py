"""What a leaking program would know: exact counts, remembered as the engine makes them."""

from dataclasses import dataclass, field

from tests.inside import LocalEngine, RecordCounter


@dataclass
class Truth:
    people: int = 0
    of_pass: dict[str, int] = field(default_factory=dict)
    of_level: dict[str, int] = field(default_factory=dict)  # by geography level: the sum of all totals
    nonempty: set[tuple[str, str, str]] = field(default_factory=set)  # level, region and iteration


def remembered(patch):
    truth, prepare, totals = Truth(), LocalEngine.prepare, RecordCounter.totals

    def preparing(self):
        people = prepare(self)
        truth.people = sum(people.values())
        truth.of_pass = {which.name: count for which, count in people.items()}
        truth.of_level, truth.nonempty = {}, set()
        return people

    def counting(self, level):
        found, label = totals(self, level), level.level.geography.label
        truth.of_level[label] = truth.of_level.get(label, 0) + int(found.confidential_counts.sum())
        groups = (level.universe.group_at(index) for index in found.indices.tolist())
        truth.nonempty |= {(label, group.region_id, group.iteration.code) for group in groups}
        return found

    patch.setattr(LocalEngine, "prepare", preparing)
    patch.setattr(RecordCounter, "totals", counting)
    return truth
