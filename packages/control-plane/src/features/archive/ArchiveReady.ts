import type { Readiness } from "@runplane/api"
import * as Effect from "effect/Effect"
import type { Ready } from "../../platform/http/ReadyParts.ts"
import { type ArchivePosition, ArchiveStatus } from "./ArchiveStatus.ts"

/** The archive in the readiness of the service, once the database has one: degraded while no file can be written. */
export const makeArchiveReady = Effect.map(
  ArchiveStatus,
  ({ position }): Ready =>
    Effect.map(position, (found) => {
      if (found === undefined) return undefined
      const archive = toArchiveHealth(found)
      return { ok: archive.ok, shown: { archive } }
    })
)

/** Without the text of the store, which may name hosts and users: the log and `GET /admin/archive` have it. */
const WHY: Readonly<Record<string, string>> = {
  full: "the store is full",
  refused: "the store refuses the credentials",
  clock: "the clock of this machine differs too much from the store's",
  unreachable: "the store does not answer",
  missing: "the directory or the bucket is missing"
}

const toArchiveHealth = ({ failure, lag }: ArchivePosition): NonNullable<Readiness["archive"]> => ({
  ok: failure === undefined,
  detail:
    failure === undefined
      ? ""
      : `no file has been written since ${failure.since.toISOString()}: ${WHY[failure.kind] ?? "the log of the service has the reason"}`,
  lagSeconds: lag.seconds
})
