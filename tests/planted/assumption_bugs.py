"""Guards that are gone: each of them enforces what a theorem assumes, or keeps out of files what need not be there."""

from tests.inside import (
    AddressedBits,
    ArrayEngine,
    DrawingRight,
    Ledger,
    WatchedFiles,
    number_files_module,
    options_module,
)


def a_test_key_for_real_people(patch):
    patch.setattr(options_module, "is_synthetic", lambda _: True)


def a_recorder_for_real_people(patch):
    patch.setattr(options_module, "has_synthetic_people", lambda *_: True)


def two_ledgers_with_the_same_bits(patch):
    patch.setattr(AddressedBits, "become_owned", lambda _: None)


def whatever_is_asked_is_charged(patch):
    def charge(self, event):
        self._events.append(event)
        return self.right_to_read_again(event)

    patch.setattr(Ledger, "charge", charge)


def noise_is_read_again_that_was_never_charged(patch):
    def right(self, event):
        drawing = object.__new__(DrawingRight)
        drawing._event, drawing._bits = event, self._bits
        return drawing

    patch.setattr(Ledger, "right_to_read_again", right)


def files_may_change_during_a_run(patch):
    patch.setattr(WatchedFiles, "require_unchanged", lambda *_: None)


def records_encoded_twice_accepted(patch):
    def prepare(self):
        return {part.tabulation_pass: len(part.records.attributes) for part in self.count(self._stored)}

    patch.setattr(ArrayEngine, "prepare", prepare)


def statistics_of_all_columns(patch):
    """They are of published numbers, so they give nothing away."""
    patch.setattr(number_files_module, "SEARCHED_COLUMNS", True)
