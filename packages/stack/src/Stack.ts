import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { ControlPlaneClient, LauncherClient } from "@runplane/api"
import { oneLine } from "@runplane/cli"
import { layerControlPlane, layerRuntime, validateControlPlaneSettings } from "@runplane/control-plane"
import { Launcher, type PolicyOutcome, type PolicyRegistration } from "@runplane/launcher"
import { EmbeddedPostgres, type PostgresStartFailed } from "@runplane/postgres"
import { CONTROL_PLANE_IDENTITY, RuntimeClient } from "@runplane/runtime"
import { KeySource, Sandbox } from "@runplane/sandbox"
import {
  ControlPlaneSettings,
  configuredNames,
  DEVELOPMENT,
  readSetting,
  ServiceSettings,
  SettingsRefused,
  type SettingTexts,
  sentenceOf,
  unknownSettings,
  validateLaunchDeployment,
  validateSettings
} from "@runplane/server"
import * as Arr from "effect/Array"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import * as Tracer from "effect/Tracer"
import { DevelopmentAuth, TOKEN_AUDIENCE, TOKEN_ISSUER } from "./auth/DevelopmentAuth.ts"
import { checkPorts, LOOPBACK, urlOf } from "./Ports.ts"
import { serviceSettings, withTexts } from "./ServiceSettings.ts"
import type { StackSettings } from "./StackSettings.ts"

/** Where everything listens, for display and for calls. */
export interface Addresses {
  readonly controlPlaneUrl: string
  readonly launcherUrl: string
  readonly runtime: string
  /** Undefined: the settings of the user have the credentials of the runtime. */
  readonly authUrl: string | undefined
  readonly database: string
  /** The folder of the packs. */
  readonly packs: string
  /** Whether calls need an API key. */
  readonly keyed: boolean
  /** How far the web console is, at the time of the question. */
  readonly console: Effect.Effect<ConsoleState>
  /** Where the control plane receives OpenTelemetry by gRPC, or why not; undefined when it receives none at all. */
  readonly ingest: { readonly grpc: string } | undefined
  /** Whether the API is documented at /docs. */
  readonly docs: boolean
  /** The registration of the policies of the packs; empty when the stack does not register them. */
  readonly policies: ReadonlyArray<PolicyOutcome>
  /** Never succeeds; fails when our database is gone for good. */
  readonly databaseLost: Effect.Effect<never, PostgresStartFailed>
}

/** `building` and `failed` are of a build that `npm start` runs beside the services. */
export type ConsoleState = "served" | "building" | "failed" | "absent"

/** How long the start waits for the policies. A runtime that takes longer gets them meanwhile. */
const POLICIES_WAIT = Duration.seconds(10)

/** The runtime does not answer, or refuses the control plane. */
export class RuntimeUnusable extends Data.TaggedError("RuntimeUnusable")<{
  readonly address: string
  readonly reason: string
}> {
  override get message() {
    return `the runtime at ${this.address} cannot be used: ${this.reason}`
  }
}

/** The packs cannot be served. */
export class PacksUnusable extends Data.TaggedError("PacksUnusable")<{ readonly reason: string }> {
  override get message() {
    return `the packs cannot be used: ${this.reason}`
  }
}

/**
 * Everything on one machine, in this process: database, auth service, runtime,
 * control plane and launch service. Ready when the policies of the packs have been registered or refused and the packs
 * are known to be good.
 */
export class Stack extends Context.Service<Stack, Addresses>()("runplane/stack/Stack") {
  static readonly layer = (settings: StackSettings) => Layer.effect(Stack, start(settings))

  /**
   * The typed clients of both services, aimed at the stack. Not on `fetch`: when a stream is cut its pool opens a
   * connection in reserve, and the server at the other end of this process would wait for that at shutdown.
   */
  static readonly layerClients = (settings: StackSettings) =>
    Layer.unwrap(
      Effect.map(Stack, ({ controlPlaneUrl, launcherUrl }) => {
        const key = settings.apiKey === undefined ? {} : { apiKey: settings.apiKey }
        return Layer.mergeAll(
          ControlPlaneClient.layer({ baseUrl: controlPlaneUrl, ...key }),
          LauncherClient.layer({ baseUrl: launcherUrl, ...key })
        )
      })
    ).pipe(Layer.provide(NodeHttpClient.layerNodeHttp))
}

