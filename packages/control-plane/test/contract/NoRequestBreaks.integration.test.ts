import { randomInt, randomUUID } from "node:crypto"
import { assert, layer } from "@effect/vitest"
import { controlPlaneErrorStatus } from "@runplane/api"
import { RunId } from "@runplane/domain"
import { RuntimeFake } from "@runplane/runtime/testing"
import { exchange, type WireAnswer } from "@runplane/testing"
import * as Effect from "effect/Effect"
import { baseUrl, call, descriptor, layerTestService } from "../support/HttpService.ts"
import { awaitStatus } from "../support/Observation.ts"
import { declaredEndpoints, isObject } from "./Declared.ts"
import { type HostileRequest, hostileRequest, type Known, learnt, shown } from "./HostileRequests.ts"

/** Requests of one test run; more in the continuous integration. */
const REQUESTS = Number(process.env["CONTRACT_FUZZ_REQUESTS"] || 1_000)
/** Gives the requests of an earlier test run again. */
const SEED = Number(process.env["CONTRACT_FUZZ_SEED"] || randomInt(2 ** 31))
const CONCURRENCY = 8
/** Of each kind, the latest ids stay known. */
const MAX_KNOWN = 40
/** Share of the requests that something is done for. */
const LEAST_ACCEPTED = 0.15
const TIME_LIMIT_MS = 60_000 + REQUESTS * 100

/** Codes of answers above 500 that report a failure behind the service. */
const RELAYED: ReadonlyMap<number, ReadonlyArray<string>> = new Map([
  [501, ["NOT_IMPLEMENTED"]],
  [502, ["INTERNAL_ERROR"]],
  [503, ["RUNTIME_UNAVAILABLE", "CIRCUIT_BREAKER_OPEN", "SERVICE_UNAVAILABLE"]],
  [504, ["RUNTIME_TIMEOUT"]]
])

const isMessage = (message: unknown) =>
  typeof message === "string" || (Array.isArray(message) && message.every((text) => typeof text === "string"))

const ERROR_KEYS = ["statusCode", "errorCode", "message", "metadata", "error"]

/** What is wrong with an error answer (docs/reference/errors.md#error-bodies), or nothing. */
const faultOfError = ({ headers, json, status }: WireAnswer): string | undefined => {
  if (headers["content-type"]?.startsWith("application/json") !== true) return "an error that is not JSON"
  if (!isObject(json)) return "an error without a body"
  const { error, errorCode, message, metadata, statusCode } = json
  if (statusCode !== status) return "a body with another status"
  if (typeof errorCode !== "string" || !Object.hasOwn(controlPlaneErrorStatus, errorCode)) return "an unknown errorCode"
  if (!isMessage(message)) return "a message that is not a text"
  if (error !== undefined && typeof error !== "string") return "an error that is not a text"
  if (metadata !== undefined && !isObject(metadata)) return "metadata that are no object"
  if (Object.keys(json).some((key) => !ERROR_KEYS.includes(key))) return "an unknown key in the body"
  if (status >= 500 && RELAYED.get(status)?.includes(errorCode) !== true) return "a failure of our own"
  return undefined
}

const faultOf = (request: HostileRequest, answer: WireAnswer | undefined): string | undefined => {
  if (answer === undefined) {
    // Nothing can be said to who leaves halfway, and nothing is said to who wants a tunnel.
    return !request.leaves && request.method !== "CONNECT" ? "no answer" : undefined
  }
  if (answer.status >= 400) {
    if (request.method !== "HEAD") return faultOfError(answer)
    return answer.status >= 500 && !RELAYED.has(answer.status) ? "a failure of our own" : undefined
  }
  const isJson = answer.headers["content-type"]?.startsWith("application/json") === true
  if (isJson && request.method !== "HEAD" && answer.json === undefined) return "a body that is not JSON"
  return "x-request-id" in answer.headers ? undefined : "no request id"
}

const EXPORT = /^(GET \/runs\/[^/?]+\/export|POST \/runs\/batch\/export)/
const UUIDS = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g

