export * from "./a2a/A2aWire.ts"
export * from "./ag-ui/AgUiEvent.ts"
export * from "./ag-ui/AgUiRun.ts"
export { type AskedItems, askedAfter } from "./ag-ui/Interrupts.ts"
export * from "./alerts/Budget.ts"
export * from "./alerts/ChangedLevels.ts"
export type { CounterChange, Fold, Sum } from "./alerts/CounterChange.ts"
export * from "./alerts/Deadlines.ts"
export * from "./alerts/Entries.ts"
export * from "./alerts/Firing.ts"
export { alertBody } from "./alerts/formats/AlertBody.ts"
export { ALERTMANAGER_RESEND_MS } from "./alerts/formats/Alertmanager.ts"
export { amountText } from "./alerts/formats/AlertText.ts"
export * from "./alerts/Keys.ts"
export * from "./alerts/Levels.ts"
export * from "./alerts/Measure.ts"
export * from "./alerts/Measures.ts"
export * from "./alerts/NoticeTimes.ts"
export * from "./alerts/Periods.ts"
export * from "./alerts/Rule.ts"
export * from "./alerts/RuleEvaluator.ts"
export * from "./alerts/RunMemory.ts"
export * from "./alerts/Telemetry.ts"
export * from "./alerts/Windows.ts"
export * from "./archive/Compaction.ts"
export * from "./archive/EventRange.ts"
export * from "./archive/EventRow.ts"
export * from "./archive/Files.ts"
export * from "./archive/Range.ts"
export * from "./archive/Tables.ts"
export * from "./card/Card.ts"
export * from "./card/CardText.ts"
export { cardVerdict, VERDICTS, VerdictState, verdictWord } from "./card/CardVerdict.ts"
export * from "./card/DecisionCard.ts"
export { type RecordSubject, recordSubject, whyHtml, whyMarkdown } from "./card/DecisionPage.ts"
export { initials } from "./card/Initials.ts"
export {
  type DecisionFacts,
  decisionFacts,
  ListedDecision,
  MAX_LISTED_VOTERS,
  nameKey,
  voteKey
} from "./card/ListedDecision.ts"
export {
  GLYPH_SIZE,
  glyphPicture,
  RING_SIZE,
  type RingPicture,
  ringPicture,
  type VoterShape
} from "./card/Picture.ts"
export { refusalWords } from "./card/RefusalWords.ts"
export { type CardRule, type Sums, sumsOf, type Tick, tickOf } from "./card/Ticks.ts"
export { CardVoter, inOrder, VoteSide } from "./card/Voters.ts"
export * from "./committee/index.ts"
export * from "./erasure/ErasurePlan.ts"
export { type FoundMembers, foundInEvent, foundInFrame, isFoundIn, textsIn } from "./erasure/FoundMembers.ts"
export {
  type ErasedText,
  eventMembers,
  frameMembers,
  withoutEventMembers,
  withoutFrameMembers
} from "./erasure/MemberErasures.ts"
export { type Scrubbed, scrubbedJson } from "./erasure/ScrubbedJson.ts"
export { copyFinder, eitherFinder, shortenedFinder, type TextFinder, textFinder } from "./erasure/TextFinder.ts"
export {
  CanonicalEvent,
  decodeEvent,
  decodeEventText,
  draftEvent,
  type EventData,
  type EventDraft,
  type EventOf,
  type EventPosition,
  EventUnreadable,
  type KnownEvent,
  recordEvent,
  type UnknownEvent
} from "./events/CanonicalEvent.ts"
export * from "./events/CanonicalEventType.ts"
export {
  artifactCreated,
  type ControlPlaneSource,
  type DescribedPolicy,
  MAX_RECORDED_RULES,
  participantSeen,
  policyResolved,
  runCancelled,
  runCompleted,
  runCreated,
  runFailed,
  runResumed,
  runStarted,
  runSuspended,
  sessionBound,
  sessionStateChanged,
  streamOpened
} from "./events/ControlPlaneEvents.ts"
export { ErasedMember } from "./events/ErasedMember.ts"
export type { DraftHead } from "./events/EventType.ts"
export { loggedDecision } from "./events/LoggedDecision.ts"
export * from "./events/OutboundMessage.ts"
export * from "./events/PeopleFacts.ts"
export { outputBytesOf } from "./events/ProposalEvents.ts"
export {
  EVENT_SCHEMA_VERSION,
  type EventCore,
  EventSource,
  EventTrace,
  RecordedEvent,
  Subject,
  SubjectKind
} from "./events/RecordedEvent.ts"
export {
  countedAt,
  eventTime,
  isDiscoveredRun,
  narrativeBegin,
  narrativeClock,
  narrativeTime,
  runDuration,
  type SpanTimes,
  shownBegin,
  spanTimes,
  type TimedRun
} from "./events/RunTimes.ts"
export * from "./events/Scenario.ts"
export * from "./events/ShadowFact.ts"
export { ERASED_TEXT } from "./events/ShownData.ts"
export { GAP_KINDS, type GapKind, type Gaps } from "./evidence/Gaps.ts"
export type { ModelReport } from "./evidence/ModelUse.ts"
export type { Oversight } from "./evidence/Oversight.ts"
export { type EvidenceReader, evidenceReader, type RunEvidence } from "./evidence/RunEvidence.ts"
export { type DecodedPayload, decodePayload, parseJsonObject, payloadTypeName } from "./frames/PayloadTypes.ts"
export * from "./frames/RuntimeFrames.ts"
export * from "./gate/index.ts"
export {
  type Act,
  counting,
  evaluateActs,
  type LogPosition,
  type Skipped,
  type StandardMode,
  type Statement,
  standardMode
} from "./insight/Act.ts"
export { actionLog } from "./insight/ActionLog.ts"
export * from "./insight/ActivePolicy.ts"
export * from "./insight/Backtest.ts"
export { hasBallots, VOTE_VALUES, type VoteValue } from "./insight/Ballots.ts"
export * from "./insight/Deliberation.ts"
export {
  type Divergence,
  divergenceCostInSlices,
  divergenceInSlices,
  firstDivergence,
  type OutlineReader,
  outlineReader,
  type Parting,
  partingInSlices,
  type RunOutline
} from "./insight/Divergence.ts"
export { FACT_TYPES } from "./insight/FactTypes.ts"
export {
  type Forecast,
  type ForecastOptions,
  forecast,
  forecastInSlices,
  type Need,
  type OutcomeForecast,
  type OutcomeName,
  type OutcomeStatus,
  type Pivotal
} from "./insight/Forecast.ts"
export { type Outstanding, type Step, stepText } from "./insight/forecast/ModeForecast.ts"
export * from "./insight/Recount.ts"
export type { Spending } from "./insight/Spending.ts"
export { type Ballots, type CountedVotes, shownTallies, type Tally, type Weights } from "./insight/Tally.ts"
export { type Voting, votingOf, waitingFor } from "./insight/Waiting.ts"
export * from "./insight/WhatIf.ts"
export { MAX_CLAIMS, type Why, why, whyInSlices } from "./insight/Why.ts"
export { withShadow } from "./insight/WithShadow.ts"
export type { Claim } from "./insight/why/Claims.ts"
export type { Counterfactual } from "./insight/why/Counterfactual.ts"
export type { RuleVerdict } from "./insight/why/Rules.ts"
export * from "./marks/AgentRecord.ts"
export { type AgentVote, agentVote, agentVotes, RECORD_TYPES } from "./marks/AgentVote.ts"
export { type CorrectValue, correctFlag, correctValue, type DecisionNames, decisionNames } from "./marks/Correct.ts"
export * from "./marks/Mark.ts"
export * from "./marks/MarkDefinition.ts"
export * from "./marks/MarkRules.ts"
export * from "./marks/RaterAgreement.ts"
export * from "./marks/RecordGroups.ts"
export * from "./marks/SeatRecord.ts"
export { type TruthMark, truthOf } from "./marks/Truth.ts"
export { sentenceOf } from "./narrative/Narration.ts"
export {
  type Because,
  type Sentence,
  type SentenceKind,
  sentencePhrase,
  sentenceText,
  type Tone
} from "./narrative/Sentence.ts"
export { noSubjects, type Subjects, subjectName, subjectsOfRuns, withSubject } from "./narrative/Subjects.ts"
export * from "./normaliser/Normaliser.ts"
export { callIdentityOf } from "./otlp/fold/Counting.ts"
export { isLogNode } from "./otlp/fold/Node.ts"
export { uuidOf } from "./otlp/fold/Output.ts"
export { SHADOW_ATTRIBUTE, shadowOf } from "./otlp/fold/ShadowSpans.ts"
export * from "./otlp/Judgement.ts"
export { meaningOf, meaningOfLog } from "./otlp/MeaningOf.ts"
export { SESSION_PARENT, sessionOfRecord, subAgentsOf } from "./otlp/meaning/CodingAgents.ts"
export { lastTextOf } from "./otlp/meaning/Messages.ts"
export * from "./otlp/ReceivedTelemetry.ts"
export type {
  Attributes,
  AttributeValue,
  Emitter,
  LogRecord,
  Span,
  SpanEvent,
  SpanLink,
  Telemetry
} from "./otlp/Span.ts"
export * from "./otlp/TraceBinding.ts"
export * from "./otlp/TraceFold.ts"
export { unreadSpansText } from "./otlp/UnreadSpans.ts"
export * from "./people/index.ts"
export {
  denyCommitment,
  isAgreed,
  isReadyToCommit,
  mayCommit,
  policyThreshold,
  refuseCommitment,
  refusesUnwinnableQuorum
} from "./policies/Evaluation.ts"
export * from "./policies/Policy.ts"
export * from "./policies/PolicyMode.ts"
export { isReleaseFrom, PINNED_RELEASE, RELEASES, type Release } from "./policies/Release.ts"
export { policyRuleFaults } from "./policies/RuleFaults.ts"
export { PolicyRules } from "./policies/RuleSchemas.ts"
export { highestSchemaVersion } from "./policies/SchemaVersions.ts"
export type * from "./policies/SessionRecord.ts"
export { type PriceDoubt, priceDoubts } from "./prices/Doubts.ts"
export { type ModelName, modelNames } from "./prices/ModelNames.ts"
export * from "./prices/ModelPrices.ts"
export {
  BUILTIN_RATES,
  emptyPriceList,
  type ListedPrice,
  MAX_PRICE_FILE,
  PriceFileInvalid,
  type PriceList,
  readPriceFile
} from "./prices/PriceFile.ts"
export { costOf, type PricedUsage, type Rates, type RateTier } from "./prices/Rates.ts"
export * from "./prices/Repricing.ts"
export { patternFault } from "./prices/SafePattern.ts"
export { statedReason } from "./projector/Decision.ts"
export * from "./projector/Enrichment.ts"
export * from "./projector/Metrics.ts"
export * from "./projector/Projector.ts"
export * from "./projector/RunMetrics.ts"
export * from "./projector/RunState.ts"
export { addUsage, guessedPart, lacksUsage, noUsage, type UsageSums } from "./projector/UsageSums.ts"
export { parseQuery } from "./query/Parser.ts"
export * from "./query/Query.ts"
export { relativeSeconds } from "./query/RelativeTime.ts"
export {
  type Commitment as WireCommitment,
  commitmentHash,
  commitmentHashOfWire,
  commitmentJson,
  isCommitmentHash,
  readCommitment
} from "./receipts/Commitment.ts"
export { issueReceipt, type ReceiptFacts, type ReceiptSigner } from "./receipts/IssueReceipt.ts"
export * from "./receipts/Receipt.ts"
export * from "./receipts/ReceiptComparison.ts"
export * from "./receipts/ReceiptKeys.ts"
export * from "./receipts/ReceiptReport.ts"
export { receiptText } from "./receipts/ReceiptText.ts"
export * from "./receipts/StoredReceipt.ts"
export * from "./redaction/Redaction.ts"
export { committedWords } from "./run/ActionWords.ts"
export { type DenialDetails, denialsIn, readDenialDetails } from "./run/BoundDenials.ts"
export { DenialReason } from "./run/Denials.ts"
export { denialText } from "./run/DenialText.ts"
export * from "./run/FailureCodes.ts"
export * from "./run/Outcome.ts"
export * from "./run/ParticipantStatus.ts"
export * from "./run/RunDescriptor.ts"
export * from "./run/RunStatus.ts"
export * from "./seals/Chain.ts"
export * from "./seals/DigestedText.ts"
export { type DigestMember, digestedData, digestedPayload } from "./seals/DigestedValues.ts"
export * from "./seals/Disclosure.ts"
export {
  ERASABLE,
  ERASABLE_IN_FRAMES,
  type ErasureRule,
  erasableData,
  erasablePayload
} from "./seals/ErasableMembers.ts"
export { type ErasableSpan, erasableInEvent, erasableInFrame } from "./seals/ErasableSpans.ts"
export { erasedEvent, type ServedEvent, servedEvent } from "./seals/ErasedEvent.ts"
export * from "./seals/ErasureChain.ts"
export { type CheckedErasures, checkErasures } from "./seals/ErasureVerification.ts"
export {
  ExportDigest,
  type ExportProof,
  ExportSalts,
  exportEnds,
  exportedLine,
  makeExportDigest,
  signedDigest,
  storedText
} from "./seals/ExportForm.ts"
export * from "./seals/ExportVerification.ts"
export { checkFrames, type FrameProof, rawEventId } from "./seals/Frames.ts"
export { elementsOf } from "./seals/JsonSpans.ts"
export * from "./seals/KeyChain.ts"
export * from "./seals/Ledger.ts"
export * from "./seals/MarkChain.ts"
export { checkMarks } from "./seals/MarkVerification.ts"
export * from "./seals/MemberSalts.ts"
export {
  type ChainVersion,
  chainVersionOf,
  doubtsOf,
  isUnchecked,
  makeSeal,
  SEAL_ALGORITHMS,
  Seal,
  type SealDraft,
  SealedFrames,
  type SignatureCheck,
  type Signer,
  signedBytes
} from "./seals/Seal.ts"
export { earlierChain, type HistoryProof, linksOf, type Verification, walkSealed } from "./seals/SealedWalk.ts"
export type { Links, Mismatch, SignatureState, Walk } from "./seals/Verification.ts"
export * from "./shadows/ShadowActs.ts"
export * from "./statistics/index.ts"
export * from "./usage/LlmUsage.ts"
export { MAX_TOKENS_PER_CALL, type TokenCounts } from "./usage/TokenCounts.ts"
export { type Backoff, backoffMs, spreadBy } from "./values/Backoff.ts"
export { boundName, boundPayload, boundProse, bytesOfText } from "./values/Bounds.ts"
export { canonicalJson } from "./values/CanonicalJson.ts"
export { lineText } from "./values/ChatMessage.ts"
export {
  cleanJson,
  cleanNumber,
  cleanObject,
  cleanText,
  isDeeperThan,
  MAX_JSON_DEPTH,
  type Unstorable,
  unstorableIn
} from "./values/CleanJson.ts"
export {
  type Altered,
  isExactNumber,
  type JsonFault,
  jsonFault,
  jsonFaultText,
  parseExactJson
} from "./values/ExactJson.ts"
export { type FairQueue, makeFairQueue } from "./values/FairQueue.ts"
export * from "./values/Field.ts"
export { foldText } from "./values/FoldedText.ts"
export * from "./values/Graphemes.ts"
export * from "./values/GrpcCodes.ts"
export { uuidOfHash, uuidV5 } from "./values/HashUuid.ts"
export { hmacSha256 } from "./values/HmacSha256.ts"
export * from "./values/Ids.ts"
export { isolatedText } from "./values/IsolatedText.ts"
export { isoTime, isoTimeOrNull, minuteText } from "./values/IsoTime.ts"
export * from "./values/JsonReader.ts"
export { costText, nanoUsd, sumUsd, usdOfNano, usdText, usdTexts } from "./values/Money.ts"
export { meantName, nearestName } from "./values/NearestName.ts"
export * from "./values/PayloadDecoder.ts"
export { percentText } from "./values/Percent.ts"
export { type Phrase, type PhrasePart, phraseText } from "./values/Phrase.ts"
export type { Sha256 } from "./values/Sha256.ts"
export * from "./values/Sliced.ts"
export * from "./values/VisibleText.ts"
