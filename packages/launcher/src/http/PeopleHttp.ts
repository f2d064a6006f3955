import { CurrentActor, LauncherApi, launcherError, type PeopleAuditEntry } from "@runplane/api"
import * as Effect from "effect/Effect"
import { HttpApiBuilder } from "effect/http-api"
import { NO_PEOPLE_DATABASE, People } from "../people/People.ts"
import type { PeopleAuditRow } from "../people/PeopleAudit.ts"
import type { ErasureRefused } from "../people/PeopleErasures.ts"

/** The audit and the erasure of questions and answers (docs/reference/people.md#audit). */
export const PeopleHttp = HttpApiBuilder.group(
  LauncherApi,
  "people",
  Effect.fnUntraced(function* (handlers) {
    const people = yield* People
    const withPeople =
      people === undefined ? Effect.fail(launcherError("INVALID_CONFIG", NO_PEOPLE_DATABASE)) : Effect.succeed(people)
    return handlers.handleAll({
      audit: ({ query: { actor, cursor: before, item, limit } }) =>
        Effect.gen(function* () {
          const { audit } = yield* withPeople
          const rows = yield* audit.page({ actor, before, item, limit })
          const last = rows.length === limit ? rows.at(-1) : undefined
          return { data: rows.map(entryOf), limit, ...(last !== undefined && { nextCursor: last.id }) }
        }).pipe(Effect.catchTag("SqlError", databaseAway)),
      erase: ({ payload: { reason, sessionId } }) =>
        Effect.gen(function* () {
          const { erasures } = yield* withPeople
          const { actorId } = yield* CurrentActor
          const erased = yield* Effect.catchTag(
            erasures.erase(sessionId, actorId, reason),
            "ErasureRefused",
            ({ why }) => Effect.fail(refusal(sessionId, why))
          )
          return { sessionId, ...erased }
        }).pipe(Effect.catchTag("SqlError", databaseAway))
    })
  })
)

const databaseAway = (error: unknown) =>
  Effect.andThen(
    Effect.logError("the rows of people cannot be read", error),
    Effect.fail(launcherError("DATABASE_UNAVAILABLE", "the database of the inbox does not answer"))
  )

const entryOf = ({ item, seat, session_id, ...entry }: PeopleAuditRow): PeopleAuditEntry => ({
  ...entry,
  ...(item !== null && { item }),
  ...(session_id !== null && { sessionId: session_id }),
  ...(seat !== null && { seat })
})

const refusal = (sessionId: string, why: ErasureRefused["why"]) => {
  switch (why._tag) {
    case "no-session":
      return launcherError("ITEM_NOT_FOUND", `no seat of a person is in session ${sessionId}`)
    case "not-over":
      return launcherError("CONFLICT", `session ${sessionId} goes on: erase its texts when it is over`)
    case "not-posted":
      return launcherError(
        "CONFLICT",
        `${why.records} records of session ${sessionId} are not at the control plane yet: erase its texts when they are`
      )
  }
}
