import { createHash, generateKeyPairSync, sign } from "node:crypto"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, it } from "@effect/vitest"
import type { ListedLedgerEntry } from "@runplane/api"
import { contentDigestOf, ledgerHeadOf, ledgerStart, makeLedgerEntry } from "@runplane/domain"
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { TestConsole } from "effect/testing"
import { clientCommands, exitCodeOf, root, runCli } from "../../../src/index.ts"

/** More than one request returns. */
const ENTRIES = 520

const sha256 = (...parts: ReadonlyArray<Uint8Array>) => {
  const hash = createHash("sha256")
  for (const part of parts) hash.update(part)
  return hash.digest()
}
const { privateKey, publicKey } = generateKeyPairSync("ed25519")
const signer = { keyId: "key-1", sign: (message: Uint8Array) => sign(null, message, privateKey) }
const jwk = { ...publicKey.export({ format: "jwk" }), alg: "EdDSA", use: "sig", kid: "key-1", firstUsedAt: "then" }

const ledgerOf = (count: number, by?: typeof signer, vouched = by !== undefined): ReadonlyArray<ListedLedgerEntry> => {
  let head = ledgerStart(sha256)
  return Array.from({ length: count }, (_, index) => {
    const digest = contentDigestOf(sha256, index)
    const draft = { kind: "audit", subject: `s${index}`, digest, vouched, at: "then" } as const
    const entry = makeLedgerEntry(head, draft, by)
    head = ledgerHeadOf(sha256, entry)
    return { ...entry, content: "kept" as const }
  })
}

const NONE = { seals: 0, tombstones: 0, auditEntries: 0 }

it.effect("runplane ledger verify checks chain, contents and what was published", () =>
  Effect.gen(function* () {
    const folder = yield* Effect.acquireRelease(
      Effect.sync(() => mkdtempSync(join(tmpdir(), "runplane-ledger-"))),
      (made) => Effect.sync(() => rmSync(made, { recursive: true }))
    )
    const honest = ledgerOf(ENTRIES, signer)
    let has = { entries: honest, unlisted: NONE }
    const server = createServer((request, response) => {
      const { searchParams } = new URL(request.url ?? "", "http://localhost")
      const [after = 0, limit = 0] = ["after", "limit"].map((name) => Number(searchParams.get(name)))
      const data = has.entries.filter(({ number }) => number > after).slice(0, limit)
      response.setHeader("content-type", "application/json")
      response.end(JSON.stringify({ data, limit, ...(data.length < limit && { unlisted: has.unlisted }) }))
    })
    yield* Effect.acquireRelease(
      Effect.promise(() => new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening))),
      () =>
        Effect.sync(() => {
          server.closeAllConnections()
          server.close()
        })
    )
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const [keys, published] = [join(folder, "keys.json"), join(folder, "heads.jsonl")]
    writeFileSync(keys, JSON.stringify({ keys: [jwk] }))
    writeFileSync(published, honest.map(({ content: _, ...entry }) => `${JSON.stringify(entry)}\n`).join(""))

    const verify = Effect.fnUntraced(function* (...args: ReadonlyArray<string>) {
      const line = ["ledger", "verify", "--url", url, ...args]
      const before = (yield* TestConsole.logLines).length
      const program = runCli(root.pipe(Command.withSubcommands(clientCommands)), line)
      const outcome = yield* Effect.result(Effect.provide(program, NodeServices.layer))
      const text = (yield* TestConsole.logLines).slice(before).join("\n")
      return Result.isSuccess(outcome) ? text : `${exitCodeOf(outcome.failure)}: ${outcome.failure.message}`
    })
    const signed = ["--keys", keys]
    assert.match(yield* verify(...signed, "--published", published), /520 entries, without a gap/)
    assert.match(yield* verify(...signed), /Not proven +that its end was not cut/)
    assert.match(
      yield* verify(),
      /^6: the ledger is not proven at entry 1: the key key-1 .* name public keys with --keys: http:.*runplane-keys.json$/
    )
    for (const [entries, why] of [
      [
        honest.toSpliced(300, 1),
        "1: the ledger does not fit at entry 301: missing; the next one is 302; the entries behind it were not checked"
      ],
      [
        honest.map((entry) => (entry.number === 510 ? { ...entry, content: "missing" as const } : entry)),
        "1: the ledger does not fit at entry 510: the audit s509 is missing"
      ],
      [
        honest.map((entry) =>
          entry.number % 100 === 0
            ? { ...entry, content: entry.number === 100 ? ("changed" as const) : ("missing" as const) }
            : entry
        ),
        "1: the ledger does not fit at entry 100: the audit s99 was changed; entry 200: the audit s199 is missing; " +
          "entry 300: the audit s299 is missing; entry 400: the audit s399 is missing; entry 500: the audit s499 is missing"
      ],
      [
        honest.map((entry) => (entry.number === 2 ? { ...entry, content: "changed" as const } : entry)),
        "1: the ledger does not fit at entry 2: the audit s1 was changed"
      ]
    ] as const) {
      has = { entries, unlisted: NONE }
      assert.strictEqual(yield* verify(...signed), why)
    }
    has = { entries: honest.slice(0, 400), unlisted: NONE }
    assert.match(yield* verify(...signed), /400 entries/)
    assert.match(yield* verify(...signed, "--published", published), /at entry 401: missing; entry 401 was published$/)
    const strange = ledgerOf(3, signer, false)
    has = { entries: strange, unlisted: NONE }
    assert.match(yield* verify(...signed), /at entry 1: the audit s0 was not written by a process with the key/)
    assert.match(yield* verify(...signed, "--allow-unproven"), /3 entries/)
    has = { entries: honest, unlisted: { ...NONE, auditEntries: 2 } }
    assert.match(yield* verify(...signed), /0 seals, 0 tombstones and 2 audit entries have no entry$/)
    has = { entries: ledgerOf(3), unlisted: NONE }
    assert.match(yield* verify(), /unsigned: shows accidents/)
    assert.match(yield* verify(...signed), /3 entries are not signed$/)
  }).pipe(Effect.scoped)
)
