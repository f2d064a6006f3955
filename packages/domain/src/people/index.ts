export {
  type ActMessage,
  AnswerAct,
  type AnswerContent,
  actMessage,
  answersOf,
  deadlineAct,
  isAllowedAct,
  isLastWord,
  noAnswerBy,
  reasonWithLine,
  withoutLine
} from "./AnswerAct.ts"
export {
  type AnswerVerdict,
  type CheckedItem,
  checkAnswer,
  type GivenAnswer,
  isSameAnswer,
  MAX_REASON,
  type SubmittedAnswer
} from "./AnswerCheck.ts"
export {
  type Assigned,
  fourEyes,
  type Moment,
  type Right,
  rightOf,
  type Standing,
  standingOf,
  whyNotText
} from "./Assignment.ts"
export { BARRIER_MS, type Barrier, barrierOf, takesEvaluations } from "./Barrier.ts"
export { Basis, basisNext, basisStart, basisText } from "./Basis.ts"
export { type Consequence, consequencesOf } from "./Consequences.ts"
export {
  assignedAfter,
  dueSteps,
  type KnownPeople,
  type Opening,
  openingOf,
  type Reached,
  reachOf,
  refusedDelegations,
  unreachedText
} from "./escalate/Escalation.ts"
export {
  type Delegation,
  type DelegationState,
  delegationFault,
  delegationState,
  isInEffect,
  MAX_DELEGATION_MS,
  type NewDelegation
} from "./escalate/PersonDelegation.ts"
export { statedTime, TIME_FORM } from "./escalate/StatedTime.ts"
export { ItemState, isClosed, mayBecome } from "./ItemLife.ts"
export {
  CODE_LIFE_MS,
  CODE_RANGE,
  codeText,
  codeVerdict,
  LINK_LIFE_MS,
  type LinkEnd,
  type LinkedQuestion,
  linkEnd,
  linkEndsAtUnixMs,
  MAX_SENT_CODES,
  MAX_WRONG_CODES,
  maskedAddress,
  type PersonalLink
} from "./links/PersonalLink.ts"
export {
  type ChatFormat,
  chatBody,
  questionFacts,
  questionMessage,
  questionTitle,
  type ShownQuestion,
  TEST_MESSAGE,
  WEBHOOK_FORMATS,
  type WebhookFormat
} from "./notices/ItemMessage.ts"
export {
  ASKING_EVENTS,
  type Concern,
  codeMail,
  DIGEST_ABOVE,
  type Digest,
  digestMail,
  digestOf,
  MAIL,
  type MailLink,
  type MailText,
  type Notice,
  type NoticeEvent,
  type NotifiedPerson,
  noticesOf,
  passkeyMail,
  questionMail,
  remindAtUnixMs,
  unreachedPersons
} from "./notices/Notices.ts"
export { answerFactOf, MAX_UNSEEN, PeopleAnswer } from "./PeopleAnswer.ts"
export { type EscalationRecord, itemFactOf, PeopleItem } from "./PeopleItem.ts"
export { MAX_QUESTION, PeopleQuestion } from "./PeopleQuestion.ts"
export { assignableNames, type Person, personIn } from "./Person.ts"
export { policyLines } from "./PolicyLines.ts"
export { type Hashed, type HashedSubject, policyHash, proposalHash, sha256Hex } from "./ProposalHash.ts"
export { passkeyChallenge, type SignedAnswer, signedText } from "./passkeys/PasskeyChallenge.ts"
export { checkSignedMessage, type SignedMessage } from "./passkeys/PasskeyMessage.ts"
export {
  checkPasskey,
  PASSKEY_ALGORITHMS,
  type PasskeyKey,
  PasskeyRecord,
  type PasskeyTools,
  type PasskeyVerdict,
  type ProvedAnswer,
  passkeyKey,
  readSignedText
} from "./passkeys/PasskeyProof.ts"
export { type DirectoryPerson, type PeopleContext, peopleFaults, type SignInKind } from "./SeatFaults.ts"
export { seatInfluence } from "./SeatInfluence.ts"
export {
  type ItemChange,
  planSeat,
  type Seat,
  type SeatPlan,
  type StoredAct,
  type StoredItem
} from "./SeatPlan.ts"
export {
  durationMs,
  isAssignee,
  type PeopleFault,
  PeopleText,
  readPeople,
  SEAT_KEYS,
  type SeatAct,
  type SeatMode,
  type SeatRules,
  SeatText,
  seatMode,
  seatRules
} from "./SeatRules.ts"
export {
  ballotBy,
  basisAt,
  basisOf,
  emptyView,
  isBallot,
  isCommitted,
  type SeatView,
  type SeenMessage,
  type SessionOpening,
  seeEnvelope,
  subjectsFor,
  unseenBetween,
  unseenText,
  type ViewTools,
  withheldUpTo
} from "./SeatView.ts"
export { FRESH_SECONDS, isFreshSignIn } from "./SignInAge.ts"
export { type Staleness, staleSince } from "./Staleness.ts"
export {
  lastMade,
  longestSuspendMs,
  MAX_SUSPENSIONS,
  planSuspension,
  SUSPENSION_PAUSES,
  type SuspensionPlan,
  type SuspensionState,
  type SuspensionStep,
  suspensionsOf,
  suspensionText,
  whyExpired
} from "./suspend/Suspension.ts"
export type {
  SessionNow,
  SuspendableSeat,
  SuspendableSession,
  SuspensionAct,
  SuspensionPauses
} from "./suspend/SuspensionAct.ts"
export { RemoteAgent, RemoteTurns } from "./turns/RemoteAgent.ts"
export { interfaceOf, RemoteCard, RemoteInterface } from "./turns/RemoteCard.ts"
export {
  hasMessage,
  RemoteEvent,
  RemoteMessage,
  RemoteReply,
  RemoteTask,
  taskOfEvent
} from "./turns/RemoteTask.ts"
export { turnCalls } from "./turns/TurnCalls.ts"
export {
  contextIdOf,
  evaluationsOf,
  TURN_SCHEMA,
  type TurnContent,
  turnMessage,
  turnMessageId
} from "./turns/TurnMessage.ts"
export { NOTICE_TOKEN_HEADER, noticePath, taskOfNotice } from "./turns/TurnNotice.ts"
export { TurnRecord, turnFactOf } from "./turns/TurnRecord.ts"
export {
  readTurns,
  TURN_KEYS,
  type TurnContext,
  TurnsText,
  TurnText,
  turnFaults,
  turnSeat
} from "./turns/TurnRules.ts"
export { TurnFailure, TurnPhase, type TurnStep, type TurnTerms, turnFailureText, turnStep } from "./turns/TurnStep.ts"
export { TurnUsage, usageOfReply } from "./turns/TurnUsage.ts"
