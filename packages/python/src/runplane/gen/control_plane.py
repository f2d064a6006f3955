# Generated from the OpenAPI document of Run control plane.
from __future__ import annotations

from typing import Any, Dict, Generator, List, Literal, Optional, Sequence, TypedDict, Union, cast

from ..http import Service, StreamMessage


class AbandonRun(TypedDict):
    """Why the session will not be opened."""

    reason: str
    """Why the session will not be opened."""


class _AcceptedMessageRequired(TypedDict):
    messageId: str
    """Id that the sender gave it."""
    messageType: str
    """Type of the message."""
    sender: str
    """Who sent it."""
    ordinal: int
    """Its position among the accepted messages that the log has; SessionStart is 1."""
    receivedAt: str
    """When the service received it."""


class AcceptedMessage(_AcceptedMessageRequired, total=False):
    """A message that the runtime accepted, as the log has it."""

    payloadSha256: str
    """SHA-256 of the bytes of its payload, hexadecimal; absent where the log does not have these bytes."""


class _AgUiEventRequired(TypedDict):
    type: str
    """What it says."""


class AgUiEvent(_AgUiEventRequired, total=False):
    """An event of AG-UI 1.0; its other members depend on its type."""

    timestamp: int
    """Time of the event of the run, milliseconds since 1970."""


class AgUiInput(TypedDict, total=False):
    """The RunAgentInput of AG-UI; its other members are ignored."""

    threadId: str
    """The front end's id of the conversation; the id of the run unless said."""
    runId: str
    """The front end's id of this stream; the id of the run unless said."""


class _AgentMetricsRequired(TypedDict):
    participantId: str
    """Id of the participant."""
    runs: int
    """Runs with an event of the participant."""
    messages: int
    """Messages it sent."""
    signals: int
    """Signals it emitted."""
    averageConfidence: float
    """Mean confidence of its signals, 0 to 1; 0 when no signal has one."""


class AgentMetrics(_AgentMetricsRequired, total=False):
    """What one participant did in all runs."""

    statedConfidence: float
    """Mean confidence of its evaluations and votes, 0 to 1; absent when none states one."""


class AgentVoteRecordRightInterval(TypedDict):
    """Wilson interval of 95 % of `rightShare`."""

    low: float
    """Lower end."""
    high: float
    """Upper end."""


class AgentVoteRecordBrier(TypedDict):
    """Brier score; absent without a stated confidence."""

    score: float
    """Mean squared error of the stated confidence: 0 is best, 1 is worst."""
    n: int
    """Judged votes with a stated confidence."""


class AgentVoteRecordConfidenceGap(TypedDict):
    """How far the confidences are from the share of right ones."""

    value: float
    """`mean` less `right`: above 0 is overconfident."""
    low: float
    """Lower end of its interval of 95 %"""
    high: float
    """Upper end."""


class AgentVoteRecordConfidence(TypedDict):
    """Whether its confidence fits; absent without a stated confidence."""

    n: int
    """Judged votes with a stated confidence."""
    mean: float
    """Mean of the confidences."""
    right: float
    """Share of right ones."""
    gap: AgentVoteRecordConfidenceGap
    """How far the confidences are from the share of right ones."""


class AgentVoteRecordReliabilityItem(TypedDict):
    low: float
    """Lower end of the bin of confidences."""
    high: float
    """Upper end."""
    n: int
    """Votes in the bin."""
    confidence: float
    """Their mean confidence."""
    right: float
    """Share of right ones."""


class AgentVoteRecordByItemRightInterval(TypedDict):
    """Wilson interval of 95 % of `rightShare`."""

    low: float
    """Lower end."""
    high: float
    """Upper end."""


class AgentVoteRecordByItemBrier(TypedDict):
    """Brier score; absent without a stated confidence."""

    score: float
    """Mean squared error of the stated confidence: 0 is best, 1 is worst."""
    n: int
    """Judged votes with a stated confidence."""


class AgentVoteRecordByItemConfidenceGap(TypedDict):
    """How far the confidences are from the share of right ones."""

    value: float
    """`mean` less `right`: above 0 is overconfident."""
    low: float
    """Lower end of its interval of 95 %"""
    high: float
    """Upper end."""


class AgentVoteRecordByItemConfidence(TypedDict):
    """Whether its confidence fits; absent without a stated confidence."""

    n: int
    """Judged votes with a stated confidence."""
    mean: float
    """Mean of the confidences."""
    right: float
    """Share of right ones."""
    gap: AgentVoteRecordByItemConfidenceGap
    """How far the confidences are from the share of right ones."""


class _AgentVoteRecordByItemRequired(TypedDict):
    runs: int
    """Of these, runs in which it voted."""
    withOutcome: int
    """Of these, runs whose outcome its last vote supported."""
    judged: int
    """Runs in which it voted whose decision has a mark `correct`."""
    right: int
    """Of these, runs in which its last vote was right."""
    againstMajority: int
    """Judged runs in which it voted against the majority."""
    rightAgainstMajority: int
    """Of these, runs in which it was right."""
    pivotal: int
    """Runs whose outcome would have been another with the opposite of its vote."""
    costUsd: float
    """Cost of its model calls in the runs counted by `runs`."""
    guessedCostUsd: float
    """Part of `costUsd` that is a guess."""


class AgentVoteRecordByItem(_AgentVoteRecordByItemRequired, total=False):
    name: str
    """The prompt, models, policy version or Monday of the week; absent where it is not known."""
    rightShare: float
    """`right` of `judged`; absent without any."""
    rightInterval: AgentVoteRecordByItemRightInterval
    """Wilson interval of 95 % of `rightShare`."""
    brier: AgentVoteRecordByItemBrier
    """Brier score; absent without a stated confidence."""
    confidence: AgentVoteRecordByItemConfidence
    """Whether its confidence fits; absent without a stated confidence."""
    costPerRightUsd: float
    """Cost in judged runs for each right vote; absent without one."""


class _AgentVoteRecordRequired(TypedDict):
    participantId: str
    """The agent."""
    examined: int
    """Decided runs in which it took part that were read, the latest ones."""
    runs: int
    """Of these, runs in which it voted."""
    withOutcome: int
    """Of these, runs whose outcome its last vote supported."""
    judged: int
    """Runs in which it voted whose decision has a mark `correct`."""
    right: int
    """Of these, runs in which its last vote was right."""
    againstMajority: int
    """Judged runs in which it voted against the majority."""
    rightAgainstMajority: int
    """Of these, runs in which it was right."""
    pivotal: int
    """Runs whose outcome would have been another with the opposite of its vote."""
    costUsd: float
    """Cost of its model calls in the runs counted by `runs`."""
    guessedCostUsd: float
    """Part of `costUsd` that is a guess."""
    reliability: List[AgentVoteRecordReliabilityItem]
    """Reliability curve: ten bins, the empty ones left out."""
    truncated: bool
    """Whether there are more runs than the answer counts."""


class AgentVoteRecord(_AgentVoteRecordRequired, total=False):
    """How often the votes of an agent were right."""

    rightShare: float
    """`right` of `judged`; absent without any."""
    rightInterval: AgentVoteRecordRightInterval
    """Wilson interval of 95 % of `rightShare`."""
    brier: AgentVoteRecordBrier
    """Brier score; absent without a stated confidence."""
    confidence: AgentVoteRecordConfidence
    """Whether its confidence fits; absent without a stated confidence."""
    costPerRightUsd: float
    """Cost in judged runs for each right vote; absent without one."""
    seat: SeatAnswers
    summary: str
    """The record in words, each number with its interval."""
    by: List[AgentVoteRecordByItem]
    """Record of each group that `by` names, that of the latest run first, at most 100."""
    olderGroups: int
    """Runs of older groups than `by` lists."""


class AgentVoteRecordsDataItemRightInterval(TypedDict):
    """Wilson interval of 95 % of `rightShare`."""

    low: float
    """Lower end."""
    high: float
    """Upper end."""


class AgentVoteRecordsDataItemBrier(TypedDict):
    """Brier score; absent without a stated confidence."""

    score: float
    """Mean squared error of the stated confidence: 0 is best, 1 is worst."""
    n: int
    """Judged votes with a stated confidence."""


class AgentVoteRecordsDataItemConfidenceGap(TypedDict):
    """How far the confidences are from the share of right ones."""

    value: float
    """`mean` less `right`: above 0 is overconfident."""
    low: float
    """Lower end of its interval of 95 %"""
    high: float
    """Upper end."""


class AgentVoteRecordsDataItemConfidence(TypedDict):
    """Whether its confidence fits; absent without a stated confidence."""

    n: int
    """Judged votes with a stated confidence."""
    mean: float
    """Mean of the confidences."""
    right: float
    """Share of right ones."""
    gap: AgentVoteRecordsDataItemConfidenceGap
    """How far the confidences are from the share of right ones."""


class _AgentVoteRecordsDataItemRequired(TypedDict):
    participantId: str
    """The agent or the seat."""
    runs: int
    """Of these, runs in which it voted."""
    withOutcome: int
    """Of these, runs whose outcome its last vote supported."""
    judged: int
    """Runs in which it voted whose decision has a mark `correct`."""
    right: int
    """Of these, runs in which its last vote was right."""
    againstMajority: int
    """Judged runs in which it voted against the majority."""
    rightAgainstMajority: int
    """Of these, runs in which it was right."""
    pivotal: int
    """Runs whose outcome would have been another with the opposite of its vote."""
    costUsd: float
    """Cost of its model calls in the runs counted by `runs`."""
    guessedCostUsd: float
    """Part of `costUsd` that is a guess."""


class AgentVoteRecordsDataItem(_AgentVoteRecordsDataItemRequired, total=False):
    rightShare: float
    """`right` of `judged`; absent without any."""
    rightInterval: AgentVoteRecordsDataItemRightInterval
    """Wilson interval of 95 % of `rightShare`."""
    brier: AgentVoteRecordsDataItemBrier
    """Brier score; absent without a stated confidence."""
    confidence: AgentVoteRecordsDataItemConfidence
    """Whether its confidence fits; absent without a stated confidence."""
    costPerRightUsd: float
    """Cost in judged runs for each right vote; absent without one."""
    seat: SeatAnswers


class AgentVoteRecords(TypedDict):
    """How often the votes of all agents were right."""

    data: List[AgentVoteRecordsDataItem]
    """The agents that voted, the most votes first, at most 1000."""
    examined: int
    """Decided runs that were read, the latest ones; of each the first 50 participants count."""
    truncated: bool
    """Whether there are more runs or agents than the answer counts."""


class _AlertAction1Required(TypedDict):
    type: Literal["webhook"]
    """Kind of the action."""
    format: AlertFormat


class AlertAction1(_AlertAction1Required, total=False):
    url: str
    """Receiver. The service makes a subscription for it, and answers show that instead."""
    subscription: str
    """Id of a webhook subscription."""
    routingKey: str
    """Key of the integration in PagerDuty; answers show its last 4 characters."""


class AlertAction2(TypedDict):
    type: Literal["mark"]
    """Kind of the action."""
    name: str
    """Name of the mark."""
    value: MarkValue


class AlertAction3(TypedDict):
    type: Literal["tag"]
    """Kind of the action."""
    tag: str
    """Tag of the run."""


class AlertAction4(TypedDict):
    type: Literal["suspend"]
    """Kind of the action."""


class _AlertAction5Required(TypedDict):
    type: Literal["cancel"]
    """Kind of the action."""


class AlertAction5(_AlertAction5Required, total=False):
    allowCancel: bool
    """Must be true: a cancelled run cannot continue."""

AlertAction = Union["AlertAction1", "AlertAction2", "AlertAction3", "AlertAction4", "AlertAction5"]


class AlertBudgetLevelsItem(TypedDict):
    at: float
    """Threshold."""
    severity: AlertSeverity


class AlertBudgetPace(TypedDict):
    """How fast it is spent now; absent for another time, and before it can be measured."""

    perHour: float
    """The measure in an hour."""
    of: Literal["hour", "day"]
    """Whether the last hour or the last day is faster."""


class _AlertBudgetRequired(TypedDict):
    ruleId: str
    """Id of the rule, chosen by its author."""
    name: str
    """Name, for readers."""
    measure: str
    """One of costUsd, guessedCostUsd, tokens, llmCalls, toolCalls, events, durationMs, silenceMs, denials, failedRuns, failureRate, negativeRate, disagreement, mindChanges, repeats, outOfReach, receiptFaults, personSilent, personUnreached, personUnnotified, failedTurns, agreementBelow, or markBelow: and the name of a mark."""
    per: AlertPer
    window: AlertWindow
    key: str
    """Of a run its id, of a tag the tag; `all` without a key."""
    period: str
    """The period in which it fired; of the window `run` the id of the run."""
    startsAt: str
    """Start of the period."""
    endsAt: str
    """End of the period."""
    levels: List[AlertBudgetLevelsItem]
    """The levels, ascending; the last one is the limit."""
    spent: float
    """The measure so far."""
    reserved: float
    """US dollars that admission has reserved for open runs."""


class AlertBudget(_AlertBudgetRequired, total=False):
    """What a budget has spent in its current period."""

    telemetry: float
    """What telemetry has reported beside that, where the rule counts it apart; it is not in `spent`."""
    countedSince: str
    """Since when the rule counts, where that is known."""
    pace: AlertBudgetPace
    """How fast it is spent now; absent for another time, and before it can be measured."""


class _AlertFiringTelemetryRequired(TypedDict):
    mode: AlertTelemetry


class AlertFiringTelemetry(_AlertFiringTelemetryRequired, total=False):
    """Present when telemetry reached the level; with `count` the value is of telemetry alone."""

    source: str
    """Source of the span, log record or mark that reached the level."""
    withheld: List[Literal["suspend", "cancel"]]
    """Actions of the level that are not executed, because only telemetry has reached it."""


class _AlertFiringRequired(TypedDict):
    id: str
    """Id of the firing: UUID."""
    ruleId: str
    """Id of its rule."""
    ruleName: str
    """Name of its rule when it fired."""
    measure: str
    """What was measured."""
    per: AlertPer
    window: AlertWindow
    key: str
    """Of a run its id, of a tag the tag; `all` without a key."""
    period: str
    """The period in which it fired; of the window `run` the id of the run."""
    level: int
    """Number of the level, from 0."""
    at: float
    """Threshold of the level."""
    severity: AlertSeverity
    value: float
    """The measure when it fired."""
    status: Literal["open", "resolved"]
    """A resolved firing does not open again."""
    startsAt: str
    """When the level was reached."""
    silenced: bool
    """Whether a silence suppresses its notifications, or did so when it ended."""


class AlertFiring(_AlertFiringRequired, total=False):
    """A level of a rule that was reached."""

    periodEndsAt: str
    """End of a calendar period."""
    runId: str
    """Run whose event reached the level."""
    scenarioRef: str
    """Scenario of that run."""
    seq: int
    """Position in the log of the event that reached the level."""
    telemetry: AlertFiringTelemetry
    """Present when telemetry reached the level; with `count` the value is of telemetry alone."""
    endsAt: str
    """When it was resolved."""
    resolvedBy: Literal["value", "period", "run", "rule"]
    """Why it ended: the measure, the end of the period or of the run, or a change of the rule."""
    acknowledgedAt: str
    """When it was acknowledged."""
    acknowledgedBy: str
    """Caller that acknowledged it."""
    note: str
    """Note of the acknowledgement."""

AlertFormat = Literal["generic", "slack", "teams", "alertmanager", "pagerduty", "mail"]


class AlertNote(TypedDict, total=False):
    """An acknowledgement."""

    note: str
    """For readers."""


class AlertPage(TypedDict):
    """A page of alerts."""

    data: List[AlertFiring]
    """The alerts of this page, in the given order."""
    total: int
    """All alerts that match."""
    limit: int
    """Most alerts of a page."""
    offset: int
    """Alerts before this page."""
    lagMs: int
    """Milliseconds since the oldest event that the evaluator has not read yet."""

AlertPer = Literal["run", "scenario", "tag", "environment", "source", "agent", "model", "all"]


class AlertRuleChangeLevelsItem(TypedDict):
    """A threshold and what happens there."""

    at: float
    """Threshold, in the unit of the measure."""
    severity: AlertSeverity
    actions: List[AlertAction]
    """What a firing of this level does."""


class _AlertRuleChangeRequired(TypedDict):
    name: str
    """Name, for readers."""
    per: AlertPer
    window: AlertWindow
    measure: str
    """One of costUsd, guessedCostUsd, tokens, llmCalls, toolCalls, events, durationMs, silenceMs, denials, failedRuns, failureRate, negativeRate, disagreement, mindChanges, repeats, outOfReach, receiptFaults, personSilent, personUnreached, personUnnotified, failedTurns, agreementBelow, or markBelow: and the name of a mark."""
    levels: List[AlertRuleChangeLevelsItem]
    """Thresholds, ascending."""


class AlertRuleChange(_AlertRuleChangeRequired, total=False):
    """A rule as it is to be, or as it was served."""

    enabled: bool
    """Whether it is evaluated."""
    match: str
    """Runs that count, in the query language of runs; empty means all."""
    zone: str
    """IANA name of the zone of calendar periods."""
    minRuns: int
    """Runs, votes or marks that a rate or a mean needs; 5 for rates over several runs, else 1."""
    resolveBelow: float
    """A firing ends when the measure is under it."""
    repeatEveryMs: int
    """Milliseconds between two notifications of an open firing."""
    admission: bool
    """Whether runs that would exceed the last level are refused."""
    expectedCostUsd: float
    """US dollars that admission reserves for a run, instead of the usual cost of its scenario."""
    telemetry: AlertTelemetry
    backfill: bool
    """Whether a new rule counts the events since the start of its window, silently."""
    id: str
    """Id of the rule, chosen by its author."""
    error: str
    """Why it cannot be evaluated; it is tried again after a change."""
    backfilling: bool
    """Present while it counts older events."""
    createdAt: str
    """When it was made."""
    updatedAt: str
    """When it last changed."""


class AlertRuleRequestLevelsItem(TypedDict):
    """A threshold and what happens there."""

    at: float
    """Threshold, in the unit of the measure."""
    severity: AlertSeverity
    actions: List[AlertAction]
    """What a firing of this level does."""


class _AlertRuleRequestRequired(TypedDict):
    id: str
    """Id of the rule, chosen by its author."""
    name: str
    """Name, for readers."""
    per: AlertPer
    window: AlertWindow
    measure: str
    """One of costUsd, guessedCostUsd, tokens, llmCalls, toolCalls, events, durationMs, silenceMs, denials, failedRuns, failureRate, negativeRate, disagreement, mindChanges, repeats, outOfReach, receiptFaults, personSilent, personUnreached, personUnnotified, failedTurns, agreementBelow, or markBelow: and the name of a mark."""
    levels: List[AlertRuleRequestLevelsItem]
    """Thresholds, ascending."""


class AlertRuleRequest(_AlertRuleRequestRequired, total=False):
    """A new rule."""

    enabled: bool
    """Whether it is evaluated."""
    match: str
    """Runs that count, in the query language of runs; empty means all."""
    zone: str
    """IANA name of the zone of calendar periods."""
    minRuns: int
    """Runs, votes or marks that a rate or a mean needs; 5 for rates over several runs, else 1."""
    resolveBelow: float
    """A firing ends when the measure is under it."""
    repeatEveryMs: int
    """Milliseconds between two notifications of an open firing."""
    admission: bool
    """Whether runs that would exceed the last level are refused."""
    expectedCostUsd: float
    """US dollars that admission reserves for a run, instead of the usual cost of its scenario."""
    telemetry: AlertTelemetry
    backfill: bool
    """Whether a new rule counts the events since the start of its window, silently."""


class AlertRuleStateLevelsItem(TypedDict):
    """A threshold and what happens there."""

    at: float
    """Threshold, in the unit of the measure."""
    severity: AlertSeverity
    actions: List[AlertAction]
    """What a firing of this level does."""


class _AlertRuleStateRequired(TypedDict):
    id: str
    """Id of the rule, chosen by its author."""
    name: str
    """Name, for readers."""
    enabled: bool
    """Whether it is evaluated."""
    match: str
    """Runs that count, in the query language of runs; empty means all."""
    per: AlertPer
    window: AlertWindow
    zone: str
    """IANA name of the zone of calendar periods."""
    measure: str
    """One of costUsd, guessedCostUsd, tokens, llmCalls, toolCalls, events, durationMs, silenceMs, denials, failedRuns, failureRate, negativeRate, disagreement, mindChanges, repeats, outOfReach, receiptFaults, personSilent, personUnreached, personUnnotified, failedTurns, agreementBelow, or markBelow: and the name of a mark."""
    levels: List[AlertRuleStateLevelsItem]
    """Thresholds, ascending."""
    createdAt: str
    """When it was made."""
    updatedAt: str
    """When it last changed."""


class AlertRuleState(_AlertRuleStateRequired, total=False):
    """A rule and whether it can be evaluated."""

    minRuns: int
    """Runs, votes or marks that a rate or a mean needs; 5 for rates over several runs, else 1."""
    resolveBelow: float
    """A firing ends when the measure is under it."""
    repeatEveryMs: int
    """Milliseconds between two notifications of an open firing."""
    admission: bool
    """Whether runs that would exceed the last level are refused."""
    expectedCostUsd: float
    """US dollars that admission reserves for a run, instead of the usual cost of its scenario."""
    telemetry: AlertTelemetry
    backfill: bool
    """Whether a new rule counts the events since the start of its window, silently."""
    error: str
    """Why it cannot be evaluated; it is tried again after a change."""
    backfilling: bool
    """Present while it counts older events."""

AlertSeverity = Literal["info", "warning", "critical"]


class _AlertSilenceRequired(TypedDict):
    id: str
    """Id of the silence: UUID."""
    match: str
    """Runs whose alerts are not notified."""
    until: str
    """End of the silence."""
    reason: str
    """For readers."""
    author: str
    """Caller that made it."""
    createdAt: str
    """When it was made."""


class AlertSilence(_AlertSilenceRequired, total=False):
    """Suppresses notifications about runs that match."""

    covers: Literal["all alerts"]
    """Of a silence without match: it covers all alerts; absent otherwise."""


class _AlertSilenceRequestRequired(TypedDict):
    until: str
    """ISO-8601, UTC, milliseconds."""
    reason: str
    """For readers."""


class AlertSilenceRequest(_AlertSilenceRequestRequired, total=False):
    """Notifications to suppress."""

    match: str
    """Runs that count, in the query language of runs; empty means all."""

AlertTelemetry = Literal["count", "act"]


class AlertTest(TypedDict):
    """What a rule would have done; nothing was sent or stored."""

    since: str
    """Start of the tested time."""
    until: str
    """End of the tested time."""
    events: int
    """Events that were read."""
    complete: bool
    """False when the log has more events in that time than a test reads, or more would have fired."""
    firings: List[AlertFiring]
    """What would have fired, the oldest first."""

AlertWindow = Literal["run", "1h", "24h", "day", "week", "month"]


class ArchiveHealth(TypedDict):
    """State of the archive; absent without `ARCHIVE_URL`."""

    ok: bool
    """Whether files are written."""
    detail: str
    """Why not, and since when; empty when they are."""
    lagSeconds: float
    """How long the oldest event has waited for its file."""


class ArchiveReportArchive1TablesItem(TypedDict):
    table: Literal["events", "runs", "marks", "tombstones"]
    """Directory."""
    files: int
    """Its files."""
    rows: int
    """Their rows."""
    bytes: int
    """Their bytes."""


class ArchiveReportArchive1LastFile1(TypedDict):
    path: str
    """Its path in the archive."""
    rows: int
    """Its rows."""
    bytes: int
    """Its bytes."""
    writtenAt: str
    """When it was written."""


class ArchiveReportArchive1Failure1(TypedDict):
    since: str
    """When it began."""
    kind: str
    """full, refused, clock, unreachable, missing, unreadable or failed."""
    message: str
    """What the store said."""


class ArchiveReportArchive1(TypedDict):
    url: str
    """Where it is, without credentials."""
    cell: str
    """Name of the database in its files."""
    writtenSeq: int
    """The events up to this position are in files."""
    lagEvents: int
    """Positions of the log behind it, up to the watermark."""
    lagSeconds: float
    """How long the oldest of these events has waited."""
    waitingChanges: int
    """Ended runs and marks that changed since they were written."""
    retentionWaits: Union[int, None]
    """Expired runs that retention keeps until they are archived; null unless it requires the archive."""
    tables: List[ArchiveReportArchive1TablesItem]
    """What is in files, by table."""
    lastFile: Union[ArchiveReportArchive1LastFile1, None]
    """The file that was written last; null before the first."""
    failure: Union[ArchiveReportArchive1Failure1, None]
    """Why no file is written; null while files are written."""


class ArchiveReport(TypedDict):
    """The archive of the database, for operators."""

    archive: Union[ArchiveReportArchive1, None]
    """null while the database has no archive."""


class _ArtifactRequired(TypedDict):
    id: str
    """Id of the artifact: UUID."""
    runId: RunId
    kind: Literal["trace", "json", "report", "log", "bundle", "otlp.input", "otlp.output", "macp.receipt", "people.item", "people.answer", "people.question", "a2a.turn", "shadow.acts"]
    """What it is; macp.receipt is the runtime's receipt of the decision, people.item a question to a person, people.answer its answer, a2a.turn a turn of an agent that speaks A2A, shadow.acts what an agent did that was tried beside a participant."""
    label: str
    """Name for readers."""
    createdAt: str
    """When it was added."""


class Artifact(_ArtifactRequired, total=False):
    """A trace bundle, report or log of a run."""

    uri: str
    """Where it is kept, when not here."""
    inline: Dict[str, Any]
    """The artifact itself."""
    inlineOmitted: bool
    """Present when the artifact has content that the archive, which has its run, does not keep."""


class _ArtifactRequestRequired(TypedDict):
    kind: Literal["trace", "json", "report", "log", "bundle", "people.item", "people.answer", "people.question", "a2a.turn", "shadow.acts"]
    """What it is; only the launch service may add `people.*`, `a2a.turn` and `shadow.acts`."""
    label: str
    """Name for readers."""


class ArtifactRequest(_ArtifactRequestRequired, total=False):
    """The artifact, or where it is."""

    uri: str
    """Where it is kept, when not here."""
    inline: Dict[str, Any]
    """The artifact itself, any JSON object; of the kinds `people.*`, `a2a.turn` and `shadow.acts` one of their form."""
    idempotencyKey: str
    """A key of this artifact in its run: a second request with it and the same artifact answers with the first one."""


class _AuditEntryRequired(TypedDict):
    id: str
    """Id of the entry: UUID."""
    actor: str
    """Name of the API key or `key:` with 8 hex digits of its SHA-256, `user:` and the subject of a token, or `anonymous` when authentication is off or no key was right."""
    actorType: str
    """What the actor is: api-key, user, rule or anonymous."""
    action: str
    """What was done."""
    resource: str
    """Kind of the thing it was done to."""
    details: Dict[str, Any]
    """What else is worth knowing; may be empty."""
    createdAt: str
    """When it was done."""


class AuditEntry(_AuditEntryRequired, total=False):
    """Who did what to which thing."""

    actorName: str
    """`user:` and the name in the token, for readers; two actors may have the same."""
    resourceId: str
    """Id of that thing; absent when there is only one."""
    requestId: str
    """X-Request-Id of the request."""
    clientAddress: str
    """Address of the client that sent the request."""


class _AuditPageRequired(TypedDict):
    data: List[AuditEntry]
    """The entries of this page."""
    total: int
    """All matches of the same filters."""
    limit: int
    """Most entries of a page, as requested."""
    offset: int
    """Matches before this page, as requested."""


class AuditPage(_AuditPageRequired, total=False):
    """One page of the audit log, the newest entry first."""

    nextCursor: str
    """Only on a full page: to be given as cursor for the next one."""


_BacktestFlipRequired = TypedDict("_BacktestFlipRequired", {
    "type": "Literal[\"flip\"]",
    "runId": "RunId",
    "from": "Literal[\"positive\", \"negative\"]",
    "to": "Literal[\"positive\", \"negative\", \"none\"]",
    "reasons": "List[str]",
})


class BacktestFlip(_BacktestFlipRequired):
    """A run that would have ended otherwise."""



class BacktestProgress(TypedDict):
    """How far a backtest has come."""

    type: Literal["progress"]
    """What the line holds."""
    examined: int
    """Runs so far."""
    total: int
    """Runs in all."""
    flipped: int
    """Runs so far that would have ended otherwise."""


class BacktestRequest(TypedDict, total=False):
    """A policy, and the runs that it is tried on."""

    policyVersion: str
    """A registered policy; either this or policy."""
    policy: OtherPolicy
    scope: BacktestScope


class BacktestScope(TypedDict, total=False):
    """The runs of a backtest."""

    scenarioRef: str
    """Runs whose metadata.scenarioRef or sourceRef contains this, case ignored."""
    modeName: str
    """Runs of this session mode."""
    createdAfter: str
    """Runs created after this time, exclusive."""
    createdBefore: str
    """Runs created before this time, exclusive."""
    tags: List[str]
    """Runs with all of these tags."""
    limit: int
    """Most runs, the latest ones."""


