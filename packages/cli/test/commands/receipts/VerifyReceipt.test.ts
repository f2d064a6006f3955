import { createHash, generateKeyPairSync, sign } from "node:crypto"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, layer } from "@effect/vitest"
import {
  artifactCreated,
  chainNext,
  chainStart,
  commitmentHashOfWire,
  draftEvent,
  emptyRunMetrics,
  eventBytes,
  exportEnds,
  issueReceipt,
  type JsonObject,
  makeExportDigest,
  makeSeal,
  measure,
  projectAll,
  type ReceiptReport,
  RunId,
  recordEvent,
  runCompleted,
  runCreated
} from "@runplane/domain"
import * as Context from "effect/Context"
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import { TestConsole } from "effect/testing"
import { clientCommands, exitCodeOf, root, runCli } from "../../../src/index.ts"

class Folder extends Context.Service<Folder, string>()("test/ReceiptFolder") {
  static readonly layer = Layer.effect(
    Folder,
    Effect.acquireRelease(
      Effect.sync(() => mkdtempSync(join(tmpdir(), "runplane-receipt-"))),
      (folder) => Effect.sync(() => rmSync(folder, { recursive: true }))
    )
  )
}

const sha256 = (...parts: ReadonlyArray<Uint8Array>) => createHash("sha256").update(Buffer.concat(parts)).digest()

const RUN = "5b1f6c0e-6f0a-4c53-9a56-0d9c6f5f7a10"
const MODE = "macp.mode.decision.v1"
const AT = "2026-07-01T10:00:00.000Z"
const newKey = (kid: string) => {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519")
  const { x = "" } = publicKey.export({ format: "jwk" })
  const signer = { keyId: kid, sign: (message: Uint8Array) => sign(null, message, privateKey) }
  return { signer, jwk: { kty: "OKP", crv: "Ed25519", kid, x } }
}
const key = newKey("zurich-1")
const keySet = JSON.stringify({ keys: [key.jwk] })

/** `commitment_id` c1, `action` decision.selected, `reason` go, positive. */
const wire = Buffer.concat([
  Buffer.from([0x0a, 2]),
  Buffer.from("c1"),
  Buffer.from([0x12, 17]),
  Buffer.from("decision.selected"),
  Buffer.from([0x22, 2]),
  Buffer.from("go"),
  Buffer.from([0x40, 1])
])
const hash = Result.getOrThrow(commitmentHashOfWire(sha256, wire))

const receipt = (isSigned = true): string =>
  Result.getOrThrow(
    issueReceipt(
      sha256,
      {
        sessionId: RUN,
        mode: MODE,
        wire,
        issuer: "runtime:zurich",
        issuedAt: "2026-07-01T10:00:03Z",
        semantics: { implementation: "test", rev: 1 }
      },
      isSigned ? key.signer : undefined
    )
  )

const VERIFIED: ReceiptReport = { verified: true, signed: true, issuer: "runtime:zurich", hash, keyId: "zurich-1" }

interface Exported {
  readonly inline?: JsonObject
  readonly report?: ReceiptReport
  /** Of the commitment that the log has. */
  readonly loggedHash?: string
}

