import { hash, randomUUID } from "node:crypto"
import { create } from "@bufbuild/protobuf"
import { assert, describe, it } from "@effect/vitest"
import {
  actionLog,
  counting,
  type Deliberation,
  decisionRecord,
  draftEvent,
  type EventDraft,
  evaluateActs,
  isReadyToCommit,
  makeNormaliser,
  mayCommit,
  noRedactor,
  type PolicyText,
  RunId,
  readDenialDetails,
  recordEvent,
  refuseCommitment,
  specifiedPrices,
  underPolicy,
  whatIf
} from "@runplane/domain"
import {
  decodePayload,
  type Envelope,
  InitializeRequestSchema,
  RegisterPolicyRequestSchema,
  WhatIfEntryOutcome_Kind,
  WhatIfReplayRequestSchema,
  type WhatIfReplayResponse
} from "@runplane/runtime"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { connect, send, subscribe } from "../support/Calls.ts"
import { payloadOf } from "../support/Conformance.ts"
import { commitmentPayload, envelope, startPayload } from "../support/Envelopes.ts"
import type { ForeignClient } from "../support/ForeignClient.ts"
import { Draw, drawPolicy, drawScript, LEAD, MODES, type ModeName, type Script } from "../support/RandomSessions.ts"

/** A runtime that accepts names as credentials and keeps the history of ended sessions: `npm run test:runtime`. */
const address = process.env["MACP_RUNTIME_UNDER_TEST"] ?? ""
/** Sessions of each mode, and the seed of the first. */
const SESSIONS = Number(process.env["WHAT_IF_SESSIONS"] ?? 100)
const SEED = Number(process.env["WHAT_IF_SEED"] ?? 1)
/** Sessions at a time, and other policies that are tried on each. */
const CONCURRENT = 16
const CANDIDATES = 3

/** A verdict on a commitment: `allowed`, `forbidden`, `unready`, or `denied` with the codes. */
type Verdict = string

const deniedBy = (codes: ReadonlyArray<string>): Verdict => `denied: ${[...new Set(codes)].sort().join(", ")}`

const verdictOfError = (code: string, details: Uint8Array): Verdict => {
  if (code === "FORBIDDEN") return "forbidden"
  if (code === "INVALID_ENVELOPE") return "unready"
  return code === "POLICY_DENIED" ? deniedBy(readDenialDetails(details).denials.map((one) => one.code)) : code
}

/** The verdict of the domain on a commitment after these messages. */
const ourVerdict = (run: Deliberation, policy: PolicyText, by: string, positive: boolean): Verdict => {
  const { fault, sessionRules } = underPolicy(run, policy)
  if (sessionRules === undefined) return `refused policy: ${fault}`
  const { mode, terms } = sessionRules
  const { commitment } = run
  const { initiator, participants } = run
  const { rules } = terms.policy
  const said = run.acts.filter(({ index }) => commitment === undefined || index < commitment.index)
  const record = actionLog(mode, counting(evaluateActs({ mode, initiator, participants, rules }, said)), rules)
  if (!mayCommit(by, terms)) return "forbidden"
  if (!isReadyToCommit(terms, record, positive)) return "unready"
  const refusals = refuseCommitment(terms, record, positive)
  return refusals.length === 0 ? "allowed" : deniedBy(refusals.map(({ code }) => code))
}

const { normalise } = makeNormaliser({
  decode: decodePayload,
  redactor: noRedactor,
  prices: specifiedPrices,
  sha256: (...parts) => hash("sha256", Buffer.concat(parts), "buffer")
})

interface Opening {
  readonly mode: ModeName
  readonly script: Script
  readonly sessionId: string
  readonly policy: PolicyText
  readonly version: string
}

/** What the control plane would know of the session. */
const recordOf = ({ mode, policy, script, sessionId, version }: Opening, frames: ReadonlyArray<Envelope>) => {
  const ts = new Date().toISOString()
  const head = { ts, source: { kind: "control-plane", name: "run-executor" } } as const
  const modeName = modeNameOf(mode)
  const { policyId: policyVersion } = policy
  const participants = [...script.participants]
  const drafts: Array<EventDraft> = [
    draftEvent("run.created", head, { modeName, runtimeVersion: version }),
    draftEvent("session.bound", head, { initiator: LEAD, modeName, participants, policyVersion }),
    draftEvent("policy.resolved", head, { policyVersion, descriptor: { ...policy } })
  ]
  const known = new Set(participants)
  for (const { timestampUnixMs, ...rest } of frames) {
    const raw = { ...rest, sessionId, timestampUnixMs: Number(timestampUnixMs) }
    drafts.push(...normalise(known, { kind: "stream-envelope", ambient: false, envelope: raw }, ts).drafts)
  }
  const runId = RunId.make("5b1f6c0e-6f0a-4c53-9a56-0d9c6f5f7a10")
  return decisionRecord(
    drafts.map((draft, at) => recordEvent(draft, { id: `event-${at}`, runId, seq: at + 1, index: at + 1 }))
  )
}

