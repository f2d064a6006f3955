import { randomInt } from "node:crypto"
import { assert, layer } from "@effect/vitest"
import { launcherErrorStatus } from "@runplane/api"
import { exchange, type WireAnswer } from "@runplane/testing"
import * as Effect from "effect/Effect"
import { type HostileRequest, hostileRequest } from "./HostileRequests.ts"
import { layerWorld, World } from "./World.ts"

/** Requests of one test run; more in the continuous integration. */
const REQUESTS = Number(process.env["LAUNCHER_FUZZ_REQUESTS"] || 1_000)
/** Gives the requests of an earlier test run again. */
const SEED = Number(process.env["LAUNCHER_FUZZ_SEED"] || randomInt(2 ** 31))
const CONCURRENCY = 8
/** Share of the requests that something is done for; requests that are all refused at the door prove little. */
const LEAST_ACCEPTED = 0.15
const TIME_LIMIT_MS = 60_000 + REQUESTS * 100

const isMessage = (message: unknown) =>
  typeof message === "string" || (Array.isArray(message) && message.every((text) => typeof text === "string"))

/**
 * The fault of an error answer: it has the service's own form or the framework's, and a status of the caller's.
 */
const faultOfError = ({ json, status }: WireAnswer): string | undefined => {
  if (json === undefined) return "an error that is not JSON"
  const { statusCode, errorCode, message, ...rest } = json
  if (statusCode !== status) return "a body with another status"
  if (!isMessage(message)) return "a message that is not a text"
  if (status >= 500) return "a failure of our own"
  if (errorCode === undefined) return typeof rest.error === "string" ? undefined : "no error and no errorCode"
  if (!Object.hasOwn(launcherErrorStatus, errorCode)) return "an unknown errorCode"
  const { metadata, ...others } = rest
  if (metadata !== undefined && Object.keys(metadata).length === 0) return "empty metadata"
  return Object.keys(others).length === 0 ? undefined : "an unknown key in the body"
}

const faultOf = ({ leaves, method }: HostileRequest, answer: WireAnswer | undefined): string | undefined => {
  // Nothing can be said to who leaves halfway, and nothing is said to who wants a tunnel.
  if (answer === undefined) return leaves || method === "CONNECT" ? undefined : "no answer"
  if (method === "HEAD") return answer.status >= 500 ? "a failure of our own" : undefined
  if (answer.status >= 400) return faultOfError(answer)
  const isJson = answer.headers["content-type"]?.startsWith("application/json") === true
  return isJson && answer.json === undefined ? "a body that is not JSON" : undefined
}

layer(layerWorld({ env: { AUTO_BOOTSTRAP_EXAMPLE_AGENTS: "false" } }), { excludeTestServices: true })(
  "No request, however malformed,",
  (it) => {
    it.effect(
      `is answered with a failure of the service (${REQUESTS} requests, LAUNCHER_FUZZ_SEED=${SEED})`,
      () =>
        Effect.gen(function* () {
          const { port } = yield* World
          const faults: Array<string> = []
          let accepted = 0
          yield* Effect.forEach(
            Array.from({ length: REQUESTS }, (_, number) => number),
            (number) =>
              Effect.gen(function* () {
                const request = hostileRequest(SEED, number)
                const answer = yield* exchange(port, request)
                if (answer !== undefined && answer.status < 300) accepted += 1
                const fault = faultOf(request, answer)
                if (fault === undefined) return
                const said = answer === undefined ? "" : `${answer.status} ${answer.text.slice(0, 500)}`
                faults.push(`${fault}: ${said}\nrequest ${number}: ${request.head.slice(0, 1_000)}`)
              }),
            { concurrency: CONCURRENCY, discard: true }
          )
          assert.deepStrictEqual(faults, [])
          assert.isAbove(accepted / REQUESTS, LEAST_ACCEPTED)
          assert.isUndefined(Reflect.get({}, "polluted"))
        }),
      TIME_LIMIT_MS
    )
  }
)
