import {
  acceptsHtml,
  CONSOLE_PAGE,
  type ConsoleFile,
  ConsoleFiles,
  ControlPlaneSettings,
  consoleFileAnswer,
  consolePageAnswer,
  consoleSafety,
  controlPlaneForm,
  isConsoleAsset,
  readSettings,
  ServiceSettings,
  unbuiltAnswer
} from "@runplane/server"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Layer from "effect/Layer"

const NEVER = "no-store"

const settings = {
  isEnabled: ServiceSettings.CONSOLE_ENABLED,
  folder: ServiceSettings.CONSOLE_DIR,
  launcherUrl: ControlPlaneSettings.LAUNCHER_PUBLIC_URL,
  environment: ServiceSettings.NODE_ENV
}

/**
 * The web console under `/console/`, and `GET /`: the console for browsers, a list of links for other clients
 * (docs/reference/admin.md#console). The files need no key; the calls of the console do. Nothing is served when
 * `CONSOLE_ENABLED` is false or the console was not built. While `npm start` builds it, each path has a page that says
 * so.
 */
export const consoleRoutes = Layer.unwrap(
  Effect.gen(function* () {
    const { environment, folder, isEnabled, launcherUrl } = yield* readSettings(settings)
    const hasDocs = environment === "development"
    if (!isEnabled) return HttpRouter.add("GET", "/", HttpServerResponse.jsonUnsafe(linksOf(false, hasDocs)))
    return Layer.provide(routes({ launcherUrl, hasDocs }), ConsoleFiles.layer(folder))
  })
)

interface ConsoleOptions {
  readonly launcherUrl: string | undefined
  readonly hasDocs: boolean
}

const routes = ({ hasDocs, launcherUrl }: ConsoleOptions) =>
  HttpRouter.use((router) =>
    Effect.gen(function* () {
      const { state } = yield* ConsoleFiles
      const isServed = (yield* state)._tag !== "Absent"
      const safety = consoleSafety(launcherUrl === undefined ? [] : [new URL(launcherUrl).origin])
      const links = HttpServerResponse.jsonUnsafe(linksOf(isServed, hasDocs), { headers: { vary: "Accept" } })
      const toConsole = HttpServerResponse.empty({
        status: 302,
        // Relative: a proxy may have taken a path off.
        headers: { location: "console/", vary: "Accept", "cache-control": NEVER }
      })
      yield* router.add("GET", "/", (request) => Effect.succeed(isServed && acceptsHtml(request) ? toConsole : links))
      if (!isServed) return
      const toFolder = HttpServerResponse.empty({ status: 308, headers: { location: "console/" } })
      const config = HttpServerResponse.jsonUnsafe(
        { ...(launcherUrl !== undefined && { launcherUrl: launcherUrl.replace(/\/+$/, "") }) },
        { headers: { ...safety, "cache-control": NEVER } }
      )
      const serve = (files: ReadonlyMap<string, ConsoleFile>, request: HttpServerRequest.HttpServerRequest) => {
        const path = pathOf(request.url)
        const file = files.get(path)
        if (file !== undefined && path !== CONSOLE_PAGE) return consoleFileAnswer(path, file, request, safety)
        const page = files.get(CONSOLE_PAGE)
        return page === undefined || isConsoleAsset(path)
          ? controlPlaneForm.notFound(request.method, request.url.split("?")[0] ?? request.url)
          : consolePageAnswer(page, "../".repeat(path.split("/").length - 1), request, safety)
      }
      yield* router.add("GET", "/console/config.json", config)
      yield* router.add("GET", "/console/*", (request) =>
        // The router matches `/console` as well, where relative addresses would be wrong.
        /^\/console(\?|$)/.test(request.url)
          ? Effect.succeed(toFolder)
          : Effect.map(state, (now) => (now._tag === "Built" ? serve(now.files, request) : unbuiltAnswer(now, safety)))
      )
    })
  )

/** The path below `/console/`; empty for the folder itself. */
const pathOf = (url: string): string => {
  const path = (url.split("?")[0] ?? "").replace(/^\/console\/?/, "")
  return path === "" ? CONSOLE_PAGE : path
}

/** Relative to the answer's address, as the page's references are. */
const linksOf = (hasConsole: boolean, hasDocs: boolean) => ({
  service: "run-control-plane",
  links: {
    ...(hasConsole && { console: "console/" }),
    ...(hasDocs && { docs: "docs", openapi: "docs-json" }),
    runs: "runs",
    events: "events",
    health: "healthz",
    readiness: "readyz",
    metrics: "metrics"
  }
})