class _BacktestSummaryRequired(TypedDict):
    type: Literal["summary"]
    """What the line holds."""
    policyVersion: str
    """The policy that was tried."""
    examined: int
    """Runs that were looked at."""
    unchanged: int
    """Runs that would have ended as they did."""
    flipped: int
    """Runs that would have ended otherwise."""
    skipped: Dict[str, int]
    """Runs that the policy says nothing about, by reason."""
    byRule: Dict[str, int]
    """Flipped runs by the rule that stands against their outcome; a run may count under several."""
    isLimited: bool
    """Whether there are more runs than the limit let in."""


class BacktestSummary(_BacktestSummaryRequired, total=False):
    """What a backtest has found: the last line."""

    truth: BacktestTruth


class BacktestTruth(TypedDict):
    """Outcomes compared with the marks `correct`."""

    judged: int
    """Runs with a mark `correct` that the policy says something about."""
    right: int
    """Of these, outcomes that were right."""
    rightUnderPolicy: int
    """Of these, outcomes that would have been right under the policy."""
    gained: List[RunId]
    """Runs that only the policy would have got right; the first 20."""
    lost: List[RunId]
    """Runs that only the policy would have got wrong; the first 20."""


class _BadGatewayRequired(TypedDict):
    statusCode: Literal[502]
    """The HTTP status."""
    errorCode: Literal["INTERNAL_ERROR", "STREAM_EXHAUSTED"]
    """What went wrong, for programs."""
    message: str
    """What went wrong, for people."""


class BadGateway(_BadGatewayRequired, total=False):
    """An error answered with 502."""

    metadata: Dict[str, Any]
    """More about it; of a failed runtime call {grpcCode}"""
    error: str
    """The reason phrase of the status, where the form of older servers has it."""


class _BadRequestRequired(TypedDict):
    statusCode: Literal[400]
    """The HTTP status."""
    errorCode: Literal["VALIDATION_ERROR", "MODE_NOT_SUPPORTED", "INVALID_SESSION_ID", "UNKNOWN_POLICY_VERSION", "INVALID_POLICY_DEFINITION"]
    """What went wrong, for programs."""
    message: str
    """What went wrong, for people."""


class BadRequest(_BadRequestRequired, total=False):
    """An error answered with 400."""

    metadata: Dict[str, Any]
    """More about it; of a failed runtime call {grpcCode}"""
    error: str
    """The reason phrase of the status, where the form of older servers has it."""


class _BatchArchivedRequired(TypedDict):
    runId: str
    """As it was given."""
    status: Literal["archived", "failed"]
    """How it went."""


class BatchArchived(_BatchArchivedRequired, total=False):
    """What became of one of the given runs."""

    error: str
    """Why it failed."""


class _BatchCancelledRequired(TypedDict):
    runId: str
    """As it was given."""
    status: Literal["cancelled", "failed"]
    """How it went."""


class BatchCancelled(_BatchCancelledRequired, total=False):
    """What became of one of the given runs."""

    error: str
    """Why it failed."""


class _BatchDeletedRequired(TypedDict):
    runId: str
    """As it was given."""
    status: Literal["deleted", "failed"]
    """How it went."""


class BatchDeleted(_BatchDeletedRequired, total=False):
    """What became of one of the given runs."""

    error: str
    """Why it failed."""


class _BatchUnarchivedRequired(TypedDict):
    runId: str
    """As it was given."""
    status: Literal["unarchived", "failed"]
    """How it went."""


class BatchUnarchived(_BatchUnarchivedRequired, total=False):
    """What became of one of the given runs."""

    error: str
    """Why it failed."""


class CancelRequest(TypedDict):
    """The body of a cancel callback."""

    runId: str
    """Id of the run."""
    reason: Union[str, None]
    """Why; null when no reason was given."""


class _CanonicalEventRequired(TypedDict):
    id: str
    """Id of the event: UUID."""
    runId: RunId
    seq: int
    """Position in the log of all runs, ascending and with gaps within a run; the resume cursor everywhere."""
    index: int
    """Position in the run: 1, 2, 3, ... without gaps, so a reader can prove that it missed nothing."""
    ts: str
    """When the service received or made it."""
    type: str
    """What happened: a CanonicalEventType, or a type of a later version, which a reader skips."""
    schemaVersion: int
    """Version of this envelope."""
    source: EventSource
    data: Dict[str, Any]
    """What happened; the keys depend on the type. Events of messages carry decodedPayload."""


class CanonicalEvent(_CanonicalEventRequired, total=False):
    """One entry of a run's log, in the form all modes share."""

    subject: EventSubject
    trace: EventTrace
    erased: List[ErasedMember]
    """The members whose values were erased: an empty text or null is in the position of each."""

CanonicalEventType = Literal["run.created", "run.started", "run.completed", "run.failed", "run.cancelled", "run.corrected", "run.suspended", "run.resumed", "session.bound", "session.stream.opened", "session.state.changed", "participant.seen", "message.sent", "message.received", "message.send_failed", "signal.emitted", "signal.acknowledged", "proposal.created", "proposal.updated", "decision.proposed", "decision.finalized", "progress.reported", "tool.called", "tool.completed", "artifact.created", "policy.resolved", "policy.commitment.evaluated", "policy.denied", "llm.call.completed"]


class _CardRingRequired(TypedDict):
    proposalId: str
    """The proposal; empty in a session without votes."""
    name: str
    """How sentences name it."""
    committed: bool
    """Whether the commitment is about it."""
    seats: List[CardVoter]
    """For, abstained, not voted, against."""
    counts: HeadCount


class CardRing(_CardRingRequired, total=False):
    """The voters of one proposal."""

    by: str
    """Who proposed it."""
    rule: CardRule


class CardRule(TypedDict):
    """The rule that the votes have to satisfy."""

    kind: Literal["share", "more", "all", "count"]
    """share: of the votes for and against; more: more for than against; all: every participant; count: so many approvals."""
    value: float
    """The share, 0 to 1, or the number; 0 where the kind says it all."""


_CardTallyRequired = TypedDict("_CardTallyRequired", {
    "for": "float",
    "against": "float",
    "of": "float",
    "passes": "bool",
    "rule": "CardRule",
})


class CardTally(_CardTallyRequired):
    """The votes as the policy counts them."""



class _CardVoterRequired(TypedDict):
    participantId: str
    """Id of the participant."""
    vote: VoteSide
    weight: float
    """Weight of its vote; 1 unless the policy weighs votes."""
    pivotal: bool
    """Whether the decision depends on its vote, as why and what-if find it."""


class CardVoter(_CardVoterRequired, total=False):
    """A participant in the picture of a decision."""

    role: str
    """What it does in a session without votes."""
    person: str
    """Of a seat: the person whose vote it is."""
    answeredAt: str
    """When that person gave the vote."""
    noAnswerBy: str
    """Of a seat whose deadline acted: until when no person answered."""
    confidence: float
    """0 to 1, of its last evaluation."""
    opinion: Literal["for", "against", "unsure"]
    """What the last evaluation of a participant without a ballot recommends."""
    objection: Literal["veto", "objection"]
    """veto: an objection of the severity that the policy lets stop a decision."""


class Chart(TypedDict):
    """A sparse series; time labels are the start of their bucket, UTC."""

    labels: List[str]
    """What each value is about: a time, or a name."""
    data: List[float]
    """The values, in the order of the labels."""


class CircuitBreakerHistoryHistoryItem(TypedDict):
    state: Literal["CLOSED", "OPEN", "HALF_OPEN"]
    """OPEN refuses calls to the runtime; HALF_OPEN lets one through to try."""
    enteredAt: str
    """When it was entered."""
    reason: str
    """Why."""


class CircuitBreakerHistory(TypedDict):
    """At most the last 200 states, oldest first; kept by one process and lost with it."""

    state: Literal["CLOSED", "OPEN", "HALF_OPEN"]
    """OPEN refuses calls to the runtime; HALF_OPEN lets one through to try."""
    history: List[CircuitBreakerHistoryHistoryItem]
    """The states it entered, oldest first."""


class CircuitBreakerReset(TypedDict):
    """The breaker is closed."""

    status: Literal["ok"]
    """Always ok."""
    state: Literal["CLOSED"]
    """The state it is in now."""


class CloneRun(TypedDict, total=False):
    """What is to be different; the whole body may be absent."""

    tags: List[str]
    """Replaces the tags of the original."""
    context: Dict[str, Any]
    """Accepted only when it is empty; the context of a session belongs to its agents."""


class CommitmentEvaluation(TypedDict):
    """What the policy said to a commitment."""

    commitmentId: str
    """Commitment that was evaluated."""
    decision: Literal["allow", "deny"]
    """What the policy says."""
    reasons: List[str]
    """Why."""
    ts: str
    """When it was evaluated."""


class CommitteeIndependence(TypedDict):
    """How independent the voters of runs are."""

    committee: str
    """Equal for runs with the same participants."""
    participants: List[str]
    """The participants of these runs, also those that never vote."""
    summary: str
    """The figures in one line."""
    runs: int
    """Ended runs of these participants."""
    cases: int
    """Different cases of these."""
    truth: CommitteeTruth
    effectiveVotes: EffectiveVotes
    seats: List[CommitteeSeatErrors]
    """The participants that vote, by name."""
    pairs: List[CommitteeSeatPair]
    """Each two of them once."""
    sharedModels: List[SharedModel]
    """Seats with the same models, a likely reason of errors together."""
    sharedPrompts: List[SharedPrompt]
    """Seats with the same prompts, as far as spans have them."""
    shadows: List[CommitteeShadowErrors]
    """Agents that were tried beside a participant; no other figure has them."""
    shadowsLeftOut: int
    """Shadows without figures: those that were tried last have some, at most 8."""


class CommitteeIndependences(TypedDict):
    """The independence of committees."""

    data: List[CommitteeIndependence]
    """One entry for each set of participants, the most runs first, at most 10."""
    truncated: bool
    """Whether there are more runs or committees than the answer has."""
    waiting: int
    """Ended runs that are not counted yet, because their record is still being read."""


class CommitteeSearchAnswerFound1SearchChoosing(TypedDict):
    """The half on which the subset was chosen."""

    runs: int
    """Runs."""
    cases: int
    """Different cases."""


class CommitteeSearchAnswerFound1SearchConfirming(TypedDict):
    """The half on which it was confirmed."""

    runs: int
    """Runs."""
    cases: int
    """Different cases."""


class CommitteeSearchAnswerFound1Search(TypedDict):
    """How the search went."""

    method: Literal["all", "greedy"]
    """all: every subset was tried; greedy: seats were left out one by one, so a cheaper one may exist."""
    candidates: int
    """Subsets that were tried, each under each policy."""
    policies: int
    """Policies that were tried beside the own one of each run."""
    excluded: int
    """Subsets without a seat that a run cannot be counted without: its policy names it, or cannot be met."""
    choosing: CommitteeSearchAnswerFound1SearchChoosing
    """The half on which the subset was chosen."""
    confirming: CommitteeSearchAnswerFound1SearchConfirming
    """The half on which it was confirmed."""


class CommitteeSearchAnswerFound1(TypedDict):
    kind: Literal["named"]
    """A cheaper committee is confirmed."""
    committee: NamedCommittee
    search: CommitteeSearchAnswerFound1Search
    """How the search went."""


class CommitteeSearchAnswerFound2SearchChoosing(TypedDict):
    """The half on which the subset was chosen."""

    runs: int
    """Runs."""
    cases: int
    """Different cases."""


class CommitteeSearchAnswerFound2SearchConfirming(TypedDict):
    """The half on which it was confirmed."""

    runs: int
    """Runs."""
    cases: int
    """Different cases."""


class CommitteeSearchAnswerFound2Search(TypedDict):
    """How the search went."""

    method: Literal["all", "greedy"]
    """all: every subset was tried; greedy: seats were left out one by one, so a cheaper one may exist."""
    candidates: int
    """Subsets that were tried, each under each policy."""
    policies: int
    """Policies that were tried beside the own one of each run."""
    excluded: int
    """Subsets without a seat that a run cannot be counted without: its policy names it, or cannot be met."""
    choosing: CommitteeSearchAnswerFound2SearchChoosing
    """The half on which the subset was chosen."""
    confirming: CommitteeSearchAnswerFound2SearchConfirming
    """The half on which it was confirmed."""


class CommitteeSearchAnswerFound2(TypedDict):
    kind: Literal["none"]
    """No committee is named."""
    reason: Literal["none chosen", "not confirmed"]
    """No cheaper subset agrees on the first half, or the chosen one failed on the other."""
    search: CommitteeSearchAnswerFound2Search
    """How the search went."""


class CommitteeSearchAnswer(TypedDict):
    """The cheapest committee with the same outcomes."""

    committee: str
    """Equal for runs with the same participants."""
    participants: List[str]
    """The participants of these runs, also those that never vote."""
    summary: str
    """The answer in one line."""
    found: Union[CommitteeSearchAnswerFound1, CommitteeSearchAnswerFound2]
    """What the search found."""
    searches: int
    """Searches over runs of these participants on record, this one included."""
    otherCommittees: int
    """Runs of other participants that the search finds, which are left out."""
    truncated: bool
    """Whether the committee has more runs than a search counts, 10000."""


class _CommitteeSearchRequestRequired(TypedDict):
    q: str
    """Ended runs that this search finds."""


class CommitteeSearchRequest(_CommitteeSearchRequestRequired, total=False):
    """What a cheaper committee must keep."""

    maxSeats: int
    """Most seats of the cheaper committee."""
    keepAgreement: float
    """The share of cases whose outcome must stay the same."""
    alpha: float
    """One less the confidence of the bound that confirms it."""
    policies: List[SearchedPolicy]
    """Policies that are tried, too; the own one of each run unless said."""


class CommitteeSeatErrorsAccuracy(TypedDict):
    """Share of right votes; absent without runs."""

    rate: float
    """The share."""
    low: float
    """Lower end of its interval."""
    high: float
    """Upper end."""


class _CommitteeSeatErrorsRequired(TypedDict):
    seat: str
    """Participant id of the seat."""
    runs: int
    """Runs with a truth in which it voted for or against."""
    cases: int
    """Different cases of these."""
    errors: int
    """Votes for a wrong or against a right decision."""


class CommitteeSeatErrors(_CommitteeSeatErrorsRequired, total=False):
    """How often a seat erred."""

    accuracy: CommitteeSeatErrorsAccuracy
    """Share of right votes; absent without runs."""
    leftOut: Literal["no value", "always right", "always wrong", "too few shared runs"]
    """Why the seat has no correlation; absent for a seat that counts."""


class CommitteeSeatPairErrorsPhi(TypedDict):
    """Correlation of their errors; absent where one of them never or always errs in these runs."""

    value: float
    """The figure."""
    low: float
    """Lower end of its interval."""
    high: float
    """Upper end."""


class _CommitteeSeatPairErrorsRequired(TypedDict):
    sharedRuns: int
    """Runs in which both have a value."""
    both: int
    """Both erred."""
    leftOnly: int
    """Only the left one erred."""
    rightOnly: int
    """Only the right one erred."""
    neither: int
    """Neither erred."""
    isTooFew: bool
    """Whether the pair has too few shared runs to count."""


class CommitteeSeatPairErrors(_CommitteeSeatPairErrorsRequired, total=False):
    """How their errors go together."""

    phi: CommitteeSeatPairErrorsPhi
    """Correlation of their errors; absent where one of them never or always errs in these runs."""
    largestPhi: float
    """The largest correlation that their accuracies allow."""


class CommitteeSeatPairAgreementShare(TypedDict):
    """Their share; absent without runs."""

    rate: float
    """The share."""
    low: float
    """Lower end of its interval."""
    high: float
    """Upper end."""


class _CommitteeSeatPairAgreementRequired(TypedDict):
    runs: int
    """Runs in which both voted."""
    agreed: int
    """Of these, runs with the same vote."""


class CommitteeSeatPairAgreement(_CommitteeSeatPairAgreementRequired, total=False):
    """How often they cast the same vote: it needs no truth, and bounds nothing."""

    share: CommitteeSeatPairAgreementShare
    """Their share; absent without runs."""
    kappa: float
    """Cohen's kappa; absent where it is not defined."""


class CommitteeSeatPair(TypedDict):
    """Two seats."""

    left: str
    """Participant id of the seat."""
    right: str
    """Participant id of the seat."""
    errors: CommitteeSeatPairErrors
    """How their errors go together."""
    agreement: CommitteeSeatPairAgreement
    """How often they cast the same vote: it needs no truth, and bounds nothing."""


class CommitteeSeatWorthChanged(TypedDict):
    """Runs whose decision would be refused without it: no decision; the interval is of 95 %"""

    count: int
    """So many runs."""
    n: int
    """Of so many."""
    rate: float
    """Their share."""
    low: float
    """Lower end of its interval."""
    high: float
    """Upper end."""


class CommitteeSeatWorthRightLost(TypedDict):
    """Of the runs with a truth, right decisions that would be refused; the interval is of 95 %"""

    count: int
    """So many runs."""
    n: int
    """Of so many."""
    rate: float
    """Their share."""
    low: float
    """Lower end of its interval."""
    high: float
    """Upper end."""


class CommitteeSeatWorthWrongPrevented(TypedDict):
    """Of the runs with a truth, wrong decisions that would be refused; the interval is of 95 %"""

    count: int
    """So many runs."""
    n: int
    """Of so many."""
    rate: float
    """Their share."""
    low: float
    """Lower end of its interval."""
    high: float
    """Upper end."""


class CommitteeSeatWorthPivotal(TypedDict):
    """Of its votes for or against, those whose opposite would have turned the outcome; the interval is of 95 %"""

    count: int
    """So many runs."""
    n: int
    """Of so many."""
    rate: float
    """Their share."""
    low: float
    """Lower end of its interval."""
    high: float
    """Upper end."""


class CommitteeSeatWorthIdle(TypedDict):
    """Present for a seat whose removal changes nothing in enough cases."""

    atMost: float
    """The true share of changed outcomes is at most this, at 95 %"""


class _CommitteeSeatWorthRequired(TypedDict):
    seat: str
    """Participant id of the seat."""
    runs: int
    """Runs that were counted again without it."""
    cases: int
    """Different cases of these."""
    notCounted: Dict[str, int]
    """Runs that say nothing about its removal, by reason."""
    changed: CommitteeSeatWorthChanged
    """Runs whose decision would be refused without it: no decision; the interval is of 95 %"""
    rightLost: CommitteeSeatWorthRightLost
    """Of the runs with a truth, right decisions that would be refused; the interval is of 95 %"""
    wrongPrevented: CommitteeSeatWorthWrongPrevented
    """Of the runs with a truth, wrong decisions that would be refused; the interval is of 95 %"""
    oppositeAllowed: int
    """Of the changed runs, those where the opposite outcome would have been allowed."""
    pivotal: CommitteeSeatWorthPivotal
    """Of its votes for or against, those whose opposite would have turned the outcome; the interval is of 95 %"""
    costUsd: float
    """Cost of its model calls."""
    costPerRunUsd: float
    """The same for each run."""
    guessedCostUsd: float
    """Part of `costUsd` that is a guess."""


class CommitteeSeatWorth(_CommitteeSeatWorthRequired, total=False):
    """What a seat is worth, by counting votes without it."""

    meanTimeMs: float
    """Mean time from its first to its last act; absent without any."""
    meanSavedMs: float
    """Mean time that a decision could come sooner without it, an estimate."""
    costPerRightUsd: float
    """Its cost in runs with a truth for each right decision that needed it; absent without one."""
    idle: CommitteeSeatWorthIdle
    """Present for a seat whose removal changes nothing in enough cases."""
    model: str
    """The models that it called; absent without any."""


class CommitteeShadowErrorsAccuracy(TypedDict):
    """Share of right votes; absent without runs."""

    rate: float
    """The share."""
    low: float
    """Lower end of its interval."""
    high: float
    """Upper end."""


_CommitteeShadowErrorsRequired = TypedDict("_CommitteeShadowErrorsRequired", {
    "shadow": "str",
    "as": "str",
    "agent": "str",
    "tried": "int",
    "runs": "int",
    "cases": "int",
    "errors": "int",
    "pairs": "List[CommitteeSeatPair]",
})


_CommitteeShadowErrorsOptional = TypedDict("_CommitteeShadowErrorsOptional", {
    "accuracy": "CommitteeShadowErrorsAccuracy",
    "leftOut": "Literal[\"no value\", \"always right\", \"always wrong\", \"too few shared runs\"]",
}, total=False)


class CommitteeShadowErrors(_CommitteeShadowErrorsRequired, _CommitteeShadowErrorsOptional):
    """How often a shadow erred, and with which seats."""



class CommitteeShadowWorthChanged(TypedDict):
    """Runs whose decision would be refused with it in place of its participant; the interval is of 95 %"""

    count: int
    """So many runs."""
    n: int
    """Of so many."""
    rate: float
    """Their share."""
    low: float
    """Lower end of its interval."""
    high: float
    """Upper end."""


class CommitteeShadowWorthRightLost(TypedDict):
    """Of the runs with a truth, right decisions that would be refused; the interval is of 95 %"""

    count: int
    """So many runs."""
    n: int
    """Of so many."""
    rate: float
    """Their share."""
    low: float
    """Lower end of its interval."""
    high: float
    """Upper end."""


class CommitteeShadowWorthWrongPrevented(TypedDict):
    """Of the runs with a truth, wrong decisions that would be refused; the interval is of 95 %"""

    count: int
    """So many runs."""
    n: int
    """Of so many."""
    rate: float
    """Their share."""
    low: float
    """Lower end of its interval."""
    high: float
    """Upper end."""


class CommitteeShadowWorthIdle(TypedDict):
    """Present for a shadow that changes nothing in enough cases."""

    atMost: float
    """The true share of changed outcomes is at most this, at 95 %"""


class CommitteeShadowWorthCost(TypedDict):
    """Absent where no model call of it is on record."""

    runs: int
    """Runs with model calls of the shadow on record."""
    costUsd: float
    """Cost of these calls, which no cost of a run has."""
    costPerRunUsd: float
    """The same for each of these runs."""
    guessedCostUsd: float
    """Part of `costUsd` that is a guess."""


class CommitteeShadowWorthPaired(TypedDict):
    """Both over the same runs."""

    runs: int
    """Runs with a truth in which both voted for or against."""
    cases: int
    """Different cases of these."""
    participantRight: int
    """Right votes of the participant."""
    shadowRight: int
    """Right votes of the shadow."""
    participantOnly: int
    """Runs in which only the participant is right."""
    shadowOnly: int
    """Runs in which only the shadow is right."""
    p: float
    """McNemar's exact test, two-sided; a case counts once."""
    isTooFew: bool
    """Whether the cases are too few to compare the two."""


_CommitteeShadowWorthRequired = TypedDict("_CommitteeShadowWorthRequired", {
    "shadow": "str",
    "as": "str",
    "agent": "str",
    "tried": "int",
    "summary": "str",
    "runs": "int",
    "cases": "int",
    "notCounted": "Dict[str, int]",
    "changed": "CommitteeShadowWorthChanged",
    "rightLost": "CommitteeShadowWorthRightLost",
    "wrongPrevented": "CommitteeShadowWorthWrongPrevented",
    "oppositeAllowed": "int",
    "paired": "CommitteeShadowWorthPaired",
})


_CommitteeShadowWorthOptional = TypedDict("_CommitteeShadowWorthOptional", {
    "idle": "CommitteeShadowWorthIdle",
    "cost": "CommitteeShadowWorthCost",
}, total=False)


class CommitteeShadowWorth(_CommitteeShadowWorthRequired, _CommitteeShadowWorthOptional):
    """What other decisions there had been with a shadow in place of its participant, by counting votes."""



class CommitteeTruthShare(TypedDict):
    """Their share; absent without runs."""

    rate: float
    """The share."""
    low: float
    """Lower end of its interval."""
    high: float
    """Upper end."""


class CommitteeTruthOutcomesWithTruth(TypedDict):
    """Of the runs with a truth."""

    positive: int
    """Decisions that say yes."""
    negative: int
    """Decisions that say no."""
    none: int
    """Runs without a decision, or without a stated outcome."""


class CommitteeTruthOutcomesWithoutTruth(TypedDict):
    """Of the others."""

    positive: int
    """Decisions that say yes."""
    negative: int
    """Decisions that say no."""
    none: int
    """Runs without a decision, or without a stated outcome."""


class CommitteeTruthOutcomes(TypedDict):
    """How the runs of both groups ended."""

    withTruth: CommitteeTruthOutcomesWithTruth
    """Of the runs with a truth."""
    withoutTruth: CommitteeTruthOutcomesWithoutTruth
    """Of the others."""


class CommitteeTruthPositiveDifference(TypedDict):
    """Share of yes among the decisions with a truth, less that among the others; absent without both."""

    value: float
    """The figure."""
    low: float
    """Lower end of its interval."""
    high: float
    """Upper end."""


class _CommitteeTruthRequired(TypedDict):
    runs: int
    """Runs of the committee."""
    withTruth: int
    """Of these, runs whose decision has a mark `correct`, not of a judge."""
    outcomes: CommitteeTruthOutcomes
    """How the runs of both groups ended."""


class CommitteeTruth(_CommitteeTruthRequired, total=False):
    """How many runs have a truth, and whether they differ from the others."""

    share: CommitteeTruthShare
    """Their share; absent without runs."""
    positiveDifference: CommitteeTruthPositiveDifference
    """Share of yes among the decisions with a truth, less that among the others; absent without both."""


class CommitteeWorth(TypedDict):
    """What each voter of a committee is worth."""

    committee: str
    """Equal for runs with the same participants."""
    participants: List[str]
    """The participants of these runs, also those that never vote."""
    summary: str
    """The figures in one line."""
    runs: int
    """Ended runs of these participants."""
    costUsd: float
    """Cost of all seats in these runs."""
    seats: List[CommitteeSeatWorth]
    """The participants that vote; those whose removal changes most first."""
    shadows: List[CommitteeShadowWorth]
    """Agents that were tried beside a participant; no other figure has them."""
    shadowsLeftOut: int
    """Shadows without figures: those that were tried last have some, at most 8."""


class CommitteeWorths(TypedDict):
    """What the voters of committees are worth."""

    data: List[CommitteeWorth]
    """One entry for each set of participants, the most runs first, at most 10."""
    truncated: bool
    """Whether there are more runs or committees than the answer has."""
    waiting: int
    """Ended runs that are not counted yet, because their record is still being read."""


class CompareRuns(TypedDict):
    """The two runs."""

    leftRunId: str
    """The run that differences are counted from."""
    rightRunId: str
    """The run it is compared with."""


class _ComparedRunRequired(TypedDict):
    runId: RunId
    status: RunStatus


class ComparedRun(_ComparedRunRequired, total=False):
    """One side of a comparison."""

    modeName: str
    """Session mode."""
    durationMs: float
    """Milliseconds from start to end."""
    usage: RunUsage


class _ConflictRequired(TypedDict):
    statusCode: Literal[409]
    """The HTTP status."""
    errorCode: Literal["INVALID_STATE_TRANSITION", "SESSION_ALREADY_EXISTS", "SESSION_EXPIRED", "SESSION_LOST", "BUDGET_EXHAUSTED", "CONFLICT"]
    """What went wrong, for programs."""
    message: str
    """What went wrong, for people."""


class Conflict(_ConflictRequired, total=False):
    """An error answered with 409."""

    metadata: Dict[str, Any]
    """More about it; of a failed runtime call {grpcCode}"""
    error: str
    """The reason phrase of the status, where the form of older servers has it."""


class _CostsByModelModelsItemRequired(TypedDict):
    calls: int
    """Calls."""
    totalTokens: float
    """Tokens."""
    estimatedCostUsd: float
    """US dollars, as recorded with the calls."""
    guessedCostUsd: float
    """Part of it that is a guess, by the fallback price."""


class CostsByModelModelsItem(_CostsByModelModelsItemRequired, total=False):
    model: str
    """The model as the agents stated it; absent when they stated none."""
    provider: str
    """The provider as the agents stated it."""


class CostsByModel(TypedDict):
    """What the calls of each model cost."""

    since: str
    """The calls since this time are counted."""
    isPartial: bool
    """Whether there are more calls than were counted; the newest 200,000 are."""
    models: List[CostsByModelModelsItem]
    """The models, at most 500, the dearest first."""


class DashboardCharts(TypedDict):
    """Series over the window; buckets are minutes, hours or days by its length, and empty ones are left out."""

    runVolume: Chart
    latency: Chart
    signalVolume: Chart
    errorClasses: Chart
    throughput: Chart
    queueDepth: Chart
    latencyP50: Chart
    latencyP95: Chart
    latencyP99: Chart
    cost: Chart
    successRate: Chart
    decisionOutcome: Chart
    perScenario: Chart


class _DashboardKpisRequired(TypedDict):
    totalRuns: int
    """Runs created in the window."""
    activeRuns: int
    """Of these, not ended."""
    completedRuns: int
    """Of these, completed."""
    failedRuns: int
    """Of these, failed."""
    cancelledRuns: int
    """Of these, cancelled."""
    suspendedRuns: int
    """Of these, suspended."""
    declinedRuns: int
    """Completed runs whose last decision was negative."""
    totalSignals: int
    """Signals emitted in the window."""
    totalTokens: float
    """Tokens of all LLM calls of the runs."""
    totalCostUsd: float
    """Estimated cost of these, US dollars with two decimals."""
    avgDurationMs: Union[int, None]
    """Mean duration of completed runs, milliseconds; null when there is none."""


