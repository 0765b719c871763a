"""The paper: noise, privacy, mechanisms, the algorithm, and what a plan guarantees.

Start with algorithm/safetab.py.
"""

HANDED_OUT = {
    "algorithm.group_counts": "GroupCounts",
    "algorithm.level_design": (
        "CONFIDENCE IterationsMeasured LevelDesign LevelMargins StageDesign level_design margin_of "
        "not_measured"
    ),
    "algorithm.measurements": "Measurements line_sums",
    "algorithm.run_plan": (
        "LevelPlan RunPlan check_totals chosen_shapes loss_of_config loss_of_config_pass "
        "output_if_all_groups_are_empty selected_groups"
    ),
    "algorithm.safetab": "safetab",
    "algorithm.tabulate_level": "EmptyGroups Measure Recorder tabulate_level",
    "guarantees.concerns": (
        "at_threshold concern_of_suppression concern_of_total concerns_of_choice table_in_words "
        "warn_of_noisy_choices"
    ),
    "guarantees.guarantee": (
        "TAKEN_TO_BE_PUBLIC guarantee_as_json hashes_of_public_files is_specified "
        "neighbours_in_words protected_sentence stabilities_in_words"
    ),
    "guarantees.losses": (
        "DELTA JointLoss PEOPLE_SHOWN epsilons_by_delta no_protection privacy_warnings "
        "reference_words reported_loss reported_references"
    ),
    "guarantees.plan_json": (
        "JsonObject exact joint_loss_as_json loss_as_json losses_as_json plan_as_json"
    ),
    "mechanisms.noisy_count": "noisy_count",
    "noise.discrete_gaussian": "DiscreteGaussian",
    "noise.discrete_laplace": "DiscreteLaplace",
    "noise.noise_distribution": "DEFAULT_BITS NoiseDistribution working_precision",
    "noise.weighted_sum": (
        "FloatTails TruncatedDraw WeightedDraws WeightedSum sum_of_truncated weighted_sum"
    ),
    "privacy.addressed_bits": "AddressedBits KEY_BYTES",
    "privacy.calibration": "NOISES Stage calibrated_noise stage_fraction",
    "privacy.composition": "PrivacyLoss epsilon_of_rho loss_of_a_pass loss_of_disjoint_passes",
    "privacy.exact_counts": "ExactCounts union_of",
    "privacy.ledger": "DrawingRight Ledger",
    "privacy.loss_curve": "ChangedCounts LossCurve",
    "privacy.measurement_event": "MeasuredLevel MeasurementEvent",
    "privacy.output_status": (
        "CONTRADICTION OutputStatus STATUS_COLUMN SYNTHETIC_MARKER gravest output_status "
        "status_as_json status_of_json status_that_forbids status_that_forbids_named"
    ),
    "privacy.reference": (
        "FAR_ABOVE beyond_protection level_far_above loss_number loss_text reference_losses "
        "total_far_above total_too_large"
    ),
}
