"""Size and duration of a plan that was decided already."""

from judge.models import JudgeSession
from judge.services.planning.basis import basis_of_session
from judge.services.planning.estimates import Estimate, estimate_of_basis


def estimate_of(session: JudgeSession) -> Estimate:
    """The estimate of a session, from the threads and parameters that were frozen with it: but for what its judges have
    learnt about their speed since, the same as before it was created. Raises PlanError as basis_of_session does."""
    return estimate_of_basis(basis_of_session(session))
