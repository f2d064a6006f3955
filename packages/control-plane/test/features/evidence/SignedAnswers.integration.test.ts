import { copyFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, layer } from "@effect/vitest"
import type { PasskeyRecord } from "@runplane/domain"
import * as Effect from "effect/Effect"
import { layerTestService } from "../../support/HttpService.ts"
import { eraseText } from "../erasure/PersonRuns.ts"
import { evidenceOf, keysOf, linkedRun, SIGNED_REASON, signedRun } from "./EvidenceRuns.ts"
import { filesIn, hasPython, runPython, temporary, VERIFY, verify } from "./Verifier.ts"

const verdictOn = (runId: string, program?: string) =>
  Effect.gen(function* () {
    return yield* verify(yield* evidenceOf(runId), { keys: yield* keysOf, ...(program !== undefined && { program }) })
  })

const flipped = (text: string, at: number) => {
  const letter = text.charAt(at) === "A" ? "B" : "A"
  return text.slice(0, at) + letter + text.slice(at + 1)
}

describe.runIf(hasPython)("verify.py on an answer that a passkey has signed", () => {
  layer(layerTestService(), { excludeTestServices: true })((it) => {
    it.effect("proves it by its signature, and names what a passkey does not prove", () =>
      Effect.gen(function* () {
        const runId = yield* signedRun()
        const { code, output } = yield* verdictOn(runId)
        assert.strictEqual(code, 0, output)
        assert.include(output, "people.jsonl: which person holds a passkey: the launch service says so")
        assert.include(
          filesIn(yield* evidenceOf(runId))
            .get("people.jsonl")
            ?.toString() ?? "",
          '"proof":"passkey"'
        )
      })
    )

    it.effect("names an answer by a personal link as the weakest proof", () =>
      Effect.gen(function* () {
        const { code, output } = yield* verdictOn(yield* linkedRun)
        assert.strictEqual(code, 0, output)
        assert.include(output, "people.jsonl, line 1: by a personal link, the weakest proof: without a sign-in")
        assert.notInclude(output, "which person holds a passkey")
      })
    )

    const spoils: ReadonlyArray<readonly [string, (record: PasskeyRecord) => Partial<PasskeyRecord>, RegExp]> = [
      [
        "another act",
        ({ signed }) => ({ signed: signed.replace("reject", "approve") }),
        /it has signed another answer/
      ],
      ["another reason", ({ signed }) => ({ signed: signed.replace("low", "lov") }), /it has signed another answer/],
      ["another signature", ({ signature }) => ({ signature: flipped(signature, 20) }), /its signature is not one/],
      ["another key", ({ publicKey }) => ({ publicKey: flipped(publicKey, 30) }), /its signature is not one/],
      ["other client data", (one) => ({ clientDataJSON: flipped(one.clientDataJSON, 60) }), /proves nothing/],
      ["other authenticator data", (one) => ({ authenticatorData: flipped(one.authenticatorData, 3) }), /another host/],
      ["another host", () => ({ rpId: "evil.example" }), /it was made for another origin/],
      ["a younger key", () => ({ enrolledAt: "2026-11-30T09:00:00.001Z" }), /its key was enrolled after/]
    ]
    for (const [name, spoil, why] of spoils) {
      it.effect(`refuses the record with ${name}`, () =>
        Effect.gen(function* () {
          const { code, output } = yield* verdictOn(yield* signedRun((record) => ({ ...record, ...spoil(record) })))
          assert.strictEqual(code, 1, output)
          assert.match(output, /REFUSED {2}people\.jsonl, line 1: its passkey proves nothing: /)
          assert.match(output, why)
        })
      )
    }

    it.effect("refuses a message of the session with another reason than the signed one", () =>
      Effect.gen(function* () {
        const { code, output } = yield* verdictOn(yield* signedRun(undefined, "the rate of Ada is high"))
        assert.strictEqual(code, 1, output)
        assert.include(output, "its message in the session has another reason")
      })
    )

    it.effect("reports an erased reason, of which neither the text nor its nonce is left", () =>
      Effect.gen(function* () {
        const runId = yield* signedRun()
        yield* eraseText(runId, SIGNED_REASON)
        const { code, output } = yield* verdictOn(runId)
        assert.strictEqual(code, 0, output)
        assert.include(output, "people.jsonl, line 1: what its passkey has signed is erased")
        const record =
          filesIn(yield* evidenceOf(runId))
            .get("people.jsonl")
            ?.toString() ?? ""
        assert.include(record, '"signed":""')
        assert.notInclude(record, SIGNED_REASON)
      })
    )

    it.effect("without passkeys.py beside it says that it has checked none", () =>
      Effect.gen(function* () {
        const folder = yield* temporary
        copyFileSync(VERIFY, join(folder, "verify.py"))
        const { code, output } = yield* verdictOn(yield* signedRun(), join(folder, "verify.py"))
        assert.strictEqual(code, 0, output)
        assert.include(output, "people.jsonl: passkeys.py, which checks its passkeys, is not here")
      }).pipe(Effect.scoped)
    )

    it.effect("checks signatures as other programs make them", () =>
      Effect.gen(function* () {
        const { code, output } = yield* runPython([join(VERIFY, "../test/signatures.py")])
        assert.strictEqual(code, 0, output)
      })
    )
  })
})
