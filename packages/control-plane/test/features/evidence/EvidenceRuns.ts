import { createHash, randomUUID } from "node:crypto"
import { create, toBinary } from "@bufbuild/protobuf"
import { type PasskeyRecord, PEOPLE_ANSWER, RunId, reasonWithLine, signedText } from "@runplane/domain"
import { CommitmentPayloadSchema } from "@runplane/runtime"
import { RuntimeFake } from "@runplane/runtime/testing"
import { makeAuthenticator } from "@runplane/testing"
import * as Effect from "effect/Effect"
import { MAJORITY } from "../../support/Committee.ts"
import { baseUrl, call, descriptor } from "../../support/HttpService.ts"
import { awaitStatus } from "../../support/Observation.ts"

const [LEAD, RISK, COST] = ["agent://lead", "agent://risk", "agent://cost"]

const json = (payload: object) => new TextEncoder().encode(JSON.stringify(payload))

const LOW_RATE = 'the rate "is" low\n'
export const SIGNED_REASON = "the rate of Ada is low"

/** A run whose session was followed to its decision, with frames, a model call and texts of business data. */
export const decidedRun = Effect.fnUntraced(function* (
  metadata: Readonly<Record<string, unknown>> = {},
  rejection = LOW_RATE
) {
  const runId = RunId.make(randomUUID())
  const fake = yield* RuntimeFake
  const { description, mode, policyId, rules, schemaVersion } = MAJORITY
  yield* call("POST", "/runtime/policies", {
    body: { policyId, mode, description, schemaVersion, rules: JSON.parse(rules) }
  })
  yield* fake.openSession({
    ...{ sessionId: runId, participants: [LEAD, RISK, COST], initiator: LEAD, policyVersion: policyId }
  })
  yield* call("POST", "/runs", {
    body: descriptor({
      runtime: { kind: "fake", version: "1" },
      session: { sessionId: runId, metadata: { scenarioRef: "loans/fast@1.0.0", ...metadata } },
      execution: { tags: ["evidence"] }
    })
  })
  yield* awaitStatus(runId, "running")
  const send = (messageType: string, messageId: string, sender: string, payload: object) =>
    fake.accept(runId, { messageType, messageId, sender, payload: json({ proposalId: "p1", ...payload }) })
  yield* send("Proposal", "m1", LEAD, { option: "approve the loan of Ada", rationale: "income is enough" })
  const usage = { model: "vendor1-4o-mini", promptTokens: 593, completionTokens: 150, prompt: "Rate Ada's loan" }
  yield* send("Vote", "m2", RISK, { vote: "APPROVE", reason: "no arrears \u{1f600}\u2028", llm: usage, usage })
  yield* send("Vote", "m3", COST, { vote: "REJECT", reason: rejection })
  yield* send("Vote", "m4", COST, { vote: "APPROVE", reason: "changed" })
  const payload = toBinary(
    CommitmentPayloadSchema,
    create(CommitmentPayloadSchema, {
      ...{ commitmentId: "c1", action: "loan.approved", authorityScope: "loans" },
      ...{ reason: "two of three", outcomePositive: true }
    })
  )
  yield* fake.accept(runId, { messageType: "Commitment", messageId: "m5", sender: LEAD, payload })
  yield* fake.transition(runId, "RESOLVED")
  yield* awaitStatus(runId, "completed")
  return runId
})

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex")

const post = Effect.fnUntraced(function* (runId: string, inline: object) {
  const body = { kind: PEOPLE_ANSWER, label: "Answer of cost", inline }
  const added = yield* call("POST", `/runs/${runId}/artifacts`, { body })
  if (added.status !== 201) return yield* Effect.die(new Error(added.text))
})

