"""Random bits that have an address: AES-256 of the address under a key that lives as long as the run.

docs/privacy.md#random-bits says what rests on this.
"""

from __future__ import annotations

import os

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from numpy.typing import NDArray

KEY_BYTES = 32
BLOCK_BYTES = 16
_BLOCKS_AT_ONCE = 1 << 15


class AddressedBits:
    """128 random bits for every address: a prefix of 64 bits and a place of 64 bits.

    The same address always has the same bits, so noise that is computed again is the same noise, never a second draw.
    """

    def __init__(self, key: bytes) -> None:
        if len(key) != KEY_BYTES:
            raise ValueError(f"a key has {KEY_BYTES} bytes")
        self._cipher = Cipher(algorithms.AES(key), modes.ECB())  # noqa: S305 - every block is a different address
        self._key = key

    @classmethod
    def of_the_operating_system(cls) -> AddressedBits:
        """With a key that nobody else has."""
        return cls(os.urandom(KEY_BYTES))

    def __repr__(self) -> str:
        return "<random bits by address>"

    def words(self, prefix: int, places: NDArray[np.int64]) -> NDArray[np.uint64]:
        """Two words of 64 bits for each place."""
        found = np.empty((len(places), 2), dtype="<u8")
        encryptor = self._cipher.encryptor()
        blocks = np.empty((min(len(places), _BLOCKS_AT_ONCE), 2), dtype=">u8")
        scrambled = np.empty(len(blocks) * BLOCK_BYTES + BLOCK_BYTES - 1, dtype=np.uint8)
        for first in range(0, len(places), _BLOCKS_AT_ONCE):
            part = places[first : first + _BLOCKS_AT_ONCE]
            addresses = blocks[: len(part)]
            addresses[:, 0] = prefix
            addresses[:, 1] = part
            written = encryptor.update_into(addresses.view(np.uint8).reshape(-1).data, scrambled.data)
            found[first : first + len(part)] = scrambled[:written].view("<u8").reshape(-1, 2)
        return found

    def first_words_of_range(self, prefix: int, first: int, end: int) -> NDArray[np.uint64]:
        """The first word of each place from `first` up to, but not, `end`: neighbours come cheaper together."""
        counter = prefix.to_bytes(8, "big") + first.to_bytes(8, "big")
        encryptor = Cipher(algorithms.AES(self._key), modes.CTR(counter)).encryptor()
        length = (end - first) * BLOCK_BYTES
        stream = np.empty(length, dtype=np.uint8)
        encryptor.update_into(np.zeros(length, dtype=np.uint8).data, stream.data)
        return stream.view("<u8")[::2]
