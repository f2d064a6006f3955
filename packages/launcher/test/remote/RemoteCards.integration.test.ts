import { generateKeyPairSync, type KeyObject } from "node:crypto"
import type { lookup } from "node:dns"
import { AgentCard, generateAgentCardSignature } from "@a2a-js/sdk"
import * as NodePath from "@effect/platform-node/NodePath"
import { assert, describe, it } from "@effect/vitest"
import { CARD_PATH, cardAt, makeScriptedAgent, sendJson } from "@runplane/testing"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { LauncherSettings } from "../../src/LauncherSettings.ts"
import { makeCards } from "../../src/remote/RemoteCards.ts"
import { NameResolver, RemoteHttp } from "../../src/remote/RemoteHttp.ts"
import { parseRemoteManifest } from "../../src/remote/RemoteManifest.ts"

const layerHttp = (allowPrivateAgents: boolean, resolve?: typeof lookup) =>
  RemoteHttp.layer.pipe(
    Layer.provide(resolve === undefined ? Layer.empty : Layer.succeed(NameResolver, resolve)),
    Layer.provide(LauncherSettings.layerFrom({ allowPrivateAgents })),
    Layer.provide(NodePath.layer)
  )

const pin = (entrypoint: string, allowPrivate = true, auth?: string) =>
  Effect.flatMap(
    makeCards((name) => `secret of ${name}`),
    (cards) => cards.pin({ agentRef: "remote", entrypoint, auth })
  ).pipe(Effect.provide(layerHttp(allowPrivate)))

/** Why a card is refused. */
const refusal = (entrypoint: string, allowPrivate = true) =>
  Effect.map(Effect.flip(pin(entrypoint, allowPrivate)), (failure) => failure.message)

