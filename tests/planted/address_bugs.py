"""Addresses, keys and batches that repeat, wrap around or are left out."""

from types import SimpleNamespace

import numpy as np

from tests.inside import AddressedBits, EmptyGroups, addressed_bits_module, tabulate_level_module
from tests.planted.noise_bugs import other_addresses

_GROUPS_AT_ONCE = 1 << 21


def the_aes_key_cut_to_4_bytes(patch):
    """The bits are asked for with a whole key, and encrypted with the beginning of it."""
    whole = addressed_bits_module.algorithms.AES
    patch.setattr(addressed_bits_module, "algorithms", SimpleNamespace(AES=lambda key: whole(key[:4] + bytes(28))))


def cell_5_reuses_the_noise_of_cell_3(patch):
    def prefix(original, right, shape, cell, extension):
        return original(right, shape, 3 if cell == 5 else cell, extension)

    other_addresses(patch, prefix)


def _other_indices(patch, other):
    """`other` takes indices of groups; gives those whose bits are read, block by block, by every reader."""

    def blocks(bits, prefix, indices):
        addresses = np.empty((len(indices), 2), dtype=">u8")
        addresses[:, 0], addresses[:, 1] = prefix, other(indices)
        return np.frombuffer(bytearray(bits._cipher.encryptor().update(addresses.tobytes())), dtype=np.uint8)

    def of_others(self, prefix, indices):
        yield slice(0, len(indices)), blocks(self, prefix, indices).view("<u8").reshape(-1, 2)

    def stream_of_others(self, prefix, first, count):
        return blocks(self, prefix, np.arange(first, first + count))

    patch.setattr(AddressedBits, "batches", of_others)
    patch.setattr(AddressedBits, "_stream", stream_of_others)


def the_group_index_wraps_at_2_to_the_24(patch):
    _other_indices(patch, lambda indices: indices % (1 << 24))


def groups_i_and_i_plus_64_share_all_noise(patch):
    _other_indices(patch, lambda indices: indices & ~64)


def a_stream_drops_the_lowest_bit_of_the_cell(patch):
    """Address by address all is well: neighbours alone share their noise with the cell beside."""
    original = AddressedBits._stream
    lowest = 1 << 24
    patch.setattr(
        AddressedBits, "_stream", lambda self, prefix, first, count: original(self, prefix & ~lowest, first, count)
    )


def lazy_words_repeat_after_16384_groups(patch):
    original = AddressedBits.first_words_of_range

    def repeated(self, prefix, first, end):
        for start, words in original(self, prefix, first, end):
            (_, beginning), *_ = original(self, prefix, first, first + len(words))
            yield start, beginning

    patch.setattr(AddressedBits, "first_words_of_range", repeated)


def the_empty_group_2_to_the_21_never_published(patch):
    original = EmptyGroups.that_may_be_published

    def found(self, first, end):
        indices = original(self, first, end)
        return indices[(indices == 0) | (indices % _GROUPS_AT_ONCE != 0)]

    patch.setattr(EmptyGroups, "that_may_be_published", found)


def an_empty_group_at_a_batch_boundary_never_published(patch):
    original = EmptyGroups.that_may_be_published
    patch.setattr(
        EmptyGroups, "that_may_be_published", lambda self, first, end: original(self, first + (first > 0), end)
    )


def no_noise_above_5000(patch):
    """The level's own step leaves out the noise of large counts, whatever the mechanism has drawn."""
    original = tabulate_level_module._PaidLevel.noisy

    def noisy(self, counts, shape, stage):
        found = original(self, counts, shape, stage)
        return np.where(counts.confidential_counts > 5_000, counts.confidential_counts, found)

    patch.setattr(tabulate_level_module._PaidLevel, "noisy", noisy)