class DashboardKpis(_DashboardKpisRequired, total=False):
    """Runs created, and signals emitted, in the window."""

    totalCostUsdExact: float
    """The same with all decimals, nine at most."""
    guessedCostUsd: float
    """Part of the cost whose model has no known price; absent when there is none."""
    p50DurationMs: int
    """Median duration of completed runs, milliseconds; absent without one."""
    p95DurationMs: int
    """95th percentile of these, interpolated; absent without one."""
    successRate: float
    """Completed runs as a share of ended ones, 0 to 1; absent when no run has ended."""


class _DashboardOverviewRequired(TypedDict):
    kpis: DashboardKpis
    recentRuns: List[RecentRun]
    """At most 10 runs that are not archived, the newest first, whatever the window."""
    runtimeHealth: RuntimeHealth
    charts: DashboardCharts
    trends: DashboardTrends
    scenarios: List[ScenarioFigures]
    """The 50 most frequent scenarios and the 50 with the highest cost, the most frequent first."""


class DashboardOverview(_DashboardOverviewRequired, total=False):
    """Everything an overview page shows."""

    otherScenarios: OtherScenarios


class _DashboardTrendsRequired(TypedDict):
    labels: List[str]
    """Starts of the buckets, UTC; those without a run are left out."""
    totalRuns: List[float]
    """Runs created in the bucket."""
    activeRuns: List[float]
    """Of these, not ended."""
    completedRuns: List[float]
    """Of these, completed."""
    failedRuns: List[float]
    """Of these, failed."""
    cancelledRuns: List[float]
    """Of these, cancelled."""
    suspendedRuns: List[float]
    """Of these, suspended."""
    declinedRuns: List[float]
    """Of these, completed with a negative decision."""
    tokens: List[float]
    """Tokens of their LLM calls."""
    costUsd: List[float]
    """Estimated cost of these, US dollars."""


class DashboardTrends(_DashboardTrendsRequired, total=False):
    """The key figures by the time at which runs were created."""

    guessedCostUsd: List[float]
    """Part of it whose models have no known price."""


class DecisionCardQuorum(TypedDict):
    """Absent for a policy that requires no quorum."""

    need: int
    """Ballots that the policy requires."""


class DecisionCardSentencesItem(TypedDict):
    text: str
    """The sentence."""
    tone: Literal["calm", "warn"]
    """warn: the outcome hides this."""


class _DecisionCardRequired(TypedDict):
    runId: RunId
    modeName: str
    """Mode of the session."""
    verdict: VerdictState
    word: str
    """The verdict in words."""
    outOfReach: bool
    """Whether an open run can no longer approve anything."""
    hasVotes: bool
    """Whether the session has votes; else the voters have roles."""
    weighted: bool
    """Whether the policy weighs votes."""
    rings: List[CardRing]
    """A ring a proposal, the committed one first."""
    voted: int
    """Participants with a ballot."""
    participants: int
    """All participants."""
    counts: str
    """The figures in one line."""
    sentences: List[DecisionCardSentencesItem]
    """Why, in sentences."""


class DecisionCard(_DecisionCardRequired, total=False):
    """The picture of a decision: voters, verdict and reasons."""

    question: str
    """What the session is for, as its opener states it; without that the committed option."""
    action: str
    """Action of the commitment."""
    by: str
    """Who committed it."""
    confidence: float
    """0 to 1, where the commitment states one."""
    ringsLeftOut: int
    """Earlier proposals that are left out; absent for none."""
    tally: CardTally
    quorum: DecisionCardQuorum
    """Absent for a policy that requires no quorum."""


class _DecisionClaimRequired(TypedDict):
    kind: str
    """What it is."""
    text: str
    """In words."""
    seqs: List[int]
    """Events that say so."""


class DecisionClaim(_DecisionClaimRequired, total=False):
    """Something that the record shows."""

    participantId: str
    """Whose it is."""
    person: str
    """The person who gave the answer of a seat, by its record; absent without one."""
    unanswered: bool
    """Present for an act of the deadline: no person gave an answer."""
    denials: List[DenialReason]
    """Reasons of a denial with their codes; absent without any."""


class _DecisionContributionRequired(TypedDict):
    participantId: str
    """Who contributed."""
    action: str
    """Vote, recommendation or option, else the message type."""
    reasons: List[str]
    """Its reasons."""
    ts: str
    """When it was received."""


class DecisionContribution(_DecisionContributionRequired, total=False):
    """What one participant said to a decision."""

    confidence: float
    """0 to 1, as the participant stated it."""
    vote: Literal["allow", "deny"]
    """How it counts; absent for abstentions and opinions."""
    messageType: str
    """Type of the message."""
    implicit: bool
    """True when a time-out spoke for the participant."""


class DecisionForecastOutstandingItem(TypedDict):
    participantId: str
    """Participant."""
    acts: List[str]
    """Message types."""


class _DecisionForecastPivotalItemRequired(TypedDict):
    participantId: str
    """Participant."""
    act: str
    """Message type."""
    outcome: Literal["positive", "negative"]
    """The outcome of a commitment."""
    becomes: Literal["met", "certain", "possible", "impossible"]
    """The status after it."""


class DecisionForecastPivotalItem(_DecisionForecastPivotalItemRequired, total=False):
    value: str
    """What it says."""


class _DecisionForecastRequired(TypedDict):
    runId: RunId
    atSeq: int
    """seq of the last event that was read; 0 for none."""
    atIndex: int
    """Its index in the run."""
    modeName: str
    """Session mode; empty when unknown."""
    policyVersion: str
    """Governance policy; empty when unknown."""
    policySource: Literal["recorded", "registry", "unknown"]
    """Where the rules come from: the run's own log, the registry as it is now, or nowhere."""
    basis: Literal["exact", "bounds"]
    """bounds: too many votes are open to look at every set; statuses are exact, needs may name others."""
    outcomes: List[OutcomeForecast]
    """Empty when the rules are unknown."""
    outstanding: List[DecisionForecastOutstandingItem]
    """Who can still act, and how."""
    pivotal: List[DecisionForecastPivotalItem]
    """Single acts that decide."""


class DecisionForecast(_DecisionForecastRequired, total=False):
    """What can still become of a run's decision."""

    waitingFor: str
    """What the run waits for, in words; absent when it is over or not known."""
    note: str
    """What limits the answer, or has ended the decision."""


class DecisionStateSupersedes(TypedDict):
    """The earlier decision that this one replaces."""

    sessionId: str
    """Session of the earlier decision."""
    commitmentHash: str
    """Hash of its commitment."""
    canonical: bool
    """Whether the hash has the form sha256: and 64 hex digits."""


class _DecisionStateRequired(TypedDict):
    finalized: bool
    """Whether a commitment made the decision binding."""
    reasons: List[str]
    """Reasons of the decision."""
    proposals: List[DecisionContribution]
    """The last 50 contributions, oldest first."""


class DecisionState(_DecisionStateRequired, total=False):
    """The decision of the session, open or final."""

    action: str
    """Action of the commitment; while open, the proposal that is talked about."""
    confidence: float
    """0 to 1: stated, else the share of allowing votes."""
    proposalId: str
    """Proposal that the decision is about."""
    outcomePositive: Union[bool, None]
    """Whether it was a yes; null when unknown, absent while open."""
    commitmentHash: str
    """Hash of the commitment, as clients of the runtime compute it."""
    receipt: ReceiptReport
    commitments: int
    """Commitments on record, of which this is the last; absent when there is one at most."""
    prompt: str
    """Question of the initiator's first proposal."""
    resolvedAt: str
    """When it was finalized."""
    resolvedBy: str
    """Who committed it."""
    supersedes: DecisionStateSupersedes
    """The earlier decision that this one replaces."""


class DecisionVerdict(TypedDict):
    """Whether the rules allow an outcome."""

    outcome: Literal["positive", "negative"]
    """The outcome of a commitment."""
    allowed: bool
    """Whether a commitment with this outcome is accepted."""
    reasons: List[str]
    """Why the rules refuse it."""


class _DecisionWhyOutcome1Required(TypedDict):
    action: str
    """What was committed."""
    positive: Union[bool, None]
    """Null when it was not stated."""
    by: str
    """Who committed."""
    seq: int
    """seq of the event."""


class DecisionWhyOutcome1(_DecisionWhyOutcome1Required, total=False):
    reason: str
    """In the committer's words."""
    commitments: int
    """Commitments on record, of which this is the last; absent when it is the only one."""
    commitmentHash: str
    """Hash of the commitment; absent for runs without one."""
    proposalId: str
    """The proposal that it is about; absent where it does not name one of several."""
    againstVotes: bool
    """The votes on that proposal say the opposite (`warnings`); absent when they do not."""


class _DecisionWhyRulesItemRequired(TypedDict):
    rule: str
    """Key of the rule."""
    satisfied: bool
    """Whether the record satisfies it."""
    text: str
    """In words, with its figures."""
    seqs: List[int]
    """Events that decide it."""


class DecisionWhyRulesItem(_DecisionWhyRulesItemRequired, total=False):
    have: Union[float, str]
    """The value on record; absent where the rule is not one of amounts."""
    need: Union[float, str]
    """The required value; absent where the rule is not one of amounts."""


class DecisionWhyCounterfactualsItem(TypedDict):
    seq: int
    """seq of the vote."""
    participantId: str
    """Whose vote."""
    text: str
    """In words."""
    stillAllowed: bool
    """Whether the outcome would be allowed without it."""
    reasons: List[str]
    """Why not."""


class DecisionWhyDecidedAt(TypedDict):
    """Since when the outcome was allowed without a break."""

    seq: int
    """seq of the event."""
    index: int
    """Its index in the run."""
    ts: str
    """When it came."""
    msBeforeCommitment: float
    """Milliseconds before the commitment."""


class _DecisionWhyCostByParticipantItemRequired(TypedDict):
    participantId: str
    """Participant."""
    calls: int
    """Calls of models."""
    totalTokens: float
    """Tokens."""
    costUsd: float
    """US dollars."""


class DecisionWhyCostByParticipantItem(_DecisionWhyCostByParticipantItemRequired, total=False):
    guessedCostUsd: float
    """Part of the cost whose model has no known price; absent when there is none."""
    callsWithoutUsage: int
    """Calls of these without counts; absent when there are none."""


class _DecisionWhyCostRequired(TypedDict):
    totalTokens: float
    """Tokens up to the commitment."""
    costUsd: float
    """US dollars."""
    byParticipant: List[DecisionWhyCostByParticipantItem]
    """In order of first spending."""


class DecisionWhyCost(_DecisionWhyCostRequired, total=False):
    """What language models cost up to the commitment."""

    guessedCostUsd: float
    """Part of the cost whose model has no known price; absent when there is none."""
    callsWithoutUsage: int
    """Calls without counts, which the sums lack; absent when there are none."""


class DecisionWhyVotingItem(TypedDict):
    proposalId: str
    """The proposal or request."""
    participants: int
    """Participants of the session."""
    notVoted: List[str]
    """Those without a ballot; an abstention is one."""
    text: str
    """In words."""


_DecisionWhyTalliesItemWeightsRequired = TypedDict("_DecisionWhyTalliesItemWeightsRequired", {
    "for": "float",
    "against": "float",
})


class DecisionWhyTalliesItemWeights(_DecisionWhyTalliesItemWeightsRequired):
    """Absent under a policy that does not weigh votes."""



class _DecisionWhyTalliesItemRequired(TypedDict):
    proposalId: str
    """The proposal or request."""
    isCommitted: bool
    """Whether the commitment is about it, as far as that is known."""
    approve: int
    """Ballots for it."""
    reject: int
    """Ballots against it."""
    abstain: int
    """Abstentions."""
    text: str
    """In words."""


class DecisionWhyTalliesItem(_DecisionWhyTalliesItemRequired, total=False):
    option: str
    """What is proposed, in its sender's words; absent when it is not stated."""
    weights: DecisionWhyTalliesItemWeights
    """Absent under a policy that does not weigh votes."""


_DecisionWhyCountedWeightsRequired = TypedDict("_DecisionWhyCountedWeightsRequired", {
    "for": "float",
    "against": "float",
})


class DecisionWhyCountedWeights(_DecisionWhyCountedWeightsRequired):
    """Absent under a policy that does not weigh votes."""



class _DecisionWhyCountedRequired(TypedDict):
    algorithm: str
    """How the policy counts."""
    proposals: int
    """Proposals whose votes are counted together."""
    approve: int
    """Ballots for it."""
    reject: int
    """Ballots against it."""
    abstain: int
    """Abstentions."""
    passes: bool
    """Whether the count supports a positive outcome."""
    text: str
    """In words."""


class DecisionWhyCounted(_DecisionWhyCountedRequired, total=False):
    """The votes as the policy counts them, on all proposals together; absent where it counts none, and for other modes."""

    threshold: float
    """Share that approvals have to reach, 0 to 1; absent where no share decides."""
    weights: DecisionWhyCountedWeights
    """Absent under a policy that does not weigh votes."""


class DecisionWhySummaryPartsItem(TypedDict):
    text: str
    """A part of the line."""
    isQuoted: bool
    """Whether a participant or another person chose this text."""


class _DecisionWhyRequired(TypedDict):
    runId: RunId
    modeName: str
    """Session mode; empty when unknown."""
    policyVersion: str
    """Governance policy; empty when unknown."""
    policySource: Literal["recorded", "registry", "unknown"]
    """Where the rules come from: the run's own log, the registry as it is now, or nowhere."""
    participants: List[str]
    """Those who were declared, or who spoke."""
    outcome: Union[DecisionWhyOutcome1, None]
    """Null while nothing is decided."""
    claims: List[DecisionClaim]
    """Everything that was said, in order; the latest ones."""
    rules: List[DecisionWhyRulesItem]
    """Every rule with a requirement."""
    minimalSet: List[int]
    """A smallest set of events without which the outcome would not have been allowed."""
    counterfactuals: List[DecisionWhyCounterfactualsItem]
    """Each vote as if it had not been cast."""
    missing: List[str]
    """What stood against each outcome; only without a decision."""
    cost: DecisionWhyCost
    """What language models cost up to the commitment."""
    summary: str
    """All of it in one line."""
    notes: List[str]
    """What limits the answer."""


class DecisionWhy(_DecisionWhyRequired, total=False):
    """Why a run was decided as it was, or what was missing."""

    receipt: ReceiptReport
    decidedAt: DecisionWhyDecidedAt
    """Since when the outcome was allowed without a break."""
    voting: List[DecisionWhyVotingItem]
    """Who has voted, up to the commitment; absent where that is not known."""
    tallies: List[DecisionWhyTalliesItem]
    """The ballots by proposal, up to the commitment; the latest 20, and the one of the commitment."""
    counted: DecisionWhyCounted
    """The votes as the policy counts them, on all proposals together; absent where it counts none, and for other modes."""
    warnings: List[str]
    """What the outcome hides: that the voters on its proposal said the opposite."""
    summaryParts: List[DecisionWhySummaryPartsItem]
    """The summary in parts, with the texts of others set apart."""


class _DenialReasonRequired(TypedDict):
    code: str
    """Machine-readable code; the set is open, and unknown codes are possible."""
    message: str
    """In words, without ids of participants."""


class DenialReason(_DenialReasonRequired, total=False):
    """A reason of a policy to refuse a message."""

    participants: List[str]
    """Participants that the reason is about, such as those who object."""
    participantsOmitted: int
    """How many more there are; absent for none."""


class DivergenceAnswer(TypedDict):
    """Where two runs part."""

    leftRunId: RunId
    rightRunId: RunId
    divergence: Union[RunDivergence, None]
    """Null for runs that say the same."""


class DriftReportUntrackedSessionsItem(TypedDict):
    sessionId: str
    """Id of the session."""
    mode: str
    """Its mode."""
    state: str
    """Its state, in the runtime's words."""


class DriftReportMissingFromRuntime1Item(TypedDict):
    runId: str
    """Id of the run."""
    runtimeSessionId: str
    """The session it is bound to."""


class DriftReport(TypedDict):
    """Differences of sessions and runs; nothing is repaired."""

    complete: bool
    """False when the listing was cut by its page cap or time-out."""
    runtimeSessionCount: int
    """All listed sessions, ended ones included."""
    liveRuntimeSessionCount: int
    """Listed sessions that are OPEN or SUSPENDED."""
    trackedRunCount: int
    """Unfinished runs that are bound to a session."""
    untrackedSessions: List[DriftReportUntrackedSessionsItem]
    """Live sessions that no unfinished run belongs to."""
    missingFromRuntime: Union[List[DriftReportMissingFromRuntime1Item], None]
    """Bound runs whose session is not live; null when the listing is not complete."""


class EffectiveVotes1MeanCorrelation(TypedDict):
    """Mean correlation of the errors of two of these."""

    value: float
    """The figure."""
    low: float
    """Lower end of its interval."""
    high: float
    """Upper end."""


class EffectiveVotes1Interval(TypedDict):
    """Interval of 95 % of the value."""

    low: float
    """Lower end of its interval."""
    high: float
    """Upper end."""
    isHighOrMore: bool
    """Whether the upper end is `n or more`."""


class EffectiveVotes1(TypedDict):
    kind: Literal["known"]
    """There is a number."""
    seats: List[str]
    """The seats that count: those with a correlation."""
    meanCorrelation: EffectiveVotes1MeanCorrelation
    """Mean correlation of the errors of two of these."""
    value: float
    """Effective votes, at most the number of these seats."""
    isOrMore: bool
    """Whether the mean correlation is below 0: read the value as `n or more`."""
    interval: EffectiveVotes1Interval
    """Interval of 95 % of the value."""
    hasFewErrors: bool
    """Whether a seat has few errors or right votes: the interval may be too narrow."""
    pairsLeftOut: int
    """Pairs of these seats that do not count."""


class EffectiveVotes2MissingSeatsItem(TypedDict):
    seat: str
    """Participant id of the seat."""
    cases: int
    """Further cases of this seat."""
    errors: int
    """Further errors of it."""
    right: int
    """Further right votes of it."""


class EffectiveVotes2Missing(TypedDict):
    """What is missing before there is a number."""

    cases: int
    """Further cases with a truth."""
    seats: List[EffectiveVotes2MissingSeatsItem]
    """The seats that have too few, and how many more each needs."""


class EffectiveVotes2(TypedDict):
    kind: Literal["unknown"]
    """The figure is unknown."""
    reason: Literal["too few runs"]
    """Why."""
    missing: EffectiveVotes2Missing
    """What is missing before there is a number."""


class EffectiveVotes3(TypedDict):
    kind: Literal["unknown"]
    """The figure is unknown."""
    reason: Literal["no correlation"]
    """Fewer than two seats have a correlation."""

EffectiveVotes = Union["EffectiveVotes1", "EffectiveVotes2", "EffectiveVotes3"]


class _EndpointRemovedRequired(TypedDict):
    statusCode: Literal[410]
    """The HTTP status."""
    errorCode: Literal["ENDPOINT_REMOVED"]
    """What went wrong, for programs."""
    message: str
    """What went wrong, for people."""


class EndpointRemoved(_EndpointRemovedRequired, total=False):
    """An error answered with 410."""

    metadata: Dict[str, Any]
    """More about it; of a failed runtime call {grpcCode}"""
    error: str
    """The reason phrase of the status, where the form of older servers has it."""


class ErasedMember(TypedDict):
    """A member of an event whose value was erased."""

    pointer: str
    """JSON pointer of the member in the event."""
    at: str
    """When it was erased."""
    reason: str
    """Why."""


class ErasedRows(TypedDict):
    """Rows beside the log that lose the text."""

    of: Literal["run", "artifact", "message", "mark", "delivery", "alert", "command", "received span", "seen span", "decision"]
    """What the rows are."""
    count: int
    """Number of rows that have lost a text."""


class Erasure(TypedDict):
    """What was erased from a run, or would be."""

    runId: RunId
    dryRun: bool
    """Whether nothing was erased."""
    plan: str
    """What is erased and kept, as the erasure must send it back."""
    at: str
    """When."""
    by: str
    """Caller."""
    reason: str
    """Why."""
    members: int
    """Erased members of events and raw frames."""
    erased: List[MemberPosition]
    """The first 1000 of them."""
    rows: List[ErasedRows]
    """Rows beside the log that lose the text."""
    remaining: int
    """Positions that keep the text."""
    remains: List[RemainingText]
    """The first 1000 of them."""
    pending: Union[PendingFiles, None]
    """Null where no file of an archive has the run."""
    notReached: List[str]
    """Copies that the service cannot reach."""


class ErasureAppendixEntriesItem(TypedDict):
    position: int
    """Position in the chain, from 1."""
    previous: str
    """Head of the chain before the entry, hexadecimal."""
    target: Literal["event", "frame"]
    """What the member belongs to."""
    index: int
    """Position of the event, or of the raw frame, in the run."""
    pointer: str
    """JSON pointer of the member."""
    digest: str
    """Digest of its salted value, base64url, as the chain of the events or frames covers it."""
    at: str
    """When it was erased."""
    by: str
    """Caller that erased it."""
    reason: str
    """Why."""


class ErasureAppendix(TypedDict):
    """The erasures of a run, as a chain of their own."""

    entries: List[ErasureAppendixEntriesItem]
    """Erasures, in their order."""
    head: ErasuresHead


class _ErasureJobRequired(TypedDict):
    id: str
    """Id of the job: UUID."""
    dryRun: bool
    """Whether it erases nothing."""
    state: Literal["searching", "erasing", "done"]
    """What it does."""
    query: str
    """Search over runs; empty for all runs."""
    reason: str
    """Why."""
    by: str
    """Caller."""
    createdAt: str
    """When it was requested."""
    runs: int
    """Runs that the query matched when the job began."""
    done: int
    """Runs of which the job is done."""
    matching: int
    """Runs with something to erase."""
    erased: int
    """Runs from which it was erased."""
    members: int
    """Erased members of events and raw frames; of a dry run those that would be."""
    remaining: int
    """Positions that keep the text."""
    leftOut: int
    """Runs that it left as they are, although the text may be in them."""
    runsLeftOut: List[RunLeftOut]
    """The first 1000 of them."""
    pendingFiles: int
    """Runs of which files of the archive still have the text."""
    notReached: List[str]
    """Copies that the service cannot reach."""


class ErasureJob(_ErasureJobRequired, total=False):
    """An erasure over many runs, or the dry run of one."""

    endedAt: str
    """When it ended."""
    plan: str
    """Of a dry run that is done: what the erasure must send back."""


class ErasureJobPage(TypedDict):
    """Erasures over many runs."""

    data: List[ErasureJob]
    """The newest first."""


class _ErasureJobRequestRequired(TypedDict):
    find: str
    """Text to erase wherever it is found, compared as searches compare: without case. It is not stored beyond the erasure, and no audit entry has it."""
    reason: str
    """Why. It stays in the entries of the erasure and with each erased member, for all readers."""


class ErasureJobRequest(_ErasureJobRequestRequired, total=False):
    """What to erase from many runs."""

    query: str
    """Search over runs; all runs without it."""
    dryRun: bool
    """Erases nothing, and answers what would be erased, with its plan."""
    plan: str
    """The `plan` of a dry run. Required unless `dryRun` is true: an erasure whose plan is not that of the present state is refused."""


class _ErasureRequestRequired(TypedDict):
    reason: str
    """Why. It stays in the entries of the erasure and with each erased member, for all readers."""


class ErasureRequest(_ErasureRequestRequired, total=False):
    """What to erase from a run: a text, or members by their positions."""

    find: str
    """Text to erase wherever it is found, compared as searches compare: without case. It is not stored beyond the erasure, and no audit entry has it."""
    members: List[NamedMember]
    """Members to erase, in place of `find`."""
    dryRun: bool
    """Erases nothing, and answers what would be erased, with its plan."""
    plan: str
    """The `plan` of a dry run. Required unless `dryRun` is true: an erasure whose plan is not that of the present state is refused."""


class ErasuresHead(TypedDict):
    """The signed end of the chain of a run's erasures."""

    runId: str
    """The run."""
    entries: int
    """Entries of the chain."""
    head: str
    """Head of the chain after its last entry, hexadecimal."""
    keyId: Union[str, None]
    """The key that signed; null when nothing is signed."""
    signature: Union[str, None]
    """Ed25519 over the canonical JSON of the other members, hexadecimal; null when nothing is signed."""


class _EventPageRequired(TypedDict):
    data: List[CanonicalEvent]
    """The events of this page, by seq."""
    total: int
    """Matches of all filters, afterSeq included."""
    limit: int
    """Most events of a page, as requested."""


class EventPage(_EventPageRequired, total=False):
    """One page of canonical events."""

    nextCursor: int
    """seq of the last event; only on a full page, to be given as afterSeq for the next one."""


class EventSalts(TypedDict):
    """The salts of an event."""

    seq: int
    """Of the event."""
    index: int
    """Position of the event in its run."""
    salts: Any
    """The seed of its salts; after an erasure the salts of the members that remain, by their pointers."""


class _EventSourceRequired(TypedDict):
    kind: Literal["runtime", "control-plane", "replay"]
    """Where the event was made."""
    name: str
    """The part that made it."""


class EventSource(_EventSourceRequired, total=False):
    """Who made an event."""

    rawType: str
    """Message type, or kind of frame, that the event was derived from."""


class EventSubject(TypedDict):
    """The thing an event is about."""

    kind: Literal["run", "session", "participant", "message", "signal", "proposal", "decision", "tool", "artifact", "trace", "policy"]
    """Kind of the thing."""
    id: str
    """Id of the thing; empty when the runtime named none."""


class EventTrace(TypedDict, total=False):
    """The position of an event in the distributed trace of its run."""

    traceId: str
    """W3C trace id: 32 hex digits."""
    spanId: str
    """Span id: 16 hex digits."""
    parentSpanId: str
    """Id of the span around it: 16 hex digits."""


class _ExpectedCommitmentRequired(TypedDict):
    id: str
    """Id of the expectation; the same as commitmentId."""
    commitmentId: str
    """Commitment that is expected."""


class ExpectedCommitment(_ExpectedCommitmentRequired, total=False):
    """A commitment that the policy expects of the session."""

    title: str
    """Its title."""
    description: str
    """What it is for."""
    requiredRoles: List[str]
    """Roles that must agree."""
    policyRef: str
    """Policy that demands it."""


class ExportAnswerPartialSuccess(TypedDict, total=False):
    """The part of the request that was rejected."""

    rejectedSpans: str
    """Number of rejected spans."""
    rejectedLogRecords: str
    """Number of rejected log records."""
    rejectedDataPoints: str
    """Number of rejected data points."""
    errorMessage: str
    """Why they were rejected."""


class ExportAnswer(TypedDict, total=False):
    """The response message of OTLP in JSON."""

    partialSuccess: ExportAnswerPartialSuccess
    """The part of the request that was rejected."""


class ExportDigest(TypedDict):
    """Proof of what an export was when it was made."""

    algorithm: Literal["sha256-ed25519", "sha256"]
    """How the digest was made and signed."""
    sha256: str
    """SHA-256 of every byte of the export before this member, hexadecimal."""
    keyId: Union[str, None]
    """The key that signed; null when nothing is signed."""
    signature: Union[str, None]
    """Ed25519 over the canonical JSON of the other members, hexadecimal; null when nothing is signed."""


class _ExportHeaderRequired(TypedDict):
    type: Literal["header"]
    """What the line holds."""
    run: ExportedRun
    session: Union[ExportedSession, None]
    """Null while no session is bound."""
    projection: Union[RunState, None]
    """The projected state."""
    metrics: Union[RunMetrics, None]
    """The counters."""
    artifacts: List[Artifact]
    """All artifacts, oldest first."""
    exportedAt: str
    """When the export was made."""


class ExportHeader(_ExportHeaderRequired, total=False):
    """The head of an export by lines."""

    marks: MarkAppendix


class ExportSalts(TypedDict):
    """The salts of the digests that the chains cover."""

    events: List[Any]
    """Of each event, in their order."""
    frames: List[Any]
    """Of each raw frame, in their order."""


class ExportedDigest(TypedDict):
    """The digest of an export by lines."""

    type: Literal["digest"]
    """What the line holds."""
    algorithm: Literal["sha256-ed25519", "sha256"]
    """How the digest was made and signed."""
    sha256: str
    """SHA-256 of every byte of the export before this member, hexadecimal."""
    keyId: Union[str, None]
    """The key that signed; null when nothing is signed."""
    signature: Union[str, None]
    """Ed25519 over the canonical JSON of the other members, hexadecimal; null when nothing is signed."""


class _ExportedEventRequired(TypedDict):
    type: Literal["canonical_event"]
    """What the line holds."""
    eventType: CanonicalEventType
    id: str
    """Id of the event: UUID."""
    runId: RunId
    seq: int
    """Position in the log of all runs, ascending and with gaps within a run; the resume cursor everywhere."""
    index: int
    """Position in the run: 1, 2, 3, ... without gaps, so a reader can prove that it missed nothing."""
    ts: str
    """When the service received or made it."""
    schemaVersion: int
    """Version of this envelope."""
    source: EventSource
    data: Dict[str, Any]
    """What happened; the keys depend on the type. Events of messages carry decodedPayload."""


class ExportedEvent(_ExportedEventRequired, total=False):
    """A canonical event of an export by lines."""

    subject: EventSubject
    trace: EventTrace
    erased: List[ErasedMember]
    """The members whose values were erased: an empty text or null is in the position of each."""


