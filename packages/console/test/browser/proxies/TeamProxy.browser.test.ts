import { once } from "node:events"
import { readFileSync } from "node:fs"
import { createServer, type Server } from "node:http"
import { fileURLToPath } from "node:url"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { freePorts } from "@runplane/testing"
import * as Effect from "effect/Effect"
import { type Nginx, startNginxWith } from "./Nginx.ts"

const DOCUMENT = fileURLToPath(new URL("../../../../../docs/reference/deploy.md", import.meta.url))

const [proxy = 0, one = 0, two = 0] = await Effect.runPromise(freePorts(3))

/** The servers of docs/reference/deploy.md for this machine, without its certificate. */
const documented = (/^ {4}upstream control-planes \{\n(?: {4}.*\n)+/m.exec(readFileSync(DOCUMENT, "utf8"))?.[0] ?? "")
  .replaceAll("127.0.0.1:3001", `127.0.0.1:${one}`)
  .replaceAll("127.0.0.1:3002", `127.0.0.1:${two}`)
  .replace("listen 443 ssl http2;", `listen 127.0.0.1:${proxy};`)
  .replaceAll(/^ *ssl_.*\n/gm, "")

/** A server that answers with its name, and with the client's address as the proxy reports it. */
const serve = async (name: string, port: number): Promise<Server> => {
  const server = createServer((request, response) => response.end(`${name} ${request.headers["x-forwarded-for"]}`))
  await once(server.listen(port, "127.0.0.1"), "listening")
  return server
}

const servers = new Map<string, Server>()
let nginx: Nginx | undefined

beforeAll(async () => {
  servers.set("one", await serve("one", one))
  servers.set("two", await serve("two", two))
  nginx = await startNginxWith(proxy, documented)
})

const stop = async (name: string) => {
  const server = servers.get(name)
  servers.delete(name)
  if (server === undefined) return
  server.closeAllConnections()
  server.close()
  await once(server, "close")
}

afterAll(async () => {
  await nginx?.stop()
  for (const name of [...servers.keys()]) await stop(name)
})

const get = async (path: string, headers: Readonly<Record<string, string>> = {}) => {
  const answer = await fetch(`http://127.0.0.1:${proxy}${path}`, { headers })
  return { status: answer.status, text: await answer.text() }
}

/** Twenty results, one after the other. */
const timesTwenty = async <A>(make: (number: number) => Promise<A>): Promise<ReadonlyArray<A>> => {
  const results: Array<A> = []
  for (let number = 0; number < 20; number++) results.push(await make(number))
  return results
}

describe("the nginx of a team", () => {
  it("keeps the metrics and the probes of the services to itself", async () => {
    for (const path of ["/metrics", "/livez", "/readyz", "/readyz?strict=true"]) {
      assert.strictEqual((await get(path)).status, 404, path)
    }
    assert.deepStrictEqual((await get("/runs")).text.split(" ")[1], "127.0.0.1")
  })

  it("uses both servers, and one for all requests of MCP with one key", async () => {
    const nameOf = async (path: string, key: string) =>
      (await get(path, { authorization: `Bearer ${key}` })).text.split(" ")[0]
    assert.sameMembers([...new Set(await timesTwenty(() => nameOf("/runs", "a")))], ["one", "two"])
    const byKey = await timesTwenty(async (number) => new Set(await timesTwenty(() => nameOf("/mcp", `key-${number}`))))
    for (const names of byKey) assert.strictEqual(names.size, 1)
    assert.sameMembers([...new Set(byKey.flatMap((names) => [...names]))], ["one", "two"])
  })

  it("sends every request to the other server when one has ended", async () => {
    await stop("one")
    for (const path of ["/runs", "/mcp"]) {
      for (const { status, text } of await timesTwenty(() => get(path))) {
        assert.deepStrictEqual([status, text.split(" ")[0]], [200, "two"])
      }
    }
  })
})
