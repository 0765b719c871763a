"""The states as they were counted in 2020: how many people and counties, and roughly how many AIANNH areas."""

from __future__ import annotations

from dataclasses import dataclass

from safetab.census.geography_levels import PUERTO_RICO_STATE


@dataclass(frozen=True, slots=True)
class NationState:
    """`aiannh_weight` says where AIANNH areas lie: a state gets its share of them, not exactly this number."""

    code: str
    name: str
    people: int
    counties: int
    aiannh_weight: int


US_STATES_OF_2020 = (
    NationState("01", "Alabama", 5_024_279, 67, 10),
    NationState("02", "Alaska", 733_391, 30, 230),
    NationState("04", "Arizona", 7_151_502, 15, 24),
    NationState("05", "Arkansas", 3_011_524, 75, 0),
    NationState("06", "California", 39_538_223, 58, 125),
    NationState("08", "Colorado", 5_773_714, 64, 2),
    NationState("09", "Connecticut", 3_605_944, 8, 5),
    NationState("10", "Delaware", 989_948, 3, 2),
    NationState("11", "District of Columbia", 689_545, 1, 0),
    NationState("12", "Florida", 21_538_187, 67, 8),
    NationState("13", "Georgia", 10_711_908, 159, 3),
    NationState("15", "Hawaii", 1_455_271, 5, 75),
    NationState("16", "Idaho", 1_839_106, 44, 6),
    NationState("17", "Illinois", 12_812_508, 102, 1),
    NationState("18", "Indiana", 6_785_528, 92, 1),
    NationState("19", "Iowa", 3_190_369, 99, 1),
    NationState("20", "Kansas", 2_937_880, 105, 5),
    NationState("21", "Kentucky", 4_505_836, 120, 0),
    NationState("22", "Louisiana", 4_657_757, 64, 6),
    NationState("23", "Maine", 1_362_359, 16, 5),
    NationState("24", "Maryland", 6_177_224, 24, 1),
    NationState("25", "Massachusetts", 7_029_917, 14, 3),
    NationState("26", "Michigan", 10_077_331, 83, 13),
    NationState("27", "Minnesota", 5_706_494, 87, 14),
    NationState("28", "Mississippi", 2_961_279, 82, 1),
    NationState("29", "Missouri", 6_154_913, 115, 0),
    NationState("30", "Montana", 1_084_225, 56, 8),
    NationState("31", "Nebraska", 1_961_504, 93, 5),
    NationState("32", "Nevada", 3_104_614, 17, 30),
    NationState("33", "New Hampshire", 1_377_529, 10, 0),
    NationState("34", "New Jersey", 9_288_994, 21, 3),
    NationState("35", "New Mexico", 2_117_522, 33, 26),
    NationState("36", "New York", 20_201_249, 62, 12),
    NationState("37", "North Carolina", 10_439_388, 100, 10),
    NationState("38", "North Dakota", 779_094, 53, 6),
    NationState("39", "Ohio", 11_799_448, 88, 0),
    NationState("40", "Oklahoma", 3_959_353, 77, 38),
    NationState("41", "Oregon", 4_237_256, 36, 11),
    NationState("42", "Pennsylvania", 13_002_700, 67, 0),
    NationState("44", "Rhode Island", 1_097_379, 5, 1),
    NationState("45", "South Carolina", 5_118_425, 46, 8),
    NationState("46", "South Dakota", 886_667, 66, 9),
    NationState("47", "Tennessee", 6_910_840, 95, 1),
    NationState("48", "Texas", 29_145_505, 254, 4),
    NationState("49", "Utah", 3_271_616, 29, 8),
    NationState("50", "Vermont", 643_077, 14, 0),
    NationState("51", "Virginia", 8_631_393, 133, 8),
    NationState("53", "Washington", 7_705_281, 39, 32),
    NationState("54", "West Virginia", 1_793_716, 55, 0),
    NationState("55", "Wisconsin", 5_893_718, 72, 13),
    NationState("56", "Wyoming", 576_851, 23, 1),
)
"""In the order of their codes; 331,449,281 people in 3,143 counties."""

PUERTO_RICO_OF_2020 = NationState(PUERTO_RICO_STATE, "Puerto Rico", 3_285_874, 78, 0)