class _ExportedFrameRequired(TypedDict):
    type: Literal["raw_event"]
    """What the line holds."""
    id: str
    """Id of the raw event: UUID."""
    runId: RunId
    seq: int
    """Position among the raw events of the run: 1, 2, 3, ... without gaps."""
    ts: str
    """When it was received."""
    kind: str
    """Kind of the frame."""
    sourceName: str
    """Where it came from."""
    payload: Dict[str, Any]
    """The frame; the payload of an envelope is base64 text in envelope.payloadBase64."""
    createdAt: str
    """When it was stored."""


class ExportedFrame(_ExportedFrameRequired, total=False):
    """A frame of an export by lines."""

    traceId: str
    """W3C trace id: 32 hex digits."""
    spanId: str
    """Span id: 16 hex digits."""


class ExportedRunSource(TypedDict, total=False):
    """sourceKind and sourceRef in one."""

    kind: str
    """Same as sourceKind."""
    ref: str
    """Same as sourceRef."""


class _ExportedRunRequired(TypedDict):
    id: RunId
    status: RunStatus
    runtimeKind: str
    """Kind of the runtime that hosts the session."""
    runtimeSessionId: str
    """Session of the run: the given id, else an allocated one."""
    traceId: str
    """W3C trace id: 32 hex digits."""
    createdAt: str
    """When the run was created."""
    tags: List[str]
    """Tags of the descriptor; sandbox and archived are added by the service."""
    archivedAt: Union[str, None]
    """When the run was archived; null when it is not."""
    metadata: Dict[str, Any]
    """executionRequest (the submitted descriptor), the session metadata, and what is known after the end."""


class ExportedRun(_ExportedRunRequired, total=False):
    """The record of an exported run."""

    runtimeVersion: str
    """Version of the runtime, as the descriptor requests it."""
    startedAt: str
    """When the service began to look for the session."""
    endedAt: str
    """When the run reached a final status."""
    source: ExportedRunSource
    """sourceKind and sourceRef in one."""


class _ExportedSealRequired(TypedDict):
    type: Literal["seal"]
    """What the line holds."""


class ExportedSeal(_ExportedSealRequired, total=False):
    """The seal of an export by lines."""

    marks: MarkAppendix
    seal: Union[Seal, None]
    """The seal over all events; null while the run has not ended."""
    heads: List[str]
    """Head of the hash chain after each event of canonicalEvents, hexadecimal."""
    salts: ExportSalts
    erasures: ErasureAppendix


class ExportedSessionMetadata(TypedDict):
    """What else is known of it."""

    participants: List[str]
    """Participants of the session."""


class ExportedSession(TypedDict):
    """The session that an exported run is bound to."""

    runId: RunId
    runtimeKind: str
    """Kind of the runtime."""
    runtimeSessionId: str
    """Id of the session."""
    modeName: str
    """Session mode."""
    modeVersion: str
    """Version of the mode."""
    configurationVersion: str
    """Version of the configuration."""
    policyVersion: str
    """Governance policy."""
    initiatorParticipantId: str
    """Who opened the session."""
    sessionState: str
    """Last state that was seen."""
    expiresAt: Union[str, None]
    """When the session runs out of time; null when unknown."""
    lastSeenAt: Union[str, None]
    """When the service last received anything about it."""
    capabilities: Dict[str, Any]
    """What the runtime says it can do."""
    lastStreamCursor: int
    """Ordinal of the last accepted envelope in the log."""
    streamConnectedAt: Union[str, None]
    """When its stream was last opened."""
    streamDisconnectedAt: Union[str, None]
    """When its stream last ended."""
    metadata: ExportedSessionMetadata
    """What else is known of it."""
    createdAt: str
    """When the run was bound to it."""
    updatedAt: str
    """When the record last changed."""


class _ForbiddenRequired(TypedDict):
    statusCode: Literal[403]
    """The HTTP status."""
    errorCode: Literal["FORBIDDEN", "POLICY_DENIED"]
    """What went wrong, for programs."""
    message: str
    """What went wrong, for people."""


class Forbidden(_ForbiddenRequired, total=False):
    """An error answered with 403."""

    metadata: Dict[str, Any]
    """More about it; of a failed runtime call {grpcCode}"""
    error: str
    """The reason phrase of the status, where the form of older servers has it."""


class _ForecastStepRequired(TypedDict):
    count: int
    """So many of these participants."""
    of: List[str]
    """Participants."""
    act: str
    """Message type."""


class ForecastStep(_ForecastStepRequired, total=False):
    """Acts that are needed, by so many participants."""

    value: str
    """What it has to say."""
    proposalId: str
    """What it has to be about."""


class _GatewayTimeoutRequired(TypedDict):
    statusCode: Literal[504]
    """The HTTP status."""
    errorCode: Literal["RUNTIME_TIMEOUT"]
    """What went wrong, for programs."""
    message: str
    """What went wrong, for people."""


class GatewayTimeout(_GatewayTimeoutRequired, total=False):
    """An error answered with 504."""

    metadata: Dict[str, Any]
    """More about it; of a failed runtime call {grpcCode}"""
    error: str
    """The reason phrase of the status, where the form of older servers has it."""

GivenMarkSource = Literal["human", "judge", "api"]


_GraphEdgeRequired = TypedDict("_GraphEdgeRequired", {
    "from": "str",
    "to": "str",
    "kind": "str",
    "ts": "str",
})


class GraphEdge(_GraphEdgeRequired):
    """Traffic between two nodes."""



class GraphNode(TypedDict):
    """A participant or a step of the session."""

    id: str
    """Participant id, or __start, __proposal, __decision, __outcome."""
    kind: Literal["participant", "start", "proposal", "decision", "output"]
    """What the node represents."""
    status: Literal["idle", "active", "waiting", "completed", "failed", "skipped"]
    """skipped: declared, but sent nothing until the run ended."""


_HeadCountRequired = TypedDict("_HeadCountRequired", {
    "for": "int",
    "against": "int",
    "abstained": "int",
    "none": "int",
})


class HeadCount(_HeadCountRequired):
    """Participants by their ballots."""



class Health(TypedDict):
    """The process answers."""

    status: Literal["ok"]
    """Always ok."""


class Heartbeat(TypedDict):
    """The stream is alive."""

    ts: str
    """Time of the heartbeat."""
    seq: int
    """seq of the run's last event."""
    index: int
    """index of that event."""


class _IngestHealthRequired(TypedDict):
    waiting: int
    """Spans and log records that wait for their runs, of all processes."""
    waitingBytes: int
    """Bytes of these; beyond `OTLP_INBOX_BYTES` exporters get 503."""
    limitBytes: int
    """`OTLP_INBOX_BYTES`."""
    lagSeconds: float
    """How long the oldest of these has waited."""
    received: int
    """Spans and log records that this process has received since it started."""
    rejected: int
    """Those that it has rejected."""
    duplicates: int
    """Those that the span inbox had already."""


class IngestHealth(_IngestHealthRequired, total=False):
    """Telemetry that waits for its runs."""

    grpc: str
    """Where exports are received by gRPC, or why they are not."""


class IngestReportDataItem(TypedDict):
    source: str
    """Name of the key that sends."""
    waiting: int
    """Spans and log records that wait for their runs."""
    waitingBytes: int
    """Their bytes."""
    lagSeconds: float
    """How long the oldest of them has waited."""


class IngestReport(TypedDict):
    """What waits in the span inbox, by source."""

    data: List[IngestReportDataItem]
    """Sources of which something waits."""


class _InternalFailureRequired(TypedDict):
    statusCode: Literal[500]
    """The HTTP status."""
    errorCode: Literal["INTERNAL_ERROR"]
    """What went wrong, for programs."""
    message: str
    """What went wrong, for people."""


class InternalFailure(_InternalFailureRequired, total=False):
    """An error answered with 500."""

    metadata: Dict[str, Any]
    """More about it; of a failed runtime call {grpcCode}"""
    error: str
    """The reason phrase of the status, where the form of older servers has it."""


class JoinToken(TypedDict):
    """Lets the spans of its holder join the run of one session."""

    token: str
    """Value of the header `x-runplane-join`. It is a credential."""
    header: str
    """The same as an entry of `OTEL_EXPORTER_OTLP_HEADERS`: `x-runplane-join=TOKEN`."""
    expiresAt: str
    """When it ends."""


class _JoinTokenRequestRequired(TypedDict):
    sessionId: str
    """Session whose run the spans may join, with or without a run."""
    ttlMs: int
    """Time-to-live of the session, milliseconds; the token lives 15 minutes longer."""


class JoinTokenRequest(_JoinTokenRequestRequired, total=False):
    """The session that spans may join."""

    shadow: str
    """Name of the shadow that exports the spans: they have the resource attribute `runplane.shadow`, and no cost of the run."""


class LedgerPageUnlisted(TypedDict):
    """On the last page: what is stored since the ledger began, has no entry and waits for none."""

    seals: int
    """Seals."""
    tombstones: int
    """Tombstones."""
    auditEntries: int
    """Audit entries."""


class _LedgerPageRequired(TypedDict):
    data: List[ListedLedgerEntry]
    """The entries of this page, by number."""
    limit: int
    """Most entries of a page, as requested."""


class LedgerPage(_LedgerPageRequired, total=False):
    """One page of the ledger."""

    unlisted: LedgerPageUnlisted
    """On the last page: what is stored since the ledger began, has no entry and waits for none."""


class _ListedDecisionRequired(TypedDict):
    verdict: VerdictState
    word: str
    """The verdict in words."""
    counts: str
    """The figures in one line."""
    asOfSeq: int
    """The last event that it counts."""


class ListedDecision(_ListedDecisionRequired, total=False):
    """In lists that include decisions: the one of the run, as of `asOfSeq`."""

    action: str
    """Action of the commitment."""
    question: str
    """What the session is for, as its opener states it; without that the committed option."""
    heads: HeadCount
    seats: List[List[Any]]
    """The same by participant, in the order of the ring; absent for more than 25."""
    tally: CardTally
    case: str
    """Equal for runs of one gate case, else for runs of one scenario, whatever its version, with the same intent and the same first proposal; absent before a proposal."""


class _ListedLedgerEntryRequired(TypedDict):
    number: int
    """1, 2, 3, ... without gaps."""
    kind: Literal["seal", "tombstone", "audit", "expiry", "key", "erasure"]
    """What the entry is about."""
    subject: str
    """Of a seal `runId/events`, of a tombstone `runId/deletedAt`, of an audit entry its id, of an expiry the time, of a key its id, of an erasure `runId/entries`."""
    digest: str
    """SHA-256 of the canonical JSON of the content, hexadecimal."""
    vouched: bool
    """Whether the process with the key wrote the content; false without a key."""
    previous: str
    """Hash of the entry before this one, hexadecimal."""
    at: str
    """When the entry got its number."""
    keyId: Union[str, None]
    """The key that signed; null when nothing is signed."""
    signature: Union[str, None]
    """Ed25519 over the canonical JSON of the other members, hexadecimal; null when nothing is signed."""
    content: Literal["kept", "changed", "missing", "deleted", "expired"]
    """kept as it was; changed or missing; deleted with its run, of which a tombstone is kept; expired by retention."""


class ListedLedgerEntry(_ListedLedgerEntryRequired, total=False):
    """An entry of the ledger, and what became of its content."""

    lacks: Literal["mark"]
    """Of a missing content: the audit entry is kept, but not the mark that it records; absent otherwise."""


class Liveness(TypedDict):
    """The process answers."""

    status: Literal["ok"]
    """Always ok."""


class _LlmCallRequired(TypedDict):
    participantId: str
    """Who made the call."""
    promptTokens: float
    """Input tokens."""
    completionTokens: float
    """Output tokens."""
    totalTokens: float
    """All tokens: as stated, and at least the sum of the two."""
    ts: str
    """When it was reported."""


class LlmCall(_LlmCallRequired, total=False):
    """A call of a language model, as an agent reported it."""

    model: str
    """Model."""
    usage: Literal["missing"]
    """Present when the agent stated no count; the counts are 0 then."""
    latencyMs: float
    """Duration of the call, milliseconds."""
    messageId: str
    """Message that reported it."""
    artifactId: str
    """Artifact that holds prompt or response."""
    estimatedCostUsd: float
    """US dollars: as stated, else by the rate of the model."""
    uncountedCostUsd: float
    """US dollars that its span stated beyond the bound; not a part of any cost."""
    provider: str
    """Provider of the model, as the agent stated it."""
    cachedTokens: float
    """Part of the input that was read from a cache."""
    cacheWriteTokens: float
    """Part of the input that was written to a cache."""
    reasoningTokens: float
    """Part of the output."""
    costBasis: str
    """Where the cost comes from: supplied, override, builtin, catalogue, or fallback (a guess)."""
    priceKey: str
    """Entry of the price list that the cost comes from."""
    costDoubt: str
    """Why the price of the entry is a guess: latest, provider, region, tier, audio, image or cache."""


class LogHealth(TypedDict):
    """How long writers wait for the log."""

    ok: bool
    """Whether events are stored as they come."""
    detail: str
    """What waits, and for what."""


class LogHeartbeat(TypedDict):
    """The stream of the log is alive."""

    ts: str
    """Time of the heartbeat."""
    seq: int
    """Every match up to here has been sent."""


class LogLevelChange(TypedDict):
    """The levels after and before the call."""

    level: Literal["trace", "debug", "info", "warn", "error", "fatal", "none"]
    """Entries below this level are not logged."""
    previous: Literal["trace", "debug", "info", "warn", "error", "fatal", "none"]
    """The level until now."""


class _LogPageRequired(TypedDict):
    data: List[CanonicalEvent]
    """The events of this page, by seq."""
    limit: int
    """Most events of a page, as requested."""


class LogPage(_LogPageRequired, total=False):
    """One page of the events of all runs."""

    total: int
    """Matches of all filters, afterSeq included; absent for a search that would have to read the log."""
    nextCursor: int
    """Where to go on, as afterSeq: on a full page, and where a search has not come to the end of the log."""


class LogReset(TypedDict):
    """The stream of the log begins again."""

    ts: str
    """Time of the reset."""
    seq: int
    """The end of the log, from which the stream goes on."""
    afterSeq: int
    """The cursor, which is beyond that end."""


class LoopHealth(TypedDict):
    """Whether the background loops of the process turn."""

    ok: bool
    """Whether every background loop turns in time."""
    detail: str
    """The loops that are late, and those that fail; empty when there are none."""


class _MarkRequired(TypedDict):
    id: str
    """Id of the mark: UUID."""
    runId: str
    """Id of its run."""
    target: MarkTarget
    name: str
    """Name of the mark."""
    source: MarkSource
    author: str
    """Caller that added it."""
    createdAt: str
    """When it was added."""


class Mark(_MarkRequired, total=False):
    """A judgement of a person, a model, a rule or another system."""

    index: int
    """Index of the event that it judges, for a decision, an event or a model call."""
    value: MarkValue
    comment: str
    """Reason, for readers."""
    judge: MarkJudge
    authorName: str
    """`user:` and the name in the token of its author, for readers."""
    replacedBy: str
    """Id of the mark of the same author that replaces it."""
    deletedAt: str
    """When it was deleted; its value and comment are gone."""
    deletedBy: str
    """Caller that deleted it."""


class MarkAgreementAlpha(TypedDict):
    """Agreement of all raters together; only with more than two of them."""

    value: float
    """Krippendorff's alpha."""
    low: float
    """Lower end of its interval of 95 %"""
    high: float
    """Upper end of its interval of 95 %"""
    raters: int
    """Raters of these targets."""
    targets: int
    """Targets that at least two of them rated."""
    metric: Literal["nominal", "ordinal", "interval"]
    """`interval` for numbers, `ordinal` for categories in an order, `nominal` for others."""


class _MarkAgreementRequired(TypedDict):
    name: str
    """Name of the mark."""
    pairs: List[MarkPair]
    """Each pair of raters, the most targets first."""


class MarkAgreement(_MarkAgreementRequired, total=False):
    """Agreement of raters about one name."""

    alpha: MarkAgreementAlpha
    """Agreement of all raters together; only with more than two of them."""


class MarkAgreements(TypedDict):
    """Agreement of raters by name."""

    data: List[MarkAgreement]
    """The names that two raters have in common, sorted."""
    truncated: bool
    """Whether there are more marks or pairs than the answer compares."""


class _MarkAppendixEntriesItem1Required(TypedDict):
    position: int
    """Position in the chain, from 1."""
    previous: str
    """Head of the chain before the entry, hexadecimal."""
    action: Literal["add"]
    """The mark was added."""
    id: str
    """Id of the mark: UUID."""
    target: MarkTarget
    name: str
    """Name of the mark."""
    source: MarkSource
    author: str
    """Caller that added it."""
    createdAt: str
    """When it was added."""
    contentSha256: str
    """SHA-256 of its content, hexadecimal."""


class MarkAppendixEntriesItem1(_MarkAppendixEntriesItem1Required, total=False):
    index: int
    """Index of the event that it judges, for a decision, an event or a model call."""
    authorName: str
    """`user:` and the name in the token of its author, for readers."""
    content: MarkContent


class MarkAppendixEntriesItem2(TypedDict):
    position: int
    """Position in the chain, from 1."""
    previous: str
    """Head of the chain before the entry, hexadecimal."""
    action: Literal["delete"]
    """The mark was deleted."""
    id: str
    """Id of the mark: UUID."""
    deletedAt: str
    """When it was deleted."""
    deletedBy: str
    """Caller that deleted it."""


class MarkAppendix(TypedDict):
    """The marks of a run, as a chain of their own."""

    entries: List[Union[MarkAppendixEntriesItem1, MarkAppendixEntriesItem2]]
    """Additions and deletions, in their order."""
    head: MarksHead


class _MarkContentRequired(TypedDict):
    nonce: str
    """Random."""


class MarkContent(_MarkContentRequired, total=False):
    """The parts of a mark that its deletion erases."""

    value: MarkValue
    comment: str
    """Reason, for readers."""
    judge: MarkJudge


class _MarkDefinitionRequired(TypedDict):
    name: str
    """Name of the mark."""
    kind: Literal["number", "flag", "category"]
    """Kind of its values."""
    reserved: bool
    """True for the names with a meaning of their own, which cannot be changed."""


class MarkDefinition(_MarkDefinitionRequired, total=False):
    """The values that marks of one name have."""

    min: float
    """Smallest number."""
    max: float
    """Largest number."""
    categories: List[str]
    """The categories, the best first where `better` is `first`."""
    better: Literal["higher", "lower", "true", "false", "first"]
    """Better values: the higher or lower numbers, true or false, the first categories; absent for none."""
    description: str
    """For readers."""


class _MarkDefinitionRequestRequired(TypedDict):
    kind: Literal["number", "flag", "category"]
    """Kind of its values."""


class MarkDefinitionRequest(_MarkDefinitionRequestRequired, total=False):
    """The values that marks of a name are to have."""

    min: float
    """Smallest number."""
    max: float
    """Largest number."""
    categories: List[str]
    """The categories, the best first where `better` is `first`."""
    better: Literal["higher", "lower", "true", "false", "first"]
    """Better values: the higher or lower numbers, true or false, the first categories; absent for none."""
    description: str
    """For readers."""


class _MarkJudgeRequired(TypedDict):
    name: str
    """Name of the judge."""


class MarkJudge(_MarkJudgeRequired, total=False):
    """The judge of a mark whose source is `judge`."""

    model: str
    """Its model."""
    promptHash: str
    """Hash of its prompt: versions of a prompt differ in it."""


class MarkPage(TypedDict):
    """A page of marks."""

    data: List[Mark]
    """The marks of this page, the newest first."""
    total: int
    """All marks that match."""
    limit: int
    """Most marks of a page."""
    offset: int
    """Marks before this page."""


class MarkPairKappa(TypedDict):
    """Absent where it has no value: both always give the same one."""

    value: float
    """Cohen's kappa, weighted as `weights` says."""
    low: float
    """Lower end of its interval of 95 %"""
    high: float
    """Upper end of its interval of 95 %"""


class _MarkPairRequired(TypedDict):
    left: str
    """Source of the first raters; a judge with its name."""
    right: str
    """Source of the second raters; a judge with its name."""
    n: int
    """Targets that both rated."""
    agreed: int
    """Of these, targets with the same value."""
    categories: List[MarkValue]
    """Values of both, in order of `confusion`; the 20 most frequent ones where there are more."""
    confusion: List[List[int]]
    """Targets by the value of the first (rows) and of the second (columns)."""
    unreliable: bool
    """Whether the verdict is `unreliable`."""


class MarkPair(_MarkPairRequired, total=False):
    """Agreement of two raters about one name."""

    weights: Literal["none", "linear", "quadratic"]
    """How kappa compares two values: `quadratic` for numbers, by the square of their distance; `linear` for the categories of a definition whose `better` is `first`, by the distance of their positions; `none` for others."""
    kappa: MarkPairKappa
    """Absent where it has no value: both always give the same one."""
    meanDifference: float
    """Mean distance of the two numbers of a target; absent for other values."""
    verdict: Literal["reliable", "unreliable", "unknown"]
    """`reliable` when the interval of kappa is over 0.4, `unreliable` when it is under it; `unknown` while it contains 0.4, with fewer than 20 targets, and without kappa."""


class _MarkRequestRequired(TypedDict):
    target: MarkTarget
    name: str
    """Name of the mark."""
    value: MarkValue
    source: GivenMarkSource


class MarkRequest(_MarkRequestRequired, total=False):
    """A mark to be added."""

    comment: str
    """Reason, for readers."""
    judge: MarkJudge
    idempotencyKey: str
    """A repeated key of one run returns the first mark."""

MarkSource = Literal["human", "judge", "rule", "api"]


class _MarkTargetRequired(TypedDict):
    kind: MarkTargetKind


class MarkTarget(_MarkTargetRequired, total=False):
    """What a mark judges."""

    id: str
    """Participant id of a participant; event id of a decision, an event or a model call. Absent for a run, and for the last decision."""

MarkTargetKind = Literal["run", "decision", "participant", "event", "llmCall"]

MarkValue = Union[float, bool, str]


class MarksHead(TypedDict):
    """The signed end of the chain of a run's marks."""

    runId: str
    """The run."""
    entries: int
    """Entries of the chain."""
    head: str
    """Head of the chain after its last entry, hexadecimal."""
    keyId: Union[str, None]
    """The key that signed; null when nothing is signed."""
    signature: Union[str, None]
    """Ed25519 over the canonical JSON of the other members, hexadecimal; null when nothing is signed."""


class _MeRequired(TypedDict):
    id: str
    """The actor as audit entries and owners hold it: name of the key, or `user:` and the subject of the token; anonymous without authentication."""
    name: str
    """The name for readers: the same, but `user:` and the name of the token's holder."""
    type: Literal["api-key", "user", "anonymous", "rule"]
    """How the caller is identified."""
    role: Literal["ingest", "viewer", "operator", "admin", "voter"]
    """What the caller may do: ingest sends telemetry, viewer reads, operator acts on runs, admin does everything, voter answers questions to people and does nothing else."""


class Me(_MeRequired, total=False):
    """The caller as the service sees it."""

    isVoter: bool
    """true for a caller that answers questions to people by the role voter, which a token may give beside another role; absent for others."""
    runtimeIdentity: str
    """The identity of the control plane at the runtime, where its settings name one: a session that does not let it commit cannot be cancelled, suspended or resumed by it."""


class MemberPosition(TypedDict):
    """A member of an event or a raw frame."""

    target: Literal["event", "frame"]
    """What the member belongs to."""
    index: int
    """Position of the event, or of the raw frame, in the run."""
    pointer: str
    """JSON pointer of the member."""


class _MethodNotAllowedRequired(TypedDict):
    statusCode: Literal[405]
    """The HTTP status."""
    errorCode: Literal["REGISTRY_READ_ONLY", "METHOD_NOT_ALLOWED"]
    """What went wrong, for programs."""
    message: str
    """What went wrong, for people."""


class MethodNotAllowed(_MethodNotAllowedRequired, total=False):
    """An error answered with 405."""

    metadata: Dict[str, Any]
    """More about it; of a failed runtime call {grpcCode}"""
    error: str
    """The reason phrase of the status, where the form of older servers has it."""


class _ModelPriceTiersItemRequired(TypedDict):
    above: int
    """Input tokens above which all tokens of a call have these prices."""


class ModelPriceTiersItem(_ModelPriceTiersItemRequired, total=False):
    input: float
    """US dollars for 1,000,000 input tokens."""
    output: float
    """US dollars for 1,000,000 output tokens."""
    cacheRead: float
    """US dollars for 1,000,000 input tokens that were read from a cache."""
    cacheWrite: float
    """US dollars for 1,000,000 input tokens that were written to a cache."""


class _ModelPriceRequired(TypedDict):
    costBasis: Literal["override", "builtin", "catalogue", "fallback"]
    """The list that has the price. `fallback` is a guess."""
    input: float
    """US dollars for 1,000,000 input tokens."""
    output: float
    """US dollars for 1,000,000 output tokens."""


class ModelPrice(_ModelPriceRequired, total=False):
    """The price of a model, and the list that has it."""

    model: str
    """The model of the request."""
    provider: str
    """The provider of the request."""
    priceKey: str
    """The entry of the list; absent where no list has a price."""
    costDoubt: Literal["latest", "provider", "region", "tier", "audio", "image", "cache"]
    """Why the price of the entry is a guess."""
    cacheRead: float
    """US dollars for 1,000,000 input tokens that were read from a cache."""
    cacheWrite: float
    """US dollars for 1,000,000 input tokens that were written to a cache."""
    reasoning: float
    """US dollars for 1,000,000 output tokens of reasoning."""
    cacheWriteHour: float
    """US dollars for 1,000,000 input tokens that were written to a cache for an hour."""
    audioInput: float
    """US dollars for 1,000,000 input tokens of audio."""
    audioOutput: float
    """US dollars for 1,000,000 output tokens of audio."""
    imageInput: float
    """US dollars for 1,000,000 input tokens of images."""
    imageOutput: float
    """US dollars for 1,000,000 output tokens of images."""
    tiers: List[ModelPriceTiersItem]
    """Prices of long calls."""
    batchFactor: float
    """The cost of a call in a batch is multiplied by it."""
    tierFactors: Dict[str, Union[float, Literal["Infinity", "-Infinity", "NaN"]]]
    """The cost of a call in a service tier is multiplied by its factor."""


class NamedCommitteePolicy(TypedDict):
    """The policy that governs the smaller committee; absent for the own one of each run."""

    index: int
    """Its index in `policies` of the request, from 0 on."""
    name: str
    """Its id; `policies.0` for one that the request has itself."""


class NamedCommitteeAgreement(TypedDict):
    """Agreement with the full committee."""

    rate: float
    """Share of the confirming cases with the same outcome."""
    low: float
    """Lower end of its interval of 95 %"""
    high: float
    """Upper end."""
    lowerBound: float
    """One-sided exact bound (Clopper and Pearson) at `alpha`, which confirms it."""
    undecided: float
    """Of the cases with the same outcome, those whose votes would have allowed the opposite one, too."""


class NamedCommitteeAccuracyAll(TypedDict):
    """Right decisions with all seats; the interval is of 95 %"""

    count: int
    """So many runs."""
    n: int
    """Of so many."""
    rate: float
    """Their share."""
    low: float
    """Lower end of its interval."""
    high: float
    """Upper end."""


class NamedCommitteeAccuracyNamed(TypedDict):
    """Right decisions with these seats; no decision is not right; the interval is of 95 %"""

    count: int
    """So many runs."""
    n: int
    """Of so many."""
    rate: float
    """Their share."""
    low: float
    """Lower end of its interval."""
    high: float
    """Upper end."""


class NamedCommitteeAccuracy(TypedDict):
    """Against the marks `correct` of the confirming half; absent without any."""

    all: NamedCommitteeAccuracyAll
    """Right decisions with all seats; the interval is of 95 %"""
    named: NamedCommitteeAccuracyNamed
    """Right decisions with these seats; no decision is not right; the interval is of 95 %"""


class _NamedCommitteeSavedRequired(TypedDict):
    costUsd: float
    """Cost of the removed seats in the confirming half."""


class NamedCommitteeSaved(_NamedCommitteeSavedRequired, total=False):
    """What the smaller committee saves."""

    costShare: float
    """Its share of the cost of all seats; absent without any cost."""
    meanMs: float
    """Mean time that a decision could come sooner: an estimate; absent without times."""


class _NamedCommitteeRequired(TypedDict):
    seats: List[str]
    """The seats that remain."""
    removed: List[str]
    """Those that are left out."""
    agreement: NamedCommitteeAgreement
    """Agreement with the full committee."""
    saved: NamedCommitteeSaved
    """What the smaller committee saves."""


class NamedCommittee(_NamedCommitteeRequired, total=False):
    """A cheaper committee, confirmed on runs that did not choose it."""

    policy: NamedCommitteePolicy
    """The policy that governs the smaller committee; absent for the own one of each run."""
    accuracy: NamedCommitteeAccuracy
    """Against the marks `correct` of the confirming half; absent without any."""


class _NamedMemberRequired(TypedDict):
    index: int
    """Position of the event, or of the raw frame, in the run."""
    pointer: str
    """JSON pointer of the member."""


class NamedMember(_NamedMemberRequired, total=False):
    """A member to erase."""

    target: Literal["event", "frame"]
    """What the member belongs to."""