/** The runs that a request exports. A batch is answered only when all of its runs are known at the beginning. */
const exportedRuns = ({ body, head }: HostileRequest): ReadonlyArray<string> => {
  const [line] = EXPORT.exec(head) ?? []
  return line === undefined ? [] : (`${line} ${body.toString()}`.match(UUIDS) ?? [])
}

/** An export of a run that another of the requests has deleted meanwhile is cut, so that it does not look complete. */
const isCutByDeletion = Effect.fnUntraced(function* (request: HostileRequest, answer: WireAnswer | undefined) {
  if (answer?.isCut !== true || answer.status >= 300) return false
  for (const id of exportedRuns(request)) {
    if ((yield* call("GET", `/runs/${id}`)).status === 404) return true
  }
  return false
})

/** Runs in several states, so that requests get past the first look-up. */
const knownRuns = Effect.gen(function* () {
  const fake = yield* RuntimeFake
  const ids: Array<string> = [randomUUID()]
  for (const end of [undefined, "RESOLVED"] as const) {
    const runId = RunId.make(randomUUID())
    yield* fake.openSession({ sessionId: runId, participants: ["agent://lead"], initiator: "agent://lead" })
    yield* call("POST", "/runs", { body: descriptor({ session: { sessionId: runId } }) })
    yield* awaitStatus(runId, "running")
    yield* fake.accept(runId, { messageType: "SessionStart", sender: "agent://lead" })
    if (end !== undefined) {
      yield* fake.transition(runId, end)
      yield* awaitStatus(runId, "completed")
    }
    ids.push(runId)
  }
  const sessionId = "a-session-id-that-is-no-uuid"
  yield* call("POST", "/runs", {
    body: descriptor({ session: { sessionId, metadata: { cancellationDelegated: true } } })
  })
  return [...ids, sessionId]
})

const settings = { CANCEL_CALLBACK_TIMEOUT_MS: "100", WEBHOOK_TIMEOUT_MS: "100" }

layer(layerTestService({ settings }), { excludeTestServices: true })("No request, however malformed,", (it) => {
  it.effect(
    `gives a 500 or stops the process (${REQUESTS} requests, CONTRACT_FUZZ_SEED=${SEED})`,
    () =>
      Effect.gen(function* () {
        const port = Number(new URL(yield* baseUrl).port)
        const firstRuns = yield* knownRuns
        const webhook = yield* call("POST", "/webhooks", { body: { url: "https://192.0.2.1/hook", secret: "s" } })
        const firstWebhooks: ReadonlyArray<string> = [randomUUID(), webhook.body.id]
        let latest: Known = { runs: [], webhooks: [] }
        const faults: Array<string> = []
        let accepted = 0

        yield* Effect.forEach(
          Array.from({ length: REQUESTS }, (_, number) => number),
          (number) =>
            Effect.gen(function* () {
              const known = {
                runs: [...firstRuns, ...latest.runs],
                webhooks: [...firstWebhooks, ...latest.webhooks]
              }
              const request = hostileRequest(SEED, number, known)
              const answer = yield* exchange(port, request).pipe(
                Effect.mapError(({ message }) => new Error(`${message}\n${shown(request)}`))
              )
              const fault = faultOf(request, answer)
              if (fault !== undefined && !(yield* isCutByDeletion(request, answer))) {
                const said = answer === undefined ? "" : `${answer.status} ${answer.text.slice(0, 500)}`
                faults.push(`${fault}: ${said}\n${shown(request)}`)
              }
              if (answer !== undefined && answer.status < 300) {
                accepted += 1
                const news = learnt(answer.json)
                latest = {
                  runs: [...latest.runs, ...news.runs].slice(-MAX_KNOWN),
                  webhooks: [...latest.webhooks, ...news.webhooks].slice(-MAX_KNOWN)
                }
              }
            }),
          { concurrency: CONCURRENCY, discard: true }
        )

        assert.deepStrictEqual(faults, [])
        assert.isAtLeast(declaredEndpoints.length, 50)
        // Requests that are all refused at the door prove little.
        assert.isAbove(accepted / REQUESTS, LEAST_ACCEPTED)
        assert.strictEqual((yield* call("GET", "/healthz")).status, 200)
      }),
    TIME_LIMIT_MS
  )
})