/** An unsigned export of a run with a receipt, as JSON. */
const exported = ({
  inline = { receipt: JSON.parse(receipt()), keys: { keys: [key.jwk] } },
  loggedHash = hash,
  report = VERIFIED
}: Exported = {}) => {
  const trace = { ts: AT, runId: RUN, traceId: "t" }
  const content = JSON.stringify(inline)
  const about = { artifactId: "a1", kind: "macp.receipt", label: "Receipt of the decision" }
  const drafts = [
    runCreated({ ...trace, modeName: MODE, runtimeKind: "rust", sessionId: RUN }),
    draftEvent(
      "decision.finalized",
      { ts: AT, subject: { kind: "decision", id: "c1" }, source: { kind: "runtime", name: "rust-runtime" } },
      {
        modeName: MODE,
        messageType: "Commitment",
        messageId: "m1",
        sessionId: RUN,
        sender: "lead",
        decodedPayload: { commitmentId: "c1", action: "decision.selected", reason: "go", outcomePositive: true },
        commitmentHash: loggedHash
      }
    ),
    runCompleted({ ...trace, endedAt: AT, runtimeSessionId: RUN }),
    artifactCreated(
      AT,
      { ...about, contentSha256: sha256(Buffer.from(content)).toString("hex"), receipt: report },
      "run-executor"
    )
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
  const seal = makeSeal({ runId: RUN, events: 4, head, sealedAt: AT, late: false, provenAfter: 0, frames: null })
  const run = { id: RUN, status: "completed", runtimeKind: "rust", runtimeSessionId: RUN, traceId: "t", endedAt: AT }
  const artifact = `{"id":"a1","runId":"${RUN}","kind":"macp.receipt","label":"${about.label}","inline":${content},"createdAt":"${AT}"}`
  const folded = `"projection":${JSON.stringify(projectAll(RUN, placed))},"metrics":${JSON.stringify(placed.reduce(measure, emptyRunMetrics(RunId.make(RUN))))}`
  const body = `{"run":${JSON.stringify(run)},"session":null,${folded},"artifacts":[${artifact}],"canonicalEvents":[${events.join(",")}],"exportedAt":"then"`
  const covered = body + exportEnds.json.proof({ seal, heads })
  return { artifact, text: covered + exportEnds.json.digest(makeExportDigest(sha256(Buffer.from(covered)))) }
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

let files = 0
const file = (text: string) =>
  Effect.map(Folder, (folder) => {
    files += 1
    const path = join(folder, `${files}.json`)
    writeFileSync(path, text)
    return path
  })

layer(Folder.layer)("runplane verify, for a receipt alone,", (it) => {
  it.effect("checks its signature with the given keys", () =>
    Effect.gen(function* () {
      const [path, keys] = [yield* file(receipt()), yield* file(keySet)]
      const { code, complaint, text } = yield* verify(path, "--receipt-keys", keys)
      assert.strictEqual(code, 0, complaint)
      assert.match(text, new RegExp(`Session +${RUN}, mode ${MODE}`))
      assert.match(text, /Decision +decision\.selected, positive/)
      assert.match(text, new RegExp(`Hash +${hash}`))
      assert.match(text, /Signature +valid, by the key zurich-1; .*the owner of that key issued it/)
      const json = JSON.parse((yield* verify(path, "--receipt-keys", keys, "--json")).text)
      assert.deepInclude(json, { ok: true, signed: true, keyId: "zurich-1", keys: "given" })
    })
  )

  it.effect("checks the artifact, and its content, with the keys in them", () =>
    Effect.gen(function* () {
      const { artifact } = exported()
      for (const text of [artifact, JSON.stringify(JSON.parse(artifact).inline)]) {
        const found = yield* verify(yield* file(text))
        assert.strictEqual(found.code, 0, found.complaint)
        assert.match(found.text, /stored beside it: .* only keys from elsewhere prove the issuer/)
      }
    })
  )

  it.effect("accepts one without a signature only without keys", () =>
    Effect.gen(function* () {
      const path = yield* file(receipt(false))
      const alone = yield* verify(path)
      assert.strictEqual(alone.code, 0, alone.complaint)
      assert.match(alone.text, /Signature +unsigned: .*anyone can make such a receipt/)
      const strict = yield* verify(path, "--receipt-keys", yield* file(keySet))
      assert.strictEqual(strict.code, 1)
      assert.match(strict.complaint, /is not verified: it is not signed$/)
    })
  )

  it.effect("refuses a changed one, an unknown key, and unreadable keys", () =>
    Effect.gen(function* () {
      const other = JSON.stringify({ keys: [newKey("zurich-1").jwk] })
      const refused = [
        [receipt().replace("decision.selected", "decision.rejected"), keySet, /its commitment\.action: /],
        [
          receipt().replace("runtime:zurich", "runtime:geneva"),
          keySet,
          /its signature by the key zurich-1 does not fit/
        ],
        [receipt(), other, /its signature by the key zurich-1 does not fit/],
        [receipt(), '{"keys":[]}', /the key zurich-1, which signed it, is not among the known keys/],
        [
          receipt().replace('"rev":1', '"rev":12345678901234567890'),
          keySet,
          /semantics_rev\.rev cannot be read exactly/
        ]
      ] as const
      for (const [text, keys, complaint] of refused) {
        const found = yield* verify(yield* file(text), "--receipt-keys", yield* file(keys))
        assert.strictEqual(found.code, 1)
        assert.match(found.complaint, complaint)
      }
      const unreadable = yield* verify(yield* file(receipt()), "--receipt-keys", yield* file("x"))
      assert.strictEqual(unreadable.code, 2)
      assert.match(unreadable.complaint, /holds no keys: the key set is not a JSON object/)
    })
  )
})

layer(Folder.layer)("runplane verify, for an export with a receipt,", (it) => {
  it.effect("compares it with the log, with the stored or the given keys", () =>
    Effect.gen(function* () {
      const path = yield* file(exported().text)
      const stored = yield* verify(path)
      assert.strictEqual(stored.code, 0, stored.complaint)
      assert.match(stored.text, /Receipt +verified, signed by runtime:zurich with the key zurich-1; .*stored beside it/)
      const given = yield* verify(path, "--receipt-keys", yield* file(keySet))
      assert.match(given.text, /Receipt +verified, .*the owner of that key issued it/)
      const json = JSON.parse((yield* verify(path, "--json")).text)
      assert.deepInclude(json.receipt, { verified: true, signed: true, keys: "stored" })
    })
  )

  const content = JSON.parse(exported().artifact).inline
  it.effect.each([
    [
      "another decision in the log",
      { loggedHash: `sha256:${"0".repeat(64)}` },
      /its receipt is not verified \(issuer runtime:zurich\): it disagrees with the log in commitment_hash$/
    ],
    [
      "a receipt that was changed together with its digest",
      { inline: { ...content, receipt: { ...content.receipt, issuer: "runtime:geneva" } } },
      /its signature by the key zurich-1 does not fit/
    ],
    [
      "an answer that is none",
      { inline: { answer: "<html>" }, report: { verified: false, signed: false, reason: "no JSON" } },
      /no JSON$/
    ],
    [
      "a signature without its key",
      { inline: { receipt: content.receipt, keys: { keys: [] } } },
      /not among the known keys/
    ]
  ] as const)("refuses %s", ([_, change, complaint]) =>
    Effect.gen(function* () {
      const found = yield* verify(yield* file(exported(change).text))
      assert.strictEqual(found.code, 1)
      assert.match(found.complaint, complaint)
    })
  )

  it.effect("reports one that the runtime did not have, and one that was redacted", () =>
    Effect.gen(function* () {
      const reason = "the runtime has no receipt: NOT_FOUND: unknown session"
      const missing = exported({ inline: { missing: "NOT_FOUND" }, report: { verified: false, signed: false, reason } })
      const none = yield* verify(yield* file(missing.text))
      assert.strictEqual(none.code, 0, none.complaint)
      assert.match(none.text, /Receipt +none: the runtime has no receipt: NOT_FOUND/)
      const redacted = yield* verify(yield* file(exported({ inline: { receipt: {}, redacted: true } }).text))
      assert.strictEqual(redacted.code, 0, redacted.complaint)
      assert.match(redacted.text, /Receipt +verified, .*redacted since, so it cannot be checked again/)
    })
  )
})