// What is built last is stopped first: no agent outlives its launcher, and the log is closed after its last writer.
const start = Effect.fn("Stack.start")(function* (settings: StackSettings) {
  yield* sayUnknownNames
  yield* checkPorts(settings)
  const auth = yield* openAuth(settings)
  const [database, runtimeAddress] = yield* Effect.all([openDatabase(settings), openRuntime(settings, auth)], {
    concurrency: "unbounded"
  })
  const controlPlaneUrl = urlOf(settings, settings.controlPlanePort)
  const launcherUrl = urlOf(settings, settings.launcherPort)
  const embeddedUrl = settings.databaseUrl === undefined ? database.url : undefined
  const neighbours = { runtimeAddress, controlPlaneUrl, launcherUrl, authUrl: auth?.url, embeddedUrl }
  const provider = yield* withTexts(yield* serviceSettings(settings, neighbours))

  const policies = yield* Effect.gen(function* () {
    yield* checkServices
    const runtime = yield* Layer.build(layerRuntime)
    yield* Effect.provideContext(greetRuntime, runtime)
    const controlPlane = layerControlPlane({
      http: { host: settings.host, port: settings.controlPlanePort },
      database: { url: database.url, password: database.password, caFile: database.caFile }
    }).pipe(Layer.provide(Layer.succeedContext(runtime)))
    yield* Layer.build(controlPlane)
    const launcher = yield* Layer.build(Launcher.layerConfig({ host: settings.host, port: settings.launcherPort }))
    return yield* awaitPolicies(Context.get(launcher, Launcher).policies)
  }).pipe(
    Effect.provideService(ConfigProvider.ConfigProvider, provider),
    // What serves requests keeps the context it was made in: with a span of the start in it, that would be the parent.
    Effect.updateContext((context: Context.Context<Scope.Scope>) => Context.omit(Tracer.ParentSpan)(context))
  )

  yield* checkPacks(launcherUrl, settings)
  return Stack.of({
    controlPlaneUrl,
    launcherUrl,
    runtime: `${runtimeAddress}${settings.runtimeAddress === undefined ? " (sandbox)" : ""}`,
    authUrl: auth?.url,
    database: database.description,
    packs: settings.packsDir,
    databaseLost: database.lost,
    keyed: settings.apiKey !== undefined,
    docs: (yield* readSetting(ServiceSettings.NODE_ENV)) === DEVELOPMENT,
    console: consoleOf(controlPlaneUrl),
    ingest: yield* ingestOf(controlPlaneUrl),
    policies
  })
})

/** Misspelt names are the user's: what the services find set is laid over them, and hides them. */
const sayUnknownNames = Effect.gen(function* () {
  const unknown = unknownSettings(yield* Effect.orDie(configuredNames))
  for (const problem of unknown) yield* Effect.logWarning(sentenceOf(problem))
})

const validateLaunch = (texts: SettingTexts) => Effect.succeed(validateLaunchDeployment(texts))

/** What the services say of their settings when they start by themselves; each thing is said once. */
const checkServices = Effect.gen(function* () {
  const reports = [yield* validateControlPlaneSettings, yield* validateSettings("launcher", validateLaunch)]
  const warnings = reports.flatMap((report) => report.warnings)
  for (const warning of new Set(warnings.map(sentenceOf))) yield* Effect.logWarning(warning)
  const faults = Arr.dedupeWith(
    reports.flatMap((report) => report.faults),
    (one, other) => sentenceOf(one) === sentenceOf(other)
  )
  if (faults.length > 0) return yield* new SettingsRefused({ faults })
}).pipe(Effect.provide(NodeFileSystem.layer))

