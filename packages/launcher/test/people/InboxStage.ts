import * as PgClient from "@effect/sql-pg/PgClient"
import type { InboxItem } from "@runplane/api"
import type { SeatText } from "@runplane/domain"
import { ParticipantClient } from "@runplane/runtime"
import { Sandbox } from "@runplane/sandbox"
import { type Answer, createDatabase, request, until } from "@runplane/testing"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import { Launcher } from "../../src/Launcher.ts"
import { AnswerRows } from "../../src/people/AnswerRows.ts"
import { ItemRows } from "../../src/people/ItemRows.ts"
import { layerPeopleDatabase } from "../../src/people/PeopleDatabase.ts"
import { SeatRows } from "../../src/people/SeatRows.ts"
import { writePacks } from "../fixtures/Roots.ts"
import { DECISION, propose, SEAT, start } from "./SeatStage.ts"

/** The id of a session by its name in a test: a runtime takes no shorter ones. */
const sessionOf = (name: string) => `${name}-of-the-tests-of-the-inbox`

/** A seat of a session of the tests. */
export interface StagedSeat {
  readonly session: string
  readonly seat?: string
  readonly rules?: Partial<SeatText>
}

/** Keys of a service, each with its name and its role. */
export type StagedKeys = Readonly<Record<string, readonly [name: string, role: string]>>

export const keysEnv = (keys: StagedKeys) => ({
  AUTH_API_KEYS: Object.keys(keys).join(","),
  AUTH_API_KEY_NAMES: Object.values(keys)
    .map(([name]) => name)
    .join(","),
  AUTH_API_KEY_ROLES: Object.values(keys)
    .map(([, role]) => role)
    .join(",")
})

/** A runtime and a database with seats, without the launch service. */
export const makeInboxGround = Effect.fnUntraced(function* (
  seats: ReadonlyArray<StagedSeat>,
  env: Readonly<Record<string, string>>
) {
  const { address } = Context.get(yield* Layer.build(Sandbox.layer({ port: 0 })), Sandbox)
  const database = { url: yield* createDatabase }
  const rows = yield* Layer.build(
    Layer.mergeAll(SeatRows.layer, AnswerRows.layer.pipe(Layer.provideMerge(ItemRows.layer))).pipe(
      Layer.provideMerge(layerPeopleDatabase(database))
    )
  )
  const seatsOf = (session: string) => seats.filter((one) => one.session === session).map(({ seat = SEAT }) => seat)
  yield* Context.get(rows, SeatRows).add(
    seats.map(({ rules = {}, seat = SEAT, session }) => ({
      sessionId: sessionOf(session),
      seat,
      modeName: DECISION,
      scenarioRef: "demo/people@1.0.0",
      rules: { assign: ["person:ana", "person:bo"], when: "proposed", ...rules } as const,
      seats: seatsOf(session),
      requester: "rita"
    }))
  )
  const root = yield* Effect.flatMap(FileSystem.FileSystem, (fs) => fs.makeTempDirectoryScoped())
  /** Starts the service over the same database, until the scope closes. */
  const launch = Layer.build(
    Layer.fresh(
      Launcher.layerConfig({ host: "127.0.0.1", port: 0 }).pipe(
        Layer.provide(
          ConfigProvider.layer(
            ConfigProvider.fromEnv({
              env: {
                NODE_ENV: "test",
                THROTTLE_LIMIT: "100000",
                AUTH_FAILURE_LIMIT: "100000",
                PACKS_DIR: writePacks(root, { a: "attach", b: "attach" }),
                SERVICE_ROOT: root,
                REGISTER_POLICIES_ON_LAUNCH: "false",
                PROTO_AUTH_DEVELOPMENT_CREDENTIALS: "true",
                PROTO_RUNTIME_ADDRESS: address,
                PROTO_RUNTIME_TLS: "false",
                PROTO_RUNTIME_ALLOW_INSECURE: "true",
                LAUNCHER_DATABASE_URL: database.url,
                TMPDIR: root,
                ...env
              }
            })
          )
        )
      )
    )
  ).pipe(Effect.map((context) => Context.get(context, Launcher).url))
  const runtime = yield* Layer.build(ParticipantClient.layerGrpc({ address }))
  const items = Context.get(rows, ItemRows)

  return {
    launch,
    rows,
    sql: Context.get(rows, PgClient.PgClient),
    runtime,
    itemsOf: (session: string, seat = SEAT) => items.ofSeat(sessionOf(session), seat),
    /** Opens a session, and proposes. */
    propose: (session: string) =>
      Effect.gen(function* () {
        yield* start(sessionOf(session), ["lead", "a", ...seatsOf(session)])
        yield* propose(sessionOf(session))
      }).pipe(Effect.provideContext(runtime)),
    /** The id of the item of a seat, once it is open. */
    openItem: (session: string, seat = SEAT) =>
      Effect.map(
        until(items.ofSeat(sessionOf(session), seat), (found) => found[0]?.state === "open"),
        ([item]) => item?.id ?? ""
      )
  }
})

/** The launch service over a runtime and a database, with seats that are there before it starts. */
export const makeInboxStage = Effect.fnUntraced(function* (
  seats: ReadonlyArray<StagedSeat>,
  env: Readonly<Record<string, string>>
) {
  const ground = yield* makeInboxGround(seats, env)
  return { ...ground, url: yield* ground.launch }
})

/** The answer that approves an item as it is shown. */
export const approval = (
  { basis, proposalHash }: Pick<InboxItem, "basis" | "proposalHash">,
  reason = "it is fine"
) => ({
  act: "approve",
  reason,
  proposalHash,
  basis: { ordinal: basis?.ordinal ?? 0, sha256: basis?.sha256 ?? "" }
})

export type Headers = Readonly<Record<string, string>>

/** One request of the inbox. */
export const ask = (
  base: string,
  method: string,
  path: string,
  headers: Headers = {},
  body?: unknown
): Effect.Effect<Answer> => request(method, `${base}${path}`, { headers, ...(body !== undefined && { body }) })
