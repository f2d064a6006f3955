# Generated from the OpenAPI document of Scenario launch service.
from __future__ import annotations

from typing import Any, Dict, Generator, List, Literal, Optional, Sequence, TypedDict, Union, cast

from ..http import Service, StreamMessage


class ActConsequence(TypedDict):
    """What the session could decide after one act of this seat, were it the next message."""

    act: Literal["approve", "reject", "abstain", "evaluate", "object", "accept", "decline"]
    """approve and reject are the votes of a decision and the ballots of a quorum; accept and decline answer a handoff."""
    positive: Literal["met", "certain", "possible", "impossible"]
    """met: a commitment would be accepted at once; certain: once all have acted, whatever they say; impossible: never again."""
    negative: Literal["met", "certain", "possible", "impossible"]
    """met: a commitment would be accepted at once; certain: once all have acted, whatever they say; impossible: never again."""


class _AgentProcessRequired(TypedDict):
    id: str
    """Id of the process in this service: UUID."""
    state: Literal["starting", "running", "stopping"]
    """starting until it counts as attached."""
    since: str
    """When it was started: ISO 8601."""
    sessionId: str
    """The session of its launch."""
    scenarioRef: str
    """The scenario: pack/scenario@version."""
    participantId: str
    """The participant that it speaks for."""
    agentRef: str
    """The agent."""


class AgentProcess(_AgentProcessRequired, total=False):
    """A process of an agent."""

    pid: int
    """Its id at the operating system; absent until it is started."""
    runId: str
    """Its run; absent while the launch is not answered, and without a control plane."""


class AgentProfile(TypedDict):
    """An example agent."""

    agentRef: str
    """Id of the agent in the catalog."""
    name: str
    """Name for readers."""
    role: str
    """What it does in a session."""
    framework: str
    """What it is built on."""
    description: str
    """What it knows about."""
    transportIdentity: str
    """Its address."""
    entrypoint: str
    """The program that is started."""
    bootstrapStrategy: str
    """How it is started."""
    bootstrapMode: Literal["attached", "mock", "deferred"]
    """attached agents are started as processes; mock and deferred ones are not started here."""
    tags: List[str]
    """Tags of the agent."""


class _AgentStartFailedRequired(TypedDict):
    statusCode: Literal[502]
    """The HTTP status."""
    errorCode: Literal["AUTH_MINT_FAILED", "AGENT_ATTACH_FAILED"]
    """What went wrong, for programs."""
    message: str
    """What went wrong, for people."""


class AgentStartFailed(_AgentStartFailedRequired, total=False):
    """An error answered with 502."""

    metadata: Dict[str, Any]
    """More about it, where there is something to say."""


class _AnswerConflictRequired(TypedDict):
    statusCode: Literal[409]
    """The HTTP status."""
    errorCode: Literal["ITEM_ANSWERED", "ITEM_STALE", "ITEM_NOT_OPEN", "BASIS_UNKNOWN", "HISTORY_GONE"]
    """What went wrong, for programs."""
    message: str
    """What went wrong, for people."""


class AnswerConflict(_AnswerConflictRequired, total=False):
    """An error answered with 409."""

    metadata: Dict[str, Any]
    """More about it, where there is something to say."""


class AnswerRequestBasis(TypedDict):
    """What of the session the person was shown: `basis` of the item."""

    ordinal: int
    """Ordinal of the basis that the person was shown."""
    sha256: str
    """Its running SHA-256."""


class _AnswerRequestRequired(TypedDict):
    act: Literal["approve", "reject", "abstain", "evaluate", "object", "accept", "decline"]
    """approve and reject are the votes of a decision and the ballots of a quorum; accept and decline answer a handoff."""
    proposalHash: str
    """proposalHash of the item as the person was shown it."""
    basis: AnswerRequestBasis
    """What of the session the person was shown: `basis` of the item."""


class AnswerRequest(_AnswerRequestRequired, total=False):
    """The answer of a person, bound to what it was shown."""

    recommendation: Literal["APPROVE", "REVIEW", "BLOCK", "REJECT"]
    """Of an evaluation."""
    confidence: float
    """From 0 to 1; a vote has none on the wire, so it is in the record of the control plane alone."""
    severity: Literal["low", "medium", "high", "critical"]
    """Of an objection."""
    reason: str
    """In the words of the person; it goes into the session."""
    passkey: PasskeyAssertion


class AnsweredItem(TypedDict):
    """An item with its answer, which the service sends from now on."""

    id: str
    """Id of the item: UUID."""
    state: ItemState
    given: ItemAnswer


class ApiKeyRejected(TypedDict):
    """A request without a valid key."""

    message: str
    """What is wrong with the key."""
    error: Literal["Unauthorized"]
    """The reason phrase of the status."""
    statusCode: Literal[401]
    """The HTTP status."""


class Basis(TypedDict):
    """What the caller is shown; absent while the session is read again."""

    ordinal: int
    """The last accepted message that was received; SessionStart is 1."""
    sha256: str
    """Running SHA-256 over all accepted messages up to it, hexadecimal."""
    withheld: List[int]
    """Ordinals up to it that were not shown before the answer."""


class CatalogAgent(TypedDict):
    """An example agent with the references of the scenarios it takes part in."""

    agentRef: str
    """Id of the agent in the catalog."""
    name: str
    """Name for readers."""
    role: str
    """What it does in a session."""
    framework: str
    """What it is built on."""
    description: str
    """What it knows about."""
    transportIdentity: str
    """Its address."""
    entrypoint: str
    """The program that is started."""
    bootstrapStrategy: str
    """How it is started."""
    bootstrapMode: Literal["attached", "mock", "deferred"]
    """attached agents are started as processes; mock and deferred ones are not started here."""
    tags: List[str]
    """Tags of the agent."""
    scenarios: List[str]
    """References of the scenarios that name the agent."""


class _CatalogEntryNotFoundRequired(TypedDict):
    statusCode: Literal[404]
    """The HTTP status."""
    errorCode: Literal["PACK_NOT_FOUND", "SCENARIO_NOT_FOUND", "VERSION_NOT_FOUND", "TEMPLATE_NOT_FOUND", "AGENT_NOT_FOUND", "PROCESS_NOT_FOUND", "ITEM_NOT_FOUND", "DELEGATION_NOT_FOUND", "PASSKEY_NOT_FOUND", "LINK_NOT_FOUND"]
    """What went wrong, for programs."""
    message: str
    """What went wrong, for people."""


class CatalogEntryNotFound(_CatalogEntryNotFoundRequired, total=False):
    """An error answered with 404."""

    metadata: Dict[str, Any]
    """More about it, where there is something to say."""


class CompileLaunchResultScenarioMeta(TypedDict, total=False):
    """For the caller only: no part of the descriptor."""

    policyHints: Dict[str, Any]
    """What the pack says about its governance policy."""
    sessionContext: Any
    """What the session is about, in the scenario's terms."""
    initiatorParticipantId: str
    """Who opens the session."""


class _CompileLaunchResultDisplayRequired(TypedDict):
    title: str
    """Title for readers."""
    scenarioRef: str
    """The scenario: pack/scenario@version."""


class CompileLaunchResultDisplay(_CompileLaunchResultDisplayRequired, total=False):
    """What a page shows of the launch."""

    templateId: str
    """The requested template."""
    expectedDecisionKinds: List[str]
    """Decisions that the session comes to."""


class CompileLaunchResultParticipantBindingsItem(TypedDict):
    participantId: str
    """The participant."""
    role: str
    """Its role in the session."""
    agentRef: str
    """The agent that speaks for it."""