class NewLogLevel(TypedDict):
    """The level from now on."""

    level: Literal["trace", "debug", "info", "warn", "error", "fatal", "none"]
    """Entries below this level are not logged."""


class _NotFoundRequired(TypedDict):
    statusCode: Literal[404]
    """The HTTP status."""
    errorCode: Literal["RUN_NOT_FOUND", "NOT_FOUND"]
    """What went wrong, for programs."""
    message: str
    """What went wrong, for people."""


class NotFound(_NotFoundRequired, total=False):
    """An error answered with 404."""

    metadata: Dict[str, Any]
    """More about it; of a failed runtime call {grpcCode}"""
    error: str
    """The reason phrase of the status, where the form of older servers has it."""


class _NotImplementedRequired(TypedDict):
    statusCode: Literal[501]
    """The HTTP status."""
    errorCode: Literal["NOT_IMPLEMENTED"]
    """What went wrong, for programs."""
    message: str
    """What went wrong, for people."""


class NotImplemented(_NotImplementedRequired, total=False):
    """An error answered with 501."""

    metadata: Dict[str, Any]
    """More about it; of a failed runtime call {grpcCode}"""
    error: str
    """The reason phrase of the status, where the form of older servers has it."""


class _NotReadyChecksRequired(TypedDict):
    database: Literal["ok", "unhealthy"]
    """Whether the database answers."""
    log: LogHealth
    runtime: RuntimeHealth
    streamConsumer: Literal["ok", "unhealthy"]
    """unhealthy while a run's stream is neither connected nor about to be."""
    circuitBreaker: Literal["CLOSED", "OPEN", "HALF_OPEN"]
    """State of the breaker in front of the runtime."""


class NotReadyChecks(_NotReadyChecksRequired, total=False):
    """The single checks."""

    loops: LoopHealth
    recovery: str
    """Progress of the adoption of unfinished runs, while it goes on."""


class _NotReadyRequired(TypedDict):
    status: Literal["ok", "degraded"]
    """degraded when a check fails."""
    checks: NotReadyChecks
    """The single checks."""
    ok: bool
    """Whether status is ok; this and the following repeat the checks for older readers."""
    database: Literal["ok", "unhealthy"]
    """Whether the database answers."""
    log: LogHealth
    runtime: RuntimeHealth
    streamConsumer: Literal["ok", "unhealthy"]
    """unhealthy while a run's stream is neither connected nor about to be."""
    circuitBreaker: Literal["CLOSED", "OPEN", "HALF_OPEN"]
    """State of the breaker in front of the runtime."""


class NotReady(_NotReadyRequired, total=False):
    """Answered to a strict probe."""

    loops: LoopHealth
    recovery: str
    """Progress of the adoption of unfinished runs, while it goes on."""
    ingest: IngestHealth
    archive: ArchiveHealth
    stopping: bool
    """true once the service has begun to stop."""


class _OtherPolicyRequired(TypedDict):
    rules: Dict[str, Any]
    """The rules, as for a registration."""


class OtherPolicy(_OtherPolicyRequired, total=False):
    """A policy that need not be registered."""

    mode: str
    """Session mode that it is for; * for every mode."""
    schemaVersion: Literal[1, 2, 3]
    """Version of the form of the rules."""


class _OtherScenariosRequired(TypedDict):
    count: int
    """Scenarios."""
    runs: int
    """Runs created in the window."""
    activeRuns: int
    """Of these, not ended."""
    completedRuns: int
    """Of these, completed."""
    failedRuns: int
    """Of these, failed."""
    declinedRuns: int
    """Of these, completed with a negative decision."""
    tokens: float
    """Tokens of their LLM calls."""
    costUsd: float
    """Estimated cost of these, US dollars."""
    avgDurationMs: Union[int, None]
    """Mean duration of completed runs, milliseconds; null when there is none."""


class OtherScenarios(_OtherScenariosRequired, total=False):
    """What the runs of all other scenarios came to."""

    guessedCostUsd: float
    """Part of the cost whose model has no known price; absent when there is none."""


class _OutboundMessageRequired(TypedDict):
    id: str
    """Id of the record: UUID."""
    runId: RunId
    runtimeSessionId: str
    """Session it was sent into."""
    messageId: str
    """Id that the sender gave it; one record for each."""
    messageType: str
    """Type of the message."""
    category: Literal["kickoff", "signal", "context_update", "message"]
    """Group of the type; kickoff is the message that opens the session."""
    sender: str
    """Who sent it."""
    recipients: List[str]
    """Its recipients; empty for all participants."""
    status: Literal["queued", "accepted", "rejected"]
    """Whether the runtime accepted it."""
    payloadDescriptor: Dict[str, Any]
    """What its payload is, such as its type and size."""
    createdAt: str
    """When it was captured."""
    updatedAt: str
    """When the record last changed."""


class OutboundMessage(_OutboundMessageRequired, total=False):
    """A message captured from the runtime stream."""

    ack: Dict[str, Any]
    """The runtime's acknowledgement, when one was seen."""
    errorMessage: str
    """Why it was rejected."""
    acceptedAt: str
    """When the runtime accepted it."""


class OutcomeForecastNeedsItem(TypedDict):
    steps: List[ForecastStep]
    """All of them are needed, in this order."""
    text: str
    """The same in words."""


class _OutcomeForecastRequired(TypedDict):
    outcome: Literal["positive", "negative"]
    """The outcome of a commitment."""
    status: Literal["met", "certain", "possible", "impossible"]
    """met: a commitment would be accepted now; certain: it will be, whatever those outstanding say."""
    settled: bool
    """Whether nothing that can still be said changes this."""
    blockers: List[RuleRefusal]
    """Rules that are not met yet."""
    needs: List[OutcomeForecastNeedsItem]
    """The smallest sets of acts after which the outcome is allowed."""


class OutcomeForecast(_OutcomeForecastRequired, total=False):
    """What can still become of one outcome."""

    proposalId: str
    """The proposal, where the rules distinguish proposals."""


class _ParticipantStateRequired(TypedDict):
    participantId: str
    """Id of the participant."""
    status: Literal["idle", "active", "waiting", "completed", "failed", "skipped"]
    """skipped: declared, but sent nothing until the run ended."""


class ParticipantState(_ParticipantStateRequired, total=False):
    """A participant, declared or seen."""

    role: str
    """Role in the session, when the runtime reports it."""
    latestActivityAt: str
    """When it last sent something."""
    latestSummary: str
    """Type of its last message."""


class _PayloadTooLargeRequired(TypedDict):
    statusCode: Literal[413]
    """The HTTP status."""
    errorCode: Literal["PAYLOAD_TOO_LARGE"]
    """What went wrong, for programs."""
    message: str
    """What went wrong, for people."""


class PayloadTooLarge(_PayloadTooLargeRequired, total=False):
    """An error answered with 413."""

    metadata: Dict[str, Any]
    """More about it; of a failed runtime call {grpcCode}"""
    error: str
    """The reason phrase of the status, where the form of older servers has it."""


class PendingFiles(TypedDict):
    """Files of the archive that still have the text."""

    since: str
    """When the erasure was requested."""
    until: str
    """What ends it."""


class _PolicyDenialEntryRequired(TypedDict):
    message: str
    """What the runtime says."""
    denials: List[DenialReason]
    """Its reasons with their codes; empty for a runtime that sends words only."""
    ts: str
    """When it was reported."""


class PolicyDenialEntry(_PolicyDenialEntryRequired, total=False):
    """A message that the policy refused."""

    participantId: str
    """Sender of the refused message; absent when unknown."""
    messageId: str
    """The refused message; absent when unknown."""
    commitmentId: str
    """Commitment in it."""
    denialsOmitted: int
    """How many more there are; absent for none."""


class _PolicyDescriptorRequired(TypedDict):
    policyId: str
    """Id of the policy."""
    mode: str
    """Session mode it applies to; * for every mode."""
    description: str
    """What it is for; may be empty."""
    rules: Dict[str, Any]
    """The rules; their keys depend on the mode."""
    schemaVersion: int
    """Version of the form of the rules: 1, 2 or 3."""


class PolicyDescriptor(_PolicyDescriptorRequired, total=False):
    """A governance policy of the runtime's registry."""

    registeredAtUnixMs: int
    """When it was registered, milliseconds since 1970."""


class _PolicyRegisteredRequired(TypedDict):
    ok: bool
    """Whether the runtime took the policy."""


class PolicyRegistered(_PolicyRegisteredRequired, total=False):
    """Whether the runtime took the policy, and why not."""

    error: str
    """Why it did not, in the runtime's words."""


class _PolicyRegistrationRequired(TypedDict):
    policyId: str
    """Id of the policy; policy.default is reserved."""
    rules: Dict[str, Any]
    """The rules, passed on to the runtime unchanged. Each mode has a closed set of keys; keys that begin with _ or $ are notes."""


class PolicyRegistration(_PolicyRegistrationRequired, total=False):
    """A policy; unknown keys are dropped."""

    mode: str
    """Session mode it applies to; * for every mode."""
    description: str
    """What it is for."""
    schemaVersion: Literal[1, 2, 3]
    """Version of the form of the rules; 3 refuses a decision on an empty tally, 1 and 2 let it pass."""


class PolicyUnregistered(TypedDict):
    """The policy is gone."""

    ok: bool
    """Always true: failures are errors."""


class ProcessInfoSettingsItem(TypedDict):
    name: str
    """Name of the setting."""
    value: str
    """Its value; masked for a secret."""
    isDefault: bool
    """Whether it is not set."""
    isSecret: bool
    """Whether its value is masked."""
    meaning: str
    """What it does."""


class ProcessInfo(TypedDict):
    """One process of the service: the one that answers."""

    version: str
    """Version of the service."""
    startedAt: str
    """When the process began to serve."""
    observedRuns: int
    """Runs that this process observes now."""
    settings: List[ProcessInfoSettingsItem]
    """Every setting of the service, in the order of docs/reference/settings.md."""


class ProcessReport(TypedDict):
    """One process of the service and what it observes."""

    name: str
    """Host and process id."""
    isThis: bool
    """Whether it is the one that answers."""
    version: str
    """Version of the service."""
    startedAt: str
    """When the process began to serve."""
    seenAt: str
    """When it said this; every process does so every 5 s."""
    shards: int
    """Shards of runs that are its own to observe."""
    observedRuns: int
    """Runs that it observes."""
    oldestAppendMs: int
    """Age of the oldest write to the log that waits, milliseconds; 0 when none does."""
    reconnects: int
    """Repeated subscriptions to session streams since its start."""


class ProcessReports(TypedDict):
    """The processes of the service on one database."""

    data: List[ProcessReport]
    """Those that are there, the oldest first."""


class _ProgressEntryRequired(TypedDict):
    participantId: str
    """Who reported."""
    message: str
    """What was reported; may be empty."""
    ts: str
    """When it was received."""


class ProgressEntry(_ProgressEntryRequired, total=False):
    """A report of progress."""

    percentage: float
    """0 to 100."""


class _RawEventRequired(TypedDict):
    id: str
    """Id of the raw event: UUID."""
    runId: RunId
    seq: int
    """Position among the raw events of the run: 1, 2, 3, ... without gaps."""
    ts: str
    """When it was received."""
    kind: str
    """Kind of the frame."""
    sourceName: str
    """Where it came from."""
    payload: Dict[str, Any]
    """The frame; the payload of an envelope is base64 text in envelope.payloadBase64."""
    createdAt: str
    """When it was stored."""


class RawEvent(_RawEventRequired, total=False):
    """A frame as it came from the runtime."""

    traceId: str
    """W3C trace id: 32 hex digits."""
    spanId: str
    """Span id: 16 hex digits."""


class _ReadinessChecksRequired(TypedDict):
    database: Literal["ok", "unhealthy"]
    """Whether the database answers."""
    log: LogHealth
    runtime: RuntimeHealth
    streamConsumer: Literal["ok", "unhealthy"]
    """unhealthy while a run's stream is neither connected nor about to be."""
    circuitBreaker: Literal["CLOSED", "OPEN", "HALF_OPEN"]
    """State of the breaker in front of the runtime."""


class ReadinessChecks(_ReadinessChecksRequired, total=False):
    """The single checks."""

    loops: LoopHealth
    recovery: str
    """Progress of the adoption of unfinished runs, while it goes on."""


class _ReadinessRequired(TypedDict):
    status: Literal["ok", "degraded"]
    """degraded when a check fails."""
    checks: ReadinessChecks
    """The single checks."""
    ok: bool
    """Whether status is ok; this and the following repeat the checks for older readers."""
    database: Literal["ok", "unhealthy"]
    """Whether the database answers."""
    log: LogHealth
    runtime: RuntimeHealth
    streamConsumer: Literal["ok", "unhealthy"]
    """unhealthy while a run's stream is neither connected nor about to be."""
    circuitBreaker: Literal["CLOSED", "OPEN", "HALF_OPEN"]
    """State of the breaker in front of the runtime."""


class Readiness(_ReadinessRequired, total=False):
    """Whether everything the service depends on works."""

    loops: LoopHealth
    recovery: str
    """Progress of the adoption of unfinished runs, while it goes on."""
    ingest: IngestHealth
    archive: ArchiveHealth
    stopping: bool
    """true once the service has begun to stop."""


class Reason(TypedDict, total=False):
    """Why; the whole body may be absent."""

    reason: str
    """Passed on to the runtime or the cancel callback."""


class _RebuiltProjectionRunRequired(TypedDict):
    runId: str
    """Id of the run."""
    status: RunStatus


class RebuiltProjectionRun(_RebuiltProjectionRunRequired, total=False):
    """The run itself."""

    modeName: str
    """Session mode."""
    runtimeSessionId: str
    """Session of the run."""
    startedAt: str
    """When the service began to search for the session."""
    endedAt: str
    """When the run ended."""
    traceId: str
    """W3C trace id: 32 hex digits."""
    initiator: str
    """Who opened the session; its first proposal gives decision.current.prompt."""
    intent: str
    """What the session is for, as its opener states it."""
    contextId: str
    """Context that the session was opened in."""
    extensionKeys: List[str]
    """Names of the extensions the session was opened with."""
    maxSuspendMs: float
    """Longest suspension that the session allows, milliseconds."""
    historyGap: bool
    """True when the runtime had dropped history before it could be read."""


class RebuiltProjectionGraph(TypedDict):
    """Who talked to whom about what."""

    nodes: List[GraphNode]
    """Participants, and the steps of the session."""
    edges: List[GraphEdge]
    """The last 300 edges, oldest first."""


class RebuiltProjectionDecision(TypedDict, total=False):
    """Empty until a proposal is made."""

    current: DecisionState


class RebuiltProjectionSignals(TypedDict):
    """Ambient signals."""

    signals: List[SignalEntry]
    """The last 200 signals, oldest first."""


class RebuiltProjectionProgress(TypedDict):
    """Reports of progress."""

    entries: List[ProgressEntry]
    """The last 100 reports, oldest first."""


class RebuiltProjectionTimeline(TypedDict):
    """How far the state reaches."""

    latestSeq: int
    """seq of the last event that is folded in; 0 when there is none."""
    latestIndex: int
    """index of that event."""
    totalEvents: int
    """Events that are folded in."""
    recent: List[TimelineEntry]
    """The last 50 events, oldest first."""


class _RebuiltProjectionTraceRequired(TypedDict):
    spanCount: int
    """Events that carry a span id."""
    linkedArtifacts: List[str]
    """Ids of the run's artifacts."""


class RebuiltProjectionTrace(_RebuiltProjectionTraceRequired, total=False):
    """The distributed trace of the run."""

    traceId: str
    """Trace id of the last event that has one."""
    lastSpanId: str
    """The last of them."""


class RebuiltProjectionOutboundMessages(TypedDict):
    """Messages of the agents, counted."""

    total: int
    """Messages whose fate was seen."""
    queued: int
    """Not decided yet."""
    accepted: int
    """Accepted by the runtime."""
    rejected: int
    """Refused by the runtime."""


class _RebuiltProjectionPolicyRequired(TypedDict):
    policyVersion: str
    """Governance policy of the session; empty until it is known."""
    commitmentEvaluations: List[CommitmentEvaluation]
    """The last 50 evaluations, oldest first."""


class RebuiltProjectionPolicy(_RebuiltProjectionPolicyRequired, total=False):
    """What governs the session."""

    policyDescription: str
    """What the policy says of itself."""
    resolvedAt: str
    """When the policy was resolved, as the runtime says, else when the decision was final."""
    outcomePositive: Union[bool, None]
    """Of the final decision; null when unknown."""
    denials: List[PolicyDenialEntry]
    """The last 20 refused messages, oldest first."""
    expectedCommitments: List[ExpectedCommitment]
    """Commitments that the policy expects."""
    requiredApprovals: int
    """Approvals that the latest request of a quorum session demands."""
    voteTally: List[VoteTallyEntry]
    """Votes by proposal."""
    lastWords: List[Union[str, None]]
    """For each entry of voteTally a letter a participant, in the order of `participants`: a for it, d against it, - neither; null for more participants than the state can track."""
    voteTallyTruncated: bool
    """True when more proposals had votes than the state can hold: the latest are listed."""
    quorumStatus: Literal["pending", "reached", "failed"]
    """Whether enough votes were cast."""


class _RebuiltProjectionLlmTotalsRequired(TypedDict):
    callCount: int
    """Calls."""
    promptTokens: float
    """Input tokens of all LLM calls."""
    completionTokens: float
    """Output tokens of all LLM calls."""
    totalTokens: float
    """Tokens of all LLM calls."""
    estimatedCostUsd: float
    """US dollars: as the agents stated, else by the rate of the model."""


class RebuiltProjectionLlmTotals(_RebuiltProjectionLlmTotalsRequired, total=False):
    """Over the whole run, also of calls that are no longer listed."""

    cachedTokens: float
    """Part of promptTokens that was read from a cache; absent when there is none."""
    cacheWriteTokens: float
    """Part of promptTokens that was written to a cache; absent when there is none."""
    reasoningTokens: float
    """Part of completionTokens that was spent on reasoning; absent when there is none."""
    guessedCostUsd: float
    """Part of the cost whose model has no known price; absent when there is none."""
    uncountedCostUsd: float
    """US dollars that spans stated beyond the bound of a call; in no cost, and absent when there are none."""
    callsWithoutUsage: int
    """LLM calls of which the agents stated no count; absent when there are none. The sums lack them."""


class RebuiltProjectionLlm(TypedDict):
    """Calls of language models."""

    calls: List[LlmCall]
    """The last 100 calls, oldest first."""
    totals: RebuiltProjectionLlmTotals
    """Over the whole run, also of calls that are no longer listed."""


class RebuiltProjection(TypedDict):
    """The state of a run, folded again from all its events."""

    rebuilt: bool
    """Always true: failures are errors."""
    latestSeq: int
    """seq of the last event that was folded."""
    run: RebuiltProjectionRun
    """The run itself."""
    participants: List[ParticipantState]
    """Participants in order of first sight, at most 2000."""
    graph: RebuiltProjectionGraph
    """Who talked to whom about what."""
    decision: RebuiltProjectionDecision
    """Empty until a proposal is made."""
    signals: RebuiltProjectionSignals
    """Ambient signals."""
    progress: RebuiltProjectionProgress
    """Reports of progress."""
    timeline: RebuiltProjectionTimeline
    """How far the state reaches."""
    trace: RebuiltProjectionTrace
    """The distributed trace of the run."""
    outboundMessages: RebuiltProjectionOutboundMessages
    """Messages of the agents, counted."""
    policy: RebuiltProjectionPolicy
    """What governs the session."""
    llm: RebuiltProjectionLlm
    """Calls of language models."""


class _ReceiptReportRequired(TypedDict):
    verified: bool
    """Whether the receipt is intact, says what the log says, and its signature, if any, is valid."""
    signed: bool
    """Whether the receipt has a signature."""


class ReceiptReport(_ReceiptReportRequired, total=False):
    """The runtime's receipt of the decision, checked."""

    issuer: str
    """The issuer that the receipt names."""
    hash: str
    """The commitment hash in the receipt."""
    issuedAt: str
    """When the runtime issued it."""
    keyId: str
    """The key whose signature is valid."""
    disagreements: List[str]
    """Members in which the receipt and the log differ."""
    reason: str
    """Why it is not verified."""


class RecentRunSource(TypedDict, total=False):
    """Where the run came from."""

    kind: str
    """What submitted the run."""
    ref: str
    """Same as sourceRef."""


class RecentRunMetadata(TypedDict, total=False):
    """Some keys of the run's metadata."""

    environment: str
    """metadata.environment of the run."""
    scenarioRef: str
    """metadata.scenarioRef of the run."""
    totalTokens: float
    """Tokens of the whole run, once it has ended with any."""
    estimatedCostUsd: float
    """US dollars of the whole run, once it has ended with any."""
    guessedCostUsd: float
    """Part of the cost whose model has no known price; absent when there is none."""
    finalAction: str
    """Action of the decision that the run ended with."""


class _RecentRunRequired(TypedDict):
    id: RunId
    status: RunStatus
    runtimeKind: str
    """Kind of the runtime."""
    metadata: RecentRunMetadata
    """Some keys of the run's metadata."""
    createdAt: str
    """When the run was created."""


class RecentRun(_RecentRunRequired, total=False):
    """A run in short."""

    sourceRef: str
    """What the run was made from."""
    source: RecentRunSource
    """Where the run came from."""
    usage: RunUsage
    startedAt: str
    """When the service began to look for the session."""
    endedAt: str
    """When the run ended."""


class _RecordedCallsGroupsItemRequired(TypedDict):
    at: str
    """When the calls were made: the start of the minute."""
    promptTokens: float
    """Input tokens of each call."""
    totalTokens: float
    """All tokens of each call."""
    calls: int
    """Calls in the group."""


class RecordedCallsGroupsItem(_RecordedCallsGroupsItemRequired, total=False):
    model: str
    """The model as the agents stated it; absent when they stated none."""
    provider: str
    """The provider as the agents stated it."""
    cachedTokens: float
    """Part of the input of each call that was read from a cache."""
    cacheWriteTokens: float
    """Part of the input of each call that was written to a cache."""
    reasoningTokens: float
    """Part of the output of each call."""
    batch: bool
    """Whether the provider ran the calls as part of a batch."""
    estimatedCostUsd: float
    """US dollars of each call as recorded; absent for calls without token counts."""
    costBasis: str
    """Where that cost comes from."""


class _RecordedCallsRequired(TypedDict):
    since: str
    """The calls since this time are listed."""
    calls: int
    """Events of calls in this page."""
    groups: List[RecordedCallsGroupsItem]
    """Calls of this page; those of one minute with equal values are one group."""


class RecordedCalls(_RecordedCallsRequired, total=False):
    """Recorded calls of language models, the newest first."""

    next: int
    """Given as before, reads the page of the calls before these; absent at the end."""


class _RemainingTextRequired(TypedDict):
    of: str
    """The event, the frame or the kind of row that has the text."""
    why: str
    """Why it stays."""


class RemainingText(_RemainingTextRequired, total=False):
    """A position that has the text and keeps it."""

    id: str
    """Its id, where it has one."""
    index: int
    """Position of the event or raw frame in the run."""
    pointer: str
    """JSON pointer of the member."""


class _ReplayDescriptorRequired(TypedDict):
    runId: RunId
    mode: ReplayMode
    speed: float
    """What the pauses of a timed replay are divided by."""
    streamUrl: str
    """Where to read the events, relative to the service."""
    stateUrl: str
    """Where to read the state at a seq, relative to the service."""


class ReplayDescriptor(_ReplayDescriptorRequired, total=False):
    """A replay and where to read it."""

    fromSeq: int
    """First seq, inclusive; the run's first when absent."""
    toSeq: int
    """Last seq, inclusive; the run's last when absent."""

ReplayMode = Literal["instant", "timed", "step"]


class ReplayRequest(TypedDict, total=False):
    """How to replay, and from where to where; the whole body may be absent."""

    mode: Literal["instant", "timed", "step"]
    """timed keeps the pauses between events, divided by speed; instant and step send without pauses."""
    speed: float
    """What the pauses of a timed replay are divided by."""
    fromSeq: int
    """First seq, inclusive; the run's first unless said."""
    toSeq: int
    """Last seq, inclusive; the run's last unless said."""


class Requester(TypedDict, total=False):
    """On whose behalf a run is created."""

    actorId: str
    """Id of the requester, in the caller's own terms."""
    actorType: Literal["user", "service", "system"]
    """What the requester is."""


class Reset(TypedDict):
    """The stream of a run begins again."""

    ts: str
    """Time of the reset."""
    seq: int
    """seq of the run's last event."""
    index: int
    """index of that event."""
    afterSeq: int
    """The cursor, which is beyond the end of the log."""


class _RuleRefusalRequired(TypedDict):
    rule: str
    """Key of the rule; mode.* for a requirement of the mode itself."""
    have: Union[float, str]
    """The current value."""
    need: Union[float, str]
    """The required value."""
    text: str
    """All of it in words."""


class RuleRefusal(_RuleRefusalRequired, total=False):
    """A rule that stands against an outcome."""

    code: str
    """Code of the denial that the runtime would send; absent for a rule of the mode."""


class RunSource(TypedDict, total=False):
    """sourceKind and sourceRef in one."""

    kind: str
    """Same as sourceKind."""
    ref: str
    """Same as sourceRef."""


class _RunRequired(TypedDict):
    id: RunId
    runId: RunId
    status: RunStatus
    mode: RunMode
    runtimeKind: str
    """Kind of the runtime that hosts the session."""
    runtimeSessionId: str
    """Session of the run: the given id, else an allocated one."""
    traceId: str
    """W3C trace id: 32 hex digits."""
    lastEventSeq: int
    """seq of the run's last canonical event."""
    lastEventIndex: int
    """Index of that event: the number of the run's canonical events."""
    tags: List[str]
    """Tags of the descriptor; sandbox and archived are added by the service."""
    metadata: Dict[str, Any]
    """executionRequest (the submitted descriptor), the session metadata, and what is known after the end."""
    createdAt: str
    """When the run was created."""
    updatedAt: str
    """When the record last changed."""
    archivedAt: Union[str, None]
    """When the run was archived; null when it is not."""


class Run(_RunRequired, total=False):
    """A run of a multi-agent session."""

    modeName: str
    """Mode of the session."""
    policyVersion: str
    """Policy of the session, where the descriptor names one."""
    runtimeVersion: str
    """Version of the runtime, as the descriptor requests it."""
    idempotencyKey: str
    """The key the run was created under."""
    sourceKind: str
    """What submitted the run: session.metadata.source."""
    sourceRef: str
    """What it was made from: session.metadata.sourceRef."""
    source: RunSource
    """sourceKind and sourceRef in one."""
    metadataOmitted: List[str]
    """In lists: keys of metadata that are left out because their values are large."""
    errorCode: str
    """Of a failed run: why, as a code."""
    errorMessage: str
    """Of a failed run: why, in words."""
    historyGap: bool
    """Present when envelopes are known to be missing from the run's log. A runtime may drop the history of a session when it ends; the reference runtime keeps it with `MACP_COMPACT_TERMINAL_LOGS=0`."""
    participantCount: int
    """In lists that include participants: how many have said or signalled something, or were seen."""
    intent: str
    """In lists: what the session is for, as its opener states it."""
    usage: RunUsage
    decision: ListedDecision
    startedAt: str
    """When the service began to look for the session."""
    endedAt: str
    """When the run reached a final status."""
    storage: Literal["archive"]
    """Present when the run has left the database and is read from the files of the archive: it is read-only."""


class RunAccepted(TypedDict):
    """A created run; for a known idempotency key the original run with its current status."""

    runId: RunId
    sessionId: str
    """Session for the agents to join; the initiator opens it on the runtime."""
    status: RunStatus
    traceId: str
    """W3C trace id of the run: 32 hex digits."""


class RunBatch(TypedDict):
    """The runs; unknown keys are dropped."""

    runIds: List[str]
    """Ids of the runs; the answer has the same order."""


class _RunBundleRequired(TypedDict):
    run: ExportedRun
    session: Union[ExportedSession, None]
    """Null while no session is bound."""
    projection: Union[RunState, None]
    """The projected state."""
    metrics: Union[RunMetrics, None]
    """The counters."""
    artifacts: List[Artifact]
    """All artifacts, oldest first."""
    canonicalEvents: List[CanonicalEvent]
    """The first eventLimit events, by seq."""
    rawEvents: List[RawEvent]
    """The first eventLimit frames; empty unless requested."""
    exportedAt: str
    """When the export was made."""


class RunBundle(_RunBundleRequired, total=False):
    """A run with everything that belongs to it."""

    marks: MarkAppendix
    seal: Union[Seal, None]
    """The seal over all events; null while the run has not ended."""
    heads: List[str]
    """Head of the hash chain after each event of canonicalEvents, hexadecimal."""
    salts: ExportSalts
    erasures: ErasureAppendix
    digest: ExportDigest


class RunComparisonParticipantsDiff(TypedDict):
    """Participants by id."""

    added: List[str]
    """Only in the right run."""
    removed: List[str]
    """Only in the left run."""
    common: List[str]
    """In both."""


class RunComparisonSignalsDiff(TypedDict):
    """Signals by name."""

    added: List[str]
    """Only in the right run."""
    removed: List[str]
    """Only in the left run."""


