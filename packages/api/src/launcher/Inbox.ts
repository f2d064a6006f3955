import {
  AnswerAct,
  AnswerProof,
  about,
  Basis,
  Field,
  ItemState,
  isOfForm,
  isOneLine,
  isVisible,
  MAX_QUESTION,
  MAX_REASON,
  type OutcomeStatus
} from "@runplane/domain"
import * as Schema from "effect/Schema"
import { commaSeparated, integer, withDefault } from "../validation/Fields.ts"
import { querySchema } from "../validation/RequestSchema.ts"

import { PasskeyAssertion } from "./Passkeys.ts"

const absent = Schema.optionalKey

export const MAX_INBOX_PAGE = 100
export const DEFAULT_INBOX_PAGE = 50

const SHA256 = /^[0-9a-f]{64}$/
const sha256Text = (description: string, example: string) =>
  Schema.String.annotate(about(description, example)).check(isOfForm(SHA256))

const HASH_EXAMPLE = "c3ab8ff13720e8ad9047dd39466b3c8974e592c2fa383d4a3960714caef0c4f2"

const Recommendation = Schema.Literals(["APPROVE", "REVIEW", "BLOCK", "REJECT"])
const Severity = Schema.Literals(["low", "medium", "high", "critical"])
const Act = AnswerAct.annotate({
  description:
    "approve and reject are the votes of a decision and the ballots of a quorum; accept and decline answer a handoff"
})

/** What an answer of a person says. */
const contentFields = {
  act: Act,
  recommendation: absent(Recommendation.annotate({ description: "Of an evaluation" })),
  confidence: absent(
    Schema.Finite.annotate(
      about("From 0 to 1; a vote has none on the wire, so it is in the record of the control plane alone", 0.8)
    ).check(Schema.isLessThanOrEqualTo(1), Schema.isGreaterThanOrEqualTo(0))
  ),
  severity: absent(Severity.annotate({ description: "Of an objection" }))
}

/** The answer that an item has. */
export const ItemAnswer = Schema.Struct({
  by: absent(Field.text("The person; absent for an act of the deadline", "ann")),
  onBehalfOf: absent(Field.text("The person whose delegation gave the right; absent for an answer of its own", "bea")),
  at: Field.time("When it was stored"),
  proof: absent(
    AnswerProof.annotate({
      description:
        "What proves that the person gave it, the weakest first: none: a service without sign-in; link: a personal link " +
        "and its code; slack: a press there; session, fresh: a sign-in; passkey: a signature. Absent for an act of the deadline"
    })
  ),
  content: absent(
    Schema.Struct({
      ...contentFields,
      confidence: absent(Field.number("From 0 to 1", 0.8)),
      reason: Field.text("In the words of the person")
    }).annotate({
      description: "Absent while it is withheld: the caller still has a question of this session to answer"
    })
  )
}).annotate({ identifier: "ItemAnswer", description: "Who has answered an item, when, and how" })
export type ItemAnswer = typeof ItemAnswer.Type

/** What a list shows of an item; the item has the same fields. */
const entryFields = {
  id: Field.text("Id of the item: UUID", "0197c0de-6f0a-7c53-9a56-0d9c6f5f7a10"),
  sessionId: Field.text("The session", "8d5a3f0c-93d4-4c4e-9d60-5c7f1c2a7e10"),
  seat: Field.text("The participant whose acts come from a person", "risk-officer"),
  scenarioRef: Field.text("The scenario: pack/scenario@version", "incident/region-failover@1.0.0"),
  mode: Schema.Literals(["decision", "quorum", "handoff"]).annotate({ description: "Mode of the session" }),
  modeName: Field.text("Its id at the runtime", "macp.mode.decision.v1"),
  state: ItemState,
  reason: absent(Field.text("Why it is closed, in words")),
  title: absent(Field.text("What is proposed, requested or offered, in one line", "fail over to eu-west")),
  proposalHash: sha256Text("What an answer is bound to: SHA-256 over the canonical JSON of `hashed`", HASH_EXAMPLE),
  createdAt: Field.time("When the message was read that it is about"),
  openedAt: absent(Field.time("When it began to take an answer")),
  deadlineAt: absent(Field.time("Until when it takes an answer; absent: as long as the session lives")),
  seenAt: absent(Field.time("When an assigned person first read it while it was open")),
  closedAt: absent(Field.time("When it took no answer any more")),
  replaces: absent(Field.text("The stale item in place of which it is asked")),
  follows: absent(Field.text("The item whose evaluation or objection it follows: it takes the vote")),
  newItem: absent(Field.text("The item that replaces or follows this one"))
}

