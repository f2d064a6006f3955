import { spawnSync } from "node:child_process"
import { createHash } from "node:crypto"
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { request as httpRequest } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { brotliCompressSync, brotliDecompressSync, gzipSync } from "node:zlib"
import { afterAll, assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import { baseUrl, call, layerTestService } from "../support/HttpService.ts"

const page = (way: string) =>
  `<!doctype html><title>Console</title><link rel="icon" href="${way}favicon.svg" />` +
  `<script type="module" src="${way}assets/index-1a2b3c.js"></script>`
const PAGE = page("./")
const SCRIPT = "export const answer = 42\n"

const folder = mkdtempSync(join(tmpdir(), "runplane-console-"))
mkdirSync(join(folder, "assets"))
writeFileSync(join(folder, "index.html"), PAGE)
writeFileSync(join(folder, "favicon.svg"), "<svg/>")
writeFileSync(join(folder, "assets", "index-1a2b3c.js"), SCRIPT)
writeFileSync(join(folder, "assets", "index-1a2b3c.js.br"), brotliCompressSync(SCRIPT))
writeFileSync(join(folder, "assets", "index-1a2b3c.js.gz"), gzipSync(SCRIPT))
afterAll(() => rmSync(folder, { recursive: true }))

/** A request as it goes over the wire: no redirect is followed, nothing is decompressed. */
const raw = Effect.fnUntraced(function* (path: string, headers: Readonly<Record<string, string>> = {}) {
  const url = `${yield* baseUrl}${path}`
  return yield* Effect.promise(
    () =>
      new Promise<{ status: number; headers: Readonly<Record<string, unknown>>; bytes: Buffer }>((resolve, reject) => {
        httpRequest(url, { headers }, (response) => {
          const parts: Array<Buffer> = []
          response.on("data", (part: Buffer) => parts.push(part))
          response.on("end", () =>
            resolve({ status: response.statusCode ?? 0, headers: response.headers, bytes: Buffer.concat(parts) })
          )
        })
          .on("error", reject)
          .end()
      })
  )
})

const settings = {
  CONSOLE_DIR: folder,
  LAUNCHER_PUBLIC_URL: "https://launch.example.org/below/",
  AUTH_API_KEYS: "secret",
  THROTTLE_LIMIT: "1"
}

layer(layerTestService({ settings }), { excludeTestServices: true })("the web console", (it) => {
  it.effect("is where browsers get to, others get links", () =>
    Effect.gen(function* () {
      const browser = yield* raw("/", { accept: "text/html,application/xhtml+xml;q=0.9,*/*;q=0.8" })
      assert.strictEqual(browser.status, 302)
      assert.strictEqual(browser.headers["location"], "console/")
      const other = yield* raw("/", { accept: "application/json" })
      assert.strictEqual(other.status, 200)
      assert.deepInclude(JSON.parse(other.bytes.toString()), { service: "run-control-plane" })
      assert.strictEqual(JSON.parse(other.bytes.toString()).links.console, "console/")
      assert.include(String(other.headers["vary"]), "Accept")
      assert.strictEqual((yield* raw("/console")).headers["location"], "console/")
    })
  )

  it.effect("serves its page under every deep link, without a key and beside the budget of requests", () =>
    Effect.gen(function* () {
      for (const [path, way] of [
        ["/console/", "./"],
        ["/console/index.html", "./"],
        ["/console/runs?q=a/b", "./"],
        ["/console/runs/8c0f?view=story", "../"],
        ["/console/a/b/", "../../"],
        ["/console/a%2Fb/c", "../"]
      ] as const) {
        const { bytes, headers, status } = yield* raw(path, { "accept-encoding": "gzip" })
        assert.strictEqual(status, 200, path)
        assert.strictEqual(bytes.toString(), page(way), path)
        assert.strictEqual(headers["cache-control"], "no-store")
        assert.strictEqual(headers["content-type"], "text/html; charset=utf-8")
      }
    })
  )

  it.effect("lets the page load nothing but itself and call only the launch service, and be in no frame", () =>
    Effect.gen(function* () {
      const { headers } = yield* raw("/console/")
      const policy = String(headers["content-security-policy"])
      assert.include(policy, "default-src 'none'")
      assert.include(policy, "script-src 'self';")
      assert.include(policy, "style-src 'self';")
      assert.include(policy, "frame-ancestors 'none'")
      assert.include(policy, "connect-src 'self' https://launch.example.org;")
      assert.notInclude(policy, "unsafe")
      assert.strictEqual(headers["x-frame-options"], "DENY")
      assert.strictEqual(headers["x-content-type-options"], "nosniff")
    })
  )

  it.effect("shows the page where the launch service is", () =>
    Effect.gen(function* () {
      const { bytes, headers } = yield* raw("/console/config.json")
      assert.deepStrictEqual(JSON.parse(bytes.toString()), {
        launcherUrl: "https://launch.example.org/below"
      })
      assert.strictEqual(headers["cache-control"], "no-store")
    })
  )

  it.effect("sends assets compressed as the client likes, to be kept for ever", () =>
    Effect.gen(function* () {
      const path = "/console/assets/index-1a2b3c.js"
      const brotli = yield* raw(path, { "accept-encoding": "gzip, deflate, br" })
      assert.strictEqual(brotli.headers["content-encoding"], "br")
      assert.strictEqual(brotliDecompressSync(brotli.bytes).toString(), SCRIPT)
      assert.strictEqual(brotli.headers["cache-control"], "public, max-age=31536000, immutable")
      assert.include(String(brotli.headers["vary"]), "Accept-Encoding")
      assert.include(String(brotli.headers["vary"]), "Origin")
      assert.strictEqual((yield* raw(path, { "accept-encoding": "gzip" })).headers["content-encoding"], "gzip")
      const plain = yield* raw(path)
      assert.isUndefined(plain.headers["content-encoding"])
      assert.strictEqual(plain.bytes.toString(), SCRIPT)
      const again = yield* raw(path, { "if-none-match": String(plain.headers["etag"]) })
      assert.strictEqual(again.status, 304)
      assert.lengthOf(again.bytes, 0)
    })
  )

  it.effect("knows no file outside of its folder, and no asset that is not there", () =>
    Effect.gen(function* () {
      const missing = yield* raw("/console/assets/index-0000.js")
      assert.strictEqual(missing.status, 404)
      assert.deepInclude(JSON.parse(missing.bytes.toString()), { errorCode: "NOT_FOUND" })
      for (const path of [
        "/console/../package.json",
        "/console/%2e%2e/%2e%2e/etc/passwd",
        "/console/..%5c..%5csecret"
      ]) {
        const { bytes, status } = yield* raw(path)
        assert.isTrue(status === 404 || /^<!doctype html><title>Console/.test(bytes.toString()), `${path}: ${status}`)
      }
    })
  )
})

const WITHOUT = { CONSOLE_DIR: folder, CONSOLE_ENABLED: "false", MCP_ENABLED: "false" }
layer(layerTestService({ settings: WITHOUT }), { excludeTestServices: true })(
  "without the web console and MCP",
  (it) => {
    it.effect("GET / has links for every client, and nothing is below /console", () =>
      Effect.gen(function* () {
        const { body, status } = yield* call("GET", "/", { headers: { accept: "text/html" } })
        assert.strictEqual(status, 200)
        assert.notProperty(body.links, "console")
        assert.strictEqual((yield* call("GET", "/console/")).status, 404)
      })
    )

    it.effect("POST /mcp is not found", () =>
      Effect.gen(function* () {
        const body = { jsonrpc: "2.0", id: 1, method: "tools/list" }
        assert.strictEqual((yield* call("POST", "/mcp", { body })).status, 404)
      })
    )
  }
)

layer(
  layerTestService({ settings: { CONSOLE_DIR: folder, AUTH_API_KEYS: "secret", PUBLIC_BASE_PATH: "/runplane/" } }),
  { excludeTestServices: true }
)("a service below a path that its proxy leaves in", (it) => {
  it.effect("answers below the path and without it", () =>
    Effect.gen(function* () {
      for (const [path, status, location] of [
        ["/runplane", 308, "/runplane/"],
        ["/runplane?a=b", 308, "/runplane/?a=b"],
        ["/runplane/", 302, "console/"],
        ["/", 302, "console/"]
      ] as const) {
        const answer = yield* raw(path, { accept: "text/html" })
        assert.deepStrictEqual([answer.status, answer.headers["location"]], [status, location], path)
      }
      for (const base of ["/runplane", ""]) {
        assert.strictEqual((yield* raw(`${base}/console/runs/8c0f`)).bytes.toString(), page("../"))
        assert.strictEqual((yield* raw(`${base}/console/assets/index-1a2b3c.js`)).bytes.toString(), SCRIPT)
        assert.strictEqual((yield* raw(`${base}/runs?limit=1`)).status, 401)
        assert.strictEqual((yield* raw(`${base}/runs?limit=1`, { "x-api-key": "secret" })).status, 200)
        assert.strictEqual((yield* raw(`${base}/nothing`)).status, 404)
      }
      for (const path of ["/runplanes/runs", "/runplane/runplane/runs"]) {
        assert.strictEqual((yield* raw(path, { "x-api-key": "secret" })).status, 404, path)
      }
    })
  )
})

/** The folder of a console that is being built: it has no files yet. */
const unbuilt = mkdtempSync(join(tmpdir(), "runplane-console-build-"))
const writeBuild = (build: unknown) => writeFileSync(join(unbuilt, "build.json"), JSON.stringify(build))
const building = { state: "building", pid: process.pid, step: "compiling its pages" }
writeBuild(building)
afterAll(() => rmSync(unbuilt, { recursive: true }))

/** Repeats a request until its answer is accepted: the state of a build is valid for a moment. */
const becomes = (path: string, accepted: (text: string, status: number) => boolean) =>
  Effect.map(raw(path), ({ bytes, headers, status }) => ({ text: bytes.toString(), headers, status })).pipe(
    Effect.repeat({ until: ({ status, text }) => accepted(text, status), schedule: Schedule.spaced("50 millis") }),
    Effect.timeout("5 seconds")
  )

layer(layerTestService({ settings: { CONSOLE_DIR: unbuilt } }), { excludeTestServices: true })(
  "a web console that is being built",
  (it) => {
    it.effect(
      "has a page that reloads itself at each address, says why a build failed, and then serves the files",
      () =>
        Effect.gen(function* () {
          const toPage = yield* raw("/", { accept: "text/html" })
          assert.strictEqual(toPage.headers["location"], "console/")
          const page = yield* raw("/console/runs/8c0f")
          assert.strictEqual(page.status, 503)
          assert.strictEqual(page.headers["retry-after"], "2")
          assert.strictEqual(page.headers["cache-control"], "no-store")
          assert.include(page.bytes.toString(), "The console is being built")
          assert.include(page.bytes.toString(), "compiling its pages")
          assert.include(page.bytes.toString(), '<meta http-equiv="refresh" content="2">')
          const [, style = ""] = /<style>(.*)<\/style>/.exec(page.bytes.toString()) ?? []
          const hash = createHash("sha256").update(style).digest("base64")
          assert.include(String(page.headers["content-security-policy"]), `style-src 'sha256-${hash}'`)

          writeBuild({ state: "failed", reason: 'Error: no "<b>"' })
          const failed = yield* becomes("/console/", (text) => text.includes("could not be built"))
          assert.strictEqual(failed.status, 503)
          assert.isUndefined(failed.headers["retry-after"])
          assert.include(failed.text, "Error: no &quot;&lt;b&gt;&quot;")
          assert.notInclude(failed.text, "refresh")

          const ended = spawnSync(process.execPath, ["--version"]).pid
          writeBuild({ ...building, pid: ended })
          yield* becomes("/console/", (text) => text.includes("its build was interrupted"))

          writeBuild(building)
          yield* becomes("/console/", (text) => text.includes("is being built"))
          rmSync(join(unbuilt, "build.json"))
          // The folder has nothing while the files are on their way.
          yield* Effect.sleep("300 millis")
          assert.include((yield* raw("/console/")).bytes.toString(), "is being built")
          cpSync(folder, unbuilt, { recursive: true })
          const built = yield* becomes("/console/", (_, status) => status === 200)
          assert.strictEqual(built.text, PAGE)
          assert.strictEqual((yield* raw("/console/assets/index-1a2b3c.js")).status, 200)
        })
    )
  }
)
