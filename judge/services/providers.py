"""Providers that are set up by the program itself: the one named in the environment, and the simulated judge."""

import httpx2

from judge.models import JudgeModel, LLMProvider

ENVIRONMENT_NAME = "Environment"
SIMULATED_NAME = "Simulated judge (no LLM)"
COMMAND_LINE_NAME = "Simulated judge of the command line (no LLM)"
SIMULATED_MODEL = "simulated-judge"


def environment_model(base_url: str, api_key: str, model_name: str) -> JudgeModel:
    """The judge model of LLARS_LLM_BASE_URL, LLARS_LLM_API_KEY and LLARS_LLM_MODEL; created or brought up to date.

    Naming it in the environment does not approve it for personal data: that is the mark in the administration.
    Raises ValidationError for an address that must not be called.
    """
    return _model(ENVIRONMENT_NAME, base_url, api_key, model_name, is_simulated=False)


def simulated_model(base_url: str, name: str = SIMULATED_NAME) -> JudgeModel:
    """The simulated judge at the address it listens on now; one row per ``name``, since several may run at once."""
    return _model(name, base_url, "", SIMULATED_MODEL, is_simulated=True)


def is_reachable(base_url: str) -> bool:
    """Whether a server answers at this address within two seconds."""
    try:
        return httpx2.get(f"{base_url}/models", timeout=2, trust_env=False).is_success
    except httpx2.HTTPError:
        return False


def _model(name: str, base_url: str, api_key: str, model_name: str, is_simulated: bool) -> JudgeModel:
    # Only the system's: a researcher's provider of the same name must not be given the operator's key.
    provider = LLMProvider.objects.filter(name=name, owner=None).first() or LLMProvider(name=name)
    provider.base_url = base_url.rstrip("/")
    provider.is_simulated = is_simulated
    provider.api_key = api_key
    provider.clean()
    provider.save()
    return JudgeModel.objects.get_or_create(provider=provider, model_name=model_name)[0]