_CompileLaunchResultShadowsItemRequired = TypedDict("_CompileLaunchResultShadowsItemRequired", {
    "shadow": "str",
    "as": "str",
    "agent": "str",
})


class CompileLaunchResultShadowsItem(_CompileLaunchResultShadowsItemRequired):
    pass


class _CompileLaunchResultRequired(TypedDict):
    sessionId: str
    """The session, allocated here: UUID v4; also in the descriptor."""
    mode: RunMode
    runDescriptor: RunDescriptor
    scenarioMeta: CompileLaunchResultScenarioMeta
    """For the caller only: no part of the descriptor."""
    display: CompileLaunchResultDisplay
    """What a page shows of the launch."""
    participantBindings: List[CompileLaunchResultParticipantBindingsItem]
    """Which agent speaks for whom."""


class CompileLaunchResult(_CompileLaunchResultRequired, total=False):
    """A run descriptor with the start data of its initiator agent."""

    initiator: LaunchInitiator
    people: PeopleText
    a2a: RemoteTurns
    shadows: List[CompileLaunchResultShadowsItem]
    """Agents that are tried beside a participant: they change nothing in the session."""


class _CompileRequestRequired(TypedDict):
    scenarioRef: str
    """The scenario: pack/scenario@version."""
    inputs: Dict[str, Any]
    """Inputs, checked against the JSON Schema of the scenario."""


class CompileRequest(_CompileRequestRequired, total=False):
    """A scenario and its inputs; unknown keys are dropped."""

    templateId: str
    """Slug of a template: its inputs stand in for missing ones, its changes apply to the launch."""
    mode: Literal["live", "sandbox"]
    """Mode of the run; sandbox unless said."""


class _ControlPlaneRunRequired(TypedDict):
    runId: str
    """Id of the run: UUID."""
    sessionId: str
    """Its session."""
    status: str
    """Its status when it was submitted."""


class ControlPlaneRun(_ControlPlaneRunRequired, total=False):
    """The run that the control plane made of the descriptor."""

    traceId: str
    """W3C trace id: 32 hex digits; absent when the control plane does not return it."""


_DelegationRequired = TypedDict("_DelegationRequired", {
    "id": "str",
    "by": "str",
    "to": "str",
    "from": "str",
    "until": "str",
    "reason": "str",
    "state": "Literal[\"planned\", \"active\", \"ended\", \"revoked\"]",
    "createdAt": "str",
})


_DelegationOptional = TypedDict("_DelegationOptional", {
    "scenarios": "List[str]",
    "revokedAt": "str",
}, total=False)


class Delegation(_DelegationRequired, _DelegationOptional):
    """A right of one person that another one uses for some time."""



class _DelegationListsRequired(TypedDict):
    given: List[Delegation]
    """Those that the caller has given, the newest first."""
    received: List[Delegation]
    """Those that the caller has received, the latest end first."""


class DelegationLists(_DelegationListsRequired, total=False):
    """The delegations of the caller, at most 200 of each kind."""

    nonce: str
    """For the header x-page-nonce of a write; only for a caller that is known by its cookie."""


_DelegationRequestRequired = TypedDict("_DelegationRequestRequired", {
    "to": "str",
    "until": "str",
    "reason": "str",
})


_DelegationRequestOptional = TypedDict("_DelegationRequestOptional", {
    "from": "str",
    "scenarios": "List[str]",
}, total=False)


class DelegationRequest(_DelegationRequestRequired, _DelegationRequestOptional):
    """A right of the caller that another person is to use."""



class EnrolmentChallenge(TypedDict):
    """What a new passkey is made for."""

    challenge: str
    """32 random bytes, base64url, for `navigator.credentials.create`."""
    rpId: str
    """Host of the page."""
    userId: str
    """The person for the authenticator: SHA-256 of its id, base64url."""
    userName: str
    """The person for its reader."""
    algorithms: List[int]
    """COSE algorithms that are taken: -7, ES256; -257, RS256."""
    passkeys: List[str]
    """Ids of the credentials that are enrolled already, base64url."""


class EnrolmentRequest(TypedDict):
    """A new passkey: `navigator.credentials.create` made it."""

    name: str
    """A name for the person."""
    credentialId: str
    """Id of the credential, base64url."""
    challenge: str
    """`challenge` as it was given."""
    clientDataJSON: str
    """Data of the browser, base64url."""
    attestationObject: str
    """Attestation of the authenticator, base64url."""


class ExampleRunLinks(TypedDict):
    """Where the run is found; there with controlPlaneRun."""

    run: str
    """The run at the control plane."""
    page: str
    """Its page in the web console."""


class ExampleRunQueue(TypedDict):
    """The wait of the launch for capacity for its agents; absent when it did not wait."""

    position: int
    """Position in the queue when the launch began to wait, from 1."""
    waitedMs: int
    """How long it waited, milliseconds."""


class _ExampleRunRequired(TypedDict):
    compiled: CompileLaunchResult
    hostedAgents: List[HostedAgent]
    """The agents, in the order of the scenario; empty when none were to be started."""


class ExampleRun(_ExampleRunRequired, total=False):
    """A launched example. controlPlaneRun is absent when nothing was submitted, or the submission failed."""

    sessionId: str
    """The session; absent when no agents were to be started."""
    controlPlaneRun: ControlPlaneRun
    links: ExampleRunLinks
    """Where the run is found; there with controlPlaneRun."""
    queue: ExampleRunQueue
    """The wait of the launch for capacity for its agents; absent when it did not wait."""


class ExampleRunRequestRequester(TypedDict, total=False):
    """On whose behalf; replaces the requester of the scenario."""

    actorId: str
    """Id of the requester, in the caller's own terms."""
    actorType: Literal["user", "service", "system"]
    """What the requester is."""


class _ExampleRunRequestGateRequired(TypedDict):
    case: str
    """Name of the case."""


class ExampleRunRequestGate(_ExampleRunRequestGateRequired, total=False):
    """The case of a gate that the run belongs to, kept as gate in the session's metadata."""

    seed: Union[str, int]
    """Seed of the agents; a model may ignore it."""
    model: str
    """Model that the agents should call; an agent may ignore it."""
    variant: str
    """Combination of the inputs that the case varies."""


class ExampleRunRequestTelemetry(TypedDict):
    """Which OpenTelemetry may join the run."""

    sources: List[str]
    """Sources whose spans with the session's id join the run."""


class _ExampleRunRequestRequired(TypedDict):
    scenarioRef: str
    """The scenario: pack/scenario@version."""
    inputs: Dict[str, Any]
    """Inputs, checked against the JSON Schema of the scenario."""


class ExampleRunRequest(_ExampleRunRequestRequired, total=False):
    """A scenario, its inputs, and how to run it; unknown keys are dropped."""

    templateId: str
    """Slug of a template: its inputs stand in for missing ones, its changes apply to the launch."""
    mode: Literal["live", "sandbox"]
    """Mode of the run; sandbox unless said."""
    bootstrapAgents: bool
    """Whether to start agents and to submit the run; the setting AUTO_BOOTSTRAP_EXAMPLE_AGENTS unless said."""
    tags: List[str]
    """Added to the tags of the run."""
    requester: ExampleRunRequestRequester
    """On whose behalf; replaces the requester of the scenario."""
    runLabel: str
    """Name of this run for readers, kept in the session's metadata."""
    idempotencyKey: str
    """A second request with this key and body starts nothing and has the answer of the first."""
    gate: ExampleRunRequestGate
    """The case of a gate that the run belongs to, kept as gate in the session's metadata."""
    telemetry: ExampleRunRequestTelemetry
    """Which OpenTelemetry may join the run."""
    againOf: str
    """Id of the run that this one repeats, kept in the session's metadata."""


