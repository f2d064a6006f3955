import { createHash, generateKeyPairSync, sign } from "node:crypto"
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, layer } from "@effect/vitest"
import {
  chainNext,
  chainStart,
  emptyRunMetrics,
  eventBytes,
  exportEnds,
  keyThumbprint,
  makeExportDigest,
  makeKeyStatement,
  makeSeal,
  measure,
  projectAll,
  RunId,
  recordEvent,
  runCancelled,
  runCreated,
  type Signer
} from "@runplane/domain"
import * as Context from "effect/Context"
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import { TestConsole } from "effect/testing"
import { clientCommands, exitCodeOf, root, runCli } from "../../../src/index.ts"

class Folder extends Context.Service<Folder, string>()("test/Folder") {
  static readonly layer = Layer.effect(
    Folder,
    Effect.acquireRelease(
      Effect.sync(() => mkdtempSync(join(tmpdir(), "runplane-verify-"))),
      (folder) => Effect.sync(() => rmSync(folder, { recursive: true }))
    )
  )
}

const sha256 = (...parts: ReadonlyArray<Uint8Array>) => {
  const hash = createHash("sha256")
  for (const part of parts) hash.update(part)
  return hash.digest()
}

const RUN = "5b1f6c0e-6f0a-4c53-9a56-0d9c6f5f7a10"
const { privateKey, publicKey } = generateKeyPairSync("ed25519")
const signer: Signer = { keyId: "key-1", sign: (message) => sign(null, message, privateKey) }
const jwk = { ...publicKey.export({ format: "jwk" }), alg: "EdDSA", use: "sig", kid: "key-1", firstUsedAt: "then" }
const keySet = JSON.stringify({ keys: [jwk] })

/** A key with its real id, as a service publishes it. */
const serviceKey = () => {
  const pair = generateKeyPairSync("ed25519")
  const { x: bytes = "" } = pair.publicKey.export({ format: "jwk" })
  const keyId = keyThumbprint(sha256, bytes)
  const key = { keyId, publicKey: bytes, sign: (message: Uint8Array) => sign(null, message, pair.privateKey) }
  const published = (since: string, previous?: Signer) => {
    const { keyId: _, publicKey: __, ...statement } = makeKeyStatement(key, since, previous)
    return { kty: "OKP", crv: "Ed25519", alg: "EdDSA", use: "sig", kid: keyId, x: bytes, firstUsedAt: since, statement }
  }
  return { ...key, published }
}

/** A bundle of two events. */
const bundle = (by: Signer | undefined, status = "cancelled") => {
  const at = "2026-07-01T10:00:00.000Z"
  const trace = { ts: at, runId: RUN, traceId: "t" }
  const drafts = [
    runCreated({ ...trace, modeName: "m", runtimeKind: "rust", sessionId: RUN }),
    runCancelled({ ...trace, endedAt: at, runtimeSessionId: RUN })
  ]
  const placed = drafts.map((draft, index) =>
    recordEvent(draft, { id: `e${index}`, runId: RunId.make(RUN), seq: index + 1, index: index + 1 })
  )
  const events = placed.map(({ recorded }) => JSON.stringify(recorded))
  let head = chainStart(sha256, RUN)
  const heads = events.map((text) => {
    head = chainNext(sha256, head, eventBytes(text))
    return Buffer.from(head).toString("hex")
  })
  const proof = { late: false, provenAfter: 0, frames: null }
  const seal = makeSeal({ runId: RUN, events: 2, head, sealedAt: "2026-07-01T10:00:00.000Z", ...proof }, by)
  const run = { id: RUN, status, runtimeKind: "rust", runtimeSessionId: RUN, traceId: "t", endedAt: at }
  const metrics = JSON.stringify(placed.reduce(measure, emptyRunMetrics(RunId.make(RUN))))
  const folded = `"projection":${JSON.stringify(projectAll(RUN, placed))},"metrics":${metrics}`
  const body = `{"run":${JSON.stringify(run)},"session":null,${folded},"artifacts":[],"canonicalEvents":[${events.join(",")}],"exportedAt":"then"`
  const covered = body + exportEnds.json.proof({ seal, heads })
  return covered + exportEnds.json.digest(makeExportDigest(sha256(Buffer.from(covered)), by))
}

