import { type Delegation, LauncherApi, launcherError } from "@runplane/api"
import { delegationState, statedTime } from "@runplane/domain"
import * as Effect from "effect/Effect"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import { HttpApiBuilder } from "effect/http-api"
import * as Result from "effect/Result"
import type { DelegationRow } from "../../people/escalate/DelegationRows.ts"
import { type DelegationRefused, MAX_DELEGATIONS, type RevocationRefused } from "../../people/escalate/Delegations.ts"
import { NO_PEOPLE_DATABASE, People } from "../../people/People.ts"
import { makeInboxCalls } from "./InboxCalls.ts"
import { orAway } from "./OrAway.ts"

/** What a write with a cookie names in place of an item. */
const DELEGATIONS = "delegations"
const PERSON = "person:"

/** The delegations of the caller (docs/reference/people.md#delegation). */
export const DelegationHttp = HttpApiBuilder.group(
  LauncherApi,
  "delegations",
  Effect.fnUntraced(function* (handlers) {
    const people = yield* People
    const { caller, nonceOf, writer } = yield* makeInboxCalls
    const withPeople =
      people === undefined ? Effect.fail(launcherError("INVALID_CONFIG", NO_PEOPLE_DATABASE)) : Effect.succeed(people)

    /** A person who can answer: another caller has nothing to delegate, and receives nothing. */
    const personOf = Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest) {
      const { mayNot, person } = yield* caller(request)
      if (mayNot !== undefined) return yield* launcherError("FORBIDDEN", `you have no delegations: ${mayNot}`)
      return person
    })

    return handlers.handleAll({
      list: ({ request }) =>
        Effect.gen(function* () {
          const { delegations } = yield* withPeople
          const person = yield* personOf(request)
          const { lists, nowUnixMs } = yield* delegations.of(person.id)
          const nonce = yield* nonceOf(request, DELEGATIONS)
          return {
            given: lists.given.map((row) => answerOf(row, nowUnixMs)),
            received: lists.received.map((row) => answerOf(row, nowUnixMs)),
            ...(nonce !== undefined && { nonce })
          }
        }).pipe(orAway),

      create: ({ headers, payload: { from, reason, scenarios, to, until }, request }) =>
        Effect.gen(function* () {
          const { delegations } = yield* withPeople
          const person = yield* writer(request, DELEGATIONS, headers["x-page-nonce"])
          if (person.isLocal === true) return yield* launcherError("FORBIDDEN", ONE_PERSON)
          const fromUnixMs = from === undefined ? undefined : yield* timeOf("from", from)
          const untilUnixMs = yield* timeOf("until", until)
          const submitted = { to: to.slice(PERSON.length), fromUnixMs, untilUnixMs, scenarios, reason }
          const added = yield* Effect.catchTag(delegations.add(person, submitted), "DelegationRefused", ({ why }) =>
            Effect.fail(additionError(why))
          )
          return answerOf(added, yield* delegations.now)
        }).pipe(orAway),

      revoke: ({ headers, params: { id }, request }) =>
        Effect.gen(function* () {
          const { delegations } = yield* withPeople
          const person = yield* writer(request, DELEGATIONS, headers["x-page-nonce"])
          const revoked = yield* Effect.catchTag(delegations.revoke(person, id), "RevocationRefused", ({ why }) =>
            Effect.fail(revocationError(why, id))
          )
          return answerOf(revoked, yield* delegations.now)
        }).pipe(orAway)
    })
  })
)

const ONE_PERSON = "without keys and an issuer this service knows one person, who cannot delegate"

const timeOf = (field: "from" | "until", text: string) =>
  Result.match(statedTime(text), {
    onSuccess: (ms) => Effect.succeed(ms),
    onFailure: (reason) => Effect.fail(launcherError("VALIDATION_ERROR", `${field}: ${reason}`, { field }))
  })

const isoTime = (unixMs: number): string => new Date(unixMs).toISOString()

const answerOf = (row: DelegationRow, nowUnixMs: number): Delegation => ({
  id: row.id,
  by: row.by.id,
  to: row.to,
  from: isoTime(row.fromUnixMs),
  until: isoTime(row.untilUnixMs),
  ...(row.scenarios !== undefined && { scenarios: row.scenarios }),
  reason: row.reason,
  state: delegationState(row, nowUnixMs),
  createdAt: isoTime(row.createdAtUnixMs),
  ...(row.revokedAtUnixMs !== undefined && { revokedAt: isoTime(row.revokedAtUnixMs) })
})

const additionError = (why: DelegationRefused["why"]) =>
  why._tag === "invalid"
    ? launcherError("VALIDATION_ERROR", `${why.field}: ${why.message}`, { field: why.field })
    : launcherError("CONFLICT", `a person has at most ${MAX_DELEGATIONS} delegations that are not over`)

const revocationError = (why: RevocationRefused["why"], id: string) =>
  why._tag === "unknown"
    ? launcherError("DELEGATION_NOT_FOUND", `you have given no delegation with the id ${id}`)
    : launcherError("CONFLICT", `delegation ${id} is ${why.state} already`)
