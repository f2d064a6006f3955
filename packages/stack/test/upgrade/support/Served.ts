import { assert } from "@effect/vitest"
import { until } from "@runplane/testing"
import * as Effect from "effect/Effect"
import { PATIENCE } from "../../observer/support/PlayedSession.ts"

/** The answers of a service by path, as JSON. */
export type Served = Readonly<Record<string, unknown>>

/** Members that change while nothing happens: the lag of a loop, and attempts at a receiver that is away. */
const MOVING: ReadonlySet<string> = new Set(["lagMs", "attempts", "lastAttemptAt", "nextAttemptAt", "errorMessage"])

const get = (baseUrl: string, path: string) =>
  Effect.promise(async () => {
    const answer = await fetch(`${baseUrl}${path}`)
    if (answer.status !== 200) throw new Error(`GET ${path} answered ${answer.status}: ${await answer.text()}`)
    const body: unknown = JSON.parse(await answer.text(), (key, value) => (MOVING.has(key) ? undefined : value))
    return body
  })

/** Waits until the service is ready. */
export const isReady = (baseUrl: string) =>
  until(
    Effect.option(Effect.tryPromise(() => fetch(`${baseUrl}/readyz?strict=true`))),
    (answer) => answer._tag === "Some" && answer.value.ok
  ).pipe(Effect.timeout(PATIENCE), Effect.orDie)

export const serve = Effect.fnUntraced(function* (baseUrl: string, paths: ReadonlyArray<string>) {
  const served: Record<string, unknown> = {}
  for (const path of paths) served[path] = yield* get(baseUrl, path)
  return served
})

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** What a value has of the members of another one: a later release may add members to an answer, and changes none. */
const commonTo = (before: unknown, now: unknown): unknown => {
  if (Array.isArray(before) && Array.isArray(now)) {
    return now.map((value, index) => (index < before.length ? commonTo(before[index], value) : value))
  }
  if (!isRecord(before) || !isRecord(now)) return now
  return Object.fromEntries(
    Object.entries(now).flatMap(([key, value]) => (key in before ? [[key, commonTo(before[key], value)]] : []))
  )
}

/** Each answer is the one of before, apart from added members. */
export const assertServed = (before: Served, now: Served): void => {
  for (const [path, answer] of Object.entries(before)) assert.deepStrictEqual(commonTo(answer, now[path]), answer, path)
}
