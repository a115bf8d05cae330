"""Testing a provider: asked for by a person, run by a worker, read from its row.

A test takes up to 90 s, too long for a request. It sends a made-up question and never a thread, so it needs no approval
for personal data.
"""

import logging
import traceback
from datetime import timedelta
from functools import partial

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.db import DatabaseError, transaction
from django.db.models import DateTimeField, ExpressionWrapper, Value
from django.db.models.expressions import Combinable
from django.db.models.functions import Now

from judge.domain.errors import ErrorCode
from judge.domain.findings import ProviderFindings
from judge.llm.endpoint import Endpoint
from judge.llm.probe import ALL_SECONDS, probe
from judge.models import JudgeModel, LLMProvider, ProviderCheck
from judge.services import wakeups
from judge.services.briefs import forget_briefs
from judge.services.leases import STOPPING

logger = logging.getLogger(__name__)

NOT_SENT = "not_sent"
NO_WORKER = "no_worker"
INTERRUPTED = "interrupted"
KEY_UNREADABLE = "key_unreadable"
INTERNAL_ERROR = "internal_error"

# How long a page waits for a worker to begin, and for the worker to end.
NO_WORKER_AFTER = timedelta(seconds=20)
INTERRUPTED_AFTER = timedelta(seconds=ALL_SECONDS + 60)
# Tests of one provider that are kept.
MOST_KEPT = 20


def request_check(provider_id: int, model_name: str = "", user_id: int | None = None) -> ProviderCheck:
    """Ask a worker to test a provider and, if named, one of its models. Whether the user may is the caller's question.

    Returns the row to poll. While a test of the same model runs, a second request gets that one. Raises
    LLMProvider.DoesNotExist.
    """
    with transaction.atomic():
        # Two clicks at once: the second waits here and then sees the row of the first.
        provider = LLMProvider.objects.select_for_update().get(pk=provider_id)
        running = provider.checks.filter(model_name=model_name, state=ProviderCheck.RUNNING).first()
        if running is not None and (still := poll_check(running.pk)).state == ProviderCheck.RUNNING:
            return still
        check = ProviderCheck.objects.create(
            provider=provider,
            model=provider.models.filter(model_name=model_name).first(),
            model_name=model_name,
            requested_by_id=user_id,
        )
        _keep_newest(provider)
        transaction.on_commit(partial(_send, check))
    return check


def poll_check(check_id: int) -> ProviderCheck:
    """A test as it stands now. One that no worker took in 20 s, or whose worker was lost, is failed from here on.

    Raises ProviderCheck.DoesNotExist.
    """
    running = ProviderCheck.objects.filter(pk=check_id, state=ProviderCheck.RUNNING)
    waiting = running.filter(started_at__isnull=True, requested_at__lt=_ago(NO_WORKER_AFTER))
    waiting.update(state=ProviderCheck.FAILED, reason=NO_WORKER)
    running.filter(started_at__lt=_ago(INTERRUPTED_AFTER)).update(state=ProviderCheck.FAILED, reason=INTERRUPTED)
    return ProviderCheck.objects.select_related("provider", "model").get(pk=check_id)


def run_check(check_id: int) -> None:
    """Run a test that was asked for, in a worker. A second delivery of the same message does nothing; a worker that
    comes later than anybody waited still brings the findings."""
    waiting = ProviderCheck.objects.filter(pk=check_id, started_at__isnull=True)
    if not waiting.update(state=ProviderCheck.RUNNING, reason="", started_at=Now()):
        return
    check = ProviderCheck.objects.select_related("provider").get(pk=check_id)
    try:
        findings = check_provider(check.provider, check.model_name or None)
    except ImproperlyConfigured:
        logger.error("provider_key_unreadable check=%s setting=%s", check_id, "LLARS_FIELD_KEYS")
        _fail(check_id, KEY_UNREADABLE)
        return
    except DatabaseError:
        raise  # the row says "interrupted" once its time is over
    except Exception as error:
        # Without the exception's message, which might quote the key.
        where = "".join(traceback.format_tb(error.__traceback__))
        logger.error("provider_check_failed check=%s error=%s\n%s", check_id, type(error).__name__, where)
        _fail(check_id, INTERNAL_ERROR)
        return
    if findings.problem == ErrorCode.CANCELLED:
        _fail(check_id, INTERRUPTED)
        return
    _store(check, findings)


def check_provider(provider: LLMProvider, model_name: str | None = None) -> ProviderFindings:
    """Test a provider now, which takes up to 90 s, and write nothing.

    Without a name its first active model is asked, and without such a model the one that the server lists, if it lists
    one only.
    """
    models = provider.models.all()
    model = models.filter(model_name=model_name) if model_name else models.filter(is_active=True).order_by("pk")
    known = model.first()
    endpoint = Endpoint(
        provider_id=provider.pk,
        base_url=provider.base_url,
        api_key=provider.api_key,
        model_name=model_name or (known.model_name if known else ""),
        parameters=known.parameters if known else {},
        local_hosts=tuple(settings.JUDGE_LOCAL_LLM_HOSTS),
    )
    return probe(endpoint, STOPPING.is_set)


def _send(check: ProviderCheck) -> None:
    if not wakeups.ask_for_check(check.pk):
        _fail(check.pk, NOT_SENT)
        check.state, check.reason = ProviderCheck.FAILED, NOT_SENT


def _fail(check_id: int, reason: str) -> None:
    ProviderCheck.objects.filter(pk=check_id).update(state=ProviderCheck.FAILED, reason=reason, checked_at=Now())


def _store(check: ProviderCheck, findings: ProviderFindings) -> None:
    """Keep the findings, and on the model what its calls need to know. A mode that was set by hand stays."""
    with transaction.atomic():
        models = JudgeModel.objects.filter(provider_id=check.provider_id, model_name=findings.model_name)
        ProviderCheck.objects.filter(pk=check.pk).update(
            state=ProviderCheck.DONE,
            reason="",
            checked_at=Now(),
            findings=findings.as_json(),
            model=models.first(),
        )
        if findings.has_answered:
            models.update(
                detected_output=findings.output_mode,
                streams_reasoning=findings.reasoning != "none",
                refused_parameters=list(findings.refused_parameters),
                checked_at=Now(),
            )
    forget_briefs()


def _keep_newest(provider: LLMProvider) -> None:
    kept = list(provider.checks.values_list("pk", flat=True)[:MOST_KEPT])
    provider.checks.exclude(pk__in=kept).delete()


def _ago(time: timedelta) -> Combinable:
    """By the database's clock, which also wrote the moments that are compared."""
    return ExpressionWrapper(Now() - Value(time), output_field=DateTimeField())