class _HashedMembersSubjectRequired(TypedDict):
    messageId: str
    """Id of the message."""
    sender: str
    """Its sender."""
    type: str
    """Proposal, ApprovalRequest or HandoffOffer."""
    payloadSha256: str
    """SHA-256 of the bytes of the payload."""


class HashedMembersSubject(_HashedMembersSubjectRequired, total=False):
    """The message that is answered, as the runtime accepted it."""

    nonce: str
    """32 random bytes, hexadecimal: without them a short text could be guessed from the hash; erased with it."""


class HashedMembers(TypedDict):
    """Everything that an answer is bound to."""

    sessionId: str
    """The session."""
    mode: str
    """Id of the mode at the runtime."""
    modeVersion: str
    """Version of the mode."""
    configurationVersion: str
    """Version of the configuration."""
    policyVersion: str
    """The policy of the session."""
    policyHash: Union[str, None]
    """SHA-256 of the policy as the runtime has it; null when it could not be read."""
    participants: List[str]
    """The participants of the session, in its order."""
    subject: HashedMembersSubject
    """The message that is answered, as the runtime accepted it."""


class HealthAnswer(TypedDict):
    """The process answers."""

    ok: bool
    """Always true."""
    service: str
    """Name of the service."""


class _HostedAgentParticipantMetadataRequired(TypedDict):
    processAttached: bool
    """Whether a process was started."""


class HostedAgentParticipantMetadata(_HostedAgentParticipantMetadataRequired, total=False):
    """How the agent was started."""

    pid: int
    """Its process id on the service's machine."""
    launchMode: str
    """How it was started."""
    adapterFramework: str
    """The host that started it."""


class HostedAgent(TypedDict):
    """An agent as it was started for a run."""

    agentRef: str
    """Id of the agent in the catalog."""
    name: str
    """Name for readers."""
    role: str
    """What it does in a session."""
    framework: str
    """What it is built on."""
    description: str
    """What it knows about."""
    transportIdentity: str
    """Its address."""
    entrypoint: str
    """The program that is started."""
    bootstrapStrategy: str
    """How it is started."""
    bootstrapMode: Literal["attached", "mock", "deferred"]
    """attached agents are started as processes; mock and deferred ones are not started here."""
    tags: List[str]
    """Tags of the agent."""
    participantId: str
    """Participant of the session that the agent speaks for."""
    status: Literal["bootstrapped"]
    """Always bootstrapped: failures are errors."""
    participantMetadata: HostedAgentParticipantMetadata
    """How the agent was started."""


class _InboxEntryRequired(TypedDict):
    id: str
    """Id of the item: UUID."""
    sessionId: str
    """The session."""
    seat: str
    """The participant whose acts come from a person."""
    scenarioRef: str
    """The scenario: pack/scenario@version."""
    mode: Literal["decision", "quorum", "handoff"]
    """Mode of the session."""
    modeName: str
    """Its id at the runtime."""
    state: ItemState
    proposalHash: str
    """What an answer is bound to: SHA-256 over the canonical JSON of `hashed`."""
    createdAt: str
    """When the message was read that it is about."""


class InboxEntry(_InboxEntryRequired, total=False):
    """One question to one seat in one session, as a list shows it."""

    reason: str
    """Why it is closed, in words."""
    title: str
    """What is proposed, requested or offered, in one line."""
    openedAt: str
    """When it began to take an answer."""
    deadlineAt: str
    """Until when it takes an answer; absent: as long as the session lives."""
    seenAt: str
    """When an assigned person first read it while it was open."""
    closedAt: str
    """When it took no answer any more."""
    replaces: str
    """The stale item in place of which it is asked."""
    follows: str
    """The item whose evaluation or objection it follows: it takes the vote."""
    newItem: str
    """The item that replaces or follows this one."""


class InboxItemRun(TypedDict):
    """The run; absent without a control plane, and while it has none or does not answer."""

    runId: str
    """Id of the run at the control plane: UUID."""
    api: str
    """The run at the control plane."""
    page: str
    """Its page in the web console."""


class _InboxItemPayloadRequired(TypedDict):
    type: str
    """Its protobuf message."""
    base64: str
    """Its bytes as the runtime accepted them."""


class InboxItemPayload(_InboxItemPayloadRequired, total=False):
    """The payload of the message that is answered."""

    decoded: Dict[str, Any]
    """The same in the names of the protocol; absent when they cannot be read."""


class InboxItemProof(TypedDict):
    """How sure the service has to be of the person."""

    needed: Literal["session", "fresh", "passkey"]
    """session: a sign-in; fresh: one of the last five minutes; passkey: a passkey that signs the answer."""
    given: Literal["none", "link", "session", "fresh"]
    """What the caller has; none on a service that requires no sign-in; link: a personal link."""


class InboxItemPolicy(TypedDict):
    """The policy of the session."""

    version: str
    """Id of the policy."""
    lines: List[str]
    """Its rules in words; empty when they could not be read."""


class _InboxItemRequired(TypedDict):
    id: str
    """Id of the item: UUID."""
    sessionId: str
    """The session."""
    seat: str
    """The participant whose acts come from a person."""
    scenarioRef: str
    """The scenario: pack/scenario@version."""
    mode: Literal["decision", "quorum", "handoff"]
    """Mode of the session."""
    modeName: str
    """Its id at the runtime."""
    state: ItemState
    proposalHash: str
    """What an answer is bound to: SHA-256 over the canonical JSON of `hashed`."""
    createdAt: str
    """When the message was read that it is about."""
    payload: InboxItemPayload
    """The payload of the message that is answered."""
    hashed: HashedMembers
    assigned: List[ItemAssignee]
    """Who may answer: of the scenario, and who was added."""
    returns: List[ItemReturn]
    """Its returns, the first one first."""
    escalations: List[ItemEscalation]
    """The steps that were made, the first one first."""
    delegations: List[ItemDelegation]
    """The delegations that are in effect for it."""
    mayAnswer: bool
    """Whether the caller may answer, if it is open."""
    reasonRule: Literal["required", "optional"]
    """Whether an answer needs a reason."""
    proof: InboxItemProof
    """How sure the service has to be of the person."""
    acts: List[Literal["approve", "reject", "abstain", "evaluate", "object", "accept", "decline"]]
    """The answers that are possible now; it may be empty."""
    messages: List[ShownMessage]
    """Evaluations, objections and revealed votes about the same subject, in their order."""
    policy: InboxItemPolicy
    """The policy of the session."""


class InboxItem(_InboxItemRequired, total=False):
    """One question to one seat in one session."""

    reason: str
    """Why it is closed, in words."""
    title: str
    """What is proposed, requested or offered, in one line."""
    openedAt: str
    """When it began to take an answer."""
    deadlineAt: str
    """Until when it takes an answer; absent: as long as the session lives."""
    seenAt: str
    """When an assigned person first read it while it was open."""
    closedAt: str
    """When it took no answer any more."""
    replaces: str
    """The stale item in place of which it is asked."""
    follows: str
    """The item whose evaluation or objection it follows: it takes the vote."""
    newItem: str
    """The item that replaces or follows this one."""
    run: InboxItemRun
    """The run; absent without a control plane, and while it has none or does not answer."""
    notices: List[ItemNotice]
    """Who was notified; absent where no person was to be notified."""
    questions: List[ItemQuestion]
    """Questions to the agents, the first one first; absent without any."""
    onBehalfOf: str
    """The person for whom the caller reads and answers; absent for one who is assigned itself."""
    mayNotBecause: str
    """Why the caller may not answer, in words."""
    closedActs: str
    """Why an evaluation or an objection of this seat is not possible now."""
    basis: Basis
    unavailable: str
    """Why the item takes no answer now, such as a session that is being read again."""
    suspension: str
    """What the person has to know of the suspension of the session, such as an answer that waits for another party."""
    consequences: List[ActConsequence]
    """What each act leads to; absent while it would show withheld votes, and without known rules."""
    given: ItemAnswer
    nonce: str
    """For the header x-page-nonce of an answer to this item; only for a caller that is known by its cookie."""


