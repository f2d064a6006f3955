import { assert, layer } from "@effect/vitest"
import type { RunId } from "@runplane/domain"
import type { RuntimeErrorReason } from "@runplane/runtime"
import { RuntimeFake } from "@runplane/runtime/testing"
import type { Call } from "@runplane/testing"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { call, layerTestService, openStream, type TestServiceOptions } from "../support/HttpService.ts"
import { differences } from "./Matching.ts"
import { type Given, givens } from "./World.ts"

/** One statement of the contract: one request and what must be answered. */
export interface Statement {
  /** The statement, in our words. */
  readonly says: string
  /** The run that `:run` stands for in path and body. */
  readonly given?: Given
  /** What the runtime answers the next such call with. */
  readonly runtimeFails?: readonly [
    method: "ListSessions" | "GetManifest" | "RegisterPolicy" | "ListPolicies",
    RuntimeErrorReason
  ]
  /**
   * The runtime ends the session once the stream is open, so that the stream ends; `answer` is then about one line a
   * frame: name, id and type of the event.
   */
  readonly endsRun?: true
  /** Requests that must be 2xx, made before the one that is looked at. */
  readonly after?: ReadonlyArray<readonly [method: string, path: string, body?: unknown]>
  readonly method: string
  readonly path: string
  readonly body?: unknown
  readonly headers?: Call["headers"]
  readonly status: number
  /** What the body must be, in the terms of `differences`. */
  readonly answer?: unknown
  /** What the answer's headers must be, in the same terms. */
  readonly answerHeaders?: Readonly<Record<string, unknown>>
}

/** The run that read-only statements share. */
class ScriptedRun extends Context.Service<ScriptedRun, RunId>()("runplane/control-plane/test/ScriptedRun") {
  static readonly layer = Layer.effect(ScriptedRun, givens.scripted)
  /** For services that do not play a scripted run. */
  static readonly layerNone = Layer.effect(ScriptedRun, givens.unknown)
}

export interface ContractOptions extends TestServiceOptions {
  readonly scripted?: boolean
}

const withRun = (value: unknown, run: string): unknown =>
  value === undefined ? undefined : JSON.parse(JSON.stringify(value).replaceAll(":run", run))

const SHOWN = 600

const checkStream = Effect.fnUntraced(function* ({ answer, headers, path, status }: Statement, run: RunId) {
  const stream = yield* openStream(path.replaceAll(":run", run), headers)
  assert.strictEqual(stream.status, status)
  assert.match(stream.headers.get("content-type") ?? "", /^text\/event-stream/)
  yield* RuntimeFake.use((fake) => fake.transition(run, "RESOLVED"))
  const frames = yield* stream.rest
  const lines = frames.map(({ data, event, id }) =>
    `${event} ${id === undefined ? "-" : "seq"} ${data.type ?? ""}`.trimEnd()
  )
  assert.deepStrictEqual(differences(lines.join("\n"), answer), [])
})

/**
 * The watch reports the end of a session at once; the sessions that it discovers are posted soon after. Only the
 * request of a statement calls the runtime, so that it meets the injected failure.
 */
const watching = { discoveryEnabled: true, discoveryGraceMs: 600_000, reconcileIntervalMs: 0 }

/** Tests each statement of a section of the contract over the real port. */
export const contract = (section: string, statements: ReadonlyArray<Statement>, options: ContractOptions = {}) =>
  layer(
    (options.scripted === false ? ScriptedRun.layerNone : ScriptedRun.layer).pipe(
      Layer.provideMerge(layerTestService({ ...options, observer: { ...watching, ...options.observer } }))
    ),
    { excludeTestServices: true }
  )(`${section}:`, (it) => {
    for (const statement of statements) {
      it.effect(statement.says, () =>
        Effect.gen(function* () {
          const given = statement.given ?? "unknown"
          const run = given === "scripted" ? yield* ScriptedRun : yield* givens[given]
          for (const [method, path, body] of statement.after ?? []) {
            const before = yield* call(method, path.replaceAll(":run", run), { body: withRun(body, run) })
            assert.isBelow(before.status, 300, `${method} ${path}: ${before.text}`)
          }
          if (statement.runtimeFails !== undefined) {
            const [method, reason] = statement.runtimeFails
            yield* RuntimeFake.use((fake) => fake.fail({ method }, reason, "the runtime's words"))
          }
          if (statement.endsRun === true) return yield* checkStream(statement, run)
          const answer = yield* call(statement.method, statement.path.replaceAll(":run", run), {
            body: typeof statement.body === "string" ? statement.body : withRun(statement.body, run),
            headers: statement.headers ?? {}
          })
          assert.strictEqual(answer.status, statement.status, answer.text.slice(0, SHOWN))
          const body =
            answer.headers.get("content-type")?.startsWith("application/json") === true ? answer.body : answer.text
          if (statement.answer !== undefined) assert.deepStrictEqual(differences(body, statement.answer), [])
          for (const [name, expected] of Object.entries(statement.answerHeaders ?? {})) {
            assert.deepStrictEqual(differences(answer.headers.get(name) ?? undefined, expected, name), [])
          }
        })
      )
    }
  })