class _RunComparisonRequired(TypedDict):
    left: ComparedRun
    right: ComparedRun
    statusMatch: bool
    """Whether both have the same status."""
    participantsDiff: RunComparisonParticipantsDiff
    """Participants by id."""
    signalsDiff: RunComparisonSignalsDiff
    """Signals by name."""
    divergence: Union[RunDivergence, None]
    """The first difference; null when both say the same."""


class RunComparison(_RunComparisonRequired, total=False):
    """Two runs side by side."""

    durationDeltaMs: float
    """Duration of the right run minus that of the left, milliseconds."""
    confidenceDelta: float
    """Confidence of the right decision minus that of the left."""


class _RunDescriptorRuntimeRequired(TypedDict):
    kind: str
    """Registered kind of runtime."""


class RunDescriptorRuntime(_RunDescriptorRuntimeRequired, total=False):
    """The runtime that hosts the session."""

    version: str
    """Version of the runtime, kept with the run."""


class RunDescriptorExecution(TypedDict, total=False):
    """How the run is created, apart from its session."""

    idempotencyKey: str
    """A second request with the same key answers with the first run, as it is by then; nothing is started."""
    tags: List[str]
    """Tags of the run."""
    requester: Requester


class _RunDescriptorRequired(TypedDict):
    mode: RunMode
    runtime: RunDescriptorRuntime
    """The runtime that hosts the session."""
    session: SessionDescriptor


class RunDescriptor(_RunDescriptorRequired, total=False):
    """What to run and on which runtime, in terms that no scenario knows; unknown keys are refused at every level."""

    telemetry: RunTelemetry
    execution: RunDescriptorExecution
    """How the run is created, apart from its session."""


class RunDivergenceLeft(TypedDict):
    """Where in the left run."""

    seq: int
    """seq of the event; 0 for the beginning."""
    index: int
    """Its index in the run."""


class RunDivergenceRight(TypedDict):
    """Where in the right run."""

    seq: int
    """seq of the event; 0 for the beginning."""
    index: int
    """Its index in the run."""


class _RunDivergenceConsequenceRequired(TypedDict):
    outcomeLeft: Literal["positive", "negative", "unstated", "failed", "cancelled", "none"]
    """How the left run ended."""
    outcomeRight: Literal["positive", "negative", "unstated", "failed", "cancelled", "none"]
    """How the right run ended."""
    eventsAfterLeft: int
    """Events of the left run after it."""
    eventsAfterRight: int
    """Events of the right run after it."""
    costDeltaUsd: float
    """US dollars that the right run spent after it, less those of the left."""


class RunDivergenceConsequence(_RunDivergenceConsequenceRequired, total=False):
    """What followed."""

    guessedCostUsd: float
    """US dollars of what both runs spent after it that are a guess; absent when there are none."""


class RunDivergence(TypedDict):
    """The first difference between two runs."""

    left: RunDivergenceLeft
    """Where in the left run."""
    right: RunDivergenceRight
    """Where in the right run."""
    kind: Literal["different", "only-left", "only-right"]
    """Who has it."""
    participantId: str
    """Whose step it is; empty for none."""
    what: str
    """The difference in one sentence."""
    details: List[str]
    """Members that differ; empty when the whole step does."""
    leftText: Union[str, None]
    """The step of the left run in words."""
    rightText: Union[str, None]
    """The step of the right run in words."""
    consequence: RunDivergenceConsequence
    """What followed."""


class RunFacetsFacetsItemValuesItem(TypedDict):
    value: str
    """The value."""
    count: int
    """Matching runs that have it."""


class RunFacetsFacetsItem(TypedDict):
    field: Literal["status", "scenario", "sourceRef", "environment", "policyVersion", "errorCode", "tags"]
    """The field, as a search names it."""
    values: List[RunFacetsFacetsItemValuesItem]
    """The most frequent values first, at most 20."""


class RunFacets(TypedDict):
    """How often runs have each value of some fields."""

    total: int
    """Runs that match."""
    facets: List[RunFacetsFacetsItem]
    """The requested fields that a matching run has."""

RunId = str


class RunLeftOut(TypedDict):
    """A run that an erasure left as it is."""

    runId: RunId
    why: str
    """Why."""


class _RunMetricsRequired(TypedDict):
    runId: RunId
    eventCount: int
    """Canonical events of any type."""
    messageCount: int
    """Events whose type starts with message."""
    signalCount: int
    """Signals emitted."""
    proposalCount: int
    """Events whose type starts with proposal."""
    toolCallCount: int
    """Events whose type starts with tool."""
    decisionCount: int
    """Decisions proposed or finalized."""
    streamReconnectCount: int
    """Times the stream of the session was opened again."""
    promptTokens: float
    """Input tokens of all LLM calls."""
    completionTokens: float
    """Output tokens of all LLM calls."""
    totalTokens: float
    """Tokens of all LLM calls."""
    estimatedCostUsd: float
    """US dollars: as the agents stated, else by the rate of the model."""


class RunMetrics(_RunMetricsRequired, total=False):
    """Counters of one run; 0 where nothing was recorded."""

    cachedTokens: float
    """Part of promptTokens that was read from a cache; absent when there is none."""
    cacheWriteTokens: float
    """Part of promptTokens that was written to a cache; absent when there is none."""
    reasoningTokens: float
    """Part of completionTokens that was spent on reasoning; absent when there is none."""
    guessedCostUsd: float
    """Part of the cost whose model has no known price; absent when there is none."""
    uncountedCostUsd: float
    """US dollars that spans stated beyond the bound of a call; in no cost, and absent when there are none."""
    callsWithoutUsage: int
    """LLM calls of which the agents stated no count; absent when there are none. The sums lack them."""
    firstEventAt: str
    """Time of the first event."""
    lastEventAt: str
    """Time of the last event until the end of the run."""
    durationMs: int
    """Milliseconds from the first event to the last; from OpenTelemetry, from start to end by the spans."""
    firstSpanAt: str
    """Start of the first span of a run from OpenTelemetry."""
    lastSpanAt: str
    """End of the last span of a run from OpenTelemetry until its end."""
    endedAt: str
    """When the run ended."""
    sessionState: str
    """Last state of the session that was seen."""

RunMode = Literal["live", "sandbox"]


class _RunPageRequired(TypedDict):
    data: List[Run]
    """The runs of this page."""
    total: int
    """All matches of the same conditions, this page's included."""
    limit: int
    """Most runs of a page, as requested."""
    offset: int
    """Matches before this page, as requested."""


class RunPage(_RunPageRequired, total=False):
    """One page of runs."""

    nextCursor: str
    """Only on a full page: to be given as cursor for the next one."""


class RunSalts(TypedDict):
    """What proves the events of a run, beside their seal."""

    data: List[EventSalts]
    """By seq; none for a run of version 1 of the chain."""
    erasures: Union[ErasureAppendix, None]
    """The erasures of the run; null where nothing was erased."""


class RunSealPrevious1(TypedDict):
    events: int
    """Number of events sealed."""
    head: str
    """Head of the run's hash chain after its last event, hexadecimal."""


class _RunSealRequired(TypedDict):
    runId: str
    """The sealed run."""
    algorithm: Literal["sha256-ed25519", "sha256"]
    """How the head was made and signed."""
    events: int
    """Number of events sealed."""
    head: str
    """Head of the run's hash chain after its last event, hexadecimal."""
    sealedAt: str
    """When the seal was made."""
    previous: Union[RunSealPrevious1, None]
    """The seal that this one continues, made before later events came; null for the first."""
    keyId: Union[str, None]
    """The key that signed; null when nothing is signed."""
    signature: Union[str, None]
    """Ed25519 over the canonical JSON of the other members, hexadecimal; null when nothing is signed."""
    earlier: List[Seal]
    """Seals that later events have replaced, the newest first, at most 100; not signed."""


class RunSeal(_RunSealRequired, total=False):
    """The seal over all events of a run that has ended."""

    late: bool
    """Whether the seal was made after the transaction that ended the run, from what was stored then; absent in seals of releases that did not check the head of the run."""
    provenAfter: Union[int, None]
    """The key vouches for the events behind this position: 0 for all, the number of events for none; null when nothing is signed; absent in seals of releases that did not check the head of the run."""
    frames: Union[SealedFrames, None]
    """The raw frames that are sealed; null when none are proven; absent in seals of earlier releases."""
    chain: Literal[2]
    """Version of the chains of events and raw frames; absent in seals of version 1, in which no text can be erased."""


class RunSpans(TypedDict):
    """One page of the spans of a run."""

    data: List[TraceSpan]
    """The spans of this page, in the order of their decision."""
    nextCursor: int
    """To be given as after for the next page, also for spans that arrive later."""
    hasMore: bool
    """Whether more spans are stored."""


class _RunStateRunRequired(TypedDict):
    runId: str
    """Id of the run."""
    status: RunStatus


class RunStateRun(_RunStateRunRequired, total=False):
    """The run itself."""

    modeName: str
    """Session mode."""
    runtimeSessionId: str
    """Session of the run."""
    startedAt: str
    """When the service began to search for the session."""
    endedAt: str
    """When the run ended."""
    traceId: str
    """W3C trace id: 32 hex digits."""
    initiator: str
    """Who opened the session; its first proposal gives decision.current.prompt."""
    intent: str
    """What the session is for, as its opener states it."""
    contextId: str
    """Context that the session was opened in."""
    extensionKeys: List[str]
    """Names of the extensions the session was opened with."""
    maxSuspendMs: float
    """Longest suspension that the session allows, milliseconds."""
    historyGap: bool
    """True when the runtime had dropped history before it could be read."""


class RunStateGraph(TypedDict):
    """Who talked to whom about what."""

    nodes: List[GraphNode]
    """Participants, and the steps of the session."""
    edges: List[GraphEdge]
    """The last 300 edges, oldest first."""


class RunStateDecision(TypedDict, total=False):
    """Empty until a proposal is made."""

    current: DecisionState


class RunStateSignals(TypedDict):
    """Ambient signals."""

    signals: List[SignalEntry]
    """The last 200 signals, oldest first."""


class RunStateProgress(TypedDict):
    """Reports of progress."""

    entries: List[ProgressEntry]
    """The last 100 reports, oldest first."""


class RunStateTimeline(TypedDict):
    """How far the state reaches."""

    latestSeq: int
    """seq of the last event that is folded in; 0 when there is none."""
    latestIndex: int
    """index of that event."""
    totalEvents: int
    """Events that are folded in."""
    recent: List[TimelineEntry]
    """The last 50 events, oldest first."""


class _RunStateTraceRequired(TypedDict):
    spanCount: int
    """Events that carry a span id."""
    linkedArtifacts: List[str]
    """Ids of the run's artifacts."""


class RunStateTrace(_RunStateTraceRequired, total=False):
    """The distributed trace of the run."""

    traceId: str
    """Trace id of the last event that has one."""
    lastSpanId: str
    """The last of them."""


class RunStateOutboundMessages(TypedDict):
    """Messages of the agents, counted."""

    total: int
    """Messages whose fate was seen."""
    queued: int
    """Not decided yet."""
    accepted: int
    """Accepted by the runtime."""
    rejected: int
    """Refused by the runtime."""


class _RunStatePolicyRequired(TypedDict):
    policyVersion: str
    """Governance policy of the session; empty until it is known."""
    commitmentEvaluations: List[CommitmentEvaluation]
    """The last 50 evaluations, oldest first."""


class RunStatePolicy(_RunStatePolicyRequired, total=False):
    """What governs the session."""

    policyDescription: str
    """What the policy says of itself."""
    resolvedAt: str
    """When the policy was resolved, as the runtime says, else when the decision was final."""
    outcomePositive: Union[bool, None]
    """Of the final decision; null when unknown."""
    denials: List[PolicyDenialEntry]
    """The last 20 refused messages, oldest first."""
    expectedCommitments: List[ExpectedCommitment]
    """Commitments that the policy expects."""
    requiredApprovals: int
    """Approvals that the latest request of a quorum session demands."""
    voteTally: List[VoteTallyEntry]
    """Votes by proposal."""
    lastWords: List[Union[str, None]]
    """For each entry of voteTally a letter a participant, in the order of `participants`: a for it, d against it, - neither; null for more participants than the state can track."""
    voteTallyTruncated: bool
    """True when more proposals had votes than the state can hold: the latest are listed."""
    quorumStatus: Literal["pending", "reached", "failed"]
    """Whether enough votes were cast."""


class _RunStateLlmTotalsRequired(TypedDict):
    callCount: int
    """Calls."""
    promptTokens: float
    """Input tokens of all LLM calls."""
    completionTokens: float
    """Output tokens of all LLM calls."""
    totalTokens: float
    """Tokens of all LLM calls."""
    estimatedCostUsd: float
    """US dollars: as the agents stated, else by the rate of the model."""


class RunStateLlmTotals(_RunStateLlmTotalsRequired, total=False):
    """Over the whole run, also of calls that are no longer listed."""

    cachedTokens: float
    """Part of promptTokens that was read from a cache; absent when there is none."""
    cacheWriteTokens: float
    """Part of promptTokens that was written to a cache; absent when there is none."""
    reasoningTokens: float
    """Part of completionTokens that was spent on reasoning; absent when there is none."""
    guessedCostUsd: float
    """Part of the cost whose model has no known price; absent when there is none."""
    uncountedCostUsd: float
    """US dollars that spans stated beyond the bound of a call; in no cost, and absent when there are none."""
    callsWithoutUsage: int
    """LLM calls of which the agents stated no count; absent when there are none. The sums lack them."""


class RunStateLlm(TypedDict):
    """Calls of language models."""

    calls: List[LlmCall]
    """The last 100 calls, oldest first."""
    totals: RunStateLlmTotals
    """Over the whole run, also of calls that are no longer listed."""


class RunState(TypedDict):
    """A run as a fold of its events. All sections are always there."""

    run: RunStateRun
    """The run itself."""
    participants: List[ParticipantState]
    """Participants in order of first sight, at most 2000."""
    graph: RunStateGraph
    """Who talked to whom about what."""
    decision: RunStateDecision
    """Empty until a proposal is made."""
    signals: RunStateSignals
    """Ambient signals."""
    progress: RunStateProgress
    """Reports of progress."""
    timeline: RunStateTimeline
    """How far the state reaches."""
    trace: RunStateTrace
    """The distributed trace of the run."""
    outboundMessages: RunStateOutboundMessages
    """Messages of the agents, counted."""
    policy: RunStatePolicy
    """What governs the session."""
    llm: RunStateLlm
    """Calls of language models."""

RunStatus = Literal["queued", "starting", "binding_session", "running", "suspended", "completed", "failed", "cancelled"]


class RunTelemetry(TypedDict):
    """Which OpenTelemetry may join the run."""

    sources: List[str]
    """Sources whose spans with the session's id join the run."""


class _RunTracesRequired(TypedDict):
    spanCount: int
    """Events of the run that carry a span id."""
    linkedArtifacts: List[str]
    """Ids of the run's artifacts."""
    runStatus: RunStatus


class RunTraces(_RunTracesRequired, total=False):
    """The trace of a run, and what it is linked to."""

    traceId: str
    """W3C trace id: 32 hex digits."""
    lastSpanId: str
    """The last of them: 16 hex digits."""
    scenarioRef: str
    """Scenario that the run was made from; absent when there was none."""


class _RunUsageRequired(TypedDict):
    totalTokens: float
    """Tokens of all LLM calls so far."""
    estimatedCostUsd: float
    """US dollars of these."""


class RunUsage(_RunUsageRequired, total=False):
    """In lists: what the calls of language models cost so far."""

    guessedCostUsd: float
    """Part of the cost whose model has no known price; absent when there is none."""
    uncountedCostUsd: float
    """US dollars that spans stated beyond the bound of a call; in no cost, and absent when there are none."""
    callsWithoutUsage: int
    """LLM calls of which the agents stated no count; absent when there are none. The sums lack them."""


class _RunValidationRuntimeRequired(TypedDict):
    reachable: bool
    """Whether the runtime answered."""
    supportedModes: List[str]
    """Modes it supports; empty when it did not answer."""


class RunValidationRuntime(_RunValidationRuntimeRequired, total=False):
    """What the runtime says."""

    capabilities: Dict[str, Any]
    """What else it can do, as it says itself."""


class RunValidation(TypedDict):
    """Whether a descriptor would be accepted, and what the runtime says about it."""

    valid: bool
    """Whether a run of this descriptor could start."""
    errors: List[str]
    """Why it could not."""
    warnings: List[str]
    """What could not be checked, such as a runtime that does not answer."""
    runtime: RunValidationRuntime
    """What the runtime says."""


class _RuntimeHealthRequired(TypedDict):
    ok: bool
    """Whether the runtime answers."""
    runtimeKind: str
    """Kind of the runtime."""


class RuntimeHealth(_RuntimeHealthRequired, total=False):
    """State of the runtime."""

    detail: str
    """Where it is, or why it does not answer."""


class _RuntimeManifestRequired(TypedDict):
    agentId: str
    """Id of the runtime."""
    supportedModes: List[str]
    """Modes that sessions can have."""
    metadata: Dict[str, str]
    """Other metadata, texts by name."""


class RuntimeManifest(_RuntimeManifestRequired, total=False):
    """The runtime's identity and supported modes."""

    title: str
    """Its name."""
    description: str
    """What it says of itself."""


class _RuntimeModeRequired(TypedDict):
    mode: str
    """Name of the mode."""
    modeVersion: str
    """Its version."""
    messageTypes: List[str]
    """Types of messages it knows."""
    terminalMessageTypes: List[str]
    """Those that end a session."""
    schemaUris: Dict[str, str]
    """Where schemas are, by name."""


class RuntimeMode(_RuntimeModeRequired, total=False):
    """A session mode that the runtime has registered."""

    title: str
    """Name for readers."""
    description: str
    """What it is for."""
    determinismClass: str
    """How far a replay of its messages gives the same result."""
    participantModel: str
    """How participants stand to each other."""


class _RuntimeRootRequired(TypedDict):
    uri: str
    """Where the root is."""


class RuntimeRoot(_RuntimeRootRequired, total=False):
    """A root that the runtime offers."""

    name: str
    """Its name."""


class _RuntimeStateRequired(TypedDict):
    ok: bool
    """Whether the runtime answers."""
    runtimeKind: str
    """Kind of the runtime."""
    detail: str
    """Where it is, or why it does not answer."""


class RuntimeState(_RuntimeStateRequired, total=False):
    """Whether the runtime answers, and why not."""

    manifest: RuntimeManifest


class _ScenarioFiguresRequired(TypedDict):
    scenario: str
    """Scenario that the runs count under, else unknown."""
    runs: int
    """Runs created in the window."""
    activeRuns: int
    """Of these, not ended."""
    completedRuns: int
    """Of these, completed."""
    failedRuns: int
    """Of these, failed."""
    declinedRuns: int
    """Of these, completed with a negative decision."""
    tokens: float
    """Tokens of their LLM calls."""
    costUsd: float
    """Estimated cost of these, US dollars."""
    avgDurationMs: Union[int, None]
    """Mean duration of completed runs, milliseconds; null when there is none."""


class ScenarioFigures(_ScenarioFiguresRequired, total=False):
    """What the runs of one scenario came to."""

    guessedCostUsd: float
    """Part of the cost whose model has no known price; absent when there is none."""


class SealPrevious1(TypedDict):
    events: int
    """Number of events sealed."""
    head: str
    """Head of the run's hash chain after its last event, hexadecimal."""


class _SealRequired(TypedDict):
    runId: str
    """The sealed run."""
    algorithm: Literal["sha256-ed25519", "sha256"]
    """How the head was made and signed."""
    events: int
    """Number of events sealed."""
    head: str
    """Head of the run's hash chain after its last event, hexadecimal."""
    sealedAt: str
    """When the seal was made."""
    previous: Union[SealPrevious1, None]
    """The seal that this one continues, made before later events came; null for the first."""
    keyId: Union[str, None]
    """The key that signed; null when nothing is signed."""
    signature: Union[str, None]
    """Ed25519 over the canonical JSON of the other members, hexadecimal; null when nothing is signed."""


class Seal(_SealRequired, total=False):
    """Proof of what a run's history was when it was sealed."""

    late: bool
    """Whether the seal was made after the transaction that ended the run, from what was stored then; absent in seals of releases that did not check the head of the run."""
    provenAfter: Union[int, None]
    """The key vouches for the events behind this position: 0 for all, the number of events for none; null when nothing is signed; absent in seals of releases that did not check the head of the run."""
    frames: Union[SealedFrames, None]
    """The raw frames that are sealed; null when none are proven; absent in seals of earlier releases."""
    chain: Literal[2]
    """Version of the chains of events and raw frames; absent in seals of version 1, in which no text can be erased."""


class SealKeySet(TypedDict):
    """The public keys of seals, as a JSON Web Key Set."""

    keys: List[SealPublicKey]
    """The key of the service and those that it proves, the newest first."""


class SealKeyStatement(TypedDict):
    """What the key says of itself, with `kind` runplane-key-v1, its id and its bytes."""

    previous: Union[str, None]
    """Id of the key that this one replaced; null for the first."""
    since: str
    """Since when it seals."""
    signature: str
    """Ed25519 by this key over the canonical JSON of the statement, hexadecimal."""
    previousSignature: Union[str, None]
    """The same by the key that it replaced, hexadecimal; null for the first."""


class _SealPublicKeyRequired(TypedDict):
    kty: Literal["OKP"]
    """Always OKP."""
    crv: Literal["Ed25519"]
    """Always Ed25519."""
    alg: Literal["EdDSA"]
    """Always EdDSA."""
    use: Literal["sig"]
    """Always sig."""
    kid: str
    """Id of the key, as `keyId` of seals: its thumbprint of RFC 7638."""
    x: str
    """The 32 bytes of the key, base64url."""
    firstUsedAt: str
    """When a process first started with it."""


class SealPublicKey(_SealPublicKeyRequired, total=False):
    """A public key that has sealed."""

    statement: SealKeyStatement


class SealedFrames(TypedDict):
    """The raw frames that a seal covers."""

    after: int
    """The frames up to this number are not covered; 0 when all are covered."""
    last: int
    """Number of the last frame."""
    head: str
    """Head of the hash chain of the frames, hexadecimal."""


class _SearchFieldRequired(TypedDict):
    name: str
    """The text before the colon; of a dotted field a dot and a name follow."""
    type: Literal["text", "keyword", "number", "time", "flag", "uuid", "value"]
    """What its values are; numbers and times have an order. A `value` is a number, a flag or a text."""
    description: str
    """What it says."""
    isFast: bool
    """Whether an index finds its values; the other fields are looked for row by row."""


class SearchField(_SearchFieldRequired, total=False):
    """A field that a search may name."""

    values: List[str]
    """The only values that it has."""
    examples: List[str]
    """Some of its values, as suggestions"""
    dotted: bool
    """Whether a dot and a name follow: metadata.team."""
    hasAny: bool
    """Whether has: may leave the name out: has:mark."""


class SearchFields(TypedDict):
    """What a search over a resource may name."""

    resource: Literal["runs", "events", "audit", "marks"]
    """What is searched."""
    fields: List[SearchField]
    """The fields, the fast ones first."""


class SearchedPolicy(TypedDict, total=False):
    """A policy under which a smaller committee is tried."""

    policyVersion: str
    """A registered policy; either this or policy."""
    policy: OtherPolicy


class SeatAnswersPersonsItemRightInterval(TypedDict):
    """Wilson interval of 95 % of `rightShare`."""

    low: float
    """Lower end."""
    high: float
    """Upper end."""


class _SeatAnswersPersonsItemRequired(TypedDict):
    person: str
    """Id of the person."""
    runs: int
    """Runs in which the vote of the seat is of this person."""
    judged: int
    """Of these, runs whose decision has a mark `correct`."""
    right: int
    """Of these, runs in which the vote was right."""


class SeatAnswersPersonsItem(_SeatAnswersPersonsItemRequired, total=False):
    rightShare: float
    """`right` of `judged`; absent without any."""
    rightInterval: SeatAnswersPersonsItemRightInterval
    """Wilson interval of 95 % of `rightShare`."""


class SeatAnswers(TypedDict):
    """How people answered for a seat."""

    answers: int
    """Answers of people in the runs that were read."""
    unanswered: int
    """Acts of its deadline, which are the vote of no person."""
    revealedBefore: int
    """Answers that were given with the votes of the others shown."""
    rubberStamps: int
    """Answers that came within 3 s of their question."""
    persons: List[SeatAnswersPersonsItem]
    """The persons, those with the most votes first, at most 100."""


class SessionDescriptorParticipantsItem(TypedDict):
    id: str
    """Id of the participant."""


class _SessionDescriptorRequired(TypedDict):
    modeName: str
    """Session mode."""
    modeVersion: str
    """Version of the mode."""
    configurationVersion: str
    """Version of the configuration."""
    ttlMs: int
    """Time-to-live of the session, milliseconds."""
    participants: List[SessionDescriptorParticipantsItem]
    """Declared participants."""


class SessionDescriptor(_SessionDescriptorRequired, total=False):
    """The session that the run is about."""

    sessionId: str
    """UUID v4, UUID v7, or base64url of 22 to 512 characters; allocated when absent. A UUID is the run's id as well."""
    policyVersion: str
    """Id of the governance policy; the runtime's registry must know it when the session starts."""
    metadata: Dict[str, Any]
    """Any JSON, kept with the run. cancelCallback ({url, bearer?}) or cancellationDelegated (true) make the run cancellable; environment, scenarioRef, source and sourceRef are what runs are found by."""


class SharedModel(TypedDict):
    """Seats behind which is the same model."""

    model: str
    """The models that they called up to the decision."""
    seats: List[str]
    """Seats that called these, and no others, in each run with a call."""


class SharedPrompt(TypedDict):
    """Seats behind which is the same prompt."""

    promptHash: str
    """Hashes of their prompts."""
    seats: List[str]
    """Seats with these prompts, and no others, in each run whose spans have them."""


class _SignalEntryRequired(TypedDict):
    id: str
    """Id of the signal's message."""
    name: str
    """Type of the signal."""
    ts: str
    """When it was received."""


class SignalEntry(_SignalEntryRequired, total=False):
    """An ambient signal."""

    severity: str
    """As the sender stated it."""
    sourceParticipantId: str
    """Who emitted it."""
    confidence: float
    """0 to 1, as the sender stated it."""
    payload: Any
    """The decoded payload."""
    acknowledgedAt: str
    """When it was first acknowledged."""
    acknowledgedBy: str
    """Who acknowledged it."""


class StabilityAnswerExcluded(TypedDict):
    """Runs that are not counted."""

    byReason: Dict[str, int]
    """Runs without decision that are not counted: failed, cancelled, expired, unfinished."""


class StabilityAnswerOutcomesItem(TypedDict):
    action: str
    """Action of the commitment; none, or the way it ended, of a run without decision."""
    positive: Union[bool, None]
    """Whether it was a yes; null when not stated."""
    count: int
    """Runs with this outcome."""
    share: float
    """Their share of the counted runs."""


class StabilityAnswerAgreement(TypedDict):
    """How many runs agree with the most frequent outcome."""

    rate: float
    """Share of the most frequent outcome."""
    low: float
    """Lower bound of the interval."""
    high: float
    """Upper bound of the interval."""
    method: Literal["wilson"]
    """The kind of interval."""
    confidence: float
    """Its confidence."""


class StabilityAnswerCost(TypedDict):
    """US dollars of a run."""

    p50: float
    """The median."""
    p95: float
    """The 95th percentile."""


class StabilityAnswerDurationMs(TypedDict):
    """Milliseconds of a run."""

    p50: float
    """The median."""
    p95: float
    """The 95th percentile."""


class StabilityAnswerFlipsItem(TypedDict):
    key: str
    """Equal for the same participant, message type and action."""
    count: int
    """Runs that parted here."""
    text: str
    """The first difference in words."""
    exampleLeft: str
    """Id of the run of the majority that was compared."""
    exampleRight: str
    """Id of a run that parted here."""


class StabilityAnswerByItemExcluded(TypedDict):
    """Runs that are not counted."""

    byReason: Dict[str, int]
    """Runs without decision that are not counted: failed, cancelled, expired, unfinished."""


class StabilityAnswerByItemOutcomesItem(TypedDict):
    action: str
    """Action of the commitment; none, or the way it ended, of a run without decision."""
    positive: Union[bool, None]
    """Whether it was a yes; null when not stated."""
    count: int
    """Runs with this outcome."""
    share: float
    """Their share of the counted runs."""


class StabilityAnswerByItemAgreement(TypedDict):
    """How many runs agree with the most frequent outcome."""

    rate: float
    """Share of the most frequent outcome."""
    low: float
    """Lower bound of the interval."""
    high: float
    """Upper bound of the interval."""
    method: Literal["wilson"]
    """The kind of interval."""
    confidence: float
    """Its confidence."""


class StabilityAnswerByItemCost(TypedDict):
    """US dollars of a run."""

    p50: float
    """The median."""
    p95: float
    """The 95th percentile."""


class StabilityAnswerByItemDurationMs(TypedDict):
    """Milliseconds of a run."""

    p50: float
    """The median."""
    p95: float
    """The 95th percentile."""