const modeNameOf = (mode: ModeName) => `macp.mode.${mode}.v1`

interface Outcome {
  readonly isCommitted: boolean
  /** Verdicts that were compared. */
  readonly compared: number
  readonly differences: ReadonlyArray<string>
  readonly verdicts: ReadonlyArray<Verdict>
}

const policyTextOf = (mode: ModeName, participants: ReadonlyArray<string>, draw: Draw): PolicyText => {
  const { rules, schemaVersion } = drawPolicy(mode, participants, draw)
  return {
    policyId: `policy.oracle.${randomUUID()}`,
    mode: modeNameOf(mode),
    schemaVersion,
    rules: JSON.stringify(rules)
  }
}

const play = async (client: ForeignClient, version: string, mode: ModeName, seed: number): Promise<Outcome> => {
  const draw = new Draw(seed)
  const script = drawScript(mode, draw)
  const modeName = modeNameOf(mode)
  const sessionId = randomUUID()
  const differences: Array<string> = []
  const verdicts: Array<Verdict> = []
  const where = `${mode}, WHAT_IF_SEED=${seed}`
  const compare = (what: string, runtime: Verdict, ours: Verdict, detail: string) => {
    verdicts.push(runtime)
    if (runtime !== ours) differences.push(`${where}, ${what}: the runtime says ${runtime}, we say ${ours}; ${detail}`)
  }
  // Half of the sessions are bound to drawn rules; the others may end in every way that their mode has.
  const drawn = policyTextOf(mode, script.participants, draw)
  const bound: PolicyText = draw.chance(0.5) ? drawn : { ...drawn, schemaVersion: 1, rules: "{}" }
  const registered = await client.unary(
    "registerPolicy",
    create(RegisterPolicyRequestSchema, { policyDescriptor: { ...bound } }),
    LEAD
  )
  const nothing = recordOf({ mode, policy: bound, script, sessionId, version }, [])
  compare(
    "registration",
    String(registered.ok),
    String(underPolicy(nothing, bound).sessionRules !== undefined),
    bound.rules
  )
  if (!registered.ok) return { isCommitted: false, compared: 1, differences, verdicts }
  const opening: Opening = { mode, policy: bound, script, sessionId, version }

  const accepted: Array<Envelope> = []
  let sent = 0
  const say = async (type: string, by: string, payload: Uint8Array<ArrayBuffer>) => {
    sent += 1
    const message = envelope(type, `m${sent}`, payload, { mode: modeName, sessionId, sender: by })
    const ack = await send(client, message, by)
    if (ack.ok) accepted.push(message)
    return ack
  }
  const start = await say(
    "SessionStart",
    LEAD,
    startPayload({ participants: [...script.participants], policyVersion: bound.policyId })
  )
  assert.isTrue(start.ok, `${where}: ${start.error?.code}`)
  for (const { by, payload, type } of script.attempts) {
    await say(type, by, payloadOf(modeName, { message_type: type, payload_type: "", payload }))
  }
  const first = draw.chance(0.6)
  const anyone = draw.pick(LEAD, ...script.participants)
  const entitled = script.participants.find(
    (who) => ourVerdict(recordOf(opening, accepted), bound, who, true) !== "forbidden"
  )
  for (const [by, positive] of [
    [anyone, first],
    [entitled ?? LEAD, first],
    [entitled ?? LEAD, !first]
  ] as const) {
    const ours = ourVerdict(recordOf(opening, accepted), bound, by, positive)
    const payload = commitmentPayload({
      action: "custom.done",
      outcomePositive: positive,
      policyVersion: bound.policyId
    })
    const ack = await say("Commitment", by, payload)
    const { code = "", details = new Uint8Array() } = ack.error ?? {}
    compare(
      `a ${positive ? "positive" : "negative"} commitment of ${by}`,
      ack.ok ? "allowed" : verdictOfError(code, details),
      ours,
      bound.rules
    )
    if (ack.ok) break
  }
  const stream = client.session(LEAD)
  stream.write(subscribe(sessionId))
  const frames = await stream.frames.take(accepted.length)
  stream.cancel()
  const history = frames.flatMap(({ response }) => (response.case === "envelope" ? [response.value] : []))
  assert.deepStrictEqual(
    history.map(({ messageId }) => messageId),
    accepted.map(({ messageId }) => messageId),
    where
  )
  const run = recordOf(opening, history)
  const { commitment } = run
  for (let tried = 0; tried < CANDIDATES; tried++) {
    const candidate = policyTextOf(mode, script.participants, draw)
    const request = create(WhatIfReplayRequestSchema, { sessionId, candidate: { ...candidate } })
    const isValid = underPolicy(run, candidate).sessionRules !== undefined
    let answer: WhatIfReplayResponse
    try {
      answer = await client.unary("whatIfReplay", request, LEAD)
    } catch (cause) {
      compare(
        "admission",
        `refused policy ${isValid ? Object(cause).details : ""}`.trim(),
        isValid ? "allowed" : "refused policy",
        candidate.rules
      )
      continue
    }
    compare("admission", "allowed", isValid ? "allowed" : "refused policy", candidate.rules)
    if (commitment === undefined || !isValid) continue
    const entry = answer.entries.find(({ messageType }) => messageType === "Commitment")
    const outcome = entry?.candidate
    assert(outcome !== undefined, where)
    const theirs =
      outcome.kind === WhatIfEntryOutcome_Kind.APPLIED
        ? "allowed"
        : outcome.kind === WhatIfEntryOutcome_Kind.REFUSED
          ? verdictOfError(outcome.errorCode, outcome.details)
          : `entry of kind ${outcome.kind}`
    const positive = commitment.evaluatedPositive
    const detail = `bound to ${bound.rules}, candidate ${JSON.stringify(candidate)}; ${entriesOf(answer)}`
    compare("what-if", theirs, ourVerdict(run, candidate, commitment.by, positive), detail)
    const { after } = Result.getOrThrow(whatIf(run, underPolicy(run, bound), { policy: candidate }))
    if (theirs !== "forbidden") compare("what-if allowed", String(theirs === "allowed"), String(after.allowed), detail)
  }
  return { isCommitted: commitment !== undefined, compared: verdicts.length, differences, verdicts }
}

