import * as PgClient from "@effect/sql-pg/PgClient"
import type { InboxItem } from "@runplane/api"
import type { SeatText } from "@runplane/domain"
import { ParticipantClient } from "@runplane/runtime"
import { Sandbox } from "@runplane/sandbox"
import { type Answer, createDatabase, request, until } from "@runplane/testing"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import { Launcher } from "../../src/Launcher.ts"
import { AnswerRows } from "../../src/people/AnswerRows.ts"
import { ItemRows } from "../../src/people/ItemRows.ts"
import { layerPeopleDatabase } from "../../src/people/PeopleDatabase.ts"
import { SeatRows } from "../../src/people/SeatRows.ts"
import { SlackAddresses } from "../../src/slack/SlackClient.ts"
import { writePacks } from "../fixtures/Roots.ts"
import { startService } from "../fixtures/ServiceProcess.ts"
import { DECISION, propose, SEAT, start } from "./SeatStage.ts"

/** The id of a session by its name in a test: a runtime takes no shorter ones. */
export const sessionOf = (name: string) => `${name}-of-the-tests-of-the-inbox`

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

/** What a stage has beside its seats and settings. */
export interface StageOptions {
  /** `people.yaml` of the pack of the sessions. */
  readonly directory?: string
  /** A server that takes the calls of Slack. */
  readonly slack?: { readonly api: string; readonly responses: string }
  /** Whether the service is a program of its own, with all of its log. */
  readonly isProgram?: boolean
}

/** The launch service over a runtime and a database, with seats that are there before it starts. */
export const makeInboxStage = Effect.fnUntraced(function* (
  seats: ReadonlyArray<StagedSeat>,
  env: Readonly<Record<string, string>>,
  { directory, isProgram = false, slack }: StageOptions = {}
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
  const fs = yield* FileSystem.FileSystem
  const root = yield* fs.makeTempDirectoryScoped()
  const packs = writePacks(root, { a: "attach", b: "attach" })
  if (directory !== undefined) yield* fs.writeFileString(`${packs}/demo/people.yaml`, directory)
  const all = {
    NODE_ENV: "test",
    THROTTLE_LIMIT: "100000",
    AUTH_FAILURE_LIMIT: "100000",
    PACKS_DIR: packs,
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
  let log = () => ""
  const program = Effect.gen(function* () {
    const { service, url } = yield* Effect.orDie(startService(all))
    log = service.output
    return url
  })
  /** The service: built anew after its scope has closed, it is a restarted one. */
  const launch = Effect.gen(function* () {
    if (isProgram) return yield* program
    const launcher = yield* Layer.build(
      Launcher.layerConfig({ host: "127.0.0.1", port: 0 }).pipe(
        Layer.provide(ConfigProvider.layer(ConfigProvider.fromEnv({ env: all }))),
        Layer.provide(slack === undefined ? Layer.empty : Layer.succeed(SlackAddresses, slack))
      )
    )
    return Context.get(launcher, Launcher).url
  })
  const scope = yield* Scope.fork(yield* Effect.scope)
  const url = yield* Effect.provideService(launch, Scope.Scope, scope)
  const runtime = yield* Layer.build(ParticipantClient.layerGrpc({ address }))
  const items = Context.get(rows, ItemRows)

  return {
    url,
    /** Stops the service, and starts another one on the same rows; returns its address. */
    restart: Effect.andThen(Scope.close(scope, Exit.void), launch),
    rows,
    /** The folder of the pack of the sessions. */
    pack: `${packs}/demo`,
    /** What a program has logged. */
    log: () => log(),
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
