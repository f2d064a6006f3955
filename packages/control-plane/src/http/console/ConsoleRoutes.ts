import { resolve } from "node:path"
import {
  acceptedCoding,
  acceptsHtml,
  ControlPlaneSettings,
  controlPlaneForm,
  readSettings,
  ServiceSettings
} from "@runplane/server"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Layer from "effect/Layer"
import { BUILT_CONSOLE, type ConsoleFile, ConsoleFiles, PAGE } from "./ConsoleFiles.ts"
import { unbuiltAnswer } from "./UnbuiltConsole.ts"

/** Names of these files change with their content. */
const HASHED = /^assets\//
const FOR_EVER = "public, max-age=31536000, immutable"
const NEVER = "no-store"
const AN_HOUR = "public, max-age=3600"

const settings = {
  isEnabled: ControlPlaneSettings.CONSOLE_ENABLED,
  folder: ControlPlaneSettings.CONSOLE_DIR,
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
    const files = ConsoleFiles.layer(folder === undefined ? BUILT_CONSOLE : resolve(folder))
    return Layer.provide(routes({ launcherUrl, hasDocs }), files)
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
      const safety = safetyHeaders(launcherUrl)
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
        if (file !== undefined) return fileAnswer(path, file, request, safety)
        const page = files.get(PAGE)
        return page === undefined || HASHED.test(path)
          ? controlPlaneForm.notFound(request.method, request.url.split("?")[0] ?? request.url)
          : pageAnswer(path, page, request, safety)
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
  return path === "" ? PAGE : path
}

/** What the page refers to, as the build writes it: relative to the console's folder. */
const REFERENCE = /(?<= (?:href|src)=")\.\//g

/**
 * The page at a path below `/console/`. Its references are relative to the console's folder, so they work below every
 * path that a proxy adds.
 */
const pageAnswer = (
  path: string,
  page: ConsoleFile,
  request: HttpServerRequest.HttpServerRequest,
  safety: Readonly<Record<string, string>>
) => {
  const depth = path.split("/").length - 1
  if (depth === 0) return fileAnswer(PAGE, page, request, safety)
  const text = new TextDecoder().decode(page.bytes).replace(REFERENCE, "../".repeat(depth))
  return HttpServerResponse.text(text, {
    contentType: page.contentType,
    headers: { ...safety, "cache-control": NEVER }
  })
}

const fileAnswer = (
  path: string,
  file: ConsoleFile,
  request: HttpServerRequest.HttpServerRequest,
  safety: Readonly<Record<string, string>>
) => {
  const headers = {
    ...safety,
    etag: file.etag,
    vary: "Accept-Encoding",
    "cache-control": HASHED.test(path) ? FOR_EVER : path === PAGE ? NEVER : AN_HOUR
  }
  if (path !== PAGE && request.headers["if-none-match"] === file.etag) {
    return HttpServerResponse.empty({ status: 304, headers })
  }
  const encoding = acceptedCoding(request.headers["accept-encoding"], file.encoded.keys())
  const bytes = (encoding === undefined ? undefined : file.encoded.get(encoding)) ?? file.bytes
  return HttpServerResponse.uint8Array(bytes, {
    contentType: file.contentType,
    headers: encoding === undefined ? headers : { ...headers, "content-encoding": encoding }
  })
}

/** No inline script or style, no frame, and no other origin but that of the launch service. */
const safetyHeaders = (launcherUrl: string | undefined) => ({
  "content-security-policy": [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "font-src 'self'",
    "img-src 'self' data:",
    "worker-src 'self'",
    `connect-src 'self'${launcherUrl === undefined ? "" : ` ${new URL(launcherUrl).origin}`}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'"
  ].join("; "),
  "x-frame-options": "DENY",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "permissions-policy": "camera=(), microphone=(), geolocation=()"
})

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