class _StabilityAnswerByItemRequired(TypedDict):
    n: int
    """Counted runs."""
    excluded: StabilityAnswerByItemExcluded
    """Runs that are not counted."""
    outcomes: List[StabilityAnswerByItemOutcomesItem]
    """The outcomes, the most frequent first."""
    agreement: StabilityAnswerByItemAgreement
    """How many runs agree with the most frequent outcome."""
    mindChanges: int
    """Votes that participants changed later, in all counted runs."""
    cost: StabilityAnswerByItemCost
    """US dollars of a run."""
    durationMs: StabilityAnswerByItemDurationMs
    """Milliseconds of a run."""


class StabilityAnswerByItem(_StabilityAnswerByItemRequired, total=False):
    model: str
    """The models of the runs, separated by commas."""
    promptHash: str
    """The hashes of their prompts."""
    template: str
    """Their template."""
    source: str
    """Their source."""
    policyVersion: str
    """Their policy."""
    variant: str
    """The variant of their gate."""
    day: str
    """The day of their creation, in UTC."""
    week: str
    """The Monday of the week of their creation, in UTC."""
    scenario: str
    """Their scenario."""


class _StabilityAnswerRequired(TypedDict):
    n: int
    """Counted runs."""
    excluded: StabilityAnswerExcluded
    """Runs that are not counted."""
    outcomes: List[StabilityAnswerOutcomesItem]
    """The outcomes, the most frequent first."""
    agreement: StabilityAnswerAgreement
    """How many runs agree with the most frequent outcome."""
    mindChanges: int
    """Votes that participants changed later, in all counted runs."""
    cost: StabilityAnswerCost
    """US dollars of a run."""
    durationMs: StabilityAnswerDurationMs
    """Milliseconds of a run."""
    flips: List[StabilityAnswerFlipsItem]
    """Causes of other outcomes than the most frequent one, the largest first."""
    isLimited: bool
    """Whether more runs match than an answer includes, 1,000; the latest ones count."""


class StabilityAnswer(_StabilityAnswerRequired, total=False):
    """How stable the decisions of runs are."""

    by: List[StabilityAnswerByItem]
    """The same by the property, the largest group first, days and weeks in their order; runs without it have an empty text."""


class StreamTicket(TypedDict):
    """A ticket for the stream of a run."""

    ticket: str
    """The ticket: a secret, for the query `ticket`."""
    runId: str
    """Id of the run."""
    expiresAt: str
    """When it is worth nothing any more."""
    streamUrl: str
    """Path of the stream with the ticket in it."""


class _TimelineEntryRequired(TypedDict):
    id: str
    """Id of the event."""
    seq: int
    """seq of the event."""
    ts: str
    """Time of the event."""
    type: CanonicalEventType


class TimelineEntry(_TimelineEntryRequired, total=False):
    """An event in short."""

    subject: EventSubject


class Tombstone(TypedDict):
    """What stays of a deleted run."""

    runId: RunId
    status: RunStatus
    events: int
    """Events that the run had."""
    reason: Literal["deleted", "expired"]
    """deleted by a caller, or expired and deleted by retention."""
    deletedAt: str
    """When the run was deleted."""
    deletedBy: str
    """Who deleted it, as audit entries name them; `retention` when it expired."""
    sealHead: Union[str, None]
    """Head of the run's last seal, hexadecimal; null when it had none."""
    seal: Union[Seal, None]
    """The run's last seal; null when it had none."""


class _TombstonePageRequired(TypedDict):
    data: List[Tombstone]
    """The tombstones of this page."""
    limit: int
    """Most tombstones of a page, as requested."""


class TombstonePage(_TombstonePageRequired, total=False):
    """One page of tombstones, the latest first."""

    nextCursor: str
    """Only on a full page: to be given as cursor for the next one."""


class _TooManyRequestsRequired(TypedDict):
    statusCode: Literal[429]
    """The HTTP status."""
    errorCode: Literal["INTERNAL_ERROR", "RATE_LIMITED"]
    """What went wrong, for programs."""
    message: str
    """What went wrong, for people."""


class TooManyRequests(_TooManyRequestsRequired, total=False):
    """An error answered with 429."""

    metadata: Dict[str, Any]
    """More about it; of a failed runtime call {grpcCode}"""
    error: str
    """The reason phrase of the status, where the form of older servers has it."""


class _TraceSpanRequired(TypedDict):
    traceId: str
    """W3C trace id: 32 hex digits."""
    spanId: str
    """Span id: 16 hex digits."""
    name: str
    """Name of the span."""
    kind: str
    """What it is: agent, step, model, tool, retrieval, handoff, workflow or other."""
    startedAtUnixMs: float
    """Start by the clock of the application: Unix milliseconds, to three decimals."""
    durationMs: float
    """Milliseconds, to three decimals."""
    ok: bool
    """False when it failed."""


class TraceSpan(_TraceSpanRequired, total=False):
    """A span that was received for a run."""

    parentSpanId: str
    """Id of the span around it, which may be unknown: 16 hex digits."""
    agent: str
    """Agent that the span names."""
    tool: str
    """Tool that it calls."""
    model: str
    """Model that it calls."""
    errorCode: str
    """Type of its error."""
    errorMessage: str
    """Message of its error, one line."""


class _UnauthenticatedRequired(TypedDict):
    statusCode: Literal[401]
    """The HTTP status."""
    errorCode: Literal["UNAUTHENTICATED"]
    """What went wrong, for programs."""
    message: str
    """What went wrong, for people."""


class Unauthenticated(_UnauthenticatedRequired, total=False):
    """An error answered with 401."""

    metadata: Dict[str, Any]
    """More about it; of a failed runtime call {grpcCode}"""
    error: str
    """The reason phrase of the status, where the form of older servers has it."""


class _UnavailableRequired(TypedDict):
    statusCode: Literal[503]
    """The HTTP status."""
    errorCode: Literal["RUNTIME_UNAVAILABLE", "CIRCUIT_BREAKER_OPEN", "SERVICE_UNAVAILABLE"]
    """What went wrong, for programs."""
    message: str
    """What went wrong, for people."""


class Unavailable(_UnavailableRequired, total=False):
    """An error answered with 503."""

    metadata: Dict[str, Any]
    """More about it; of a failed runtime call {grpcCode}"""
    error: str
    """The reason phrase of the status, where the form of older servers has it."""


class _UnknownModelsModelsItemRequired(TypedDict):
    calls: int
    """Calls."""
    totalTokens: float
    """Tokens."""
    guessedCostUsd: float
    """US dollars, by the fallback price."""
    share: float
    """Share of the cost of all calls, from 0 to 1."""


class UnknownModelsModelsItem(_UnknownModelsModelsItemRequired, total=False):
    model: str
    """The model as the agents stated it; absent when they stated none."""
    provider: str
    """The provider as the agents stated it."""


class UnknownModels(TypedDict):
    """Models whose cost is a guess."""

    since: str
    """The calls since this time are counted."""
    calls: int
    """Calls that were counted, of all models."""
    estimatedCostUsd: float
    """US dollars of all these calls."""
    guessedCostUsd: float
    """US dollars of the calls whose model has no known price."""
    isPartial: bool
    """Whether there are more calls than were counted; the newest 200,000 are."""
    models: List[UnknownModelsModelsItem]
    """The models without a known price, at most 500, the dearest first."""


class _UnsupportedMediaTypeRequired(TypedDict):
    statusCode: Literal[415]
    """The HTTP status."""
    errorCode: Literal["UNSUPPORTED_MEDIA_TYPE"]
    """What went wrong, for programs."""
    message: str
    """What went wrong, for people."""


class UnsupportedMediaType(_UnsupportedMediaTypeRequired, total=False):
    """An error answered with 415."""

    metadata: Dict[str, Any]
    """More about it; of a failed runtime call {grpcCode}"""
    error: str
    """The reason phrase of the status, where the form of older servers has it."""


class ValidationFailed(TypedDict):
    """A body or a query that breaks rules."""

    statusCode: Literal[400]
    """The HTTP status."""
    errorCode: Literal["VALIDATION_ERROR"]
    """What went wrong, for programs."""
    message: List[str]
    """Every broken rule."""
    error: Literal["Bad Request"]
    """The reason phrase of the status."""

VerdictState = Literal["for", "against", "decided", "denied", "open", "suspended", "expired", "cancelled", "none"]


class _ViewRequired(TypedDict):
    id: str
    """Id of the view: UUID."""
    name: str
    """Name for readers, one of each resource."""
    resource: Literal["runs", "events", "audit", "marks"]
    """What it lists."""
    q: str
    """The search, over the fields of the resource; may be empty."""
    columns: List[str]
    """What is shown of each entry; empty for what is usual."""
    owner: str
    """Who saved it; system for the views that come with the product."""
    readOnly: bool
    """True for the views that come with the product."""


class View(_ViewRequired, total=False):
    """A search with a name, and how its matches are shown."""

    sort: Union[Literal["createdAt asc"], Literal["createdAt desc"], Literal["updatedAt asc"], Literal["updatedAt desc"], Literal["duration asc"], Literal["duration desc"], Literal["cost asc"], Literal["cost desc"], Literal["tokens asc"], Literal["tokens desc"], Literal["events asc"], Literal["events desc"], str]
    """Order of a list of runs."""
    ownerName: str
    """`user:` and the name in the token of who saved it, for readers."""
    private: bool
    """True for a view that only its owner lists."""
    createdAt: str
    """When it was saved; absent for the views of the product."""
    updatedAt: str
    """When it was last changed; absent for the views of the product."""


class ViewChange(TypedDict, total=False):
    """What to change."""

    name: str
    """Name for readers, one of each resource."""
    q: str
    """The search, over the fields of the resource; may be empty."""
    columns: List[str]
    """What is shown of each entry; empty for what is usual."""
    sort: Union[Literal["createdAt asc"], Literal["createdAt desc"], Literal["updatedAt asc"], Literal["updatedAt desc"], Literal["duration asc"], Literal["duration desc"], Literal["cost asc"], Literal["cost desc"], Literal["tokens asc"], Literal["tokens desc"], Literal["events asc"], Literal["events desc"], str]
    """Order of a list of runs."""
    private: bool
    """True for a view that only its owner lists."""


class _ViewRequestRequired(TypedDict):
    name: str
    """Name for readers, one of each resource."""
    resource: Literal["runs", "events", "audit", "marks"]
    """What it lists."""


class ViewRequest(_ViewRequestRequired, total=False):
    """A view to be saved."""

    q: str
    """The search, over the fields of the resource; may be empty."""
    columns: List[str]
    """What is shown of each entry; empty for what is usual."""
    sort: Union[Literal["createdAt asc"], Literal["createdAt desc"], Literal["updatedAt asc"], Literal["updatedAt desc"], Literal["duration asc"], Literal["duration desc"], Literal["cost asc"], Literal["cost desc"], Literal["tokens asc"], Literal["tokens desc"], Literal["events asc"], Literal["events desc"], str]
    """Order of a list of runs."""
    private: bool
    """True for a view that only its owner lists."""


_VoteChangeRequired = TypedDict("_VoteChangeRequired", {
    "participantId": "str",
    "proposalId": "str",
    "from": "Union[str, None]",
    "to": "str",
})


class VoteChange(_VoteChangeRequired):
    """One vote said otherwise."""


VoteSide = Literal["for", "against", "abstained", "none"]


class VoteTallyEntryQuorum(TypedDict):
    """How many may vote, and have."""

    required: int
    """Participants with the role voter; all participants when there are no voters."""
    cast: int
    """Votes for and against."""


class VoteTallyEntryVoters(TypedDict):
    """Each participant counted once; absent for more participants than the state can track."""

    allow: int
    """Participants whose last vote is for it."""
    deny: int
    """Participants whose last vote is against it."""
    required: int
    """The same as quorum.required."""


class _VoteTallyEntryRequired(TypedDict):
    commitmentId: str
    """Proposal that is voted on."""
    allow: int
    """Votes for it."""
    deny: int
    """Votes against it."""
    threshold: int
    """Half of the required votes, rounded up."""
    quorum: VoteTallyEntryQuorum
    """How many may vote, and have."""


class VoteTallyEntry(_VoteTallyEntryRequired, total=False):
    """The votes on one proposal."""

    requiredApprovals: int
    """Approvals that the request of a quorum session demands."""
    voters: VoteTallyEntryVoters
    """Each participant counted once; absent for more participants than the state can track."""


class _WebhookRequired(TypedDict):
    id: str
    """Id of the subscription: UUID."""
    url: str
    """Where deliveries go; viewers see scheme and host alone."""
    events: List[str]
    """Of run.started, run.completed, run.failed, run.cancelled, run.corrected, run.suspended, run.resumed, mark.added, item.opened, item.escalated, item.unreachable, item.reminded, item.undelivered, item.closed; none means all, other names match nothing."""
    secret: str
    """In full only in the answer that creates the subscription; afterwards its last 4 characters."""
    active: bool
    """Whether events are delivered; an answer of 410 makes it false."""
    createdAt: str
    """When it was made."""
    updatedAt: str
    """When it last changed."""


class Webhook(_WebhookRequired, total=False):
    """A webhook subscription."""

    format: Literal["generic", "slack", "teams"]
    """The bodies: generic JSON; slack and teams get messages about questions to people, and nothing else."""
    madeForRules: bool
    """Whether an alert rule has made it for a URL: it is removed with the last rule that uses it."""
    slowedSince: str
    """Since when it has one attempt at a time, because its receiver did not answer in time; absent else."""
    deliveryStats: WebhookDeliveryStats


class WebhookChange(TypedDict, total=False):
    """What to change."""

    url: str
    """Absolute http or https URL."""
    events: List[str]
    """Of run.started, run.completed, run.failed, run.cancelled, run.corrected, run.suspended, run.resumed, mark.added, item.opened, item.escalated, item.unreachable, item.reminded, item.undelivered, item.closed; empty means all, other types of the log match nothing."""
    secret: str
    """Signs every delivery; with the prefix whsec_ the rest is a base64 key of 24 to 64 bytes for webhook-signature."""
    active: bool
    """An inactive subscription keeps its pending deliveries until it is active."""


class _WebhookDeliveryRequired(TypedDict):
    id: str
    """Id of the delivery: UUID; sent as webhook-id with every attempt."""
    webhookId: str
    """The subscription."""
    event: str
    """The event."""
    payload: Dict[str, Any]
    """The body that is sent."""
    status: Literal["pending", "delivered", "failed"]
    """failed when it was given up."""
    attempts: int
    """Attempts made."""
    createdAt: str
    """When the event happened."""


class WebhookDelivery(_WebhookDeliveryRequired, total=False):
    """A delivery of one event to one subscription."""

    runId: RunId
    firingId: str
    """The firing that an alert event reports."""
    nextAttemptAt: str
    """While pending: not before this time."""
    lastAttemptAt: str
    """When it was last tried."""
    responseStatus: int
    """HTTP status of the last answer."""
    errorMessage: str
    """Why the last attempt failed."""
    deliveredAt: str
    """When it was answered with 2xx."""


class WebhookDeliveryPage(TypedDict):
    """One page of deliveries, the latest first."""

    data: List[WebhookDelivery]
    """The deliveries of this page."""
    total: int
    """All matches of the same filter."""
    limit: int
    """Most deliveries of a page, as requested."""
    offset: int
    """Matches before this page."""


class _WebhookDeliveryStatsRequired(TypedDict):
    total: int
    """Deliveries since the subscription was made, pending ones included."""
    succeeded: int
    """Deliveries that were answered with 2xx."""
    failed: int
    """Deliveries that were given up."""


class WebhookDeliveryStats(_WebhookDeliveryStatsRequired, total=False):
    """How the deliveries of a subscription went."""

    lastDeliveredAt: str
    """When one last succeeded."""


class WebhookPayloadData(TypedDict):
    """Of run.failed only."""

    error: str
    """Why it failed."""


class _WebhookPayloadRequired(TypedDict):
    event: Literal["run.started", "run.completed", "run.failed", "run.cancelled", "run.corrected", "run.suspended", "run.resumed", "mark.added", "item.opened", "item.escalated", "item.unreachable", "item.reminded", "item.undelivered", "item.closed"]
    """What happened."""
    runId: str
    """Id of the run."""
    status: RunStatus
    timestamp: str
    """When it happened."""


class WebhookPayload(_WebhookPayloadRequired, total=False):
    """The body of a delivery."""

    data: WebhookPayloadData
    """Of run.failed only."""


class _WebhookRequestRequired(TypedDict):
    url: str
    """Absolute http or https URL."""
    secret: str
    """Signs every delivery; with the prefix whsec_ the rest is a base64 key of 24 to 64 bytes for webhook-signature."""


class WebhookRequest(_WebhookRequestRequired, total=False):
    """A subscription."""

    events: List[str]
    """Of run.started, run.completed, run.failed, run.cancelled, run.corrected, run.suspended, run.resumed, mark.added, item.opened, item.escalated, item.unreachable, item.reminded, item.undelivered, item.closed; empty means all, other types of the log match nothing."""
    format: Literal["generic", "slack", "teams"]
    """The bodies: generic JSON; slack and teams get messages about questions to people, and nothing else."""


class WhatIfAnswer(TypedDict):
    """The verdict on a run, before and after the changes."""

    before: DecisionVerdict
    after: DecisionVerdict
    changed: bool
    """Whether the verdict is another one."""
    pivotal: List[VoteChange]
    """Votes of which each by itself would turn the new verdict."""
    smallestChange: List[VoteChange]
    """Fewest votes that would turn it; empty for none."""
    basis: Literal["exact", "bounds"]
    """bounds: fewer votes may do."""
    notes: List[str]
    """What limits the answer."""


class _WhatIfRequestVotesItemRequired(TypedDict):
    participantId: str
    """Whose vote."""
    vote: Literal["APPROVE", "REJECT", "ABSTAIN"]
    """What it says."""


class WhatIfRequestVotesItem(_WhatIfRequestVotesItemRequired, total=False):
    proposalId: str
    """What it is about; may be left out when only one thing was voted on."""


class WhatIfRequest(TypedDict, total=False):
    """What is to be different."""

    policyVersion: str
    """A registered policy in place of the run's."""
    policy: OtherPolicy
    votes: List[WhatIfRequestVotesItem]
    """Votes in place of those that were cast, or beside them."""
    without: List[str]
    """Participants as if they had said nothing."""


