import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { brotliCompressSync } from "node:zlib"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { afterAll, assert, describe, it } from "@effect/vitest"
import { LauncherEdge } from "@runplane/server"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import { HttpRouter, HttpServer, HttpServerResponse } from "effect/http"
import * as Layer from "effect/Layer"
import { InboxPage } from "../../../src/http/inbox/InboxPage.ts"

const ITEM = "0197c0de-6f0a-7c53-9a56-0d9c6f5f7a10"
const HTML = { accept: "text/html,application/xhtml+xml;q=0.9,*/*;q=0.8" }
const JSON_FIRST = { accept: "application/json" }
const SCRIPT = "export const answer = 42\n"
const page = (way: string) => `<!doctype html><script type="module" src="${way}assets/inbox-1a2b3c.js"></script>`

const folder = mkdtempSync(join(tmpdir(), "runplane-inbox-"))
mkdirSync(join(folder, "built", "assets"), { recursive: true })
mkdirSync(join(folder, "empty"))
mkdirSync(join(folder, "building"))
writeFileSync(join(folder, "built", "inbox.html"), page("./"))
writeFileSync(join(folder, "built", "index.html"), "the console")
writeFileSync(join(folder, "built", "assets", "inbox-1a2b3c.js"), SCRIPT)
writeFileSync(join(folder, "built", "assets", "inbox-1a2b3c.js.br"), brotliCompressSync(SCRIPT))
const build = { state: "building", pid: process.pid, step: "building the web console" }
writeFileSync(join(folder, "building", "build.json"), JSON.stringify(build))
afterAll(() => rmSync(folder, { recursive: true }))

const ANSWER = { data: [] }
/** The contract's answers at the same addresses. */
const contract = Layer.mergeAll(
  HttpRouter.add("GET", "/inbox", HttpServerResponse.jsonUnsafe(ANSWER)),
  HttpRouter.add("GET", "/inbox/:id", HttpServerResponse.jsonUnsafe(ANSWER)),
  HttpRouter.add("POST", "/inbox/:id/answers", HttpServerResponse.jsonUnsafe(ANSWER))
)

const serve = (settings: Readonly<Record<string, string>>) => {
  const { dispose, handler } = HttpRouter.toWebHandler(
    Layer.mergeAll(contract, Layer.provide(InboxPage, LauncherEdge.layer), LauncherEdge.layer).pipe(
      Layer.provide(NodeFileSystem.layer),
      Layer.provide(HttpServer.layerServices),
      Layer.provide(ConfigProvider.layer(ConfigProvider.fromUnknown({ AUTH_API_KEYS: "secret", ...settings })))
    ),
    { disableLogger: true }
  )
  const call = (path: string, headers: Readonly<Record<string, string>>, method = "GET") =>
    Effect.gen(function* () {
      const response = yield* Effect.promise(() =>
        handler(new Request(`http://launcher.test${path}`, { method, headers }))
      )
      const { headers: fields, status } = response
      return { status, fields, text: yield* Effect.promise(() => response.text()) }
    })
  return Effect.as(
    Effect.addFinalizer(() => Effect.promise(dispose)),
    call
  )
}

describe("the page of the inbox", () => {
  it.effect("answers navigations, and leaves every other request to the contract", () =>
    Effect.gen(function* () {
      const call = yield* serve({ CONSOLE_DIR: join(folder, "built") })
      for (const [path, way] of [
        ["/inbox", "inbox/"],
        ["/inbox?state=open", "inbox/"],
        ["/inbox/", "./"],
        [`/inbox/${ITEM}`, "./"]
      ] as const) {
        const { fields, status, text } = yield* call(path, HTML)
        assert.deepStrictEqual([path, status, text], [path, 200, page(way)])
        assert.strictEqual(fields.get("vary"), "Accept, Origin")
        assert.strictEqual(fields.get("cache-control"), "no-store")
        assert.include(fields.get("content-security-policy") ?? "", "default-src 'none'; script-src 'self';")
        assert.strictEqual(fields.get("x-frame-options"), "DENY")
      }
      for (const path of ["/inbox", `/inbox/${ITEM}`]) {
        const { fields, text } = yield* call(path, JSON_FIRST)
        assert.deepStrictEqual([JSON.parse(text), fields.get("vary")], [ANSWER, "Accept, Origin"])
      }
      const posted = yield* call(`/inbox/${ITEM}/answers`, HTML, "POST")
      assert.deepStrictEqual(JSON.parse(posted.text), ANSWER)
    })
  )

  it.effect("is not at the addresses of the sign-in", () =>
    Effect.gen(function* () {
      const call = yield* serve({ CONSOLE_DIR: join(folder, "built") })
      for (const path of ["/inbox/sign-in", "/inbox/callback", "/inbox/sign-out"]) {
        assert.strictEqual((yield* call(path, HTML)).text, JSON.stringify(ANSWER), path)
      }
    })
  )

  it.effect("has its files for ever, compressed as the browser takes them, and none of the console's pages", () =>
    Effect.gen(function* () {
      const call = yield* serve({ CONSOLE_DIR: join(folder, "built") })
      const { fields, status, text } = yield* call("/inbox/assets/inbox-1a2b3c.js", {})
      assert.deepStrictEqual([status, text], [200, SCRIPT])
      assert.strictEqual(fields.get("cache-control"), "public, max-age=31536000, immutable")
      const small = yield* call("/inbox/assets/inbox-1a2b3c.js", { "accept-encoding": "br" })
      assert.strictEqual(small.fields.get("content-encoding"), "br")
      const again = yield* call("/inbox/assets/inbox-1a2b3c.js", { "if-none-match": fields.get("etag") ?? "" })
      assert.strictEqual(again.status, 304)
      for (const path of ["/inbox/assets/none.js", "/inbox/assets/..%2Findex.html"]) {
        assert.strictEqual((yield* call(path, JSON_FIRST)).status, 404, path)
      }
    })
  )

  it.effect("is served below the path of a proxy", () =>
    Effect.gen(function* () {
      const call = yield* serve({ CONSOLE_DIR: join(folder, "built"), PUBLIC_BASE_PATH: "/launch" })
      assert.strictEqual((yield* call(`/launch/inbox/${ITEM}`, HTML)).text, page("./"))
      assert.strictEqual((yield* call("/launch/inbox/assets/inbox-1a2b3c.js", {})).text, SCRIPT)
    })
  )

  it.effect.each([
    ["empty", "The console is missing"],
    ["building", "The build is building the web console."]
  ] as const)("says in a folder that is %s what is missing", ([name, sentence]) =>
    Effect.gen(function* () {
      const call = yield* serve({ CONSOLE_DIR: join(folder, name) })
      const { status, text } = yield* call("/inbox", HTML)
      assert.strictEqual(status, 503)
      assert.include(text, sentence)
      assert.strictEqual((yield* call("/inbox", JSON_FIRST)).text, JSON.stringify(ANSWER))
      assert.strictEqual((yield* call("/inbox/assets/inbox-1a2b3c.js", {})).status, 404)
    })
  )

  it.effect("is not served with CONSOLE_ENABLED=false", () =>
    Effect.gen(function* () {
      const call = yield* serve({ CONSOLE_DIR: join(folder, "built"), CONSOLE_ENABLED: "false" })
      assert.strictEqual((yield* call("/inbox", HTML)).text, JSON.stringify(ANSWER))
    })
  )
})
