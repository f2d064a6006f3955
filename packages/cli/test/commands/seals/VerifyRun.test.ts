import { createHash, generateKeyPairSync, sign } from "node:crypto"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, layer } from "@effect/vitest"
import {
  chainNext,
  chainStart,
  digestedEvent,
  digestedNext,
  digestedStart,
  type ErasureAppendix,
  type ErasureEntry,
  erasedEvent,
  erasuresNext,
  erasuresStart,
  eventBytes,
  eventErasure,
  type MemberSalts,
  makeErasuresHead,
  makeSeal,
  type Seal,
  signedBytes
} from "@runplane/domain"
import * as Context from "effect/Context"
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import { TestConsole } from "effect/testing"
import { clientCommands, exitCodeOf, root, runCli } from "../../../src/index.ts"

const RUN = "5b1f6c0e-6f0a-4c53-9a56-0d9c6f5f7a10"
const OTHER = "5b1f6c0e-6f0a-4c53-9a56-0d9c6f5f7a11"
/** More than are read at a time. */
const EVENTS = 450
const AT = "2026-07-01T10:00:00.000Z"

const sha256 = (...parts: ReadonlyArray<Uint8Array>) => {
  const hash = createHash("sha256")
  for (const part of parts) hash.update(part)
  return hash.digest()
}
const { privateKey, publicKey } = generateKeyPairSync("ed25519")
const signer = { keyId: "key-1", sign: (message: Uint8Array) => sign(null, message, privateKey) }
const jwk = { ...publicKey.export({ format: "jwk" }), alg: "EdDSA", use: "sig", kid: "key-1", firstUsedAt: "then" }

const texts = Array.from({ length: EVENTS }, (_, at) => {
  const position = { id: `e${at}`, runId: RUN, seq: 10 + at, index: at + 1 }
  const source = { kind: "control-plane", name: "runplane" }
  return JSON.stringify({
    ...position,
    schemaVersion: 3,
    ts: AT,
    type: "run.started",
    source,
    data: { text: "naïve 🦊" }
  })
})

const sealOf = (
  events: ReadonlyArray<string>,
  by?: typeof signer,
  previous?: Seal,
  proof: { readonly late?: boolean; readonly provenAfter?: number } = {}
): Seal => {
  const head = events.reduce((before, text) => chainNext(sha256, before, eventBytes(text)), chainStart(sha256, RUN))
  const draft = { runId: RUN, events: events.length, head, sealedAt: AT, frames: null, ...(previous && { previous }) }
  return makeSeal({ late: false, provenAfter: 0, ...proof, ...draft }, by)
}

/** A service with one run, as it pretends to have it. */
class World extends Context.Service<
  World,
  {
    readonly folder: string
    readonly url: string
    has: {
      events: ReadonlyArray<string>
      seal: Seal
      salts?: ReadonlyArray<MemberSalts>
      /** What the next requests have, the last of them for all further ones. */
      erasures?: ReadonlyArray<ErasureAppendix | null>
    }
  }
>()("test/World") {
  static readonly layer = Layer.effect(
    World,
    Effect.acquireRelease(
      Effect.promise(async () => {
        const world = { folder: mkdtempSync(join(tmpdir(), "runplane-verify-")), url: "", has: honest() }
        const server = createServer((request, response) => {
          const { pathname, searchParams } = new URL(request.url ?? "", "http://localhost")
          const [afterSeq, limit] = ["afterSeq", "limit"].map((name) => Number(searchParams.get(name)))
          const { erasures = [null], events, salts = [], seal } = world.has
          const isSeal = pathname === `/runs/${RUN}/seal`
          if (pathname === `/runs/${RUN}/salts`) {
            const [now = null, ...later] = erasures
            if (later.length > 0) world.has.erasures = later
            const positions = salts.map((salts, at) => ({ seq: 10 + at, index: at + 1, salts }))
            const data = positions.filter(({ seq }) => seq > (afterSeq ?? 0)).slice(0, limit)
            response.setHeader("content-type", "application/json")
            response.end(JSON.stringify({ data, erasures: now }))
            return
          }
          const page = events.filter((text) => JSON.parse(text).seq > (afterSeq ?? 0)).slice(0, limit)
          response.setHeader("content-type", "application/json")
          response.end(isSeal ? JSON.stringify({ ...seal, earlier: [] }) : `[${page.join(",")}]`)
        })
        await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening))
        world.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
        return { world, server }
      }),
      ({ server, world }) =>
        Effect.sync(() => {
          server.closeAllConnections()
          server.close()
          rmSync(world.folder, { recursive: true })
        })
    ).pipe(Effect.map(({ world }) => world))
  )
}

const honest = (): World["Service"]["has"] => ({ events: texts, seal: sealOf(texts, signer) })