class ControlPlaneCalls(Service):
    """Every operation of Run control plane, by the name that the OpenAPI document has for it."""

    def create_run(
        self,
        body: RunDescriptor,
    ) -> RunAccepted:
        """Create a run and start watching its session."""
        return cast("RunAccepted", self._json(
            "POST",
            "/runs",
            body=body,
        ))

    def list_runs(
        self,
        *,
        status: Optional[Literal["queued", "starting", "binding_session", "running", "suspended", "completed", "failed", "cancelled"]] = None,
        tags: Optional[str] = None,
        created_after: Optional[str] = None,
        created_before: Optional[str] = None,
        limit: Optional[int] = None,
        offset: Optional[int] = None,
        sort_by: Optional[str] = None,
        sort_order: Optional[Literal["asc", "desc"]] = None,
        include_archived: Optional[bool] = None,
        environment: Optional[str] = None,
        scenario_ref: Optional[str] = None,
        search: Optional[str] = None,
        include: Optional[str] = None,
        include_sandbox: Optional[str] = None,
        q: Optional[str] = None,
        cursor: Optional[str] = None,
    ) -> RunPage:
        """List runs."""
        return cast("RunPage", self._json(
            "GET",
            "/runs",
            query={"status": status, "tags": tags, "createdAfter": created_after, "createdBefore": created_before, "limit": limit, "offset": offset, "sortBy": sort_by, "sortOrder": sort_order, "includeArchived": include_archived, "environment": environment, "scenarioRef": scenario_ref, "search": search, "include": include, "includeSandbox": include_sandbox, "q": q, "cursor": cursor},
        ))

    def validate_run(
        self,
        body: RunDescriptor,
    ) -> RunValidation:
        """Check a descriptor without creating anything."""
        return cast("RunValidation", self._json(
            "POST",
            "/runs/validate",
            body=body,
        ))

    def get_run(
        self,
        id: str,
        *,
        wait: Optional[Literal["terminal"]] = None,
        timeout_ms: Optional[int] = None,
    ) -> Run:
        """Read one run."""
        return cast("Run", self._json(
            "GET",
            "/runs/{id}",
            path={"id": id},
            query={"wait": wait, "timeoutMs": timeout_ms},
        ))

    def delete_run(
        self,
        id: str,
    ) -> None:
        """Delete an ended run."""
        return self._nothing(
            "DELETE",
            "/runs/{id}",
            path={"id": id},
        )

    def get_run_state(
        self,
        id: str,
    ) -> RunState:
        """Read the projected state of a run."""
        return cast("RunState", self._json(
            "GET",
            "/runs/{id}/state",
            path={"id": id},
        ))

    def get_run_metrics(
        self,
        id: str,
    ) -> RunMetrics:
        """Read the counters of a run."""
        return cast("RunMetrics", self._json(
            "GET",
            "/runs/{id}/metrics",
            path={"id": id},
        ))

    def list_artifacts(
        self,
        id: str,
    ) -> List[Artifact]:
        """List the artifacts of a run."""
        return cast("List[Artifact]", self._json(
            "GET",
            "/runs/{id}/artifacts",
            path={"id": id},
        ))

    def add_artifact(
        self,
        id: str,
        body: ArtifactRequest,
    ) -> Artifact:
        """Add an artifact to a run."""
        return cast("Artifact", self._json(
            "POST",
            "/runs/{id}/artifacts",
            path={"id": id},
            body=body,
        ))

    def list_messages(
        self,
        id: str,
    ) -> List[OutboundMessage]:
        """List the messages captured from the runtime stream."""
        return cast("List[OutboundMessage]", self._json(
            "GET",
            "/runs/{id}/messages",
            path={"id": id},
        ))

    def get_accepted_message(
        self,
        id: str,
        message_id: str,
    ) -> AcceptedMessage:
        """Read an accepted message of the session."""
        return cast("AcceptedMessage", self._json(
            "GET",
            "/runs/{id}/messages/{messageId}",
            path={"id": id, "messageId": message_id},
        ))

    def cancel_run(
        self,
        id: str,
        body: Optional[Reason] = None,
    ) -> Run:
        """Cancel a run."""
        return cast("Run", self._json(
            "POST",
            "/runs/{id}/cancel",
            path={"id": id},
            body=body,
        ))

    def suspend_run(
        self,
        id: str,
        body: Optional[Reason] = None,
    ) -> Run:
        """Suspend a running run."""
        return cast("Run", self._json(
            "POST",
            "/runs/{id}/suspend",
            path={"id": id},
            body=body,
        ))

    def resume_run(
        self,
        id: str,
        body: Optional[Reason] = None,
    ) -> Run:
        """Resume a suspended run."""
        return cast("Run", self._json(
            "POST",
            "/runs/{id}/resume",
            path={"id": id},
            body=body,
        ))

    def abandon_run(
        self,
        id: str,
        body: AbandonRun,
    ) -> Run:
        """Report that the session of a run will not be opened."""
        return cast("Run", self._json(
            "POST",
            "/runs/{id}/abandon",
            path={"id": id},
            body=body,
        ))

    def list_run_events(
        self,
        id: str,
        *,
        after_seq: Optional[int] = None,
        limit: Optional[int] = None,
        after_ts: Optional[str] = None,
        before_ts: Optional[str] = None,
        type: Optional[str] = None,
    ) -> Union[List[CanonicalEvent], EventPage]:
        """Read the events of a run."""
        return cast("Union[List[CanonicalEvent], EventPage]", self._json(
            "GET",
            "/runs/{id}/events",
            path={"id": id},
            query={"afterSeq": after_seq, "limit": limit, "afterTs": after_ts, "beforeTs": before_ts, "type": type},
        ))

    def list_events(
        self,
        *,
        run_id: Optional[str] = None,
        scenario_ref: Optional[str] = None,
        type: Optional[str] = None,
        after_seq: Optional[int] = None,
        after_ts: Optional[str] = None,
        before_ts: Optional[str] = None,
        limit: Optional[int] = None,
        q: Optional[str] = None,
    ) -> LogPage:
        """Read events across runs."""
        return cast("LogPage", self._json(
            "GET",
            "/events",
            query={"runId": run_id, "scenarioRef": scenario_ref, "type": type, "afterSeq": after_seq, "afterTs": after_ts, "beforeTs": before_ts, "limit": limit, "q": q},
        ))

    def stream_events(
        self,
        *,
        q: Optional[str] = None,
        types: Optional[str] = None,
        after_seq: Optional[int] = None,
        heartbeat_ms: Optional[int] = None,
        last_event_id: Optional[str] = None,
    ) -> Generator[StreamMessage, None, None]:
        """Follow the events of all runs live."""
        return self._events(
            "GET",
            "/events/stream",
            query={"q": q, "types": types, "afterSeq": after_seq, "heartbeatMs": heartbeat_ms},
            headers={"Last-Event-ID": last_event_id},
        )

    def stream_run(
        self,
        id: str,
        *,
        ticket: Optional[str] = None,
        after_seq: Optional[int] = None,
        include_snapshot: Optional[bool] = None,
        snapshots: Optional[Literal["all", "first"]] = None,
        heartbeat_ms: Optional[int] = None,
        last_event_id: Optional[str] = None,
    ) -> Generator[StreamMessage, None, None]:
        """Follow a run live."""
        return self._events(
            "GET",
            "/runs/{id}/stream",
            path={"id": id},
            query={"ticket": ticket, "afterSeq": after_seq, "includeSnapshot": include_snapshot, "snapshots": snapshots, "heartbeatMs": heartbeat_ms},
            headers={"Last-Event-ID": last_event_id},
        )

    def create_stream_ticket(
        self,
        id: str,
    ) -> StreamTicket:
        """Get a ticket for the stream of a run."""
        return cast("StreamTicket", self._json(
            "POST",
            "/runs/{id}/stream-tickets",
            path={"id": id},
        ))

    def follow_run_as_ag_ui(
        self,
        id: str,
        *,
        ticket: Optional[str] = None,
        interrupts: Optional[bool] = None,
        since: Optional[int] = None,
        heartbeat_ms: Optional[int] = None,
        last_event_id: Optional[str] = None,
    ) -> Generator[StreamMessage, None, None]:
        """Follow a run with AG-UI."""
        return self._events(
            "GET",
            "/runs/{id}/ag-ui",
            path={"id": id},
            query={"ticket": ticket, "interrupts": interrupts, "since": since, "heartbeatMs": heartbeat_ms},
            headers={"Last-Event-ID": last_event_id},
        )

    def run_as_ag_ui(
        self,
        id: str,
        body: Optional[AgUiInput] = None,
        *,
        interrupts: Optional[bool] = None,
        since: Optional[int] = None,
        heartbeat_ms: Optional[int] = None,
    ) -> Generator[StreamMessage, None, None]:
        """Follow a run with an AG-UI agent."""
        return self._events(
            "POST",
            "/runs/{id}/ag-ui",
            path={"id": id},
            query={"interrupts": interrupts, "since": since, "heartbeatMs": heartbeat_ms},
            body=body,
        )

    def prepare_replay(
        self,
        id: str,
        body: Optional[ReplayRequest] = None,
    ) -> ReplayDescriptor:
        """Prepare a replay."""
        return cast("ReplayDescriptor", self._json(
            "POST",
            "/runs/{id}/replay",
            path={"id": id},
            body=body,
        ))

    def stream_replay(
        self,
        id: str,
        *,
        mode: Optional[Literal["instant", "timed", "step"]] = None,
        speed: Optional[float] = None,
        from_seq: Optional[int] = None,
        to_seq: Optional[int] = None,
        ticket: Optional[str] = None,
    ) -> Generator[StreamMessage, None, None]:
        """Replay the events of a run."""
        return self._events(
            "GET",
            "/runs/{id}/replay/stream",
            path={"id": id},
            query={"mode": mode, "speed": speed, "fromSeq": from_seq, "toSeq": to_seq, "ticket": ticket},
        )

    def get_replay_state(
        self,
        id: str,
        *,
        seq: Optional[int] = None,
    ) -> RunState:
        """Read the state of a run as of an event."""
        return cast("RunState", self._json(
            "GET",
            "/runs/{id}/replay/state",
            path={"id": id},
            query={"seq": seq},
        ))

    def get_overview(
        self,
        *,
        window: Optional[Literal["1h", "6h", "24h", "7d", "30d"]] = None,
        range: Optional[Literal["24h", "7d", "30d"]] = None,
        from_: Optional[str] = None,
        to: Optional[str] = None,
        scenario_ref: Optional[str] = None,
        environment: Optional[str] = None,
    ) -> DashboardOverview:
        """Read key figures, recent runs, runtime health and charts."""
        return cast("DashboardOverview", self._json(
            "GET",
            "/dashboard/overview",
            query={"window": window, "range": range, "from": from_, "to": to, "scenarioRef": scenario_ref, "environment": environment},
        ))

    def list_agent_metrics(
        self,
    ) -> List[AgentMetrics]:
        """Read the figures of all participants."""
        return cast("List[AgentMetrics]", self._json(
            "GET",
            "/dashboard/agents/metrics",
        ))

    def register_policy(
        self,
        body: PolicyRegistration,
    ) -> PolicyRegistered:
        """Register a policy."""
        return cast("PolicyRegistered", self._json(
            "POST",
            "/runtime/policies",
            body=body,
        ))

    def list_policies(
        self,
        *,
        mode: Optional[str] = None,
    ) -> List[PolicyDescriptor]:
        """List policies."""
        return cast("List[PolicyDescriptor]", self._json(
            "GET",
            "/runtime/policies",
            query={"mode": mode},
        ))

    def get_policy(
        self,
        policy_id: str,
    ) -> PolicyDescriptor:
        """Read one policy."""
        return cast("PolicyDescriptor", self._json(
            "GET",
            "/runtime/policies/{policyId}",
            path={"policyId": policy_id},
        ))

    def unregister_policy(
        self,
        policy_id: str,
    ) -> PolicyUnregistered:
        """Remove a policy."""
        return cast("PolicyUnregistered", self._json(
            "DELETE",
            "/runtime/policies/{policyId}",
            path={"policyId": policy_id},
        ))

    def get_runtime_manifest(
        self,
    ) -> RuntimeManifest:
        """Read the runtime's manifest."""
        return cast("RuntimeManifest", self._json(
            "GET",
            "/runtime/manifest",
        ))

    def list_runtime_modes(
        self,
    ) -> List[RuntimeMode]:
        """List the runtime's modes."""
        return cast("List[RuntimeMode]", self._json(
            "GET",
            "/runtime/modes",
        ))

    def list_runtime_roots(
        self,
    ) -> List[RuntimeRoot]:
        """List the runtime's roots."""
        return cast("List[RuntimeRoot]", self._json(
            "GET",
            "/runtime/roots",
        ))

    def get_runtime_health(
        self,
    ) -> RuntimeState:
        """Check that the runtime answers."""
        return cast("RuntimeState", self._json(
            "GET",
            "/runtime/health",
        ))

    def create_webhook(
        self,
        body: WebhookRequest,
    ) -> Webhook:
        """Subscribe to events."""
        return cast("Webhook", self._json(
            "POST",
            "/webhooks",
            body=body,
        ))

    def list_webhooks(
        self,
    ) -> List[Webhook]:
        """List all subscriptions."""
        return cast("List[Webhook]", self._json(
            "GET",
            "/webhooks",
        ))

    def update_webhook(
        self,
        id: str,
        body: Optional[WebhookChange] = None,
    ) -> Webhook:
        """Change a subscription."""
        return cast("Webhook", self._json(
            "PATCH",
            "/webhooks/{id}",
            path={"id": id},
            body=body,
        ))

    def delete_webhook(
        self,
        id: str,
    ) -> None:
        """Remove a subscription."""
        return self._nothing(
            "DELETE",
            "/webhooks/{id}",
            path={"id": id},
        )

    def list_deliveries(
        self,
        id: str,
        *,
        status: Optional[Literal["pending", "delivered", "failed"]] = None,
        limit: Optional[int] = None,
        offset: Optional[int] = None,
    ) -> WebhookDeliveryPage:
        """List the deliveries of a subscription."""
        return cast("WebhookDeliveryPage", self._json(
            "GET",
            "/webhooks/{id}/deliveries",
            path={"id": id},
            query={"status": status, "limit": limit, "offset": offset},
        ))

    def test_webhook(
        self,
        id: str,
    ) -> WebhookDelivery:
        """Send a test."""
        return cast("WebhookDelivery", self._json(
            "POST",
            "/webhooks/{id}/test",
            path={"id": id},
        ))

    def redeliver(
        self,
        id: str,
        delivery_id: str,
    ) -> WebhookDelivery:
        """Deliver once more."""
        return cast("WebhookDelivery", self._json(
            "POST",
            "/webhooks/{id}/deliveries/{deliveryId}/redeliver",
            path={"id": id, "deliveryId": delivery_id},
        ))

    def list_audit_entries(
        self,
        *,
        actor: Optional[str] = None,
        action: Optional[str] = None,
        resource: Optional[str] = None,
        resource_id: Optional[str] = None,
        created_after: Optional[str] = None,
        created_before: Optional[str] = None,
        limit: Optional[int] = None,
        offset: Optional[int] = None,
        q: Optional[str] = None,
        cursor: Optional[str] = None,
    ) -> AuditPage:
        """Read the audit log."""
        return cast("AuditPage", self._json(
            "GET",
            "/audit",
            query={"actor": actor, "action": action, "resource": resource, "resourceId": resource_id, "createdAfter": created_after, "createdBefore": created_before, "limit": limit, "offset": offset, "q": q, "cursor": cursor},
        ))

    def reset_circuit_breaker(
        self,
    ) -> CircuitBreakerReset:
        """Close the runtime's circuit breaker by hand."""
        return cast("CircuitBreakerReset", self._json(
            "POST",
            "/admin/circuit-breaker/reset",
        ))

    def get_circuit_breaker_history(
        self,
        *,
        window: Optional[str] = None,
        since: Optional[str] = None,
    ) -> CircuitBreakerHistory:
        """Read the states of the circuit breaker."""
        return cast("CircuitBreakerHistory", self._json(
            "GET",
            "/admin/circuit-breaker/history",
            query={"window": window, "since": since},
        ))

    def get_process(
        self,
    ) -> ProcessInfo:
        """Read how the service was started."""
        return cast("ProcessInfo", self._json(
            "GET",
            "/admin/process",
        ))

    def get_archive(
        self,
    ) -> ArchiveReport:
        """Read the state of the archive."""
        return cast("ArchiveReport", self._json(
            "GET",
            "/admin/archive",
        ))

    def get_ingest(
        self,
    ) -> IngestReport:
        """Read what waits of each source of telemetry."""
        return cast("IngestReport", self._json(
            "GET",
            "/admin/ingest",
        ))

    def issue_join_token(
        self,
        body: JoinTokenRequest,
    ) -> JoinToken:
        """Issue a token that lets spans join the run of a session."""
        return cast("JoinToken", self._json(
            "POST",
            "/ingest/tokens",
            body=body,
        ))

    def list_processes(
        self,
    ) -> ProcessReports:
        """List the processes and what each observes."""
        return cast("ProcessReports", self._json(
            "GET",
            "/admin/processes",
        ))

    def get_drift_report(
        self,
    ) -> DriftReport:
        """Compare the runtime's sessions with the runs."""
        return cast("DriftReport", self._json(
            "GET",
            "/admin/runtime/sessions",
        ))

    def set_log_level(
        self,
        body: NewLogLevel,
    ) -> LogLevelChange:
        """Change the level of the log."""
        return cast("LogLevelChange", self._json(
            "PUT",
            "/admin/log-level",
            body=body,
        ))

    def clone_run(
        self,
        id: str,
        body: Optional[CloneRun] = None,
    ) -> RunAccepted:
        """Create a run like this one."""
        return cast("RunAccepted", self._json(
            "POST",
            "/runs/{id}/clone",
            path={"id": id},
            body=body,
        ))

    def archive_run(
        self,
        id: str,
    ) -> Run:
        """Hide a run from the default listings."""
        return cast("Run", self._json(
            "POST",
            "/runs/{id}/archive",
            path={"id": id},
        ))

    def unarchive_run(
        self,
        id: str,
    ) -> Run:
        """Show an archived run in the default listings again."""
        return cast("Run", self._json(
            "POST",
            "/runs/{id}/unarchive",
            path={"id": id},
        ))

    def cancel_runs(
        self,
        body: RunBatch,
    ) -> List[BatchCancelled]:
        """Cancel runs."""
        return cast("List[BatchCancelled]", self._json(
            "POST",
            "/runs/batch/cancel",
            body=body,
        ))

    def archive_runs(
        self,
        body: RunBatch,
    ) -> List[BatchArchived]:
        """Archive runs."""
        return cast("List[BatchArchived]", self._json(
            "POST",
            "/runs/batch/archive",
            body=body,
        ))

    def unarchive_runs(
        self,
        body: RunBatch,
    ) -> List[BatchUnarchived]:
        """Undo the archival of runs."""
        return cast("List[BatchUnarchived]", self._json(
            "POST",
            "/runs/batch/unarchive",
            body=body,
        ))

    def delete_runs(
        self,
        body: RunBatch,
    ) -> List[BatchDeleted]:
        """Delete ended runs."""
        return cast("List[BatchDeleted]", self._json(
            "POST",
            "/runs/batch/delete",
            body=body,
        ))

    def export_runs(
        self,
        body: RunBatch,
    ) -> List[RunBundle]:
        """Export runs."""
        return cast("List[RunBundle]", self._json(
            "POST",
            "/runs/batch/export",
            body=body,
        ))

    def get_run_traces(
        self,
        id: str,
    ) -> RunTraces:
        """Read the trace of a run."""
        return cast("RunTraces", self._json(
            "GET",
            "/runs/{id}/traces",
            path={"id": id},
        ))

    def get_run_spans(
        self,
        id: str,
        *,
        after: Optional[int] = None,
        limit: Optional[int] = None,
    ) -> RunSpans:
        """Read the spans of a run."""
        return cast("RunSpans", self._json(
            "GET",
            "/runs/{id}/spans",
            path={"id": id},
            query={"after": after, "limit": limit},
        ))

    def compare_runs(
        self,
        body: CompareRuns,
    ) -> RunComparison:
        """Compare two runs."""
        return cast("RunComparison", self._json(
            "POST",
            "/runs/compare",
            body=body,
        ))

    def rebuild_projection(
        self,
        id: str,
    ) -> RebuiltProjection:
        """Fold the projected state again."""
        return cast("RebuiltProjection", self._json(
            "POST",
            "/runs/{id}/projection/rebuild",
            path={"id": id},
        ))

    def export_run(
        self,
        id: str,
        *,
        ticket: Optional[str] = None,
        include_canonical: Optional[bool] = None,
        include_raw: Optional[bool] = None,
        include_marks: Optional[bool] = None,
        event_limit: Optional[int] = None,
        format: Optional[Literal["json", "jsonl"]] = None,
    ) -> RunBundle:
        """Export a run."""
        return cast("RunBundle", self._json(
            "GET",
            "/runs/{id}/export",
            path={"id": id},
            query={"ticket": ticket, "includeCanonical": include_canonical, "includeRaw": include_raw, "includeMarks": include_marks, "eventLimit": event_limit, "format": format},
        ))

    def get_evidence(
        self,
        id: str,
        *,
        ticket: Optional[str] = None,
        include_raw: Optional[bool] = None,
        include_marks: Optional[bool] = None,
    ) -> bytes:
        """Get the evidence of a run."""
        return self._bytes(
            "GET",
            "/runs/{id}/evidence",
            path={"id": id},
            query={"ticket": ticket, "includeRaw": include_raw, "includeMarks": include_marks},
        )

    def get_evidence_of_runs(
        self,
        *,
        q: str,
        include_raw: Optional[bool] = None,
        include_marks: Optional[bool] = None,
    ) -> bytes:
        """Get the evidence of all runs that a search finds."""
        return self._bytes(
            "GET",
            "/evidence",
            query={"q": q, "includeRaw": include_raw, "includeMarks": include_marks},
        )

    def list_search_fields(
        self,
        *,
        resource: Literal["runs", "events", "audit", "marks"],
    ) -> SearchFields:
        """List the fields of a search."""
        return cast("SearchFields", self._json(
            "GET",
            "/query/fields",
            query={"resource": resource},
        ))

    def count_run_facets(
        self,
        *,
        fields: Optional[str] = None,
        status: Optional[Literal["queued", "starting", "binding_session", "running", "suspended", "completed", "failed", "cancelled"]] = None,
        tags: Optional[str] = None,
        created_after: Optional[str] = None,
        created_before: Optional[str] = None,
        include_archived: Optional[bool] = None,
        environment: Optional[str] = None,
        scenario_ref: Optional[str] = None,
        search: Optional[str] = None,
        q: Optional[str] = None,
    ) -> RunFacets:
        """Count the values of fields of runs."""
        return cast("RunFacets", self._json(
            "GET",
            "/runs/facets",
            query={"fields": fields, "status": status, "tags": tags, "createdAfter": created_after, "createdBefore": created_before, "includeArchived": include_archived, "environment": environment, "scenarioRef": scenario_ref, "search": search, "q": q},
        ))

    def get_model_price(
        self,
        *,
        model: Optional[str] = None,
        provider: Optional[str] = None,
    ) -> ModelPrice:
        """Read the price of a model."""
        return cast("ModelPrice", self._json(
            "GET",
            "/pricing",
            query={"model": model, "provider": provider},
        ))

    def list_unknown_models(
        self,
        *,
        since: Optional[str] = None,
    ) -> UnknownModels:
        """List the models whose cost is a guess."""
        return cast("UnknownModels", self._json(
            "GET",
            "/pricing/unknown",
            query={"since": since},
        ))

    def list_model_costs(
        self,
        *,
        since: Optional[str] = None,
        until: Optional[str] = None,
        q: Optional[str] = None,
    ) -> CostsByModel:
        """Sum the cost of runs by model."""
        return cast("CostsByModel", self._json(
            "GET",
            "/pricing/models",
            query={"since": since, "until": until, "q": q},
        ))

    def list_recorded_calls(
        self,
        *,
        since: Optional[str] = None,
        before: Optional[int] = None,
        limit: Optional[int] = None,
    ) -> RecordedCalls:
        """List the recorded calls of language models."""
        return cast("RecordedCalls", self._json(
            "GET",
            "/pricing/calls",
            query={"since": since, "before": before, "limit": limit},
        ))

    def get_me(
        self,
    ) -> Me:
        """Read the identity and the role of the caller."""
        return cast("Me", self._json(
            "GET",
            "/me",
        ))

    def get_forecast(
        self,
        id: str,
        *,
        at_seq: Optional[int] = None,
    ) -> DecisionForecast:
        """Forecast the outcomes of a decision."""
        return cast("DecisionForecast", self._json(
            "GET",
            "/runs/{id}/forecast",
            path={"id": id},
            query={"atSeq": at_seq},
        ))

    def explain_decision(
        self,
        id: str,
    ) -> DecisionWhy:
        """Explain why a run was decided as it was."""
        return cast("DecisionWhy", self._json(
            "GET",
            "/runs/{id}/decision/why",
            path={"id": id},
        ))

    def get_decision_card(
        self,
        id: str,
        *,
        at_seq: Optional[int] = None,
    ) -> DecisionCard:
        """Show a decision as one picture."""
        return cast("DecisionCard", self._json(
            "GET",
            "/runs/{id}/decision/card",
            path={"id": id},
            query={"atSeq": at_seq},
        ))

    def ask_what_if(
        self,
        id: str,
        body: Optional[WhatIfRequest] = None,
    ) -> WhatIfAnswer:
        """Evaluate a run under other rules or votes."""
        return cast("WhatIfAnswer", self._json(
            "POST",
            "/runs/{id}/what-if",
            path={"id": id},
            body=body,
        ))

    def get_divergence(
        self,
        id: str,
        *,
        with_: str,
    ) -> DivergenceAnswer:
        """Find the first difference between two runs."""
        return cast("DivergenceAnswer", self._json(
            "GET",
            "/runs/{id}/divergence",
            path={"id": id},
            query={"with": with_},
        ))

    def backtest_policy(
        self,
        body: Optional[BacktestRequest] = None,
    ) -> Generator[Any, None, None]:
        """List the runs that another policy would have ended differently."""
        return self._lines(
            "POST",
            "/policies/backtest",
            body=body,
        )

    def get_stability(
        self,
        *,
        q: Optional[str] = None,
        since: Optional[str] = None,
        by: Optional[Literal["model", "promptHash", "template", "source", "policyVersion", "variant", "day", "week", "scenario"]] = None,
        count: Optional[Literal["decided", "all"]] = None,
    ) -> StabilityAnswer:
        """Describe how stable the decisions of runs are."""
        return cast("StabilityAnswer", self._json(
            "GET",
            "/stability",
            query={"q": q, "since": since, "by": by, "count": count},
        ))

    def list_marks(
        self,
        *,
        limit: Optional[int] = None,
        offset: Optional[int] = None,
        q: Optional[str] = None,
    ) -> MarkPage:
        """List marks of all runs."""
        return cast("MarkPage", self._json(
            "GET",
            "/marks",
            query={"limit": limit, "offset": offset, "q": q},
        ))

    def get_mark_agreement(
        self,
        *,
        name: Optional[str] = None,
        sources: Optional[str] = None,
        since: Optional[str] = None,
        q: Optional[str] = None,
    ) -> MarkAgreements:
        """Compare raters of the same targets."""
        return cast("MarkAgreements", self._json(
            "GET",
            "/marks/agreement",
            query={"name": name, "sources": sources, "since": since, "q": q},
        ))

    def list_agent_records(
        self,
        *,
        since: Optional[str] = None,
        q: Optional[str] = None,
        limit: Optional[int] = None,
    ) -> AgentVoteRecords:
        """Count how often the votes of all agents were right."""
        return cast("AgentVoteRecords", self._json(
            "GET",
            "/agents/records",
            query={"since": since, "q": q, "limit": limit},
        ))

    def get_agent_record(
        self,
        participant_id: str,
        *,
        since: Optional[str] = None,
        q: Optional[str] = None,
        limit: Optional[int] = None,
        by: Optional[Literal["prompt", "model", "policyVersion", "week"]] = None,
    ) -> AgentVoteRecord:
        """Count how often the votes of an agent were right."""
        return cast("AgentVoteRecord", self._json(
            "GET",
            "/agents/{participantId}/record",
            path={"participantId": participant_id},
            query={"since": since, "q": q, "limit": limit, "by": by},
        ))

    def get_committee_independence(
        self,
        *,
        q: Optional[str] = None,
        since: Optional[str] = None,
        seats: Optional[str] = None,
    ) -> CommitteeIndependences:
        """Count how many independent voters committees have."""
        return cast("CommitteeIndependences", self._json(
            "GET",
            "/committees/independence",
            query={"q": q, "since": since, "seats": seats},
        ))

    def get_committee_seats(
        self,
        *,
        q: Optional[str] = None,
        since: Optional[str] = None,
    ) -> CommitteeWorths:
        """Count what each voter of a committee is worth."""
        return cast("CommitteeWorths", self._json(
            "GET",
            "/committees/seats",
            query={"q": q, "since": since},
        ))

    def search_committee(
        self,
        body: CommitteeSearchRequest,
    ) -> CommitteeSearchAnswer:
        """Search the cheapest committee with the same outcomes."""
        return cast("CommitteeSearchAnswer", self._json(
            "POST",
            "/committees/search",
            body=body,
        ))

    def list_views(
        self,
        *,
        resource: Optional[Literal["runs", "events", "audit", "marks"]] = None,
    ) -> List[View]:
        """List the saved views."""
        return cast("List[View]", self._json(
            "GET",
            "/views",
            query={"resource": resource},
        ))

    def create_view(
        self,
        body: ViewRequest,
    ) -> View:
        """Save a view."""
        return cast("View", self._json(
            "POST",
            "/views",
            body=body,
        ))

    def update_view(
        self,
        id: str,
        body: Optional[ViewChange] = None,
    ) -> View:
        """Change a saved view."""
        return cast("View", self._json(
            "PATCH",
            "/views/{id}",
            path={"id": id},
            body=body,
        ))

    def delete_view(
        self,
        id: str,
    ) -> None:
        """Remove a saved view."""
        return self._nothing(
            "DELETE",
            "/views/{id}",
            path={"id": id},
        )

    def list_tombstones(
        self,
        *,
        run_id: Optional[str] = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
    ) -> TombstonePage:
        """List what stays of deleted runs."""
        return cast("TombstonePage", self._json(
            "GET",
            "/runs/tombstones",
            query={"runId": run_id, "limit": limit, "cursor": cursor},
        ))

    def get_run_seal(
        self,
        id: str,
    ) -> RunSeal:
        """Read the seal of a run."""
        return cast("RunSeal", self._json(
            "GET",
            "/runs/{id}/seal",
            path={"id": id},
        ))

    def get_run_salts(
        self,
        id: str,
        *,
        after_seq: Optional[int] = None,
        limit: Optional[int] = None,
    ) -> RunSalts:
        """Read what proves the events of a run."""
        return cast("RunSalts", self._json(
            "GET",
            "/runs/{id}/salts",
            path={"id": id},
            query={"afterSeq": after_seq, "limit": limit},
        ))

    def list_ledger(
        self,
        *,
        after: Optional[int] = None,
        limit: Optional[int] = None,
    ) -> LedgerPage:
        """List the ledger."""
        return cast("LedgerPage", self._json(
            "GET",
            "/ledger",
            query={"after": after, "limit": limit},
        ))

    def erase_from_run(
        self,
        id: str,
        body: ErasureRequest,
    ) -> Erasure:
        """Erase a text, or single members, from a run."""
        return cast("Erasure", self._json(
            "POST",
            "/runs/{id}/erasures",
            path={"id": id},
            body=body,
        ))

    def erase_from_runs(
        self,
        body: ErasureJobRequest,
    ) -> ErasureJob:
        """Erase a text from many runs."""
        return cast("ErasureJob", self._json(
            "POST",
            "/erasures",
            body=body,
        ))

    def list_erasures(
        self,
    ) -> ErasureJobPage:
        """List the erasures over many runs."""
        return cast("ErasureJobPage", self._json(
            "GET",
            "/erasures",
        ))

    def get_erasure(
        self,
        id: str,
    ) -> ErasureJob:
        """Read an erasure over many runs."""
        return cast("ErasureJob", self._json(
            "GET",
            "/erasures/{id}",
            path={"id": id},
        ))

    def add_mark(
        self,
        id: str,
        body: MarkRequest,
    ) -> Mark:
        """Add a mark to a run."""
        return cast("Mark", self._json(
            "POST",
            "/runs/{id}/marks",
            path={"id": id},
            body=body,
        ))

    def list_run_marks(
        self,
        id: str,
        *,
        limit: Optional[int] = None,
        offset: Optional[int] = None,
        name: Optional[str] = None,
        kind: Optional[Literal["run", "decision", "participant", "event", "llmCall"]] = None,
        source: Optional[Literal["human", "judge", "rule", "api"]] = None,
        history: Optional[bool] = None,
    ) -> MarkPage:
        """List the marks of a run."""
        return cast("MarkPage", self._json(
            "GET",
            "/runs/{id}/marks",
            path={"id": id},
            query={"limit": limit, "offset": offset, "name": name, "kind": kind, "source": source, "history": history},
        ))

    def delete_mark(
        self,
        id: str,
        mark_id: str,
        *,
        restore: Optional[bool] = None,
    ) -> None:
        """Delete a mark."""
        return self._nothing(
            "DELETE",
            "/runs/{id}/marks/{markId}",
            path={"id": id, "markId": mark_id},
            query={"restore": restore},
        )

    def list_mark_definitions(
        self,
    ) -> List[MarkDefinition]:
        """List the definitions of marks."""
        return cast("List[MarkDefinition]", self._json(
            "GET",
            "/marks/definitions",
        ))

    def get_mark_definition(
        self,
        name: str,
    ) -> MarkDefinition:
        """Read the definition of a name."""
        return cast("MarkDefinition", self._json(
            "GET",
            "/marks/definitions/{name}",
            path={"name": name},
        ))

    def put_mark_definition(
        self,
        name: str,
        body: MarkDefinitionRequest,
    ) -> MarkDefinition:
        """Define the values of a name."""
        return cast("MarkDefinition", self._json(
            "PUT",
            "/marks/definitions/{name}",
            path={"name": name},
            body=body,
        ))

    def delete_mark_definition(
        self,
        name: str,
    ) -> None:
        """Remove the definition of a name."""
        return self._nothing(
            "DELETE",
            "/marks/definitions/{name}",
            path={"name": name},
        )

    def list_alert_rules(
        self,
    ) -> List[AlertRuleState]:
        """List the alert rules."""
        return cast("List[AlertRuleState]", self._json(
            "GET",
            "/alerts/rules",
        ))

    def create_alert_rule(
        self,
        body: AlertRuleRequest,
    ) -> AlertRuleState:
        """Add an alert rule."""
        return cast("AlertRuleState", self._json(
            "POST",
            "/alerts/rules",
            body=body,
        ))

    def get_alert_rule(
        self,
        id: str,
    ) -> AlertRuleState:
        """Read an alert rule."""
        return cast("AlertRuleState", self._json(
            "GET",
            "/alerts/rules/{id}",
            path={"id": id},
        ))

    def put_alert_rule(
        self,
        id: str,
        body: AlertRuleChange,
    ) -> AlertRuleState:
        """Replace an alert rule."""
        return cast("AlertRuleState", self._json(
            "PUT",
            "/alerts/rules/{id}",
            path={"id": id},
            body=body,
        ))

    def delete_alert_rule(
        self,
        id: str,
    ) -> None:
        """Remove an alert rule."""
        return self._nothing(
            "DELETE",
            "/alerts/rules/{id}",
            path={"id": id},
        )

    def try_alert_rule(
        self,
        body: AlertRuleChange,
    ) -> AlertTest:
        """Test a rule before it is added."""
        return cast("AlertTest", self._json(
            "POST",
            "/alerts/rules/test",
            body=body,
        ))

    def test_alert_rule(
        self,
        id: str,
    ) -> AlertTest:
        """Test an alert rule."""
        return cast("AlertTest", self._json(
            "POST",
            "/alerts/rules/{id}/test",
            path={"id": id},
        ))

    def list_alert_budgets(
        self,
        *,
        at: Optional[str] = None,
    ) -> List[AlertBudget]:
        """List the budgets."""
        return cast("List[AlertBudget]", self._json(
            "GET",
            "/alerts/budgets",
            query={"at": at},
        ))

    def list_alert_silences(
        self,
    ) -> List[AlertSilence]:
        """List the silences."""
        return cast("List[AlertSilence]", self._json(
            "GET",
            "/alerts/silences",
        ))

    def create_alert_silence(
        self,
        body: AlertSilenceRequest,
    ) -> AlertSilence:
        """Silence alerts."""
        return cast("AlertSilence", self._json(
            "POST",
            "/alerts/silences",
            body=body,
        ))

    def delete_alert_silence(
        self,
        id: str,
    ) -> None:
        """End a silence."""
        return self._nothing(
            "DELETE",
            "/alerts/silences/{id}",
            path={"id": id},
        )

    def list_alerts(
        self,
        *,
        status: Optional[Literal["open", "resolved"]] = None,
        severity: Optional[Literal["info", "warning", "critical"]] = None,
        rule: Optional[str] = None,
        order: Optional[Literal["newest", "urgent"]] = None,
        limit: Optional[int] = None,
        offset: Optional[int] = None,
    ) -> AlertPage:
        """List alerts."""
        return cast("AlertPage", self._json(
            "GET",
            "/alerts",
            query={"status": status, "severity": severity, "rule": rule, "order": order, "limit": limit, "offset": offset},
        ))

    def list_run_alerts(
        self,
        id: str,
        *,
        status: Optional[Literal["open", "resolved"]] = None,
        severity: Optional[Literal["info", "warning", "critical"]] = None,
        rule: Optional[str] = None,
        order: Optional[Literal["newest", "urgent"]] = None,
        limit: Optional[int] = None,
        offset: Optional[int] = None,
    ) -> AlertPage:
        """List the alerts of a run."""
        return cast("AlertPage", self._json(
            "GET",
            "/runs/{id}/alerts",
            path={"id": id},
            query={"status": status, "severity": severity, "rule": rule, "order": order, "limit": limit, "offset": offset},
        ))

    def get_alert(
        self,
        id: str,
    ) -> AlertFiring:
        """Read an alert."""
        return cast("AlertFiring", self._json(
            "GET",
            "/alerts/{id}",
            path={"id": id},
        ))

    def acknowledge_alert(
        self,
        id: str,
        body: Optional[AlertNote] = None,
    ) -> AlertFiring:
        """Acknowledge an alert."""
        return cast("AlertFiring", self._json(
            "POST",
            "/alerts/{id}/ack",
            path={"id": id},
            body=body,
        ))

    def export_traces(
        self,
        body: Optional[Dict[str, Any]] = None,
    ) -> ExportAnswer:
        """Send spans."""
        return cast("ExportAnswer", self._json(
            "POST",
            "/v1/traces",
            body=body,
        ))

    def export_logs(
        self,
        body: Optional[Dict[str, Any]] = None,
    ) -> ExportAnswer:
        """Send log records."""
        return cast("ExportAnswer", self._json(
            "POST",
            "/v1/logs",
            body=body,
        ))

    def export_metrics(
        self,
        body: Optional[Dict[str, Any]] = None,
    ) -> ExportAnswer:
        """Send metrics."""
        return cast("ExportAnswer", self._json(
            "POST",
            "/v1/metrics",
            body=body,
        ))

    def get_health(
        self,
    ) -> Health:
        """Check that the process answers."""
        return cast("Health", self._json(
            "GET",
            "/healthz",
        ))

    def get_liveness(
        self,
    ) -> Liveness:
        """Check that the process lives."""
        return cast("Liveness", self._json(
            "GET",
            "/livez",
        ))

    def get_readiness(
        self,
        *,
        strict: Optional[Union[str, Sequence[str]]] = None,
    ) -> Readiness:
        """Check that the dependencies work."""
        return cast("Readiness", self._json(
            "GET",
            "/readyz",
            query={"strict": strict},
        ))

    def get_metrics(
        self,
    ) -> str:
        """Read the metrics of the process."""
        return self._text(
            "GET",
            "/metrics",
        )

    def get_seal_keys(
        self,
    ) -> SealKeySet:
        """Read the public keys of seals."""
        return cast("SealKeySet", self._json(
            "GET",
            "/.well-known/runplane-keys.json",
        ))