describe("an agent card", () => {
  it.live("is pinned with its hash, and gets the credential at its own origin alone", () =>
    Effect.gen(function* () {
      const other = yield* makeScriptedAgent((_, outgoing) => sendJson(outgoing, "{}"))
      const agent = yield* makeScriptedAgent(({ path }, outgoing, base) => {
        if (path === CARD_PATH) outgoing.writeHead(302, { location: "/card" }).end()
        else if (path === "/away") outgoing.writeHead(302, { location: `${other.base}/card` }).end()
        else sendJson(outgoing, cardAt(`${base}/a2a`))
      })
      const pinned = yield* pin(agent.entrypoint, true, "AGENT_KEY")
      assert.match(pinned.cardSha256, /^[0-9a-f]{64}$/)
      assert.deepInclude(pinned, { auth: "AGENT_KEY", signature: "not signed" })
      assert.deepStrictEqual(pinned.interface, { url: `${agent.base}/a2a`, binding: "JSONRPC", streaming: false })
      assert.deepStrictEqual(
        agent.seen.map(({ headers }) => headers.authorization),
        ["Bearer secret of AGENT_KEY", "Bearer secret of AGENT_KEY"]
      )
      assert.strictEqual(yield* refusal(`${agent.base}/away`), "it redirects to another origin")
      assert.lengthOf(other.seen, 0)
    })
  )

  it.live("is refused where it is too large, slow in circles, not a card, or of another version", () =>
    Effect.gen(function* () {
      const agent = yield* makeScriptedAgent(({ path }, outgoing, base) => {
        if (path === "/loop") outgoing.writeHead(302, { location: "/loop" }).end()
        else if (path === "/large") sendJson(outgoing, cardAt(`${base}/a2a`, { description: "x".repeat(300_000) }))
        else if (path === "/list") sendJson(outgoing, "[]")
        else if (path === "/html") outgoing.writeHead(200, { "content-type": "text/html" }).end("<h1>hello</h1>")
        else if (path === "/foreign") sendJson(outgoing, cardAt("http://169.254.169.254/latest"))
        else if (path === "/old") sendJson(outgoing, JSON.stringify({ url: `${base}/`, protocolVersion: "0.3.0" }))
        else sendJson(outgoing, "{}", 404)
      })
      const of = (path: string) => refusal(`${agent.base}${path}`)
      assert.strictEqual(yield* of("/loop"), "it redirects more than 3 times")
      assert.strictEqual(yield* of("/large"), "the answer is over 262144 bytes")
      assert.strictEqual(yield* of("/list"), "it is not an agent card in JSON")
      assert.strictEqual(yield* of("/html"), "it is not an agent card in JSON")
      assert.match(yield* of("/foreign"), /^its interface has the origin http:\/\/169\.254\.169\.254, and the card/)
      assert.match(yield* of("/old"), /^it offers JSONRPC 0\.3\.0; JSONRPC or HTTP\+JSON with protocol version 1\.0/)
      assert.strictEqual(yield* of("/none"), "it answers 404")
    })
  )

  it.live("is refused where it drips for longer than its bound, or is nested so deeply that a reader could fail", () =>
    Effect.gen(function* () {
      const agent = yield* makeScriptedAgent(({ path }, outgoing, base) => {
        const empty = (count: number) => `[${"{},".repeat(count)}{}]`
        if (path === "/deep") sendJson(outgoing, `{"name":${"[".repeat(100_000)}${"]".repeat(100_000)}}`)
        else if (path === "/empty")
          sendJson(outgoing, cardAt(`${base}/a2a`).replace("{", `{"skills":${empty(80_000)},`))
        else if (path === "/drip") {
          outgoing.writeHead(200, { "content-type": "application/json" }).write("{")
          const drops = setInterval(() => outgoing.write(" "), 100)
          outgoing.on("close", () => clearInterval(drops))
        } else outgoing.writeHead(302, { location: path === "/slow" ? "/drip" : "/slow" }).end()
      })
      const of = (path: string) => refusal(`${agent.base}${path}`)
      assert.strictEqual(yield* of("/deep"), "it is not an agent card in JSON")
      assert.strictEqual((yield* pin(`${agent.base}/empty`)).signature, "not signed")
      // The bound is that of all redirects together.
      assert.strictEqual(yield* of("/redirected"), "no answer within 5000 ms")
    })
  )

  it.live("is fetched from the very address that was checked: a name that changes is checked again", () =>
    Effect.gen(function* () {
      const agent = yield* makeScriptedAgent((_, outgoing, base) => {
        outgoing.shouldKeepAlive = false
        sendJson(outgoing, cardAt(`http://rebinding.example${new URL(base).host.replace(/^[^:]*/, "")}/a2a`))
      })
      const entrypoint = agent.entrypoint.replace("127.0.0.1", "rebinding.example")
      const answers = ["127.0.0.1", "169.254.169.254"]
      const resolved: Array<string> = []
      const resolve = ((name: string, _: object, done: (error: null, addresses: ReadonlyArray<object>) => void) => {
        resolved.push(name)
        done(null, [{ address: answers[resolved.length - 1] ?? "127.0.0.1", family: 4 }])
      }) as typeof lookup
      yield* Effect.gen(function* () {
        const cards = yield* makeCards(() => undefined)
        const pinned = yield* cards.pin({ agentRef: "remote", entrypoint, auth: undefined })
        assert.strictEqual(pinned.interface.url, `${entrypoint.replace(CARD_PATH, "")}/a2a`)
        assert.deepStrictEqual(resolved, ["rebinding.example"])
        const refused = yield* Effect.flip(cards.hashNow(pinned))
        assert.deepInclude(refused, { kind: "refused" })
        assert.match(refused.message, /^rebinding\.example is a link-local or metadata address/)
        assert.lengthOf(agent.seen, 1)
      }).pipe(Effect.provide(layerHttp(true, resolve)))
    })
  )

  it.live("is not fetched from private and metadata addresses, whatever name they have", () =>
    Effect.gen(function* () {
      const agent = yield* makeScriptedAgent((_, outgoing, base) => sendJson(outgoing, cardAt(`${base}/a2a`)))
      const port = new URL(agent.base).port
      assert.match(yield* refusal(agent.entrypoint, false), /private address/)
      assert.match(yield* refusal(`http://localhost:${port}${CARD_PATH}`, false), /localhost is a private address/)
      assert.match(yield* refusal("http://169.254.169.254/latest", true), /link-local or metadata address/)
      assert.match(yield* refusal("http://[fd00:ec2::254]/latest", true), /link-local or metadata address/)
      assert.lengthOf(agent.seen, 0)
    })
  )

  it.live("is verified where it is signed, and refused when the signature is of another card", () =>
    Effect.gen(function* () {
      const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" })
      const signed = async (base: string, key: KeyObject, jku: string, name: string) => {
        const card = AgentCard.fromJSON(JSON.parse(cardAt(`${base}/a2a`)))
        const sign = generateAgentCardSignature(key, { alg: "ES256", kid: "k1", typ: "JOSE", jku })
        return JSON.stringify({ ...(AgentCard.toJSON(await sign(card)) as object), name })
      }
      const agent = yield* makeScriptedAgent(async ({ path }, outgoing, base) => {
        const own = `${base}/keys`
        if (path === "/keys")
          sendJson(outgoing, JSON.stringify({ keys: [{ ...publicKey.export({ format: "jwk" }), kid: "k1" }] }))
        else if (path === "/forged") sendJson(outgoing, await signed(base, privateKey, own, "another agent"))
        else if (path === "/foreign")
          sendJson(outgoing, await signed(base, privateKey, "https://keys.example.org/", "an agent"))
        else sendJson(outgoing, await signed(base, privateKey, own, "an agent"))
      })
      assert.strictEqual((yield* pin(agent.entrypoint)).signature, "signed and verified with a key of its origin")
      assert.match(yield* refusal(`${agent.base}/forged`), /^its signature does not fit it/)
      const doubtful = yield* pin(`${agent.base}/foreign`)
      assert.strictEqual(doubtful.signature, "signed, not verified: no jku at the origin of the card names its keys")
    })
  )
})