export const InboxEntry = Schema.Struct(entryFields).annotate({
  identifier: "InboxEntry",
  description: "One question to one seat in one session, as a list shows it"
})
export type InboxEntry = typeof InboxEntry.Type

export const InboxPage = Schema.Struct({
  data: Schema.Array(InboxEntry).annotate({ description: "The items of this page" }),
  limit: Field.integer("Most items of a page, as requested"),
  nextCursor: absent(Field.text("Only on a full page: to be given as cursor for the next one"))
}).annotate({ identifier: "InboxPage", description: "One page of items, the oldest first" })
export type InboxPage = typeof InboxPage.Type

/** The members under `proposalHash`. A client computes it from them, and from the bytes of the payload. */
export const HashedMembers = Schema.Struct({
  sessionId: Field.text("The session"),
  mode: Field.text("Id of the mode at the runtime", "macp.mode.decision.v1"),
  modeVersion: Field.text("Version of the mode"),
  configurationVersion: Field.text("Version of the configuration"),
  policyVersion: Field.text("The policy of the session"),
  policyHash: Schema.NullOr(Schema.String).annotate({
    description: "SHA-256 of the policy as the runtime has it; null when it could not be read"
  }),
  participants: Field.texts("The participants of the session, in its order"),
  subject: Schema.Struct({
    messageId: Field.text("Id of the message"),
    sender: Field.text("Its sender"),
    type: Field.text("Proposal, ApprovalRequest or HandoffOffer", "Proposal"),
    payloadSha256: sha256Text("SHA-256 of the bytes of the payload", HASH_EXAMPLE),
    nonce: absent(
      Field.text(
        "32 random bytes, hexadecimal: without them a short text could be guessed from the hash; erased with it"
      )
    )
  }).annotate({ description: "The message that is answered, as the runtime accepted it" })
}).annotate({ identifier: "HashedMembers", description: "Everything that an answer is bound to" })

const ShownMessage = Schema.Struct({
  ordinal: Field.integer("Its number among the accepted messages of the session; SessionStart is 1"),
  by: Field.text("Its sender", "impact-analyst"),
  type: Field.text("Type of the message", "Evaluation"),
  recommendation: absent(Field.text("Of an evaluation", "APPROVE")),
  confidence: absent(Field.number("Of an evaluation: 0 to 1", 0.9)),
  severity: absent(Field.text("Of an objection", "high")),
  vote: absent(Field.text("Of a vote: APPROVE, REJECT or ABSTAIN", "APPROVE")),
  reason: absent(Field.text("In the words of its sender"))
}).annotate({ identifier: "ShownMessage", description: "A message about the same subject" })

const statuses = ["met", "certain", "possible", "impossible"] as const satisfies ReadonlyArray<OutcomeStatus>
const Status = Schema.Literals(statuses).annotate({
  description:
    "met: a commitment would be accepted at once; certain: once all have acted, whatever they say; impossible: never again"
})

const Consequence = Schema.Struct({ act: Act, positive: Status, negative: Status }).annotate({
  identifier: "ActConsequence",
  description: "What the session could decide after one act of this seat, were it the next message"
})

const Assignee = Schema.Struct({
  to: Field.text("`person:` or `group:` and an id", "group:risk"),
  by: absent(Field.text("Who added it; absent for one of the scenario")),
  at: absent(Field.time("When it was added")),
  reason: absent(Field.text("Why it was added")),
  step: absent(Field.integer("The step of the escalation that added it, from 1 on; absent else"))
}).annotate({ identifier: "ItemAssignee", description: "Who may answer" })

const Return = Schema.Struct({
  by: Field.text("Who returned it", "ann"),
  at: Field.time("When it was returned"),
  to: absent(Field.text("Who was added; absent for an item given back to those who were assigned", "person:ben")),
  reason: Field.text("Why, in the words of the person")
}).annotate({ identifier: "ItemReturn", description: "A return of the item" })

const Notice = Schema.Struct({
  event: Field.text("What it reports: opened, escalated, returned, reminded or closed", "opened"),
  person: Field.text("Whom", "ana"),
  channel: Field.text("How: mail or slack", "mail"),
  state: Schema.Literals(["pending", "sent", "failed", "digested", "obsolete"]).annotate({
    description:
      "pending: not sent yet; sent: the mail server or Slack has it; failed: it is given up; digested: a digest has it in its " +
      "stead; obsolete: the question was closed before"
  }),
  reason: absent(Field.text("Why it is not sent", "connection refused")),
  at: Field.time("When it ended; of a pending one, when it was due first")
}).annotate({ identifier: "ItemNotice", description: "A notice of the item to a person" })

const Question = Schema.Struct({
  by: Field.text("Who sent it", "ann"),
  at: Field.time("When it was sent"),
  text: Field.text("In the words of the person", "Is the replica behind?")
}).annotate({ identifier: "ItemQuestion", description: "A question of a person to the agents of the session" })

