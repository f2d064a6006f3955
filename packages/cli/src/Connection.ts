import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { ControlPlaneClient, LauncherClient } from "@runplane/api"
import * as Console from "effect/Console"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import { type CliFailure, failureOf, usageProblem } from "./CliFailure.ts"
import { output } from "./Output.ts"
import { readProfile } from "./ProfileFile.ts"
import { root } from "./Root.ts"

const DEFAULT_URL = "http://127.0.0.1:3001"
const DEFAULT_LAUNCHER_URL = "http://127.0.0.1:3000"

/**
 * Warnings about names in the environment, printed before the first request. The client knows only its own names; the
 * whole `runplane` knows the table of all settings.
 */
export const EnvironmentNotes = Context.Reference<(names: ReadonlyArray<string>) => ReadonlyArray<string>>(
  "runplane/cli/EnvironmentNotes",
  { defaultValue: () => () => [] }
)

/** The addresses and the profile of the flags alone. */
export const connectionFlags = Effect.map(root, ({ launcherUrl, profile, url }) => ({
  url: Option.getOrUndefined(url),
  launcherUrl: Option.getOrUndefined(launcherUrl),
  profile: Option.getOrUndefined(profile)
}))

/** An empty variable counts as none. */
const given = (text: string | undefined): string | undefined => (text === "" ? undefined : text)

/** The addresses of the services, and the key (docs/reference/cli.md#profiles). */
export const connection = Effect.gen(function* () {
  // Flags that contradict each other fail before any request.
  yield* output
  const flags = yield* connectionFlags
  const env = process.env
  const notes = yield* EnvironmentNotes
  for (const note of notes(Object.keys(env))) yield* Console.error(`runplane: ${note}`)
  const name = flags.profile ?? given(env["RUNPLANE_PROFILE"])
  const profile = yield* readProfile(name, env)
  const url = flags.url ?? given(env["RUNPLANE_URL"]) ?? profile.url ?? DEFAULT_URL
  const launcherUrl =
    flags.launcherUrl ?? given(env["RUNPLANE_LAUNCHER_URL"]) ?? profile.launcherUrl ?? DEFAULT_LAUNCHER_URL
  const apiKey = given(env["RUNPLANE_API_KEY"]) ?? profile.apiKey
  const key = apiKey === undefined ? {} : { apiKey: Redacted.make(yield* checkedKey(apiKey)) }
  return {
    controlPlane: { baseUrl: yield* addressOf(url), setBy: "--url or RUNPLANE_URL", ...key },
    launcher: { baseUrl: yield* addressOf(launcherUrl), setBy: "--launcher-url or RUNPLANE_LAUNCHER_URL", ...key }
  }
})

/** A key that a header can hold. */
export const checkedKey = (key: string) =>
  /^[\x20-\x7e]+$/.test(key)
    ? Effect.succeed(key)
    : Effect.fail(usageProblem("the API key must consist of printable ASCII characters"))

/** The address of a service without a slash at its end. */
export const addressOf = (text: string) =>
  URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)
    ? Effect.succeed(text.replace(/\/+$/, ""))
    : Effect.fail(usageProblem(`"${text}" is not an address such as ${DEFAULT_URL}`))

/** Uses the client of the control plane; its errors become failures of the command line. */
export const withControlPlane = <A, E, R>(use: (client: ControlPlaneClient["Service"]) => Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const { controlPlane } = yield* connection
    return yield* ControlPlaneClient.use(use).pipe(
      Effect.provide(ControlPlaneClient.layer(controlPlane).pipe(Layer.provide(NodeHttpClient.layerNodeHttp))),
      Effect.mapError(failureOf(controlPlane))
    )
  })

/** Uses both clients; the caller turns their errors into failures of the command line. */
export const withServices = <A, E, R>(
  use: (services: {
    readonly plane: ControlPlaneClient["Service"]
    readonly launcher: LauncherClient["Service"]
    readonly planeFailure: (error: unknown) => CliFailure
    readonly launcherFailure: (error: unknown) => CliFailure
    /** The address of the web console. */
    readonly consoleUrl: string
  }) => Effect.Effect<A, E, R>,
  transform: (client: HttpClient.HttpClient) => HttpClient.HttpClient = (client) => client
) =>
  Effect.gen(function* () {
    const { controlPlane, launcher } = yield* connection
    const clients = Layer.merge(ControlPlaneClient.layer(controlPlane), LauncherClient.layer(launcher))
    const http = Layer.effect(HttpClient.HttpClient, Effect.map(HttpClient.HttpClient, transform))
    return yield* Effect.gen(function* () {
      return yield* use({
        plane: yield* ControlPlaneClient,
        launcher: yield* LauncherClient,
        planeFailure: failureOf(controlPlane),
        launcherFailure: failureOf(launcher),
        consoleUrl: `${controlPlane.baseUrl}/console`
      })
    }).pipe(Effect.provide(clients.pipe(Layer.provide(http), Layer.provide(NodeHttpClient.layerNodeHttp))))
  })

/** Uses the client of the launch service; its errors become failures of the command line. */
export const withLauncher = <A, E, R>(use: (client: LauncherClient["Service"]) => Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const { launcher } = yield* connection
    return yield* LauncherClient.use(use).pipe(
      Effect.provide(LauncherClient.layer(launcher).pipe(Layer.provide(NodeHttpClient.layerNodeHttp))),
      Effect.mapError(failureOf(launcher))
    )
  })
