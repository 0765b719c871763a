"""Random bits that have an address.

AES-256 of the address, under a key that lives as long as the run. docs/privacy.md#random-bits says
what depends on this.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from numpy.typing import NDArray

KEY_BYTES = 32
_BLOCK_BYTES = 16
_BLOCKS_AT_ONCE = 1 << 14  # what is asked for and what is made of it fit into a core's own cache
_ZEROS = np.zeros(_BLOCKS_AT_ONCE * _BLOCK_BYTES, dtype=np.uint8)


class SharedBits(Exception):  # noqa: N818 - the name is the sentence
    """Bits that a ledger owns were offered to another ledger.

    That would repeat the first one's noise.
    """


class _KeyStream(threading.local):
    """AES in counter mode with a buffer. Each thread gets its own of both when it first asks."""

    def __init__(self, key: bytes) -> None:
        self._scratch = np.empty_like(_ZEROS)
        self._counter_mode = Cipher(algorithms.AES(key), modes.CTR(bytes(_BLOCK_BYTES))).encryptor()

    def beginning_at(self, counter: bytes, length: int) -> NDArray[np.uint8]:
        """`length` bytes of the stream from this counter on.

        The thread's next call overwrites them.
        """
        stream = self._scratch[:length]
        self._counter_mode.reset_nonce(counter)
        self._counter_mode.update_into(_ZEROS[:length].data, stream.data)
        return stream


class AddressedBits:
    """128 random bits for every address: a prefix of 64 bits and an index of 64 bits.

    An address always has the same bits, so noise that is computed again is the same noise and never
    a second draw. A ledger owns its bits for good, because only it knows which addresses were
    charged.
    """

    def __init__(self, key: bytes) -> None:
        if len(key) != KEY_BYTES:
            raise ValueError(f"a key has {KEY_BYTES} bytes")
        self._is_owned = False
        # ECB is safe here: every block is a different address.
        self._cipher = Cipher(algorithms.AES(key), modes.ECB())  # noqa: S305
        self._key_stream = _KeyStream(key)

    @classmethod
    def of_the_operating_system(cls, urandom: Callable[[int], bytes] = os.urandom) -> AddressedBits:
        """Bits under a fresh key from the operating system."""
        return cls(urandom(KEY_BYTES))

    def __repr__(self) -> str:
        return "<random bits by address>"

    def become_owned(self) -> None:
        """Mark the bits as owned by a ledger. Raises SharedBits if they already are."""
        if self._is_owned:
            raise SharedBits("random bits belong to one ledger: make new bits for a new ledger")
        self._is_owned = True

    def words(self, prefix: int, indices: NDArray[np.int64]) -> NDArray[np.uint64]:
        """Two 64-bit words for each of the ascending indices."""
        found = np.empty((len(indices), 2), dtype="<u8")
        for part, words in self.batches(prefix, indices):
            found[part] = words
        return found

    def batches(
        self, prefix: int, indices: NDArray[np.int64]
    ) -> Iterator[tuple[slice, NDArray[np.uint64]]]:
        """The results of `words`, part by part. Each part overwrites the one before."""
        encryptor = self._cipher.encryptor()
        addresses = np.empty((min(len(indices), _BLOCKS_AT_ONCE), 2), dtype=">u8")
        addresses[:, 0] = prefix
        scrambled = np.empty(len(addresses) * _BLOCK_BYTES + _BLOCK_BYTES - 1, dtype=np.uint8)
        for first in range(0, len(indices), _BLOCKS_AT_ONCE):
            part = indices[first : first + _BLOCKS_AT_ONCE]
            if part[-1] - part[0] == len(part) - 1:  # rising without a gap
                stream = self._stream(prefix, int(part[0]), len(part))
            else:
                addresses[: len(part), 1] = part
                blocks = addresses[: len(part)].view(np.uint8).reshape(-1)
                stream = scrambled[: encryptor.update_into(blocks.data, scrambled.data)]
            yield slice(first, first + len(part)), stream.view("<u8").reshape(-1, 2)

    def first_words_of_range(
        self, prefix: int, first: int, end: int
    ) -> Iterator[tuple[int, NDArray[np.uint64]]]:
        """The first word of each index in [first, end), in parts.

        Each part is given as the index where it begins, and its words.
        """
        for start in range(first, end, _BLOCKS_AT_ONCE):
            count = min(_BLOCKS_AT_ONCE, end - start)
            yield start, self._stream(prefix, start, count).view("<u8")[::2]

    def _stream(self, prefix: int, first: int, count: int) -> NDArray[np.uint8]:
        """The blocks of neighbouring indices as a key stream.

        Counter mode numbers them the same way.
        """
        counter = prefix.to_bytes(8, "big") + first.to_bytes(8, "big")
        return self._key_stream.beginning_at(counter, count * _BLOCK_BYTES)