const Escalation = Schema.Struct({
  step: Field.integer("Its position in `escalate` of the scenario, from 1 on"),
  to: Field.texts("The persons and groups that it added"),
  at: Field.time("When it was made"),
  cause: Schema.Literals(["time", "delegation"]).annotate({
    description: "time; or delegation: one to a person who may not answer makes the first step at once"
  }),
  reach: Schema.Literals(["persons", "unknown", "none"]).annotate({
    description: "persons: one who may answer is known; unknown: a group can have one; none: no person may answer"
  }),
  why: absent(Field.text("Why no person is known to be reached", "rita is the requester of the run"))
}).annotate({ identifier: "ItemEscalation", description: "A step that added who may answer" })

const ItemDelegation = Schema.Struct({
  id: Field.text("Id of the delegation: UUID"),
  by: Field.text("The assigned person who delegates", "ana"),
  to: Field.text("The delegate", "ben"),
  until: Field.time("Until when"),
  mayNotBecause: absent(Field.text("Why it gives no right to this item; absent for one that does"))
}).annotate({ identifier: "ItemDelegation", description: "A delegation of a person who is assigned to the item" })

/** Everything that an answer rests on, and nothing that is withheld. */
export const InboxItem = Schema.Struct({
  ...entryFields,
  run: absent(
    Schema.Struct({
      runId: Field.text("Id of the run at the control plane: UUID"),
      api: Field.text("The run at the control plane"),
      page: Field.text("Its page in the web console")
    }).annotate({ description: "The run; absent without a control plane, and while it has none or does not answer" })
  ),
  payload: Schema.Struct({
    type: Field.text("Its protobuf message", "macp.modes.decision.v1.ProposalPayload"),
    base64: Field.text("Its bytes as the runtime accepted them"),
    decoded: absent(Field.object("The same in the names of the protocol; absent when they cannot be read"))
  }).annotate({ description: "The payload of the message that is answered" }),
  hashed: HashedMembers,
  assigned: Schema.Array(Assignee).annotate({ description: "Who may answer: of the scenario, and who was added" }),
  returns: Schema.Array(Return).annotate({ description: "Its returns, the first one first" }),
  notices: absent(
    Schema.Array(Notice).annotate({ description: "Who was notified; absent where no person was to be notified" })
  ),
  questions: absent(
    Schema.Array(Question).annotate({ description: "Questions to the agents, the first one first; absent without any" })
  ),
  escalations: Schema.Array(Escalation).annotate({ description: "The steps that were made, the first one first" }),
  delegations: Schema.Array(ItemDelegation).annotate({ description: "The delegations that are in effect for it" }),
  onBehalfOf: absent(
    Field.text("The person for whom the caller reads and answers; absent for one who is assigned itself", "ana")
  ),
  mayAnswer: Field.flag("Whether the caller may answer, if it is open"),
  mayNotBecause: absent(Field.text("Why the caller may not answer, in words", "you are the requester of the run")),
  reasonRule: Schema.Literals(["required", "optional"]).annotate({ description: "Whether an answer needs a reason" }),
  proof: Schema.Struct({
    needed: Schema.Literals(["session", "fresh", "passkey"]).annotate({
      description: "session: a sign-in; fresh: one of the last five minutes; passkey: a passkey that signs the answer"
    }),
    given: Schema.Literals(["none", "link", "session", "fresh"]).annotate({
      description: "What the caller has; none on a service that requires no sign-in; link: a personal link"
    })
  }).annotate({ description: "How sure the service has to be of the person" }),
  acts: Schema.Array(Act).annotate({ description: "The answers that are possible now; it may be empty" }),
  closedActs: absent(Field.text("Why an evaluation or an objection of this seat is not possible now")),
  basis: absent(Basis.annotate({ description: "What the caller is shown; absent while the session is read again" })),
  unavailable: absent(Field.text("Why the item takes no answer now, such as a session that is being read again")),
  suspension: absent(
    Field.text(
      "What the person has to know of the suspension of the session, such as an answer that waits for another party",
      "the session is suspended until it has an answer"
    )
  ),
  messages: Schema.Array(ShownMessage).annotate({
    description: "Evaluations, objections and revealed votes about the same subject, in their order"
  }),
  consequences: absent(
    Schema.Array(Consequence).annotate({
      description: "What each act leads to; absent while it would show withheld votes, and without known rules"
    })
  ),
  policy: Schema.Struct({
    version: Field.text("Id of the policy", "policy.incident.balanced"),
    lines: Field.texts("Its rules in words; empty when they could not be read")
  }).annotate({ description: "The policy of the session" }),
  given: absent(ItemAnswer),
  nonce: absent(
    Field.text("For the header x-page-nonce of an answer to this item; only for a caller that is known by its cookie")
  )
}).annotate({ identifier: "InboxItem", description: "One question to one seat in one session" })
export type InboxItem = typeof InboxItem.Type

