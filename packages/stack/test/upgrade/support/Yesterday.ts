import { createHash, createPrivateKey } from "node:crypto"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { ControlPlaneClient } from "@runplane/api"
import type { RunStatus } from "@runplane/domain"
import { temporaryFolder } from "@runplane/postgres"
import { Sandbox } from "@runplane/sandbox"
import { until } from "@runplane/testing"
import * as Effect from "effect/Effect"
import { Dice } from "../../observer/support/Dice.ts"
import { awaitEvent, envelopeOf, PATIENCE, postRun, startPayload } from "../../observer/support/PlayedSession.ts"
import { LEAD, plainScript } from "../../observer/support/SessionScript.ts"

/** The runs of a dump. Their ids are those of their sessions. */
export const RUNS = {
  decided: "10000000-0000-4000-8000-000000000001",
  worked: "10000000-0000-4000-8000-000000000002",
  expired: "10000000-0000-4000-8000-000000000003",
  open: "10000000-0000-4000-8000-000000000004"
} as const

/** PKCS #8 of an Ed25519 key, in front of its 32 bytes. */
const PKCS8 = Buffer.from("302e020100300506032b657004220420", "hex")

/** Makes the file of the key of the seals, which an operator keeps through an upgrade. Returns its path. */
export const sealKeyFile = Effect.map(temporaryFolder, (folder) => {
  const der = Buffer.concat([PKCS8, createHash("sha256").update("the seals of the dumps").digest()])
  const key = createPrivateKey({ key: der, format: "der", type: "pkcs8" })
  const file = join(folder, "seal.pem")
  writeFileSync(file, key.export({ type: "pkcs8", format: "pem" }))
  return file
})

/** Paths of the two subscriptions: one whose deliveries succeed, and one whose receiver is away until the upgrade. */
export const HOOKS = { delivered: "/delivered", waiting: "/waiting" } as const

/** Fires for each run, and ends with it. */
export const ALERT = {
  id: "has-events",
  name: "RunHasEvents",
  enabled: true,
  match: "",
  zone: "UTC",
  per: "run",
  window: "run",
  measure: "events",
  levels: [{ at: 1, severity: "warning", actions: [{ type: "tag", tag: "seen" }] }]
} as const

export const DECISION = "macp.mode.decision.v1"
const TASK = "macp.mode.task.v1"

/** Message ids of the open session are the same before and after the upgrade: `m1`, `m2`, ... */
export const sessionOf = (sessionId: string, mode: typeof DECISION | typeof TASK, ttlMs: number) => {
  const start = { sender: LEAD, messageType: "SessionStart", payload: startPayload(ttlMs) }
  const said = plainScript(mode, new Dice(3)).steps.flatMap((step) => (step.kind === "say" ? [step] : []))
  return [start, ...said].map(({ sender, ...message }, index) => ({
    sender,
    envelope: envelopeOf(sessionId, mode, `m${index + 1}`, message)
  }))
}

const TTL_MS = 600_000
const SHORT_TTL_MS = 1_500

/** Plays messages of a session on the sandbox, from one index to before another. */
export const play = Effect.fnUntraced(function* (session: ReturnType<typeof sessionOf>, from: number, to?: number) {
  const sandbox = yield* Sandbox
  for (const { envelope, sender } of session.slice(from, to)) {
    const { ok } = yield* sandbox.submit({ ...envelope }, sender)
    if (!ok) return yield* Effect.die(new Error(`the runtime refused ${envelope.messageType}`))
  }
})

const open = sessionOf(RUNS.open, DECISION, TTL_MS)
/** The messages of the open session that are in the dump: its start and its proposal. */
const BEFORE = 2

/** Plays the session of the open run until the upgrade; again on the runtime of the test, which has it still. */
export const playUntilUpgrade = play(open, 0, BEFORE)
/** The rest of it, until it is decided. */
export const playAfterUpgrade = play(open, BEFORE)