class _InboxPageRequired(TypedDict):
    data: List[InboxEntry]
    """The items of this page."""
    limit: int
    """Most items of a page, as requested."""


class InboxPage(_InboxPageRequired, total=False):
    """One page of items, the oldest first."""

    nextCursor: str
    """Only on a full page: to be given as cursor for the next one."""


class _InboxUnavailableRequired(TypedDict):
    statusCode: Literal[503]
    """The HTTP status."""
    errorCode: Literal["SESSION_UNREAD", "DATABASE_UNAVAILABLE", "CODE_NOT_SENT"]
    """What went wrong, for programs."""
    message: str
    """What went wrong, for people."""


class InboxUnavailable(_InboxUnavailableRequired, total=False):
    """An error answered with 503."""

    metadata: Dict[str, Any]
    """More about it, where there is something to say."""


class IssuerUnavailable(TypedDict):
    """A token cannot be checked now."""

    message: str
    """What is wrong."""
    error: Literal["Service Unavailable"]
    """The reason phrase of the status."""
    statusCode: Literal[503]
    """The HTTP status."""


class _ItemAnswerContentRequired(TypedDict):
    act: Literal["approve", "reject", "abstain", "evaluate", "object", "accept", "decline"]
    """approve and reject are the votes of a decision and the ballots of a quorum; accept and decline answer a handoff."""
    reason: str
    """In the words of the person."""


class ItemAnswerContent(_ItemAnswerContentRequired, total=False):
    """Absent while it is withheld: the caller still has a question of this session to answer."""

    recommendation: Literal["APPROVE", "REVIEW", "BLOCK", "REJECT"]
    """Of an evaluation."""
    confidence: float
    """From 0 to 1."""
    severity: Literal["low", "medium", "high", "critical"]
    """Of an objection."""


class _ItemAnswerRequired(TypedDict):
    at: str
    """When it was stored."""


class ItemAnswer(_ItemAnswerRequired, total=False):
    """Who has answered an item, when, and how."""

    by: str
    """The person; absent for an act of the deadline."""
    onBehalfOf: str
    """The person whose delegation gave the right; absent for an answer of its own."""
    proof: Literal["none", "link", "slack", "session", "fresh", "passkey"]
    """What proves that the person gave it, the weakest first: none: a service without sign-in; link: a personal link and its code; slack: a press there; session, fresh: a sign-in; passkey: a signature. Absent for an act of the deadline."""
    content: ItemAnswerContent
    """Absent while it is withheld: the caller still has a question of this session to answer."""


class _ItemAssigneeRequired(TypedDict):
    to: str
    """`person:` or `group:` and an id."""


class ItemAssignee(_ItemAssigneeRequired, total=False):
    """Who may answer."""

    by: str
    """Who added it; absent for one of the scenario."""
    at: str
    """When it was added."""
    reason: str
    """Why it was added."""
    step: int
    """The step of the escalation that added it, from 1 on; absent else."""


class _ItemDelegationRequired(TypedDict):
    id: str
    """Id of the delegation: UUID."""
    by: str
    """The assigned person who delegates."""
    to: str
    """The delegate."""
    until: str
    """Until when."""


class ItemDelegation(_ItemDelegationRequired, total=False):
    """A delegation of a person who is assigned to the item."""

    mayNotBecause: str
    """Why it gives no right to this item; absent for one that does."""


class _ItemEscalationRequired(TypedDict):
    step: int
    """Its position in `escalate` of the scenario, from 1 on."""
    to: List[str]
    """The persons and groups that it added."""
    at: str
    """When it was made."""
    cause: Literal["time", "delegation"]
    """time; or delegation: one to a person who may not answer makes the first step at once."""
    reach: Literal["persons", "unknown", "none"]
    """persons: one who may answer is known; unknown: a group can have one; none: no person may answer."""


class ItemEscalation(_ItemEscalationRequired, total=False):
    """A step that added who may answer."""

    why: str
    """Why no person is known to be reached."""


class _ItemGoneRequired(TypedDict):
    statusCode: Literal[410]
    """The HTTP status."""
    errorCode: Literal["ITEM_CLOSED", "LINK_OVER"]
    """What went wrong, for programs."""
    message: str
    """What went wrong, for people."""


class ItemGone(_ItemGoneRequired, total=False):
    """An error answered with 410."""

    metadata: Dict[str, Any]
    """More about it, where there is something to say."""


class _ItemNoticeRequired(TypedDict):
    event: str
    """What it reports: opened, escalated, returned, delegated, reminded or closed."""
    person: str
    """Whom."""
    channel: str
    """How: mail or slack."""
    state: Literal["pending", "sent", "failed", "digested", "obsolete"]
    """pending: not sent yet; sent: the mail server or Slack has it; failed: it is given up; digested: a digest has it in its stead; obsolete: the question was closed before."""
    at: str
    """When it ended; of a pending one, when it was due first."""


class ItemNotice(_ItemNoticeRequired, total=False):
    """A notice of the item to a person."""

    reason: str
    """Why it is not sent."""


class ItemQuestion(TypedDict):
    """A question of a person to the agents of the session."""

    by: str
    """Who sent it."""
    at: str
    """When it was sent."""
    text: str
    """In the words of the person."""


class _ItemReturnRequired(TypedDict):
    by: str
    """Who returned it."""
    at: str
    """When it was returned."""
    reason: str
    """Why, in the words of the person."""


class ItemReturn(_ItemReturnRequired, total=False):
    """A return of the item."""

    to: str
    """Who was added; absent for an item given back to those who were assigned."""

ItemState = Literal["waiting", "open", "answered", "sent", "accepted", "stale", "not-needed", "expired", "withdrawn", "refused", "unknown"]


class _LaunchConflictRequired(TypedDict):
    statusCode: Literal[409]
    """The HTTP status."""
    errorCode: Literal["CONFLICT"]
    """What went wrong, for programs."""
    message: str
    """What went wrong, for people."""


class LaunchConflict(_LaunchConflictRequired, total=False):
    """An error answered with 409."""

    metadata: Dict[str, Any]
    """More about it, where there is something to say."""


class _LaunchForbiddenRequired(TypedDict):
    statusCode: Literal[403]
    """The HTTP status."""
    errorCode: Literal["FORBIDDEN", "SIGN_IN_NOT_FRESH", "PASSKEY_MISSING", "PASSKEY_REFUSED", "LINK_REFUSED", "LINK_CODE_WRONG", "LINK_CODE_MISSING"]
    """What went wrong, for programs."""
    message: str
    """What went wrong, for people."""


class LaunchForbidden(_LaunchForbiddenRequired, total=False):
    """An error answered with 403."""

    metadata: Dict[str, Any]
    """More about it, where there is something to say."""


class _LaunchInitiatorSessionStartRequired(TypedDict):
    intent: str
    """What the session is for."""
    participants: List[str]
    """Participants to invite."""
    ttlMs: int
    """Time-to-live of the session, milliseconds."""
    modeVersion: str
    """Version of the mode."""
    configurationVersion: str
    """Version of the configuration."""