/** The query of `GET /inbox`. */
export const inboxQuery = querySchema({
  state: absent(
    commaSeparated("Only items in these states, comma-separated; open unless said", "open,waiting").pipe(
      Schema.decodeTo(Schema.Array(ItemState))
    )
  ),
  seat: absent(Field.text("Only items of seats with this id", "risk-officer")),
  cursor: absent(
    Field.text("nextCursor of the page before: the id of its last item", "0197c0de-6f0a-7c53-9a56-0d9c6f5f7a10")
  ),
  limit: withDefault(
    integer({ min: 1, max: MAX_INBOX_PAGE }).annotate(about("Most items of the page", DEFAULT_INBOX_PAGE)),
    DEFAULT_INBOX_PAGE
  ),
  scope: withDefault(
    Schema.Literals(["own", "all"]).annotate(
      about(
        "own: items that the caller is assigned to; all: those of all people, for viewers, operators and administrators",
        "own"
      )
    ),
    "own"
  )
})
export type InboxQuery = typeof inboxQuery.Type

/** The body of `POST /inbox/:id/answers`. */
export const AnswerRequest = Schema.Struct({
  ...contentFields,
  reason: withDefault(
    Field.text("In the words of the person; it goes into the session").check(Schema.isMaxLength(MAX_REASON)),
    ""
  ),
  proposalHash: sha256Text("proposalHash of the item as the person was shown it", HASH_EXAMPLE),
  basis: Schema.Struct({
    ordinal: integer({ min: 1 }).annotate(about("Ordinal of the basis that the person was shown", 6)),
    sha256: sha256Text("Its running SHA-256", HASH_EXAMPLE)
  }).annotate({ description: "What of the session the person was shown: `basis` of the item" }),
  passkey: absent(PasskeyAssertion)
}).annotate({ identifier: "AnswerRequest", description: "The answer of a person, bound to what it was shown" })
export type AnswerRequest = typeof AnswerRequest.Type

/** The answer to `POST /inbox/:id/answers`: the same for the same answer again. */
export const AnsweredItem = Schema.Struct({
  id: Field.text("Id of the item: UUID"),
  state: ItemState,
  given: ItemAnswer
}).annotate({ identifier: "AnsweredItem", description: "An item with its answer, which the service sends from now on" })
export type AnsweredItem = typeof AnsweredItem.Type

/** The body of `POST /inbox/:id/question`. */
export const QuestionRequest = Schema.Struct({
  text: Field.text("The question, in the words of the person", "Is the replica behind?").check(
    Schema.isMinLength(1),
    Schema.isMaxLength(MAX_QUESTION),
    isVisible
  )
}).annotate({ identifier: "QuestionRequest", description: "A question to the agents of the session: no act" })
export type QuestionRequest = typeof QuestionRequest.Type

export const QuestionedItem = Schema.Struct({
  id: Field.text("Id of the item: UUID"),
  questions: Schema.Array(Question).annotate({ description: "All questions about it, the first one first" })
}).annotate({ identifier: "QuestionedItem", description: "An item with the questions to the agents" })
export type QuestionedItem = typeof QuestionedItem.Type

const MAX_ASSIGNEE = 300
/** `person:` and `group:` with a stable id. */
const ASSIGNEE = /^(?:person|group):\S+$/

/** The body of `POST /inbox/:id/return`. */
export const ReturnRequest = Schema.Struct({
  to: absent(
    Field.text("`person:` or `group:` and an id, who may answer from now on too", "person:ben").check(
      Schema.isMaxLength(MAX_ASSIGNEE),
      isOneLine,
      isOfForm(ASSIGNEE)
    )
  ),
  reason: Field.text("Why it is returned; the others assigned to it read it").check(
    Schema.isMinLength(1),
    Schema.isMaxLength(MAX_REASON),
    isVisible
  )
}).annotate({ identifier: "ReturnRequest", description: "An open item that a person gives back, or to a colleague" })
export type ReturnRequest = typeof ReturnRequest.Type

export const ReturnedItem = Schema.Struct({
  id: Field.text("Id of the item: UUID"),
  assigned: Schema.Array(Assignee).annotate({ description: "Who may answer now" }),
  returns: Schema.Array(Return).annotate({ description: "Its returns, the first one first" })
}).annotate({ identifier: "ReturnedItem", description: "An item with all who may answer it" })
export type ReturnedItem = typeof ReturnedItem.Type