/** Waits for the outcome of each, so that nothing is launched under a policy that is still on its way. */
const awaitPolicies = ({ outcomes, settled }: PolicyRegistration["Service"]) =>
  Effect.timeoutOrElse(settled, { duration: POLICIES_WAIT, orElse: () => outcomes })

const openAuth = Effect.fnUntraced(function* ({ authPort, devAuth }: StackSettings) {
  if (!devAuth) return undefined
  return Context.get(yield* Layer.build(DevelopmentAuth.layer({ port: authPort })), DevelopmentAuth)
})

const openDatabase = Effect.fnUntraced(function* ({ databaseUrl, dataDir, postgresPort }: StackSettings) {
  if (databaseUrl !== undefined) {
    const password = yield* readSetting(ControlPlaneSettings.DATABASE_PASSWORD)
    const caFile = yield* readSetting(ControlPlaneSettings.DATABASE_TLS_CA_FILE)
    return { url: databaseUrl, password, caFile, description: "given by DATABASE_URL", lost: Effect.never }
  }
  const context = yield* Layer.build(EmbeddedPostgres.layer({ dataDir, port: postgresPort, keep: true }))
  const { folder, lost, port, url } = Context.get(context, EmbeddedPostgres)
  return { url, password: undefined, caFile: undefined, description: `${LOOPBACK}:${port}, data in ${folder}`, lost }
})

const openRuntime = Effect.fnUntraced(function* (
  { acceptsNames, runtimeAddress, runtimePort }: StackSettings,
  auth: DevelopmentAuth["Service"] | undefined
) {
  if (runtimeAddress !== undefined) return runtimeAddress
  const options = { host: LOOPBACK, port: runtimePort, observers: [CONTROL_PLANE_IDENTITY] }
  const sandbox =
    auth === undefined
      ? Sandbox.layer(options)
      : Sandbox.layerSigned({ issuer: TOKEN_ISSUER, audience: TOKEN_AUDIENCE, acceptsNames }, options).pipe(
          Layer.provide(KeySource.layerUrl(auth.keysUrl))
        )
  return Context.get(yield* Layer.build(sandbox), Sandbox).address
})

const greetRuntime = Effect.gen(function* () {
  const { address, initialize } = yield* RuntimeClient
  yield* Effect.mapError(initialize, (error) => new RuntimeUnusable({ address, reason: oneLine(error) }))
})

const Ingesting = Schema.Struct({ ingest: Schema.optionalKey(Schema.Struct({ grpc: Schema.String })) })

const ingestOf = (controlPlaneUrl: string) =>
  HttpClient.get(`${controlPlaneUrl}/readyz`).pipe(
    Effect.flatMap(({ json }) => json),
    Effect.flatMap(Schema.decodeUnknownEffect(Ingesting)),
    Effect.map(({ ingest }) => ingest),
    Effect.orElseSucceed(() => undefined),
    Effect.provide(NodeHttpClient.layerNodeHttp)
  )

/** As a browser finds out. */
const consoleOf = (controlPlaneUrl: string): Effect.Effect<ConsoleState> =>
  HttpClient.get(`${controlPlaneUrl}/console/`).pipe(
    Effect.map(({ headers, status }): ConsoleState => {
      if (status !== 503) return status === 200 ? "served" : "absent"
      return headers["retry-after"] === undefined ? "failed" : "building"
    }),
    Effect.orElseSucceed((): ConsoleState => "absent"),
    Effect.provide(NodeHttpClient.layerNodeHttp)
  )

const checkPacks = (launcherUrl: string, { apiKey }: StackSettings) =>
  Effect.gen(function* () {
    const launcher = yield* LauncherClient
    yield* launcher.catalog.scenarios()
  }).pipe(
    Effect.provide(LauncherClient.layer({ baseUrl: launcherUrl, ...(apiKey === undefined ? {} : { apiKey }) })),
    Effect.provide(NodeHttpClient.layerNodeHttp),
    Effect.mapError((error) => new PacksUnusable({ reason: oneLine(error) }))
  )