/** Waits until the archive has all that is in the database. */
export const archiveIsWritten = Effect.gen(function* () {
  const { api } = yield* ControlPlaneClient
  return yield* until(
    Effect.map(api.admin.archive(), ({ archive }) => archive),
    (archive) => archive !== null && archive.lagEvents === 0 && archive.waitingChanges === 0
  )
}).pipe(Effect.timeout(PATIENCE), Effect.orDie)

/** Posts and plays sessions: decided, worked, expired, and one that stays open. */
export const playSessions = Effect.gen(function* () {
  for (const [id, mode, ttlMs, count] of [
    [RUNS.decided, DECISION, TTL_MS, undefined],
    [RUNS.worked, TASK, TTL_MS, undefined],
    [RUNS.expired, TASK, SHORT_TTL_MS, 2]
  ] as const) {
    yield* postRun(id, { mode, ttlMs })
    yield* play(sessionOf(id, mode, ttlMs), 0, count)
    yield* awaitEvent(id, id === RUNS.expired ? "run.failed" : "run.completed")
  }
  yield* postRun(RUNS.open, { mode: DECISION, ttlMs: TTL_MS })
  yield* playUntilUpgrade
  yield* awaitEvent(RUNS.open, "message.received", ({ messageId }) => messageId === `m${BEFORE}`)
})

/** Traces of the dump, each with the value of its `runplane.run.key`, from which the id of its run follows. */
export const TRACES = {
  ended: { run: "6dfaa4be-acd5-5a1f-a128-07a265ab01bf", trace: "a".repeat(32), key: "yesterday-ended" },
  open: { run: "63f63eba-513e-511f-a051-4fc9e4e31b0e", trace: "b".repeat(32), key: "yesterday-open" }
} as const

const ROOT_SPAN = "1".repeat(16)

const usage = Object.entries({ "gen_ai.usage.input_tokens": 1_000, "gen_ai.usage.output_tokens": 100 }).map(
  ([key, intValue]) => ({ key, value: { intValue } })
)

const spanOf = (trace: string, key: string, at: number, isRoot: boolean) => ({
  traceId: trace,
  spanId: isRoot ? ROOT_SPAN : "2".repeat(16),
  ...(!isRoot && { parentSpanId: ROOT_SPAN }),
  name: isRoot ? "invoke_agent coordinator" : "chat vendor1-4o",
  kind: 1,
  startTimeUnixNano: `${at}000000`,
  endTimeUnixNano: `${at + 500}000000`,
  attributes: Object.entries({
    "runplane.run.key": key,
    "gen_ai.agent.name": "coordinator",
    "gen_ai.operation.name": isRoot ? "invoke_agent" : "chat",
    ...(!isRoot && { "gen_ai.request.model": "vendor1-4o" })
  })
    .map(([name, stringValue]): { readonly key: string; readonly value: object } => ({
      key: name,
      value: { stringValue }
    }))
    .concat(isRoot ? [] : usage),
  status: {}
})

/** Exports one span of a trace, at a time in milliseconds: its model call, or its root, which ends the run. */
export const exportSpan = (
  baseUrl: string,
  { key, trace }: { readonly key: string; readonly trace: string },
  at: number,
  isRoot: boolean
) =>
  Effect.promise(async () => {
    const scopeSpans = [{ scope: { name: "agents" }, spans: [spanOf(trace, key, at, isRoot)] }]
    const answer = await fetch(`${baseUrl}/v1/traces`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ resourceSpans: [{ resource: { attributes: [] }, scopeSpans }] })
    })
    if (answer.status !== 200) throw new Error(`an export was answered ${answer.status}: ${await answer.text()}`)
  })

/** Waits until the run has the status. */
export const awaitStatus = Effect.fnUntraced(
  function* (id: string, status: RunStatus) {
    const { api } = yield* ControlPlaneClient
    const found = Effect.option(api.runs.get({ params: { id }, query: {} }))
    return yield* until(found, (run) => run._tag === "Some" && run.value.status === status)
  },
  Effect.timeout(PATIENCE),
  Effect.orDie
)
