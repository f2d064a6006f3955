import type { LauncherReadiness as Answer } from "@runplane/api"
import { describeSqlError } from "@runplane/database"
import { forever, Loops, loopHealth, makeOutageLog } from "@runplane/server"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { HttpClient } from "effect/http"
import * as Layer from "effect/Layer"
import { PackRegistry } from "../catalog/PackRegistry.ts"
import { LaunchedRuns } from "../control-plane/LaunchedRuns.ts"
import { LauncherSettings } from "../LauncherSettings.ts"
import { People, type PeopleShape } from "../people/People.ts"

/** Probes are not throttled: dependencies are checked at most this often. Milliseconds. */
const TTL_MS = 1_000
/** A control plane that does not answer within this time counts as lost. Milliseconds. */
const CHECK_TIMEOUT_MS = 2_000
/** How often the service checks without a probe, so that its log reports a loss. Milliseconds. */
const WATCH_MS = 5_000

/** Whether the service can launch (docs/reference/admin.md#readiness). A check never fails; it says `ok: false`. */
export class LauncherReadiness extends Context.Service<LauncherReadiness, { readonly check: Effect.Effect<Answer> }>()(
  "runplane/launcher/LauncherReadiness"
) {
  static readonly layer = Layer.effect(
    LauncherReadiness,
    Effect.gen(function* () {
      const { controlPlane } = yield* LauncherSettings
      const { catalog } = yield* PackRegistry
      const { waiting } = yield* LaunchedRuns
      const { remarks, troubles } = yield* Loops
      const client = yield* HttpClient.HttpClient
      const people = yield* People
      const outage = makeOutageLog("the control plane")
      const databaseOutage = makeOutageLog("the database of the seats")

      const packs = catalog.pipe(
        Effect.map(({ broken, packs, unreadable }) => ({
          ok: packs.length > 0 && broken.length === 0 && unreadable.length === 0,
          detail: [
            `${packs.length} packs`,
            ...broken.map(({ message, slug }) => `${slug} is broken: ${message}`),
            ...unreadable
          ].join("; ")
        })),
        Effect.catch((error) => Effect.succeed({ ok: false, detail: error.message }))
      )
      const neighbour = (url: string) =>
        client.get(`${url}/livez`).pipe(
          // An unread body would keep its connection.
          Effect.tap(({ text }) => text),
          Effect.map(({ status }) =>
            // A service without this endpoint answers, too.
            status < 500 ? { ok: true, detail: `${url} answers` } : { ok: false, detail: `${url} answers ${status}` }
          ),
          Effect.scoped,
          Effect.catch(() => Effect.succeed({ ok: false, detail: `${url} cannot be reached` })),
          Effect.timeoutOrElse({
            duration: CHECK_TIMEOUT_MS,
            orElse: () => Effect.succeed({ ok: false, detail: `${url} does not answer within ${CHECK_TIMEOUT_MS} ms` })
          }),
          Effect.tap(({ detail, ok }) => (ok ? outage.back : outage.lost(detail)))
        )

      const database = ({ limits, notices, sql }: PeopleShape) =>
        sql`SELECT 1`.pipe(
          Effect.map(() => {
            const { reason, waiting: held } = limits.held()
            // No fault of the service: an answer frees a position, and needs a service that is ready.
            const detail = "the database of the seats answers"
            const parts = [
              detail,
              ...(held === 0 ? [] : [`seats that wait: ${held}, since ${reason}`]),
              ...notices.troubles()
            ]
            return { ok: true, detail: parts.join("; ") }
          }),
          Effect.catch((error) =>
            Effect.succeed({ ok: false, detail: `LAUNCHER_DATABASE_URL: ${describeSqlError(error)}` })
          ),
          Effect.timeoutOrElse({
            duration: CHECK_TIMEOUT_MS,
            orElse: () =>
              Effect.succeed({
                ok: false,
                detail: `LAUNCHER_DATABASE_URL: the database does not answer within ${CHECK_TIMEOUT_MS} ms`
              })
          }),
          Effect.tap(({ detail, ok }) => (ok ? databaseOutage.back : databaseOutage.lost(detail)))
        )

      const check = Effect.gen(function* () {
        const { runs, since } = yield* waiting
        const now = yield* Clock.currentTimeMillis
        const seconds = Math.round((now - (since ?? 0)) / 1_000)
        const checks = {
          catalog: yield* packs,
          loops: loopHealth(troubles(now), remarks(), now),
          ...(controlPlane !== undefined && { controlPlane: yield* neighbour(controlPlane.url) }),
          ...(people !== undefined && { database: yield* database(people) }),
          ...(runs > 0 && {
            launchedRuns: {
              ok: false,
              detail: `runs that wait for the control plane: ${runs}, the oldest for ${seconds} s`
            }
          })
        }
        const ok = Object.values(checks).every((one) => one.ok)
        return { status: ok ? "ok" : "degraded", ok, checks } satisfies Answer
      }).pipe(Effect.cachedWithTTL(TTL_MS))
      const cached = yield* check
      yield* Effect.forkScoped(forever("readiness", Effect.asVoid(cached), { every: WATCH_MS }))
      return LauncherReadiness.of({ check: cached })
    })
  )
}
