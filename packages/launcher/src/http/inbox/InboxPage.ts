import {
  acceptsHtml,
  ConsoleFiles,
  consoleFileAnswer,
  consolePageAnswer,
  consoleSafety,
  INBOX_PAGE,
  launcherForm,
  readSettings,
  ServiceSettings,
  unbuiltAnswer
} from "@runplane/server"
import * as Effect from "effect/Effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import * as Layer from "effect/Layer"

/** The list, one item, and the page of personal links: other addresses below `/inbox` have no page. */
const PAGE_PATH = /^\/inbox(?:\/(?:link|[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12})?)?$/
const FILE_PATH = /^\/inbox\/([^?]+)/
/** The other files of the build belong to the console. */
const FILES = ["/inbox/assets/*", "/inbox/favicon.svg"] as const

const SAFETY = consoleSafety([])

const settings = { isEnabled: ServiceSettings.CONSOLE_ENABLED, folder: ServiceSettings.CONSOLE_DIR }

const pathOf = (url: string): string => url.split("?")[0] ?? url

/** Whether a request is for an address that has a page as well as JSON. */
const hasPage = ({ method, url }: HttpServerRequest.HttpServerRequest) =>
  (method === "GET" || method === "HEAD") && PAGE_PATH.test(pathOf(url))

/**
 * The page of the inbox, built from the web console: `/inbox`, `/inbox/:id` and `/inbox/link` answer it to browsers
 * that open the address, and JSON to all others. It needs no sign-in; its calls do. With `CONSOLE_ENABLED=false`
 * browsers get JSON as well.
 */
export const InboxPage = Layer.unwrap(
  Effect.gen(function* () {
    const { folder, isEnabled } = yield* readSettings(settings)
    if (!isEnabled) return Layer.empty
    return Layer.mergeAll(pages, files).pipe(Layer.provide(ConsoleFiles.layer(folder)))
  })
)

const pages = HttpRouter.middleware(
  Effect.gen(function* () {
    const { state } = yield* ConsoleFiles
    const page = Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest) {
      const now = yield* state
      if (now._tag !== "Built") return unbuiltAnswer(now, SAFETY)
      const file = now.files.get(INBOX_PAGE)
      if (file === undefined) return unbuiltAnswer({ _tag: "Absent" }, SAFETY)
      // Its files are below the folder `/inbox/`.
      return consolePageAnswer(file, pathOf(request.url) === "/inbox" ? "inbox/" : "./", request, SAFETY)
    })
    return (httpEffect) =>
      Effect.gen(function* () {
        const request = yield* HttpServerRequest.HttpServerRequest
        if (!hasPage(request)) return yield* httpEffect
        const answer = yield* acceptsHtml(request) ? page(request) : httpEffect
        const vary = answer.headers["vary"]
        return HttpServerResponse.setHeader(answer, "vary", vary === undefined ? "Accept" : `Accept, ${vary}`)
      })
  }),
  { global: true }
)

const files = HttpRouter.use((router) =>
  Effect.gen(function* () {
    const { state } = yield* ConsoleFiles
    const answer = (request: HttpServerRequest.HttpServerRequest) =>
      Effect.map(state, (now) => {
        if (now._tag !== "Built") return launcherForm.notFound(request.method, pathOf(request.url))
        const path = FILE_PATH.exec(request.url)?.[1] ?? ""
        const file = now.files.get(path)
        return file === undefined
          ? launcherForm.notFound(request.method, pathOf(request.url))
          : consoleFileAnswer(path, file, request, SAFETY)
      })
    for (const path of FILES) yield* router.add("GET", path, answer)
  })
)
