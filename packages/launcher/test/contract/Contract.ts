import { readFileSync } from "node:fs"
import { layer } from "@effect/vitest"
import { request } from "@runplane/testing"
import * as Effect from "effect/Effect"
import { expect } from "vitest"
import { type FileChanges, layerWorld, World, type WorldOptions } from "./World.ts"

/** One statement about the service: one request and what must be answered. */
export interface Statement {
  /** The statement in words. */
  readonly says: string
  readonly method?: "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE" | "OPTIONS"
  readonly path: string
  /** JSON, or a text as it is to be sent. */
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  /** Changes of the pack files that hold for this statement alone; paths within the packs directory. */
  readonly files?: FileChanges
  /** How often the same request is made before. */
  readonly after?: number
  readonly status: number
  /** All of the answer's body; patterns may stand for values. */
  readonly answer?: unknown
  /** A part of the answer's body. */
  readonly includes?: object
  /** Keys that the answer's body may not have. */
  readonly lacks?: ReadonlyArray<string>
  /** Headers of the answer; null for one that must not be there. */
  readonly answerHeaders?: Readonly<Record<string, string | RegExp | null>>
  /** What the agents note down while it happens, in order. */
  readonly journal?: ReadonlyArray<string>
  readonly also?: (seen: Seen) => void
}

export interface Seen {
  readonly world: World["Service"]
  /** Parsed, of the type that the parser returns, so that statements can read its fields. */
  readonly body: ReturnType<typeof JSON.parse>
  readonly text: string
  /** A file below the service's root. */
  readonly file: (path: string) => string
}

const check = Effect.fnUntraced(function* (statement: Statement) {
  const world = yield* World
  yield* Effect.acquireRelease(world.withFiles(statement.files ?? {}), () => world.restore)
  const { body: sent, headers = {}, method = "GET", path } = statement
  const ask = request(method, `${world.url}${path}`, { body: sent, headers })
  for (let before = 0; before < (statement.after ?? 0); before++) yield* ask
  world.journal()
  world.auth.requests.length = 0
  world.controlPlane.requests.length = 0

  const answer = yield* ask
  const { text } = answer
  expect(answer.status, text.slice(0, 2_000)).toBe(statement.status)
  const body = answer.body ?? text
  if (statement.answer !== undefined) expect(body).toStrictEqual(statement.answer)
  if (statement.includes !== undefined) expect(body).toMatchObject(statement.includes)
  for (const key of statement.lacks ?? []) expect(body).not.toHaveProperty(key)
  for (const [name, expected] of Object.entries(statement.answerHeaders ?? {})) {
    const value = answer.headers.get(name)
    if (expected instanceof RegExp) expect(value ?? "", name).toMatch(expected)
    else expect(value, name).toBe(expected)
  }
  if (statement.journal !== undefined) expect(world.journal()).toStrictEqual(statement.journal)
  statement.also?.({ world, body, text, file: (path) => readFileSync(`${world.root}/${path}`, "utf8") })
}, Effect.scoped)

/** Tests statements about one subject over the real port of a service of its own. */
export const contract = (subject: string, statements: ReadonlyArray<Statement>, options: WorldOptions = {}) =>
  layer(layerWorld(options), { excludeTestServices: true })(subject, (it) => {
    for (const statement of statements) it.effect(statement.says, () => check(statement))
  })

export const UUID_V4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

/** The body of the service's own errors: these keys and, without metadata, no others. */
export const errorBody = (statusCode: number, errorCode: string, message: unknown, metadata?: unknown) => ({
  statusCode,
  errorCode,
  message: message instanceof RegExp ? expect.stringMatching(message) : message,
  ...(metadata === undefined ? {} : { metadata })
})

/** The body of errors in the framework's form: no code. */
export const frameworkBody = (statusCode: number, error: string, message: unknown) => ({ statusCode, error, message })