class LaunchInitiatorSessionStart(_LaunchInitiatorSessionStartRequired, total=False):
    """What the SessionStart message says."""

    policyVersion: str
    """Governance policy."""
    maxSuspendMs: int
    """Longest suspension, milliseconds."""
    contextId: str
    """Context to open the session in."""
    extensions: Dict[str, str]
    """Extensions of the start, texts by name."""


class _LaunchInitiatorKickoffRequired(TypedDict):
    messageType: str
    """Type of the message."""
    payload: Dict[str, Any]
    """Its payload, as the scenario defines it."""


class LaunchInitiatorKickoff(_LaunchInitiatorKickoffRequired, total=False):
    """The first message of the session."""

    payloadType: str
    """Type of its payload."""


class _LaunchInitiatorRequired(TypedDict):
    participantId: str
    """Who opens the session."""
    sessionStart: LaunchInitiatorSessionStart
    """What the SessionStart message says."""


class LaunchInitiator(_LaunchInitiatorRequired, total=False):
    """What the initiator agent needs to open the session."""

    kickoff: LaunchInitiatorKickoff
    """The first message of the session."""


class LaunchQueueAgents(TypedDict):
    """Capacity for agents."""

    running: int
    """Agent processes that run or are about to."""
    limit: int
    """Most agent processes at a time."""


class _LaunchQueueWaitingItemRequired(TypedDict):
    position: int
    """Position in the queue, from 1."""
    sessionId: str
    """The session that the launch has allocated."""
    scenarioRef: str
    """The scenario: pack/scenario@version."""
    agents: int
    """Agent processes that it needs."""
    waitingMs: int
    """How long it has waited, milliseconds."""


class LaunchQueueWaitingItem(_LaunchQueueWaitingItemRequired, total=False):
    runLabel: str
    """The label that the caller gave the run."""


class LaunchQueue(TypedDict):
    """Launches that wait for capacity for their agents."""

    agents: LaunchQueueAgents
    """Capacity for agents."""
    limit: int
    """Most launches that wait."""
    waiting: List[LaunchQueueWaitingItem]
    """Launches that wait, the next one first."""


class _LaunchRejectedRequired(TypedDict):
    statusCode: Literal[400]
    """The HTTP status."""
    errorCode: Literal["INVALID_SCENARIO_REF", "VALIDATION_ERROR", "COMPILATION_ERROR"]
    """What went wrong, for programs."""
    message: str
    """What went wrong, for people."""


class LaunchRejected(_LaunchRejectedRequired, total=False):
    """An error answered with 400."""

    metadata: Dict[str, Any]
    """More about it, where there is something to say."""


class LaunchSchemaParticipantsItem(TypedDict):
    id: str
    """Id of the participant."""
    role: str
    """Its role in the session."""
    agentRef: str
    """The agent that speaks for it."""


class _LaunchSchemaRuntimeRequired(TypedDict):
    kind: str
    """Kind of runtime."""


class LaunchSchemaRuntime(_LaunchSchemaRuntimeRequired, total=False):
    """The runtime it runs on."""

    version: str
    """Its version."""


class _LaunchSchemaLaunchSummaryRequired(TypedDict):
    modeName: str
    """Session mode."""
    modeVersion: str
    """Version of the mode."""
    configurationVersion: str
    """Version of the configuration."""
    ttlMs: int
    """Time-to-live of the session, milliseconds."""


class LaunchSchemaLaunchSummary(_LaunchSchemaLaunchSummaryRequired, total=False):
    """The session it opens."""

    policyVersion: str
    """Governance policy."""
    initiatorParticipantId: str
    """Who opens the session."""
    policyHints: Dict[str, Any]
    """What the pack says about its governance policy, for display."""


class _LaunchSchemaRequired(TypedDict):
    scenarioRef: str
    """The scenario: pack/scenario@version."""
    formSchema: Dict[str, Any]
    """JSON Schema of the inputs."""
    defaults: Dict[str, Any]
    """Inputs to begin with: the defaults of the schema, then those of the template."""
    participants: List[LaunchSchemaParticipantsItem]
    """Participants in the order of the scenario."""
    agents: List[AgentProfile]
    """The agents that take part."""
    runtime: LaunchSchemaRuntime
    """The runtime it runs on."""
    launchSummary: LaunchSchemaLaunchSummary
    """The session it opens."""


class LaunchSchema(_LaunchSchemaRequired, total=False):
    """The inputs of a scenario version and what it will launch."""

    templateId: str
    """The requested template."""
    expectedDecisionKinds: List[str]
    """Decisions that its sessions come to."""


class _LaunchUnaffordableRequired(TypedDict):
    statusCode: Literal[409]
    """The HTTP status."""
    errorCode: Literal["BUDGET_EXHAUSTED"]
    """What went wrong, for programs."""
    message: str
    """What went wrong, for people."""


class LaunchUnaffordable(_LaunchUnaffordableRequired, total=False):
    """An error answered with 409."""

    metadata: Dict[str, Any]
    """More about it, where there is something to say."""


class LauncherCheck(TypedDict):
    """One thing that the launch service depends on."""

    ok: bool
    """Whether it works."""
    detail: str
    """What it is, or why it does not work."""


class _LauncherFaultRequired(TypedDict):
    statusCode: Literal[500]
    """The HTTP status."""
    errorCode: Literal["INVALID_PACK_DATA", "INVALID_CONFIG", "INTERNAL_ERROR"]
    """What went wrong, for programs."""
    message: str
    """What went wrong, for people."""


class LauncherFault(_LauncherFaultRequired, total=False):
    """An error answered with 500."""

    metadata: Dict[str, Any]
    """More about it, where there is something to say."""


class _LauncherNotReadyChecksRequired(TypedDict):
    catalog: LauncherCheck


class LauncherNotReadyChecks(_LauncherNotReadyChecksRequired, total=False):
    """Of the scenario packs, of the background loops, of the control plane and of the database of the seats when they are configured, and of launched runs while the control plane does not have them."""

    loops: LauncherCheck
    controlPlane: LauncherCheck
    database: LauncherCheck
    launchedRuns: LauncherCheck


class _LauncherNotReadyRequired(TypedDict):
    status: Literal["ok", "degraded"]
    """degraded when a check fails."""
    ok: bool
    """Whether status is ok."""
    checks: LauncherNotReadyChecks
    """Of the scenario packs, of the background loops, of the control plane and of the database of the seats when they are configured, and of launched runs while the control plane does not have them."""


class LauncherNotReady(_LauncherNotReadyRequired, total=False):
    """Answered to a strict probe."""

    stopping: bool
    """true once the service has begun to stop."""


class _LauncherReadinessChecksRequired(TypedDict):
    catalog: LauncherCheck


class LauncherReadinessChecks(_LauncherReadinessChecksRequired, total=False):
    """Of the scenario packs, of the background loops, of the control plane and of the database of the seats when they are configured, and of launched runs while the control plane does not have them."""

    loops: LauncherCheck
    controlPlane: LauncherCheck
    database: LauncherCheck
    launchedRuns: LauncherCheck


class _LauncherReadinessRequired(TypedDict):
    status: Literal["ok", "degraded"]
    """degraded when a check fails."""
    ok: bool
    """Whether status is ok."""
    checks: LauncherReadinessChecks
    """Of the scenario packs, of the background loops, of the control plane and of the database of the seats when they are configured, and of launched runs while the control plane does not have them."""


class LauncherReadiness(_LauncherReadinessRequired, total=False):
    """Whether everything the service depends on works."""

    stopping: bool
    """true once the service has begun to stop."""


