import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import {
  edgeServices,
  HttpObserver,
  LaunchSettings,
  type ListenOptions,
  launcherForm,
  layerHttpServer,
  layerTracing,
  Shutdown
} from "@runplane/server"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { FetchHttpClient, HttpRouter, HttpServer } from "effect/http"
import * as Layer from "effect/Layer"
import { AgentHost } from "./agents/AgentHost.ts"
import { AgentSlots } from "./agents/AgentSlots.ts"
import { AgentTokens } from "./agents/AgentTokens.ts"
import { CancelCallbacks, reachable } from "./agents/CancelCallbacks.ts"
import { AgentCatalog } from "./catalog/AgentCatalog.ts"
import { Directory } from "./catalog/Directory.ts"
import { PackRegistry } from "./catalog/PackRegistry.ts"
import { LaunchPressure } from "./common/LaunchPressure.ts"
import { LaunchCompiler } from "./compile/LaunchCompiler.ts"
import { layerAlertRegistration } from "./control-plane/AlertRegistration.ts"
import { LaunchedRuns } from "./control-plane/LaunchedRuns.ts"
import { PolicyRegistration } from "./control-plane/PolicyRegistration.ts"
import { ExampleRuns } from "./examples/ExampleRuns.ts"
import { ParticipantAgents } from "./examples/ParticipantAgents.ts"
import { ListenHost } from "./http/inbox/Caller.ts"
import { LauncherRoutes } from "./http/Routes.ts"
import { type LauncherOptions, LauncherSettings } from "./LauncherSettings.ts"
import { LauncherMetrics, layerAgentMetrics } from "./operate/AgentMetrics.ts"
import { LauncherReadiness } from "./operate/LauncherReadiness.ts"
import { layerPeopleMetrics } from "./operate/PeopleMetrics.ts"
import { layerPeopleRetention } from "./operate/PeopleRetention.ts"
import { PeopleDirectory } from "./people/escalate/Persons.ts"
import { Mailer } from "./people/notices/Mailer.ts"
import { layerNotices } from "./people/notices/Notices.ts"
import { People } from "./people/People.ts"
import { Shadows } from "./shadows/Shadows.ts"
import { layerSlackPosts } from "./slack/SlackPosts.ts"
import { Tasks } from "./tasks/Tasks.ts"

/**
 * How long open requests may last when the service stops; a launch without an answer by then is interrupted, ms.
 */
const SHUTDOWN_GRACE_MS = 1_000

/** The running launch service. */
export class Launcher extends Context.Service<
  Launcher,
  {
    readonly port: number
    readonly url: string
    /** The registration of the policies of the packs. */
    readonly policies: PolicyRegistration["Service"]
  }
>()("runplane/launcher/Launcher") {
  /** The whole service inside another process, with settings from code. */
  static readonly layer = (options: ListenOptions & { readonly settings?: LauncherOptions }) =>
    serve(options, LauncherSettings.layerFrom(options.settings ?? {}))

  /** The whole service with settings from the environment. */
  static readonly layerConfig = (options: ListenOptions) =>
    serve(options, LauncherSettings.layer).pipe(Layer.provide(layerTracing(LaunchSettings.OTEL_SERVICE_NAME)))
}

/** The people of the packs, for the rules of escalations and delegations. */
const layerPeopleDirectory = Layer.effect(
  PeopleDirectory,
  Effect.map(Directory, ({ groupsOf, peopleOf }) =>
    PeopleDirectory.of({
      groupsOf,
      peopleOf: (scenarioRef) =>
        Effect.map(peopleOf(scenarioRef), (people) =>
          Object.entries(people).map(([id, { groups = [] }]) => ({ id, groups }))
        )
    })
  )
)

/** The services that the handlers use. */
const launcherCapabilities = Tasks.layer.pipe(
  Layer.provideMerge(ExampleRuns.layer),
  Layer.provide([ParticipantAgents.layer, Shadows.layer]),
  Layer.provideMerge(LaunchCompiler.layer),
  Layer.provideMerge(Layer.mergeAll(AgentCatalog.layer, AgentSlots.layer, People.layer, Mailer.layer)),
  Layer.provide(layerPeopleDirectory),
  Layer.provideMerge(Directory.layer),
  Layer.provideMerge(PackRegistry.layer),
  Layer.provide(LaunchPressure.layer),
  Layer.provide(Layer.mergeAll(AgentTokens.layer, AgentHost.layer, CancelCallbacks.layer)),
  Layer.provideMerge(LaunchedRuns.layer),
  Layer.provideMerge(PolicyRegistration.layer)
)

/** A redirect of another service is an error: it would carry credentials elsewhere. */
const httpClient = FetchHttpClient.layer.pipe(
  Layer.provide(Layer.succeed(FetchHttpClient.RequestInit, { redirect: "error" }))
)

const platform = Layer.mergeAll(NodeFileSystem.layer, NodePath.layer, httpClient)

function serve({ host, port }: ListenOptions, settings: typeof LauncherSettings.layer) {
  const httpServer = layerHttpServer(
    { host, port },
    { form: launcherForm, graceMs: SHUTDOWN_GRACE_MS, service: "the launch service" }
  )
  const running = Layer.effect(
    Launcher,
    Effect.gen(function* () {
      const { address } = yield* HttpServer.HttpServer
      const policies = yield* PolicyRegistration
      const bound = address._tag === "UnixPathAddress" ? port : address.port
      return Launcher.of({ port: bound, url: `http://${reachable(host)}:${bound}`, policies })
    })
  )
  const endLast = Layer.effectDiscard(
    Effect.gen(function* () {
      const { begin } = yield* Shutdown
      // Finalizers run backwards: this one is the first.
      yield* Effect.addFinalizer(() => begin)
    })
  )
  const observed = Layer.effect(
    HttpObserver,
    Effect.map(LauncherMetrics, ({ observe }) => ({ observe: (request) => Effect.sync(() => observe(request)) }))
  )
  const served = HttpRouter.serve(LauncherRoutes, { disableLogger: true, disableListenLog: true }).pipe(
    Layer.provideMerge(running),
    Layer.provide(Layer.succeed(ListenHost, host)),
    Layer.provide(httpServer),
    Layer.provide(edgeServices)
  )
  return endLast.pipe(
    Layer.provideMerge(served),
    Layer.provide(observed),
    Layer.provide([
      LauncherReadiness.layer,
      layerAgentMetrics,
      layerAlertRegistration,
      layerPeopleMetrics,
      layerNotices,
      layerPeopleRetention,
      layerSlackPosts
    ]),
    Layer.provide(launcherCapabilities),
    Layer.provide([LauncherMetrics.layer, Shutdown.layer]),
    Layer.provide(settings),
    Layer.provide(platform)
  )
}