/** Runs `runplane verify`; returns its exit code, its output and its complaint. */
const verify = Effect.fnUntraced(function* (...args: ReadonlyArray<string>) {
  const program = runCli(root.pipe(Command.withSubcommands(clientCommands)), ["verify", ...args])
  const before = (yield* TestConsole.logLines).length
  const outcome = yield* Effect.result(Effect.provide(program, NodeServices.layer))
  const text = (yield* TestConsole.logLines).slice(before).join("\n")
  return Result.isSuccess(outcome)
    ? { code: 0, text, complaint: "" }
    : { code: exitCodeOf(outcome.failure), text, complaint: String(outcome.failure.message) }
})

layer(Folder.layer)("runplane verify", (it) => {
  const file = (name: string, text: string) =>
    Effect.map(Folder, (folder) => {
      const path = join(folder, name)
      writeFileSync(path, text)
      return path
    })

  it.effect("says of a signed export what it found, and needs the keys", () =>
    Effect.gen(function* () {
      const path = yield* file("signed.json", bundle(signer))
      const keys = yield* file("keys.json", keySet)
      const fits = yield* verify(path, "--keys", keys)
      assert.strictEqual(fits.code, 0, fits.complaint)
      assert.match(fits.text, /2, as they were sealed/)
      assert.match(fits.text, /signed by key-1/)
      assert.match(fits.text, /As the events say +run: status/)
      assert.match(fits.text, /Not proven +raw frames: the seal does not cover them\n +run: runtimeVersion, .*tags/)
      const ended = yield* verify(yield* file("ended.json", `${bundle(signer)}\n`), "--keys", keys)
      assert.strictEqual(ended.code, 0, ended.complaint)
      const json = JSON.parse((yield* verify(path, "--keys", keys, "--json")).text)
      assert.include(json.notProven[1], "tags")
      assert.deepInclude(json, { ok: true, runId: RUN, events: 2, signature: "valid", exportSignature: "valid" })
      const unknown = yield* verify(path)
      assert.strictEqual(unknown.code, 6)
      assert.match(
        unknown.complaint,
        /signed.json is not proven: the key key-1 that signed the seal is not known here; name public keys with --keys: a kept file, or/
      )
      const changed = yield* verify(
        yield* file("altered.json", bundle(signer).replace('"id":"e1","runId"', '"id":"e3","runId"'))
      )
      assert.strictEqual(changed.code, 1)
      assert.include(changed.complaint, "does not fit")
    })
  )

  it.effect("refuses records that contradict the events, signed or not", () =>
    Effect.gen(function* () {
      const path = yield* file("contradiction.json", bundle(signer, "completed"))
      const { code, complaint } = yield* verify(path, "--keys", yield* file("keys.json", keySet))
      assert.strictEqual(code, 1)
      assert.match(complaint, /contradicts the events: run.status is "completed", its events say "cancelled"$/)
    })
  )

  it.effect("requests the keys of a service, and trusts those that its newest one proves", () =>
    Effect.gen(function* () {
      const [old, next, mallory] = [serviceKey(), serviceKey(), serviceKey()]
      const path = yield* file("signed.json", bundle(old))
      const early = "2026-06-01T00:00:00.000Z"
      const late = "2026-07-02T00:00:00.000Z"
      const chain = [next.published(late, old), old.published(early)]
      let answer = JSON.stringify({ keys: chain })
      const requests: Array<string> = []
      const server = yield* Effect.acquireRelease(
        Effect.callback<ReturnType<typeof createServer>>((resume) => {
          const listening = createServer((request, response) => {
            requests.push(request.url ?? "")
            response.writeHead(request.url === "/none" ? 404 : 200).end(answer)
          })
          listening.listen(0, "127.0.0.1", () => resume(Effect.succeed(listening)))
        }),
        (listening) =>
          Effect.callback<void>((resume) => {
            listening.closeAllConnections()
            listening.close(() => resume(Effect.void))
          })
      )
      const address = server.address()
      const url = typeof address === "object" ? `http://127.0.0.1:${address?.port}` : ""
      const fits = yield* verify(path, "--keys", url)
      assert.strictEqual(fits.code, 0, fits.complaint)
      assert.match(fits.text, /Keys +of the service under test, http.*runplane-keys\.json: a saved file proves more/)
      assert.deepStrictEqual(requests, ["/.well-known/runplane-keys.json"])
      const forged = yield* file("forged.json", bundle(mallory))
      for (const [keys, of, complaint] of [
        // A row of another writer of the database.
        [
          [...chain, mallory.published(early)],
          forged,
          /is not proven.* not known here: it is not one of those that http/
        ],
        [[...chain, { ...mallory.published(early), statement: undefined }], forged, /not known here/],
        [[next.published(late), old.published(early)], path, /not known here/],
        [[old.published(late)], path, /seals since 2026-07-02.* its seal is of 2026-07-01/]
      ] as const) {
        answer = JSON.stringify({ keys })
        const refused = yield* verify(of, "--keys", url)
        assert.strictEqual(refused.code, 1)
        assert.match(refused.complaint, complaint)
      }
      const saved = JSON.stringify({ keys: [{ ...old.published(early), statement: undefined }] })
      const byFile = yield* verify(path, "--keys", yield* file("saved.json", saved))
      assert.strictEqual(byFile.code, 0, byFile.complaint)
      assert.notMatch(byFile.text, /service under test/)
      const none = yield* verify(path, "--keys", `${url}/none`)
      assert.strictEqual(none.code, 5)
      assert.match(none.complaint, /it answered 404/)
    })
  )

  it.effect("lets an unsigned export pass as what it is, unless signatures are wanted", () =>
    Effect.gen(function* () {
      const path = yield* file("unsigned.json", bundle(undefined))
      const fits = yield* verify(path)
      assert.strictEqual(fits.code, 0, fits.complaint)
      assert.match(fits.text, /unsigned: shows accidents, not intentions/)
      const wanted = yield* verify(path, "--keys", yield* file("keys.json", keySet))
      assert.strictEqual(wanted.code, 1)
      assert.match(wanted.complaint, /its seal is not signed/)
    })
  )

  it.effect("names the first event that does not fit", () =>
    Effect.gen(function* () {
      const path = yield* file("changed.json", bundle(undefined).replace('"id":"e1","runId"', '"id":"e3","runId"'))
      const { code, complaint } = yield* verify(path)
      assert.strictEqual(code, 1)
      assert.match(complaint, /changed.json does not fit from event 2 on: its text is not the one that was sealed$/)
      const json = yield* verify(path, "--json")
      assert.strictEqual(json.code, 1)
      assert.deepInclude(JSON.parse(json.text), { ok: false, index: 2 })
    })
  )

  it.effect("answers whatever it is given", () =>
    Effect.gen(function* () {
      const folder = yield* Folder
      const good = yield* file("unsigned.json", bundle(undefined))
      const huge = yield* file("huge.json", "")
      truncateSync(huge, 1024 * 1024 * 1024 + 1)
      for (const [args, code, words] of [
        [[join(folder, "nowhere")], 2, /cannot be read/],
        [[folder], 2, /is not a file/],
        [[huge], 2, /is larger than 1024 MB/],
        [[yield* file("a", "not JSON")], 1, /it is not an export as it was made/],
        [[yield* file("b", bundle(undefined).slice(0, 300))], 1, /was cut/],
        [[yield* file("c", `{"type":"header","x":"${"x".repeat(5_000_000)}"}\n`)], 1, /no seal and no digest/],
        [[good, "--keys", yield* file("d", "{}")], 2, /holds no keys/],
        [[good, "--keys", yield* file("e", keySet.replace(/"x":"[^"]*"/, '"x":"AA"'))], 2, /holds no keys/],
        [[good, "--keys", "http://127.0.0.1:1"], 5, /no keys from/],
        [[], 2, /--help/]
      ] as const) {
        const failed = yield* verify(...args)
        assert.strictEqual(failed.code, code, `${args.join(" ")}: ${failed.complaint}`)
        assert.match(failed.complaint, words)
        assert.notInclude(failed.complaint, "\n")
      }
    })
  )
})
