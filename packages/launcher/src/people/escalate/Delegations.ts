import * as PgClient from "@effect/sql-pg/PgClient"
import { delegationFault, type Person } from "@runplane/domain"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { ItemRows } from "../ItemRows.ts"
import { RecordRows } from "../RecordRows.ts"
import { type DelegationRow, DelegationRows } from "./DelegationRows.ts"

/** Delegations of a person that are not over. */
export const MAX_DELEGATIONS = 100
/** Delegations of a list, in each direction. */
const LISTED = 200

/** Why a delegation is not stored. */
export class DelegationRefused extends Data.TaggedError("DelegationRefused")<{
  readonly why:
    | { readonly _tag: "invalid"; readonly field: string; readonly message: string }
    | { readonly _tag: "too-many" }
}> {}

/** Why a delegation is not revoked. */
export class RevocationRefused extends Data.TaggedError("RevocationRefused")<{
  readonly why: /** The person has given no delegation with this id. */
  { readonly _tag: "unknown" } | { readonly _tag: "over"; readonly state: "ended" | "revoked" }
}> {}

/** A delegation as a person submits it. */
export interface SubmittedDelegation {
  /** The id of the delegate. */
  readonly to: string
  /** Undefined: from now on. */
  readonly fromUnixMs: number | undefined
  readonly untilUnixMs: number
  readonly scenarios: ReadonlyArray<string> | undefined
  readonly reason: string
}

/** Delegations of people: each is of the caller, to one other person, for at most 90 days. */
export class Delegations extends Context.Service<Delegations, Effect.Success<typeof make>>()(
  "runplane/launcher/Delegations"
) {
  static readonly layer = Layer.effect(
    Delegations,
    Effect.suspend(() => make)
  )
}

const make = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const rows = yield* DelegationRows
  const items = yield* ItemRows
  const records = yield* RecordRows

  const refuse = (why: DelegationRefused["why"]) => Effect.fail(new DelegationRefused({ why }))
  const keep = (why: RevocationRefused["why"]) => Effect.fail(new RevocationRefused({ why }))

  const add = Effect.fnUntraced(function* (person: Person, submitted: SubmittedDelegation) {
    const now = yield* items.now
    const { reason, scenarios, to, untilUnixMs } = submitted
    const asked = submitted.fromUnixMs ?? now
    const fault = delegationFault({ by: person.id, to, fromUnixMs: asked, untilUnixMs }, now)
    if (fault !== undefined) return yield* refuse({ _tag: "invalid", ...fault })
    if ((yield* rows.openOf(person.id)) >= MAX_DELEGATIONS) return yield* refuse({ _tag: "too-many" })
    const added = yield* rows.add({
      by: person,
      to,
      // What happened before it was made is not delegated.
      fromUnixMs: Math.max(asked, now),
      untilUnixMs,
      scenarios,
      reason
    })
    yield* items.audit(person.id, "delegation.created", undefined, detailOf(added))
    return added
  })

  const revoke = Effect.fnUntraced(function* (person: Person, id: string) {
    const revoked = yield* rows.revoke(id, person.id)
    if (revoked === undefined) {
      const found = yield* rows.byId(id)
      if (found === undefined || found.by.id !== person.id) return yield* keep({ _tag: "unknown" })
      return yield* keep({ _tag: "over", state: found.revokedAtUnixMs === undefined ? "ended" : "revoked" })
    }
    yield* items.audit(person.id, "delegation.revoked", undefined, detailOf(revoked))
    return revoked
  })

  return {
    /** Stores a delegation of a person with its audit entry. Its delegate is notified of the open questions. */
    add: Effect.fn("Delegations.add")((person: Person, submitted: SubmittedDelegation) =>
      Effect.tap(sql.withTransaction(add(person, submitted)), () => records.wake)
    ),

    /** Ends a delegation of a person now. Answers that it gave the right to stay. */
    revoke: Effect.fn("Delegations.revoke")((person: Person, id: string) => sql.withTransaction(revoke(person, id))),

    /** The delegations that a person has given and received, and the time by which their states are known. */
    of: Effect.fn("Delegations.of")((person: string) =>
      Effect.all({ nowUnixMs: items.now, lists: rows.ofPerson(person, LISTED) })
    ),

    now: items.now,

    /** Erases the reasons of delegations that have been over for so many days. */
    expire: rows.expire
  }
})

/** A delegation for the audit, without its reason. */
const detailOf = ({ fromUnixMs, id, scenarios, to, untilUnixMs }: DelegationRow) => ({
  delegation: id,
  to,
  from: new Date(fromUnixMs).toISOString(),
  until: new Date(untilUnixMs).toISOString(),
  ...(scenarios !== undefined && { scenarios })
})