describe("the manifest of an agent that speaks A2A", () => {
  const rules = { allowPrivateAgents: false, hostEnvAllow: ["AGENT_KEY"] }
  const faults = (manifest: object, over: Partial<typeof rules> = {}) => {
    const parsed = parseRemoteManifest(JSON.stringify({ framework: "a2a", ...manifest }), { ...rules, ...over })
    return parsed._tag === "Failure" ? parsed.failure : []
  }
  const entrypoint = "https://agents.example.org/.well-known/agent-card.json"

  it("names each fault with its field", () => {
    assert.deepStrictEqual(faults({ entrypoint, auth: "env:AGENT_KEY" }), [])
    assert.deepStrictEqual(faults({ entrypoint, auth: "env:LAUNCHER_DATABASE_URL" }), [
      "manifest.auth names LAUNCHER_DATABASE_URL, which HOST_ENV_ALLOW does not have: add it there"
    ])
    assert.match(faults({ entrypoint, auth: "sk-123" })[0] ?? "", /manifest.auth must be "env:NAME"/)
    assert.match(faults({ entrypoint: "http://agents.example.org/" })[0] ?? "", /must be an https address/)
    assert.match(faults({ entrypoint: "https://a:b@agents.example.org/" })[0] ?? "", /credentials in it/)
    assert.match(faults({ entrypoint: { type: "command", value: "x" } })[0] ?? "", /must be the https address/)
    assert.match(faults({ entrypoint, framework: "custom" })[0] ?? "", /write "a2a"/)
    assert.deepStrictEqual(faults({ entrypoint: "http://127.0.0.1/" }, { allowPrivateAgents: true }), [])
  })
})