/** Adds the record of the answer of a person whose vote is message m3 of a decided run. */
export const addAnswer = Effect.fnUntraced(function* (runId: string) {
  const inline = {
    ...{ v: 1, item: randomUUID(), seat: COST, origin: "person", person: "ann", proof: "session", act: "reject" },
    ...{ messageId: "m3", ordinal: 4, proposalHash: sha256("proposal"), channel: "api", revealed: "after" },
    payloadSha256: sha256(JSON.stringify({ proposalId: "p1", vote: "REJECT", reason: LOW_RATE })),
    basis: { ordinal: 3, sha256: sha256("basis"), withheld: [] },
    ...{ unseen: [], couldHaveSeen: false, nonce: sha256("nonce") },
    ...{ askedAt: "2026-11-30T09:00:00.000Z", answeredAt: "2026-11-30T09:01:00.000Z" }
  }
  yield* post(runId, inline)
  return inline
})

/** A decided run with the record of an answer that a person has signed with a passkey; `change` spoils the record. */
export const signedRun = Effect.fnUntraced(function* (
  change: (record: PasskeyRecord) => PasskeyRecord = (record) => record,
  said = SIGNED_REASON
) {
  const authenticator = makeAuthenticator("https://inbox.example")
  const item = randomUUID()
  const [proposalHash, basis] = [sha256("proposal"), { ordinal: 3, sha256: sha256("basis") }]
  const signed = signedText({
    ...{ item, proposalHash, basis, act: "reject", reason: SIGNED_REASON, nonce: sha256("nonce") }
  })
  const challenge = createHash("sha256").update(signed).digest("base64url")
  const { authenticatorData, clientDataJSON, signature } = authenticator.get(challenge)
  const passkey = change({
    ...{ signed, publicKey: authenticator.publicKey, rpId: "inbox.example" },
    ...{ enrolledAt: "2026-11-01T09:00:00.000Z", authenticatorData, clientDataJSON, signature }
  })
  const reason = reasonWithLine(said, { person: "ann", item, proposalHash })
  const runId = yield* decidedRun({}, reason)
  yield* post(runId, {
    ...{ v: 1, item, seat: COST, origin: "person", person: "ann", proof: "passkey", act: "reject" },
    ...{ messageId: "m3", ordinal: 4, proposalHash, channel: "console", revealed: "after" },
    payloadSha256: sha256(JSON.stringify({ proposalId: "p1", vote: "REJECT", reason })),
    basis: { ...basis, withheld: [] },
    ...{ unseen: [], couldHaveSeen: false, passkey, nonce: sha256("nonce of the record") },
    ...{ askedAt: "2026-11-30T09:00:00.000Z", answeredAt: "2026-11-30T09:01:00.000Z" }
  })
  return runId
})

/** A decided run with the record of an answer that a person has given by a personal link. */
export const linkedRun = Effect.gen(function* () {
  const [item, proposalHash] = [randomUUID(), sha256("proposal")]
  const reason = reasonWithLine(SIGNED_REASON, { person: "dora", item, proposalHash })
  const runId = yield* decidedRun({}, reason)
  yield* post(runId, {
    ...{ v: 1, item, seat: COST, origin: "person", person: "dora", proof: "link", act: "reject" },
    ...{ messageId: "m3", ordinal: 4, proposalHash, channel: "link", revealed: "after" },
    payloadSha256: sha256(JSON.stringify({ proposalId: "p1", vote: "REJECT", reason })),
    basis: { ordinal: 3, sha256: sha256("basis"), withheld: [] },
    ...{ unseen: [], couldHaveSeen: true, nonce: sha256("nonce of the record") },
    ...{ askedAt: "2026-11-30T09:00:00.000Z", answeredAt: "2026-11-30T09:01:00.000Z" }
  })
  return runId
})

/** The bytes of an answer. */
export const bytesOf = Effect.fnUntraced(function* (path: string) {
  const url = `${yield* baseUrl}${path}`
  return yield* Effect.promise(async () => {
    const response = await fetch(url)
    return { status: response.status, headers: response.headers, bytes: Buffer.from(await response.arrayBuffer()) }
  })
})

export const evidenceOf = (runId: string, query = "") =>
  Effect.map(bytesOf(`/runs/${runId}/evidence${query}`), ({ bytes }) => bytes)

/** The published keys, as an auditor saves them. */
export const keysOf = Effect.map(call("GET", "/.well-known/runplane-keys.json"), ({ text }) => text)