/** The history, with what the candidate refuses of it. */
const entriesOf = ({ entries }: WhatIfReplayResponse): string =>
  entries.map(({ candidate, messageType }) => `${messageType} ${candidate?.errorCode ?? ""}`.trim()).join(", ")

const playAll = Effect.fnUntraced(function* (mode: ModeName) {
  const client = yield* connect(address)
  const { capabilities, runtimeInfo } = yield* Effect.promise(() =>
    client.unary("initialize", create(InitializeRequestSchema, { supportedProtocolVersions: ["1.0"] }), LEAD)
  )
  if (capabilities?.policyRegistry?.whatIfReplay !== true) {
    return yield* Effect.logWarning(`${runtimeInfo?.version} has no WhatIfReplay: its verdicts were not compared`)
  }
  const version = runtimeInfo?.version ?? ""
  const began = performance.now()
  const seeds = Array.from({ length: SESSIONS }, (_, at) => SEED + at)
  const outcomes = yield* Effect.forEach(seeds, (seed) => Effect.promise(() => play(client, version, mode, seed)), {
    concurrency: CONCURRENT
  })
  const differences = outcomes.flatMap((one) => one.differences)
  const tally: Record<string, number> = {}
  for (const verdict of outcomes.flatMap(({ verdicts }) => verdicts)) tally[verdict] = (tally[verdict] ?? 0) + 1
  const committed = outcomes.filter(({ isCommitted }) => isCommitted).length
  const compared = outcomes.reduce((sum, one) => sum + one.compared, 0)
  const seconds = ((performance.now() - began) / 1_000).toFixed(1)
  yield* Effect.logInfo(
    `${mode}: ${SESSIONS} sessions, ${committed} committed, ${compared} verdicts in ${seconds} s, ` +
      `${differences.length} differ; ${JSON.stringify(tally)}`
  )
  assert.deepStrictEqual(differences.slice(0, 5), [])
  assert.isAbove(committed, SESSIONS / 3, "sessions with a commitment")
})

describe("the verdicts of macp-runtime are those of the domain", () => {
  for (const mode of MODES) {
    it.live(
      `on random sessions of the ${mode} mode, under random policies`,
      () => Effect.scoped(playAll(mode)),
      120_000
    )
  }
})