class _LaunchesFullRequired(TypedDict):
    statusCode: Literal[503]
    """The HTTP status."""
    errorCode: Literal["LAUNCHES_FULL"]
    """What went wrong, for programs."""
    message: str
    """What went wrong, for people."""


class LaunchesFull(_LaunchesFullRequired, total=False):
    """An error answered with 503."""

    metadata: Dict[str, Any]
    """More about it, where there is something to say."""


class LinkAnswerRequestBasis(TypedDict):
    """What of the session the person was shown: `basis` of the item."""

    ordinal: int
    """Ordinal of the basis that the person was shown."""
    sha256: str
    """Its running SHA-256."""


class _LinkAnswerRequestRequired(TypedDict):
    act: Literal["approve", "reject", "abstain", "evaluate", "object", "accept", "decline"]
    """approve and reject are the votes of a decision and the ballots of a quorum; accept and decline answer a handoff."""
    proposalHash: str
    """proposalHash of the item as the person was shown it."""
    basis: LinkAnswerRequestBasis
    """What of the session the person was shown: `basis` of the item."""
    token: str
    """What the link has behind `#`: 32 random bytes, base64url."""
    code: str
    """The last code that was sent: six digits."""


class LinkAnswerRequest(_LinkAnswerRequestRequired, total=False):
    """The answer of a person, by its link and a code."""

    recommendation: Literal["APPROVE", "REVIEW", "BLOCK", "REJECT"]
    """Of an evaluation."""
    confidence: float
    """From 0 to 1; a vote has none on the wire, so it is in the record of the control plane alone."""
    severity: Literal["low", "medium", "high", "critical"]
    """Of an objection."""
    reason: str
    """In the words of the person; it goes into the session."""


class LinkRequest(TypedDict):
    """A personal link. It is in the body: addresses are logged."""

    token: str
    """What the link has behind `#`: 32 random bytes, base64url."""


class LinkedItem(TypedDict):
    """The question of a personal link."""

    person: str
    """Whose link it is."""
    codeTo: str
    """Where codes are sent, in part."""
    expiresAt: str
    """Until when the link takes an answer."""
    codesLeft: int
    """How many codes it can still send."""
    item: InboxItem


class Liveness(TypedDict):
    """The process answers."""

    status: Literal["ok"]
    """Always ok."""


class LogLevelChange(TypedDict):
    """The levels after and before the call."""

    level: Literal["trace", "debug", "info", "warn", "error", "fatal", "none"]
    """Entries below this level are not logged."""
    previous: Literal["trace", "debug", "info", "warn", "error", "fatal", "none"]
    """The level until now."""


class MalformedBody(TypedDict):
    """A body or a query that breaks rules."""

    message: Union[str, List[str]]
    """Every broken rule, or the text of the JSON parser."""
    error: Literal["Bad Request"]
    """The reason phrase of the status."""
    statusCode: Literal[400]
    """The HTTP status."""


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


class NewLogLevel(TypedDict):
    """The level from now on."""

    level: Literal["trace", "debug", "info", "warn", "error", "fatal", "none"]
    """Entries below this level are not logged."""


class OversizedBody(TypedDict):
    """The body is over 1 MB."""

    message: str
    """What is wrong."""
    error: Literal["Payload Too Large"]
    """The reason phrase of the status."""
    statusCode: Literal[413]
    """The HTTP status."""


class Pack(TypedDict):
    """A set of scenarios."""

    slug: str
    """First part of a scenario reference."""
    name: str
    """Name for readers."""
    description: str
    """What its scenarios are about."""
    tags: List[str]
    """Tags of the pack."""


class _PasskeyRequired(TypedDict):
    id: str
    """Id of the passkey: UUID."""
    name: str
    """As the person has named it."""
    rpId: str
    """Host of the page for which it was made."""
    enrolledAt: str
    """When it was enrolled: it counts for questions that opened later."""


class Passkey(_PasskeyRequired, total=False):
    """A passkey of the caller."""

    usedAt: str
    """When it last signed an answer."""


class PasskeyAssertion(TypedDict):
    """How a passkey has signed the answer; required where the item needs the proof passkey."""

    credentialId: str
    """Id of the credential, base64url."""
    nonce: str
    """`nonce` of the challenge."""
    authenticatorData: str
    """Data of the authenticator, base64url."""
    clientDataJSON: str
    """Data of the browser, base64url."""
    signature: str
    """Signature of the passkey, base64url."""


class PasskeyChallenge(TypedDict):
    """What a passkey signs together with the answer."""

    nonce: str
    """32 random bytes, hexadecimal: a member of what the passkey signs."""
    rpId: str
    """Host of the page for which the passkeys were made."""
    passkeys: List[str]
    """Ids of the credentials that count, base64url."""


class _PasskeysRequired(TypedDict):
    data: List[Passkey]
    """The passkeys of the caller, the oldest first."""
    enrolment: Literal["ready", "sign-in", "impossible"]
    """Whether one can be enrolled now; sign-in: after a fresh sign-in at the issuer."""


class Passkeys(_PasskeysRequired, total=False):
    """The passkeys of the caller."""

    why: str
    """Why none can be enrolled, in words."""
    nonce: str
    """For the header x-page-nonce; only for a caller that is known by its cookie."""


class _PeopleAuditEntryRequired(TypedDict):
    id: str
    """Position of the entry; later entries have greater ones."""
    at: str
    """When it was done."""
    actor: str
    """The person; `service`, `deadline` or `retention` for what no person did."""
    action: str
    """What was done."""
    detail: Dict[str, Any]
    """More about it; it has no text of a proposal, and of an answer its act alone."""


class PeopleAuditEntry(_PeopleAuditEntryRequired, total=False):
    """Who did what to which question."""

    item: str
    """The question; absent for what concerns none."""
    sessionId: str
    """The session of the question."""
    seat: str
    """The seat of the question."""


class _PeopleAuditPageRequired(TypedDict):
    data: List[PeopleAuditEntry]
    """The entries of this page, the newest first."""
    limit: int
    """Most entries of a page, as requested."""


class PeopleAuditPage(_PeopleAuditPageRequired, total=False):
    """One page of the audit of questions and answers."""

    nextCursor: str
    """Only on a full page: to be given as cursor for the next one."""


class PeopleErasure(TypedDict):
    """How many rows of the launch service have lost their texts."""

    sessionId: str
    """The session."""
    seats: int
    """Seats that were erased now; 0 for a session that was erased before."""
    items: int
    """Questions that lost their payload and its hash."""
    answers: int
    """Answers that lost their reason, their message and its hash."""
    nonces: int
    """Nonces that were deleted: without them nothing can be guessed from a proposal's hash."""
    records: int
    """Copies of what the control plane has that were deleted."""
    returns: int
    """Reasons of returned questions that were erased."""
    questions: int
    """Questions to the agents that were erased."""
    delegations: int
    """Reasons of delegations by which a question was answered that were erased."""


class PeopleErasureRequest(TypedDict):
    """A session whose texts are to be erased."""

    sessionId: str
    """The session."""
    reason: str
    """Why; it stays in the audit, so it must not contain an erased text."""


class PeopleTextValueEscalateItem(TypedDict):
    after: str
    to: List[str]


class PeopleTextValueNotify(TypedDict):
    content: Literal["link", "full"]


class _PeopleTextValueRequired(TypedDict):
    assign: List[str]


