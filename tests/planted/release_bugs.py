"""Files that know more than the noisy numbers."""

import hashlib
from dataclasses import replace

import pyarrow as pa

from tests.inside import (
    Copies,
    MeasurementFile,
    NumberKinds,
    NumbersOfLevel,
    WatchedFiles,
    data_dictionary_module,
    group_statuses_module,
    output_folder_module,
    release_parts_module,
    rerelease_module,
    run_module,
)
from tests.planted.truth import remembered


def appended(path, text):
    with path.open("a") as file:
        file.write(text)


def a_hash_of_the_person_file_in_the_manifest(patch):
    original = WatchedFiles.hashes_of

    def with_persons(still, files):
        data = next(path for path in files.values() if path.name.startswith("GRF-C")).parent
        persons = (data / "person-records.txt").read_bytes()
        return original(still, files) | {"person-records.txt": hashlib.sha256(persons).hexdigest()}

    patch.setattr(WatchedFiles, "hashes_of", with_persons)


def after(patch, writer, write):
    """`write` gets the output's folder once `writer` is done."""
    original = getattr(run_module, writer)

    def writing(output, *facts):
        found = original(output, *facts)
        write(output)
        return found

    patch.setattr(run_module, writer, writing)


def the_number_of_persons_in_the_releasable_log(patch):
    truth = remembered(patch)
    after(patch, "write_release_log", lambda output: appended(output / "log.txt", f"{truth.people}\n"))


def the_number_of_persons_in_the_report(patch):
    truth = remembered(patch)
    after(patch, "write_documents", lambda output: appended(output / "report.html", f"<!-- {truth.people} -->"))


def a_word_about_an_empty_pass(patch):
    original, truth = release_parts_module.write_readme, remembered(patch)

    def tell(release, *told):
        original(release, *told)
        if not truth.of_pass["pr"]:
            appended(release / "README.txt", "Nobody lives in Puerto Rico.\n")

    patch.setattr(release_parts_module, "write_readme", tell)


def a_file_with_a_true_sum_in_thousands(patch):
    truth = remembered(patch)
    after(patch, "write_release", lambda output: (output / "people.txt").write_text(f"{truth.people // 1000}000\n"))


def how_long_the_numbers_took_on_the_files(patch):
    patch.setattr(output_folder_module.os, "utime", lambda *_, **__: None)


def a_row_group_for_each_internal_batch(patch):
    original = MeasurementFile.write

    def write(self, measurements, groups):
        original(self, measurements, groups)
        if len(self._waiting):
            self._write_rows(len(self._waiting))

    patch.setattr(MeasurementFile, "write", write)


def parquet_statistics_of_a_true_count(patch):
    original, truth = MeasurementFile.close, remembered(patch)

    def close(self):
        self._writer.add_key_value_metadata({"distinct_count": str(truth.of_level["TRACT"])})
        original(self)

    patch.setattr(MeasurementFile, "close", close)


def margins_from_the_true_count(patch):
    original, truth = NumberKinds.margins, remembered(patch)
    patch.setattr(NumberKinds, "margins", property(lambda self: original.func(self) + truth.people % 7))


def a_rule_applied_to_true_counts(patch):
    """A number is withheld if the group's true size, not its noisy one, is small."""
    original, truth = NumbersOfLevel._after_rules, remembered(patch)

    def by_truth(self, numbers):
        found = original(self, numbers)
        return found if truth.people > 145 else numbers

    patch.setattr(NumbersOfLevel, "_after_rules", by_truth)


def a_coterminous_donor_chosen_by_true_size(patch):
    original, truth = Copies.__init__, remembered(patch)

    def begin(self, universe, of_pass, sets, options, published):
        is_larger = truth.people > 145
        names = tuple(kind.name for kind in options.donors(universe.census))
        order = names if is_larger else tuple(reversed(names))
        original(self, universe, of_pass, sets, replace(options, order=order), published)

    patch.setattr(Copies, "__init__", begin)


def a_suppressed_group_whose_status_says_it_is_empty(patch):
    original, truth = group_statuses_module._batch, remembered(patch)

    def telling(release, geography, part, iterations):
        batch = original(release, geography, part, iterations)
        columns = (batch[name].to_pylist() for name in ("region_id", "iteration_code", "status"))
        said = [
            "empty" if status == "suppressed" and (geography.label, region, code) not in truth.nonempty else status
            for region, code, status in zip(*columns, strict=True)
        ]
        return batch.set_column(batch.schema.get_field_index("status"), "status", pa.array(said))

    patch.setattr(group_statuses_module, "_batch", telling)


def true_sums_in_the_exported_files(patch):
    original, truth = data_dictionary_module._written, remembered(patch)

    def written(output, name, paths, census, label=None):
        rows = original(output, name, paths, census, label)
        if label is not None:
            appended(output / name, f"# {truth.of_level.get(label, 0)}\n")
        return rows

    patch.setattr(data_dictionary_module, "_written", written)


def a_release_made_again_that_remembers_the_persons(patch):
    original, truth = rerelease_module.write_documents, remembered(patch)

    def writing(output, *facts):
        original(output, *facts)
        appended(output / "report.html", f"<!-- {truth.people} -->")

    patch.setattr(rerelease_module, "write_documents", writing)