/** The same run in version 2 of the chain, with a name that can be erased. */
const named = texts.map((text) => text.replace('"data":{', '"data":{"name":"Ann",'))
const seeds = named.map((_, at) => createHash("md5").update(`${at}`).digest().toString("base64url"))
const digested = (): World["Service"]["has"] => {
  const head = named.reduce(
    (before, text, at) =>
      digestedNext(sha256, before, Result.getOrThrow(digestedEvent(sha256, eventBytes(text), seeds[at] ?? ""))),
    digestedStart(sha256, RUN)
  )
  const draft = { runId: RUN, events: EVENTS, head, sealedAt: AT, frames: null, late: false, provenAfter: 0 }
  return { events: named, salts: seeds, seal: makeSeal({ ...draft, chain: 2 }, signer) }
}

/** It without the name in its event 7. */
const erased = (): World["Service"]["has"] => {
  const [pointer, at, reason] = ["/data/name", AT, "request"]
  const text = eventBytes(named[6] ?? "")
  const erasure = eventErasure(sha256, text, seeds[6] ?? "", pointer)
  const served = erasedEvent(text, [{ pointer, at, reason }])
  const entry: ErasureEntry = { target: "event", index: 7, pointer, digest: erasure?.digest ?? "", at, by: "x", reason }
  const start = erasuresStart(sha256, RUN)
  const head = makeErasuresHead(RUN, 1, erasuresNext(sha256, start, 1, entry), signer)
  const entries = [{ position: 1, previous: Buffer.from(start).toString("hex"), ...entry }]
  return {
    ...digested(),
    events: named.with(6, Buffer.from(served ?? "").toString()),
    salts: seeds.map((seed, index): MemberSalts => (index === 6 ? (erasure?.salts ?? "") : seed)),
    erasures: [{ entries, head }]
  }
}

const verify = (...args: ReadonlyArray<string>) =>
  Effect.flatMap(keeping("keys.json", { keys: [jwk] }), (keys) => verifyWith("--keys", keys, ...args))

const verifyWith = Effect.fnUntraced(function* (...args: ReadonlyArray<string>) {
  const { url } = yield* World
  const line = ["runs", "verify", RUN, "--url", url, ...args]
  const before = (yield* TestConsole.logLines).length
  const program = runCli(root.pipe(Command.withSubcommands(clientCommands)), line)
  const outcome = yield* Effect.result(Effect.provide(program, NodeServices.layer))
  const text = (yield* TestConsole.logLines).slice(before).join("\n")
  return Result.isSuccess(outcome)
    ? { code: 0, text, complaint: "" }
    : { code: exitCodeOf(outcome.failure), text, complaint: String(outcome.failure.message) }
})

const serving = (has: Partial<World["Service"]["has"]>) =>
  Effect.map(World, (world) => {
    world.has = { ...honest(), ...has }
    return world
  })

const keeping = (name: string, content: unknown) =>
  Effect.map(World, ({ folder }) => {
    const file = join(folder, name)
    writeFileSync(file, JSON.stringify(content))
    return file
  })

