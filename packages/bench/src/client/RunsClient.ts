import { Agent, request } from "node:http"
import { RunAccepted } from "@runplane/api"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { PARTICIPANTS, SCRIPTED_MODE } from "../runtime/History.ts"
import { ControlPlaneProcess } from "../service/ControlPlaneProcess.ts"

/** The control plane did not accept a run. */
export class RunRefused extends Data.TaggedError("RunRefused")<{ readonly reason: string }> {
  override get message(): string {
    return `POST /runs failed: ${this.reason}`
  }
}

export interface CreatedRun {
  readonly runId: string
  /** From the request to the last byte of its answer. */
  readonly millis: number
}

const ACCEPTED = 202
const NANOS_PER_MILLI = 1e6
/** Connections to the control plane; more than the runs that any scenario creates at once. */
const MAX_SOCKETS = 256

const decodeAccepted = Schema.decodeUnknownEffect(Schema.fromJsonString(RunAccepted))

/** `POST /runs` over kept connections, with as little of a client as can be: what is measured is the answer. */
export class RunsClient extends Context.Service<
  RunsClient,
  {
    readonly newSessionIds: (count: number) => Effect.Effect<ReadonlyArray<string>>
    readonly create: (sessionId: string) => Effect.Effect<CreatedRun, RunRefused>
  }
>()("runplane/bench/RunsClient") {
  static readonly layer = Layer.effect(
    RunsClient,
    Effect.gen(function* () {
      const { headers, url } = yield* ControlPlaneProcess
      const random = yield* SecureRandom.SecureRandom
      const agent = yield* Effect.acquireRelease(
        Effect.sync(() => new Agent({ keepAlive: true, maxSockets: MAX_SOCKETS })),
        (kept) => Effect.sync(() => kept.destroy())
      )
      const create = Effect.fnUntraced(function* (sessionId: string) {
        const started = yield* Clock.monotonicTimeNanos
        const { status, text } = yield* post(agent, `${url}/runs`, headers, JSON.stringify(descriptor(sessionId)))
        const ended = yield* Clock.monotonicTimeNanos
        if (status !== ACCEPTED) return yield* new RunRefused({ reason: `${status} ${text}` })
        const { runId } = yield* Effect.mapError(
          decodeAccepted(text),
          ({ message }) => new RunRefused({ reason: message })
        )
        return { runId, millis: Number(ended - started) / NANOS_PER_MILLI }
      })
      const newSessionIds = (count: number) => Effect.all(Array.from({ length: count }, () => random.uuidV4()))
      return RunsClient.of({ newSessionIds, create })
    })
  ).pipe(Layer.provide(SecureRandom.layerWebCrypto))
}

const descriptor = (sessionId: string) => ({
  mode: "live",
  runtime: { kind: "rust" },
  session: {
    sessionId,
    modeName: SCRIPTED_MODE,
    modeVersion: "1.0.0",
    configurationVersion: "config.default",
    ttlMs: 3_600_000,
    participants: PARTICIPANTS.map((id) => ({ id })),
    metadata: { source: "bench", scenarioRef: "bench/desk@1.0.0", environment: "bench" }
  },
  execution: { tags: ["bench"], requester: { actorId: "bench", actorType: "service" } }
})

interface Answer {
  readonly status: number
  readonly text: string
}

const post = (
  agent: Agent,
  url: string,
  authorization: Readonly<Record<string, string>>,
  body: string
): Effect.Effect<Answer, RunRefused> =>
  Effect.callback((resume) => {
    const headers = { ...authorization, "content-type": "application/json", "content-length": Buffer.byteLength(body) }
    const outgoing = request(url, { method: "POST", agent, headers }, (response) => {
      const parts: Array<Buffer> = []
      response.on("data", (part: Buffer) => parts.push(part))
      response.once("end", () =>
        resume(Effect.succeed({ status: response.statusCode ?? 0, text: Buffer.concat(parts).toString("utf8") }))
      )
    })
    outgoing.once("error", (error) => {
      // The server may have closed a kept connection a moment ago. A session id makes one run.
      const isStale = outgoing.reusedSocket && "code" in error && error.code === "ECONNRESET"
      resume(isStale ? post(agent, url, authorization, body) : Effect.fail(new RunRefused({ reason: error.message })))
    })
    outgoing.end(body)
    return Effect.sync(() => outgoing.destroy())
  })