class PeopleTextValue(_PeopleTextValueRequired, total=False):
    ask: Literal["always", "pivotal"]
    when: Literal["proposed", "evaluated", "others-voted"]
    reveal: Literal["after", "before"]
    acts: List[Literal["evaluate", "object", "vote", "abstain", "approve", "reject", "accept", "decline"]]
    distinctFrom: List[str]
    deadline: str
    escalate: List[PeopleTextValueEscalateItem]
    onDeadline: Literal["nothing", "abstain", "reject"]
    stale: Literal["proposal", "record"]
    reason: Literal["required", "optional"]
    proof: Literal["session", "fresh", "passkey"]
    wait: Literal["open", "suspend"]
    notify: PeopleTextValueNotify

PeopleText = Dict[str, "PeopleTextValue"]


class QuestionRequest(TypedDict):
    """A question to the agents of the session: no act."""

    text: str
    """The question, in the words of the person."""


class QuestionedItem(TypedDict):
    """An item with the questions to the agents."""

    id: str
    """Id of the item: UUID."""
    questions: List[ItemQuestion]
    """All questions about it, the first one first."""


class RemoteTurnsValueRules(TypedDict, total=False):
    ask: Literal["always", "pivotal"]
    when: Literal["proposed", "evaluated", "others-voted"]
    acts: List[Literal["evaluate", "object", "vote", "abstain", "approve", "reject", "accept", "decline"]]
    deadline: str
    stale: Literal["proposal", "record"]
    onFailure: Literal["nothing", "abstain"]


class _RemoteTurnsValueAgentInterfaceRequired(TypedDict):
    url: str
    binding: Literal["JSONRPC", "HTTP+JSON"]
    streaming: bool


class RemoteTurnsValueAgentInterface(_RemoteTurnsValueAgentInterfaceRequired, total=False):
    push: bool
    tenant: str


class _RemoteTurnsValueAgentRequired(TypedDict):
    agentRef: str
    """Its name in the catalog."""
    entrypoint: str
    """Address of its card."""
    cardSha256: str
    """SHA-256 of the card as it was served, hexadecimal."""
    signature: str
    """What is known of the signatures of the card, in words."""
    interface: RemoteTurnsValueAgentInterface


class RemoteTurnsValueAgent(_RemoteTurnsValueAgentRequired, total=False):
    auth: str
    """The variable of the service's environment with its credential."""


class RemoteTurnsValue(TypedDict):
    rules: RemoteTurnsValueRules
    agent: RemoteTurnsValueAgent

RemoteTurns = Dict[str, "RemoteTurnsValue"]


class Requester(TypedDict, total=False):
    """On whose behalf a run is created."""

    actorId: str
    """Id of the requester, in the caller's own terms."""
    actorType: Literal["user", "service", "system"]
    """What the requester is."""


class _ReturnRequestRequired(TypedDict):
    reason: str
    """Why it is returned; the others assigned to it read it."""


class ReturnRequest(_ReturnRequestRequired, total=False):
    """An open item that a person gives back, or to a colleague."""

    to: str
    """`person:` or `group:` and an id, who may answer from now on too."""


class ReturnedItem(TypedDict):
    """An item with all who may answer it."""

    id: str
    """Id of the item: UUID."""
    assigned: List[ItemAssignee]
    """Who may answer now."""
    returns: List[ItemReturn]
    """Its returns, the first one first."""


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

RunMode = Literal["live", "sandbox"]


class RunTelemetry(TypedDict):
    """Which OpenTelemetry may join the run."""

    sources: List[str]
    """Sources whose spans with the session's id join the run."""


class _ScenarioSummaryRequired(TypedDict):
    scenario: str
    """Slug of the scenario: middle part of a scenario reference."""
    name: str
    """Name for readers."""
    versions: List[str]
    """Its versions, the oldest first."""
    templates: List[str]
    """Slugs of its templates."""
    agentRefs: List[str]
    """The agents it takes."""


class ScenarioSummary(_ScenarioSummaryRequired, total=False):
    """A scenario with its versions and templates."""

    packSlug: str
    """Its pack; only where scenarios of several packs are listed."""
    summary: str
    """What it is about."""
    tags: List[str]
    """Tags of the scenario."""
    runtimeKind: str
    """Kind of runtime it runs on."""
    policyHints: Dict[str, Any]
    """What the pack says about its governance policy, for display."""


class SentCode(TypedDict):
    """A code that was sent; it replaces the one before."""

    codeTo: str
    """Where the code was sent, in part."""
    codesLeft: int
    """How many codes the link can still send."""


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


class _ShownMessageRequired(TypedDict):
    ordinal: int
    """Its number among the accepted messages of the session; SessionStart is 1."""
    by: str
    """Its sender."""
    type: str
    """Type of the message."""


class ShownMessage(_ShownMessageRequired, total=False):
    """A message about the same subject."""

    recommendation: str
    """Of an evaluation."""
    confidence: float
    """Of an evaluation: 0 to 1."""
    severity: str
    """Of an objection."""
    vote: str
    """Of a vote: APPROVE, REJECT or ABSTAIN."""
    reason: str
    """In the words of its sender."""


class _TooManyAnswersRequired(TypedDict):
    statusCode: Literal[429]
    """The HTTP status."""
    errorCode: Literal["TOO_MANY_ANSWERS"]
    """What went wrong, for programs."""
    message: str
    """What went wrong, for people."""


class TooManyAnswers(_TooManyAnswersRequired, total=False):
    """An error answered with 429."""

    metadata: Dict[str, Any]
    """More about it, where there is something to say."""


class _TooManyCodesRequired(TypedDict):
    statusCode: Literal[429]
    """The HTTP status."""
    errorCode: Literal["TOO_MANY_CODES"]
    """What went wrong, for programs."""
    message: str
    """What went wrong, for people."""


class TooManyCodes(_TooManyCodesRequired, total=False):
    """An error answered with 429."""

    metadata: Dict[str, Any]
    """More about it, where there is something to say."""


class _TooManyQuestionsRequired(TypedDict):
    statusCode: Literal[429]
    """The HTTP status."""
    errorCode: Literal["TOO_MANY_QUESTIONS"]
    """What went wrong, for programs."""
    message: str
    """What went wrong, for people."""


class TooManyQuestions(_TooManyQuestionsRequired, total=False):
    """An error answered with 429."""

    metadata: Dict[str, Any]
    """More about it, where there is something to say."""


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


class _TooManyStreamsRequired(TypedDict):
    statusCode: Literal[429]
    """The HTTP status."""
    errorCode: Literal["TOO_MANY_STREAMS"]
    """What went wrong, for programs."""
    message: str
    """What went wrong, for people."""


class TooManyStreams(_TooManyStreamsRequired, total=False):
    """An error answered with 429."""

    metadata: Dict[str, Any]
    """More about it, where there is something to say."""