layer(World.layer)("runplane runs verify", (it) => {
  it.effect("checks a history of many pages against the seal of the service", () =>
    Effect.gen(function* () {
      yield* serving({})
      const { code, text } = yield* verify()
      assert.strictEqual(code, 0)
      assert.include(text, `${EVENTS}, as they were sealed`)
      assert.include(text, "signed by key-1")
      const json = JSON.parse((yield* verify("--json")).text)
      assert.deepInclude(json, { runId: RUN, ok: true, events: EVENTS, signature: "valid" })
    })
  )

  it.effect("names the event that is missing, of another run, or behind the seal", () =>
    Effect.gen(function* () {
      yield* serving({ events: texts.filter((_, at) => at !== 299) })
      assert.deepInclude(yield* verify(), {
        code: 1,
        complaint: `run ${RUN} does not fit from event 300 on: it is event 301 of its run`
      })
      yield* serving({ events: texts.map((text, at) => (at === 7 ? text.replace(RUN, OTHER) : text)) })
      assert.include((yield* verify()).complaint, "from event 8 on")
      yield* serving({ seal: sealOf(texts.slice(0, 449), signer) })
      assert.include((yield* verify()).complaint, "does not fit from event 450 on: the seal ends at event 449")
      yield* serving({ events: texts.slice(0, 200) })
      assert.include((yield* verify()).complaint, "does not fit from event 201 on: missing")
    })
  )

  it.effect("finds a changed text, and a seal without a signature", () =>
    Effect.gen(function* () {
      yield* serving({ events: texts.map((text, at) => (at === 7 ? text.replace("naïve", "naive") : text)) })
      assert.include((yield* verify()).complaint, "the events do not end in the head that was sealed")
      yield* serving({ seal: sealOf(texts) })
      assert.deepInclude(yield* verify(), { code: 1, complaint: `run ${RUN} does not fit: its seal is not signed` })
    })
  )

  it.effect("checks version 2 of the chain with the salts of the service, and what was erased", () =>
    Effect.gen(function* () {
      yield* serving(digested())
      const whole = JSON.parse((yield* verify("--json", "--min-chain", "2")).text)
      assert.deepInclude(whole, { ok: true, events: EVENTS, signature: "valid", erased: 0 })
      yield* serving(erased())
      const { code, text } = yield* verify()
      assert.strictEqual(code, 0)
      assert.include(text, "1 value, each with an entry that says why")
      yield* serving({ ...erased(), erasures: [null] })
      assert.include((yield* verify()).complaint, "from event 7 on: /data/name is erased without an entry")
      yield* serving({ ...digested(), salts: seeds.slice(0, 300) })
      assert.include((yield* verify()).complaint, "from event 301 on: its salts are missing")
      yield* serving({})
      assert.include((yield* verify("--min-chain", "2")).complaint, "of version 1, and version 2 is required")
    })
  )

  it.effect("begins again when a text is erased during the check", () =>
    Effect.gen(function* () {
      const has = erased()
      yield* serving({ ...has, erasures: [null, ...(has.erasures ?? [])] })
      const { code, text } = yield* verify()
      assert.strictEqual(code, 0)
      assert.include(text, "1 value")
    })
  )

  it.effect("is not proven where the key is not known: that is neither a success nor a change", () =>
    Effect.gen(function* () {
      const { url } = yield* serving({})
      assert.deepInclude(yield* verifyWith(), {
        code: 6,
        complaint:
          `run ${RUN} is not proven: the key key-1 that signed the seal is not known here; ` +
          `name public keys with --keys: ${url}/.well-known/runplane-keys.json`
      })
      const json = yield* verifyWith("--json")
      assert.deepInclude(JSON.parse(json.text), { ok: false, unknownKey: "key-1" })
      assert.strictEqual(json.code, 6)
      const other = yield* keeping("other.json", { keys: [{ ...jwk, kid: "key-2" }] })
      assert.deepInclude(yield* verifyWith("--keys", other), {
        code: 1,
        complaint: `run ${RUN} is not proven: the key key-1 that signed the seal is not known here: it is not one of those that ${other} has, or proves`
      })
      // A change is named although the key is missing.
      yield* serving({ events: texts.map((text, at) => (at === 7 ? text.replace("naïve", "naive") : text)) })
      const changed = yield* verifyWith()
      assert.strictEqual(changed.code, 1)
      assert.include(changed.complaint, "does not fit")
      // A signature that is not its key's is a change as well.
      const seal = sealOf(texts, signer)
      yield* serving({ seal: { ...seal, sealedAt: "2026-07-02T00:00:00.000Z" } })
      assert.deepInclude(yield* verify(), {
        code: 1,
        complaint: `run ${RUN} does not fit: the signature of the seal is not its key's`
      })
    })
  )

  it.effect("holds a history that went on against a seal that was kept", () =>
    Effect.gen(function* () {
      const kept = sealOf(texts.slice(0, 300), signer)
      const file = yield* keeping("kept.json", { ...kept, earlier: [] })
      yield* serving({ seal: sealOf(texts, signer, kept) })
      assert.include((yield* verify("--seal", file)).text, "300, as they were sealed")
      yield* serving({ events: texts.map((text, at) => (at === 7 ? text.replace("naïve", "naive") : text)) })
      assert.strictEqual((yield* verify("--seal", file)).code, 1)
    })
  )

  it.effect("refuses a late seal and events that are not proven, unless that is allowed", () =>
    Effect.gen(function* () {
      yield* serving({ seal: sealOf(texts, signer, undefined, { late: true, provenAfter: EVENTS }) })
      assert.deepInclude(yield* verify(), {
        code: 1,
        complaint:
          `run ${RUN} does not fit: its seal does not prove it: it was sealed late, from what was stored then; ` +
          "none of its events is proven to be what the service wrote (--allow-unproven accepts that)"
      })
      yield* serving({ seal: sealOf(texts, signer, undefined, { provenAfter: 7 }) })
      assert.include((yield* verify()).complaint, "its events 1 to 7 are not proven")
      const { code, text } = yield* verify("--allow-unproven")
      assert.strictEqual(code, 0)
      assert.notInclude(text, "as they were sealed")
      assert.include(text, `${EVENTS}, as they were stored; not proven: its events 1 to 7`)
    })
  )

  it.effect("says that a seal of an earlier release signs what was stored", () =>
    Effect.gen(function* () {
      const { frames, late, provenAfter, signature, ...old } = sealOf(texts, signer)
      const resigned = signer.sign(signedBytes(old)).toString("hex")
      yield* serving({ seal: { ...old, signature: resigned } })
      const { code, text } = yield* verify()
      assert.strictEqual(code, 0)
      assert.include(text, "as they were sealed by a release that did not check what it signed")
    })
  )

  it.effect("refuses a seal of another run, and what is not a seal", () =>
    Effect.gen(function* () {
      yield* serving({})
      const other = yield* keeping("other.json", { ...sealOf(texts, signer), runId: OTHER })
      assert.deepInclude(yield* verify("--seal", other), { code: 2, complaint: `the seal is of the run ${OTHER}` })
      const { code, complaint } = yield* verify("--seal", yield* keeping("none.json", { head: 5 }))
      assert.strictEqual(code, 2)
      assert.include(complaint, "holds no seal as GET /runs/:id/seal answers it")
    })
  )
})
