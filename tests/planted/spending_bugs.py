"""Accounts that are late or too low, and a floor that looks away."""

import inspect
from contextlib import contextmanager

from tests.inside import LevelDesign, RunPlan, RunSpending, Stage, inputs_module, run_module


def the_spend_log_charged_after_the_noise(patch):
    """The look at the log before publication would find it too."""
    original = run_module._charged

    @contextmanager
    def late(*given):
        yield ()
        with original(*given):
            pass

    patch.setattr(run_module, "_charged", late)
    patch.setattr(RunSpending, "require_charged", lambda _: None)


def households_charged_unbounded(patch):
    patch.setattr(RunPlan, "loss_of_a_person", lambda plan, which: plan.loss_of(which).unbounded)


def the_floor_looks_at_stage_2_alone(patch):
    def of_stage_2(design):
        return Stage.STAGE_2 not in design.stages or not design.noise(Stage.STAGE_2).is_mostly_zero

    patch.setattr(LevelDesign, "is_protected", property(of_stage_2))


def a_run_forgets_the_floor(patch):
    """The check beforehand still refuses too little noise."""
    original = inputs_module.refused_plan

    def refused(*given):
        is_run = any(frame.function == "run_files" for frame in inspect.stack(0))
        return () if is_run else original(*given)

    patch.setattr(inputs_module, "refused_plan", refused)