class LauncherCalls(Service):
    """Every operation of Scenario launch service, by the name that the OpenAPI document has for it."""

    def list_packs(
        self,
    ) -> List[Pack]:
        """List packs."""
        return cast("List[Pack]", self._json(
            "GET",
            "/packs",
        ))

    def list_pack_scenarios(
        self,
        pack_slug: str,
    ) -> List[ScenarioSummary]:
        """List the scenarios of a pack."""
        return cast("List[ScenarioSummary]", self._json(
            "GET",
            "/packs/{packSlug}/scenarios",
            path={"packSlug": pack_slug},
        ))

    def list_scenarios(
        self,
    ) -> List[ScenarioSummary]:
        """List the scenarios of all packs."""
        return cast("List[ScenarioSummary]", self._json(
            "GET",
            "/scenarios",
        ))

    def list_agents(
        self,
    ) -> List[CatalogAgent]:
        """List example agents."""
        return cast("List[CatalogAgent]", self._json(
            "GET",
            "/agents",
        ))

    def get_agent(
        self,
        agent_ref: str,
    ) -> CatalogAgent:
        """Read one example agent."""
        return cast("CatalogAgent", self._json(
            "GET",
            "/agents/{agentRef}",
            path={"agentRef": agent_ref},
        ))

    def get_launch_schema(
        self,
        pack_slug: str,
        scenario_slug: str,
        version: str,
        *,
        template: Optional[str] = None,
    ) -> LaunchSchema:
        """Read the inputs of a scenario."""
        return cast("LaunchSchema", self._json(
            "GET",
            "/packs/{packSlug}/scenarios/{scenarioSlug}/versions/{version}/launch-schema",
            path={"packSlug": pack_slug, "scenarioSlug": scenario_slug, "version": version},
            query={"template": template},
        ))

    def compile_launch(
        self,
        body: CompileRequest,
    ) -> CompileLaunchResult:
        """Compile inputs into a run descriptor."""
        return cast("CompileLaunchResult", self._json(
            "POST",
            "/launch/compile",
            body=body,
        ))

    def run_example(
        self,
        body: ExampleRunRequest,
    ) -> ExampleRun:
        """Launch a scenario with example agents."""
        return cast("ExampleRun", self._json(
            "POST",
            "/examples/run",
            body=body,
        ))

    def get_launch_queue(
        self,
    ) -> LaunchQueue:
        """List the waiting launches."""
        return cast("LaunchQueue", self._json(
            "GET",
            "/examples/queue",
        ))

    def list_processes(
        self,
    ) -> List[AgentProcess]:
        """List the agent processes."""
        return cast("List[AgentProcess]", self._json(
            "GET",
            "/processes",
        ))

    def stop_process(
        self,
        id: str,
    ) -> None:
        """Stop an agent process."""
        return self._nothing(
            "DELETE",
            "/processes/{id}",
            path={"id": id},
        )

    def list_people_audit(
        self,
        *,
        item: Optional[str] = None,
        actor: Optional[str] = None,
        cursor: Optional[str] = None,
        limit: Optional[int] = None,
    ) -> PeopleAuditPage:
        """Read the audit of questions and answers."""
        return cast("PeopleAuditPage", self._json(
            "GET",
            "/people/audit",
            query={"item": item, "actor": actor, "cursor": cursor, "limit": limit},
        ))

    def erase_people_texts(
        self,
        body: PeopleErasureRequest,
    ) -> PeopleErasure:
        """Erase the texts of a session."""
        return cast("PeopleErasure", self._json(
            "POST",
            "/people/erasures",
            body=body,
        ))

    def list_inbox(
        self,
        *,
        state: Optional[str] = None,
        seat: Optional[str] = None,
        cursor: Optional[str] = None,
        limit: Optional[int] = None,
        scope: Optional[Literal["own", "all"]] = None,
    ) -> InboxPage:
        """List questions to people."""
        return cast("InboxPage", self._json(
            "GET",
            "/inbox",
            query={"state": state, "seat": seat, "cursor": cursor, "limit": limit, "scope": scope},
        ))

    def stream_inbox(
        self,
        *,
        heartbeat_ms: Optional[int] = None,
        last_event_id: Optional[str] = None,
    ) -> Generator[StreamMessage, None, None]:
        """Follow the questions to the caller."""
        return self._events(
            "GET",
            "/inbox/stream",
            query={"heartbeatMs": heartbeat_ms},
            headers={"Last-Event-ID": last_event_id},
        )

    def get_inbox_item(
        self,
        id: str,
    ) -> InboxItem:
        """Read one question."""
        return cast("InboxItem", self._json(
            "GET",
            "/inbox/{id}",
            path={"id": id},
        ))

    def answer_inbox_item(
        self,
        id: str,
        body: AnswerRequest,
    ) -> AnsweredItem:
        """Answer a question."""
        return cast("AnsweredItem", self._json(
            "POST",
            "/inbox/{id}/answers",
            path={"id": id},
            body=body,
        ))

    def challenge_inbox_item(
        self,
        id: str,
    ) -> PasskeyChallenge:
        """Begin an answer with a passkey."""
        return cast("PasskeyChallenge", self._json(
            "POST",
            "/inbox/{id}/challenges",
            path={"id": id},
        ))

    def return_inbox_item(
        self,
        id: str,
        body: ReturnRequest,
    ) -> ReturnedItem:
        """Return a question."""
        return cast("ReturnedItem", self._json(
            "POST",
            "/inbox/{id}/return",
            path={"id": id},
            body=body,
        ))

    def question_inbox_item(
        self,
        id: str,
        body: QuestionRequest,
    ) -> QuestionedItem:
        """Send a question to the agents."""
        return cast("QuestionedItem", self._json(
            "POST",
            "/inbox/{id}/question",
            path={"id": id},
            body=body,
        ))

    def list_delegations(
        self,
    ) -> DelegationLists:
        """List the delegations of the caller."""
        return cast("DelegationLists", self._json(
            "GET",
            "/people/me/delegations",
        ))

    def create_delegation(
        self,
        body: DelegationRequest,
    ) -> Delegation:
        """Delegate the answers of the caller."""
        return cast("Delegation", self._json(
            "POST",
            "/people/me/delegations",
            body=body,
        ))

    def revoke_delegation(
        self,
        id: str,
    ) -> Delegation:
        """Revoke a delegation."""
        return cast("Delegation", self._json(
            "DELETE",
            "/people/me/delegations/{id}",
            path={"id": id},
        ))

    def list_passkeys(
        self,
    ) -> Passkeys:
        """List the own passkeys."""
        return cast("Passkeys", self._json(
            "GET",
            "/people/me/passkeys",
        ))

    def enrol_passkey(
        self,
        body: EnrolmentRequest,
    ) -> Passkey:
        """Enrol a passkey."""
        return cast("Passkey", self._json(
            "POST",
            "/people/me/passkeys",
            body=body,
        ))

    def begin_passkey(
        self,
    ) -> EnrolmentChallenge:
        """Begin the enrolment of a passkey."""
        return cast("EnrolmentChallenge", self._json(
            "POST",
            "/people/me/passkeys/challenges",
        ))

    def delete_passkey(
        self,
        id: str,
    ) -> None:
        """Delete a passkey."""
        return self._nothing(
            "DELETE",
            "/people/me/passkeys/{id}",
            path={"id": id},
        )

    def read_link(
        self,
        body: LinkRequest,
    ) -> LinkedItem:
        """Read the question of a personal link."""
        return cast("LinkedItem", self._json(
            "POST",
            "/inbox/link/read",
            body=body,
        ))

    def send_link_code(
        self,
        body: LinkRequest,
    ) -> SentCode:
        """Send a code to the person of a link."""
        return cast("SentCode", self._json(
            "POST",
            "/inbox/link/code",
            body=body,
        ))

    def answer_by_link(
        self,
        body: LinkAnswerRequest,
    ) -> AnsweredItem:
        """Answer by a personal link."""
        return cast("AnsweredItem", self._json(
            "POST",
            "/inbox/link/answer",
            body=body,
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

    def get_me(
        self,
    ) -> Me:
        """Read the identity and the role of the caller."""
        return cast("Me", self._json(
            "GET",
            "/me",
        ))

    def get_health(
        self,
    ) -> HealthAnswer:
        """Check that the process answers."""
        return cast("HealthAnswer", self._json(
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
    ) -> LauncherReadiness:
        """Check that the service can launch."""
        return cast("LauncherReadiness", self._json(
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
